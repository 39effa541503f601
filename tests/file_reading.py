"""Files written by a test and read through their format: what the tests of all formats share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from quality_lab import formats
from quality_lab.records import Feedback, Message, ReadNotes, Record, Reject, ToolCall


@dataclass
class Read:
    """A file that was read: its format's name, its units, and what was noted."""

    format: str
    units: list[formats.Unit]
    notes: ReadNotes = field(default_factory=ReadNotes)

    def of(self, kind: type[Record]) -> list[Any]:
        return [record for unit in self.units for record in unit.records if isinstance(record, kind)]

    @property
    def calls(self) -> list[ToolCall]:
        return self.of(ToolCall)

    @property
    def labels(self) -> list[Feedback]:
        return self.of(Feedback)

    @property
    def messages(self) -> list[Message]:
        return self.of(Message)

    @property
    def rejects(self) -> list[Reject]:
        return [reject for unit in self.units for reject in unit.rejects]

    @property
    def broken(self) -> list[tuple[int, str, str]]:
        """Line, path and reason of each reject."""
        return [(reject.line, reject.path, reject.reason) for reject in self.rejects]


def read(path: Path, *, name: str | None = None, **options: Any) -> Read:
    """Return what comes of the file at *path*, in the format called *name* or the one it is recognised as."""
    known = formats.by_name(name) if name else formats.recognise(path)
    found = Read(known.name, [])
    chosen = formats.ReadOptions(**options)
    found.units = list(formats.read(path, known, options=chosen, notes=found.notes, display_path=str(path)))
    return found


def lines(*records: Any) -> bytes:
    """Return *records* as JSON lines; bytes stay as they are."""
    texts = (one if isinstance(one, bytes) else json.dumps(one).encode() for one in records)
    return b"".join(text + b"\n" for text in texts)


def written(folder: Path, content: bytes | Iterable[Any], name: str = "export.jsonl") -> Path:
    """Return the path of a file with this content, or with these records as JSON lines."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else lines(*content))
    return path


def numbers() -> st.SearchStrategy[str]:
    """Numbers as they may be written: 25 digits, 22 places, exponents, negative nought."""
    whole = st.integers(min_value=-(10**25), max_value=10**25).map(str)
    places = st.text("0123456789", min_size=1, max_size=22)
    exponent = st.sampled_from(["", "e5", "E-7", "e+12"])
    return (
        whole
        | st.builds("{}.{}{}".format, whole, places, exponent)
        | st.sampled_from(["-0", "1e400", "-0.0"])
    )


def strings() -> st.SearchStrategy[str]:
    """Strings as they may be written: escapes, lone surrogates, NUL, raw characters beyond U+FFFF."""
    escapes = [
        "\\ud83d",
        "\\uDE00",
        "\\ud83d\\ude00",
        "\\u0000",
        "\\n",
        '\\"',
        "\\\\",
        "\\/",
        "\\u00e9",
        "\\\\ud83d",
    ]
    plain = st.characters(exclude_characters='"\\', min_codepoint=32, exclude_categories=["Cs"])
    return st.lists(st.sampled_from(escapes) | plain, max_size=6).map(
        lambda parts: '"' + "".join(parts) + '"'
    )


def json_texts() -> st.SearchStrategy[str]:
    """JSON texts of every kind, with blanks between tokens and keys that come twice."""
    blank = st.sampled_from(["", "", " ", "  "])

    def nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        keys = st.sampled_from(['"a"', '"a"', '"A"', '"error"', '"toolName"', '"\\ud83d"', '","', '""'])
        members = st.lists(st.builds("{}{}:{}{}".format, keys, blank, blank, inner), max_size=4)
        listed = st.lists(st.builds("{}{}{}".format, blank, inner, blank), max_size=4)
        return listed.map(lambda parts: f"[{','.join(parts)}]") | members.map(
            lambda parts: f"{{{', '.join(parts)}}}"
        )

    return st.recursive(
        st.sampled_from(["null", "true", "false"]) | numbers() | strings(), nested, max_leaves=10
    )
