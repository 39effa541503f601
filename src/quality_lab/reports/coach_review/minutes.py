"""What was said in a meeting: the lines that the journal holds since its agenda was frozen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from quality_lab.journal import Journal
from quality_lab.masking import Masker
from quality_lab.metrics.filters import Filters
from quality_lab.metrics.signs.reviews import ChosenCall, chosen_calls
from quality_lab.people import People
from quality_lab.proposals import Proposal
from quality_lab.proposals.decisions import STATE_AFTER
from quality_lab.proposals.followed import place_of
from quality_lab.reports.coach_review.keeping import keeping
from quality_lab.reports.findings.finding import counted
from quality_lab.reports.quality.exchange import person
from quality_lab.store import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelSaid:
    """A label that was given, or a dispute that was settled."""

    call_uid: str | None
    tool_name: str | None  # None: the call is not in the lab
    conversation_id: str | None
    label: str
    by: str
    note: str | None
    before: tuple[str, ...] = ()  # what each reviewer had said, where it settles a dispute of the agenda


@dataclass(frozen=True, kw_only=True, slots=True)
class DecisionSaid:
    """A decision that was taken."""

    title: str
    state: str  # accepted, applied, dismissed, closed, reopened
    by: str
    owner: str | None
    due: str | None
    expectation: str | None
    answer: str | None  # kind and reference
    note: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseSaid:
    """A case that was made or changed."""

    id: str
    action: str
    title: str
    proof: str | None
    by: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Minutes:
    """A meeting as the journal has it; nothing in it is kept anywhere else."""

    title: str
    closed_at: datetime
    tz: str
    people: tuple[str, ...]  # who said something
    labels: tuple[LabelSaid, ...]
    settled: tuple[LabelSaid, ...]
    decisions: tuple[DecisionSaid, ...]
    cases: tuple[CaseSaid, ...]
    undecided: tuple[str, ...]  # groups of the agenda on which nothing was decided
    unsettled: int  # disputes of the agenda that are still open
    corrected: int  # labels that their person replaced by another later in the meeting
    taken_back: int  # lines that were said and taken back in the meeting
    git: str | None = field(metadata={"help": "shown, never run; None: `no_git` says why there is none"})
    no_git: str | None

    @property
    def empty(self) -> bool:
        """Return whether nothing was said."""
        return not (self.labels or self.settled or self.decisions or self.cases)

    def counts(self) -> str:
        """Return how much was said, in words."""
        return ", ".join(
            [
                counted(len(self.labels), "label"),
                counted(len(self.settled), "dispute") + " settled",
                counted(len(self.decisions), "decision"),
                counted(len(self.cases), "case"),
            ]
        )


def minutes(
    store: Store,
    journal: Journal,
    agenda: Mapping[str, Any],
    *,
    groups: Sequence[Proposal],
    people: People,
    masker: Masker | None,
    now: datetime,
) -> Minutes:
    """Return the minutes of the meeting on *agenda*: what the journal's lines since it was prepared say.

    What was taken back since is left out, and counted, and so is a label that its person corrected: the last one
    stands. *groups* are the lab's proposals, for their titles.
    """
    since = datetime.fromisoformat(str(agenda["prepared_at"]))
    tz = str(agenda.get("tz") or "UTC")
    gone = journal.retracted()
    said = {shelf: list(_since(journal, shelf, since, now)) for shelf in ("labels", "decisions", "cases")}
    lines = {shelf: [line for line in found if line.get("id") not in gone] for shelf, found in said.items()}
    authors = [str(line["author"]) for found in lines.values() for line in found if line.get("author")]
    given = [line for line in lines["labels"] if line.get("label") is not None]
    standing = _standing(given, people)
    calls = _calls(store, lines["labels"])
    shown = masker.text if masker is not None else str
    disputes = {_bare(str(one["call_uid"])): one for one in agenda.get("disputes", [])}
    labels = [_label(line, calls, disputes, people, shown) for line in standing]
    adjudicated = [bool(line.get("adjudication")) for line in standing]
    settled = tuple(one for one, settles in zip(labels, adjudicated, strict=True) if settles)
    titles = {(one.tenant, one.fingerprint): one.title for one in groups}
    decided = {_group(line) for line in lines["decisions"]}
    day = now.astimezone(ZoneInfo(tz))
    found = Minutes(
        title=f"Coach review, {day.day} {day:%B %Y}",
        closed_at=now,
        tz=tz,
        people=tuple(person(one, people) for one in dict.fromkeys(authors)),
        labels=tuple(one for one, settles in zip(labels, adjudicated, strict=True) if not settles),
        settled=settled,
        decisions=tuple(_decision(line, titles, people, shown) for line in lines["decisions"]),
        cases=tuple(_case(line, people, shown) for line in lines["cases"]),
        undecided=tuple(
            shown(str(one["title"]))
            for one in agenda.get("groups", [])
            if (str(one.get("tenant")), str(one.get("fingerprint"))) not in decided
        ),
        unsettled=len(disputes.keys() - {_bare(one.call_uid) for one in settled if one.call_uid}),
        corrected=len(given) - len(standing),
        taken_back=sum(map(len, said.values())) - sum(map(len, lines.values())),
        git=None,
        no_git=None,
    )
    message = f"Review of {day.day} {day:%B %Y}: {found.counts()}"
    kept = keeping(store.home, lines=sum(map(len, said.values())), message=message)
    return replace(found, git=kept.command, no_git=kept.why_not)


def _standing(lines: Sequence[dict[str, Any]], people: People) -> list[dict[str, Any]]:
    """Return the last label of each person on each call, and the last word on each dispute, as they were given."""
    last: dict[tuple[object, ...], dict[str, Any]] = {}
    for line in sorted(lines, key=lambda one: _at(one) or datetime.min.replace(tzinfo=UTC)):
        uid, author = _uid(line), line.get("author")
        if uid is None or not (author or line.get("adjudication")):
            last[("line", line.get("id"), id(line))] = line
        else:
            whose = None if line.get("adjudication") else people.name(str(author))
            last[(line.get("tenant"), uid, whose)] = line
    kept = {id(line) for line in last.values()}
    return [line for line in lines if id(line) in kept]


def _since(journal: Journal, shelf: str, since: datetime, until: datetime) -> Iterator[dict[str, Any]]:
    for line in journal.lines(shelf):
        at = _at(line)
        if at is not None and since <= at <= until:
            yield line


def _at(line: Mapping[str, Any]) -> datetime | None:
    try:
        at = datetime.fromisoformat(str(line["created_at"]))
    except (KeyError, ValueError):
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _calls(store: Store, lines: Sequence[Mapping[str, Any]]) -> dict[str, ChosenCall]:
    uids = {uid for line in lines if (uid := _uid(line)) is not None}
    if not uids or not store.exists():
        return {}
    dashed = [f"{uid[:8]}-{uid[8:12]}-{uid[12:16]}-{uid[16:20]}-{uid[20:]}" for uid in sorted(uids)]
    return {_bare(one.call_uid): one for one in chosen_calls(store, filters=Filters(), chosen=dashed)}


def _uid(line: Mapping[str, Any]) -> str | None:
    call = line.get("call")
    uid = call.get("call_uid") if isinstance(call, Mapping) else None
    return _bare(uid) if isinstance(uid, str) else None


def _bare(uid: str) -> str:
    return uid.replace("-", "").lower()


def _label(
    line: Mapping[str, Any],
    calls: Mapping[str, ChosenCall],
    disputes: Mapping[str, Mapping[str, Any]],
    people: People,
    shown: Any,
) -> LabelSaid:
    uid = _uid(line)
    call = calls.get(uid or "")
    dispute = disputes.get(uid or "", {}) if line.get("adjudication") else {}
    return LabelSaid(
        call_uid=uid,
        tool_name=call.tool_name if call else None,
        conversation_id=call.conversation_id if call else None,
        label=str(line["label"]),
        by=_by(line, people),
        note=_words(line.get("note"), shown),
        before=tuple(
            f"{person(str(one.get('author') or 'somebody'), people)}: {one.get('label')}"
            for one in dispute.get("labels", [])
        ),
    )


def _decision(
    line: Mapping[str, Any], titles: Mapping[tuple[str, str], str], people: People, shown: Any
) -> DecisionSaid:
    group = _group(line)
    tool_name, _, label = place_of(group[1])
    answer = " ".join(str(line[name]) for name in ("kind", "ref", "url") if line.get(name))
    states = {str(action): state for action, state in STATE_AFTER.items()} | {"reopen": "reopened"}
    owner = line.get("owner")
    return DecisionSaid(
        title=shown(titles.get(group) or f"{label} on {tool_name}"),
        state=states.get(str(line.get("action")), str(line.get("action"))),
        by=_by(line, people),
        owner=person(str(owner), people) if owner else None,
        due=_words(line.get("due"), shown),
        expectation=_words(line.get("expectation"), shown),
        answer=shown(answer) or None,
        note=_words(line.get("note"), shown),
    )


def _case(line: Mapping[str, Any], people: People, shown: Any) -> CaseSaid:
    record = line.get("record")
    held = record if isinstance(record, Mapping) else {}
    provenance = held.get("provenance")
    proof = provenance.get("proof") if isinstance(provenance, Mapping) else None
    return CaseSaid(
        id=f"REG-{held.get('id')}",
        action=str(line.get("action", "edit")),
        title=shown(str(held.get("title", ""))),
        proof=None if proof is None else str(proof),
        by=_by(line, people),
    )


def _group(line: Mapping[str, Any]) -> tuple[str, str]:
    return str(line.get("tenant") or "default"), str(line.get("fingerprint"))


def _by(line: Mapping[str, Any], people: People) -> str:
    author = line.get("author")
    return person(str(author), people) if author else "somebody"


def _words(value: object, shown: Any) -> str | None:
    return None if value is None or value == "" else str(shown(str(value)))
