"""A proposed map in words: what it would bring, the first records as they would load, what to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from quality_lab.answers.harmless import visible
from quality_lab.formats.mapping.preview import Preview, SuggestedMap
from quality_lab.records import Message, ToolCall

_COUNTS = ("records", "calls", "conversations", "messages", "labels", "errors", "errors_unknown", "rejected")
_NOTED = ("unknown_fields", "not_understood", "unmapped_labels", "missing")
_CALL_FIELDS = (
    *(
        "conversation_id",
        "turn",
        "cycle",
        "call_index",
        "tool_name",
        "arguments",
        "arguments_state",
        "result",
    ),
    *("result_state", "is_error", "error_origin", "error_text", "created_at", "latency_ms", "model"),
)
_LONGEST = 70
_MOST_NAMES = 12


def preview_lines(suggested: SuggestedMap) -> list[str]:
    """Return the lines that tell a person what a proposed map makes of its file."""
    seen = suggested.preview
    lines: list[str] = []
    if suggested.recognised_as is not None:
        lines.append(f"The file is recognised as {suggested.recognised_as}, and loads without a map.")
    beyond = "" if seen.whole else " (its beginning)"
    counts = [
        f"{seen.records:,} records{beyond}: {seen.calls:,} calls in {seen.conversations:,} conversations"
    ]
    counts += [
        f"{count:,} {name}" for name, count in (("messages", seen.messages), ("labels", seen.labels)) if count
    ]
    lines.append(f"{visible(suggested.file)}: {', '.join(counts)}")
    if seen.calls:
        unknown = (
            f", {seen.errors_unknown:,} of which nothing says whether they did" if seen.errors_unknown else ""
        )
        lines.append(f"  {seen.errors:,} calls failed{unknown}")
    lines += ["  The first calls:", *map(_call_line, seen.first_calls)] if seen.first_calls else []
    lines += (
        ["  The first messages:", *map(_message_line, seen.first_messages[:2])] if seen.first_messages else []
    )
    for words, noted in (
        ("fields that are not mapped", seen.unknown_fields),
        ("not understood", seen.not_understood),
        ("labels that are none of the five", seen.unmapped_labels),
        ("missing", seen.missing),
    ):
        lines += [f"  {words}: {_tally(noted)}"] if noted else []
    if seen.rejected:
        lines.append(f"  {seen.rejected:,} records cannot be read so; the first:")
        lines += [
            f"    line {one.line}, {visible(one.path or 'the whole')}: {visible(one.reason)}"
            for one in seen.first_rejects
        ]
    lines += [f"  Look at: {visible(words)}." for words in suggested.look_at]
    return lines


def next_steps(suggested: SuggestedMap) -> list[str]:
    """Return what to type next."""
    file = visible(suggested.file)
    return [
        f"Keep it: quality-lab load {file} --suggest-map > map.toml",
        f"Load it: quality-lab load {file} --map map.toml",
    ]


def preview_document(suggested: SuggestedMap) -> dict[str, Any]:
    """Return a proposed map and what it makes of its file, ready for JSON."""
    seen = suggested.preview
    counts: dict[str, Any] = {name: getattr(seen, name) for name in _COUNTS}
    return {
        "file": suggested.file,
        "recognised_as": suggested.recognised_as,
        "map": suggested.map,
        "look_at": list(suggested.look_at),
        "preview": {
            **counts,
            "whole_file": seen.whole,
            **{name: getattr(seen, name) for name in _NOTED},
            "first_calls": [
                {name: _plain(getattr(one, name)) for name in _CALL_FIELDS} for one in seen.first_calls
            ],
            "first_messages": [{"role": one.role, "text": one.text} for one in seen.first_messages],
            "first_labels": [{"label": one.label, "label_raw": one.label_raw} for one in seen.first_labels],
            "first_rejects": _rejects(seen),
        },
    }


def _rejects(seen: Preview) -> Sequence[Mapping[str, object]]:
    return [asdict(one) for one in seen.first_rejects]


def _plain(value: Any) -> Any:
    return value.isoformat().replace("+00:00", "Z") if hasattr(value, "isoformat") else value


def _call_line(call: ToolCall) -> str:
    place = "" if call.turn is None else f" turn {call.turn}"
    place += "" if call.cycle is None else f" cycle {call.cycle}"
    result = _short(call.result) if call.result is not None else call.result_state.replace("_", " ")
    arguments = _short(call.arguments or call.arguments_state)
    words = [
        f"    {_short(call.conversation_id)}{place}: {_short(call.tool_name)}({arguments})",
        f"→ {result}",
    ]
    if call.is_error or call.error_origin is not None:
        words.append(f"FAILED{': ' + _short(call.error_text) if call.error_text else ''}")
    if call.created_at is not None:
        words.append(f"at {_plain(call.created_at)}")
    if call.latency_ms is not None:
        words.append(f"{call.latency_ms:,.0f} ms")
    return " ".join(words)


def _message_line(message: Message) -> str:
    return f"    {_short(message.conversation_id)}: {_short(message.role)}: {_short(message.text or message.content)}"


def _short(text: str | None) -> str:
    shown = visible(text or "")
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"


def _tally(counts: Mapping[str, int]) -> str:
    shown = ", ".join(f"{visible(name)} ({times:,})" for name, times in list(counts.items())[:_MOST_NAMES])
    more = len(counts) - _MOST_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown
