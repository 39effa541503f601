"""The report as JSON: two spaces a level and a final line feed, as JavaScript prints it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from quality_lab.js_text import number_text, quoted
from quality_lab.regressions.results import Failure, Report, Result, Summary


def json_document(report: Report) -> str:
    """Return the JSON document of *report*."""
    top = [
        f'"generatedAt": {quoted(report.stamp)}',
        f'"metadata": {_object(_metadata(report), 1)}',
        f'"summary": {_object(_summary(report.summary), 1)}',
        f'"results": {_list((_result(result) for result in report.results), 1)}',
    ]
    return _object(top, 0) + "\n"


def _metadata(report: Report) -> Iterator[str]:
    for key, value in report.metadata.items():
        if isinstance(value, str):
            yield f"{quoted(key)}: {quoted(value)}"
        elif isinstance(value, int):
            yield f"{quoted(key)}: {value}"
        else:
            yield f"{quoted(key)}: {_list((quoted(held) for held in value), 2)}"


def _summary(summary: Summary) -> Iterator[str]:
    for key in ("total", "passed", "failed", "skipped", "active", "archived", "unsupported"):
        yield f'"{key}": {getattr(summary, key)}'
    reasons = (f'"{reason}": {count}' for reason, count in summary.skip_reasons.items())
    yield f'"skipReasons": {_object(reasons, 2)}'


def _result(result: Result) -> str:
    failures = _list((_failure(failure) for failure in result.failures), 3) if result.failures else "[]"
    skip_reason = f'\n      "skipReason": "{result.skip_reason}",' if result.skip_reason else ""
    return f"""{{
      "line": {result.line},
      "status": "{result.status}",
      "recordStatus": {_text(result.record_status)},
      "caseId": {_number(result.case_id)},
      "toolName": {_text(result.tool_name)},
      "title": {_text(result.title)},{skip_reason}
      "failures": {failures}
    }}"""


def _failure(failure: Failure) -> str:
    return f"""{{
          "line": {failure.line},
          "caseId": {_number(failure.case_id)},
          "toolName": {_text(failure.tool_name)},
          "path": {quoted(failure.path)},
          "expected": {quoted(failure.expected)},
          "actual": {quoted(failure.actual)}
        }}"""


def _text(value: str | None) -> str:
    return "null" if value is None else quoted(value)


def _number(value: float | None) -> str:
    return "null" if value is None else number_text(value)


def _object(members: Iterable[str], level: int) -> str:
    return _bracketed("{}", members, level)


def _list(items: Iterable[str], level: int) -> str:
    return _bracketed("[]", items, level)


def _bracketed(brackets: str, parts: Iterable[str], level: int) -> str:
    indent = "\n" + "  " * level
    inside = f",{indent}  ".join(parts)
    return f"{brackets[0]}{indent}  {inside}{indent}{brackets[1]}" if inside else brackets
