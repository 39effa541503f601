"""Cases judged by their rules alone: is the record in order, and does the case catch its fault."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from quality_lab import js_text
from quality_lab.matching.case import Case, Proof, read_case_line, reasons
from quality_lab.matching.checks import VerdictName
from quality_lab.regressions.validation import body_problems, header_problems


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseCheck:
    """One case: its shape, the verdicts on what was done and on what should have been, and its proof."""

    id: Any = field(metadata={"help": "the record's id, where it has one"})
    line: int  # 1-based
    shape: tuple[str, ...]  # what is wrong with the record; such a case is never judged
    recorded: VerdictName
    corrected: VerdictName | None  # None: nobody wrote down what should have been done
    proof: Proof
    reasons: tuple[str, ...]
    positive: bool = False  # made from a good reply: its recording has to pass

    @property
    def is_fine(self) -> bool:
        """Whether the case is well formed, catches its fault, and lets through what should have been done."""
        return not self.shape and self.proof == "red" and self.corrected in ("PASS", None)


def check_by_rules(lines: Iterable[bytes]) -> list[CaseCheck]:
    r"""Return a check for each line that holds something, in the order of the lines; blank lines and
    comments (``#``) hold nothing.

    >>> line = b'{"recordType":"tool_call_regression_case","expected":{"mode":"none"},"recorded":[]}\n'
    >>> check_by_rules([line])[0].shape[0]
    'id: wanted positive integer, got missing'
    """
    return [_check(line, case, problems) for line, case, problems in read_cases(lines)]


def read_cases(lines: Iterable[bytes]) -> Iterator[tuple[int, Case, tuple[str, ...]]]:
    """Yield line number, case, and what is wrong with its record, for each line that holds something."""
    for number, line in enumerate(lines, 1):
        text = js_text.trim(line.decode("utf-8", "replace"))
        if not text or text.startswith("#"):
            continue
        case, problems = read_case_line(line)
        if not problems:
            problems = tuple(dict.fromkeys((*_upstream_problems(text), *case.problems)))
        yield number, case, problems


def _upstream_problems(text: str) -> tuple[str, ...]:
    record = js_text.parse(text)  # its rules are on JavaScript's numbers
    broken = header_problems(record) or body_problems(record)
    return tuple(f"{path}: wanted {wanted}, got {came}" for path, wanted, came in broken)


def _check(line: int, case: Case, problems: tuple[str, ...]) -> CaseCheck:
    given = case.record.get("id")
    if problems:
        return CaseCheck(
            id=given, line=line, shape=problems, recorded="ERROR",
            corrected=None if case.corrected is None else "ERROR", proof="unprovable", reasons=problems,
        )  # fmt: skip
    recorded, corrected = case.judge_recorded(), case.judge_corrected()
    return CaseCheck(
        id=given,
        line=line,
        shape=(),
        recorded=recorded.verdict,
        corrected=corrected.verdict if corrected else None,
        proof=case.proof(recorded),
        reasons=tuple(reasons([recorded, corrected])),
        positive=case.positive,
    )
