"""What a load says of itself: file by file, in total, and what the lab holds now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

_LOSSES = (
    *(
        "set_aside",
        "unknown_fields",
        "unmapped_labels",
        "not_understood",
        "merged_by",
        "merged_from",
        "missing",
    ),
    *("not_captured", "glued", "truncated_input"),
)
_WHERE_THEY_HAPPENED = (
    *(
        "set_aside",
        "merged_by",
        "merged_from",
        "missing",
        "not_captured",
        "glued",
        "truncated_input",
        "reason",
    ),
)

if TYPE_CHECKING:
    from quality_lab.answers import Answer
    from quality_lab.store.loss_rows import LossRow

FileStatus = Literal["loaded", "unchanged", "unrecognised", "failed"]


@dataclass(kw_only=True, slots=True)
class FileReport:
    """One file of a load. lines = loaded + updated + unchanged + merged + rejected + blank."""

    path: str  # as given
    format: str | None = None
    status: FileStatus = "loaded"
    lines: int = 0  # physical lines; objects where the file is not line by line
    loaded: int = 0  # brought something new
    updated: int = 0  # a newer version of a case or a proposal
    unchanged: int = 0  # nothing that was not here already
    merged: int = 0  # the same record, more complete
    rejected: int = 0  # kept in quarantine
    blank: int = 0
    forgotten: int = 0  # left out since somebody asked for it; part of `unchanged`
    set_aside: dict[str, int] = field(
        default_factory=dict
    )  # known and of no use here, by reason; part of `unchanged`
    unknown_fields: dict[str, int] = field(default_factory=dict)  # dotted path → times
    unmapped_labels: dict[str, int] = field(default_factory=dict)  # as they came → times
    not_understood: dict[str, int] = field(default_factory=dict)  # record types, span kinds → times
    merged_by: dict[str, int] = field(default_factory=dict)  # rule → records that were the same thing twice
    merged_from: dict[str, dict[str, int]] = field(
        default_factory=dict
    )  # tool_calls, messages → how many were written (before) and how many they are (after)
    missing: dict[str, int] = field(default_factory=dict)  # e.g. "call without result" → times
    not_captured: dict[str, int] = field(default_factory=dict)  # e.g. "result not_captured" → calls
    possibly_truncated: bool = False  # an upstream export with exactly 100, 200, 500 or 1,000 rows
    glued: int = 0  # objects that shared a line with another
    truncated_input: bool = False  # a compressed file that ends too early
    reason: str | None = None  # why it failed or was not recognised
    named: bool = True  # given by name, not found inside a folder

    def leave_out(self, lines: int, rejected: int) -> None:
        """Count *lines* that were read, so many of them *rejected*, as forgotten: they brought nothing."""
        self._forget("rejected", rejected)
        rest = lines - rejected
        for name in ("loaded", "merged", "updated"):
            rest -= self._forget(name, rest)

    def _forget(self, name: str, most: int) -> int:
        held: int = getattr(self, name)
        part = min(most, held)
        setattr(self, name, held - part)
        self.unchanged += part
        self.forgotten += part
        return part

    def to_json(self) -> dict[str, object]:
        """Return the entry of `load --json`; `glued`, `truncated_input` and the like only where they happened."""
        entry = asdict(self)
        for name in (*_WHERE_THEY_HAPPENED, "forgotten"):
            if not entry[name]:
                del entry[name]
        return entry


@dataclass(kw_only=True, slots=True, repr=False)
class LoadReport:
    """A whole load: its files, what it brought, and what the lab holds now. It shows itself in words."""

    files: list[FileReport]
    totals: dict[str, int]  # what this load brought
    store: dict[str, int]  # what the lab holds now
    seconds: float
    notices: Sequence[str] = ()

    def __repr__(self) -> str:
        """Return what a person needs to know of the load, as lines."""
        from quality_lab.store.load_words import load_lines

        return "\n".join(load_lines(self))

    def losses(self) -> Answer[LossRow]:
        """Return what the files of this load held and the lab does not: a row a field, a label, a rule of merging."""
        from quality_lab.store.loss_rows import loss_answer

        return loss_answer(one.to_json() for one in self.files)

    def _repr_html_(self) -> str:
        """Return the load as a notebook shows it: its words, then what was not understood."""
        from html import escape

        from quality_lab.answers import visible

        words = escape(visible(repr(self), keep="\n"))
        losses = self.losses()
        below = losses._repr_html_() if losses else "<p>Every line of every file was read and understood.</p>"
        return f'<pre style="white-space:pre-wrap">{words}</pre>{below}'

    def to_json(self) -> dict[str, object]:
        """Return the document of `load --json`."""
        return {
            "files": [one.to_json() for one in self.files],
            "totals": self.totals,
            "store": self.store,
            "seconds": round(self.seconds, 3),
            "notices": list(self.notices),
        }

    def exit_code(self, *, strict: bool = False) -> int:
        """Return 3 if a named path failed or was not recognised, 1 under *strict* with anything amiss, else 0."""
        lost = [one for one in self.files if one.status in ("failed", "unrecognised")]
        if any(one.named for one in lost):
            return 3
        return 1 if strict and (lost or any(one.rejected for one in self.files)) else 0


def unchanged_report(path: str, stored: Mapping[str, object], *, named: bool) -> FileReport:
    """Return the report of a file that was loaded before with the very same bytes."""
    lines, rejected, blank = (_whole(stored.get(name)) for name in ("lines", "rejected", "blank"))
    losses: dict[str, Any] = {name: stored[name] for name in _LOSSES if name in stored}
    return FileReport(
        path=path,
        format=str(stored.get("format")),
        status="unchanged",
        lines=lines,
        unchanged=lines - rejected - blank,
        rejected=rejected,
        blank=blank,
        possibly_truncated=bool(stored.get("possibly_truncated")),
        named=named,
        **losses,
    )


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
