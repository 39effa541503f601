"""What reviewers say of a call, with what this reviewer said a moment ago and the database does not know yet."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from quality_lab.answers import visible
from quality_lab.answers.pretty import pretty
from quality_lab.errors import StoreError
from quality_lab.jupyter.call_card import stamp
from quality_lab.labels import judgement
from quality_lab.people import read_people
from quality_lab.records import Feedback

if TYPE_CHECKING:
    from quality_lab.lab import Lab
    from quality_lab.lab.reviewing import Said

_JOURNAL = "journal"


class Voices:
    """Everybody's labels on calls, as one reviewer may see them.

    Reviewing is blind: what others say of a call is told once the reviewer has said something, because a
    label that was seen is no second opinion, and agreement would be measured too high.
    """

    def __init__(
        self, lab: Lab, reviewer: str, *, blind: bool, afresh: Collection[str] = frozenset()
    ) -> None:
        """Keep whose eyes these are; calls to be labelled *afresh* are so whatever was said before.

        Raises: InputError where the home's `people.toml` cannot be read.
        """
        self._lab = lab
        self._people = read_people(lab.home)
        self._me = self._people.name(reviewer)  # ids that have one name are one person
        self._afresh = afresh
        self._said_here: set[str] = set()  # ids of lines
        self._blind = blind
        self._not_in_lab: dict[str, Feedback] = {}  # by id of the line
        self._taken_back: set[str] = set()
        self._read: dict[str, list[Feedback]] = {}  # as the database had it when it was asked last

    def heard(self, said: Said) -> None:
        """Remember a line that was written, until the database has it."""
        line = said.line
        if line.get("record_type") == "retraction":
            self._taken_back.add(str(line["retracts"]))
            self._not_in_lab.pop(str(line["retracts"]), None)
            return
        self._said_here.add(str(line["id"]))
        if not said.in_lab:
            self._not_in_lab[str(line["id"])] = _feedback(line)

    def of(self, call_uid: str) -> dict[str, Any]:
        """Return as JSON what is said of a call: one's own word, those of others, what it comes to.

        `others` is null where they are not to be seen yet. While the database cannot be asked, it is what it was when
        it was asked last, and what was written since.
        """
        rows = self._rows(call_uid)
        own = self._own(rows, call_uid)
        seen = not self._blind or own is not None
        others = [row for row in _current(rows) if not self._is_mine(row)]
        settled = [row for row in rows if row.adjudication]
        verdict = judgement(rows)
        return {
            "own": None if own is None else self._word(own),
            "others": [self._word(row) for row in others] if seen else None,
            "settled": self._word(max(settled, key=_age)) if settled and seen else None,
            "label": verdict.label if seen else None,
            "disputed": verdict.disputed and seen,
        }

    def own_line(self, call_uid: str) -> str | None:
        """Return the id of the journal's line with the reviewer's own label of a call, where there is one."""
        own = self._own(self._rows(call_uid), call_uid)
        return own.key if own is not None and own.key_space == _JOURNAL else None

    def _own(self, rows: Iterable[Feedback], call_uid: str) -> Feedback | None:
        """Return the reviewer's own label among *rows*: the latest that settles nothing."""
        mine = [row for row in rows if self._is_mine(row) and not row.adjudication]
        if call_uid in self._afresh:
            mine = [row for row in mine if row.key in self._said_here]
        return max(mine, key=_age, default=None)

    def _is_mine(self, row: Feedback) -> bool:
        return row.author is not None and self._people.name(row.author) == self._me

    def _word(self, row: Feedback) -> dict[str, Any]:
        expected = (
            "" if row.expected_arguments is None else visible(pretty(row.expected_arguments), keep="\n")
        )
        return {
            "who": visible("somebody" if row.author is None else self._people.name(row.author)),
            "label": row.label,
            "note": visible(row.note or "", keep="\n\t"),
            "expected_tool": visible(row.expected_tool or ""),
            "expected_arguments": expected,
            "at": stamp(row.created_at),
        }

    def _rows(self, call_uid: str) -> list[Feedback]:
        from quality_lab.metrics.call_feedback import call_feedback

        try:
            rows = call_feedback(self._lab.store, call_uid) if self._lab.store.exists() else []
            self._read[call_uid] = rows
        except StoreError:  # what was just written must not look as if it were not
            rows = self._read.get(call_uid, [])
        known = {row.key for row in rows if row.key_space == _JOURNAL}
        for key in known & self._not_in_lab.keys():
            del self._not_in_lab[key]
        rows = rows + [row for row in self._not_in_lab.values() if row.call_key == call_uid]
        return [
            row
            for row in rows
            if row.author_kind == "HUMAN"
            and row.label is not None
            and not (row.key_space == _JOURNAL and row.key in self._taken_back)
        ]


def _current(rows: Iterable[Feedback]) -> list[Feedback]:
    """Return each reviewer's latest label, oldest first; unnamed ones each stand for themselves."""
    plain = sorted((row for row in rows if not row.adjudication), key=_age)
    latest = {row.author if row.author is not None else (row.key_space, row.key): row for row in plain}
    return sorted(latest.values(), key=_age)


def _age(row: Feedback) -> tuple[datetime, int, str]:
    return (row.created_at or datetime.min.replace(tzinfo=UTC), len(row.key), row.key)


def _feedback(line: dict[str, Any]) -> Feedback:
    """Return a line of the journal as the feedback that the next load makes of it."""
    return Feedback(
        key_space=_JOURNAL,
        key=str(line["id"]),
        target_level="call",
        target_key_space="call_uid",
        conversation_id=None,
        call_key=str(line["call"]["call_uid"]),
        label=line["label"],
        author=line.get("author"),
        note=line.get("note"),
        created_at=datetime.fromisoformat(line["created_at"]),
        expected_tool=line.get("expected_tool"),
        expected_arguments=line.get("expected_arguments"),
        adjudication=bool(line.get("adjudication")),
    )
