"""Proposals: groups of labels with how often, how sure, how bad, and what became of the last decision."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Literal

from quality_lab.answers import Answer
from quality_lab.intervals import Rate
from quality_lab.labels import PROPOSAL_KIND
from quality_lab.metrics.asking import Asks, put, together
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.rates import rate_of
from quality_lab.metrics.undated import undated_notes
from quality_lab.metrics.untraced import no_trace_notes, untraced
from quality_lab.metrics.weeks import weeks_between
from quality_lab.proposals.compat import severity as severity_by_counts
from quality_lab.proposals.decisions import Decided, decided
from quality_lab.proposals.evidence import Evidence, evidence
from quality_lab.proposals.signatures import Signature, signatures
from quality_lab.proposals.texts import texts

Severity = Literal["high", "medium", "low"]
MOST_EXAMPLES = 5
_RANK = {"high": 0, "medium": 1, "low": 2}


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupSums:
    """A row of the query; judged_n to judged_mm are the sums of `intervals.Sums`."""

    tenant: str
    tool_name: str
    source: str | None
    label: str
    feedback_count: int
    labelled_calls: int
    standing_calls: int
    error_count: int
    guards_only: int  # 1 where every label stands on a guard's row
    last_at: datetime | None
    reviewed: int
    judged_n: int
    judged_y: int
    judged_conversations: int
    judged_yy: int
    judged_ym: int
    judged_mm: int
    calls_made: int
    first_made_at: datetime | None
    last_made_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """A labelled call of the group, as far as a page needs it."""

    call_uid: str
    note: str | None
    reviewer: str | None
    labelled_at: datetime | None
    conversation_id: str | None
    arguments: str | None  # JSON text
    result: str | None  # JSON text
    outcome: str | None
    error_text: str | None
    called_at: datetime | None
    expected_tool: str | None
    file: str | None
    line: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """A group of labels that asks for a change of one tool in one source."""

    id: str = field(metadata={"help": "short, stable: made from tenant and fingerprint"})
    severity: Severity
    tool_name: str
    label: str
    source: str | None
    state: str = field(metadata={"help": "of the last decision; pending where there is none"})
    recurred: bool = field(metadata={"help": "such a label stands on a call made at or after the decision"})
    calls: int = field(metadata={"help": "calls judged so; without a rate, calls on which the label stands"})
    reviewed: int = field(metadata={"help": "reviewed calls of this tool and source"})
    rate: float | None = field(metadata={"unit": "share", "help": "calls judged so / reviewed calls"})
    low: float | None = field(metadata={"unit": "share", "help": "lower 95 % bound"})
    high: float | None = field(metadata={"unit": "share", "help": "upper 95 % bound"})
    impact: float | None = field(metadata={"help": "lower bound x calls a week"})
    last_at: datetime | None = field(metadata={"help": "newest label"})
    feedback_count: int = field(metadata={"compact": False, "help": "labels of the group"})
    error_count: int = field(metadata={"compact": False, "help": "labels on calls that failed"})
    fingerprint: str = field(metadata={"compact": False, "help": "kind:source:tool:label"})
    kind: str = field(metadata={"compact": False, "help": "schema_fix, routing_prompt_fix or tool_candidate"})
    title: str
    summary: str = field(metadata={"compact": False})
    rationale: tuple[str, ...] = field(metadata={"compact": False})
    action_items: tuple[str, ...] = field(metadata={"compact": False})
    signatures: tuple[Signature, ...] = field(
        metadata={"compact": False, "help": "what its calls have in common"}
    )
    examples: tuple[Example, ...] = field(metadata={"compact": False})
    flags: tuple[str, ...] = field(metadata={"help": "why there is no rate, or a rough one"})
    calls_per_week: float | None = field(metadata={"compact": False})
    conversations: int = field(metadata={"compact": False, "help": "conversations of the reviewed calls"})
    decided_at: datetime | None = field(metadata={"compact": False})
    calls_since_decision: int | None = field(
        metadata={"compact": False, "help": "made and labelled so since then"}
    )
    undated_calls: int | None = field(
        metadata={"compact": False, "help": "labelled so, made nobody knows when"}
    )
    tenant: str = field(metadata={"compact": False})


def proposals(store: Asks, *, filters: Filters = EVERYTHING, top: int | None = 25) -> Answer[Proposal]:
    """Return the *top* groups of wrong_tool, missing_tool and bad_args labels, worst first (None: all).

    Worst is by severity, then impact, then the lower bound of the rate, then the number of labels. The window
    means the time of the label unless `time="call"` says otherwise; the rate's denominator is bounded by the
    same window.
    """
    with together(store):
        return _asked(store, filters, top)


def proposal_id(tenant: str, fingerprint: str) -> str:
    """Return the short id under which a proposal is known: the same wherever it is grouped anew."""
    return sha256(f"{tenant}\n{fingerprint}".encode()).hexdigest()[:10]


def _asked(store: Asks, filters: Filters, top: int | None) -> Answer[Proposal]:
    sums = put(store, GroupSums, "groups", filters, time="label", room=__package__, joins_calls=True)
    weeks = weeks_between(filters, [row.first_made_at for row in sums], [row.last_made_at for row in sums])
    graded = sorted((_Graded.of(row, weeks) for row in sums), key=_Graded.place)
    shown = graded if top is None else graded[:top]
    found: dict[tuple[str, str, str | None], list[Evidence]] = defaultdict(list)
    groups = [(one.sums.tenant, one.sums.tool_name, one.sums.source, one.sums.label) for one in shown]
    for piece in evidence(store, filters=filters, groups=groups):
        found[piece.tenant, piece.tool_name, piece.source].append(piece)
    states = decided(store, filters=filters)
    bare = untraced(store, filters=filters) if any(not row.judged_n for row in sums) else []
    without = {(row.tenant, row.tool_name, row.source) for row in bare}
    rows = [
        _proposal(
            one,
            found[one.sums.tenant, one.sums.tool_name, one.sums.source],
            states.get((one.sums.tenant, one.fingerprint)),
            without_trace=(one.sums.tenant, one.sums.tool_name, one.sums.source) in without,
        )
        for one in shown
    ]
    notes = undated_notes(store, filters, time="label")
    notes += no_trace_notes(bare)
    return Answer(rows, Proposal, title="Proposals", notes=notes, more=len(graded) - len(shown))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Graded:
    """A group with its rate, its impact and its severity."""

    sums: GroupSums
    rate: Rate | None
    per_week: float | None
    impact: float | None
    severity: Severity

    @classmethod
    def of(cls, sums: GroupSums, weeks: float | None) -> _Graded:
        rate = rate_of(sums, "judged")
        per_week = sums.calls_made / weeks if rate and weeks and sums.calls_made else None
        impact = rate.low * per_week if rate and per_week is not None else None
        return cls(
            sums=sums, rate=rate, per_week=per_week, impact=impact, severity=_severity(sums, rate, impact)
        )

    @property
    def fingerprint(self) -> str:
        one = self.sums
        return f"{PROPOSAL_KIND[one.label]}:{one.source or ''}:{one.tool_name}:{one.label}"

    def place(self) -> tuple[int, float, float, int, str, str]:
        low = self.rate.low if self.rate else 0.0
        return (
            _RANK[self.severity], -(self.impact or 0.0), -low, -self.sums.feedback_count, self.fingerprint,
            self.sums.tenant,
        )  # fmt: skip


def _severity(sums: GroupSums, rate: Rate | None, impact: float | None) -> Severity:
    """Return high from a lower bound of 10 % or 20 calls a week, medium from 3 % or 3, else low.

    Where there is no rate, upstream's rule stands in: it looks at counts alone.
    """
    if rate is None:
        by_counts: dict[str, Severity] = {"high": "high", "medium": "medium", "low": "low"}
        return by_counts[severity_by_counts(sums.feedback_count, sums.error_count)]
    weekly = impact or 0.0
    if rate.low >= 0.10 or weekly >= 20:
        return "high"
    return "medium" if rate.low >= 0.03 or weekly >= 3 else "low"


def _proposal(
    one: _Graded, pieces: list[Evidence], state: Decided | None, *, without_trace: bool
) -> Proposal:
    sums, rate = one.sums, one.rate
    own = [piece for piece in pieces if piece.label == sums.label]
    rest = [piece for piece in pieces if piece.label != sums.label]
    found = signatures(sums.label, own, rest)
    recurred = state is not None and state.decided_at is not None and state.calls_since > 0
    said = texts(
        kind=PROPOSAL_KIND[sums.label],
        tool=sums.tool_name,
        source=sums.source,
        label=sums.label,
        rate=rate,
        judged=sums.judged_y,
        feedback_count=sums.feedback_count,
        calls=sums.standing_calls or sums.labelled_calls,
        error_count=sums.error_count,
        per_week=one.per_week,
        signatures=found,
        evidence=own,
        why_no_rate="guard" if sums.guards_only else "no_trace" if without_trace else "outside_trace",
        decided_at=state.decided_at if recurred and state else None,
    )
    flags = [
        name
        for name, holds in (
            ("no_trace_export", without_trace),
            ("guard_rows", sums.guards_only == 1),
            ("labels_outside_trace", rate is None and not without_trace and sums.guards_only == 0),
            ("severity_by_counts", rate is None),
            ("few_conversations", rate is not None and rate.few),
            ("decided_twice", state is not None and state.contested),
        )
        if holds
    ]
    return Proposal(
        id=proposal_id(sums.tenant, one.fingerprint),
        fingerprint=one.fingerprint,
        kind=PROPOSAL_KIND[sums.label],
        severity=one.severity,
        state=state.status if state else "pending",
        recurred=recurred,
        tool_name=sums.tool_name,
        source=sums.source,
        label=sums.label,
        feedback_count=sums.feedback_count,
        calls=sums.judged_y if rate else sums.standing_calls or sums.labelled_calls,
        reviewed=sums.judged_n if rate else sums.reviewed,
        error_count=sums.error_count,
        rate=rate.value if rate else None,
        low=rate.low if rate else None,
        high=rate.high if rate else None,
        impact=one.impact,
        last_at=sums.last_at,
        title=said.title,
        summary=said.summary,
        rationale=said.rationale,
        action_items=said.action_items,
        signatures=found,
        examples=_examples(own),
        flags=tuple(flags),
        calls_per_week=one.per_week,
        conversations=rate.conversations if rate else 0,
        decided_at=state.decided_at if state else None,
        calls_since_decision=state.calls_since if state and state.decided_at else None,
        undated_calls=state.undated_calls if state and state.decided_at else None,
        tenant=sums.tenant,
    )


def _examples(own: list[Evidence]) -> tuple[Example, ...]:
    """Return labelled calls to look at, no call twice: those with a note first, newest first."""
    seen: dict[str, Evidence] = {}
    for piece in sorted(own, key=lambda piece: not piece.note):
        seen.setdefault(piece.call_uid, piece)
    return tuple(
        Example(
            call_uid=piece.call_uid,
            note=piece.note,
            reviewer=piece.author,
            labelled_at=piece.labelled_at,
            conversation_id=piece.conversation_id,
            arguments=piece.arguments,
            result=piece.result,
            outcome=piece.outcome,
            error_text=piece.error_text,
            called_at=piece.called_at,
            expected_tool=piece.expected_tool,
            file=piece.file,
            line=piece.line,
        )
        for piece in list(seen.values())[:MOST_EXAMPLES]
    )
