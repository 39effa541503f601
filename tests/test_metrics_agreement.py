"""Agreement, disputes and confusion on small labs whose numbers are worked out by hand."""

from __future__ import annotations

from datetime import timedelta

import pytest
from lab_builder import MONDAY, LabBuilder
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from quality_lab.errors import UsageError
from quality_lab.metrics import Filters, agreement, confusion, disputes
from quality_lab.metrics.confusion import description_similarity, name_similarity
from quality_lab.people import People
from quality_lab.records import ToolDefinition


@pytest.fixture
def builder(tmp_path):
    return LabBuilder(tmp_path)


def say(builder: LabBuilder, rows: list[str], tool_name: str = "quote", **given) -> list:
    """Label a new call for each of *rows*, "anna:bad_args bob:other"; return the calls."""
    calls = builder.calls(len(rows), tool_name)
    for call, row in zip(calls, rows, strict=True):
        for word in row.split():
            author, label = word.split(":")
            builder.label(call, label, author, **given)
    return calls


TWO = [
    *["anna:good_reply bob:good_reply"] * 20,
    *["anna:good_reply bob:bad_args"] * 5,
    *["anna:bad_args bob:good_reply"] * 10,
    *["anna:bad_args bob:bad_args"] * 15,
]


def test_kappa_and_alpha_of_two_reviewers_are_those_worked_out_by_hand(builder):
    say(builder, TWO)
    say(builder, ["anna:other"])

    everything, good, wrong, _, bad, _ = agreement(builder.store())

    assert (everything.label, everything.calls, everything.reviewers, everything.agreed) == ("all", 50, 2, 35)
    assert everything.kappa == pytest.approx(0.4)  # observed 0.7, by chance 0.5
    # alpha: 30 of 100 values stand against another; 55 good and 45 bad of 100 give 2·55·45/(100·99) by chance
    assert everything.alpha == pytest.approx(1 - 0.3 / (2 * 55 * 45 / (100 * 99)))
    assert (everything.disputed, everything.pairs, everything.reason) == (15, 1, None)
    assert good.kappa == bad.kappa == everything.kappa
    assert (good.given, bad.given) == (35, 30)
    assert (wrong.label, wrong.kappa, wrong.alpha, wrong.reason, wrong.agreed) == (
        "wrong_tool",
        None,
        None,
        "no_variation",
        50,
    )


def test_a_reviewers_latest_label_is_the_rating_and_an_adjudication_is_none(builder):
    call, other, _ = say(builder, ["anna:bad_args bob:good_reply"] * 3)
    builder.label(call, "good_reply", "anna", created_at=MONDAY + timedelta(days=1))
    builder.label(other, "bad_args", "carl", adjudication=True)

    row = agreement(builder.store())[0]

    assert (row.calls, row.reviewers, row.agreed, row.settled, row.disputed) == (3, 2, 1, 1, 1)


def test_a_label_given_in_sight_is_no_rating_what_was_said_before_is_and_a_note_counts_it(builder):
    first, second, third, fourth = say(
        builder,
        [
            "anna:bad_args bob:bad_args",
            "anna:good_reply bob:bad_args",
            "anna:other",
            "anna:bad_args bob:bad_args",
        ],
    )
    later = MONDAY + timedelta(days=1)
    builder.label(second, "good_reply", "bob", created_at=later, in_sight=True)  # bob gives way
    builder.label(third, "other", "bob", created_at=later, in_sight=True)  # bob never judged it alone
    builder.label(fourth, "other", "anna", created_at=later, in_sight=True)  # changes her mind, then again
    builder.label(fourth, "good_reply", "anna", created_at=later + timedelta(days=1))

    answer = agreement(builder.store())

    assert (answer[0].calls, answer[0].agreed, answer[0].reviewers) == (3, 1, 2)
    assert answer[0].disputed == 1  # the fourth call: what counts for a call is everybody's last word
    assert any("in_sight: 2 labels" in note for note in answer.notes)


def test_calls_of_one_conversation_are_one_to_the_interval_of_alpha(builder):
    said = ["bad_args good_reply", "bad_args bad_args", "good_reply good_reply", "good_reply bad_args"] * 4
    for place, row in enumerate(said):
        call = builder.call(conversation_id=f"chat {place // 4}")
        for reviewer, label in zip(("anna", "bob"), row.split(), strict=True):
            builder.label(call, label, reviewer)

    row = agreement(builder.store())[0]

    # each conversation is like the others: without any of them alpha moves alike, so nothing spreads
    assert (row.calls, row.conversations, row.flags) == (16, 4, ("few_conversations",))
    assert row.alpha == pytest.approx(1 - 0.5 / (2 * 16 * 16 / (32 * 31)))
    assert (row.alpha_low, row.alpha_high) == (None, None)
    assert row.kappa_low is not None


def test_of_three_reviewers_kappa_is_about_three_pairs_and_says_so(builder):
    say(
        builder,
        ["a:bad_args b:bad_args c:bad_args", "a:other b:other c:bad_args", "a:other b:bad_args c:other"],
    )

    answer = agreement(builder.store())

    # a and b: 2 of 3 alike, by chance (1·2 + 2·1)/9 = 4/9; the same for a and c; b and c: 1 of 3, by chance 5/9
    assert answer[0].kappa == pytest.approx((2 * (2 / 3 - 4 / 9) / (5 / 9) + (1 / 3 - 5 / 9) / (4 / 9)) / 3)
    assert answer[0].pairs == 3
    assert "mean over pairs" in answer.notes[0]


def test_by_pair_tool_and_guide_there_is_a_row_each(builder):
    say(builder, ["anna:bad_args bob:bad_args", "anna:other bob:bad_args"], guide_version="2")
    say(builder, ["anna:other carl:other"], "pay", guide_version="1")
    call = say(builder, ["anna:other"], guide_version="1")[0]
    builder.label(call, "bad_args", "bob", guide_version="2")
    store = builder.store()

    def calls(by, **filters) -> dict[str, tuple[int, int]]:
        return {
            row.group: (row.calls, row.agreed)
            for row in agreement(store, by=by, filters=Filters.of(**filters))
        }

    assert calls("pair") == {"anna and bob": (3, 1), "anna and carl": (1, 1)}
    assert calls("tool") == {"quote": (3, 1), "pay": (1, 1)}
    assert calls("guide") == {
        "2": (2, 1),
        "1": (1, 1),
    }  # what was judged by two guides says nothing of either
    assert [row.label for row in agreement(store, by="tool", filters=Filters.of(label="other"))] == [
        "all",
        "other",
    ] * 2
    with pytest.raises(UsageError, match="tool, guide, pair"):
        agreement(store, by="week")


def test_filters_pick_calls_reviewers_and_the_time_of_labels(builder):
    say(builder, ["anna:bad_args bob:bad_args carl:other"])
    say(builder, ["anna:bad_args bob:bad_args"], "pay", created_at=MONDAY + timedelta(days=9))
    store = builder.store()

    def calls(**filters) -> tuple[int, int]:
        row = agreement(store, filters=Filters.of(**filters))[0]
        return row.calls, row.agreed

    assert calls() == (2, 1)
    assert calls(tool="pay") == (1, 1)
    assert calls(reviewer=["anna", "bob"]) == (2, 2)
    assert calls(reviewer="anna") == (0, 0)
    assert calls(until="2026-06-05") == (1, 0)


def test_labels_without_an_author_count_in_alpha_alone(builder):
    call = builder.call()
    builder.label(call, "bad_args", None)
    builder.label(call, "other", None)

    answer = agreement(builder.store())

    assert (answer[0].calls, answer[0].reviewers, answer[0].kappa, answer[0].reason) == (
        1,
        0,
        None,
        "unnamed_reviewers",
    )
    assert answer[0].alpha == 0
    assert answer.notes == ("unnamed: 2 labels name no reviewer; alpha counts them, kappa cannot",)


def test_a_lab_that_nobody_reviewed_twice_has_the_reason(builder):
    say(builder, ["anna:bad_args"])

    answer = agreement(builder.store())

    assert {(row.calls, row.kappa, row.alpha, row.reason) for row in answer} == {(0, None, None, "no_pairs")}
    assert answer.notes == ("no call was labelled by two reviewers",)


# ---- disputes ----


def test_disputes_tell_who_said_what_and_most_spoken_of_come_first(builder):
    two, _, four = say(
        builder,
        [
            "anna:bad_args bob:good_reply",
            "anna:bad_args bob:bad_args carl:other",  # a majority
            "anna:bad_args bob:good_reply carl:good_reply dora:bad_args",
        ],
    )
    builder.label(two, "bad_args", "anna", note="THB, not USDT", expected_arguments='{"mode":"thb"}',
                  created_at=MONDAY + timedelta(days=1))  # fmt: skip  # one label

    first, second = disputes(builder.store())

    assert (first.reviewers, first.labels) == (4, ("good_reply", "bad_args"))
    assert second.says == ("bob: good_reply", "anna: bad_args")
    assert (second.opinions[1].note, second.opinions[1].expected_arguments) == (
        "THB, not USDT",
        '{"mode":"thb"}',
    )
    assert (second.settled_as, second.conversation_id) == (None, two.conversation_id)
    assert first.conversation_id == four.conversation_id


def test_a_settled_dispute_is_told_on_demand_with_what_it_was_settled_as(builder):
    still, settled = say(builder, ["anna:bad_args bob:good_reply", "anna:bad_args bob:good_reply"])
    builder.label(settled, "other", "carl", adjudication=True)
    store = builder.store()

    assert [row.conversation_id for row in disputes(store)] == [still.conversation_id]
    assert [
        (row.conversation_id, row.settled_as, row.reviewers) for row in disputes(store, settled=True)
    ] == [
        (still.conversation_id, None, 2),
        (settled.conversation_id, "other", 2),
    ]


def test_disputes_are_picked_by_call_by_what_somebody_says_and_by_who_says_it(builder):
    one, other = say(builder, ["anna:bad_args bob:good_reply", "anna:other bob:good_reply carl:bad_args"])
    store = builder.store()

    def picked(**filters) -> list[str]:
        return [row.conversation_id for row in disputes(store, filters=Filters.of(**filters))]

    assert picked(label="other") == [other.conversation_id]
    assert picked(label=["bad_args", "wrong_tool"]) == [other.conversation_id, one.conversation_id]
    assert picked(reviewer=["anna", "carl"]) == [other.conversation_id]
    assert picked(conversation=one.conversation_id) == [one.conversation_id]
    assert picked(since="2026-06-02") == []


# ---- confusion ----


def test_confusion_counts_calls_of_which_another_tool_was_named_among_the_reviewed(builder):
    calls = say(builder, ["anna:good_reply"] * 6, "get_tour")
    for call in calls[:3]:
        builder.label(call, "wrong_tool", "bob", expected_tool="get_tours")
    builder.label(calls[0], "missing_tool", "carl", expected_tool="get_tours")
    builder.label(calls[3], "missing_tool", "bob", expected_tool="weather")
    builder.label(calls[4], "bad_args", "bob", expected_tool="get_tour")  # the tool was right
    builder.label(calls[5], "good_reply", "bob", expected_tool="weather")  # nothing was wrong
    behind = builder.call("get_tour", wrapped_tool="weather", conversation_id="dispatched")
    builder.label(behind, "bad_args", "bob", expected_tool="weather")  # as the dispatcher did
    builder.calls(10, "get_tour")  # nobody reviewed these

    first, second = confusion(builder.store())

    assert (first.called, first.expected, first.calls, first.reviewed) == ("get_tour", "get_tours", 3, 7)
    assert (first.share, first.wrong_tool, first.missing_tool) == (3 / 7, 3, 1)
    assert first.low == pytest.approx(proportion_confint(3, 7, method="wilson")[0])
    assert (second.expected, second.calls, second.wrong_tool, second.missing_tool) == ("weather", 1, 0, 1)
    assert len(first.examples) == 3
    assert first.flags == ("few_conversations",)


def test_the_interval_of_a_confusion_knows_that_its_calls_come_in_few_conversations(builder):
    sizes, named = [6, 4, 3, *[1] * 9], [5, 3, *[0] * 10]
    for chat, (size, wrong) in enumerate(zip(sizes, named, strict=True)):
        for place in range(size):
            call = builder.call(conversation_id=f"chat {chat}")
            if place < wrong:
                builder.label(call, "wrong_tool", expected_tool="pay")
            else:
                builder.label(call, "good_reply")

    row = confusion(builder.store())[0]

    p, n, chats = 8 / 22, 22, 12
    spread = sum((y - p * m) ** 2 for y, m in zip(named, sizes, strict=True))
    worth = n / (chats / (chats - 1) * spread / (n * p * (1 - p)))
    worth *= (stats.norm.ppf(0.975) / stats.t.ppf(0.975, chats - 1)) ** 2
    assert (row.calls, row.reviewed, row.conversations, row.flags) == (8, 22, 12, ())
    assert (row.low, row.high) == pytest.approx(proportion_confint(p * worth, worth, method="wilson"))


def test_a_word_that_settles_a_call_undoes_the_tools_that_others_named(builder):
    as_named, otherwise, renamed = say(builder, ["anna:good_reply"] * 3)
    for call in (as_named, otherwise, renamed):
        builder.label(call, "wrong_tool", "bob", expected_tool="pay")
    builder.label(as_named, "wrong_tool", "carl", adjudication=True)
    builder.label(otherwise, "good_reply", "carl", adjudication=True)
    builder.label(renamed, "wrong_tool", "bob", expected_tool="refund", created_at=MONDAY + timedelta(days=1))

    rows = confusion(builder.store())

    assert [(row.expected, row.calls) for row in rows] == [("pay", 1), ("refund", 1)]


def test_similarity_is_of_names_or_of_descriptions_whichever_is_larger(builder):
    call = say(builder, ["anna:good_reply"], "find_tour")[0]
    builder.label(call, "wrong_tool", "bob", expected_tool="search")
    for name in ("find_tour", "search"):
        builder.add(ToolDefinition(digest=name, name=name, description="Finds tours of a city by day."))

    row = confusion(builder.store())[0]

    assert (row.similarity, row.description_similarity) == (1, 1)
    assert row.name_similarity == pytest.approx(2 * 1 / (8 + 6))  # findtour, search: one letter in order


def test_similarity_of_names_and_descriptions_worked_out_by_hand():
    assert name_similarity("getTour", "get_tour") == 1
    assert name_similarity("get_tour", "get_hour") == pytest.approx(2 * 6 / 14)
    assert description_similarity("Books a tour.", "Cancels a tour") == pytest.approx(2 * 2 / 6)
    assert name_similarity("a_b", "b_a") == name_similarity("b_a", "a_b")


def test_where_nobody_named_a_tool_confusion_says_so(builder):
    say(builder, ["anna:wrong_tool"])

    answer = confusion(builder.store())

    assert (len(answer), answer.notes) == (
        0,
        ("no reviewer named another tool than the one that was called",),
    )


ONE_NAME = People({"3": "Dana", "dana@example.com": "Dana", "5": "Tomas"})


def test_ids_of_one_name_are_one_reviewer_whose_latest_label_counts(builder):
    mine, ours, outvoted, united = builder.calls(4)
    early, late = MONDAY + timedelta(hours=2), MONDAY + timedelta(hours=3)
    builder.label(mine, "bad_args", "3", created_at=early)
    builder.label(mine, "other", "dana@example.com", created_at=late)  # with herself: no second opinion
    builder.label(ours, "other", "dana@example.com", created_at=early)
    builder.label(ours, "bad_args", "3", created_at=late)
    builder.label(ours, "good_reply", "5")
    builder.label(outvoted, "bad_args", "3")  # by ids two of three say so, by persons one of two
    builder.label(outvoted, "bad_args", "dana@example.com")
    builder.label(outvoted, "other", "5")
    builder.label(united, "bad_args", "3", created_at=early)
    builder.label(united, "other", "dana@example.com", created_at=late)
    builder.label(united, "other", "5")
    store = builder.store()

    by_ids, by_persons = agreement(store)[0], agreement(store, people=ONE_NAME)[0]
    pair, *more = agreement(store, by="pair", people=ONE_NAME)
    found = {row.conversation_uid: row for row in disputes(store, people=ONE_NAME)}

    assert (by_ids.calls, by_ids.reviewers, by_ids.disputed) == (4, 3, 2)
    assert (by_persons.calls, by_persons.reviewers, by_persons.agreed, by_persons.disputed) == (3, 2, 1, 2)
    assert (pair.group, pair.calls, more) == ("3 and 5", 3, [])
    assert len(disputes(store)) == 2
    assert sorted(row.says for row in disputes(store, people=ONE_NAME)) == [
        ("5: good_reply", "3: bad_args"),
        ("5: other", "dana@example.com: bad_args"),
    ]
    assert {row.reviewers for row in found.values()} == {2}
    assert len(disputes(store, filters=Filters(label=("good_reply",)), people=ONE_NAME)) == 1
    assert not disputes(store, filters=Filters(label=("wrong_tool",)), people=ONE_NAME)


def test_names_that_nobody_shares_change_nothing(builder):
    say(
        builder,
        ["anna:good_reply bob:bad_args", "anna:other bob:other carl:bad_args", "bob:other carl:other"],
    )
    store = builder.store()
    names = People({"anna": "Anna", "bob": "Bob"})

    assert list(agreement(store, people=names)) == list(agreement(store))
    assert list(disputes(store, people=names)) == list(disputes(store))


def test_an_adjudication_settles_what_persons_dispute(builder):
    (call,) = builder.calls(1)
    for author in ("3", "dana@example.com"):
        builder.label(call, "bad_args", author)
    builder.label(call, "other", "5")
    builder.label(call, "other", "lee", adjudication=True)
    store = builder.store()

    assert not disputes(store, people=ONE_NAME)
    assert [row.settled_as for row in disputes(store, settled=True, people=ONE_NAME)] == ["other"]
    assert [(row.disputed, row.settled) for row in agreement(store, people=ONE_NAME)][0] == (0, 1)
