"""How a call ended: whether it failed, by which rule, and the result that a later record brings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from quality_lab.formats.mapping.rules import ErrorRule, Value
from quality_lab.formats.mapping.values import Place, text_of
from quality_lab.records import ErrorOrigin, ResultState, ToolCall


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The result of a call that stands in a record of its own, on its way to that call."""

    conversation_id: str
    call_id: str | None
    tool_name: str | None
    result: str | None
    result_state: ResultState
    is_error: bool | None
    error_origin: ErrorOrigin | None
    error_kind: str | None
    error_text: str | None
    ended_at: datetime | None
    latency_ms: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """What the error rules say of a call."""

    is_error: bool | None = None
    origin: ErrorOrigin | None = None
    kind: str | None = None
    text: str | None = None


_NO_ERROR, _NOT_KNOWN = Failure(is_error=False), Failure()


def failure(rules: tuple[ErrorRule, ...], text: Value | None, kind: Value | None, place: Place) -> Failure:
    """Return what the first rule that holds says; "no error" where none does and one of them could tell."""
    could_tell = False
    for rule in rules:
        holds = place.holds(rule.condition)
        could_tell = could_tell or holds is False
        if holds:
            words = next(text_of(place.found(rule.text or text)), None)
            return Failure(
                is_error=None if rule.origin == "text" else True,
                origin=rule.origin,
                kind=place.text(rule.kind or kind),
                text=words or place.text(text) or _own_words(rule, place),
            )
    return _NO_ERROR if could_tell else _NOT_KNOWN


def _own_words(rule: ErrorRule, place: Place) -> str | None:
    if rule.condition.verb not in ("nonempty", "starts_with", "contains"):
        return None
    return next(text_of(place.node(rule.condition.path)), None)


def length_ms(given: float | None, started: datetime | None, ended: datetime | None) -> float | None:
    """Return how long a call took: as *given*, else from its start to its end."""
    if given is not None or started is None or ended is None or ended < started:
        return given
    return (ended - started).total_seconds() * 1000


def answered(call: ToolCall, answer: Answer) -> ToolCall:
    """Return *call* with the result that *answer* brought."""
    return replace(
        call,
        result=answer.result if answer.result_state != "not_captured" else call.result,
        result_state=answer.result_state if answer.result_state != "not_captured" else call.result_state,
        is_error=answer.is_error if answer.error_origin or answer.is_error is not None else call.is_error,
        error_origin=answer.error_origin or call.error_origin,
        error_kind=answer.error_kind or call.error_kind,
        error_text=answer.error_text or call.error_text,
        latency_ms=length_ms(answer.latency_ms or call.latency_ms, call.created_at, answer.ended_at),
    )
