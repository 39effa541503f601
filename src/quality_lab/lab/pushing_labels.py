"""Labels of the journal on their way to upstream: which of them go, and one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from quality_lab.lab.pushed import Notes, PushedLabel, stopped_by
from quality_lab.labels import fold_label
from quality_lab.quality_api.bodies import BodyError, LabelBody, label_body
from quality_lab.quality_api.session import ApiError, Session
from quality_lab.quality_api.writing import GivenLabel, already_given, labels_of_call, post_label
from quality_lab.records import DEFAULT_TENANT, UPSTREAM

if TYPE_CHECKING:
    from quality_lab.masking import Masker
    from quality_lab.metrics.call_keys import CallKey

Line = Mapping[str, Any]
_SERIAL = re.compile("[1-9][0-9]{0,15}")
_CLOCKS_DIFFER_S = 3600  # by less than that, it is hoped
_STOPPING = {401, 403, 408, 429}  # refusals that the next label would meet too


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A label that may go."""

    line: str  # id of the journal line
    author: str | None
    call_id: str  # upstream's
    body: LabelBody
    written_at: datetime | None = None


def _stood_before(one: Candidate, there: GivenLabel) -> bool:
    """Return whether a label stood upstream before *one* was written: then it is somebody's own, and no copy of it."""
    if there.createdAt is None or one.written_at is None:
        return False
    return there.createdAt < one.written_at.timestamp() - _CLOCKS_DIFFER_S


class _NotSent(Exception):  # no error: the reason why a line stays here
    """Why a line is not sent."""


def uids_of(lines: Iterable[Line]) -> set[str]:
    """Return the uids, with dashes, by which the *lines* name calls."""
    found = (_uid(line["call"].get("call_uid")) for line in lines if isinstance(line.get("call"), Mapping))
    return {uid for uid in found if uid is not None}


def candidates(
    lines: Collection[Line],
    *,
    gone: Collection[str],
    keys: Mapping[str, CallKey],
    notes: Notes,
    tenant: str,
    masker: Masker,
) -> Iterator[Candidate | PushedLabel]:
    """Yield for each line what may go, or what became of it already, the earliest line first.

    What goes is a label of the five that a person gave to a call of upstream's and of *tenant*, that nobody
    took back and its reviewer did not replace. *keys* are the calls that the lab knows, by uid.
    """
    ordered = sorted(lines, key=lambda line: (str(line.get("created_at")), str(line.get("id"))))
    places: dict[str, str] = {}
    reasons: dict[str, str] = {}
    latest: dict[object, str] = {}
    for line in ordered:
        line_id = str(line.get("id"))
        try:
            places[line_id] = _call_of(line, gone=gone, keys=keys, tenant=tenant)
        except _NotSent as why:
            reasons[line_id] = str(why)
        else:
            latest[_voice(line, places[line_id])] = line_id
    for line in ordered:
        line_id, call_id = str(line.get("id")), places.get(str(line.get("id")))
        label = line.get("label")
        stays = PushedLabel(
            line=line_id,
            tool_call_id=call_id,
            label=label if isinstance(label, str) else None,
            note=None,
            done="not_sent",
            reason=reasons.get(line_id, "a later label of the same reviewer replaced it"),
        )
        if line_id in notes.labels:
            yield replace(stays, done="pushed_before", feedback_id=notes.labels[line_id], reason=None)
        elif call_id is None or latest[_voice(line, call_id)] != line_id:
            yield stays
        else:
            yield _checked(line, call_id, masker, stays)


def push_labels(
    session: Session,
    going: Iterable[Candidate | PushedLabel],
    *,
    notes: Notes,
    note: Callable[[Candidate, GivenLabel, bool], None],
    dry_run: bool,
) -> Iterator[PushedLabel]:
    """Yield what became of each label: what is there already is not sent, what is sent is noted at once.

    *note* is told of a label and whether it was somebody's own there, before this one was written.

    Where the API cannot be reached or will refuse the next one too, the rest is told as not sent.
    Raises: ApiError then, after the last.
    """
    stopped: ApiError | None = None
    there: dict[str, list[GivenLabel]] = {}
    known = {call: dict(labels) for call, labels in notes.on_calls.items()}
    for one in going:
        if isinstance(one, PushedLabel):
            yield one
            continue
        told = PushedLabel(
            line=one.line,
            tool_call_id=one.call_id,
            label=one.body.label,
            note=one.body.note,
            done="to_send",
        )
        if stopped is not None:
            yield replace(told, done="not_sent", reason=stopped_by(stopped), refused=True)
            continue
        ours = known.setdefault(one.call_id, {})
        try:
            if one.call_id not in there:
                there[one.call_id] = labels_of_call(session, one.call_id)
            found = already_given(there[one.call_id], one.body, author=one.author, known=ours)
            if found is None and dry_run:
                yield told
                continue
            made = found or _post(session, one, ours)
        except ApiError as error:
            if _ends_the_push(error):
                stopped = error
            reason = (
                stopped_by(error) if stopped is error else f"upstream answers {error.status}: {error.said}"
            )
            yield replace(told, done="not_sent", reason=reason.rstrip(": "), refused=True)
            continue
        if not dry_run:
            note(one, made, found is not None and _stood_before(one, found))
        if found is None:
            there[one.call_id].insert(0, made)
        ours[made.id] = one.author
        yield replace(told, done="sent" if found is None else "there_already", feedback_id=made.id)
    if stopped is not None:
        raise stopped


def _post(session: Session, one: Candidate, ours: Mapping[int, str | None]) -> GivenLabel:
    """Return the label that was made. Where nobody knows whether one was, it is looked for, not sent again."""
    try:
        return post_label(session, one.call_id, one.body)
    except ApiError as error:
        if error.untouched or (error.status is not None and 300 <= error.status <= 499):
            raise
        made = already_given(labels_of_call(session, one.call_id), one.body, author=one.author, known=ours)
        if made is None:
            raise
        return made


def _ends_the_push(error: ApiError) -> bool:
    """Return whether a refusal is not about this one label: the next would meet it too."""
    return error.status is None or not 400 <= error.status <= 499 or error.status in _STOPPING


def _checked(line: Line, call_id: str, masker: Masker, stays: PushedLabel) -> Candidate | PushedLabel:
    note = line.get("note")
    shown = masker.text(note) if isinstance(note, str) else note
    try:
        body = label_body({"label": fold_label(line["label"]), "note": shown})
    except BodyError as error:
        return replace(stays, reason=str(error))
    author = line.get("author")
    return Candidate(
        line=stays.line,
        author=None if author is None else str(author),
        call_id=call_id,
        body=body,
        written_at=_moment(line.get("created_at")),
    )


def _moment(text: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _voice(line: Line, call_id: str) -> object:
    """Return whose word on the call a line is: of one voice the latest counts, as in every question."""
    if line.get("adjudication") is True:
        return call_id, "settled"
    author = line.get("author")
    return (call_id, "line", str(line.get("id"))) if author is None else (call_id, "by", str(author))


def _call_of(line: Line, *, gone: Collection[str], keys: Mapping[str, CallKey], tenant: str) -> str:
    """Return upstream's id of the call that a line labels. Raises: why it has none, or may not go."""
    if str(line.get("id")) in gone:
        raise _NotSent("it was taken back")
    if line.get("author_kind", "HUMAN") != "HUMAN":
        raise _NotSent("no person gave it")
    if not isinstance(line.get("label"), str) or fold_label(line["label"]) is None:
        raise _NotSent("it is none of the five labels")
    call = line.get("call")
    if not isinstance(call, Mapping):
        raise _NotSent("it is about no single call")
    owner, key = _place(line, call, keys)
    if owner != tenant:
        raise _NotSent("its call is another tenant's")
    if not _SERIAL.fullmatch(key):
        raise _NotSent("upstream does not know its call")
    return key


def _place(line: Line, call: Mapping[str, Any], keys: Mapping[str, CallKey]) -> tuple[str, str]:
    """Return tenant and key of a call of upstream's."""
    owner = str(line.get("tenant") or DEFAULT_TENANT)
    if call.get("call_uid") is not None:
        found = keys.get(_uid(call["call_uid"]) or "")
        if found is None:
            raise _NotSent("its call is not in this lab")
        return found.tenant, found.key if found.key_space == UPSTREAM else ""
    if call.get("tool_call_id") is not None:
        return owner, str(call["tool_call_id"])
    space = str(call.get("key_space") or call.get("format") or "")
    return owner, str(call.get("key") or "") if space.partition(".")[0] == UPSTREAM else ""


def _uid(text: object) -> str | None:
    bare = str(text).replace("-", "").lower()
    if not re.fullmatch("[0-9a-f]{32}", bare):
        return None
    return f"{bare[:8]}-{bare[8:12]}-{bare[12:16]}-{bare[16:20]}-{bare[20:]}"
