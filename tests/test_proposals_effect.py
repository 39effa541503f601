"""What became of a decision: the rate before and since it, held against what was expected; values by hand.

Wilson's 95 % bounds are those of statsmodels (`proportion_confint(..., method="wilson")`).
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from hypothesis import given
from hypothesis import strategies as st
from lab_builder import MONDAY, LabBuilder
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from quality_lab.errors import NoData
from quality_lab.lab import Lab, open_lab
from quality_lab.labels import FIVE
from quality_lab.proposals import form_of, read_expectation, remark_on

DAY = timedelta(days=1)
FIXED = MONDAY + 14 * DAY  # from when on the change holds
PROPOSAL = "schema_fix:rag_reply:compute_exchange_quote:bad_args"
JANUARY = date(2026, 1, 9)


class Story:
    """A lab in which a tool was complained of before a fix, and some of its calls since were reviewed."""

    def __init__(self, home: Path) -> None:
        self.lab = LabBuilder(home)

    def reviewed(self, bad: int, of: int, *, at: datetime, unreviewed: int = 0, **given: Any) -> Story:
        """Add calls made at a time, each in a conversation of its own, the first *bad* of *of* judged bad_args."""
        for number, call in enumerate(self.lab.calls(of, created_at=at)):
            self.lab.label(call, "bad_args" if number < bad else "good_reply", **given)
        self.lab.calls(unreviewed, created_at=at)
        return self

    def fixed(self, *, expect: str | None = None, effective_at: datetime = FIXED) -> Lab:
        """Return the lab in which the fix was applied."""
        self.lab.store()
        lab = open_lab(self.lab.home)
        lab.decide(
            PROPOSAL,
            "apply",
            kind="pull_request",
            ref="PR-7",
            expect=expect,
            effective_at=effective_at,
            reviewer="dana@example.com",
        )
        return lab


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path / "home")


def wilson(bad: float, of: int) -> tuple[float, float]:
    low, high = proportion_confint(bad, of, alpha=0.05, method="wilson")
    return float(low), float(high)


# ---- one story for each verdict ----


def test_an_effect_is_verified_where_the_whole_interval_keeps_what_was_expected(story: Story) -> None:
    story.reviewed(18, 100, at=MONDAY).reviewed(1, 200, at=FIXED + DAY, unreviewed=30)
    lab = story.fixed(expect="bad_args on compute_exchange_quote from 18 % to under 5 % by 1 March")

    (found,) = lab.effect(PROPOSAL)

    assert found.verdict == "verified"
    assert (found.reviewed_before, found.rate_before) == (100, 0.18)
    assert (found.reviewed_since, found.calls_since, found.rate_since) == (200, 230, 0.005)
    # two hundred conversations of a call each: 200 reviewed calls are worth 200 * (1.96 / t(0.975, 199))^2 = 197.6
    assert found.high_since == pytest.approx(wilson(1, 200)[1], abs=0.001)
    assert found.high_since < found.limit == 0.05
    assert (found.change, found.change_high < 0) == (pytest.approx(-0.175), True)
    assert (found.needed, found.unread, found.by) == (None, None, "2027-03-01")
    assert found.why.startswith("Verified: 0.5 % (")
    assert found.why.endswith("of 100; expected: under 5 % by 1 March 2027.")


def test_an_effect_is_not_verified_where_the_whole_interval_breaks_what_was_expected(story: Story) -> None:
    story.reviewed(18, 100, at=MONDAY).reviewed(12, 100, at=FIXED)  # made at the very instant: since
    lab = story.fixed(expect="under 5 %")

    (found,) = lab.effect(PROPOSAL)

    assert wilson(12, 100)[0] == pytest.approx(0.0700, abs=0.0001)  # the plain lower bound, above the limit
    assert found.verdict == "not_verified"
    assert (found.reviewed_before, found.reviewed_since, found.rate_since) == (100, 100, 0.12)
    assert 0.05 < found.low_since < 0.0701
    assert found.needed is None


def test_an_effect_is_inconclusive_where_more_calls_have_to_be_reviewed_and_says_how_many(
    story: Story,
) -> None:
    story.reviewed(9, 50, at=MONDAY).reviewed(0, 20, at=FIXED + DAY, unreviewed=5)
    lab = story.fixed(expect="under 5 %")

    (found,) = lab.effect(PROPOSAL)

    assert found.verdict == "inconclusive"
    assert wilson(0, 73)[1] > 0.05 - 0.0001  # by hand: 3.8415 * 0.95 / 0.05 = 72.99 independent calls
    assert wilson(0, 73)[1] < 0.05
    # the 20 conversations are worth 20 * (1.96 / t(0.975, 19) = 2.0930)^2 = 17.54, so 73 are worth 72.99 / 17.54 * 20
    assert found.needed == 84
    assert "Not enough data yet" in found.why
    assert "84 reviewed calls would tell, 64 more; 5 made since then wait for a review." in found.why


def test_where_nobody_has_reviewed_a_call_since_it_says_how_many_would_tell_at_best(story: Story) -> None:
    lab = story.reviewed(9, 50, at=MONDAY).reviewed(0, 0, at=FIXED, unreviewed=4).fixed(expect="under 5 %")

    (found,) = lab.effect(PROPOSAL)

    assert (found.verdict, found.rate_since, found.reviewed_since) == ("inconclusive", None, 0)
    assert found.needed == 73
    assert "nobody has reviewed any of the 4 calls made since 15 June" in found.why
    assert found.why.endswith("If none were judged so, 73 reviewed calls would tell.")


def test_the_two_rates_and_their_difference_are_those_of_statsmodels(story: Story) -> None:
    # under ten conversations the plain intervals stand: Wilson's, and Newcombe's for the difference
    (found,) = story.reviewed(6, 9, at=MONDAY).reviewed(1, 9, at=FIXED).fixed().effect(PROPOSAL)

    assert (found.low_before, found.high_before) == pytest.approx(wilson(6, 9), abs=1e-10)
    assert (found.low_since, found.high_since) == pytest.approx(wilson(1, 9), abs=1e-10)
    newcombe = confint_proportions_2indep(1, 9, 6, 9, compare="diff", method="newcomb")
    assert (found.change_low, found.change_high) == pytest.approx(newcombe, abs=1e-10)
    assert (found.verdict, found.few_conversations) == ("verified", True)  # the upper end is below zero
    assert newcombe[1] < 0


@pytest.mark.parametrize(("bad", "of", "limit"), [(0, 9, 20), (2, 9, 40), (3, 9, 20), (1, 8, 12)])
def test_the_number_that_would_tell_is_the_least_at_which_wilsons_interval_does(
    tmp_path: Path, bad: int, of: int, limit: int
) -> None:
    story = Story(tmp_path / "home").reviewed(9, 9, at=MONDAY).reviewed(bad, of, at=FIXED)

    (found,) = story.fixed(expect=f"under {limit} %").effect(PROPOSAL)

    def tells(n: int) -> bool:
        low, high = wilson(bad / of * n, n)
        return high < limit / 100 or low >= limit / 100

    assert found.needed == next((n for n in range(of + 1, 100_000) if tells(n)), None)


# ---- before and since ----


def test_a_label_added_later_counts_by_when_its_call_was_made(story: Story) -> None:
    much_later = FIXED + 60 * DAY
    story.reviewed(10, 10, at=MONDAY, created_at=much_later).reviewed(0, 10, at=FIXED)
    lab = story.fixed()

    (found,) = lab.effect(PROPOSAL)

    assert (found.reviewed_before, found.rate_before) == (10, 1.0)
    assert (found.reviewed_since, found.rate_since) == (10, 0.0)


def test_a_label_added_later_on_a_call_from_before_the_fix_reopens_nothing_and_one_after_it_does(
    story: Story,
) -> None:
    before = story.lab.call(created_at=FIXED - timedelta(seconds=1), conversation_id="b")
    after = story.lab.call(created_at=FIXED, conversation_id="a")
    story.lab.label(story.lab.call(created_at=MONDAY), "bad_args")
    lab = story.fixed()
    uids = {row.conversation_id: row.call_uid for row in lab.calls()}

    def state() -> tuple[str, bool, int | None]:
        (one,) = lab.proposal(PROPOSAL)
        return one.state, one.recurred, one.calls_since_decision

    lab.label(uids[before.conversation_id], "bad_args", reviewer="tomas@example.com")
    assert state() == ("applied", False, 0)

    lab.label(uids[after.conversation_id], "bad_args", reviewer="tomas@example.com")
    assert state() == ("applied", True, 1)
    assert [(row.recurred, row.calls_since_decision) for row in lab.followed()] == [(True, 1)]


def test_before_may_begin_on_a_day(story: Story) -> None:
    story.reviewed(10, 10, at=MONDAY).reviewed(0, 5, at=MONDAY + 7 * DAY).reviewed(0, 4, at=FIXED)
    lab = story.fixed()

    ran = run("--home", lab.home, "proposals", "effect", PROPOSAL, "--since", "2026-06-08", "--json")

    assert (ran.document["reviewed_before"], ran.document["rate_before"]) == (5, 0.0)
    assert ran.document["reviewed_since"] == 4
    assert run("--home", lab.home, "proposals", "effect", PROPOSAL, "--since", "soon").code == 2


def test_calls_that_nobody_dated_are_on_no_side_and_counted(story: Story) -> None:
    story.reviewed(5, 10, at=MONDAY)
    story.lab.label(story.lab.call(created_at=None, conversation_id="undated"), "bad_args")
    lab = story.fixed()

    (found,) = lab.effect(PROPOSAL)

    assert (found.calls_before, found.calls_since, found.undated_calls) == (10, 0, 1)
    assert "no call of compute_exchange_quote was made since 15 June" in found.why


def test_other_tools_other_sources_guards_and_labelled_rows_outside_a_trace_do_not_count(
    story: Story,
) -> None:
    story.reviewed(5, 10, at=MONDAY)
    story.lab.label(story.lab.call("pay", conversation_id="p"), "bad_args")
    story.lab.label(story.lab.call(source="llm_reply", conversation_id="l"), "bad_args")
    story.lab.label(story.lab.call(seen_in="feedback", conversation_id="f"), "bad_args")
    story.lab.label(story.lab.guard("unbacked_quote", conversation_id="g"), "bad_args")
    lab = story.fixed()

    (found,) = lab.effect(PROPOSAL)

    assert (found.calls_before, found.reviewed_before, found.rate_before) == (10, 10, 0.5)


def test_the_calls_of_another_tenant_do_not_count(story: Story) -> None:
    story.reviewed(5, 10, at=MONDAY)
    lab = story.fixed()
    other = LabBuilder(story.lab.home, tenant="north")
    for call in other.calls(10):
        other.label(call, "bad_args")
    other.store()

    (found,) = [one.effect for one in lab.followed() if one.effect is not None]

    assert (found.tenant, found.calls_before, found.rate_before) == ("default", 10, 0.5)


def test_reviewed_calls_that_a_queue_drew_because_they_failed_are_counted_and_said(story: Story) -> None:
    story.reviewed(2, 20, at=MONDAY)
    story.lab.calls(6, created_at=FIXED, is_error=True, error_origin="flag")
    story.lab.calls(30, created_at=FIXED)
    lab = story.fixed()
    assert "queues drew" not in lab.effect(PROPOSAL)[0].why
    drawn = lab.queue(size=12, strategy="errors", seed=3, author="dana@example.com")
    for call in drawn:
        lab.label(call.call_uid, "good_reply", reviewer="dana@example.com")

    (found,) = lab.effect(PROPOSAL)

    failed = sum(call.stratum == "error" for call in drawn)
    assert 0 < failed < 12
    assert (found.preferred_since, found.preferred_before) == (failed, 0)
    assert found.why.endswith(f"had failed or were disputed: {failed} of 12 since, 0 of 20 before.")


# ---- the day, and expectations that cannot be held against anything ----


def test_a_limit_that_is_broken_is_no_verdict_before_its_day_is_over_and_later_calls_do_not_count(
    story: Story,
) -> None:
    by = (FIXED + 7 * DAY).date()  # Monday 22 June, to its end
    last = datetime(2026, 6, 22, 23, 59, 59, tzinfo=UTC)
    story.reviewed(18, 100, at=MONDAY).reviewed(30, 100, at=last)
    story.reviewed(0, 400, at=last + timedelta(seconds=1))
    lab = story.fixed(expect=f"under 5 % by {by.isoformat()}")

    (early,) = lab.effect(PROPOSAL, as_of=last)
    (late,) = lab.effect(PROPOSAL, as_of=last + DAY)

    assert (early.verdict, late.verdict) == ("inconclusive", "not_verified")
    assert early.why.startswith("Too early to say: 30 %")
    assert (late.calls_since, late.reviewed_since, late.rate_since) == (100, 100, 0.3)


@pytest.mark.parametrize(
    ("expect", "why"),
    [
        ("fewer angry clients", 'it names no limit such as "under 5 %"'),
        ("wrong_tool under 5 %", "it is about the label wrong_tool, and the proposal about bad_args"),
        (
            "bad_args on pay under 5 %",
            "it is about the tool pay, and the proposal about compute_exchange_quote",
        ),
    ],
)
def test_what_cannot_be_held_against_the_rate_is_said_and_before_is_compared_with_since(
    story: Story, expect: str, why: str
) -> None:
    lab = story.reviewed(40, 100, at=MONDAY).reviewed(5, 100, at=FIXED).fixed(expect=expect)

    (found,) = lab.effect(PROPOSAL)

    assert (found.verdict, found.unread, found.limit) == ("verified", why, None)
    assert found.why.startswith("It fell beyond noise: 5 % (")
    assert found.why.endswith(f"What was expected cannot be read: {why}.")


@pytest.mark.parametrize(
    ("before", "since", "verdict", "head"),
    [
        ((5, 100), (40, 100), "not_verified", "It rose beyond noise: 40 %"),
        ((20, 100), (18, 100), "inconclusive", "No difference beyond noise: 18 %"),
        ((20, 100), (0, 3), "inconclusive", "Not enough data yet: 0 %"),
    ],
)
def test_without_an_expectation_before_and_since_speak_for_themselves(
    story: Story, before: tuple[int, int], since: tuple[int, int], verdict: str, head: str
) -> None:
    lab = story.reviewed(*before, at=MONDAY).reviewed(*since, at=FIXED).fixed()

    (found,) = lab.effect(PROPOSAL)

    assert (found.verdict, found.unread) == (verdict, None)
    assert found.why.startswith(head)


# ---- which decision ----


def test_the_change_is_the_last_apply_a_close_ends_the_matter_and_reopening_forgets_it(story: Story) -> None:
    story.reviewed(5, 10, at=MONDAY).lab.store()
    lab = open_lab(story.lab.home)
    with pytest.raises(NoData, match="pending: nothing was changed yet"):
        lab.effect(PROPOSAL)
    lab.decide(PROPOSAL, "accept", expect="under 5 %", owner="tomas", due="2026-07-01", reviewer="dana")
    with pytest.raises(NoData, match="accepted: nothing was changed yet"):
        lab.effect(PROPOSAL)
    (waiting,) = lab.followed()
    assert (waiting.state, waiting.verdict, waiting.owner, waiting.due) == (
        "accepted",
        None,
        "tomas",
        "2026-07-01",
    )

    lab.decide(PROPOSAL, "apply", kind="other", ref="x", effective_at=FIXED, reviewer="dana")
    lab.decide(PROPOSAL, "close", reviewer="dana")
    (found,) = lab.effect(PROPOSAL)
    assert (found.changed_at, found.expectation) == (FIXED, "under 5 %")  # written down with the acceptance
    assert [(row.state, row.owner, row.ref) for row in lab.followed()] == [("closed", "tomas", "x")]

    lab.decide(PROPOSAL, "reopen", reviewer="dana")
    assert lab.followed().records() == []
    with pytest.raises(NoData):
        lab.effect(PROPOSAL)


def test_what_upstream_decided_has_an_effect_too(tmp_path: Path) -> None:
    builder = LabBuilder(tmp_path / "home")
    builder.label(builder.call(created_at=MONDAY), "bad_args")
    record = '{"resolution":{"kind":"pull_request","ref":"PR-9","url":null,"note":null},"decidedByAdminId":3}'
    builder.tracked(PROPOSAL, "applied", decided_at=FIXED, record=record)
    builder.store()
    lab = open_lab(builder.home)

    (row,) = lab.followed()

    assert (row.state, row.decided_at, row.author, row.kind, row.ref) == (
        "applied", FIXED, "3", "pull_request", "PR-9",
    )  # fmt: skip
    assert (row.effect.changed_at, row.verdict) == (FIXED, "inconclusive")


# ---- on the command line ----


def test_the_command_prints_the_verdict_and_strict_makes_it_an_exit_code(story: Story) -> None:
    lab = story.reviewed(18, 100, at=MONDAY).reviewed(12, 100, at=FIXED).fixed(expect="under 5 %")

    told = run("--home", lab.home, "proposals", "effect", PROPOSAL)
    document = run("--home", lab.home, "proposals", "effect", PROPOSAL, "--json")
    strict = run("--home", lab.home, "proposals", "effect", PROPOSAL, "--strict")
    shown = run("--home", lab.home, "proposals", "show", PROPOSAL)
    shown_json = run("--home", lab.home, "proposals", "show", PROPOSAL, "--json")

    assert told.code == document.code == shown.code == 0
    assert told.out.startswith("Not verified: 12 % (")
    assert "expected: under 5 %" in told.out
    assert (document.document["verdict"], document.document["reviewed_since"]) == ("not_verified", 100)
    assert (strict.code, "not_verified" in strict.err) == (1, True)
    assert "Not verified: 12 % (" in shown.out
    assert shown_json.document["effect"]["verdict"] == "not_verified"


def test_the_command_over_what_was_never_decided_has_nothing_to_judge(story: Story) -> None:
    story.reviewed(5, 10, at=MONDAY).lab.store()

    ran = run("--home", story.lab.home, "proposals", "effect", PROPOSAL)

    assert (ran.code, "no_data" in ran.err) == (1, True)
    assert run("--home", story.lab.home, "proposals", "show", PROPOSAL, "--json").document["effect"] is None


# ---- the grammar ----


@pytest.mark.parametrize(
    ("text", "limit", "below", "by"),
    [
        ("under 5 %", 0.05, True, None),
        ("<5%", 0.05, True, None),
        ("less than 0.05", 0.05, True, None),
        ("to 5 %", 0.05, False, None),
        ("from 18 % to 5 %.", 0.05, False, None),
        ("at most 4,5 percent by 2026-05-01", 0.045, False, date(2026, 5, 1)),
        ("no more than 2.5 %, by March 1, 2027", 0.025, False, date(2027, 3, 1)),
        ("rate of bad args falls to under 3% by 1st Mar", 0.03, True, date(2026, 3, 1)),
        ("under 5 % by 8 January", 0.05, True, date(2027, 1, 8)),  # the next one
        ("under 5 % by 9 January", 0.05, True, date(2026, 1, 9)),  # today
        ("under 5 % by 29 February", 0.05, True, date(2028, 2, 29)),
    ],
)
def test_a_written_expectation_is_read(text: str, limit: float, below: bool, by: date | None) -> None:
    found = read_expectation(text, written=JANUARY)

    assert (found.limit, found.below, found.by, found.unread) == (pytest.approx(limit), below, by, None)


@pytest.mark.parametrize("label", FIVE)
@pytest.mark.parametrize("rate", [None, 0.0, 0.004, 1 / 6, 0.4, 1.0])
def test_the_form_that_is_shown_can_be_read_and_is_not_remarked_on(label: str, rate: float | None) -> None:
    shown = form_of(label, rate)
    low, high = (None, None) if rate is None else (max(0, rate - 0.01), min(1, rate + 0.01))

    found = read_expectation(shown, written=JANUARY)

    assert (found.unread, found.label, found.by) == (None, label, date(2026, 3, 1))
    assert found.limit == pytest.approx(rate / 2 if rate else 0.05, rel=0.01)
    measured = {"label": label, "tool_name": "pay", "rate": rate, "low": low, "high": high}
    assert remark_on(shown, written=JANUARY, **measured) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "blah",
            'cannot be measured: it names no limit such as "under 5 %"; one that can is "bad_args from 40 % ',
        ),
        ("wrong_tool under 5 %", "it is about the label wrong_tool, and the proposal about bad_args"),
        ("on book under 5 %", "it is about the tool book, and the proposal about pay"),
        ("from 18 % to under 5 %", "says from 18 %, and measured now is 40 % (30 to 50 %)"),
        ("from 51 % to under 5 %", "says from 51 %, and measured now is 40 % (30 to 50 %)"),
        ("from 50 % to under 5 %", None),
        ("from 30 % to under 5 %", None),
        ("under 5 %", None),
    ],
)
def test_whoever_writes_what_cannot_be_measured_or_is_far_from_what_is_measured_is_told(
    text: str, told: str | None
) -> None:
    measured = {"label": "bad_args", "tool_name": "pay", "rate": 0.4, "low": 0.3, "high": 0.5}

    remark = remark_on(text, written=JANUARY, **measured)  # type: ignore[arg-type]  # of two kinds

    assert (remark is None) if told is None else (told in str(remark))


@pytest.mark.parametrize(
    "text",
    [
        *("", "better", "5 %", "under 5", "over 5 %", "not under 5 %", "under 5 % of quotes", "under 500 %"),
        *(
            "under 0 %",
            "at most 0 %",
            "bananas under 5 %",
            "under 5 % by soon",
            "under 5 % by 31 February 2026",
        ),
        *("under 5 % by 1 Ju", "from 180 % to under 5 %"),
    ],
)
def test_what_is_no_such_sentence_is_not_guessed_at(text: str) -> None:
    found = read_expectation(text, written=JANUARY)

    assert found.limit is None
    assert found.unread
    assert found.text == text


@given(st.integers(1, 999), st.sampled_from(["under", "at most"]), st.sampled_from(["", " by 2026-07-01"]))
def test_a_limit_reads_as_it_is_said(per_mille: int, limit: str, by: str) -> None:
    found = read_expectation(f"{limit} {per_mille / 10} %{by}", written=JANUARY)

    assert found.limit == pytest.approx(per_mille / 1000)
    assert found.met_by(found.limit - 1e-9) is True
    assert found.met_by(found.limit) is (limit == "at most")
    assert found.met_by(found.limit + 1e-9) is False


def test_each_reviewed_call_more_brings_the_number_that_would_tell_nearer(tmp_path: Path) -> None:
    wanted = []
    for number, reviewed in enumerate((10, 40, 70)):
        story = Story(tmp_path / str(number)).reviewed(9, 50, at=MONDAY).reviewed(0, reviewed, at=FIXED)
        wanted.append(story.fixed(expect="under 5 %").effect(PROPOSAL)[0].needed)

    assert all(later < earlier for earlier, later in pairwise(wanted))
    assert wanted[-1] > 73
