"""`quality-lab cases check`: whether cases catch what they were made for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quality_lab.cli.options import example, with_json, with_unread_home
from quality_lab.errors import InputError, NoData

if TYPE_CHECKING:
    from quality_lab.regressions.case_check import CaseCheck


@click.command(
    epilog=example(
        "quality-lab cases check cases.jsonl",
        "quality-lab cases check cases.jsonl --json",
    )
)
@click.argument("file", metavar="FILE")
@with_json
@with_unread_home
def check(file: str, as_json: bool) -> int:
    """Judge the recorded and the corrected calls of each case in FILE by its rules; no model, no tool.

    A case is fine where its recorded calls fail (pass, if it was made from a good reply) and its corrected
    ones, where somebody wrote them, pass. FILE is JSON lines; - is standard input.

    Exit codes: 0 every case is fine, 1 one is not, or there is none, 3 FILE cannot be read.
    """
    from quality_lab.regressions.case_check import check_by_rules

    checked = check_by_rules(lines_of(file))
    if as_json:
        _print_json(checked)
    else:
        _print_plain(checked)
    if not checked:
        raise NoData(f"no_data: {file} holds no case")
    return 0 if all(case.is_fine for case in checked) else 1


def lines_of(file: str) -> list[bytes]:
    """Return the lines of FILE, or of standard input for -.

    Raises: InputError where it cannot be read.
    """
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        raise InputError(f"wanted to read {file}, got: {reason}") from problem
    return content.removeprefix(b"\xef\xbb\xbf").split(b"\n")


def _print_json(checked: list[CaseCheck]) -> None:
    from quality_lab.cli.output import print_exact_json

    print_exact_json([_as_json(case) for case in checked])


def _as_json(case: CaseCheck) -> dict[str, Any]:
    return {
        "id": case.id,
        "line": case.line,
        "shape": list(case.shape),
        "recorded": case.recorded,
        "corrected": case.corrected,
        "proof": case.proof,
        "reasons": list(case.reasons),
    }


def _print_plain(checked: list[CaseCheck]) -> None:
    from quality_lab.answers import visible

    for case in checked:
        corrected = "" if case.corrected is None else f", corrected {case.corrected}"
        mark = "fine" if case.is_fine else "not fine"
        head = f"line {case.line}, case {visible(str(case.id))}"
        print(f"{head}: {case.proof}, recorded {case.recorded}{corrected} ({mark})")
        for reason in case.reasons:
            print(f"    {visible(reason)}")
    fine = sum(case.is_fine for case in checked)
    print(f"{len(checked)} cases, {fine} fine, {len(checked) - fine} not")
