"""What makes a record a regression case: rules in two stages, with the paths and words that upstream has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from quality_lab import js_text

RECORD_TYPE = "tool_call_regression_case"
SOURCE = "tool_call_feedback"
LABELS = ("wrong_tool", "missing_tool", "bad_args")
STATUSES = ("active", "archived")


class Problem(NamedTuple):
    """A rule that is broken: where, what was wanted, what came."""

    path: str
    expected: str
    actual: str


class Missing:
    """What stands for the value of a key that is not there; null is a value."""


MISSING = Missing()


def is_text(value: Any) -> bool:
    """Return whether *value* is a string that holds more than blanks."""
    return type(value) is str and value.strip(js_text.WHITE_SPACE) != ""


def is_count(value: Any) -> bool:
    """Return whether *value* is an integer above 0."""
    kind = type(value)
    return (kind is int and 0 < value < js_text.TOO_LARGE) or (
        kind is float and value > 0 and value.is_integer()
    )


def header_problems(case: Any) -> list[Problem]:
    """Return what keeps *case* from saying what it is; nothing else is looked at while there is any of it."""
    if type(case) is not dict:
        return [Problem("$", "object", actual_text(case))]
    problems: list[Problem] = []
    _check(problems, "", case, _HEADER)
    return problems


def body_problems(case: dict[str, Any]) -> list[Problem]:
    """Return what is wrong with the rest of *case*, whose header is in order."""
    problems: list[Problem] = []
    _check(problems, "", case, _LINKS)
    given = case.get("input", MISSING)
    if _is(problems, "input", given):
        _check(problems, "input.", given, _SOURCE)
        _equal(problems, "input.toolName", given.get("toolName", MISSING), case["toolName"])
        _check(problems, "input.", given, _ARGS)
        feedback = given.get("feedback", MISSING)
        if feedback is not MISSING and _is(problems, "input.feedback", feedback):
            if "label" in feedback:
                _equal(problems, "input.feedback.label", feedback["label"], case["label"])
            _check(problems, "input.feedback.", feedback, _FEEDBACK)
    expected = case.get("expected", MISSING)
    if _is(problems, "expected", expected):
        _check(problems, "expected.", expected, _EXPECTED)
    context = case.get("context", MISSING)
    if _is(problems, "context", context) and "toolCall" in context:
        call = context["toolCall"]
        if _is(problems, "context.toolCall", call):
            _check(problems, "context.toolCall.", call, _TOOL_CALL)
    _check(problems, "", case, _STAMPS)
    return problems


def actual_text(value: Any) -> str:
    """Return how a value that is not as wanted is shown: text as it is, everything else as compact JSON.

    >>> actual_text("a b"), actual_text({"a": 1.0}), actual_text(None), actual_text(MISSING)
    ('a b', '{"a":1}', 'null', 'missing')
    """
    if value is MISSING:
        return "missing"
    return value if isinstance(value, str) else js_text.compact(value)


# -- the rules -------------------------------------------------------------------------------------------


def _check(problems: list[Problem], prefix: str, held: dict[str, Any], fields: tuple[Field, ...]) -> None:
    for key, need, expected, fits in fields:
        value = held.get(key, MISSING)
        if not (fits(value) or (value is MISSING and need is OPTIONAL)):
            problems.append(Problem(prefix + key, expected, actual_text(value)))


def _is(problems: list[Problem], path: str, value: Any) -> bool:
    if type(value) is dict:
        return True
    problems.append(Problem(path, "object", actual_text(value)))
    return False


def _equal(problems: list[Problem], path: str, value: Any, wanted: str) -> None:
    if value != wanted:
        problems.append(Problem(path, wanted, actual_text(value)))


def _count_or_null(value: Any) -> bool:
    return value is None or is_count(value)


def _integer_or_null(value: Any) -> bool:
    return value is None or js_text.is_integer(value)


def _object_or_null(value: Any) -> bool:
    return value is None or type(value) is dict


def _text_or_null(value: Any) -> bool:
    return value is None or type(value) is str


def _texts(value: Any) -> bool:
    return type(value) is list and all(type(held) is str for held in value)


def _boolean(value: Any) -> bool:
    return type(value) is bool


def _there(value: Any) -> bool:
    return value is not MISSING


def _one_of(*choices: str) -> Callable[[Any], bool]:
    return lambda value: type(value) is str and value in choices


REQUIRED, OPTIONAL = "required", "optional"  # an optional key may be left out; null is no way to leave it out
Field = tuple[str, str, str, Callable[[Any], bool]]  # key, need, what is expected in words, what fits

_HEADER: tuple[Field, ...] = (
    ("recordType", REQUIRED, RECORD_TYPE, _one_of(RECORD_TYPE)),
    ("id", REQUIRED, "positive integer", is_count),
    ("source", REQUIRED, SOURCE, _one_of(SOURCE)),
    ("toolName", REQUIRED, "non-empty string", is_text),
    ("label", REQUIRED, " | ".join(LABELS), _one_of(*LABELS)),
    ("title", REQUIRED, "non-empty string", is_text),
    ("status", REQUIRED, " | ".join(STATUSES), _one_of(*STATUSES)),
)
_LINKS: tuple[Field, ...] = (
    ("proposalId", REQUIRED, "positive integer or null", _count_or_null),
    ("toolCallId", REQUIRED, "positive integer or null", _count_or_null),
)
_SOURCE: tuple[Field, ...] = (("source", OPTIONAL, "non-empty string", is_text),)
_ARGS: tuple[Field, ...] = (("args", REQUIRED, "object or null", _object_or_null),)
_FEEDBACK: tuple[Field, ...] = (("note", OPTIONAL, "string or null", _text_or_null),)
_EXPECTED: tuple[Field, ...] = (
    ("behavior", REQUIRED, "non-empty string", is_text),
    ("actionItems", OPTIONAL, "string array", _texts),
    ("proposalKind", OPTIONAL, "non-empty string", is_text),
)
_TOOL_CALL: tuple[Field, ...] = (
    ("result", REQUIRED, "present", _there),
    ("error", REQUIRED, "boolean", _boolean),
    ("cycle", OPTIONAL, "integer", js_text.is_integer),
    ("toolCallIndex", OPTIONAL, "integer", js_text.is_integer),
    ("latencyMs", OPTIONAL, "integer or null", _integer_or_null),
)
_STAMPS: tuple[Field, ...] = (
    ("createdByAdminId", REQUIRED, "positive integer or null", _count_or_null),
    ("createdAt", REQUIRED, "positive integer epoch seconds", is_count),
    ("updatedAt", REQUIRED, "positive integer epoch seconds", is_count),
)
