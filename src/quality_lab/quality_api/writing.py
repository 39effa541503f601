"""Labels of calls and states of proposals at the API: what is there, and what is to be there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

import msgspec

from quality_lab.quality_api.bodies import LabelBody, StatusChange
from quality_lab.quality_api.reading import ENDPOINTS, NO_SUCH_JSON, everything
from quality_lab.quality_api.session import Session

_Id = Annotated[int, msgspec.Meta(gt=0)]


class GivenLabel(msgspec.Struct, kw_only=True, frozen=True):
    """A label that stands upstream."""

    id: _Id
    toolCallId: _Id
    label: str
    adminId: int | None = None
    note: str | None = None
    createdAt: int | None = None

    def says(self, body: LabelBody) -> bool:
        """Return whether it says what *body* says: the same label, with the same note."""
        return self.label == body.label and (self.note or None) == body.note


class _Labels(msgspec.Struct):
    items: list[GivenLabel]


class _Posted(msgspec.Struct):
    feedback: GivenLabel


class _Resolution(msgspec.Struct):
    kind: str | None = None
    ref: str | None = None
    url: str | None = None
    note: str | None = None


class _Proposal(msgspec.Struct):
    id: _Id
    fingerprint: str
    status: str
    resolution: _Resolution | None = None
    decidedAt: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TrackedUpstream:
    """A proposal as upstream tracks it now."""

    id: int
    fingerprint: str
    change: StatusChange  # its state, as a change that would lead to it
    decided_at: int | None  # epoch s


_labels = msgspec.json.Decoder(_Labels)
_posted = msgspec.json.Decoder(_Posted)
_proposal = msgspec.json.Decoder(_Proposal)


def labels_of_call(session: Session, call_id: str) -> list[GivenLabel]:
    """Return the labels that stand on upstream's call *call_id*, the newest first, 50 at most. Raises: ApiError."""
    path = _labels_path(call_id)
    body = session.get(path)
    try:
        found = _labels.decode(body).items
    except NO_SUCH_JSON:
        raise session.unusable(path, 'an object {"items": […]} of labels', body) from None
    return [one for one in found if str(one.toolCallId) == call_id]


def post_label(session: Session, call_id: str, body: LabelBody) -> GivenLabel:
    """Return the label that upstream made of *body* on a call.

    It is sent once: asking again could make two of it. Raises: ApiError.
    """
    path = _labels_path(call_id)
    said = {"label": body.label} if body.note is None else {"label": body.label, "note": body.note}
    answer = session.post(path, said)
    try:
        return _posted.decode(answer).feedback
    except NO_SUCH_JSON:
        raise session.unusable(path, "the label that was made", answer) from None


def tracked_proposals(session: Session) -> tuple[dict[str, TrackedUpstream], bool]:
    """Return the proposals that upstream tracks by fingerprint, and whether those are all. Raises: ApiError."""
    gathered = everything(session, "proposals")
    found: dict[str, TrackedUpstream] = {}
    for row in gathered.rows:
        try:
            one = _proposal.decode(row.text.encode("utf-8", "surrogatepass"))
        except NO_SUCH_JSON:
            continue  # damaged: as if it were not tracked, so nothing is sent about it
        told = None if one.resolution is None else msgspec.to_builtins(one.resolution)
        found[one.fingerprint] = TrackedUpstream(
            id=one.id,
            fingerprint=one.fingerprint,
            change=StatusChange(status=one.status, resolution=told),
            decided_at=one.decidedAt,
        )
    return found, not gathered.possibly_truncated


def change_status(session: Session, proposal_id: int, change: StatusChange) -> None:
    """Give a proposal its state upstream; done twice it comes to the same. Raises: ApiError."""
    session.patch(f"{ENDPOINTS['proposals'].path}/{proposal_id}/status", status_body(change))


def status_body(change: StatusChange) -> dict[str, Any]:
    """Return the body that asks for a state, without what is empty.

    >>> status_body(StatusChange(status="dismissed", resolution={"kind": None, "note": "on purpose"}))
    {'status': 'dismissed', 'resolution': {'note': 'on purpose'}}
    """
    told = {name: words for name, words in (change.resolution or {}).items() if words is not None}
    return {"status": change.status} | ({"resolution": told} if told else {})


def already_given(
    labels: Sequence[GivenLabel], body: LabelBody, *, author: str | None, known: Mapping[int, str | None]
) -> GivenLabel | None:
    """Return the label upstream that *body* of *author* is already, or None.

    *known* are the labels that this journal brought there, with the authors of their lines, the earliest
    first. What nobody here is known to have brought counts as this one: a push may have died before it could
    write down what it did. What was brought for another is that person's; of the author's own only the last
    counts, so that who changes their mind twice is heard twice.
    """
    own = [label_id for label_id, brought_for in known.items() if brought_for == author]
    free = {one.id for one in labels} - known.keys() | set(own[-1:])
    return next((one for one in labels if one.id in free and one.says(body)), None)


def _labels_path(call_id: str) -> str:
    return f"tool-calls/{quote(call_id, safe='')}/feedback"
