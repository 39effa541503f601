"""What a run finds out: a result a line, its failures, and the report that holds them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

Status = Literal["passed", "failed", "skipped"]
RecordStatus = Literal["active", "archived"]
SkipReason = Literal["archived", "unsupported_tool", "inconclusive"]  # the last one in a re-run alone
Metadata = Mapping[str, "str | int | Sequence[str]"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """A rule that a record breaks."""

    line: int  # 1-based
    case_id: float | None
    tool_name: str | None
    path: str  # dotted path of the field; "$" is the whole record
    expected: str
    actual: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What became of one line; what the record says of itself stands here only where it is valid."""

    line: int  # 1-based
    status: Status
    record_status: RecordStatus | None = None
    case_id: float | None = None
    tool_name: str | None = None
    title: str | None = None
    skip_reason: SkipReason | None = None
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """How many results there are of each kind."""

    total: int
    passed: int
    failed: int
    skipped: int
    active: int
    archived: int
    skip_reasons: Mapping[SkipReason, int]  # those that occurred, in the order in which they first did

    @property
    def unsupported(self) -> int:
        """How many were skipped because their tool is not on the list."""
        return self.skip_reasons.get("unsupported_tool", 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """All results of a run, where its records came from, and when it was made."""

    generated_at: datetime
    metadata: Metadata
    summary: Summary
    results: Sequence[Result]

    @property
    def stamp(self) -> str:
        """The time of the report: UTC, milliseconds, Z."""
        return self.generated_at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    @property
    def fills_its_page(self) -> bool:
        """Whether an API sent as many records as it was asked for, so that there may be more."""
        limit = self.metadata.get("limit")
        return isinstance(limit, int) and len(self.results) >= limit

    def with_values(self, change: Callable[[str], str]) -> Report:
        """Return this report with *change* applied to every text that came from a record."""
        return replace(self, results=[_with_values(result, change) for result in self.results])

    @property
    def failed(self) -> list[Result]:
        """The results that failed, in the order of their lines."""
        return [result for result in self.results if result.status == "failed"]


def summarise(results: Sequence[Result]) -> Summary:
    """Return the counts of *results*."""
    by_status = Counter(result.status for result in results)
    by_record = Counter(result.record_status for result in results)
    reasons = Counter(result.skip_reason for result in results if result.skip_reason is not None)
    return Summary(
        total=len(results),
        passed=by_status["passed"],
        failed=by_status["failed"],
        skipped=by_status["skipped"],
        active=by_record["active"],
        archived=by_record["archived"],
        skip_reasons=reasons,
    )


def _with_values(result: Result, change: Callable[[str], str]) -> Result:
    tool_name = None if result.tool_name is None else change(result.tool_name)
    return replace(
        result,
        tool_name=tool_name,
        title=None if result.title is None else change(result.title),
        failures=tuple(
            replace(
                failure,
                tool_name=tool_name,
                expected=change(failure.expected),
                actual=change(failure.actual),
            )
            for failure in result.failures
        ),
    )
