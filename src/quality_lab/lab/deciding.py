"""What a lab does with proposals: show one with what was decided, and decide."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from quality_lab.answers import Answer
from quality_lab.errors import UnknownName, UsageError
from quality_lab.lab.authors import author_of
from quality_lab.lab.reviewing import Reviewing, Said, of_tenant
from quality_lab.people import read_people
from quality_lab.quality_api.bodies import KINDS as KINDS
from quality_lab.quality_api.bodies import resolution
from quality_lab.records import DecisionAction

if TYPE_CHECKING:
    from quality_lab.proposals import DecisionLine, Proposal

ACTIONS: tuple[DecisionAction, ...] = ("accept", "apply", "dismiss", "close", "reopen")


class Deciding(Reviewing):
    """The part of a lab that decides about proposals. A decision is a line of the journal."""

    def proposal(self, proposal_id: str) -> Answer[Proposal]:
        """Return one proposal, by its id, its fingerprint, or the id under which upstream tracks it.

        >>> import quality_lab as ql
        >>> lab = ql.open_demo()
        >>> lab.proposal("12")[0].fingerprint
        'schema_fix:rag_reply:compute_exchange_quote:bad_args'

        Raises: UnknownName where there is none.
        """
        from quality_lab.proposals import Proposal, proposals

        found = proposals(self.store, top=None) if self.store.exists() else []
        names = {proposal_id, self._fingerprint_of_tracked(proposal_id)}
        named = [one for one in found if one.id in names or one.fingerprint in names]
        if not named:
            raise UnknownName(f"wanted the id of a proposal, came {proposal_id!r}; `proposals` lists them")
        people = read_people(self.store.home)
        return Answer(people.named(named[:1]), Proposal, title=named[0].title)

    def decisions(self, proposal_id: str) -> Answer[DecisionLine]:
        """Return what was decided about a proposal, the earliest first; what was taken back is left out.

        What upstream keeps with a proposal that it tracks is one of them, with a key that begins `upstream-`.

        >>> import quality_lab as ql
        >>> [(line.action, line.ref) for line in ql.open_demo().decisions("12")]
        [('apply', 'PR-212')]

        Raises: UnknownName where there is no such proposal.
        """
        from quality_lab.proposals import DecisionLine, decision_story

        (one,) = self.proposal(proposal_id)
        told = decision_story(self.store).get((one.tenant, one.fingerprint), [])
        lines = read_people(self.store.home).named(told)
        return Answer(lines, DecisionLine, title=f"Decided: {one.title}")

    def decide(
        self,
        proposal_id: str,
        action: DecisionAction,
        *,
        kind: str | None = None,
        ref: str | None = None,
        url: str | None = None,
        note: str | None = None,
        owner: str | None = None,
        due: str | date | None = None,
        expect: str | None = None,
        effective_at: str | datetime | None = None,
        reviewer: str | None = None,
    ) -> Said:
        """Return the journal line of a decision about a proposal: accept, apply, dismiss, close or reopen.

        To apply takes a *kind* and a *ref* or a *url*. *effective_at* is from when on it holds: a fault on a
        call made later has recurred. *expect* says what is to come of it; where that cannot be measured, or is far
        from what is measured now, it is kept all the same and `notice` says so.

        >>> import quality_lab as ql
        >>> lab = ql.open_demo()
        >>> worst = lab.proposals()[0].id
        >>> said = lab.decide(worst, "accept", owner="tomas", reviewer="dana@example.com")
        >>> lab.proposal(worst)[0].state
        'accepted'
        >>> _ = lab.undo(said.line["id"], reviewer="dana@example.com")

        Raises: UnknownName where there is no such proposal, UsageError for a decision that cannot be, OutputError.
        """
        if action not in ACTIONS:
            raise UsageError(f"wanted one of {', '.join(ACTIONS)}; came {action!r}")
        found = resolution({"kind": kind, "ref": ref, "url": url, "note": note})  # as upstream would take it
        if action == "apply" and not (found and found["kind"] and (found["ref"] or found["url"])):
            raise UsageError("to apply takes a kind, and a ref or a url")
        (one,) = self.proposal(proposal_id)
        given = {
            "kind": kind,
            "ref": ref,
            "url": url,
            "note": note,
            "owner": owner,
            "due": _day(due),
            "expectation": expect,
            "effective_at": _moment(effective_at),
        }
        entry = self._decision(one.tenant, one.fingerprint, action, given)
        author = author_of(self.home, reviewer)
        told = [author.notice, remark(one, expect)]
        notice = "\n".join(filter(None, told)) or None
        return self._bring_in(self.journal.append("decisions", entry, author=author.id), notice)

    def _decision(
        self, tenant: str, fingerprint: str, action: DecisionAction, given: dict[str, Any]
    ) -> dict[str, Any]:
        """Return a decision as the journal takes it, with the one that it was taken in sight of."""
        entry: dict[str, Any] = {"record_type": "decision", "fingerprint": fingerprint, "action": action}
        entry |= of_tenant(tenant)
        seen = [line.key for line in self._decided(tenant, fingerprint)]
        entry |= {name: value for name, value in given.items() if value is not None}
        if seen:
            entry["seen"] = seen[-1]
        return entry

    def _decided(self, tenant: str, fingerprint: str) -> list[DecisionLine]:
        from quality_lab.proposals import decision_lines

        lines = decision_lines(self.store) if self.store.exists() else []
        return [line for line in lines if (line.tenant, line.fingerprint) == (tenant, fingerprint)]

    def _fingerprint_of_tracked(self, proposal_id: str) -> str | None:
        from quality_lab.lab.proposal_cases import tracked_proposal

        tracked = tracked_proposal(self.store, proposal_id)
        return None if tracked is None else tracked.fingerprint


def remark(one: Proposal, expect: str | None) -> str | None:
    """Return what whoever expects this of a proposal should know at once; None where it can be measured."""
    from quality_lab.proposals import remark_on

    if expect is None:
        return None
    today = datetime.now(UTC).date()
    rates = {"rate": one.rate, "low": one.low, "high": one.high}
    return remark_on(expect, written=today, label=one.label, tool_name=one.tool_name, **rates)


def _day(given: str | date | None) -> str | None:
    try:
        return None if given is None else date.fromisoformat(str(given)).isoformat()
    except ValueError:
        raise UsageError(f"due: wanted a day such as 2026-03-01, came {given!r}") from None


def _moment(given: str | datetime | None) -> str | None:
    """Return a time as the journal writes it; without a zone it is UTC."""
    if given is None:
        return None
    try:
        moment = given if isinstance(given, datetime) else datetime.fromisoformat(given)
    except ValueError:
        raise UsageError(f"effective-at: wanted a time in ISO 8601, came {given!r}") from None
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.isoformat().replace("+00:00", "Z")
