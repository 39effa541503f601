"""What became of everything that was decided: the decision, whether the fault came back, and its effect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from quality_lab.answers import Answer
from quality_lab.json_text import JsonTextError, parse
from quality_lab.metrics.asking import Asks, together
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.proposals.decisions import DecisionLine, decision_lines, standing_of
from quality_lab.proposals.echoes import Tracked, words_of_upstream
from quality_lab.proposals.effect import Effect, change_of, effect
from quality_lab.proposals.grouping import Proposal, proposal_id, proposals
from quality_lab.records import DecisionAction

_ACTION: dict[str, DecisionAction] = {"applied": "apply", "dismissed": "dismiss"}
_EVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Followed:
    """A decision that stands on a proposal, and what became of it."""

    id: str = field(metadata={"help": "of the proposal"})
    title: str
    state: str
    decided_at: datetime | None
    author: str | None
    owner: str | None
    due: str | None
    recurred: bool
    verdict: str | None = field(metadata={"help": "on its effect; none where nothing was changed yet"})
    why: str | None = field(metadata={"compact": False, "help": "the verdict as a sentence"})
    tool_name: str
    label: str
    source: str | None = field(metadata={"compact": False})
    kind: str | None = field(metadata={"compact": False, "help": "of the resolution"})
    ref: str | None = field(metadata={"compact": False})
    url: str | None = field(metadata={"compact": False})
    note: str | None = field(metadata={"compact": False})
    expectation: str | None = field(metadata={"compact": False})
    calls_since_decision: int | None = field(
        metadata={"compact": False, "help": "made and labelled so since then"}
    )
    undated_calls: int | None = field(
        metadata={"compact": False, "help": "labelled so, made nobody knows when"}
    )
    effect: Effect | None = field(metadata={"compact": False})
    fingerprint: str = field(metadata={"compact": False})
    tenant: str = field(metadata={"compact": False})


def followed(
    store: Asks, *, filters: Filters = EVERYTHING, groups: Sequence[Proposal] | None = None
) -> Answer[Followed]:
    """Return every proposal on which a decision stands with what became of it, decided last first.

    What counts of *filters* is whose labels do (`author_kind`), the zone of days and what is now; no window
    bounds it. *groups* are the lab's proposals over everything, where they are at hand.
    """
    whose = Filters(author_kind=filters.author_kind, tz=filters.tz, as_of=filters.as_of)
    with together(store):
        lines = decision_story(store)
        if not lines:
            return Answer([], Followed, title="What became of decisions")
        if groups is None:
            groups = proposals(store, filters=Filters(author_kind=filters.author_kind), top=None)
        known = {(one.tenant, one.fingerprint): one for one in groups}
        rows = [
            _followed(store, told, known.get(group), whose)
            for group, told in lines.items()
            if told[-1].action != "reopen"
        ]
    rows.sort(key=lambda row: (row.decided_at or _EVER, row.id), reverse=True)
    return Answer(rows, Followed, title="What became of decisions")


def decision_story(store: Asks) -> dict[tuple[str, str], list[DecisionLine]]:
    """Return what was decided on each tenant's fingerprint, the earliest first; upstream's word is a line too."""
    story: dict[tuple[str, str], list[DecisionLine]] = defaultdict(list)
    told = decision_lines(store)
    for one in words_of_upstream(store, ours={line.key for line in told}):
        if one.status in _ACTION:
            story[one.tenant, one.fingerprint].append(_of_upstream(one))
    for line in told:
        story[line.tenant, line.fingerprint].append(line)
    for lines in story.values():
        lines.sort(key=lambda line: (line.decided_at or _EVER, line.key))
    return dict(story)


def place_of(fingerprint: str) -> tuple[str, str | None, str]:
    """Return tool, source and label that a fingerprint names (kind:source:tool:label).

    >>> place_of("schema_fix:rag_reply:pay:bad_args")
    ('pay', 'rag_reply', 'bad_args')
    """
    _, _, rest = fingerprint.partition(":")
    source, _, rest = rest.partition(":")
    tool_name, _, label = rest.rpartition(":")
    return tool_name, source or None, label


def resolving(lines: Sequence[DecisionLine]) -> DecisionLine:
    """Return the decision that says what answers the proposal: the last, or what a bare closing closes."""
    last = lines[-1]
    if last.action != "close" or (last.kind and (last.ref or last.url)):
        return last
    return next((line for line in reversed(standing_of(lines)) if line.action == "apply"), last)


def _followed(
    store: Asks, lines: list[DecisionLine], proposal: Proposal | None, filters: Filters
) -> Followed:
    last = lines[-1]
    tool_name, source, label = (
        place_of(last.fingerprint)
        if proposal is None
        else (proposal.tool_name, proposal.source, proposal.label)
    )
    standing = standing_of(lines)
    answered = resolving(lines)
    change = change_of(lines, tenant=last.tenant, tool_name=tool_name, source=source, label=label)
    measured = None if change is None else effect(store, change, filters=filters)

    def newest(name: str) -> Any:
        return next((getattr(line, name) for line in reversed(standing) if getattr(line, name)), None)

    return Followed(
        id=proposal_id(last.tenant, last.fingerprint),
        title=proposal.title if proposal else f"{label} on {tool_name}",
        state=proposal.state if proposal else _STATE[last.action],
        decided_at=last.decided_at,
        author=last.author,
        owner=newest("owner"),
        due=newest("due"),
        recurred=proposal.recurred if proposal else False,
        verdict=measured.verdict if measured else None,
        why=measured.why if measured else None,
        tool_name=tool_name,
        label=label,
        source=source,
        kind=answered.kind,
        ref=answered.ref,
        url=answered.url,
        note=last.note or answered.note,
        expectation=newest("expectation"),
        calls_since_decision=proposal.calls_since_decision if proposal else None,
        undated_calls=proposal.undated_calls if proposal else None,
        effect=measured,
        fingerprint=last.fingerprint,
        tenant=last.tenant,
    )


_STATE = {"accept": "accepted", "apply": "applied", "dismiss": "dismissed", "close": "closed"}


def _of_upstream(one: Tracked) -> DecisionLine:
    """Return the decision that upstream keeps with a proposal it tracks."""
    try:
        record = parse(one.record)
    except JsonTextError:
        record = {}
    record = record if isinstance(record, dict) else {}
    resolution = record.get("resolution")
    given = resolution if isinstance(resolution, dict) else {}
    said = {name: given[name] for name in ("kind", "ref", "url", "note") if isinstance(given.get(name), str)}
    by = record.get("decidedByAdminId")
    return DecisionLine(
        decided_at=one.decided_at,
        author=None if by is None else str(by),
        action=_ACTION[one.status],
        kind=said.get("kind"),
        ref=said.get("ref"),
        url=said.get("url"),
        note=said.get("note"),
        owner=None,
        due=None,
        key=f"upstream-{one.key}",
        seen=None,
        expectation=None,
        effective_at=None,
        fingerprint=one.fingerprint,
        tenant=one.tenant,
    )
