"""Decisions of the journal on their way to upstream: the state that stands here becomes the state there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from quality_lab.errors import ServiceError
from quality_lab.lab.pushed import Notes, PushedDecision, stopped_by
from quality_lab.proposals.upstream_record import decided_record
from quality_lab.quality_api.bodies import BodyError, StatusChange, status_change
from quality_lab.quality_api.session import ApiError, Session
from quality_lab.quality_api.writing import TrackedUpstream, change_status, status_body, tracked_proposals

if TYPE_CHECKING:
    from quality_lab.masking import Masker
    from quality_lab.proposals import DecisionLine

_STOPPING = {401, 403, 408, 429}  # refusals that the next decision would meet too


def push_decisions(
    session: Session,
    story: Mapping[tuple[str, str], Sequence[DecisionLine]],
    *,
    ours: Collection[str],
    tenant: str,
    gone: Collection[str],
    noted: Sequence[Mapping[str, Any]],
    notes: Notes,
    masker: Masker,
    note: Callable[[DecisionLine, TrackedUpstream, dict[str, Any]], None],
    dry_run: bool,
    stopped: ServiceError | None = None,
) -> Iterator[PushedDecision]:
    """Yield what became of the decision that stands about each proposal of *tenant*.

    The state there is read first: what is the same is not sent, and a later word that was said there stays.
    *story* is what was decided here and there, the earliest first, *ours* the keys of what was decided here;
    *noted* are the lines of earlier pushes. Where the API cannot be reached or will refuse the next one too, or
    the push *stopped* before, the rest is told as not sent. Raises: that error, after the last.
    """
    of: dict[str, Sequence[DecisionLine]] = {}
    for (owner, fingerprint), lines in story.items():
        last = max((at for at, line in enumerate(lines) if line.key in ours), default=None)
        if owner == tenant and last is not None:
            of[fingerprint] = lines[: last + 1]
    tracked: Mapping[str, TrackedUpstream] = {}
    all_known = False
    if of and stopped is None:
        try:
            tracked, all_known = tracked_proposals(session)
        except ServiceError as error:
            stopped = error
    for fingerprint, said in of.items():
        there = tracked.get(fingerprint)
        if stopped is None:
            try:
                yield _push_one(session, said, there, all_known, notes, masker, note, dry_run=dry_run)
                continue
            except ServiceError as error:
                stopped = error
        yield _waiting(said[-1], there, notes, stopped)
    for line_id, fingerprint, proposal_id in _taken_back(noted, gone, tenant):
        if fingerprint not in of:
            yield PushedDecision(
                line=line_id,
                fingerprint=fingerprint,
                proposal_id=proposal_id,
                body=None,
                done="not_sent",
                reason="it was taken back after it was pushed; decide `reopen` to say so upstream",
            )
    if stopped is not None:
        raise stopped


def wanted(said: Sequence[DecisionLine], masker: Masker) -> StatusChange:
    """Return the state that decisions about one proposal, the earliest first, come to upstream.

    Raises: BodyError where upstream would refuse it.
    """
    record = decided_record({}, said)
    told = record["resolution"] or {}
    shown = {name: None if words is None else masker.text(words) for name, words in told.items()}
    return status_change({"status": record["status"], "resolution": shown})


def _waiting(
    last: DecisionLine, there: TrackedUpstream | None, notes: Notes, stopped: ServiceError
) -> PushedDecision:
    """Return what became of a decision that a push did not come to."""
    before = last.key in notes.decisions
    return PushedDecision(
        line=last.key,
        fingerprint=last.fingerprint,
        proposal_id=None if there is None else there.id,
        body=None,
        done="pushed_before" if before else "not_sent",
        reason=None if before else stopped_by(stopped),
        refused=not before,
    )


def _push_one(
    session: Session,
    said: Sequence[DecisionLine],
    there: TrackedUpstream | None,
    all_known: bool,
    notes: Notes,
    masker: Masker,
    note: Callable[[DecisionLine, TrackedUpstream, dict[str, Any]], None],
    *,
    dry_run: bool,
) -> PushedDecision:
    last = said[-1]
    told: dict[str, Any] = {
        "line": last.key,
        "fingerprint": last.fingerprint,
        "proposal_id": None if there is None else there.id,
        "body": None,
    }

    def not_sent(reason: str) -> PushedDecision:
        return PushedDecision(**told, done="not_sent", reason=reason)

    try:
        change = wanted(said, masker)
    except BodyError as error:
        return not_sent(str(error))
    if there is None:
        return not_sent(
            "upstream does not track the proposal"
            if all_known
            else "upstream tracks more proposals than it lists, and this one is not among those listed"
        )
    body = told["body"] = status_body(change)
    if there.change == change and last.key in notes.decisions:
        return PushedDecision(**told, done="pushed_before")
    if there.change == change:
        if not dry_run and _said_later_there(there, last):  # a push may have died before it could note it
            note(last, there, body)
        return PushedDecision(**told, done="there_already")
    if last.key in notes.decisions:
        return not_sent("its proposal was changed upstream after it was pushed")
    if _later_there(there, last, notes):
        return not_sent("upstream decided otherwise later")
    if dry_run:
        return PushedDecision(**told, done="to_send")
    try:
        change_status(session, there.id, change)
    except ApiError as error:
        if error.status is None or not 400 <= error.status <= 499 or error.status in _STOPPING:
            raise
        refusal = f"upstream answers {error.status}: {error.said}".rstrip(": ")
        return PushedDecision(**told, done="not_sent", reason=refusal, refused=True)
    note(last, there, body)
    return PushedDecision(**told, done="sent")


def _later_there(there: TrackedUpstream, last: DecisionLine, notes: Notes) -> bool:
    """Return whether somebody upstream decided after *last*; what an earlier push brought is nobody's there."""
    if notes.sent.get((last.tenant, last.fingerprint)) == status_body(there.change):
        return False
    return _said_later_there(there, last)


def _said_later_there(there: TrackedUpstream, last: DecisionLine) -> bool:
    if there.decided_at is None or last.decided_at is None:
        return False
    return there.decided_at > last.decided_at.timestamp()


def _taken_back(
    noted: Sequence[Mapping[str, Any]], gone: Collection[str], tenant: str
) -> Iterator[tuple[str, str, int | None]]:
    """Yield line, fingerprint and proposal of pushed decisions that were taken back here, each proposal once."""
    last: dict[str, Mapping[str, Any]] = {}
    for line in noted:
        if "fingerprint" in line and str(line.get("tenant", "default")) == tenant:
            last[str(line["fingerprint"])] = line
    for fingerprint, line in last.items():
        if str(line.get("pushes")) in gone and (line.get("sent") or {}).get("status") != "pending":
            proposal_id = line.get("proposal_id")
            yield str(line["pushes"]), fingerprint, proposal_id if isinstance(proposal_id, int) else None
