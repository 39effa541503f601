"""Tools' definitions: upstream's vectors, pydantic's schemas made clean, the strict form, what is refused."""

from __future__ import annotations

import itertools
import json
import keyword
import re
import socket
import time
from typing import Annotated, Any, Literal, Union

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import MISSING, BaseModel, ConfigDict, Field, create_model, field_validator

from quality_lab.toolloop import Tool, ToolContractError
from quality_lab.toolloop.schema import compile_schema, problems_of, schema_of, strict_schema, without_nulls

LARGEST = 2**53 - 1


class CalendarDay:
    """A thing that JSON has no form for, as upstream's calendar object is none."""


def field_type(node: dict[str, Any]) -> Any:
    """Return the Python type of a node in the vectors' neutral notation."""
    kind = node["type"]
    if kind == "object":
        inner = object_model(node)
    elif kind == "array":
        items = field_type(node["items"])
        inner = Annotated[list[items], Field(min_length=node.get("min"), max_length=node.get("max"))]
    elif kind == "tuple":
        inner = tuple.__class_getitem__(tuple(field_type(item) for item in node["items"]))
    elif kind == "record":
        inner = Annotated[dict[str, field_type(node["values"])], Shown(propertyNames={"type": "string"})]
    elif kind == "union":
        inner = Union[tuple(field_type(option) for option in node["options"])]  # noqa: UP007 - built at run time
    elif kind == "tagged":
        options = Union[tuple(object_model(option) for option in node["options"])]  # noqa: UP007 - as above
        inner = Annotated[options, Field(discriminator=node["key"])]
    elif kind == "enum":
        values = node["values"]  # pydantic writes a choice of one as ``const``
        inner = Annotated[Literal[tuple(values)], Shown(enum=values, const=...)]
    elif kind == "literal":
        inner = Literal[node["value"]]
        if isinstance(node["value"], int):  # upstream knows one kind of number
            inner = Annotated[inner, Shown(type="number")]
    elif kind == "string":
        length = node.get("length")
        inner = Annotated[
            str,
            Field(
                min_length=node.get("min", length),
                max_length=node.get("max", length),
                pattern=node.get("regex"),
            ),
        ]
        if "format" in node:
            inner = Annotated[inner, Shown(format=node["format"])]
    else:
        plain = {"number": float, "integer": int, "boolean": bool, "null": None, "any": Any, "unknown": Any}
        bounds = Field(
            ge=node.get("min"),
            le=node.get("max"),
            gt=node.get("gt"),
            lt=node.get("lt"),
            multiple_of=node.get("multipleOf"),
        )
        inner = CalendarDay if kind == "date" else plain[kind]
        inner = Annotated[inner, bounds] if kind in ("number", "integer") else inner
    return Union[inner, None] if node.get("nullable") else inner  # noqa: UP007 - as above


class Shown:
    """A mark on a type that changes what is shown of it: a value of ... takes the keyword away."""

    def __init__(self, **keywords: Any) -> None:
        self.keywords = keywords

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        schema = handler(core)
        shown = {**schema, **self.keywords}
        return {key: value for key, value in shown.items() if value is not ...}


def number_like_first(field: dict[str, Any]) -> tuple[bool, int]:
    name = field["name"]
    return (not name.isdigit(), int(name) if name.isdigit() else 0)


numbers = itertools.count()


def object_model(node: dict[str, Any]) -> type[BaseModel]:
    """Return the pydantic model of an object; number-like names come first there, so they do here."""
    fields: dict[str, Any] = {}
    for position, field in enumerate(sorted(node["fields"], key=number_like_first)):
        extra = (
            {"default": field["default"]} if "default" in field else None
        )  # upstream: required, with a default
        shown = Field(
            default=MISSING if field.get("optional") else ...,
            alias=field["name"],
            description=field.get("description"),
            json_schema_extra=extra,
        )
        inner = field_type(field)
        usable = field["name"].isidentifier() and not keyword.iskeyword(field["name"])
        name = field["name"] if usable else f"field_{position}"
        fields[name] = (inner | MISSING if field.get("optional") else inner, shown)
    config = ConfigDict(
        extra="allow" if node.get("mode") == "loose" else "ignore", arbitrary_types_allowed=True
    )
    return create_model(f"Shape{next(numbers)}", __config__=config, __doc__=node.get("description"), **fields)


def comparable(node: Any) -> Any:
    """Return *node* without what either side adds: ``$schema``, titles, bounds of 2**53, patterns."""
    if isinstance(node, list):
        return [comparable(each) for each in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: comparable(value)
        for key, value in node.items()
        if key not in ("$schema", "title")
        and not (key == "minimum" and value == -LARGEST)
        and not (key == "maximum" and value == LARGEST)
        and not (key == "pattern" and value == "FORMAT_PATTERN")
    }
    return kept


@pytest.fixture(scope="module")
def shapes(shared) -> list[dict[str, Any]]:
    return json.loads((shared / "golden/tool-schema/shapes.json").read_text(encoding="utf-8"))


def definition(shape: dict[str, Any]) -> dict[str, Any]:
    tool = Tool(
        name=shape["name"],
        description=shape["description"],
        parameters=object_model(shape["parameters"]),
        execute=lambda args, context: None,
    )
    return tool.openai_definition()


@pytest.mark.shared
def test_every_shape_is_offered_as_upstream_offers_it(shapes):
    wrong, ran = {}, 0
    for shape in shapes:
        if "raises" in shape:
            with pytest.raises(ToolContractError):
                definition(shape)
            ran += 1
            continue
        offered = comparable(definition(shape))
        right = [comparable(shape[key]) for key in ("expected", "alternative") if key in shape]
        ran += 1
        if offered not in right:
            wrong[shape["id"]] = offered

    assert wrong == {}
    assert ran == 21


# -- what a tool may be called and say ---------------------------------------------------------------------


def make(**promises: Any) -> Tool:
    said: dict[str, Any] = {
        "name": "quote",
        "description": "Quotes a price. Call it when asked for one.",
        **promises,
    }
    return Tool(execute=lambda args, context: None, **said)


@pytest.mark.parametrize("name", ["", "two words", "price.quote", "a" * 65, "café", "quote\n"])
def test_a_name_that_no_provider_takes_is_refused_where_the_tool_is_written(name):
    with pytest.raises(ToolContractError, match="a tool's name is 1 to 64"):
        make(name=name)


def test_a_name_of_64_characters_is_taken():
    assert make(name="a" * 64).name == "a" * 64


def test_a_tool_without_a_description_is_refused():
    with pytest.raises(ToolContractError, match="say what it does and when to call it"):
        make(description=" \n")


def test_a_description_of_1025_characters_is_refused_for_openai_and_offered_where_there_is_no_limit():
    long = make(description="x" * 1025)

    with pytest.raises(ToolContractError, match="has 1025 characters; OpenAI takes at most 1024"):
        long.openai_definition()
    assert long.openai_definition(limits=False)["function"]["description"] == "x" * 1025
    assert make(description="x" * 1024).openai_definition()["function"]["description"] == "x" * 1024


def test_anthropic_refuses_a_parameter_with_a_blank_and_openai_takes_it():
    spaced = make(parameters={"type": "object", "properties": {"with space": {"type": "string"}}})

    with pytest.raises(ToolContractError, match="quote has a parameter 'with space'"):
        spaced.anthropic_definition()
    assert "with space" in spaced.openai_definition()["function"]["parameters"]["properties"]


def test_the_same_tool_in_anthropics_words():
    schema = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}

    offered = make(parameters=schema).anthropic_definition()

    assert offered == {
        "name": "quote",
        "description": "Quotes a price. Call it when asked for one.",
        "input_schema": schema,
    }


@pytest.mark.parametrize(
    ("promise", "said"),
    [
        ({"effect": "harmless"}, "it is read, write or irreversible"),
        ({"timeout_s": 0}, "it is seconds above 0, or None"),
        ({"timeout_s": float("nan")}, "it is seconds above 0, or None"),
        ({"parameters": {"type": "array"}}, "of type 'array', not an object"),
        (
            {"parameters": {"type": "object", "properties": {"a": {"type": "objekt"}}}},
            "no usable JSON Schema",
        ),
        ({"parameters": {"type": "object", "properties": {"a": {"pattern": "("}}}}, "no usable JSON Schema"),
    ],
)
def test_a_promise_that_cannot_be_kept_is_refused(promise, said):
    with pytest.raises(ToolContractError, match=said):
        make(**promise)


def test_an_effect_that_is_not_stated_is_irreversible():
    assert make().effect == "irreversible"


def test_the_digest_is_that_of_name_description_and_schema_and_of_nothing_else():
    schema = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "string"}}}
    turned = {"properties": {"b": {"type": "string"}, "a": {"type": "number"}}, "type": "object"}

    first = make(parameters=schema, effect="read").digest

    assert re.fullmatch("sha256:[0-9a-f]{64}", first)
    assert make(parameters=turned, effect="write", timeout_s=1.0).digest == first
    assert make(parameters=schema, description="Another.").digest != first
    assert make(parameters=schema, name="other").digest != first
    assert make(parameters={"type": "object"}).digest != first


# -- what pydantic's schemas become ------------------------------------------------------------------------


class Place(BaseModel):
    """A place on the map."""

    title: str  # a field of that name is no title of the schema
    lat: float


class Branch(BaseModel):
    name: str
    below: list[Branch] = []


def test_an_optional_field_stays_optional_and_says_nothing_of_a_null_default():
    class Order(BaseModel):
        network: str | None = None
        count: int = 1

    schema = schema_of(Order)

    assert "required" not in schema
    assert schema["properties"]["network"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert schema["properties"]["count"] == {"type": "integer", "default": 1}


def test_a_field_that_is_called_title_survives_the_removal_of_titles():
    schema = schema_of(Place)

    assert schema["properties"] == {"title": {"type": "string"}, "lat": {"type": "number"}}
    assert "title" not in {key for key in schema if key != "properties"}


def test_a_nested_model_is_written_out_and_keeps_what_the_field_says_of_it():
    class Trip(BaseModel):
        start: Place = Field(description="Where it begins")

    start = schema_of(Trip)["properties"]["start"]

    assert start["description"] == "Where it begins"
    assert start["required"] == ["title", "lat"]
    assert "$defs" not in schema_of(Trip)


def test_a_model_that_holds_itself_keeps_its_references_and_can_be_asked():
    class Tree(BaseModel):
        root: Branch

    tree = make(parameters=Tree)

    assert list(tree.schema["$defs"]) == ["Branch"]
    assert tree.problems({"root": {"name": "a", "below": [{"name": "b"}]}}) == []
    assert tree.problems({"root": {"name": "a", "below": [{"nam": "b"}]}}) != []


def test_a_pydantic_models_own_validators_are_asked_after_its_schema():
    class Stay(BaseModel):
        nights: int

        @field_validator("nights")
        @classmethod
        def not_thirteen(cls, nights: int) -> int:
            if nights == 13:
                raise ValueError("thirteen nights cannot be booked")
            return nights

    stay = make(parameters=Stay)

    assert stay.problems({"nights": 13}) == ["nights: Value error, thirteen nights cannot be booked"]
    assert stay.problems({"nights": 12}) == []
    assert stay.problems({"nights": "12"}) == ['nights: "12" is not of type "integer"']


# -- arguments ---------------------------------------------------------------------------------------------

AMOUNT = {
    "type": "object",
    "properties": {"amount": {"type": "number", "exclusiveMinimum": 0}, "mode": {"enum": ["a", "b"]}},
    "required": ["amount"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({"amount": 5}, []),
        ({"amount": 5, "mode": "b"}, []),
        ({}, ['"amount" is a required property']),
        ({"amount": 0}, ["amount: 0 is less than or equal to the minimum of 0"]),
        ({"amount": "5"}, ['amount: "5" is not of type "number"']),
        ({"amount": True}, ['amount: true is not of type "number"']),
        ({"amount": 10**30}, []),
    ],
)
def test_arguments_are_held_against_the_schema(arguments, problems):
    assert make(parameters=AMOUNT).problems(arguments) == problems


def test_more_than_five_problems_are_counted_and_a_long_one_is_cut():
    schema = {"type": "object", "properties": {f"k{n}": {"type": "string"} for n in range(7)}}
    many = make(parameters=schema).problems({f"k{n}": n for n in range(7)})
    long = make(parameters=schema).problems({"k0": ["x" * 5000]})

    assert (len(many), many[-1]) == (6, "and 2 more")
    assert (len(long[0]), long[0][-1]) == (300, "…")


def test_a_lone_surrogate_in_the_arguments_can_be_judged():
    schema = {"type": "object", "properties": {"s": {"type": "string", "maxLength": 2}}}

    assert make(parameters=schema).problems({"s": "a\ud83d"}) == []
    assert make(parameters=schema).problems({"s": "abc\ud83d"}) != []


def test_a_schema_that_points_elsewhere_is_refused_and_nothing_is_fetched():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"

        with pytest.raises(ToolContractError, match="Retrieval is disabled"):
            make(parameters={"type": "object", "properties": {"a": {"$ref": address}}})

        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize("pattern", ["^(a+)+b$", "^(?=a)(a+)+b$"])
def test_a_pattern_that_would_take_for_ever_does_not(pattern):
    schema = {"type": "object", "properties": {"s": {"type": "string", "pattern": pattern}}}
    tool = make(parameters=schema)

    begun = time.perf_counter()
    problems = tool.problems({"s": "a" * 4000})

    assert len(problems) == 1
    assert time.perf_counter() - begun < 1


# -- the strict form ---------------------------------------------------------------------------------------


def test_the_strict_form_requires_every_key_and_makes_optional_ones_nullable():
    class Order(BaseModel):
        asset: str
        network: str | MISSING = Field(MISSING, description="Its chain")
        place: Place | None = None

    function = make(parameters=Order).openai_definition(strict=True)["function"]

    assert function["strict"] is True
    assert function["parameters"]["required"] == ["asset", "network", "place"]
    assert function["parameters"]["properties"]["network"] == {
        "anyOf": [{"type": "string"}, {"type": "null"}],
        "description": "Its chain",
    }
    inner = function["parameters"]["properties"]["place"]["anyOf"][0]
    assert (inner["required"], inner["additionalProperties"]) == (["title", "lat"], False)


def test_what_the_strict_form_cannot_say_is_refused():
    class Loose(BaseModel):
        preferences: dict[str, str]

    with pytest.raises(ToolContractError, match="it takes keys that it does not name"):
        make(parameters=Loose).openai_definition(strict=True)
    with pytest.raises(ToolContractError, match="it uses allOf"):
        strict_schema({"type": "object", "properties": {}, "allOf": [{}]}, where="quote")


names = st.sampled_from(["a", "b", "c", "d"])
leaves = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": ["boolean", "null"]},
        {"anyOf": [{"type": "number"}, {"type": "null"}]},
    ]
)


def objects(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    def put_together(properties: dict[str, Any], required: list[bool]) -> dict[str, Any]:
        needed = [name for name, is_needed in zip(properties, required, strict=False) if is_needed]
        return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}

    return st.builds(
        put_together,
        st.dictionaries(names, inner, max_size=4),
        st.lists(st.booleans(), min_size=4, max_size=4),
    )


schemas = objects(
    st.recursive(
        leaves,
        lambda inner: objects(inner) | inner.map(lambda s: {"type": "array", "items": s}),
        max_leaves=6,
    )
)


def instances(schema: dict[str, Any], *, draw: Any) -> Any:
    """Return an instance of *schema* in which some optional keys are left out."""
    kind = schema.get("type")
    if kind == "object":
        required = set(schema["required"])
        return {
            name: instances(sub, draw=draw)
            for name, sub in schema["properties"].items()
            if name in required or draw(st.booleans())
        }
    if kind == "array":
        return [instances(schema["items"], draw=draw) for _ in range(draw(st.integers(0, 2)))]
    if kind == "string":
        return draw(st.text(max_size=3))
    if kind == "integer":
        return draw(st.integers(-5, 5))
    return draw(st.none() | (st.booleans() if isinstance(kind, list) else st.integers(-5, 5)))


def nulls_for_what_is_left_out(value: Any, schema: dict[str, Any]) -> Any:
    if schema.get("type") == "object":
        return {
            name: nulls_for_what_is_left_out(value[name], sub) if name in value else None
            for name, sub in schema["properties"].items()
        }
    if schema.get("type") == "array":
        return [nulls_for_what_is_left_out(each, schema["items"]) for each in value]
    return value


def holds(read: Any, meant: Any) -> bool:
    """Return whether *read* is what was meant; a null more may stand where null is a value."""
    if isinstance(meant, dict):
        more = set(read) - set(meant)
        return all(read[name] is None for name in more) and all(
            holds(read[name], meant[name]) for name in meant
        )
    if isinstance(meant, list):
        return len(read) == len(meant) and all(map(holds, read, meant))
    return bool(read == meant)


@settings(max_examples=200, deadline=None)
@given(schema=schemas, data=st.data())
def test_arguments_in_the_strict_form_are_valid_there_and_mean_what_they_meant(schema, data):
    meant = instances(schema, draw=data.draw)
    written = nulls_for_what_is_left_out(meant, schema)

    read = without_nulls(written, schema)

    assert problems_of(meant, compile_schema(schema, where="x")) == []
    assert problems_of(written, compile_schema(strict_schema(schema, where="x"), where="x")) == []
    assert problems_of(read, compile_schema(schema, where="x")) == []
    assert holds(read, meant)
