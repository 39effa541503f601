"""The outcome of a call: what became of it, by one rule that every format and the store share.

First match wins:

1. a guard's row is no call at all: `guard`;
2. a person refused the call: `rejected`;
3. the format says that it failed (flag, exception, exit code, or its own text rule): `error`;
   then the overrides, which are data (`outcomes.toml`, or a file of the house's own);
4. the application said "not now" (verification, an operator, a stage or an approval is missing): `gated`,
   whatever `ok` says;
5. the result itself says no (a non-empty `error`, or `ok` false): `soft_error`;
6. there is no result, or it is pending or was not captured: `unknown`;
7. the format cannot say whether it failed: `unknown`; else `ok`.

A format *can say* when it sets `is_error`, or names an `error_origin`. A format whose only rule is a text
rule gives `error_origin="text"` to the calls it hits (with `is_error` None) and `is_error=False` to the
others.

Whoever has a million calls asks SQL for the few fields of each result that `fields_looked_at` names, and
`decide` once for every distinct combination; whoever has one call asks `outcome_of`. Both follow the same
rule.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args

from quality_lab.errors import InputError
from quality_lab.records import Outcome, ToolCall

NO_RESULT = frozenset({"absent", "pending", "not_captured"})
GATE_FLAGS = ("needsVerification", "needsOperator", "needsApproval", "approvalRequired")
GATE_REASONS = frozenset({"action_not_allowed_for_stage", "approval_required", "approval_missing"})
EMPTY_RESULTS = frozenset({"null", '""', "[]", "{}"})
_RULE_FIELDS = (*GATE_FLAGS, "reason", "error", "ok")
_CODE = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_HOLLOW = re.compile(r"([\[{])[ \t\r\n]+([\]}])")


@dataclass(frozen=True, kw_only=True, slots=True)
class Override:
    """A house's own word on results of one tool, or of every tool: this field, this value, this outcome."""

    outcome: Outcome
    field: str  # top-level key of the result
    tool: str | None = None  # None is every tool
    equals: Any = None  # a JSON scalar; None is "anything but null"

    def applies(self, tool_name: str, fields: Mapping[str, Any]) -> bool:
        """Say whether a result of *tool_name* with these *fields* is meant."""
        if self.tool is not None and self.tool != tool_name:
            return False
        value = fields.get(self.field)
        if self.equals is None:
            return value is not None
        return type(value) is type(self.equals) and bool(value == self.equals)


@dataclass(frozen=True, kw_only=True, slots=True)
class OutcomeOverrides:
    """Overrides in the order in which they are tried."""

    overrides: tuple[Override, ...] = ()

    def outcome(self, tool_name: str, fields: Mapping[str, Any]) -> Outcome | None:
        """Return the outcome that the first matching override gives, or None."""
        for override in self.overrides:
            if override.applies(tool_name, fields):
                return override.outcome
        return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Signals:
    """All that the rule looks at. *fields* are values of the result's top level, by name."""

    tool_name: str
    actor: str = "model"
    person_refused: bool = False
    is_error: bool | None = None
    error_origin: str | None = None
    result_state: str = "present"
    fields: Mapping[str, Any]


def outcome_of(call: ToolCall, *, overrides: OutcomeOverrides | None = None) -> tuple[Outcome, str | None]:
    """Return the outcome of *call* and, where it is `gated`, the reason: the result's own code, else the
    flag.

    >>> call = ToolCall(key_space="k", key="1", conversation_id="c", tool_name="pay", is_error=False,
    ...                 result='{"ok":false,"needsOperator":true,"reason":"action_not_allowed_for_stage"}')
    >>> outcome_of(call)
    ('gated', 'action_not_allowed_for_stage')
    """
    rules = shipped() if overrides is None else overrides
    return decide(signals(call, overrides=rules), overrides=rules)


def signals(call: ToolCall, *, overrides: OutcomeOverrides | None = None) -> Signals:
    """Return the few facts of *call* that the rule looks at."""
    wanted = fields_looked_at(shipped() if overrides is None else overrides)
    found = _top_level(call.result) if call.result_state not in NO_RESULT else {}
    return Signals(
        tool_name=call.tool_name,
        actor=call.actor,
        person_refused=call.person_refused,
        is_error=call.is_error,
        error_origin=call.error_origin,
        result_state="absent"
        if call.result is None and call.result_state == "present"
        else call.result_state,
        fields={name: found[name] for name in wanted if name in found},
    )


def decide(facts: Signals, *, overrides: OutcomeOverrides | None = None) -> tuple[Outcome, str | None]:
    """Return outcome and gate reason of a call with these *facts*."""
    if facts.actor == "guard":
        return "guard", None
    if facts.person_refused:
        return "rejected", None
    if facts.is_error or facts.error_origin is not None:
        return "error", None
    given = (shipped() if overrides is None else overrides).outcome(facts.tool_name, facts.fields)
    gate = _gate_reason(facts.fields)
    if given is not None:
        return given, gate if given == "gated" else None
    if gate is not None:
        return "gated", gate
    if not _is_hollow(facts.fields.get("error")) or facts.fields.get("ok") is False:
        return "soft_error", None
    if facts.result_state in NO_RESULT or facts.is_error is None:
        return "unknown", None
    return "ok", None


def fields_looked_at(overrides: OutcomeOverrides | None = None) -> tuple[str, ...]:
    """Return the top-level keys of a result that the rule and the *overrides* look at."""
    rules = shipped() if overrides is None else overrides
    return tuple(dict.fromkeys((*_RULE_FIELDS, *(override.field for override in rules.overrides))))


def is_empty(result_text: str | None) -> bool:
    """Say whether a result holds nothing: null, "", [] or {}, or a text that is one of these.

    A result that is not there is not empty.
    """
    if result_text is None or len(result_text) > 64:
        return False
    bare = result_text.strip()
    if _HOLLOW.sub(r"\1\2", bare) in EMPTY_RESULTS:
        return True
    if not bare.startswith('"'):
        return False
    inner = _parsed(result_text)  # chat formats carry every result as text
    return isinstance(inner, str) and _HOLLOW.sub(r"\1\2", inner.strip()) in EMPTY_RESULTS | {""}


@cache
def shipped() -> OutcomeOverrides:
    """Return the overrides that ship with the workbench: what upstream's own results mean."""
    return load_overrides(Path(__file__).with_name("outcomes.toml"))


def load_overrides(path: Path) -> OutcomeOverrides:
    """Return the overrides of a TOML file: `[[override]]` with field, outcome, and optionally tool and
    equals.

    Raises:
        InputError: the file cannot be read, or an entry is not such a table.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("override", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise InputError(f"{path}: outcome overrides cannot be read: {problem}") from problem
    if not isinstance(tables, list):
        raise InputError(f"{path}: wanted [[override]] tables, found {type(tables).__name__}")
    return OutcomeOverrides(
        overrides=tuple(_override(path, at, table) for at, table in enumerate(tables, start=1))
    )


def _override(path: Path, at: int, table: Any) -> Override:
    where = f"{path}: override {at}"
    if not isinstance(table, dict):
        raise InputError(f"{where}: wanted a table, found {table!r}")
    unknown = table.keys() - {"tool", "field", "equals", "outcome"}
    if unknown:
        raise InputError(f"{where}: unknown key {min(unknown)!r}; known are tool, field, equals, outcome")
    if not isinstance(table.get("field"), str) or not isinstance(table.get("tool", ""), str):
        raise InputError(f"{where}: field (and tool, where given) must be text")
    outcomes = [name for name in get_args(Outcome) if name != "guard"]
    if table.get("outcome") not in outcomes:
        raise InputError(f"{where}: outcome {table.get('outcome')!r} is none of {', '.join(outcomes)}")
    if not isinstance(table.get("equals"), bool | str | int | float | None):
        raise InputError(f"{where}: equals must be a boolean, a text or a number")
    equals = table.get("equals")
    if isinstance(equals, int) and not isinstance(equals, bool):
        equals = float(equals)
    return Override(outcome=table["outcome"], field=table["field"], tool=table.get("tool"), equals=equals)


_whole_as_float = json.JSONDecoder(parse_int=float)


def _gate_reason(fields: Mapping[str, Any]) -> str | None:
    """Return why the application said "not now", or None where it did not."""
    flag = next((name for name in GATE_FLAGS if fields.get(name) is True), None)
    reason = fields.get("reason")
    if isinstance(reason, str) and _CODE.fullmatch(reason) and (flag or reason in GATE_REASONS):
        return reason
    return flag


def _is_hollow(value: Any) -> bool:
    return value is None or value is False or value == 0 or value in ("", [], {})


def _top_level(result: str | None) -> Mapping[str, Any]:
    """Return the object that a result is, or that its text holds one level down; {} where there is none."""
    value = _parsed(result)
    if isinstance(value, str):
        value = _parsed(value)
    return value if isinstance(value, dict) else {}


def _parsed(text: str | None) -> Any:
    """Return the value of JSON *text*, numbers as floats (their size and sign is all that matters); None if
    none.
    """
    if text is None or not text.lstrip(" \t\r\n").startswith(("{", '"')):
        return None
    try:
        return _whole_as_float.decode(text)
    except (ValueError, RecursionError):
        return None  # not JSON, or nested beyond reason: the rule has nothing to look at
