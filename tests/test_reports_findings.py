"""Findings come from general rules: the same under other names, none where there is nothing to find."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import permutations
from math import comb, log
from pathlib import Path
from typing import Any

import pytest
from lab_builder import MONDAY, LabBuilder

from quality_lab.intervals import Sums
from quality_lab.metrics.filters import Filters
from quality_lab.metrics.signs.reviews import ArgumentValue, LabelNote
from quality_lab.reports.findings import Finding, findings
from quality_lab.reports.findings.argument_traits import Trait, traits
from quality_lab.reports.findings.drifting import culprit
from quality_lab.reports.findings.significance import (
    Change,
    Cluster,
    change_point,
    combined,
    fisher_more,
    lower_bound,
)
from quality_lab.reports.findings.unserved import topic, words_of
from quality_lab.store import Store

FIVE_KINDS = {"failure", "args_drift", "early_call", "no_tool", "swallowed"}


@dataclass(frozen=True)
class Told:
    """A story that was written, loaded and looked through."""

    found: dict[str, Finding]
    all: list[Finding]
    truth: dict[str, Any]


def tell(repository: Path, folder: Path, *options: str) -> Told:
    """Write the demo story with *options*, load it into a lab of its own and return its findings by kind."""
    script = repository / "data" / "demo" / "make_story.py"
    subprocess.run([sys.executable, script, *options, folder / "story"], check=True, capture_output=True)
    (folder / "data").mkdir()
    store = Store(folder)
    store.load([folder / "story" / "exports", folder / "story" / "journal"])
    found = findings(store, Filters())
    truth = json.loads((folder / "story" / "truth.json").read_text())
    return Told({finding.kind: finding for finding in found}, found, truth)


@pytest.fixture(scope="module")
def demo(repository, tmp_path_factory) -> Told:
    return tell(repository, tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def renamed(repository, tmp_path_factory) -> Told:
    return tell(repository, tmp_path_factory.mktemp("renamed"), "--seed", "7", "--shuffle-names")


@pytest.mark.parametrize("story", ["demo", "renamed"])
def test_the_plot_is_found_on_the_tools_that_it_is_about_whatever_their_names(story, request):
    told: Told = request.getfixturevalue(story)
    facts = told.truth["plot_facts"]

    assert {finding.kind: finding.tool_name for finding in told.all} == {
        "failure": facts["failure"]["tool"],
        "args_drift": facts["args_drift"]["tool"],
        "early_call": facts["early_call"]["tool"],
        "no_tool": None,
        "swallowed": facts["swallowed"]["tool"],
    }
    assert len(told.all) == 5


@pytest.mark.parametrize("story", ["demo", "renamed"])
def test_the_evidence_of_the_findings_is_what_the_story_knows(story, request):
    told: Told = request.getfixturevalue(story)
    facts, found = told.truth["plot_facts"], told.found

    drift = found["args_drift"].evidence
    assert drift["argument"] == facts["args_drift"]["argument"]
    assert drift["since"] == facts["args_drift"]["since"][:10]
    assert (drift["reviewed_after"], drift["bad_args_after"]) == (
        facts["args_drift"]["after"]["reviewed"],
        facts["args_drift"]["after"]["bad_args"],
    )
    assert (drift["reviewed_before"], drift["bad_args_before"]) == (
        facts["args_drift"]["before"]["reviewed"],
        facts["args_drift"]["before"]["bad_args"],
    )
    early = found["early_call"].evidence
    assert (early["calls"], early["hits"]) == (facts["early_call"]["calls"], facts["early_call"]["gated"])
    assert early["reasons"]["action_not_allowed_for_stage"] == facts["early_call"]["too_early"]
    failure = found["failure"].evidence
    assert (failure["calls"], failure["hits"]) == (facts["failure"]["calls"], facts["failure"]["soft_errors"])
    swallowed = found["swallowed"].evidence
    assert swallowed["after_hits"] == facts["swallowed"]["empty_since"]
    since = date.fromisoformat(swallowed["since"]) - date.fromisoformat(facts["swallowed"]["since"][:10])
    assert timedelta(0) <= since <= timedelta(days=3)  # the first empty answer comes when somebody asks
    missing = found["no_tool"].evidence
    assert set(missing["topic"]) >= {"status"} or set(missing["topic"]) >= {"payout"}
    assert missing["guard_reasons"] == {facts["no_tool"]["guard_reason"]: facts["no_tool"]["guard_rows"]}


def test_a_finding_is_a_sentence_that_names_tool_rate_interval_and_since_when(demo):
    drift, early = demo.found["args_drift"], demo.found["early_call"]

    assert drift.text.startswith(
        "Since 18 May, compute_exchange_quote is called with the wrong amountMode in 31 % ("
    )
    assert "of reviewed calls (10 of 32); before it was 3.7 % (1 of 27)." in drift.text
    assert early.text.startswith("fetch_exchange_requisites is called too early: 43 % (")
    assert "create_exchange_order had not succeeded before" in early.text


@pytest.mark.parametrize("seed", ["2026", "11"])
def test_a_story_without_a_plot_gives_no_finding(repository, tmp_path, seed):
    told = tell(repository, tmp_path, "--no-plot", "--seed", seed)

    assert [finding.text for finding in told.all if finding.kind in FIVE_KINDS] == []
    assert told.truth["exchange"]["calls"] > 350


def test_an_empty_lab_has_nothing_to_find(tmp_path):
    assert findings(Store(tmp_path), Filters()) == []


def test_filters_on_the_outcome_do_not_make_a_finding_of_themselves(tmp_path):
    builder = LabBuilder(tmp_path)
    builder.calls(40)
    builder.calls(6, is_error=True, error_origin="flag")
    store = builder.store()

    assert findings(store, Filters.of(outcome="error")) == []


# ---- the rules, on data made by hand ----


def test_a_tool_that_hardly_ever_returns_anything_does_not_swallow_errors(tmp_path):
    builder = LabBuilder(tmp_path)
    builder.calls(30, "notify", result="null")
    builder.calls(30, "quote")
    store = builder.store()

    assert findings(store, Filters()) == []


def test_failures_that_all_tools_share_make_no_tool_stand_out(tmp_path):
    builder = LabBuilder(tmp_path)
    for tool in ("a", "b", "c"):
        builder.calls(20, tool)
        builder.calls(10, tool, is_error=True, error_origin="flag")
    store = builder.store()

    assert findings(store, Filters()) == []


def test_many_failures_of_a_few_conversations_are_not_enough(tmp_path):
    builder = LabBuilder(tmp_path)
    for conversation in range(3):
        for _ in range(10):
            builder.call("a", conversation_id=f"c{conversation}", is_error=True, error_origin="flag")
    builder.calls(60, "b")
    store = builder.store()

    assert findings(store, Filters()) == []


def test_a_rise_names_its_day_in_the_zone_of_the_report(tmp_path):
    builder = LabBuilder(tmp_path)
    for day in range(20):  # from Monday 1 June 2026 on, at 23:00 UTC: the next day in Bangkok
        at = MONDAY.replace(hour=23) + timedelta(days=day)
        for _ in range(3):
            if day < 10:
                builder.calls(1, "a", created_at=at)
            else:
                builder.calls(1, "a", created_at=at, is_error=True, error_origin="flag")
        builder.calls(3, "b", created_at=at)
    store = builder.store()

    in_utc, in_bangkok = (findings(store, Filters(tz=tz))[0] for tz in ("UTC", "Asia/Bangkok"))

    assert in_utc.evidence["since"] == "2026-06-11"
    assert in_bangkok.evidence["since"] == "2026-06-12"
    assert in_utc.text.startswith(
        "Since 11 June, a fails in 100 % of its calls (30 of 30); before it was 0 %"
    )


def test_the_reviewers_own_words_decide_which_argument_is_wrong():
    def uid(number: int) -> str:
        return f"u{number}"

    values = [
        ArgumentValue(
            call_uid=uid(n),
            created_at=MONDAY,
            arguments='{"asset":"USDT","when":"12/05"}',
            verdict="bad_args",
        )
        for n in range(4)
    ]
    notes = [
        LabelNote(
            call_uid=uid(n), conversation_uid="c", tool_name="t", label="bad_args", author="anna", note=None,
            expected_tool=None, expected_arguments='{"asset":"USDT","when":"2026-05-12"}', created_at=MONDAY,
        )
        for n in range(4)
    ]  # fmt: skip  # the note stands in two lines
    change = Change(day=MONDAY.toordinal(), before_n=8, before_y=0, after_n=4, after_y=4, p_value=0.01)

    found = culprit(values, notes, change, lambda moment: moment.toordinal())

    assert found is not None
    assert (found.name, found.path, found.bad, found.bad_with) == ("when", "$.when", 4, 4)


def test_no_argument_is_blamed_where_right_and_wrong_calls_look_alike():
    same = '{"asset":"USDT","amount":100}'
    values = [
        ArgumentValue(call_uid=str(n), created_at=MONDAY + timedelta(days=n), arguments=same, verdict=verdict)
        for n, verdict in enumerate(["good_reply"] * 8 + ["bad_args"] * 8)
    ]
    change = Change(day=MONDAY.toordinal() + 8, before_n=8, before_y=0, after_n=8, after_y=8, p_value=0.001)

    assert culprit(values, [], change, lambda moment: moment.toordinal()) is None


def test_traits_read_values_sizes_and_shapes_at_every_path():
    found = traits(
        '{"a": {"b": [{"c": true}, {"c": null}]}, "n": 0.05, "d": "2026-05-12", "x": 100000000000000000001}'
    )

    assert {(trait.path, trait.kind, trait.value) for trait in found} == {
        ("$.a.b[].c", "type", "boolean"),
        ("$.a.b[].c", "value", "true"),
        ("$.a.b[].c", "value", "null"),
        ("$.n", "type", "number"),
        ("$.n", "value", "0.05"),
        ("$.n", "size", "between 0.01 and 0.1"),
        ("$.d", "type", "text"),
        ("$.d", "value", '"2026-05-12"'),
        ("$.d", "shape", "9999-99-99"),
        ("$.x", "type", "number"),
        ("$.x", "value", "100000000000000000001"),
        ("$.x", "size", "between 100,000,000,000,000,000,000 and 1,000,000,000,000,000,000,000"),
    }
    assert traits("not json") == frozenset()
    assert Trait("$.order.items[].qty", "value", "3").name == "qty"


def test_a_topic_is_what_stands_beside_missing_tools_and_not_beside_other_calls():
    notes = (
        "Where is the payout",
        "Payout status again",
        "Cannot say when a payout comes",
        "no payout look-up",
    )
    missing = [words_of(note) for note in (*notes, "Status of the payout?")]
    others = [words_of("The payment status was read to them") for _ in range(3)]
    others += [words_of("Right amount, right mode") for _ in range(12)]

    found = topic(missing, others)

    assert found is not None
    assert found.words == ("payout",)  # "status" stands beside others too
    assert (found.with_it, found.of) == (5, 5)
    assert topic(missing, missing) is None


# ---- the statistics, against independent oracles ----


def test_fishers_p_value_is_scipys():
    from scipy.stats import fisher_exact

    for table in (
        (3, 3, 0, 3),
        (10, 32, 1, 27),
        (7, 7, 26, 44),
        (0, 5, 3, 9),
        (5, 5, 9, 9),
        (40, 900, 3, 400),
    ):
        hits, total, other, others = table
        expected = fisher_exact([[hits, total - hits], [other, others - other]], alternative="greater").pvalue

        assert fisher_more(*table) == pytest.approx(expected, rel=1e-9)


def test_combined_evidence_is_scipys():
    from scipy.stats import combine_pvalues

    for p_values in ([0.05], [0.05, 0.05], [0.3, 0.01, 0.2], [1.0, 1.0], [1e-9, 0.5]):
        assert combined(p_values) == pytest.approx(combine_pvalues(p_values).pvalue, rel=1e-9)


def test_the_lower_bound_is_the_wilson_bound_at_its_level():
    from statsmodels.stats.proportion import proportion_confint

    sums = Sums(n=8, y=3, conversations=8, yy=3, ym=3, mm=8)  # under ten conversations n itself counts
    low, _ = proportion_confint(3, 8, alpha=0.02, method="wilson")  # two-sided 2 % is one-sided 1 %

    assert lower_bound(sums, level=0.01) == pytest.approx(low, rel=1e-9)
    assert lower_bound(Sums(n=8, y=0, conversations=8, yy=0, ym=0, mm=8), level=0.01) == 0.0


def test_the_p_value_of_a_change_is_that_of_all_orders_of_the_conversations():
    days = [Cluster(day, 1, hit) for day, hit in enumerate([0, 0, 0, 1, 1, 1])]

    def best(hits: tuple[int, ...]) -> float:
        """Return the largest log likelihood ratio of a rise, over the cuts that leave two on each side."""

        def likelihood(some: tuple[int, ...]) -> float:
            n, y = len(some), sum(some)
            return sum(k * log(k / n) for k in (y, n - y) if k)

        gains = [0.0]
        for cut in (2, 3, 4):
            first, last = hits[:cut], hits[cut:]
            if sum(last) / len(last) > sum(first) / len(first):
                gains.append(likelihood(first) + likelihood(last) - likelihood(hits))
        return max(gains)

    observed = best((0, 0, 0, 1, 1, 1))
    orders = list(permutations([0, 0, 0, 1, 1, 1]))
    exact = sum(best(order) >= observed - 1e-9 for order in orders) / len(orders)

    found = change_point(days, least=2)

    assert found is not None
    assert exact == 1 / comb(6, 3)
    assert (found.day, found.before_n, found.before_y, found.after_n, found.after_y) == (3, 3, 0, 3, 3)
    assert found.p_value == pytest.approx(exact, abs=0.01)


def test_a_fall_and_a_flat_line_are_no_rise():
    falling = [Cluster(day, 2, 2 if day < 10 else 0) for day in range(20)]
    flat = [Cluster(day, 1, day % 2) for day in range(20)]

    assert change_point(falling, least=5) is None
    risen = change_point(flat, least=5)
    assert risen is None or risen.p_value > 0.2


def test_many_conversations_are_judged_by_a_bound_that_agrees():
    rising = [
        Cluster(day, 1, int((day * 7 + n) % 10 < (1 if day < 10 else 5)))
        for day in range(20)
        for n in range(250)
    ]

    found = change_point(rising, least=20)

    assert len(rising) == 5000
    assert found is not None
    assert found.day == 10
    assert found.p_value < 1e-6
