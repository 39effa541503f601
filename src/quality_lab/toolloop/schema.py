"""JSON Schemas of tools: written from pydantic models, compiled once, asked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import InputError

if TYPE_CHECKING:
    from jsonschema_rs import Validator
    from pydantic import BaseModel

_MOST_PROBLEMS = 5
_LONGEST_PROBLEM = 300
_SUBSCHEMA_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SUBSCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SUBSCHEMAS = (
    "items", "additionalProperties", "propertyNames", "not", "if", "then", "else", "contains",
    "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
_NOT_IN_STRICT = ("allOf", "not", "if", "then", "else", "dependentSchemas", "dependentRequired",
                  "patternProperties", "propertyNames", "unevaluatedProperties", "prefixItems")  # fmt: skip


class ToolContractError(InputError):
    """A tool whose name, description or schema no provider would take; the text says which rule it breaks."""


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of *model* as a model should read it.

    An optional field stays optional (and says nothing of a null default), titles are gone, references are
    written out where they do not recurse, and an object takes no other keys unless the model says
    ``extra="allow"``.

    Raises:
        ToolContractError: a field has no form in JSON.
    """
    from pydantic import PydanticUserError

    try:
        schema = model.model_json_schema()
    except PydanticUserError as error:
        raise ToolContractError(f"{model.__name__} cannot be offered to a model: {error.message}") from error
    definitions: dict[str, Any] = schema.pop("$defs", {})
    recursive = {name for name in definitions if _reaches(definitions, name, name, set())}
    clean: dict[str, Any] = _clean(schema, definitions, recursive)
    if recursive:
        clean["$defs"] = {
            name: _clean(definitions[name], definitions, recursive) for name in sorted(recursive)
        }
    return clean


def _reaches(definitions: Mapping[str, Any], start: str, target: str, seen: set[str]) -> bool:
    for name in _references(definitions[start]):
        if name == target:
            return True
        if name not in seen:
            seen.add(name)
            if _reaches(definitions, name, target, seen):
                return True
    return False


def _references(node: Any) -> set[str]:
    if isinstance(node, list):
        return set().union(*(_references(each) for each in node))
    if not isinstance(node, dict):
        return set()
    found = set().union(*(_references(each) for each in node.values()))
    if isinstance(node.get("$ref"), str):
        found.add(node["$ref"].removeprefix("#/$defs/"))
    return found


def _clean(node: Any, definitions: Mapping[str, Any], recursive: set[str]) -> Any:
    if not isinstance(node, dict):
        return node
    node = dict(node)
    reference = node.get("$ref", "").removeprefix("#/$defs/")
    if reference in definitions and reference not in recursive:
        del node["$ref"]
        node = {**definitions[reference], **node}
    node.pop("title", None)
    node.pop(
        "discriminator", None
    )  # OpenAPI's hint; its mapping points at definitions that are written out here
    if node.get("default", ...) is None:
        del node["default"]
    if node.get("additionalProperties") is True:
        node["additionalProperties"] = {}
    elif node.get("type") == "object" and "properties" in node:
        node.setdefault("additionalProperties", False)
    if "prefixItems" in node and node.get("maxItems") == len(node["prefixItems"]):
        node.setdefault(
            "items", False
        )  # says of a tuple what maxItems says, for readers that know one of them
    return _map_subschemas(node, lambda sub: _clean(sub, definitions, recursive))


def _map_subschemas(node: dict[str, Any], change: Any) -> dict[str, Any]:
    """Return a copy of *node* with its direct subschemas changed; data such as ``enum`` is left alone."""
    changed: dict[str, Any] = {}
    for key, value in node.items():
        if key in _SUBSCHEMA_MAPS and isinstance(value, dict):
            changed[key] = {name: change(sub) for name, sub in value.items()}
        elif key in _SUBSCHEMA_LISTS and isinstance(value, list):
            changed[key] = [change(sub) for sub in value]
        elif key in _SUBSCHEMAS and isinstance(value, dict):
            changed[key] = change(value)
        else:
            changed[key] = value
    return changed


def strict_schema(schema: Mapping[str, Any], *, where: str) -> dict[str, Any]:
    """Return *schema* in the strict form: every key required, optional ones nullable, no others allowed.

    Raises:
        ToolContractError: the schema says something that the strict form cannot (free keys, ``allOf``, …).
    """
    node = dict(schema)
    if said := sorted(set(node).intersection(_NOT_IN_STRICT)):
        raise ToolContractError(f"{where} cannot be offered as strict: it uses {', '.join(said)}")
    if "oneOf" in node:
        node["anyOf"] = node.pop("oneOf")
    node.pop("default", None)
    if node.get("type") == "object" or "properties" in node:
        if node.get("additionalProperties", False) is not False or "properties" not in node:
            raise ToolContractError(
                f"{where} cannot be offered as strict: it takes keys that it does not name"
            )
        required = set(node.get("required", ()))
        node["properties"] = {
            name: sub if name in required else _nullable(sub) for name, sub in node["properties"].items()
        }
        node["required"] = list(node["properties"])
        node["additionalProperties"] = False
    return _map_subschemas(node, lambda sub: strict_schema(sub, where=where) if sub else sub)


def _nullable(schema: Any) -> Any:
    if accepts_null(schema):
        return schema
    described = {"description": schema["description"]} if "description" in schema else {}
    rest = {key: value for key, value in schema.items() if key != "description"}
    return {"anyOf": [rest, {"type": "null"}], **described}


def accepts_null(schema: Any) -> bool:
    """Return whether null is a value of *schema*, as far as its own words (not its references) tell."""
    if not isinstance(schema, dict):
        return bool(schema)
    if "type" in schema:
        return "null" in ([schema["type"]] if isinstance(schema["type"], str) else schema["type"])
    if "enum" in schema:
        return None in schema["enum"]
    if "const" in schema:
        return schema["const"] is None
    options = schema.get("anyOf") or schema.get("oneOf")
    return any(accepts_null(option) for option in options) if options else "$ref" not in schema


def without_nulls(value: Any, schema: Any) -> Any:
    """Return *value* without the nulls that stand, in the strict form, for what was left out."""
    if not isinstance(schema, dict):
        return value
    if isinstance(value, list):
        return [without_nulls(each, schema.get("items")) for each in value]
    if not isinstance(value, dict):
        return value
    if "properties" not in schema:
        named = [
            option for option in schema.get("anyOf") or schema.get("oneOf") or () if _names(option, value)
        ]
        return without_nulls(value, named[0]) if len(named) == 1 else value
    required = set(schema.get("required", ()))
    properties = schema["properties"]
    return {
        name: without_nulls(each, properties.get(name))
        for name, each in value.items()
        if each is not None or name in required or accepts_null(properties.get(name, True))
    }


def _names(schema: Any, value: dict[str, Any]) -> bool:
    return isinstance(schema, dict) and set(value) <= set(schema.get("properties", ()))


def compile_schema(schema: Mapping[str, Any], *, where: str) -> Validator:
    """Return a validator of *schema* that never fetches anything and whose patterns take linear time.

    Patterns with look-around, which no linear engine has, are run by one that gives up after 10,000 steps.

    Raises:
        ToolContractError: the schema is not one, or points at something outside itself.
    """
    import jsonschema_rs

    plain = dict(schema)  # the validator takes nothing but dict and list
    try:
        return jsonschema_rs.validator_for(plain, pattern_options=jsonschema_rs.RegexOptions(), offline=True)
    except (jsonschema_rs.ValidationError, ValueError) as error:
        refusal = error
    try:
        careful = jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)
        return jsonschema_rs.validator_for(plain, pattern_options=careful, offline=True)
    except (jsonschema_rs.ValidationError, ValueError):
        reason = getattr(refusal, "message", str(refusal))
        raise ToolContractError(f"the parameters of {where} are no usable JSON Schema: {reason}") from refusal


def problems_of(arguments: Any, validator: Validator) -> list[str]:
    """Return what is wrong with *arguments*, one sentence a fault, at most five; empty where nothing is."""
    try:
        faults = list(validator.iter_errors(arguments))
    except UnicodeEncodeError:  # a lone surrogate is legal in JSON but not in UTF-8: judge it as its stand-in
        faults = list(validator.iter_errors(_without_surrogates(arguments)))
    except ValueError as error:
        return [f"the arguments cannot be checked: {error}"]
    told = [_sentence(fault.message, fault.instance_path) for fault in faults[:_MOST_PROBLEMS]]
    if len(faults) > _MOST_PROBLEMS:
        told.append(f"and {len(faults) - _MOST_PROBLEMS} more")
    return told


def _sentence(message: str, path: list[str | int]) -> str:
    where = ".".join(str(step) for step in path)
    text = f"{where}: {message}" if where else message
    return text if len(text) <= _LONGEST_PROBLEM else text[: _LONGEST_PROBLEM - 1] + "…"


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(each) for key, each in value.items()}
    return [_without_surrogates(each) for each in value] if isinstance(value, list) else value
