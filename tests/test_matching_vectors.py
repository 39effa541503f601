"""The matcher against verdicts that were worked out by hand, before there was one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quality_lab.json_text import parse
from quality_lab.matching import read_case
from quality_lab.matching.truth_tables import with_tables


@pytest.mark.shared
def test_every_vector_gets_the_verdict_that_the_rules_give(shared: Path) -> None:
    lines = (shared / "golden/cases/cases.jsonl").read_text(encoding="utf-8").splitlines()
    wanted = {
        row["id"]: row["verdict"]
        for row in map(json.loads, (shared / "golden/cases/verdicts.jsonl").read_text("utf-8").splitlines())
    }

    cases = [read_case(parse(line)) for line in lines]
    came = {case.record["id"]: case.judge_recorded().verdict for case in cases}

    assert came == wanted
    assert len(came) == 58


def test_every_case_of_the_benchmark_gets_the_answer_that_was_written_down_first(repository: Path) -> None:
    lines = (repository / "benchmarks/matching_cases.jsonl").read_text(encoding="utf-8").splitlines()

    records = [parse(line) for line in lines]
    came = {record["title"]: read_case(record).judge_recorded().verdict for record in records}

    assert came == {record["title"]: record["verdict"] for record in records}
    assert len(came) == 30
    assert sum(record["after"] is not None for record in records) >= 5


def test_the_tables_in_the_documentation_are_what_the_code_does(repository: Path) -> None:
    page = (repository / "docs/matching.md").read_text(encoding="utf-8")

    made_anew = with_tables(page)

    assert made_anew.count("<!-- table: ") == 10
    assert page == made_anew, "run `python -m quality_lab.matching.truth_tables docs/matching.md`"
