"""tau2-bench results: calls of both sides, errors by flag, scores of the run; a broken run costs itself alone."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from file_reading import json_texts, read, written
from hypothesis import given

from quality_lab.records import Conversation


def says(role: str, content: str | None, *calls: dict[str, Any], second: int = 0) -> dict[str, Any]:
    """Return a message."""
    return {
        "role": role, "content": content, "tool_calls": list(calls) or None, "turn_idx": second,
        "timestamp": f"2026-05-04T10:00:{second:02d}.5", "cost": 0.25,
        "usage": {"prompt_tokens": 7, "completion_tokens": 3}, "raw_data": None,
    }  # fmt: skip


def calls(call_id: str, name: str, requestor: str = "assistant", **arguments: Any) -> dict[str, Any]:
    """Return a call."""
    return {"id": call_id, "name": name, "arguments": arguments, "requestor": requestor}


def gives(call_id: str, content: str, *, error: bool = False) -> dict[str, Any]:
    """Return a result."""
    return {"id": call_id, "role": "tool", "content": content, "requestor": "x", "error": error,
            "turn_idx": 0, "timestamp": "2026-05-04T10:00:09"}  # fmt: skip


def simulation(*messages: Any, **rest: Any) -> dict[str, Any]:
    """Return a simulation with these messages."""
    return {
        "id": "sim-1", "task_id": "t", "trial": 0, "seed": 1, "start_time": "2026-05-04T10:00:00",
        "end_time": "2026-05-04T10:01:00", "termination_reason": "user_stop", "reward_info": None,
        "messages": list(messages), **rest,
    }  # fmt: skip


def results(*simulations: dict[str, Any]) -> dict[str, Any]:
    """Return a result file."""
    return {
        "timestamp": "x",
        "info": {"agent_info": {"llm": "gpt-x"}},
        "tasks": [],
        "simulations": list(simulations),
    }


def test_the_user_s_calls_are_told_from_the_agent_s(tmp_path: Path) -> None:
    talk = simulation(
        says("assistant", "Hi"), says("user", "It is slow", second=1),
        says("assistant", None, calls("a", "look", n=1), second=2), gives("a", "{}"),
        says("assistant", "Reboot", second=4), says("user", None, calls("b", "reboot", "user"), second=5),
        gives("b", "done"), says("user", "Done", second=6), says("assistant", "Good", second=7),
    )  # fmt: skip

    found = read(written(tmp_path, json.dumps(results(talk), indent=1).encode()))

    assert (found.format, found.broken, found.notes.unknown_fields) == ("tau2_bench", [], {})
    assert [(c.key, c.tool_name, c.actor, c.turn, c.cycle, c.model) for c in found.calls] == [
        ("sim-1#2.0", "look", "model", 1, 0, "gpt-x"), ("sim-1#5.0", "reboot", "user", 2, None, None)
    ]  # fmt: skip
    assert [one.role for one in found.messages].count("tool") == 2
    assert [(m.input_tokens, m.output_tokens, m.cost_usd) for m in found.messages[:1]] == [(7, 3, 0.25)]
    assert [(one.model, one.conversation_id) for one in found.of(Conversation)] == [("gpt-x", "sim-1")]


def test_errors_are_the_flag_and_parallel_results_go_by_id(tmp_path: Path) -> None:
    batch = says("assistant", None, calls("a", "one"), calls("b", "two"), calls("c", "three"))
    several = {"role": "tool", "tool_messages": [gives("b", "no", error=True), gives("a", "yes")]}

    found = read(written(tmp_path, [simulation(batch, several)]))

    assert [(c.tool_name, c.is_error, c.error_origin, c.result, c.index_in_cycle) for c in found.calls] == [
        ("one", False, None, '"yes"', 0), ("two", True, "flag", '"no"', 1), ("three", None, None, None, 2)
    ]  # fmt: skip
    assert found.calls[1].error_text == "no"


def test_times_without_a_zone_are_taken_as_utc_and_that_is_noted(tmp_path: Path) -> None:
    found = read(written(tmp_path, [simulation(says("assistant", "Hi", second=3))]))

    assert found.messages[0].created_at == datetime(2026, 5, 4, 10, 0, 3, 500_000, tzinfo=UTC)
    assert found.notes.missing == {"zone of a time, which was taken as UTC": 3}
    zoned = simulation(start_time="2026-05-04T12:00:00+02:00", end_time="2026-05-04T10:01:00Z")
    (talk,) = read(written(tmp_path, [zoned])).of(Conversation)
    assert talk.started_at == datetime(2026, 5, 4, 10, tzinfo=UTC)


def test_the_evaluators_words_are_scores_of_the_run_by_who_gave_them(tmp_path: Path) -> None:
    action = {"action_id": "a0", "name": "pay", "arguments": {"sum": 1.10}, "requestor": "assistant"}
    info = {
        "reward": 0.50, "db_check": {"db_match": False, "db_reward": 0.0},
        "action_checks": [{"action": action, "action_match": True, "action_reward": 1.0}],
        "env_assertions": [{"env_assertion": {"func_name": "is_on"}, "met": True, "reward": 1.0}],
        "nl_assertions": [{"nl_assertion": "Is kind", "met": False, "justification": "Was rude"}],
        "communicate_checks": None,
    }  # fmt: skip

    found = read(written(tmp_path, [simulation(says("assistant", "Hi"), reward_info=info)]))

    assert [(one.name, one.score, one.author_kind, one.note) for one in found.labels] == [
        ("reward", "0.5", "CODE", None),
        ("db_match", "false", "CODE", None),
        ("action_check", "true", "CODE", None),
        ("env_assertion", "true", "CODE", "is_on"),
        ("nl_assertion", "false", "LLM", "Is kind: Was rude"),
        ("termination_reason", '"user_stop"', "CODE", None),
    ]
    assert {(one.target_level, one.call_key, one.label) for one in found.labels} == {
        ("conversation", None, None)
    }
    assert (found.labels[2].expected_tool, found.labels[2].expected_arguments) == ("pay", '{"sum": 1.1}')
    assert len({one.key for one in found.labels}) == 6


def test_a_broken_run_costs_only_itself_and_a_voice_run_says_why(tmp_path: Path) -> None:
    broken, voice = simulation(7, id="b"), simulation(id="v", messages=[], ticks=[{"tick": 1}])

    found = read(written(tmp_path, [results(simulation(says("assistant", "Hi")), broken, voice)]))

    assert len(found.of(Conversation)) == 1
    assert found.broken == [
        (1, "messages[0]", "wanted an object"),
        (1, "ticks", "a voice run: what was said stands in ticks, which nothing here can read"),
    ]


def test_simulations_alone_are_read_too_and_results_without_any_are_set_aside(tmp_path: Path) -> None:
    alone = simulation(says("assistant", None, calls("a", "look")))

    found = read(written(tmp_path, [alone, results(), {**alone, "id": None}]))

    assert [call.key for call in found.calls] == ["sim-1#0.0", "t/0/1#0.0"]
    assert [len(unit.records) for unit in found.units][1] == 1
    assert found.broken == []


@given(json_texts(), json_texts())
def test_arguments_and_results_come_out_as_they_went_in(
    tmp_path_factory: Any, arguments: str, content: str
) -> None:
    talk = simulation(says("assistant", None, calls("a", "look", x="ARGS")), gives("a", "RESULT"))
    text = json.dumps(results(talk)).replace('"ARGS"', arguments).replace('"RESULT"', content)

    (call,) = read(written(tmp_path_factory.mktemp("any"), text.encode())).calls

    assert (call.arguments, call.result) == (f'{{"x": {arguments}}}', content)


@pytest.mark.parametrize(
    ("name", "runs", "made", "failed", "by_user"),
    [("es-academico_simulacion", 10, 22, 0, 0), ("telecom_gpt-4o", 20, 215, 1, 125)],
)
def test_public_results_hold_what_was_counted_in_them(
    shared: Path, name: str, runs: int, made: int, failed: int, by_user: int
) -> None:
    path = shared / "traces" / "tau2-bench" / f"{name}.json"
    simulations = json.loads(path.read_text(encoding="utf-8"))["simulations"]

    found = read(path)

    messages = [message for one in simulations for message in one["messages"]]
    asked = [call for message in messages for call in message.get("tool_calls") or ()]
    texts = [message["content"] for message in messages if message["role"] == "tool"]
    assert (found.format, found.broken, found.notes.unknown_fields) == ("tau2_bench", [], {})
    assert len({one.conversation_id for one in found.of(Conversation)}) == len(simulations) == runs
    assert len({call.key for call in found.calls}) == len(asked) == made
    assert sum(bool(call.is_error) for call in found.calls) == failed
    assert Counter(call.actor for call in found.calls)["user"] == by_user
    assert [(call.call_id, json.loads(call.arguments or "")) for call in found.calls] == [
        (call["id"], call["arguments"]) for call in asked
    ]
    assert [json.loads(call.result or "") for call in found.calls] == texts
    rewards = [json.loads(one.score or "") for one in found.labels if one.name == "reward"]
    assert rewards == [one["reward_info"]["reward"] for one in simulations]
    if name.startswith("es"):
        mojibake = "informaciÃ³n"
        assert sum((m.text or "").count(mojibake) for m in found.messages) == sum(
            (m["content"] or "").count(mojibake) for m in messages
        )
