"""Cases on their way into a run: as lines, which take no room until their turn comes, or read already."""

from __future__ import annotations

from dataclasses import dataclass

from quality_lab.matching.case import Case, read_case_line
from quality_lab.records import DEFAULT_TENANT


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseToRun:
    """A case, the line it came from, and what is wrong with its record."""

    line: int
    case: Case
    tenant: str = DEFAULT_TENANT
    problems: tuple[str, ...] = ()  # beside those that the case knows of itself

    @property
    def malformed(self) -> str | None:
        """What is wrong with the case first of all; None where nothing is."""
        return next(iter((*self.problems, *self.case.problems)), None)

    def read(self) -> CaseToRun:
        """Return the case itself, which is read already."""
        return self


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseLine:
    """A line that holds a case. It is read when it is run, and what was read is let go after that."""

    line: int
    text: bytes
    tenant: str = DEFAULT_TENANT
    problems: tuple[str, ...] = ()  # that were found in it before

    def read(self) -> CaseToRun:
        """Return the case in the line."""
        case, problems = read_case_line(self.text)
        return CaseToRun(line=self.line, case=case, tenant=self.tenant, problems=self.problems or problems)
