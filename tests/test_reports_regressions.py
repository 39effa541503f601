"""The report on regression cases: what gates, what came of it, what changed, and what has no case."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from command_line import run as run_command
from lab_builder import LabBuilder
from replaying import QUOTE_RIGHT, QUOTE_WRONG, Saying, record

import quality_lab as ql
from quality_lab import reports
from quality_lab.journal import Journal
from quality_lab.reports.regressions.facts import VerdictWord

NOW = "2026-07-01"
CARD = "4111 1111 1111 1111"
HOSTILE = f"<script>alert(1)</script> [x](javascript:y) {CARD}"
PARTS = ("head", "failing", "changed", "flaky", "gates", "groups", "verdicts", "definitions")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def lab_with(home: Path, *records: dict[str, Any]) -> Any:
    """A lab whose cases came from a file."""
    home.mkdir(exist_ok=True)
    file = home / "cases.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    lab = ql.open(home)
    assert lab.load(file).totals["regression_cases"] == len(records)
    return lab


def verdicts_of(home: Path) -> list[dict[str, Any]]:
    return list(Journal(home / "data" / "journal").lines("verdicts"))


def keep(home: Path, day: int, **verdicts: VerdictWord) -> None:
    """Write a run of the *day* of June into the journal: c1="PASS" and so on."""
    entries = [
        {"run": f"run{day}", "case_id": int(case[1:]), "tool_name": "quote", "label": "bad_args",
         "verdict": verdict, "reason": "", "stability": "undecided", "trials": 1, "passed": 0}
        for case, verdict in verdicts.items()
    ]  # fmt: skip
    now = datetime(2026, 6, day, 12, tzinfo=UTC)
    Journal(home / "data" / "journal").extend("verdicts", entries, author=None, now=now)


def page_of(lab: Any, **given: Any) -> Any:
    return reports.regressions_page(lab, **{"as_of": NOW, **given})


def words_of(part: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", str(part.html))).split())


# ---- verdicts in the journal ----


def test_a_finished_run_of_the_lab_s_own_cases_leaves_a_line_for_each_of_them(home: Path) -> None:
    lab = lab_with(home, record(1), record(2), record(3, status="archived"))

    asyncio.run(lab.rerun(model=Saying(QUOTE_WRONG), trials=2))

    first, second = verdicts_of(home)
    assert first["record_type"] == "verdict"
    assert (first["run"], first["created_at"]) == (second["run"], second["created_at"])
    assert [line["case_id"] for line in (first, second)] == [1, 2]
    assert (first["verdict"], first["stability"], first["trials"], first["passed"]) == (
        "FAIL",
        "stable_fail",
        2,
        0,
    )
    assert (first["model"], first["evidence"]) == ("saying", {"recorded": 2})
    assert first["failures"] == [
        {
            "step": 0,
            "rule": "calls[0] equals",
            "path": "args.mode",
            "expected": '"target"',
            "got": '"source"',
        }
    ]


def test_cases_from_elsewhere_leave_no_line(home: Path, tmp_path: Path) -> None:
    lab = lab_with(home, record(1))

    asyncio.run(lab.rerun([record(1)]))
    asyncio.run(lab.rerun(home / "cases.jsonl"))

    assert verdicts_of(home) == []


def test_the_command_leaves_lines_too_but_for_a_named_file(home: Path) -> None:
    lab_with(home, record(1), record(2))

    named = run_command("regressions", "--rerun", "--home", str(home), "--file", str(home / "cases.jsonl"))
    assert (named.code, verdicts_of(home)) == (1, [])
    own = run_command("regressions", "--rerun", "--home", str(home), "--json")

    assert own.code == 1  # recorded decisions show no fix, so nothing is decided
    assert {line["case_id"]: line["verdict"] for line in verdicts_of(home)} == {
        1: "INCONCLUSIVE",
        2: "INCONCLUSIVE",
    }


def test_what_goes_into_the_journal_is_masked_and_bounded(home: Path) -> None:
    args = {"mode": f"card {CARD} {'x' * 2000}"}
    wrong = [{"tool": "quote", "args": args, "result": 1}]
    lab = lab_with(home, record(1, recorded=wrong))

    asyncio.run(lab.rerun(model=Saying(lambda messages: [ql_call(args)] if len(messages) < 2 else "done")))

    text = (home / "data" / "journal" / "verdicts.jsonl").read_text()
    assert CARD not in text
    assert "[card-" in text
    assert len(text) < 3000


def ql_call(args: dict[str, Any]) -> Any:
    from quality_lab.toolloop import call

    return call("quote", args)


def test_a_load_takes_verdicts_for_what_they_are(home: Path) -> None:
    keep(home, 1, c1="PASS", c2="FAIL")

    loaded = ql.open(home).load().files[0]

    assert (loaded.status, loaded.lines, loaded.rejected) == ("loaded", 2, 0)
    assert loaded.not_understood == {}


def test_cases_of_two_tenants_with_one_id_keep_verdicts_of_their_own(home: Path, tmp_path: Path) -> None:
    lab = lab_with(home, record(1))
    (north := tmp_path / "north.jsonl").write_text(json.dumps({**record(1), "title": "northern"}) + "\n")
    lab.load(north, tenant="north")
    before = tmp_path / "before.json"

    first = asyncio.run(lab.rerun(model=Saying(QUOTE_WRONG)))
    before.write_text(json.dumps(first.report.as_json()))
    second = asyncio.run(lab.rerun(model=Saying(QUOTE_RIGHT), baseline=before))

    assert [(line.get("tenant"), line["case_id"]) for line in verdicts_of(home)[:2]] == [
        (None, 1),
        ("north", 1),
    ]
    assert second.report.comparison.fixed_cases == (1, "1 of north")
    facts = page_of(lab).facts
    assert (facts.changes.pairs, facts.changes.fixed_cases) == (2, ("1", "1 of north"))
    assert "1 of north" in words_of(page_of(lab).verdicts())


def test_forgetting_a_conversation_takes_the_verdicts_on_its_case_away(home: Path) -> None:
    context = {"toolCall": {"conversationId": "c-7", "result": 1, "error": False}}
    lab = lab_with(home, record(1, context=context), record(2))
    builder = LabBuilder(home)
    builder.call(conversation_id="c-7")
    lab.store.write_records(builder.records)
    asyncio.run(lab.rerun(model=Saying(QUOTE_WRONG)))
    assert [line["case_id"] for line in verdicts_of(home)] == [1, 2]

    lab.forget(conversation="c-7")

    assert [line["case_id"] for line in verdicts_of(home)] == [2]


# ---- the page ----


def test_a_lab_without_anything_says_so_in_every_part(home: Path) -> None:
    page = page_of(ql.open(home))

    said = {part: words_of(getattr(page, part)()) for part in PARTS}

    assert "There is no regression case yet" in said["head"]
    assert all("No run is in the journal yet" in said[part] for part in ("failing", "changed", "verdicts"))
    assert "There is no regression case in this lab" in said["gates"]
    assert "no call carries a label" in said["groups"]
    assert page.note().figures["pass_rate"] is None


def test_of_the_demo_s_cases_three_gate_and_the_report_says_what_keeps_the_others_from_it() -> None:
    page = page_of(ql.open_demo())

    head, gates, groups = (words_of(part) for part in (page.head(), page.gates(), page.groups()))

    assert "none of" not in head
    assert "3 cases gate" in gates
    assert "12 cases do not gate: only prose (9), archived (3)." in gates
    # cars the wrong way are guarded against; nobody labelled a tour's booking in these weeks
    assert "8 of 9 failure groups have no case that gates" in groups


def test_the_demo_s_cases_run_again_and_come_out_as_its_readme_says(repository: Path, home: Path) -> None:
    story = repository / "data" / "demo"
    lab = ql.open(home)
    lab.load(story / "exports", story / "journal")

    came = {row.tool_name: (row.verdict, row.reason) for row in asyncio.run(lab.rerun())}

    assert {tool: verdict for tool, (verdict, _) in came.items()} == {
        "confirm_tour_booking": "PASS",
        "confirm_transfer_booking": "PASS",
        "get_transfer_options": "INCONCLUSIVE",
    }
    assert '"two" is not of type "integer"' in came["confirm_tour_booking"][1]
    assert came["confirm_transfer_booking"][1].startswith("let_through_today")
    assert came["get_transfer_options"][1].startswith("recorded_model_cannot_show_fix")
    assert page_of(lab).note().figures["pass_rate"] == 1.0


def test_a_failure_is_told_as_call_rule_place_expected_and_got(home: Path) -> None:
    lab = lab_with(home, record(1))
    asyncio.run(lab.rerun(model=Saying(QUOTE_WRONG)))

    said = words_of(page_of(lab).failing())

    assert "Call Rule Where Expected Got 1 calls[0] equals args.mode" in said
    assert said.endswith('"target" "source"')


def test_a_case_that_passes_at_times_is_told_as_flaky(home: Path) -> None:
    turns = iter(range(100))

    def at_times(messages: list[dict[str, Any]]) -> Any:
        if len(messages) > 1:
            return "done"
        return QUOTE_RIGHT(messages) if next(turns) % 2 else QUOTE_WRONG(messages)

    lab = lab_with(home, record(1))
    asyncio.run(lab.rerun(model=Saying(at_times), trials=4, concurrency=1))

    page = page_of(lab)

    assert "quote bad_args 2 of 4" in words_of(page.flaky())
    assert [finding.kind for finding in page.findings] == ["case_flaky"]


@pytest.mark.parametrize(
    ("now", "said"),
    [
        # 7 fixed of 7 that changed: p = 2 / 2 ** 7; 2 of 3: p = 2 * (1 + 3) / 2 ** 3, at most 1
        ({f"c{at}": "PASS" for at in range(1, 8)}, "better beyond noise (7 fixed, 0 broken of 8 cases, "
         "exact McNemar p = 0.016)"),
        ({"c1": "PASS", "c2": "PASS", "c8": "FAIL"}, "no change beyond noise (2 fixed, 1 broken of 8 cases, "
         "exact McNemar p = 1)"),
    ],
)  # fmt: skip
def test_a_run_is_compared_with_the_one_before_and_noise_is_called_noise(
    home: Path, now: dict[str, Any], said: str
) -> None:
    before: dict[str, Any] = {**{f"c{at}": "FAIL" for at in range(1, 8)}, "c8": "PASS"}
    keep(home, 1, **before)
    keep(home, 2, **{**before, **now})

    page = page_of(ql.open(home))

    assert f"Against the run before: {said}" in words_of(page.head())
    assert "would have shown a difference of" in words_of(page.changed())


def test_any_two_runs_can_be_named_and_an_unknown_one_is_refused(home: Path) -> None:
    for day, verdict in ((1, "PASS"), (2, "FAIL"), (3, "PASS")):
        keep(home, day, c1=verdict)
    lab = ql.open(home)

    facts = page_of(lab, run="run2", against="run3").facts

    assert (facts.run.run, facts.before.run, facts.changes.broken) == ("run2", "run3", 1)
    with pytest.raises(ql.UsageError, match="wanted one run of the journal"):
        page_of(lab, run="run9").head()


def test_lines_that_were_taken_back_doubled_or_spoilt_do_not_count(home: Path) -> None:
    keep(home, 1, c1="PASS", c2="FAIL")
    journal = Journal(home / "data" / "journal")
    lines = verdicts_of(home)
    with journal.path("verdicts").open("a") as file:
        file.write(f'{json.dumps(lines[0])}\nno line\n{{"verdict":"MAYBE","id":"x"}}\n')
    journal.retract(lines[1]["id"], author="dana@example.com")

    run = ql.open(home).regression_facts(page_of(ql.open(home)).window.filters).run

    assert [(each.case_id, each.verdict) for each in run.verdicts] == [("1", "PASS")]


def test_the_pass_rate_is_weighted_by_how_often_each_group_of_failures_occurs(home: Path) -> None:
    look = {
        "toolName": "look",
        "label": "wrong_tool",
        "expected": {"behavior": "b", "calls": [{"tool": "quote"}]},
        "recorded": [{"tool": "look", "args": {}, "result": 1}],
        "corrected": [{"tool": "quote", "args": {"mode": "target"}, "result": 1}],
    }
    looked = record(3, **look, input={"toolName": "look", "feedback": {"label": "wrong_tool"}})
    lab = lab_with(home, record(1), record(2), looked)
    builder = LabBuilder(home)
    for tool, label, times in (("quote", "bad_args", 6), ("look", "wrong_tool", 2), ("pay", "bad_args", 2)):
        for call in builder.calls(times, tool):
            builder.label(call, label)
    lab.store.write_records(builder.records)
    asyncio.run(
        lab.rerun(model=Saying(lambda said: QUOTE_WRONG(said) if ", 2" in str(said) else QUOTE_RIGHT(said)))
    )

    page = page_of(lab)

    # quote: 1 of its 2 cases passes, for 6 labels; look: its one passes, for 2; pay has none, for 2
    assert page.facts.weighted == pytest.approx((6 * 0.5 + 2 * 1.0) / 8)
    assert page.facts.covered == pytest.approx(0.8)
    assert page.facts.without_case == [("pay", "bad_args")]
    assert "pay bad_args 2 none –" in words_of(page.groups())
    assert page.note().figures["groups_without_case"] == 1


def test_hostile_text_is_shown_and_does_nothing(home: Path) -> None:
    lab = lab_with(home, record(1, title=HOSTILE))
    asyncio.run(lab.rerun(model=Saying(QUOTE_WRONG)))
    page = page_of(lab)

    written = "".join(str(getattr(page, part)().html) for part in PARTS)

    assert "<script" not in written
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in written
    assert CARD not in written


@pytest.mark.slow
def test_the_report_is_masked_unless_asked_otherwise_and_its_summary_tells_the_run(home: Path) -> None:
    lab = lab_with(home, record(1, title=HOSTILE), record(2))
    asyncio.run(lab.rerun(model=Saying(QUOTE_WRONG)))

    made = lab.report("regressions")
    bare = lab.report("regressions", mask=False)

    written = [(made.folder / name).read_text() for name in ("report.html", "report.ipynb", "summary.json")]
    assert made.problem is None
    assert [CARD in text for text in written] == [False, False, False]
    assert all("[card-" in text for text in written)
    assert CARD in bare.html.read_text()
    assert "<script>alert" not in bare.html.read_text()
    figures = made.summary["figures"]
    assert (figures["cases"], figures["cases_that_gate"], figures["failed"]) == (2, 2, 2)
    assert [finding["kind"] for finding in made.summary["findings"]] == ["case_failed", "case_failed"]


@pytest.mark.slow
def test_the_report_runs_on_the_demo_where_no_case_was_run_yet(tmp_path: Path) -> None:
    made = ql.open_demo().report("regressions", out=tmp_path)

    assert made.problem is None
    assert made.summary["figures"]["runs"] == 0
