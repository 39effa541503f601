"""Calls and labels as JSON lines: upstream's own records, or ours with everything that the lab knows."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Literal

from quality_lab.errors import OutputError, UsageError
from quality_lab.records import DEFAULT_TENANT
from quality_lab.store import Store

Noun = Literal["calls", "feedback"]
Row = dict[str, Any]

_WHOLE = re.compile(r"-?\d+")
_BLANKS = re.compile(r'("(?:[^"\\]|\\.)*")|\s+')  # outside strings


@dataclass(frozen=True, kw_only=True, slots=True)
class Exported:
    """What an export wrote, and what it had to leave out."""

    path: Path | None  # None is standard output
    rows: int
    left_out: int  # rows of the tenant that the record cannot hold, such as those that upstream never had

    def left_out_words(self, noun: str) -> str:
        """Return what was left out, in words."""
        return (
            f"{self.left_out:,} {noun} that this record cannot hold are left out"
            if self.left_out
            else "all there are"
        )


def export_lines(
    store: Store, noun: Noun, path: Path | str, *, compat: bool = False, tenant: str | None = None
) -> Exported:
    """Return what was written to *path* ("-" is standard output), a record a line, the newest first.

    With *compat* the lines are upstream's, key for key in its order, and hold what came from upstream alone;
    without it they hold whatever the lab knows of any format, and load back as it was. The file is there
    whole or not at all.

    Raises: UsageError where several tenants have data and none is named, OutputError where *path* cannot be
    written.
    """
    from quality_lab.store.taking_out import calls_to_export, feedback_to_export, holdings

    held = holdings(store)
    owner = owner_of_lines(list(held), tenant)
    if noun == "calls":
        rows = calls_to_export(store, tenant=owner, upstream=compat)
        lines = map(_upstream_call if compat else _own_call, rows)
    else:
        rows = feedback_to_export(store, tenant=owner, upstream=compat)
        lines = map(_upstream_feedback if compat else _own_feedback, rows)
    written = write_lines(lines, path)
    left_out = held.get(owner, {}).get(noun, 0) - written
    return Exported(path=None if str(path) == "-" else Path(path), rows=written, left_out=left_out)


def owner_of_lines(known: list[str], named: str | None) -> str:
    """Return whose lines are written: the tenant *named*, else the only one *known*.

    Raises: UsageError where several are known and none is named.
    """
    if named is not None:
        return named
    if len(known) > 1:
        raise UsageError(
            f"a line cannot say whose it is, and there are {', '.join(known)}: name one with --tenant"
        )
    return known[0] if known else DEFAULT_TENANT


def write_lines(lines: Iterator[str], path: Path | str) -> int:
    """Return how many *lines* were written to *path* ("-" is standard output), which is whole or not there.

    Raises: OutputError.
    """
    if str(path) == "-":
        return _write_lines(lines, sys.stdout)
    target = Path(path)
    if target.is_dir():
        raise OutputError(f"cannot write {target}: it is a folder")
    draft = target.with_name(f".{target.name}-{os.getpid()}")
    try:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            count = _write_lines(lines, file)
        draft.replace(target)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):  # one that could not be made, or is in its place by now
            draft.unlink()
    return count


def _write_lines(lines: Iterator[str], file: IO[str]) -> int:
    count = 0
    for line in lines:
        file.write(f"{line}\n")
        count += 1
    return count


# ---- upstream's records, in upstream's order of keys ----


def _upstream_call(row: Row) -> str:
    return _object(
        id=_whole(row["key"]),
        conversationId=_whole(row["conversation_id"]),
        **_upstream_ids(row, ""),
        **_upstream_what(row, ""),
        createdAt=_epoch_s(row["created_at"]),
    )


def _upstream_feedback(row: Row) -> str:
    return _object(
        id=_whole(row["key"]),
        toolCallId=_whole(row["call_key"]),
        adminId=_whole(row["author"]),
        label=json.dumps(row["label_raw"] or row["label"], ensure_ascii=False),
        note=_text(row["note"]),
        feedbackCreatedAt=_epoch_s(row["created_at"]),
        conversationId=_whole(row["call_conversation_id"]),
        **_upstream_ids(row, "call_"),
        **_upstream_what(row, "call_"),
        toolCallCreatedAt=_epoch_s(row["call_created_at"]),
    )


def _upstream_ids(row: Row, of: str) -> dict[str, str]:
    return {
        "contactId": _whole(row[f"{of}contact_id"]),
        "messageId": _whole(row[f"{of}message_id"]),
        "outboundQueueId": _whole(row[f"{of}outbound_id"]),
    }


def _upstream_what(row: Row, of: str) -> dict[str, str]:
    arguments = row[f"{of}arguments"]
    as_text = row[f"{of}arguments_state"] == "json_string"  # they came as a text that holds JSON
    return {
        "source": _text(row[f"{of}source"]),
        "toolName": _text(row[f"{of}tool_name"]),
        "args": _text(arguments) if as_text else _json(arguments),
        "result": _json(row[f"{of}result"]),
        "error": _flag(bool(row[f"{of}is_error"])),
        "cycle": str(row[f"{of}cycle"]),
        "toolCallIndex": str(row[f"{of}call_index"]),
        "latencyMs": _number(row[f"{of}latency_ms"]),
    }


# ---- our own records: every column that is known ----

_JSON_COLUMNS = frozenset({"arguments", "result", "score", "expected_arguments"})
_OWN_FEEDBACK = (
    *("key_space", "key", "target_level", "turn", "name", "label", "label_raw", "score", "author_kind"),
    *("author", "note", "created_at", "guide_version", "expected_tool", "expected_arguments"),
    *("adjudication", "source", "tool_name", "target_key_space", "conversation_id", "call_key"),
)
_DERIVED = frozenset(
    {"tenant", "outcome", "gate_reason", "empty_result", "in_trace", "in_feedback", "in_case"}
)


def _own_call(row: Row) -> str:
    seen = [name for name in ("trace", "feedback", "case") if row[f"in_{name}"]]
    known = {
        name: _own(name, value) for name, value in row.items() if value is not None and name not in _DERIVED
    }
    if row["outcome"] == "rejected":
        known["person_refused"] = "true"
    return _object(record_type='"tool_call"', **known, seen_in=json.dumps(seen))


def _own_feedback(row: Row) -> str:
    known = {name: _own(name, row[name]) for name in _OWN_FEEDBACK if row[name] is not None}
    return _object(record_type='"feedback"', **known)


def _own(name: str, value: Any) -> str:
    if name in _JSON_COLUMNS:  # as it was written, unless that were several lines
        return _json(value) if "\n" in value or "\r" in value else str(value)
    if isinstance(value, datetime):
        return _text(value.replace(tzinfo=UTC).isoformat().replace("+00:00", "Z"))
    if isinstance(value, bool):
        return _flag(value)
    return _number(value) if isinstance(value, (int, float)) else _text(str(value))


# ---- pieces of JSON text ----


def _object(**pieces: str) -> str:
    """Return a compact JSON object of values that are JSON text already, so that none of them is changed."""
    return "{" + ",".join(f'"{name}":{piece}' for name, piece in pieces.items()) + "}"


def _json(text: str | None) -> str:
    if text is None:
        return "null"
    return _BLANKS.sub(r"\1", text)


def _text(value: str | None) -> str:
    return "null" if value is None else json.dumps(value, ensure_ascii=False)


def _whole(value: str | None) -> str:
    """Return an id of upstream's as the number it is."""
    return value if value is not None and _WHOLE.fullmatch(value) else _text(value)


def _number(value: float | None) -> str:
    if value is None:
        return "null"
    return str(int(value)) if value == int(value) else repr(value)


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _epoch_s(moment: datetime | None) -> str:
    return "null" if moment is None else str(int(moment.replace(tzinfo=UTC).timestamp()))
