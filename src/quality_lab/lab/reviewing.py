"""What people say in a lab: a label on a call, a word that settles a dispute, and taking either back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quality_lab.errors import StoreBusy, UsageError
from quality_lab.journal import Journal
from quality_lab.json_text import JsonTextError, compact, parse
from quality_lab.lab.authors import author_of, ids_of_person, reviewer_name
from quality_lab.labels import FIVE, fold_label
from quality_lab.records import DEFAULT_TENANT

if TYPE_CHECKING:
    from quality_lab.store import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A line that was written to the journal, and whether the lab knows it already."""

    line: dict[str, Any]  # as it stands in the journal
    in_lab: bool  # False: the line is safe, and the next load brings it
    notice: str | None = None

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(str(self))}</p>"

    def __str__(self) -> str:
        """Return a sentence on what was written, and what is to be told beside it."""
        kind = (
            self.line.get("label") or self.line.get("action") or f"retraction of {self.line.get('retracts')}"
        )
        beside = f"; {self.notice}" if self.notice else ""
        return f"{kind}, by {self.line.get('author')}: line {self.line['id']} of the journal{beside}"


class Reviewing:
    """The part of a lab that writes to the journal."""

    home: Path
    store: Store

    @property
    def journal(self) -> Journal:
        """Return the journal of this home, `data/journal`; its lines go into git as they are."""
        return Journal(self.home / "data" / "journal")

    def label(
        self,
        call_uid: str,
        label: str,
        *,
        note: str | None = None,
        reviewer: str | None = None,
        expected_tool: str | None = None,
        expected_arguments: str | Mapping[str, Any] | None = None,
        guide_version: str | None = None,
        tenant: str | None = None,
        blind: bool = True,
    ) -> Said:
        """Return the journal line that says *label* of a call; the lab counts it at once.

        The beginning of the uid is enough where no other begins so. A whole uid that is not here yet is taken
        too: the label finds its call when that is loaded. Who knows the *tenant* beside a whole uid is heard
        while another process holds the database, too: the line is written, and `in_lab` is False until the
        next load. *reviewer* is git's `user.name` if nobody is named; a name of `people.toml` is written as its id.
        *expected_arguments* is an object, or JSON text whose numbers then stay as they are written. Not *blind* is
        a label given in sight of what others say of the call: its line notes `"blind": false`, for whoever asks how
        far reviewers agree (`agreement` counts it as any other).

        >>> import quality_lab as ql
        >>> lab = ql.open_demo()
        >>> one = lab.calls(tool="offer_booking_link")[0]
        >>> said = lab.label(one.call_uid, "good reply", reviewer="dana@example.com")
        >>> lab.calls(tool="offer_booking_link", label="good_reply")[0].call_uid == one.call_uid
        True
        >>> _ = lab.undo(said.line["id"], reviewer="dana@example.com")
        >>> len(lab.calls(tool="offer_booking_link", label="good_reply"))
        0

        Raises: UsageError for a label that is none of the five, arguments that are no JSON object or a call of
        another tenant, UnknownName for an unknown call, StoreBusy where the database is held and the call cannot
        be looked up (nothing is written then), OutputError where the journal cannot be written.
        """
        return self._say_of_call(
            call_uid,
            label,
            {
                "note": note,
                "expected_tool": expected_tool,
                "expected_arguments": _arguments(expected_arguments),
                "guide_version": guide_version,
                "blind": None if blind else False,
            },
            reviewer=reviewer,
            tenant=tenant,
        )

    def adjudicate(
        self,
        call_uid: str,
        label: str,
        *,
        note: str | None = None,
        reviewer: str | None = None,
        tenant: str | None = None,
    ) -> Said:
        """Return the journal line that settles what a call is; it wins over every reviewer's label.

        *tenant* is as in `label`. Raises: as `label` does.
        """
        more = {"note": note, "adjudication": True}
        return self._say_of_call(call_uid, label, more, reviewer=reviewer, tenant=tenant)

    def undo(self, line_id: str | None = None, *, reviewer: str | None = None) -> Said:
        """Return the journal line that takes a line back: the one called *line_id*, else the reviewer's last.

        Raises: UsageError where there is no such line, or it was taken back already.
        """
        author = author_of(self.home, reviewer)
        if line_id is None:
            who = reviewer or reviewer_name()
            latest = self.journal.latest(authors={author.id, *ids_of_person(self.home, who)})
            if latest is None:
                raise UsageError(f"the journal in {self.journal.folder} has no line by {who} to take back")
            line_id = str(latest["id"])
        return self._bring_in(self.journal.retract(line_id, author=author.id), author.notice)

    def _say_of_call(
        self, call_uid: str, label: str, more: Mapping[str, Any], *, reviewer: str | None, tenant: str | None
    ) -> Said:
        folded = fold_label(label)
        if folded is None:
            raise UsageError(f"wanted one of {', '.join(FIVE)}; came {label!r}")
        busy = None
        try:
            whole_uid, owner = self._whole_uid(call_uid, tenant)
        except StoreBusy as held:
            if tenant is None or (known := _dashed(call_uid)) is None:
                raise StoreBusy(
                    f"nothing was written, as the call cannot be looked up: {held}. With its whole uid and its "
                    "tenant a label is taken all the same"
                ) from held
            whole_uid, owner, busy = known, tenant, held
        entry = {
            "record_type": "label",
            "author_kind": "HUMAN",
            **of_tenant(owner),
            "call": {"call_uid": whole_uid},
        }
        given = {name: value for name, value in more.items() if value is not None}
        author = author_of(self.home, reviewer)
        line = self.journal.append("labels", {**entry, "label": folded, **given}, author=author.id)
        return self._bring_in(line, author.notice) if busy is None else _not_yet(line, busy, author.notice)

    def _whole_uid(self, call_uid: str, tenant: str | None) -> tuple[str, str]:
        """Return the whole uid of a call, and its tenant; of one that is not here yet *tenant* or the default."""
        from quality_lab.errors import UnknownName
        from quality_lab.metrics.call_place import call_place

        place = call_place(self.store, call_uid)
        if place is not None and tenant not in (None, place.tenant):
            raise UsageError(f"wanted a call of {tenant}; {place.call_uid} is one of {place.tenant}")
        if place is not None:
            return place.call_uid, place.tenant
        whole = _dashed(call_uid)
        if whole is None:
            raise UnknownName(f"wanted the uid of a call in this lab, came {call_uid!r}; `calls` lists them")
        return whole, tenant or DEFAULT_TENANT

    def _bring_in(self, line: dict[str, Any], notice: str | None = None) -> Said:
        try:
            self.store.load()
        except StoreBusy as busy:
            return _not_yet(line, busy, notice)
        return Said(line=line, in_lab=True, notice=notice)


def _not_yet(line: dict[str, Any], busy: StoreBusy, notice: str | None) -> Said:
    """Return that *line* is written, and that the database was *busy*; *notice* is told beside that."""
    said = f"the line is safe in the journal; the next load brings it: {busy}"
    return Said(line=line, in_lab=False, notice=said if notice is None else f"{notice}\n{said}")


def _dashed(call_uid: str) -> str | None:
    """Return a whole uid as answers show it; None where it is no whole one."""
    bare = call_uid.replace("-", "").lower()
    if len(bare) != 32 or not set(bare) <= set("0123456789abcdef"):
        return None
    return f"{bare[:8]}-{bare[8:12]}-{bare[12:16]}-{bare[16:20]}-{bare[20:]}"


def of_tenant(tenant: str) -> dict[str, str]:
    """Return what a line of the journal says of whose call, case or proposal it is about."""
    return {} if tenant == DEFAULT_TENANT else {"tenant": tenant}


def expected_object(given: str | Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return expected arguments, given as an object or as JSON text, as an object with exact numbers.

    Raises: UsageError where the text is no JSON object.
    """
    text = _arguments(given)
    found: Mapping[str, Any] | None = None if text is None else parse(text)
    return found


def _arguments(given: str | Mapping[str, Any] | None) -> str | None:
    """Return expected arguments as JSON text, which the journal carries as text so that no number changes."""
    if given is None:
        return None
    if not isinstance(given, str):
        return compact(dict(given))
    try:
        value = parse(given)
    except JsonTextError as error:
        raise UsageError(
            f"expected arguments: wanted a JSON object, came {given[:80]!r} ({error})"
        ) from error
    if not isinstance(value, dict):
        raise UsageError(f"expected arguments: wanted a JSON object, came {given[:80]!r}")
    return given
