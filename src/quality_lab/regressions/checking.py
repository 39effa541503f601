"""Lines of cases into results: header, archive, body, tool list, in that order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from quality_lab import js_text
from quality_lab.regressions.arguments import Settings
from quality_lab.regressions.parsing import NotJson, read_lines
from quality_lab.regressions.results import Failure, Report, Result, summarise
from quality_lab.regressions.validation import (
    STATUSES,
    Problem,
    body_problems,
    header_problems,
    is_count,
    is_text,
)


def report_on(lines: Iterable[bytes], settings: Settings, *, now: datetime) -> Report:
    """Return the report on *lines*, checked as *settings* ask; *now* is the time it carries."""
    results = check_cases(
        lines,
        include_archived=settings.include_archived,
        supported_tools=settings.supported_tools,
        skip_unsupported=settings.skip_unsupported,
    )
    return Report(generated_at=now, metadata=settings.metadata, summary=summarise(results), results=results)


def check_cases(
    lines: Iterable[bytes],
    *,
    include_archived: bool = False,
    supported_tools: Sequence[str] = (),
    skip_unsupported: bool = False,
) -> list[Result]:
    r"""Return a result for each line that holds something, in the order of the lines.

    Archived cases are skipped unless *include_archived*. Where *supported_tools* names any tool, a case of
    another one fails, or is skipped if *skip_unsupported*.

    >>> [result] = check_cases([b'{"recordType": "tool_call_regression_case"}\n'])
    >>> result.status, [failure.path for failure in result.failures]
    ('failed', ['id', 'source', 'toolName', 'label', 'title', 'status'])
    """
    tools = frozenset(supported_tools)
    one_of = "one of: " + ", ".join(sorted(tools, key=js_text.sort_key))
    results = []
    for line, case in read_lines(lines):
        if isinstance(case, NotJson):
            results.append(_failed(line, None, [Problem("$", "valid JSON object", case.reason)]))
        elif problems := header_problems(case):
            results.append(_failed(line, case, problems))
        elif case["status"] == "archived" and not include_archived:
            results.append(_result(line, case, "skipped", skip_reason="archived"))
        elif problems := body_problems(case):
            results.append(_failed(line, case, problems))
        elif not tools or case["toolName"] in tools:
            results.append(_result(line, case, "passed"))
        elif skip_unsupported:
            results.append(_result(line, case, "skipped", skip_reason="unsupported_tool"))
        else:
            results.append(_failed(line, case, [Problem("toolName", one_of, case["toolName"])]))
    return results


def _result(line: int, case: dict[str, Any], status: Any, *, skip_reason: Any = None) -> Result:
    """Return the result of a case whose header is in order."""
    return Result(
        line=line,
        status=status,
        record_status=case["status"],
        case_id=case["id"],
        tool_name=case["toolName"],
        title=case["title"],
        skip_reason=skip_reason,
    )


def _failed(line: int, case: Any, problems: list[Problem]) -> Result:
    """Return the failed result of anything; what *case* says of itself counts where it is valid."""
    said = case if isinstance(case, dict) else {}
    case_id = said["id"] if is_count(said.get("id")) else None
    tool_name = said["toolName"] if is_text(said.get("toolName")) else None
    return Result(
        line=line,
        status="failed",
        record_status=said["status"] if said.get("status") in STATUSES else None,
        case_id=case_id,
        tool_name=tool_name,
        title=said["title"] if is_text(said.get("title")) else None,
        failures=tuple(
            Failure(
                line=line, case_id=case_id, tool_name=tool_name, path=path, expected=expected, actual=actual
            )
            for path, expected, actual in problems
        ),
    )
