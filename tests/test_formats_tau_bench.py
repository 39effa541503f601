"""tau-bench results: each result with its own call though ids repeat, errors by text, rewards as scores."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from file_reading import Read, json_texts, read, written
from hypothesis import given

from quality_lab.records import Conversation, Feedback


def asks(*calls: tuple[str, str, str]) -> dict[str, Any]:
    """Return an assistant's message that makes these calls: id, name, arguments."""
    made = [
        {"function": {"arguments": arguments, "name": name}, "id": call_id, "type": "function"}
        for call_id, name, arguments in calls
    ]
    return {"content": None, "role": "assistant", "tool_calls": made}


def answers(call_id: str, name: str, content: str) -> dict[str, Any]:
    """Return a tool's message."""
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": content}


def run(*traj: dict[str, Any], **change: Any) -> dict[str, Any]:
    """Return a run with this conversation."""
    return {"task_id": 4, "reward": 0.0, "info": {"user_cost": 0.1}, "traj": list(traj), "trial": 1, **change}


USER = {"role": "user", "content": "Change my seat"}
SAYS = {"role": "assistant", "content": "Which one?"}


def test_an_id_that_comes_back_does_not_mix_up_results(tmp_path: Path) -> None:
    found = read(
        written(
            tmp_path,
            [
                run(
                    USER,
                    asks(("call_1", "get_user", '{"id": 1}')),
                    answers("call_1", "get_user", '{"name": "Ann"}'),
                    asks(("call_1", "calculate", '{"expression": "1 + 1"}')),
                    answers("call_1", "calculate", "2.0"),
                )
            ],
        )
    )

    assert [(call.tool_name, call.arguments, call.result) for call in found.calls] == [
        ("get_user", '{"id": 1}', '"{\\"name\\": \\"Ann\\"}"'),
        ("calculate", '{"expression": "1 + 1"}', '"2.0"'),
    ]
    assert len({call.key for call in found.calls}) == 2


def test_a_parallel_batch_gets_its_results_by_id_and_else_in_order(tmp_path: Path) -> None:
    batch = asks(("a", "one", "{}"), ("b", "two", "{}"), ("b", "three", "{}"), ("c", "four", "{}"))
    results = [answers("b", "x", "second"), answers("a", "x", "first"), answers("b", "x", "third")]

    found = read(written(tmp_path, [run(USER, batch, *results, SAYS)]))

    assert [(call.tool_name, call.result, call.result_state) for call in found.calls] == [
        ("one", '"first"', "present"),
        ("two", '"second"', "present"),
        ("three", '"third"', "present"),
        ("four", None, "absent"),
    ]
    assert [(call.index_in_cycle, call.call_index, call.message_position) for call in found.calls] == [
        (0, 0, 1), (1, 1, 1), (2, 2, 1), (3, 3, 1)
    ]  # fmt: skip
    assert found.notes.missing == {"call without result": 1}


def test_turns_cycles_and_indexes_count_from_nought(tmp_path: Path) -> None:
    call = asks(("a", "look", "{}"))
    result = answers("a", "look", "1")

    found = read(
        written(tmp_path, [run(USER, call, result, call, result, SAYS, USER, SAYS, USER, call, result)])
    )

    assert [(one.turn, one.cycle, one.call_index, one.message_position) for one in found.calls] == [
        (0, 0, 0, 1), (0, 1, 1, 3), (2, 0, 0, 9)
    ]  # fmt: skip


def test_an_error_is_told_by_its_text_and_the_flag_stays_unknown(tmp_path: Path) -> None:
    failed, fine, quoted = (
        read(written(tmp_path, [run(USER, asks(("a", "pay", "{}")), answers("a", "pay", content))])).calls[0]
        for content in ("Error: no such card", "Paid", '"Error: inside"')
    )

    assert (failed.is_error, failed.error_origin, failed.error_text) == (None, "text", "Error: no such card")
    assert (fine.is_error, fine.error_origin, fine.error_text) == (False, None, None)
    assert (quoted.is_error, quoted.error_origin) == (False, None)


def test_a_call_that_nothing_answered_is_neither_fine_nor_failed(tmp_path: Path) -> None:
    (call,) = read(written(tmp_path, [run(USER, asks(("a", "pay", "{}")))])).calls

    assert (call.result, call.result_state, call.is_error) == (None, "not_captured", None)


def test_a_run_that_crashed_is_a_conversation_without_messages(tmp_path: Path) -> None:
    crashed = run(info={"error": "rate limit", "traceback": "…"})

    found = read(written(tmp_path, [crashed]))

    assert len(found.of(Conversation)) == len(found.labels) == 1
    assert (found.messages, found.calls, found.broken) == ([], [], [])
    assert found.notes.missing == {"messages of a run that crashed": 1}


def test_a_reward_is_a_program_s_score_on_the_run_and_not_on_its_calls(tmp_path: Path) -> None:
    (score,) = read(written(tmp_path, [run(USER, SAYS, reward=0.93)])).labels

    assert isinstance(score, Feedback)
    assert (score.target_level, score.call_key, score.label) == ("conversation", None, None)
    assert (score.name, score.score, score.author_kind) == ("reward", "0.93", "CODE")
    assert read(written(tmp_path, [run(USER, SAYS, reward=None)])).labels == []


def test_the_same_task_of_another_model_is_another_conversation(tmp_path: Path) -> None:
    one, other, again = (
        read(written(tmp_path, [run(USER, said)])).of(Conversation)[0].conversation_id
        for said in (SAYS, {**SAYS, "content": "Sure."}, SAYS)
    )

    assert one.startswith("4/1/")
    assert one != other
    assert one == again


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({"traj": {}}, ("traj", "wanted array or null, got object")),
        ({"task_id": None}, ("task_id", "wanted integer or string, got null")),
        ({"reward": {}}, ("reward", "wanted a number")),
        ({"traj": [USER, {"content": "x"}]}, ("traj[1].role", "required field is missing")),
        (
            {"traj": [asks(("a", "", "{}")), {**USER, "role": 1}]},
            ("traj[1].role", "wanted string, got integer"),
        ),
        (
            {"traj": [{**SAYS, "tool_calls": [{}]}]},
            ("traj[0].tool_calls[0].function", "required field is missing"),
        ),
    ],
)
def test_a_wrong_type_is_a_reject_with_its_path(
    tmp_path: Path, change: dict[str, Any], broken: tuple[str, str]
) -> None:
    good = run(USER, SAYS)

    assert read(written(tmp_path, [good, {**good, **change}])).broken == [(2, *broken)]


@given(json_texts())
def test_arguments_come_out_as_they_went_in(tmp_path_factory: pytest.TempPathFactory, arguments: str) -> None:
    path = written(tmp_path_factory.mktemp("any"), [run(USER, asks(("a", "pay", arguments)))])

    (call,) = read(path).calls

    assert (call.arguments, call.arguments_state) == (arguments, "json_string")


@pytest.fixture(scope="module")
def airline(shared: Path) -> tuple[list[dict[str, Any]], Read]:
    """The public file: as the standard library reads it, and as the format does."""
    path = shared / "traces" / "tau-bench" / "gpt-4o-airline.json"
    return json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal), read(path)


@pytest.mark.shared
def test_the_public_file_holds_what_was_counted_in_it(airline: tuple[list[dict[str, Any]], Read]) -> None:
    _, found = airline

    assert found.format == "tau_bench"
    assert len(found.units) == len(found.of(Conversation)) == 200
    assert len({one.conversation_id for one in found.of(Conversation)}) == 200
    assert (len(found.calls), len({call.key for call in found.calls})) == (1164, 1164)
    assert len({call.call_id for call in found.calls}) == 134
    assert len(found.messages) == 5308
    failed = Counter(call.tool_name for call in found.calls if call.error_origin == "text")
    assert (failed.total(), failed["book_reservation"], failed["update_reservation_flights"]) == (73, 30, 42)
    made = Counter(call.tool_name for call in found.calls)
    assert (made["book_reservation"], made["update_reservation_flights"]) == (53, 104)
    assert Counter(label.score for label in found.labels) == {"0.0": 116, "1.0": 84}
    assert (found.broken, found.notes.unknown_fields, found.notes.missing) == ([], {}, {})


@pytest.mark.shared
def test_every_call_of_the_public_file_has_the_values_of_the_file(
    airline: tuple[list[dict[str, Any]], Read],
) -> None:
    runs, found = airline
    made = iter(found.calls)
    compared = 0

    for one in runs:
        for position, message in enumerate(one["traj"]):
            for place, asked in enumerate(message.get("tool_calls") or ()):
                answer = one["traj"][position + 1 + place]
                call = next(made)
                compared += 1
                assert call.call_id == asked["id"] == answer["tool_call_id"]
                assert call.tool_name == asked["function"]["name"] == answer["name"]
                assert call.message_position == position
                assert call.arguments is not None
                assert call.result is not None
                assert json.loads(call.arguments, parse_float=Decimal) == json.loads(
                    asked["function"]["arguments"], parse_float=Decimal
                )
                assert json.loads(call.result) == answer["content"]

    assert compared == 1164
    assert next(made, None) is None


@pytest.mark.shared
def test_every_message_of_the_public_file_has_the_text_of_the_file(
    airline: tuple[list[dict[str, Any]], Read],
) -> None:
    runs, found = airline

    assert [(one.role, one.text, one.call_id, one.position) for one in found.messages] == [
        (message["role"], message["content"], message.get("tool_call_id"), position)
        for one in runs
        for position, message in enumerate(one["traj"])
    ]
