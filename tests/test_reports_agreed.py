"""How far reviewers agree, as a report says it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from lab_builder import MONDAY, LabBuilder

import quality_lab as ql
from quality_lab.metrics.filters import Filters
from quality_lab.reports.agreed import agreed_words
from quality_lab.reports.coach_review.page import coach_review_page
from quality_lab.reports.quality import quality_page


@pytest.fixture
def builder(tmp_path):
    return LabBuilder(tmp_path)


def say(builder: LabBuilder, said: list[str], authors: str = "ab", **given) -> None:
    for call, labels in zip(builder.calls(len(said), **given), said, strict=True):
        for author, label in zip(authors, labels.split(), strict=True):
            builder.label(call, label, None if author == "-" else author)


def words(builder: LabBuilder, **filters) -> str | None:
    return agreed_words(builder.store(), filters=Filters.of(**filters))


def test_it_tells_counts_and_both_measures_with_their_intervals(builder):
    say(builder, ["good_reply good_reply"] * 20 + ["good_reply bad_args"] * 5 + ["bad_args good_reply"] * 10)
    say(builder, ["bad_args bad_args"] * 15)

    said = words(builder)

    assert said is not None
    assert said.startswith(
        "Of the 50 calls that several people labelled, they said the same of 35. "
        "Agreement beyond chance is 0.4 (0.15 to 0.65) by Cohen's kappa and 0.4 ("
    )
    assert said.endswith(" by Krippendorff's alpha: 1 would be full agreement, 0 that of chance.")


def test_what_cannot_be_told_is_said(builder):
    say(builder, ["bad_args bad_args"])

    assert words(builder) == (
        "Of the one call that several people labelled, they said the same of 1. As all of these labels are one "
        "and the same, agreement beyond chance cannot be told."
    )


def test_labels_without_a_name_have_alpha_alone(builder):
    say(builder, ["bad_args bad_args", "good_reply good_reply"], authors="--")

    said = words(builder)

    assert said is not None
    assert "by Krippendorff's alpha" in said
    assert "kappa (" not in said
    assert said.endswith("As these labels name no reviewer, Cohen's kappa cannot be told.")


def test_the_window_is_that_of_the_calls(builder):
    say(builder, ["bad_args bad_args"], created_at=MONDAY - timedelta(days=9))

    assert words(builder, since="2026-06-01") is None


def test_both_reports_say_it_where_reviewers_disagree(builder):
    say(builder, ["bad_args good_reply", "good_reply good_reply"])
    builder.store()
    lab = ql.open(builder.home)

    for page in (quality_page(lab), coach_review_page(lab)):
        assert "they said the same of 1. Agreement beyond chance is" in page.disputes()._repr_html_()
