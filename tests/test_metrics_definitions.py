"""Definitions: what changed, in words, and how calls fared under each."""

from __future__ import annotations

import json
from datetime import timedelta
from types import SimpleNamespace

import pytest
from lab_builder import MONDAY, LabBuilder

from quality_lab.metrics import Filters, definitions
from quality_lab.metrics.definition_changes import changes
from quality_lab.records import ToolDefinition


@pytest.fixture
def builder(tmp_path):
    return LabBuilder(tmp_path)


def definition(
    digest: str, *, day: int | None, parameters: object, description: str = "Quote a rate"
) -> ToolDefinition:
    return ToolDefinition(
        digest=digest,
        name="quote",
        description=description,
        parameters=json.dumps(parameters),
        seen_at=None if day is None else MONDAY + timedelta(days=day),
    )


def test_a_definition_says_what_changed_against_the_one_before_it(builder):
    before = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}
    after = {"type": "object", "properties": {"amount": {"type": "string"}}, "required": []}
    builder.add(definition("new", day=7, parameters=after), definition("old", day=0, parameters=before))
    builder.calls(12, "quote", tool_definition="old")
    failed = {"is_error": True, "error_origin": "flag", "created_at": MONDAY + timedelta(days=8)}
    builder.calls(12, "quote", tool_definition="new", **failed)

    old, new = definitions(builder.store())

    assert (old.digest, old.calls, old.error_rate, old.change) == ("old", 12, 0, ())
    assert (new.digest, new.calls, new.error_rate) == ("new", 12, 1)
    assert new.change == ("amount is optional now", "amount: type number became string")
    assert old.first_at == MONDAY


def test_an_undated_definition_is_compared_with_nothing(builder):
    builder.add(
        definition("a", day=0, parameters={}), definition("b", day=None, parameters={}, description="Other")
    )

    assert [(row.digest, row.change) for row in definitions(builder.store())] == [("a", ()), ("b", ())]


def test_definitions_that_nobody_called_go_where_filters_pick_calls(builder):
    builder.add(definition("a", day=0, parameters={}))
    store = builder.store()

    assert [row.calls for row in definitions(store)] == [0]
    assert len(definitions(store, filters=Filters.of(source="rag_reply"))) == 0


def schema(**properties: object) -> str:
    required = [
        name for name, one in properties.items() if isinstance(one, dict) and one.pop("needed", False)
    ]
    return json.dumps({"type": "object", "properties": properties, "required": required})


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (schema(a={"type": "string"}), schema(), ("a removed",)),
        (schema(), schema(a={"type": "string"}), ("a added (string, optional)",)),
        (
            schema(),
            schema(a={"type": ["string", "null"], "needed": True}),
            ("a added (string or null, required)",),
        ),
        (schema(a={"type": "string"}), schema(a={"type": "string", "needed": True}), ("a is required now",)),
        (
            schema(mode={"enum": ["source", "target"]}),
            schema(mode={"enum": ["source", "both"]}),
            ("mode: no longer allows target", "mode: allows both too"),
        ),
        (
            schema(mode={"type": "string"}),
            schema(mode={"type": "string", "enum": ["x"]}),
            ("mode: allows only x",),
        ),
        (
            schema(mode={"enum": ["x"]}),
            schema(mode={}),
            ("mode: allows any value, not only x",),
        ),
        (schema(n={"minimum": 0}), schema(n={"minimum": 1}), ("n: minimum 0 became 1",)),
        (schema(n={"default": "USDT"}), schema(n={}), ("n: default USDT became unstated",)),
        (
            schema(n={"description": "Amount"}),
            schema(n={"description": "Amount in baht"}),
            ("n: description changed",),
        ),
        (
            schema(where={"type": "object", "properties": {"zip": {"type": "string"}}}),
            schema(where={"type": "object", "properties": {"zip": {"type": "integer"}}}),
            ("where.zip: type string became integer",),
        ),
        (
            schema(
                items={
                    "type": "array",
                    "items": {"type": "object", "properties": {"qty": {"type": "number"}}},
                }
            ),
            schema(items={"type": "array", "items": {"type": "object", "properties": {}}}),
            ("items[].qty removed",),
        ),
        ('{"type":"object"}', '{"type":"object","additionalProperties":false}', ("schema changed",)),
        (None, '{"type":"object"}', ("the schema is captured now",)),
        ('{"type":"object"}', None, ("the schema was captured before, not any more",)),
        (schema(a={}), schema(a={}), ()),
    ],
)
def test_a_change_of_schema_is_told_in_words(before, after, said):
    old, new = (SimpleNamespace(description="d", parameters=text) for text in (before, after))

    assert changes(old, new) == said


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("a", "b", "its own description changed"),
        (None, "b", "description added"),
        ("a", None, "description removed"),
    ],
)
def test_a_change_of_description_is_told(before, after, said):
    old, new = (SimpleNamespace(description=text, parameters="{}") for text in (before, after))

    assert changes(old, new) == (said,)
