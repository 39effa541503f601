"""The quality report tells what a reviewed queue says of all calls, and only where that is known."""

from __future__ import annotations

from pathlib import Path

from test_queue_drawn import a_lab
from test_queue_weighted import say
from test_reports_quality import words_of

from quality_lab.reports.quality import quality_page


def test_the_rate_of_all_calls_stands_beside_that_of_the_reviewed_ones(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    drawn = lab.queue(size=15, seed=7, strategy="errors", author="dana")
    say(lab, {call.call_uid: "bad_args" if call.stratum == "error" else "good_reply" for call in drawn})

    said = words_of(quality_page(lab).labels())

    # all 6 errors and none of 9 of the other 54: 6 of 60, where 6 of the 15 reviewed are wrong
    assert "was drawn from 60 calls. Of all of them 10 % (10 to" in said
    assert "Among the 15 that are reviewed it is 40 %" in said
    figures = quality_page(lab).note().figures
    assert figures["weighted_failure_rate"] == figures["weighted_low"] == 0.1
    assert 0.1 < figures["weighted_high"] < figures["judged_failure_rate"] == 0.4
    assert "failed 6 6 of 6 drawn 6 all others 54 9 of 9 drawn 0" in said


def test_a_queue_that_is_not_reviewed_or_of_other_calls_says_nothing(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    drawn = lab.queue(size=15, seed=7, strategy="errors", tool="compute_exchange_quote", author="dana")
    before = words_of(quality_page(lab, tool="compute_exchange_quote").labels())
    say(lab, {call.call_uid: "good_reply" for call in drawn})

    assert "would be judged" not in before
    assert quality_page(lab).note().figures["weighted_failure_rate"] is None
    assert "would be judged" in words_of(quality_page(lab, tool="compute_exchange_quote").labels())
    assert "would be judged" not in words_of(quality_page(lab).labels())
    assert "would be judged" not in words_of(
        quality_page(lab, tool="compute_exchange_quote", since="2036-01-01").labels()
    )
