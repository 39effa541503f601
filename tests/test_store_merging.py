"""What the cache makes of records that come once, twice, more complete, or against each other."""

from __future__ import annotations

import dataclasses
import itertools
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from quality_lab.records import UPSTREAM, Conversation, Feedback, Message, RegressionCase, ToolCall
from quality_lab.store import Store

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def call(key: str = "4031", **changes: Any) -> ToolCall:
    base = ToolCall(
        key_space=UPSTREAM,
        key=key,
        conversation_id="977",
        tool_name="compute_exchange_quote",
        arguments='{"asset":"USDT","amount":15000}',
        result='{"amountToThb":489000}',
        is_error=False,
        created_at=NOON,
    )
    return dataclasses.replace(base, **changes)


def label(key: str = "512", **changes: Any) -> Feedback:
    base = Feedback(
        key_space=UPSTREAM,
        key=key,
        target_level="call",
        target_key_space=UPSTREAM,
        conversation_id="977",
        call_key="4031",
        label="bad_args",
        label_raw="bad_args",
        author="3",
        created_at=NOON,
    )
    return dataclasses.replace(base, **changes)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def tables(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Every table but the list of files, as sorted rows."""
    names = ("tool_calls", "feedback", "conversations", "messages", "regression_cases", "versions", "rejects")
    with store.question() as connection:
        return {
            name: sorted(connection.execute(f"select * from {name}").fetchall(), key=str) for name in names
        }


def test_a_call_that_comes_twice_is_one_call_seen_in_both_exports(store: Store) -> None:
    store.write_records([call(), call(seen_in="feedback")])

    assert store.totals()["tool_calls"] == 1
    with store.question() as connection:
        seen = connection.execute("select in_trace, in_feedback, in_case from tool_calls").fetchall()
    assert seen == [(True, True, False)]


def test_an_id_that_upstream_set_to_null_is_filled_from_the_export_that_still_has_it(store: Store) -> None:
    store.write_records([call(contact_id=None)], origin="late.jsonl")
    store.write_records([call(contact_id="650")], origin="early.jsonl")

    with store.question() as connection:
        assert connection.execute("select contact_id from tool_calls").fetchall() == [("650",)]


def test_two_contents_under_one_id_are_both_set_aside_and_neither_counts(store: Store) -> None:
    store.write_records([call()], origin="one.jsonl")
    store.write_records([call(tool_name="offer_booking_link")], origin="other.jsonl")

    assert store.totals()["tool_calls"] == 0
    rows = store.rejects()
    assert [row.file for row in rows] == ["one.jsonl", "other.jsonl"]
    assert all(row.reason.startswith("id_conflict") for row in rows)


def test_equal_values_written_differently_are_no_conflict(store: Store) -> None:
    store.write_records([call(arguments='{"asset": "USDT", "amount": 1.50e4}')], origin="spaced.jsonl")
    store.write_records([call()], origin="compact.jsonl")

    assert store.totals()["tool_calls"] == 1
    assert store.rejects() == []


def test_a_masked_copy_in_a_case_yields_to_the_call_itself_whichever_comes_first(tmp_path: Path) -> None:
    masked = call(arguments='{"asset":"<masked>"}', seen_in="case")
    for name, order in (("a", [masked, call()]), ("b", [call(), masked])):
        store = Store(tmp_path / name)
        for number, record in enumerate(order):
            store.write_records([record], origin=f"{number}.jsonl")

        with store.question() as connection:
            rows = connection.execute("select arguments, in_trace, in_case from tool_calls").fetchall()
        assert rows == [('{"asset":"USDT","amount":15000}', True, True)]


def test_any_order_of_arrival_gives_equal_tables(tmp_path: Path) -> None:
    arrivals = {
        "trace": [call(), call("4032", contact_id=None)],
        "feedback": [
            call(seen_in="feedback", contact_id="650"),
            label(),
            label("513", call_key="4032", author=None),
        ],
        "again": [call("4032", contact_id="7"), label("513", call_key="4032", author="5"), call("4033")],
        "wrong": [call("4033", tool_name="another"), call("4031", contact_id="651")],
    }
    results = []
    for order in itertools.permutations(arrivals):
        store = Store(tmp_path / "-".join(order))
        for name in order:
            store.write_records(arrivals[name], origin=name)
        results.append(tables(store))

    assert all(one == results[0] for one in results[1:])
    assert [row[2] for row in results[0]["feedback"]] == [UPSTREAM, UPSTREAM]
    assert len(results[0]["tool_calls"]) == 1  # 4032: 4031 and 4033 are in conflict
    assert len(results[0]["versions"]) == 3 + 2 + 2 + 2  # 4031, 4032, 4033 and label 513


def test_the_case_with_the_later_update_stands(store: Store) -> None:
    def case(title: str, hour: int) -> RegressionCase:
        return RegressionCase(
            key="41",
            record="{}",
            tool_name="t",
            label="bad_args",
            title=title,
            status="active",
            updated_at=datetime(2026, 6, 1, hour, tzinfo=UTC),
        )

    store.write_records([case("new", 9)], origin="a")
    store.write_records([case("old", 8)], origin="b")

    with store.question() as connection:
        assert connection.execute("select title from regression_cases").fetchall() == [("new",)]


def test_a_message_written_again_more_complete_replaces_the_earlier_one(store: Store) -> None:
    half = Message(key_space="chat", conversation_id="c", position=1, role="assistant", text="Your book")
    whole = dataclasses.replace(half, text="Your booking is done.", model="example-model-1")
    store.write_records([whole], origin="a")
    store.write_records([half], origin="b")

    with store.question() as connection:
        assert connection.execute("select text, model from messages").fetchall() == [
            ("Your booking is done.", "example-model-1")
        ]


def test_a_result_that_came_later_completes_a_pending_call_of_a_chat(store: Store) -> None:
    pending = call(key_space="chat", result=None, result_state="pending", is_error=None)
    done = call(key_space="chat", result='{"ok":true}')
    store.write_records([pending], origin="a")
    store.write_records([done], origin="b")

    with store.question() as connection:
        rows = connection.execute("select result, result_state, outcome from tool_calls").fetchall()
    assert rows == [('{"ok":true}', "present", "ok")]


def test_a_conversation_keeps_its_earliest_and_latest_time_and_every_tool_it_was_offered(
    store: Store,
) -> None:
    base = Conversation(key_space="chat", conversation_id="c", started_at=NOON, ended_at=NOON, offered=("b",))
    later = dataclasses.replace(base, started_at=None, ended_at=NOON.replace(hour=13), offered=("a", "b"))
    store.write_records([base, later])

    with store.question() as connection:
        rows = connection.execute(
            "select started_at::varchar, ended_at::varchar, offered from conversations"
        ).fetchall()
    assert rows == [("2026-06-01 12:00:00", "2026-06-01 13:00:00", ["a", "b"])]


def test_where_the_files_lie_does_not_change_what_is_counted_as_new(tmp_path: Path):
    lines = [
        {"id": n, "conversationId": 7, "toolName": "ping", "args": {}, "result": {"n": n}, "error": False,
         "cycle": 0, "toolCallIndex": n, "createdAt": 1780000000 + n, "contactId": 5,
         "messageId": None, "outboundQueueId": None, "source": "rag_reply", "latencyMs": None}
        for n in range(4)
    ]  # fmt: skip  # one record, three lines
    again = [lines[0], lines[1] | {"contactId": None}, lines[3]]
    counted = set()
    for number in range(8):  # the path is part of what a file is known by
        folder = tmp_path / f"exports-{number}"
        folder.mkdir()
        (folder / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (folder / "b.jsonl").write_text("".join(json.dumps(line) + "\n" for line in again))

        report = Store(tmp_path / f"home-{number}").load([folder])

        counted.add(tuple((one.loaded, one.unchanged, one.merged) for one in report.files))

    assert counted == {((4, 0, 0), (0, 2, 1))}
