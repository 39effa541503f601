"""Which format a file is: told by content, and where none fits, what was missing for the nearest three."""

from __future__ import annotations

import gzip
import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from file_reading import json_texts, lines, read, written
from hypothesis import given
from hypothesis import strategies as st
from span_making import tool
from test_formats_journal import LABEL as JOURNAL
from test_formats_langfuse import TOOL as LANGFUSE
from test_formats_phoenix_annotations import ROW as ANNOTATION
from test_formats_upstream_cases import CASE
from test_formats_upstream_feedback import LINE as FEEDBACK
from test_formats_upstream_joined import CALL, LABEL
from test_formats_upstream_matches import SELF_PLAY
from test_formats_upstream_proposals import TRACKED
from test_formats_upstream_traces import ITEM

from quality_lab import formats
from quality_lab.errors import InputError, UnrecognisedFormat, UsageError
from quality_lab.formats.contract import Sample
from quality_lab.formats.exact import restored_text, without_lone_surrogates
from quality_lab.formats.making import quick
from quality_lab.formats.streams import Stream
from quality_lab.formats.units import raw_units
from quality_lab.records import Feedback, Message, ReadNotes, ToolCall, ToolDefinition

SPAN = tool(1, "look", {}, "ok")
ONE_OF_EACH: dict[str, Any] = {
    "quality_lab.traces": ITEM,
    "quality_lab.feedback": FEEDBACK,
    "quality_lab.regression_cases": CASE,
    "quality_lab.joined": {"feedback": LABEL, "toolCall": CALL},
    "quality_lab.labels": LABEL,
    "quality_lab.proposals": TRACKED,
    "quality_lab.matches": SELF_PLAY,
    "quality_lab.journal": JOURNAL,
    "tau_bench": {
        "task_id": 1,
        "trial": 0,
        "reward": 1.0,
        "info": {},
        "traj": [{"role": "user", "content": "Hi"}],
    },
    "openai_chat": {"messages": [{"role": "user", "content": "Hi"}]},
    "otel_genai": SPAN,
    "openinference": {**SPAN, "attributes": {"openinference.span.kind": "TOOL", "tool.name": "look"}},
    "phoenix_annotations": ANNOTATION,
    "langfuse": LANGFUSE,
    "tau2_bench": {"id": "s", "task_id": "1", "termination_reason": "user_stop", "messages": []},
    "livemcpbench": {
        "task_id": "1",
        "Question": "Hi",
        "task_success": "success",
        "messages": [{"role": "user"}],
    },
    "anthropic_messages": {
        "messages": [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "x", "input": {}}]}
        ]
    },
    "openai_responses": {"model": "m", "input": "Hi"},
    "google_adk": {"id": "s", "app_name": "a", "user_id": "u", "events": []},
    "inspect_ai": {"id": 1, "epoch": 1, "target": "", "messages": []},
    "sharegpt": {"conversations": [{"from": "human", "value": "Hi"}]},
    "tool_lists": {"name": "x", "inputSchema": {"type": "object"}},
}
# Public files by how their paths begin, and the format that each is.
PUBLIC = {
    "claude-code": "claude_code", "google-adk/samples/customer": "google_adk", "inspect-ai": "inspect_ai",
    "langfuse": "langfuse", "langsmith/anthropic": "managed_agents", "livemcpbench/human-annotation": "livemcpbench",
    "logfire": "claude_code", "mcp-tools": "tool_lists", "openai-agents-sdk/test_music": "openai_agents",
    "openai-agents-sdk/test_recipe_agents_hierarchy.ingest": "openai_agents",
    "openai-agents-sdk/test_recipe_agents_hierarchy.responses": "openai_responses", "openai-chat": "openai_chat",
    "openai-conformance/ChatCompletions": "openai_chat", "openai-conformance/Conversations": "openai_responses",
    "openai-conformance/Responses_tool": "openai_responses", "sharegpt": "sharegpt", "tau-bench": "tau_bench",
    "tau2-bench/es": "tau2_bench", "tau2-bench/telecom": "tau2_bench", "openinference/openinference": "openinference",
    "openinference/otel": "otel_genai", "otel-agentevals/helm": "otel_genai", "otel-agentevals/tempo": "otel_genai",
}  # fmt: skip
# A chat that is more than that: the format on the left stands before the one on the right.
MORE_SPECIAL = {("livemcpbench", "openai_chat"), ("inspect_ai", "openai_chat"), ("tau2_bench", "openai_chat")}


def test_every_format_says_what_it_is_and_has_a_name_of_its_own() -> None:
    known = formats.registry()

    names = [one.name for one in known]
    assert len(names) == len(set(names))
    assert set(ONE_OF_EACH) <= set(names)
    assert all(one.title and one.recognised_by.endswith(".") and one.key for one in known)
    assert [one.name.removeprefix("quality_lab.") for one in known if one.upstream_export] == [
        "traces", "feedback", "regression_cases", "matches"
    ]  # fmt: skip


@pytest.mark.parametrize("name", ONE_OF_EACH)
@pytest.mark.parametrize("shape", ["lines", "items", "list", "packed", "broken first"])
def test_each_format_is_recognised_whatever_the_file_looks_like(
    tmp_path: Path, name: str, shape: str
) -> None:
    record = ONE_OF_EACH[name]
    content = {
        "lines": lines(record, record),
        "items": json.dumps({"items": [record]}).encode(),
        "list": json.dumps([record], indent=2).encode(),
        "packed": gzip.compress(lines(record)),
        "broken first": lines(b"oops", b'{"half', b"", {"other": 1}, record),
    }[shape]

    assert formats.recognise(written(tmp_path, content, "misleading.csv")).name == name


def test_a_mixed_file_is_what_most_of_it_is(tmp_path: Path) -> None:
    assert formats.recognise(written(tmp_path, [FEEDBACK, ITEM, ITEM])).name == "quality_lab.traces"
    assert formats.recognise(written(tmp_path, [FEEDBACK, FEEDBACK, ITEM])).name == "quality_lab.feedback"


def test_an_unknown_file_is_told_the_three_nearest_and_what_was_missing(tmp_path: Path) -> None:
    path = written(tmp_path, [{"id": 1, "toolName": "x", "cycle": 0, "time": 5}])

    with pytest.raises(UnrecognisedFormat) as problem:
        formats.recognise(path)

    first, second, third = (
        str(problem.value).removeprefix(f"{path}: no format fits. Nearest are ").split("; ")
    )
    assert first == 'quality_lab.traces: missing the key "createdAt"'
    assert second.partition(":")[0] != third.partition(":")[0]
    assert all(": missing " in one for one in (second, third))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"\x00\x01\x02binary\xff\n", "no JSON object among its first lines"),
        (b"a,b,c\n1,2,3\n", "no JSON object among its first lines"),
        (b"[1, 2, 3]", "no JSON object among its first lines"),
        (b'{"items": []}', "no JSON object among its first lines"),
        (b'{"a": ' + b"[" * 5_000, "no JSON object among its first lines"),
    ],
)
def test_a_file_without_objects_says_so(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(UnrecognisedFormat, match=says):
        formats.recognise(written(tmp_path, content))


def test_what_cannot_be_read_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        formats.recognise(tmp_path / "nothing.jsonl")
    with pytest.raises(InputError, match="a zip archive"):
        formats.recognise(written(tmp_path, b"PK\x03\x04"))


def test_a_format_goes_by_its_name_and_no_other() -> None:
    assert formats.by_name("tau_bench").name == "tau_bench"
    with pytest.raises(UsageError, match=r"no format is called tau-bench; known are quality_lab\.traces, "):
        formats.by_name("tau-bench")


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_bad_lines_cost_only_themselves_in_every_format(tmp_path: Path, name: str) -> None:
    good = json.dumps(ONE_OF_EACH[name]).encode()
    bad = [
        b"oops", b'{"a":NaN}', b'{"a":"\xff"}', b'{"a":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
        b"[]", b"{", b"7", b'{"a":1}', b"\x00", b'{"a":"\x01"}',
    ]  # fmt: skip

    found = read(written(tmp_path, lines(good, *bad, b"", good + good, good)))

    assert found.format == name
    assert [unit.line for unit in found.units] == [*range(1, 13), 13, 13, 14]
    assert [bool(unit.records) for unit in found.units] == [True] + [False] * 11 + [True] * 3
    assert [reject.line for reject in found.rejects] == list(range(2, 12))
    assert [unit.line for unit in found.units if unit.blank] == [12]
    assert found.rejects[2].text == '{"a":"\\xff"}'
    assert found.rejects[0].text == "oops"
    assert found.notes.glued == 1


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_crlf_and_a_mark_and_utf_16_change_nothing_in_any_format(tmp_path: Path, name: str) -> None:
    plain = lines(ONE_OF_EACH[name], ONE_OF_EACH[name])

    (records, *others) = (
        [unit.records for unit in read(written(tmp_path, content)).units]
        for content in (
            plain,
            b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n"),
            plain.decode().encode("utf-16"),
        )
    )

    assert all(records)
    assert others == [records, records]


def test_an_upstream_line_of_fifty_megabytes_is_read(tmp_path: Path) -> None:
    found = read(written(tmp_path, [ITEM, {**ITEM, "args": {"x": "y" * 50_000_000}}]))

    assert len(found.calls[1].arguments or "") == 50_000_009


@given(json_texts())
def test_lone_surrogates_are_taken_out_and_nothing_else(text: str) -> None:
    marked = without_lone_surrogates(text.encode())

    assert (marked is None) == _fits_utf_8(text)
    if marked is not None:
        assert _fits_utf_8(marked.decode())
        assert restored_text(marked.decode()) == text


def test_a_lone_surrogate_comes_back_wherever_it_stood(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "a\ud83d", "description": "b\ud83d"}}
    row = {"messages": [{"role": "user", "content": "c\ud83d"}], "tools": [tool], "d\ud83d": 1}
    label = {**FEEDBACK, "label": "e\ud83d"}

    chat = read(written(tmp_path, [row]))
    labelled = read(written(tmp_path, [label]))
    refused = read(written(tmp_path, [ITEM, {**ITEM, "cycle": "f\ud83d"}]))

    assert [(one.name, one.description) for one in chat.of(ToolDefinition)] == [("a\\ud83d", "b\\ud83d")]
    assert (chat.messages[0].text, chat.notes.unknown_fields) == ("c\\ud83d", {"d\\ud83d": 1})
    assert (labelled.labels[0].label_raw, labelled.notes.unmapped_labels) == ("e\\ud83d", {"e\\ud83d": 1})
    assert refused.broken == [(2, "cycle", "wanted integer, got string")]


def _fits_utf_8(text: str) -> bool:
    """Say whether all strings of a JSON text, keys that come twice included, are ones that UTF-8 can hold."""
    value = json.loads(text, object_pairs_hook=list, parse_float=str, parse_int=str)
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


@given(st.data())
def test_a_quickly_made_record_is_equal_to_one_made_slowly(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([ToolCall, Feedback, Message]))
    required = {
        ToolCall: {"key_space": "k", "key": "1", "conversation_id": "c", "tool_name": "t"},
        Feedback: {
            "key_space": "k",
            "key": "1",
            "target_level": "call",
            "target_key_space": "k",
            "conversation_id": None,
        },
        Message: {"key_space": "k", "conversation_id": "c", "position": 0, "role": "user", "text": None},
    }[kind]
    given_fields = {
        **required,
        **data.draw(st.fixed_dictionaries({}, optional={"created_at": st.datetimes()})),
    }

    made = quick(kind)(**given_fields)

    assert made == kind(**given_fields)
    assert type(made) is kind
    with pytest.raises(AttributeError):
        made.key_space = "other"


@pytest.mark.parametrize("begins", PUBLIC)
def test_every_public_file_is_its_own_format_s_and_no_other_s(shared: Path, begins: str) -> None:
    folder = shared / "traces"
    paths = [path for path in sorted(folder.rglob("*.*")) if str(path.relative_to(folder)).startswith(begins)]
    looked_at = 0

    for path in paths:
        with Stream(path, shown=str(path)) as stream:
            raws = list(islice(raw_units(stream, ReadNotes()), 50))
        values = [json.loads(raw.text) for raw in raws if raw.text.strip()]
        objects = [one for value in values for one in (value if isinstance(value, list) else [value])]
        sample = Sample(layout="lines", objects=tuple(one for one in objects if isinstance(one, dict)))
        fits = [known.name for known in formats.registry() if known.recognise(sample).fitting]
        assert fits[0] == formats.recognise(path).name == PUBLIC[begins]
        assert {(fits[0], other) for other in fits[1:]} <= MORE_SPECIAL
        looked_at += 1

    assert looked_at == len(paths) >= 1


@pytest.mark.parametrize(
    "name", ["quality_lab.traces", "quality_lab.feedback", "quality_lab.regression_cases"]
)
@pytest.mark.parametrize("after", ["", "\n", "\noops\n"])
def test_a_file_whose_first_line_holds_two_objects_is_recognised_by_them(
    tmp_path: Path, name: str, after: str
) -> None:
    text = json.dumps(ONE_OF_EACH[name])
    path = tmp_path / "glued.jsonl"
    path.write_text(text + text + after, "utf-8")

    assert formats.recognise(path).name == name
