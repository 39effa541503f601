"""What the reviews of a queue say of all calls: worked out by hand, on a real store."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_queue_drawn import a_lab
from test_store_loading import feedback, trace, write

from quality_lab.errors import NoData, UnknownName, UsageError
from quality_lab.lab import Lab
from quality_lab.strata import Stratum, weighted_rate


def say(lab: Lab, labels: dict[str, str], reviewer: str = "lee") -> None:
    """Write several labels at once, and bring them in."""
    lab.journal.extend(
        "labels",
        [
            {"record_type": "label", "call": {"call_uid": uid}, "label": label}
            for uid, label in labels.items()
        ],
        author=reviewer,
    )
    lab.load()


def test_each_stratum_counts_as_many_calls_as_it_has(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)  # 60 calls, 6 errors
    drawn = lab.queue(size=15, seed=7, strategy="errors", author="dana")  # 6 errors, 9 of the other 54
    rest = [call for call in drawn if call.stratum == "rest"]
    bad = {call.call_uid for call in drawn if call.stratum == "error"} | {rest[0].call_uid}

    say(lab, {call.call_uid: "bad_args" if call.call_uid in bad else "good_reply" for call in drawn})

    every, *_ = lab.weighted_failing_tools()
    assert (every.tool_name, every.calls, every.reviewed, every.failures) == ("all tools", 60, 15, 7)
    assert every.raw_rate == pytest.approx(7 / 15)
    assert every.weighted_rate == pytest.approx((6 + 54 * 1 / 9) / 60)  # 20 %, where the raw rate says 47 %
    wanted = weighted_rate(
        [
            Stratum(name="error", calls=6, reviewed=6, hits=6),
            Stratum(name="rest", calls=54, reviewed=9, hits=1),
        ]
    )
    assert wanted is not None
    assert (every.weighted_low, every.weighted_high) == (wanted.low, wanted.high)
    assert [(one.stratum, one.calls, one.drawn, one.reviewed, one.hits) for one in every.strata] == [
        ("error", 6, 6, 6, 6),
        ("rest", 54, 9, 9, 1),
    ]
    shares = {row.label: (row.calls, row.weighted_share) for row in lab.weighted_labels()}
    assert shares["bad_args"] == (7, pytest.approx(12 / 60))
    assert shares["good_reply"] == (8, pytest.approx(54 * (8 / 9) / 60))
    assert shares["missing_tool"] == (0, 0.0)


def test_what_was_labelled_before_the_draw_is_known_and_counts_as_itself(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    before = [call.call_uid for call in lab.calls()[:10]]  # none of them an error
    say(lab, dict.fromkeys(before, "wrong_tool"))
    drawn = lab.queue(size=10, seed=7, strategy="random", author="dana")

    say(lab, {call.call_uid: "good_reply" for call in drawn})

    every, *_ = lab.weighted_failing_tools()
    assert (every.calls, every.reviewed, every.failures) == (60, 20, 10)
    assert every.weighted_rate == pytest.approx(10 / 60)
    assert every.weighted_low == pytest.approx(10 / 60)  # fewer than the ten that are known there cannot be
    assert [(one.stratum, one.calls) for one in every.strata] == [("rest", 50), ("reviewed", 10)]


def test_labels_on_calls_that_nobody_was_asked_about_change_no_weighted_rate(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    drawn = lab.queue(size=20, seed=7, strategy="random", author="dana")
    say(lab, {call.call_uid: "good_reply" for call in drawn})
    asked = lab.weighted_failing_tools().records()

    others = [call.call_uid for call in lab.calls() if call.call_uid not in {one.call_uid for one in drawn}]
    say(lab, dict.fromkeys(others, "bad_args"))

    assert lab.weighted_failing_tools().records() == asked


def test_a_tool_of_which_a_stratum_has_no_review_has_no_rate_and_says_why(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    drawn = lab.queue(size=12, seed=3, strategy="errors", author="dana")
    assert "hand_over" not in {call.tool_name for call in drawn}

    say(lab, {call.call_uid: "other" for call in drawn})

    rows = {row.tool_name: row for row in lab.weighted_failing_tools()}
    assert (rows["hand_over"].calls, rows["hand_over"].weighted_rate) == (3, None)
    assert rows["hand_over"].reason == "none_reviewed: rest"
    assert rows["compute_exchange_quote"].weighted_rate == 0.0
    assert rows["all tools"].reason is None


def test_drawn_calls_that_are_not_reviewed_are_told_and_the_others_stand_for_them(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    drawn = lab.queue(size=20, seed=7, strategy="random", author="dana")

    say(lab, {call.call_uid: "bad_args" if call.position == 1 else "good_reply" for call in drawn[:8]})

    answer = lab.weighted_failing_tools()
    assert (answer[0].not_reviewed, answer[0].weighted_rate) == (12, pytest.approx(1 / 8))
    assert "8 of 20 drawn calls are reviewed" in answer.notes[0]
    assert answer.notes[1].startswith("not_reviewed: for 12 drawn calls")


def test_the_newest_queue_that_was_reviewed_is_weighed_unless_one_is_named(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    first = lab.queue(size=10, seed=1, strategy="random", author="dana")
    say(lab, {call.call_uid: "good_reply" for call in first})
    second = lab.queue(size=10, seed=2, strategy="random", author="dana")

    assert lab.weighted_failing_tools()[0].weighted_rate == 0.0
    assert lab.weighted_failing_tools(second[0].queue[:6])[0].reason == "none_reviewed: rest"
    say(lab, {call.call_uid: "bad_args" for call in second})
    # ten are known to be good, ten of the other fifty were drawn and all are bad
    assert lab.weighted_failing_tools()[0].weighted_rate == pytest.approx(50 / 60)
    assert lab.weighted_failing_tools(first[0].queue)[0].weighted_rate == 0.0


def test_queues_of_different_times_are_weighed_together_and_others_are_refused(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)  # 60 calls of 9 June 2026
    lab.load(
        write(tmp_path / "july.jsonl", *(trace(number, createdAt=1783000000) for number in range(100, 140)))
    )
    june, july = (
        lab.queue(size=size, seed=1, strategy="random", since=since, until=until, author="dana")
        for size, since, until in ((20, "2026-06-01", "2026-07-01"), (10, "2026-07-01", "2026-08-01"))
    )
    every = lab.queue(size=10, seed=3, strategy="random", author="dana")
    say(lab, {call.call_uid: "bad_args" for call in june} | {call.call_uid: "good_reply" for call in july})

    both, *_ = lab.weighted_failing_tools([june[0].queue, july[0].queue])

    assert (both.calls, both.reviewed, both.weighted_rate) == (100, 30, pytest.approx(0.6))
    assert [(one.queue, one.calls) for one in both.strata] == [(june[0].queue, 60), (july[0].queue, 40)]
    assert lab.weighted_labels([july[0].queue])[0].weighted_share == 1.0
    with pytest.raises(UsageError, match="may have drawn from the same calls"):
        lab.weighted_labels([june[0].queue, every[0].queue])


def test_a_dispute_that_was_settled_counts_as_what_it_is_now(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    uid = lab.calls()[0].call_uid
    say(lab, {uid: "good_reply"}, "dana")
    say(lab, {uid: "bad_args"}, "lee")
    drawn = lab.queue(size=10, seed=1, strategy="disputed", author="dana")
    say(lab, {call.call_uid: "good_reply" for call in drawn if call.stratum == "rest"})
    said = lab.weighted_failing_tools()
    before = said[0]

    lab.adjudicate(uid, "bad_args", reviewer="tomas")

    after = lab.weighted_failing_tools()[0]
    assert said.notes[0].endswith(  # 9 and 1 are the 10 that were drawn
        "9 of 9 drawn calls are reviewed, 1 were known before; 1 more of the 10 drawn is a dispute, "
        "labelled before the draw and counted there"
    )
    assert (before.failures, before.weighted_rate) == (0, 0.0)
    assert (after.failures, after.weighted_rate) == (1, pytest.approx(1 / 60))


def test_labels_from_before_the_draw_that_come_in_later_make_no_more_calls_than_there_are(
    tmp_path: Path,
) -> None:
    lab = a_lab(tmp_path)
    say(lab, {lab.calls()[0].call_uid: "good_reply"})
    drawn = lab.queue(size=10, seed=1, strategy="random", author="dana")
    say(lab, {call.call_uid: "good_reply" for call in drawn})
    others = [call.call_uid for call in lab.calls() if call.call_uid not in {one.call_uid for one in drawn}]
    late = [
        {
            "record_type": "label",
            "id": f"late-{uid}",
            "created_at": "2026-01-01T00:00:00Z",
            "author": "priya",
            "call": {"call_uid": uid},
            "label": "bad_args",
        }
        for uid in [*others[1:10], drawn[0].call_uid]  # a drawn call is no other because of it
    ]

    lab.load(write(tmp_path / "late.jsonl", *late))

    answer = lab.weighted_failing_tools()
    assert answer[0].calls == 60
    assert [(one.stratum, one.calls, one.reviewed) for one in answer[0].strata] == [
        ("rest", 59, 10),
        ("reviewed", 1, 1),
    ]
    assert any(note.startswith("late_labels: 9 labels") for note in answer.notes)


def test_without_a_queue_there_is_nothing_to_weigh(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)

    with pytest.raises(NoData, match="no queue"):
        lab.weighted_labels()
    lab.queue(size=10, author="dana")
    with pytest.raises(UnknownName, match="wanted the id of a queue"):
        lab.weighted_labels("nobody")


def test_a_model_reviews_no_call_of_a_queue(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    drawn = lab.queue(size=10, seed=7, strategy="random", author="dana")
    said = {"record_type": "label", "author_kind": "LLM", "label": "bad_args"}

    lab.journal.extend("labels", [said | {"call": {"call_uid": call.call_uid}} for call in drawn], author="m")
    lab.load()

    assert [call.done for call in lab.queue()] == [False] * 10
    assert lab.queues()[0].reviewed == 0
    assert lab.weighted_failing_tools()[0].reason == "none_reviewed: rest"


def test_a_reviewed_call_that_no_trace_export_holds_is_none_of_all_calls(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    say(lab, {lab.calls()[0].call_uid: "good_reply"})
    lab.load(write(tmp_path / "labels.jsonl", *(feedback(9000 + on, on) for on in (500, 501))))
    drawn = lab.queue(size=10, seed=7, strategy="random", author="dana")

    say(lab, {call.call_uid: "good_reply" for call in drawn})

    every, *_ = lab.weighted_failing_tools()
    assert (every.calls, every.reviewed, every.failures) == (60, 11, 0)
