"""Cases as rows: as they stand, as they were changed, and as they were frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from quality_lab.lab.reviewing import Said

if TYPE_CHECKING:
    from quality_lab.regressions.case_check import CaseCheck

Status = Literal["active", "archived", "all"]
Action = Literal["freeze", "edit", "archive", "restore"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseRow:
    """A regression case of the lab."""

    id: int = field(metadata={"unit": "text"})
    tenant: str = field(metadata={"compact": False})
    tool_name: str
    label: str
    proof: str = field(metadata={"help": "red: the case catches its fault, and gates"})
    status: str
    title: str
    recorded: str = field(metadata={"compact": False, "help": "the verdict on what was done"})
    corrected: str | None = field(metadata={"help": "the verdict on what should have been done"})
    reason: str | None = field(metadata={"compact": False, "help": "why it is not red, or what it catches"})
    call_uid: str | None = field(metadata={"compact": False})
    proposal_id: str | None = field(metadata={"compact": False})
    created_at: datetime | None = field(metadata={"compact": False})
    updated_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseEvent:
    """A line of the journal on a case."""

    at: str | None
    author: str | None
    action: str
    status: str | None
    title: str | None
    proof: str | None
    line_id: str = field(metadata={"help": "`undo` takes it back"})
    taken_back: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Frozen(Said):
    """A case as it was written to the journal, with its proof."""

    record: dict[str, Any]
    proof: str  # red, not_red, unprovable
    reasons: tuple[str, ...]  # why the recorded calls fail, or why nothing is proven
    corrected: str | None  # the verdict on what should have been done
    decision: str | None = None  # id of the line that says which proposal the case answers

    @property
    def id(self) -> int:
        """Return the id of the case."""
        number = self.record["id"]
        assert isinstance(number, int)  # every record that is written has one
        return number

    def __str__(self) -> str:
        """Return a sentence on the case and its proof."""
        why = f" ({self.reasons[0]})" if self.reasons else ""
        return f"case {self.id}, {self.record['title']}: {self.proof}{why}"


def checked(record: Mapping[str, Any]) -> CaseCheck:
    """Return what a case's rules say of its own recording."""
    from quality_lab.json_text import compact

    return checked_text(compact(record))


def checked_text(text: str) -> CaseCheck:
    """Return the same for a record that is JSON text."""
    from quality_lab.json_text import compact, parse
    from quality_lab.regressions.case_check import check_by_rules

    line = compact(parse(text)) if "\n" in text else text
    (found,) = check_by_rules([line.encode("utf-8", "surrogatepass")])
    return found


def later(record: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return *record* with a time of change that is later than before, so that it wins wherever both are."""
    last = before.get("updatedAt")
    now = int(datetime.now(UTC).timestamp())
    return {**record, "updatedAt": max(now, last + 1) if isinstance(last, int) else now}


def is_masked(record: Mapping[str, Any]) -> bool:
    """Return whether a record is to be masked again where it is written again."""
    provenance = record.get("provenance")
    return not isinstance(provenance, Mapping) or provenance.get("masked") is not False
