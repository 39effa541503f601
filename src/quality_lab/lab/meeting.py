"""A review meeting: the agenda that was prepared for it, and the minutes that are written after it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quality_lab.errors import UnknownName
from quality_lab.lab.following import Following
from quality_lab.whole_files import write_whole

if TYPE_CHECKING:
    from quality_lab.reports.coach_review.minutes import Minutes

_PREPARE = "`quality-lab report coach-review` prepares one"


@dataclass(frozen=True, slots=True)
class Meeting:
    """A meeting that was prepared: where its agenda lies, and what is on it."""

    folder: Path
    agenda: Mapping[str, Any]  # as it was frozen
    skipped: tuple[tuple[str, str], ...] = ()  # newer runs that no meeting is held on, and why

    @property
    def proposals(self) -> list[str]:
        """Return the proposals to decide on, in the agenda's order: `decide(lab, meeting.proposals)`."""
        parts = (*self.agenda.get("decisions", []), *self.agenda.get("groups", []))
        return list(dict.fromkeys(str(one["id"]) for one in parts))

    @property
    def disputed(self) -> list[str]:
        """Return the calls that reviewers disagree on: `review(lab, meeting.disputed, blind=False)`."""
        return [str(one["call_uid"]) for one in self.agenda.get("disputes", [])]

    def _repr_html_(self) -> str:
        from quality_lab.reports.blocks import items, join, paragraph, tag

        places = [self.folder / name for name in ("report.html", "slides.html")]
        links = join((tag("a", str(place), href=place.absolute().as_uri()) for place in places), ", ")
        shown = [f"{one['title']} ({one['standing']})" for one in self.agenda.get("groups", [])]
        return str(tag("div", paragraph(str(self), " ", links), items(shown) if shown else None, class_="ql"))

    def __str__(self) -> str:
        """Return what is on the agenda, in a sentence."""
        decisions, groups, disputes = (
            len(self.agenda.get(part, [])) for part in ("decisions", "groups", "disputes")
        )
        return (
            f"Prepared {self.agenda['prepared_at']}: {decisions} decisions to follow up, {groups} groups to decide on, "
            f"{disputes} disputes.{f' {self.notice}' if self.skipped else ''}"
        )

    @property
    def notice(self) -> str | None:
        """Return which run was taken, where newer ones were passed over; None where none was."""
        if not self.skipped:
            return None
        passed = "; ".join(f"{name}: {why}" for name, why in self.skipped)
        return f"Taken is {self.folder.name}; newer ones are empty or failed ({passed})."


@dataclass(frozen=True, slots=True)
class ClosedMeeting:
    """A meeting that is over, and where its minutes lie."""

    folder: Path
    minutes: Minutes
    notice: str | None = None  # which run was taken, where newer ones were passed over

    @property
    def html(self) -> Path:
        """Return the page for people."""
        return self.folder / "minutes.html"

    @property
    def markdown(self) -> Path:
        """Return the same for a chat or a merge request."""
        return self.folder / "minutes.md"

    @property
    def git(self) -> str | None:
        """Return the command that keeps the journal; nothing here ever runs it. `minutes.no_git` says why not."""
        return self.minutes.git

    def _repr_html_(self) -> str:
        from quality_lab.reports.blocks import Piece
        from quality_lab.reports.coach_review.minutes_page import content

        return Piece(content(self.minutes))._repr_html_()

    def __str__(self) -> str:
        """Return how much was said."""
        return f"{self.minutes.title}: {self.minutes.counts()}"


class Meetings(Following):
    """The part of a lab that goes from an agenda to minutes."""

    def meeting(self, folder: Path | str | None = None) -> Meeting:
        """Return the meeting whose agenda lies in *folder*: a run below reports/ or a path; None is the newest.

        The newest is that of a run which went through and had calls in its window; `notice` names those passed over.

        >>> import quality_lab as ql
        >>> ql.open_demo().meeting()
        Traceback (most recent call last):
        quality_lab.errors.UnknownName: ...no agenda...; `quality-lab report coach-review` prepares one

        Raises: UnknownName where no agenda lies there.
        """
        from quality_lab.reports.attached import AGENDA, read_agenda

        place, skipped = self._agenda_folder(folder)
        try:
            text = (place / AGENDA).read_text(encoding="utf-8")
        except OSError:
            raise UnknownName(f"there is no agenda in {place}; {_PREPARE}") from None
        return Meeting(place, read_agenda(text, where=str(place / AGENDA)), skipped)

    def close_meeting(
        self, folder: Path | str | None = None, *, mask: bool = True, now: datetime | None = None
    ) -> ClosedMeeting:
        """Return the closed meeting: its minutes, written beside its agenda as Markdown, HTML and JSON.

        The minutes are what the journal's lines since the agenda say: labels given, disputes settled, decisions
        with who, owner, due day and expectation, cases made; what was taken back is left out. Closing again
        writes them again, up to *now*. The git command that keeps the journal is shown where it would do something,
        never run. Secrets and payment data are shown as stand-ins unless *mask* is False.

        Raises: UnknownName where no agenda lies there, OutputError.
        """
        from quality_lab.masking import Masker
        from quality_lab.people import read_people
        from quality_lab.proposals import proposals
        from quality_lab.reports.coach_review.minutes import minutes
        from quality_lab.reports.coach_review.minutes_page import document, markdown, page
        from quality_lab.reports.shelf import write_index

        found = self.meeting(folder)
        told = minutes(
            self.store,
            self.journal,
            found.agenda,
            groups=proposals(self.store, top=None) if self.store.exists() else (),
            people=read_people(self.home),
            masker=Masker(self.home) if mask else None,
            now=now or datetime.now(UTC),
        )
        files = {
            "minutes.md": markdown(told),
            "minutes.html": page(told),
            "minutes.json": json.dumps(document(told), indent=2, ensure_ascii=False) + "\n",
        }
        for name, content in files.items():
            write_whole(found.folder / name, content, errors="backslashreplace")
        if (found.folder.parent / "index.html").exists():  # a shelf, whose list links to the minutes
            write_index(found.folder.parent)
        return ClosedMeeting(found.folder, told, found.notice)

    def _agenda_folder(self, folder: Path | str | None) -> tuple[Path, tuple[tuple[str, str], ...]]:
        """Return where the agenda lies, and which newer runs were passed over, with why."""
        from quality_lab.reports.coach_review.agendas import prepared

        shelf = self.home / "reports"
        if folder is not None:
            named = shelf / str(folder)
            return named if named.is_dir() else Path(folder), ()
        skipped: list[tuple[str, str]] = []
        for one in prepared(shelf):
            if one.why_not is None:
                return one.folder, tuple(skipped)
            skipped.append((one.folder.name, one.why_not))
        empty = "".join(f"; {name} is passed over: {why}" for name, why in skipped)
        raise UnknownName(
            f"there is no agenda below {shelf} that a meeting can be held on; {_PREPARE}{empty}"
        )
