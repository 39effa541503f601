"""The outcomes of the calls of one load: `outcomes.outcome_of`, asked once for all calls that look alike to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from quality_lab.formats.raw_fields import NEEDS_ESCAPE, raw_fields
from quality_lab.outcomes import NO_RESULT, OutcomeOverrides, fields_looked_at, outcome_of
from quality_lab.records import Outcome, ToolCall

Verdict = tuple[Outcome, str | None]

_MOST_DECIDED = 50_000  # combinations that are remembered
_MOST_CHARACTERS = 1_000  # of the values in one of them
_MOST_BRACKETS = 200  # the rule's own parser gives up on what is nested deeper still; so it has the say there
_BLANK = " \t\r\n"
_string = msgspec.json.Decoder(str).decode


def are_easily_found(overrides: OutcomeOverrides) -> bool:
    """Return whether a quick parser can be told all fields of a result that the rule and *overrides* look at."""
    return not any(map(NEEDS_ESCAPE.search, fields_looked_at(overrides)))


def parser_of(names: Sequence[str]) -> tuple[Callable[[Any], msgspec.Struct], msgspec.Struct]:
    """Return what finds the fields with these *names* in JSON objects, and what it finds where none of them stands.

    The fields come in the order of the names, each as it is written; `UNSET` stands for one that is not there.
    """
    fields, rename = raw_fields(names)
    looked_at = msgspec.defstruct("LookedAt", fields, rename=rename, gc=False)
    return msgspec.json.Decoder(looked_at).decode, looked_at()


class CallOutcomes:
    """Outcomes by the rule and the *overrides* of one load.

    A parser that is quick looks only for the few fields of a result that the rule looks at. Where it refuses a
    result, or where what it finds there is long or deeply nested, the rule looks at the whole result itself.
    """

    def __init__(self, overrides: OutcomeOverrides) -> None:
        """Keep the rule; nothing is known yet."""
        self._overrides = overrides
        self._decode: Callable[[str], msgspec.Struct] | None = None
        if are_easily_found(overrides):
            self._decode, self._none = parser_of(fields_looked_at(overrides))
        self._decided: dict[tuple[Any, ...], Verdict] = {}

    def of(self, call: ToolCall) -> Verdict:
        """Return the outcome of *call* and, where it is `gated`, the reason."""
        result, state = call.result, call.result_state
        values = () if result is None or state in NO_RESULT else self._values(result)
        if values is None:
            return outcome_of(call, overrides=self._overrides)
        facts = (call.tool_name, call.actor, call.person_refused, call.is_error, call.error_origin)
        known = (*facts, state, result is None, values)
        verdict = self._decided.get(known)
        if verdict is None:
            if len(self._decided) >= _MOST_DECIDED:
                self._decided.clear()
            verdict = self._decided[known] = outcome_of(call, overrides=self._overrides)
        return verdict

    def _values(self, text: str) -> tuple[bytes | None, ...] | None:
        """Return the fields of a result that the rule looks at, as they are written; none where none stands there.

        None where only the rule itself can tell.
        """
        if self._decode is None:
            return None
        try:
            if not text.startswith("{"):
                if text.startswith('"'):
                    text = _string(text)  # a result as text: the rule reads one level of it
                if not text.lstrip(_BLANK).startswith("{"):
                    return None if text[:1] in _BLANK else ()
            found = self._decode(text)
        except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
            return None
        if found == self._none:
            return ()
        values = [None if value is UNSET else bytes(value) for value in msgspec.structs.astuple(found)]
        held = b"".join(filter(None, values))
        if len(held) > _MOST_CHARACTERS or text.count("[") + text.count("{") > _MOST_BRACKETS:
            return None
        return tuple(values)
