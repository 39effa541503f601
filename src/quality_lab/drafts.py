"""Rules drafted from a label: what a case would demand if nobody said more than the reviewer did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def draft_rules(
    label: str,
    tool: str,
    *,
    args: Any = None,
    expected_tool: str | None = None,
    expected_args: Mapping[str, Any] | None = None,
    corrected: Sequence[Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return the keys that a case's ``expected`` would get; empty where the label says too little.

    *args* are those that were wrong. Where a person wrote down the *corrected* calls, those are demanded.

    >>> draft_rules("wrong_tool", "refund", expected_tool="get_order")
    {'forbidden': [{'tool': 'refund'}], 'calls': [{'tool': 'get_order'}]}
    >>> draft_rules("bad_args", "pay", args={"sum": 5})
    {'forbidden': [{'tool': 'pay', 'args': {'sum': 5}, 'args_mode': 'exact'}]}
    """
    rules: dict[str, Any] = {}
    if label == "wrong_tool" and not any(call.get("tool") == tool for call in corrected or ()):
        rules["forbidden"] = [{"tool": tool}]
    if corrected:
        return {**rules, "calls": [_wish(call["tool"], call.get("args")) for call in corrected]}
    if label in ("wrong_tool", "missing_tool") and expected_tool:
        return {**rules, "calls": [_wish(expected_tool, expected_args)]}
    if label == "bad_args" and expected_args is not None:
        return {"calls": [_wish(tool, expected_args)]}
    if label == "bad_args" and isinstance(args, Mapping):
        return {"forbidden": [{**_wish(tool, args), "args_mode": "exact"}]}
    return rules


def _wish(tool: str, args: Any) -> dict[str, Any]:
    if not isinstance(args, Mapping):
        return {"tool": tool}
    return {"tool": tool, "args": {key: as_rule(value) for key, value in args.items()}}


def as_rule(value: Any) -> Any:
    """Return the rule that demands *value*: itself, with objects that look like a rule marked as none.

    >>> as_rule({"filter": {"$gt": 5}})
    {'filter': {'$literal': {'$gt': 5}}}
    """
    if isinstance(value, Mapping):
        if any(key.startswith("$") for key in value):
            return {"$literal": value}
        return {key: as_rule(each) for key, each in value.items()}
    return [as_rule(each) for each in value] if isinstance(value, list) else value
