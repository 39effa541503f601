"""How the labels of one call become one judgement."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality_lab.labels import FIVE, fold_label, judgement
from quality_lab.records import Feedback

START = datetime(2026, 6, 1, tzinfo=UTC)


def said(label, author="anna", *, at: int | None = 0, key="1", **given) -> Feedback:
    return Feedback(
        key_space="quality_lab",
        key=key,
        target_level="call",
        target_key_space="quality_lab",
        conversation_id="c",
        call_key="1",
        label=label,
        label_raw=label,
        author=author,
        created_at=None if at is None else START + timedelta(hours=at),
        **given,
    )


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("good_reply", "good_reply"),
        ("Good Reply", "good_reply"),
        (" wrong-tool\n", "wrong_tool"),
        ("MISSING__TOOL", "missing_tool"),
        ("bad - args", "bad_args"),
        ("Other", "other"),
        ("bad arguments", None),
        ("other!", None),
        ("", None),
        (None, None),
    ],
)
def test_a_label_is_known_whatever_its_case_spaces_and_dashes(text, label):
    assert fold_label(text) == label


def test_over_half_of_the_reviewers_judge_a_call():
    judged = judgement([said("bad_args", "a"), said("bad_args", "b"), said("good_reply", "c")])

    assert (judged.label, judged.disputed, judged.reviewed) == ("bad_args", False, True)
    assert judged.reviewed_by == ("a", "b", "c")


def test_half_of_the_reviewers_is_a_dispute():
    judged = judgement([said("bad_args", "a"), said("good_reply", "b")])

    assert (judged.label, judged.disputed) == (None, True)


def test_of_one_reviewer_only_the_latest_label_counts():
    judged = judgement([said("bad_args", at=5), said("good_reply", at=9), said("wrong_tool", at=7)])

    assert judged.label == "good_reply"
    assert [row.label for row in judged.current] == ["good_reply"]


def test_at_the_same_time_the_higher_number_is_the_later_label():
    judged = judgement([said("bad_args", key="10"), said("good_reply", key="9")])

    assert judged.label == "bad_args"


def test_an_undated_label_is_older_than_any_dated_one():
    judged = judgement([said("bad_args", at=None, key="99"), said("good_reply", at=0, key="1")])

    assert judged.label == "good_reply"


def test_an_adjudication_settles_a_dispute_and_the_latest_one_stands():
    judged = judgement(
        [
            said("bad_args", "a", at=1),
            said("good_reply", "b", at=2),
            said("other", "lead", at=3, adjudication=True),
            said("wrong_tool", "boss", at=4, adjudication=True),
            said("good_reply", "c", at=9),
        ]
    )

    assert (judged.label, judged.disputed, judged.adjudicated) == ("wrong_tool", False, True)
    assert [row.author for row in judged.current] == ["boss"]


def test_only_people_judge_unless_others_are_asked_for():
    rows = [said("bad_args", "judge-1", author_kind="LLM"), said("good_reply", "anna")]

    assert judgement(rows).label == "good_reply"
    assert judgement(rows, author_kinds=("LLM",)).label == "bad_args"
    assert judgement(rows, author_kinds=("LLM", "HUMAN")).disputed


def test_labels_without_an_author_are_the_word_of_as_many_reviewers():
    judged = judgement([said("bad_args", None, key="1"), said("good_reply", None, key="2", at=1)])

    assert judged.disputed
    assert judged.reviewed_by == ()


def test_scores_and_foreign_labels_judge_nothing():
    judged = judgement([said(None, "a"), said(None, "b", score="4")])

    assert (judged.label, judged.disputed, judged.reviewed) == (None, False, False)


labels = st.builds(
    said,
    st.sampled_from(FIVE),
    st.sampled_from(["a", "b", "c", None]),
    at=st.none() | st.integers(0, 3),
    key=st.integers(1, 10**6).map(str),
    adjudication=st.sampled_from([False, False, False, True]),
)


@given(st.lists(labels, max_size=8, unique_by=lambda row: row.key), st.randoms())
def test_the_order_in_which_labels_come_changes_nothing(rows, chance):
    shuffled = list(rows)
    chance.shuffle(shuffled)

    assert judgement(shuffled) == judgement(rows)


@given(st.lists(labels, max_size=8, unique_by=lambda row: row.key))
def test_a_call_is_judged_disputed_or_not_reviewed_and_never_two_of_these(rows):
    judged = judgement(rows)

    assert (judged.label is not None) + judged.disputed + (not judged.reviewed) == 1
    assert judged.reviewed == bool(rows)
