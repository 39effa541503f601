"""Claude Code sessions: split messages, parallel calls, refusals, sub-agents, resumed and broken files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from file_reading import json_texts, lines, read, written
from hypothesis import given

from quality_lab import formats
from quality_lab.formats.claude_code import FORMAT
from quality_lab.formats.contract import Reading, ReadOptions
from quality_lab.formats.units import RawUnit
from quality_lab.outcomes import outcome_of
from quality_lab.records import Conversation, ReadNotes
from quality_lab.store import Store

NO = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. …)."


def line(kind: str, number: int, message: Any, **rest: Any) -> dict[str, Any]:
    """Return a line of a session."""
    return {
        "type": kind, "uuid": f"u{number}", "parentUuid": None if number == 1 else f"u{number - 1}",
        "sessionId": "s-1", "isSidechain": False, "timestamp": f"2026-05-04T10:00:{number % 60:02d}.500Z",
        "cwd": "/home/user", "version": "2.0.37", "message": message, **rest,
    }  # fmt: skip


def asks(number: int, words: str = "Do it", **rest: Any) -> dict[str, Any]:
    """Return a person's prompt."""
    return line("user", number, {"role": "user", "content": words}, **rest)


def says(number: int, message_id: str, *blocks: Any, **rest: Any) -> dict[str, Any]:
    """Return a line of the model's, with a usage that counts what was written so far."""
    usage = {"input_tokens": 100, "output_tokens": number, "cache_read_input_tokens": 900}
    message = {
        "id": message_id, "type": "message", "role": "assistant", "model": "claude-x",
        "content": list(blocks), "stop_reason": None, "usage": usage,
    }  # fmt: skip
    return line("assistant", number, message, requestId="r", **rest)


def gives(number: int, *results: Any, beside: Any = None, **rest: Any) -> dict[str, Any]:
    """Return a line with results."""
    return line("user", number, {"role": "user", "content": list(results)}, toolUseResult=beside, **rest)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(call_id: str, name: str = "Bash", **given_input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given_input}


def result(call_id: str, content: Any = "done", **rest: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **rest}


def test_a_message_spread_over_lines_is_one_and_its_usage_counts_once(tmp_path: Path) -> None:
    session = [
        asks(1), says(2, "m1", text("I look")), says(3, "m1", use("a", command="ls")), gives(4, result("a")),
        says(5, "m1", use("b", command="pwd")), gives(6, result("b", is_error=False)),
        says(7, "m2", text("Done")),
    ]  # fmt: skip

    found = read(written(tmp_path, session))

    spoken = [one for one in found.messages if one.role == "assistant"]
    assert (found.format, found.broken, found.notes.unknown_fields) == ("claude_code", [], {})
    assert [(one.message_id, one.text, one.input_tokens, one.output_tokens) for one in spoken] == [
        ("m1", "I look", 100, 5), ("m2", "Done", 100, 7)
    ]  # fmt: skip
    assert [(c.key, c.index_in_cycle, c.cycle, c.turn, c.message_position) for c in found.calls] == [
        ("s-1#a", 0, 0, 0, 1), ("s-1#b", 1, 0, 0, 1)
    ]  # fmt: skip
    assert [(call.result, call.is_error, call.model) for call in found.calls] == [
        ('"done"', False, "claude-x")
    ] * 2
    assert found.calls[1].created_at == datetime(2026, 5, 4, 10, 0, 5, 500_000, tzinfo=UTC)
    assert found.notes.merged == {"message spread over lines": 2}
    assert [unit.line for unit in found.units] == [1, 2, 3, 4, 5, 6, 7]
    assert [record.key for record in found.units[4].records if hasattr(record, "tool_name")] == ["s-1#b"]


@pytest.mark.parametrize(
    ("content", "beside", "words"),
    [
        (NO, "User rejected tool use", None),
        (NO + "\n\nthe user said:\nUse the other file", f"Error: {NO}", "Use the other file"),
        ("please add that file first", "Error: please add that file first", "please add that file first"),
        ([{"type": "text", "text": NO}], f"Error: {NO}", None),
        ("[Request interrupted by user for tool use]", None, None),
    ],
)  # fmt: skip
def test_a_person_s_no_is_a_refusal_and_feedback_with_the_words_and_no_error(
    tmp_path: Path, content: Any, beside: str | None, words: str | None
) -> None:
    found = read(
        written(
            tmp_path,
            [asks(1), says(2, "m", use("a")), gives(3, result("a", content, is_error=True), beside=beside)],
        )
    )

    (call,), (no,) = found.calls, found.labels
    assert (call.person_refused, call.is_error, call.error_origin) == (True, None, None)
    assert outcome_of(call) == ("rejected", None)
    assert (no.author_kind, no.note, no.call_key, no.target_level) == ("HUMAN", words, "s-1#a", "call")
    assert (no.label, no.label_raw, no.name, no.score, no.tool_name) == (
        None,
        None,
        "approval",
        "false",
        "Bash",
    )
    assert no.created_at == datetime(2026, 5, 4, 10, 0, 3, 500_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("content", "tool", "kind"),
    [
        ("<tool_use_error>File has not been read yet.</tool_use_error>", "Edit", "tool_use_error"),
        ("Exit code 1\nboom", "Bash", "exit_code"),
        ("ls: x: No such file or directory", "Bash", None),
        ("please slow down a little", "mcp__mail__send", None),
        ("Claude requested permissions to use Bash, but you haven't granted it yet.", "Bash", "permission"),
    ],
)
def test_a_tool_s_own_failure_is_an_error_and_nobody_s_no(
    tmp_path: Path, content: str, tool: str, kind: str | None
) -> None:
    rows = [
        asks(1), says(2, "m", use("a", tool)),
        gives(3, result("a", content, is_error=True), beside=f"Error: {content}"),
    ]  # fmt: skip

    found = read(written(tmp_path, rows))

    (call,) = found.calls
    assert (call.is_error, call.error_origin, call.error_text, call.error_kind) == (
        True,
        "flag",
        content,
        kind,
    )
    assert (call.person_refused, found.labels) == (False, [])


def test_a_no_to_a_call_of_another_file_is_kept_for_it(tmp_path: Path) -> None:
    part = gives(9, result("a", NO, is_error=True), beside="User rejected tool use")

    found = read(written(tmp_path, [part]))

    assert found.calls == []
    assert [no.call_key for no in found.labels] == ["s-1#a"]
    assert found.notes.missing == {"result without call": 1}


def test_sub_agents_calls_are_theirs_and_open_no_turn(tmp_path: Path) -> None:
    side = {"isSidechain": True}
    session = [
        asks(1), says(2, "m1", use("t", "Task", subagent_type="Plan", prompt="Look")),
        asks(3, "Look", **side), says(4, "m2", use("x"), **side), gives(5, result("x"), **side),
        says(6, "m3", text("Seen"), **side), gives(7, result("t", [text("Seen")])), asks(8, "Next"),
        says(9, "m4", use("y")),
    ]  # fmt: skip

    found = read(written(tmp_path, session))

    assert [(c.call_id, c.actor, c.turn, c.cycle, c.wrapped_tool) for c in found.calls] == [
        ("t", "model", 0, 0, "Plan"), ("x", "sub_agent", 0, 0, None), ("y", "model", 1, 0, None)
    ]  # fmt: skip
    assert [one.position for one in found.messages] == list(range(9))
    assert {one.conversation_id for one in found.of(Conversation)} == {"s-1"}


def test_a_sub_agent_s_own_file_is_a_conversation_beside_its_session(tmp_path: Path) -> None:
    side = {"isSidechain": True, "agentId": "7f"}
    agent = [asks(1, **side), says(2, "m", use("x"), **side), gives(3, result("x"), **side)]

    found = read(written(tmp_path, agent))

    assert [(call.key, call.actor) for call in found.calls] == [("s-1/agent-7f#x", "sub_agent")]


def test_what_a_resumed_session_writes_again_is_told_once(tmp_path: Path) -> None:
    first = [asks(1), says(2, "m1", use("a")), gives(3, result("a"))]
    copied = [
        {**says(2, "m1", use("a")), "sessionId": "s-2", "uuid": "v2"},
        {**gives(3, result("a")), "sessionId": "s-2", "uuid": "v3"},
    ]
    more = [{**says(5, "m2", use("b")), "sessionId": "s-2"}, {**gives(6, result("b")), "sessionId": "s-2"}]

    found = read(written(tmp_path, [*first, *first, *copied, *more]))

    assert Counter(call.call_id for call in found.calls) == {"a": 1, "b": 1}
    assert found.notes.merged["line written again"] == 3
    assert found.notes.merged["message written again in a resumed session"] == 1


def test_a_session_that_goes_on_from_another_of_the_file_begins_there(tmp_path: Path) -> None:
    going_on = {**asks(3), "sessionId": "s-2"}

    found = read(
        written(
            tmp_path,
            [asks(1), says(2, "m1", use("a")), going_on, {**says(4, "m2", use("b")), "sessionId": "s-2"}],
        )
    )

    assert [(call.key, call.turn, call.message_position) for call in found.calls] == [
        ("s-1#a", 0, 1),
        ("s-2#b", 0, 1),
    ]


def test_a_run_that_names_no_session_is_known_by_its_first_message(tmp_path: Path) -> None:
    def bare(row: dict[str, Any]) -> dict[str, Any]:
        return {"type": row["type"], "message": row["message"]}

    one, other = (
        {
            talk.conversation_id
            for talk in read(written(tmp_path, [bare(asks(1, words)), bare(says(2, "m", use("a")))])).of(
                Conversation
            )
        }
        for words in ("Do it", "Do that")
    )

    assert len(one) == len(other) == 1
    assert one != other


def test_a_session_loaded_again_when_it_has_grown_contradicts_nothing(tmp_path: Path) -> None:
    whole = [
        asks(1), says(2, "m1", use("a")), gives(3, result("a")), asks(4, "More"), says(5, "m2", use("b")),
        gives(6, result("b", "no", is_error=True), beside="Error: no"),
    ]  # fmt: skip
    paths = [
        written(tmp_path, part, name)
        for part, name in ((whole[:2], "a.jsonl"), (whole, "b.jsonl"), (whole[4:], "c.jsonl"))
    ]
    store = Store(tmp_path)

    store.load(paths)

    assert (store.totals()["tool_calls"], store.rejects()) == (2, [])


def test_a_file_that_begins_in_the_middle_says_of_no_call_in_which_turn_it_was_made(tmp_path: Path) -> None:
    found = read(written(tmp_path, [says(7, "m", use("a")), gives(8, result("a"))]))

    (call,) = found.calls
    began = int(datetime(2026, 5, 4, 10, 0, 7, tzinfo=UTC).timestamp())
    assert (call.turn, call.cycle, call.call_index, call.message_position) == (None, None, None, None)
    assert [one.position for one in found.messages] == [began, began + 1]


@pytest.mark.parametrize("year", ["0002", "9998"])
def test_a_file_that_begins_in_the_middle_loads_whatever_its_clock_said(tmp_path: Path, year: str) -> None:
    path = written(tmp_path, [says(7, "m", use("t")) | {"timestamp": f"{year}-05-04T10:00:07Z"}])

    loaded = Store(tmp_path / "home").load([path])

    assert (loaded.files[0].status, loaded.totals["tool_calls"]) == ("loaded", 1)


def test_glued_objects_and_broken_lines_cost_only_themselves(tmp_path: Path) -> None:
    one, two = lines(says(2, "m", use("a"))).strip(), lines(gives(3, result("a"))).strip()
    broken = [
        b'"oops"',
        {"silly": 1},
        line("user", 5, "error"),
        line("user", 6, {"role": "user", "content": 5}),
    ]

    found = read(written(tmp_path, lines(asks(1), one + two, *broken)))

    assert [call.result for call in found.calls] == ['"done"']
    assert found.notes.glued == 1
    assert [(at, path) for at, path, _ in found.broken] == [
        (3, ""), (4, "type"), (5, "message"), (6, "message.content")
    ]  # fmt: skip


def test_other_lines_are_set_aside_and_unknown_kinds_and_fields_counted(tmp_path: Path) -> None:
    rows = [
        {"type": "summary", "summary": "Sum", "leafUuid": "u1"}, asks(1, newField=1),
        {"type": "hologram", "sessionId": "s-1"}, says(2, "m", {"type": "poem"}, text("Oh")),
    ]  # fmt: skip

    found = read(written(tmp_path, rows))

    assert found.notes.not_understood == {"hologram": 1, "block of type poem": 1}
    assert found.notes.unknown_fields == {"newField": 1}
    assert json.loads(found.messages[1].content or "") == [{"type": "poem"}, text("Oh")]


def test_a_long_session_is_told_turn_by_turn(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = []
    for turn in range(200):
        rows += [
            asks(3 * turn + 1), says(3 * turn + 2, f"m{turn}", use(f"c{turn}")),
            gives(3 * turn + 3, result(f"c{turn}")),
        ]  # fmt: skip
    taken = 0

    def raws() -> Iterator[RawUnit]:
        nonlocal taken
        for number, row in enumerate(rows, start=1):
            taken = number
            yield RawUnit(number, json.dumps(row).encode())

    reading = Reading(options=ReadOptions(), notes=ReadNotes(), display_path="x")
    units = FORMAT.read(raws(), reading)
    first = next(units)
    taken_first = taken
    rest = list(units)

    calls = [record for unit in rest for record in unit.records if hasattr(record, "call_index")]
    assert first.line == 1
    assert taken_first < 300
    assert sorted(unit.line for unit in [first, *rest]) == list(range(1, 601))
    assert [call.turn for call in calls] == list(range(200))


def test_a_headless_run_s_array_is_one_session_with_its_servers(shared: Path) -> None:
    path = shared / "traces" / "claude-code" / "sample-turns.json"
    rows = json.loads(path.read_text(encoding="utf-8"))

    found = read(path)

    uses = [
        one
        for row in rows
        if row["type"] == "assistant"
        for one in row["message"]["content"]
        if one["type"] == "tool_use"
    ]
    assert (found.format, found.broken) == ("claude_code", [])
    assert {one.conversation_id for one in found.of(Conversation)} == {"sample-session-id"}
    assert [(call.call_id, json.loads(call.arguments or "")) for call in found.calls] == [
        (one["id"], one["input"]) for one in uses
    ]
    assert [call.tool_server for call in found.calls] == [None, None, "github"]
    assert [call.is_error for call in found.calls] == [False] * 3


@given(json_texts(), json_texts())
def test_arguments_and_results_come_out_as_they_went_in(
    tmp_path_factory: Any, arguments: str, content: str
) -> None:
    rows = [says(1, "m", use("a", x="ARGS")), gives(2, result("a", "RESULT"))]
    plain = "\n".join(map(json.dumps, rows)).replace('"ARGS"', arguments).replace('"RESULT"', content)

    (call,) = read(written(tmp_path_factory.mktemp("any"), plain.encode())).calls

    assert (call.arguments, call.result) == (f'{{"x": {arguments}}}', content)


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("representative_messages", 2), ("todowrite_examples", 3),
        *((f"tool-messages/{tool}-tool_{part}", int(part == "use"))
          for tool in ("AskUserQuestion", "Bash", "Edit", "ExitPlanMode", "Write")
          for part in ("use", "result", "result_error")),
        ("tool-messages/Task-tool_use", 1), ("tool-messages/Task-tool_result", 0),
    ],
)  # fmt: skip
def test_public_sessions_hold_what_was_counted_in_them(shared: Path, name: str, calls: int) -> None:
    path = shared / "traces" / "claude-code" / f"{name}.jsonl"
    rows = [json.loads(row) for row in path.read_text(encoding="utf-8").splitlines()]

    found = read(path)

    blocks = [
        block
        for row in rows
        for block in (row.get("message") or {}).get("content") or ()
        if isinstance(block, dict)
    ]
    uses = [block for block in blocks if block["type"] == "tool_use"]
    results = [block for block in blocks if block["type"] == "tool_result"]
    orphans = len(results) - sum(one["tool_use_id"] in {use["id"] for use in uses} for one in results)
    assert (found.format, found.broken) == ("claude_code", [])
    assert len({one.conversation_id for one in found.of(Conversation)}) == 1
    assert [(call.call_id, json.loads(call.arguments or "")) for call in found.calls] == [
        (one["id"], one["input"]) for one in uses
    ]
    assert len(uses) == calls
    assert sum(bool(call.is_error) for call in found.calls) == 0
    assert found.notes.missing.get("result without call", 0) == orphans


def test_the_public_refusals_are_a_person_s_and_the_public_errors_a_tool_s(shared: Path) -> None:
    folder = shared / "traces" / "claude-code" / "tool-messages"

    said = {
        path.name.partition("-")[0]: [no.note for no in read(path).labels]
        for path in sorted(folder.glob("*_error.jsonl"))
    }

    assert said == {
        "AskUserQuestion": [], "Bash": ["please add transformer.js too first"], "Edit": [],
        "ExitPlanMode": [None], "Write": [None],
    }  # fmt: skip


def test_the_public_file_of_edge_cases_holds_two_sessions_and_three_calls(shared: Path) -> None:
    path = shared / "traces" / "claude-code" / "edge_cases.jsonl"

    found = read(path)

    # Not counted there ("ERR"): four lines are no message at all, and two of those that are hold none.
    rows = [json.loads(row) for row in path.read_text(encoding="utf-8").splitlines()]
    spoken = [row for row in rows if isinstance(row, dict) and row.get("type") in ("user", "assistant")]
    uses = [
        block["id"]
        for row in spoken
        if isinstance(row["message"], dict)
        for block in row["message"].get("content", ())
        if isinstance(block, dict) and block["type"] == "tool_use"
    ]
    hollow = [
        row for row in spoken if not isinstance(row["message"], dict) or "content" not in row["message"]
    ]
    strangers = [row for row in rows if not isinstance(row, dict) or "type" not in row]
    assert [call.call_id for call in found.calls] == uses
    assert len(uses) == 3
    assert [call.is_error for call in found.calls] == [True, None, None]
    assert {one.conversation_id for one in found.of(Conversation)} == {row["sessionId"] for row in spoken}
    assert len(found.rejects) == len(hollow) + len(strangers) == 6


def test_the_public_recording_of_a_client_is_one_session(shared: Path) -> None:
    path = shared / "traces" / "logfire" / "tool_use_conversation.json"
    recording = json.loads(path.read_text(encoding="utf-8"))

    found = read(path)

    # Two were counted, one of them "default": what the client writes until the session has its name.
    named = {one["message"].get("session_id") for one in recording["messages"]} - {None}
    sent = [one["message"] for one in recording["messages"] if one["direction"] == "send"]
    assert named - {one.get("session_id") for one in sent} == {
        talk.conversation_id for talk in found.of(Conversation)
    }
    assert (len(found.calls), found.calls[0].tool_name, found.calls[0].is_error) == (1, "Bash", False)
    assert [one.role for one in found.messages] == ["user", "assistant", "tool", "assistant"]
    assert found.messages[1].input_tokens == 3
    assert formats.recognise(path).name == "claude_code"
