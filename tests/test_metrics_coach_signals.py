"""Coach signals: the newest faults that stand on calls made in a style, at the time of the call."""

from __future__ import annotations

from datetime import timedelta

import pytest
from lab_builder import MONDAY, LabBuilder

from quality_lab.errors import UsageError
from quality_lab.metrics import Filters
from quality_lab.metrics.coach_signals import coach_signals, styles
from quality_lab.records import Conversation


@pytest.fixture
def builder(tmp_path):
    return LabBuilder(tmp_path)


def tools(answer) -> list[str]:
    return [signal.tool_name for signal in answer]


def test_the_twelve_newest_come_first_and_the_rest_is_counted(builder):
    for number in range(15):
        call = builder.call(f"tool {number}", style="calm", conversation_id=str(number))
        builder.label(call, "bad_args", created_at=MONDAY + timedelta(hours=number))
    store = builder.store()

    answer = coach_signals(store, "calm")

    assert tools(answer) == [f"tool {number}" for number in range(14, 2, -1)]
    assert answer.more == 3
    assert len(coach_signals(store, "calm", limit=20)) == 15
    with pytest.raises(UsageError, match="at least one label"):
        coach_signals(store, "calm", limit=0)


def test_the_style_is_that_of_the_call_and_the_conversations_only_where_the_call_has_none(builder):
    builder.add(Conversation(key_space="quality_lab", conversation_id="c1", style="bold"))
    for name, style in (("then", "calm"), ("now", "bold"), ("silent", None)):
        builder.label(builder.call(name, style=style), "bad_args")
    store = builder.store()

    bold = coach_signals(store, "bold")

    assert tools(coach_signals(store, "calm")) == ["then"]
    assert {(signal.tool_name, signal.style_of_call) for signal in bold} == {("now", True), ("silent", False)}
    assert bold.notes == ("style: where a call does not name its style, that of its conversation counts",)
    assert [(row.style, row.calls) for row in styles(store)] == [("bold", 2), ("calm", 1)]


def test_only_faults_that_stand_and_were_not_overruled_are_signals(builder):
    def labelled(name: str, *labels: str, settled: str | None = None):
        call = builder.call(name, style="calm", conversation_id=name)
        for reviewer, label in enumerate(labels):
            builder.label(call, label, f"r{reviewer}", created_at=MONDAY + timedelta(hours=1 + reviewer))
        if settled:
            builder.label(call, settled, "boss", adjudication=True)
        return call

    labelled("good", "good_reply")
    labelled("other", "other")
    labelled("once for two", "bad_args", "bad_args")
    labelled("disputed", "bad_args", "good_reply")
    labelled("outvoted", "bad_args", "good_reply", "good_reply")
    labelled("settled as good", "bad_args", settled="good_reply")
    labelled("settled as fault", "good_reply", settled="wrong_tool")
    changed = labelled("changed", "bad_args")
    builder.label(changed, "good_reply", "r0", created_at=MONDAY + timedelta(days=1))

    found = {
        signal.tool_name: (signal.label, signal.reviewer, signal.disputed)
        for signal in coach_signals(builder.store(), "calm")
    }

    assert found == {
        "once for two": ("bad_args", "r1", False),
        "disputed": ("bad_args", "r0", True),
        "settled as fault": ("wrong_tool", "boss", False),
    }


def test_a_signal_tells_what_was_asked_called_and_said(builder):
    builder.message("user", "100 USDT please", position=0)
    builder.message("user", "in THB, I mean", position=2)
    builder.message("user", "thanks", position=9)
    call = builder.call(style="calm", message_position=3, arguments='{"n":1}', result='{"error":"no"}')
    builder.label(call, "bad_args", note="in THB", expected_tool="quote", expected_arguments='{"n":2}')

    (signal,) = coach_signals(builder.store(), "calm")

    assert (signal.asked, signal.arguments, signal.result) == ("in THB, I mean", '{"n":1}', '{"error":"no"}')
    assert (signal.note, signal.expected_tool, signal.expected_arguments) == ("in THB", "quote", '{"n":2}')
    assert (signal.error, signal.outcome, signal.called_at) == (False, "soft_error", MONDAY)


def test_filters_pick_signals_and_the_window_means_the_label(builder):
    for number, name in enumerate(("a", "b")):
        call = builder.call(name, style="calm", conversation_id=name)
        builder.label(call, "bad_args", f"r{number}", created_at=MONDAY + timedelta(days=number))
    store = builder.store()

    assert tools(coach_signals(store, "calm", filters=Filters.of(tool="a"))) == ["a"]
    assert tools(coach_signals(store, "calm", filters=Filters.of(reviewer="r1"))) == ["b"]
    assert tools(coach_signals(store, "calm", filters=Filters.of(since="2026-06-02"))) == ["b"]
    assert tools(coach_signals(store, "calm", filters=Filters.of(label="wrong_tool"))) == []
