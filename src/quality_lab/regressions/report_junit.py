"""The report as JUnit XML: a test case a line, which any XML parser can read whatever the values hold."""

from __future__ import annotations

import re
from collections.abc import Collection

from quality_lab.js_text import well_formed
from quality_lab.regressions.report_plain import case_text, failure_block, tool_text
from quality_lab.regressions.results import Report, Result

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0, even as &#…;
_MARKUP = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&apos;"))


def junit_document(report: Report, *, errors: Collection[int] = ()) -> str:
    """Return the JUnit document of *report*; a character that XML does not know stands as its JSON escape.

    Results on the lines in *errors* hold an error instead of a failure.
    """
    summary = report.summary
    broken = sum(result.status == "failed" and result.line in errors for result in report.results)
    failed = f'failures="{summary.failed - broken}" ' + (f'errors="{broken}" ' if errors else "")
    cases = (_test_case(each, "error" if each.line in errors else "failure") for each in report.results)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuite name="tool-call-regressions" tests="{summary.total}" {failed}'
        f'skipped="{summary.skipped}" time="0">\n' + "".join(cases) + "</testsuite>\n"
    )


def _test_case(result: Result, element: str) -> str:
    name = _escaped(f"line {result.line} - case {case_text(result.case_id)} - {_tool(result)}")
    opened = f'    <testcase classname="tool-call-regression" name="{name}" time="0"'
    if result.status == "passed":
        return f"{opened}/>\n"
    if result.status == "skipped":
        return f'{opened}>\n      <skipped message="{result.skip_reason}"/>\n    </testcase>\n'
    count = len(result.failures)
    blocks = "\n\n".join(failure_block(failure) for failure in result.failures)
    indented = "".join(f"        {line}\n" for line in _escaped(blocks).split("\n"))
    return (
        f'{opened}>\n      <{element} message="{_message(count, element)}">\n'
        f"{indented}      </{element}>\n    </testcase>\n"
    )


def _message(count: int, element: str) -> str:
    if element == "error":
        return "not judged"
    return f"{count} validation failure{'' if count == 1 else 's'}"


def _tool(result: Result) -> str:
    return "tool unknown" if result.tool_name is None else tool_text(result.tool_name)


def _escaped(text: str) -> str:
    text = _ILLEGAL.sub(_named, well_formed(text))
    for mark, reference in _MARKUP:
        text = text.replace(mark, reference)
    return text


def _named(illegal: re.Match[str]) -> str:
    return f"\\u{ord(illegal.group()):04x}"
