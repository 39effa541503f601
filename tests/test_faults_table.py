"""The table of faults and the tests of faults name each other, and nothing besides."""

from __future__ import annotations

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent


def names_of_tests() -> list[str]:
    return [
        node.name
        for path in sorted(HERE.glob("test_faults_*.py"))
        if path.name != Path(__file__).name
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def rows() -> list[list[str]]:
    lines = (HERE / "FAULTS.md").read_text("utf-8").splitlines()
    cells = [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")
    ]
    return [row for row in cells if row[0] != "what goes wrong"]


def test_every_row_names_a_test_that_exists_and_every_test_of_a_fault_has_its_row() -> None:
    named = [re.fullmatch(r"`(test_\w+)`", row[3].strip(" |")) for row in rows()]

    assert all(named)
    assert sorted(name[1] for name in named if name) == sorted(names_of_tests())


def test_every_row_says_what_is_seen_and_what_is_kept() -> None:
    assert len(rows()) > 30
    assert [row for row in rows() if len(row) != 4 or not all(row)] == []
