"""Upstream's trace list: each field in its place, each value as it came, each broken line with its reason."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from file_reading import json_texts, lines, read, written
from hypothesis import given
from hypothesis import strategies as st

from quality_lab.json_text import compact, parse
from quality_lab.records import ToolCall

ITEM: dict[str, Any] = {
    "id": 4031,
    "conversationId": 977,
    "contactId": 650,
    "messageId": None,
    "outboundQueueId": 12,
    "source": "rag_reply",
    "toolName": "fetch_exchange_requisites",
    "args": {},
    "result": {"orderId": 88, "needsOperator": True},
    "error": False,
    "cycle": 1,
    "toolCallIndex": 2,
    "latencyMs": None,
    "createdAt": 1781000120,
}


def with_texts(arguments: str, result: str) -> bytes:
    """Return the item with these two JSON texts in it, as they are."""
    text = json.dumps({**ITEM, "args": 1, "result": 2}, separators=(",", ":"))
    return (
        text.replace('"args":1', f'"args":{arguments}').replace('"result":2', f'"result":{result}').encode()
    )


def test_every_field_of_an_item_has_its_place(tmp_path: Path) -> None:
    found = read(written(tmp_path, [ITEM]))

    assert found.format == "quality_lab.traces"
    assert found.calls == [
        ToolCall(
            key_space="quality_lab",
            key="4031",
            conversation_id="977",
            tool_name="fetch_exchange_requisites",
            cycle=1,
            call_index=2,
            arguments="{}",
            arguments_state="object",
            result='{"orderId": 88, "needsOperator": true}',
            result_state="present",
            is_error=False,
            actor="model",
            source="rag_reply",
            created_at=datetime(2026, 6, 9, 10, 15, 20, tzinfo=UTC),
            latency_ms=None,
            seen_in="trace",
            contact_id="650",
            message_id=None,
            outbound_id="12",
        )
    ]
    assert (found.notes.unknown_fields, found.broken) == ({}, [])


@pytest.mark.parametrize(
    "document",
    [
        json.dumps({"items": [ITEM, {**ITEM, "id": 2}]}),
        json.dumps({"items": [ITEM, {**ITEM, "id": 2}]}, indent=2),
        json.dumps([ITEM, {**ITEM, "id": 2}], indent=1),
        json.dumps({"ok": True, "items": [ITEM, {**ITEM, "id": 2}], "next": None}),
        json.dumps(ITEM) + "\n" + json.dumps({**ITEM, "id": 2}),
        json.dumps(ITEM, indent=2) + json.dumps({**ITEM, "id": 2}, indent=2),
    ],
)
def test_a_list_reads_the_same_as_a_document_and_as_lines(tmp_path: Path, document: str) -> None:
    found = read(written(tmp_path, document.encode(), "saved.txt"))

    assert [(unit.line, unit.records[0].key) for unit in found.units] == [(1, "4031"), (2, "2")]
    assert found.calls[0].result is not None
    assert json.loads(found.calls[0].result) == ITEM["result"]
    assert found.notes.unknown_fields == ({"next": 1} if "next" in document else {})


@given(json_texts().filter(lambda text: not text.startswith('"')), json_texts())
def test_arguments_and_result_come_out_as_they_went_in(
    tmp_path_factory: pytest.TempPathFactory, arguments: str, result: str
) -> None:
    path = written(tmp_path_factory.mktemp("any"), with_texts(arguments, result))

    (call,) = read(path).calls

    assert (call.arguments, call.result) == (arguments, result)
    assert compact(parse(call.arguments)) == compact(parse(arguments))


@given(json_texts())
def test_arguments_that_came_as_text_are_read_one_level(
    tmp_path_factory: pytest.TempPathFactory, inner: str
) -> None:
    path = written(tmp_path_factory.mktemp("any"), with_texts(json.dumps(inner), "null"))

    (call,) = read(path).calls

    assert (call.arguments, call.arguments_state) == (inner, "json_string")


@pytest.mark.parametrize(
    ("arguments", "text", "state"),
    [
        ("[1]", "[1]", "object"),
        ("false", "false", "object"),
        ("null", "null", "absent"),
        ('""', '""', "absent"),
        ('"{\\"a\\": 1"', '"{\\"a\\": 1"', "invalid_json"),
        ("\"{'a': None}\"", "\"{'a': None}\"", "invalid_json"),
        ('"NaN"', '"NaN"', "invalid_json"),
        ('"{\\"a\\": \\"\\\\ud83d\\"}"', '{"a": "\\ud83d"}', "json_string"),
        ('"{\\"a\\": \\"\\ud83d\\"}"', '{"a": "\\ud83d"}', "json_string"),
        ('"\\ud83d"', '"\\ud83d"', "invalid_json"),
    ],
)
def test_the_state_of_arguments_is_the_one_that_design_names(
    tmp_path: Path, arguments: str, text: str, state: str
) -> None:
    (call,) = read(written(tmp_path, with_texts(arguments, "1"))).calls

    assert (call.arguments, call.arguments_state) == (text, state)


def test_what_is_not_there_is_not_captured_and_not_null(tmp_path: Path) -> None:
    bare = {
        key: value for key, value in ITEM.items() if key not in ("args", "result", "contactId", "latencyMs")
    }

    missing, null = read(written(tmp_path, [bare, {**ITEM, "result": None}])).calls

    assert (missing.arguments, missing.arguments_state) == (None, "not_captured")
    assert (missing.result, missing.result_state) == (None, "not_captured")
    assert (null.result, null.result_state) == ("null", "present")


def test_the_guard_is_no_model_and_an_error_is_a_flag(tmp_path: Path) -> None:
    guard, failed = read(
        written(tmp_path, [{**ITEM, "toolName": "exchange_response_guard"}, {**ITEM, "error": True}])
    ).calls

    assert (guard.actor, failed.actor) == ("guard", "model")
    assert (failed.is_error, failed.error_origin) == (True, "flag")


def test_ids_beyond_two_to_the_53_keep_every_digit(tmp_path: Path) -> None:
    (call,) = read(written(tmp_path, [{**ITEM, "id": 9007199254740993, "contactId": 10**25 + 1}])).calls

    assert (call.key, call.contact_id) == ("9007199254740993", "10000000000000000000000001")


@pytest.mark.parametrize(
    ("change", "path", "reason"),
    [
        ({"cycle": "1"}, "cycle", "wanted integer, got string"),
        ({"cycle": -1}, "cycle", "wanted integer >= 0"),
        ({"toolCallIndex": 2**31}, "toolCallIndex", "wanted integer <= 2147483647"),
        ({"id": 1.5}, "id", "wanted integer, got number"),
        ({"id": True}, "id", "wanted integer, got boolean"),
        ({"error": None}, "error", "wanted boolean, got null"),
        ({"error": "false"}, "error", "wanted boolean, got string"),
        ({"toolName": None}, "toolName", "wanted string, got null"),
        ({"contactId": "x"}, "contactId", "wanted integer or null, got string"),
        ({"latencyMs": []}, "latencyMs", "wanted number or null, got array"),
        (
            {"createdAt": 1781000120000},
            "createdAt",
            "wanted seconds since 1970, got 1781000120000 (milliseconds?)",
        ),
    ],
)
def test_a_wrong_type_is_a_reject_that_names_field_and_types(
    tmp_path: Path, change: dict[str, Any], path: str, reason: str
) -> None:
    found = read(written(tmp_path, [ITEM, {**ITEM, **change}, {**ITEM, "id": 3}]))

    assert found.broken == [(2, path, reason)]
    assert found.rejects[0].text == json.dumps({**ITEM, **change})
    assert [call.key for call in found.calls] == ["4031", "3"]


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    without = {key: value for key, value in ITEM.items() if key != "cycle"}

    found = read(written(tmp_path, [ITEM, without]))

    assert found.broken == [(2, "cycle", "required field is missing")]


@pytest.mark.parametrize(
    "line",
    [
        with_texts("{}", "{}").replace(b'"cycle":1', b'"cycle":1,"cycle":2'),
        with_texts('{"a":1}', "{}").replace(b'"result":', b'"args":{"b":2},"result":'),
        with_texts("{}", "{}").replace(b'"cycle":1', b'"cycle" : 1, "extra": 5, "cycle" : 1'),
    ],
)
def test_a_key_that_stands_twice_is_refused_since_nobody_can_say_which_is_meant(
    tmp_path: Path, line: bytes
) -> None:
    found = read(written(tmp_path, lines(with_texts("{}", "{}"), line)))

    assert len(found.calls) == 1
    assert found.rejects[0].path in ("cycle", "args")
    assert found.rejects[0].reason == "the key stands there 2 times"


def test_unknown_fields_are_counted_and_the_line_is_read(tmp_path: Path) -> None:
    found = read(written(tmp_path, [ITEM, {**ITEM, "shard": 3, "id": 2}, {"shard": 3, **ITEM, "id": 5}]))

    assert found.notes.unknown_fields == {"shard": 2}
    assert [call.key for call in found.calls] == ["4031", "2", "5"]


@given(st.permutations(list(ITEM)), st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]))
def test_order_of_keys_and_blanks_make_no_difference(
    tmp_path_factory: pytest.TempPathFactory, order: list[str], separators: tuple[str, str]
) -> None:
    text = json.dumps({key: ITEM[key] for key in order}, separators=separators)

    found = read(written(tmp_path_factory.mktemp("any"), text.encode()))

    assert [(call.key, call.cycle, call.created_at) for call in found.calls] == [
        ("4031", 1, datetime(2026, 6, 9, 10, 15, 20, tzinfo=UTC))
    ]
    assert found.notes.unknown_fields == {}


def test_names_of_strangers_do_not_swell_the_report(tmp_path: Path) -> None:
    found = read(written(tmp_path, [{**ITEM, f"field {number}": 0} for number in range(1_500)]))
    long = read(written(tmp_path, [{**ITEM, "x" * 10_000: 0}]))

    assert len(found.notes.unknown_fields) == 1_001
    assert sum(found.notes.unknown_fields.values()) == 1_500
    assert [len(name) for name in long.notes.unknown_fields] == [201]


def test_the_time_of_a_label_never_makes_a_trace_of_a_feedback_line(tmp_path: Path) -> None:
    labelled = {**ITEM, "label": "good_reply"}

    with pytest.raises(Exception, match='quality_lab.traces: missing no key "label"'):
        read(written(tmp_path, [labelled]))
