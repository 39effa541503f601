"""The widgets: a desk in a kernel, and the page in a browser that shows it."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Protocol

import anywidget
import traitlets

from quality_lab.answers.page import text as html
from quality_lab.errors import UsageError
from quality_lab.jupyter.decide_desk import DecideDesk
from quality_lab.jupyter.replies import Asked, Reply
from quality_lab.jupyter.review_desk import ReviewDesk
from quality_lab.lab.authors import author_of
from quality_lab.people import People, read_people

if TYPE_CHECKING:
    from quality_lab.lab import Lab

_BROKEN = "something went wrong in the kernel, and nothing is certain to be saved; its log says what"


class Desk(Protocol):
    """What a widget stands before: it answers, and says what all views of it show."""

    def reply(self, asked: Asked) -> Reply:
        """Return the reply to a question of the browser."""
        ...

    def state(self) -> dict[str, Any]:
        """Return as JSON what every view of the desk shows."""
        ...


class DeskWidget(anywidget.AnyWidget):
    """A desk as a widget: what the browser asks comes in as a message, and each message is replied to.

    `state` follows the desk, `place` is where the reader is: both are there again after a page is reloaded.
    Trace text travels in replies alone, so that no notebook keeps it.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)
    place = traitlets.Int(0).tag(sync=True)
    aside = traitlets.Unicode().tag(sync=True)  # a sentence to start with

    def __init__(self, desk: Desk, *, page: str, said: str, place: int = 0, aside: str = "") -> None:
        """Show *desk* by the script *page*; *said* tells in a sentence what it is, where no widget can be."""
        super().__init__(
            _esm=f"{_asset('parts.js')}\n{_asset(page)}", _css=_asset("desk.css"), place=place, aside=aside
        )
        self.desk = desk
        self.said = said
        self.state = desk.state()
        self.on_msg(self._asked)

    def _asked(self, _widget: object, asked: object, _buffers: object) -> None:
        if not isinstance(asked, dict):
            return
        reply: Reply = {"id": str(asked.get("id")), "ok": False, "error": _BROKEN}
        try:
            reply = self.desk.reply(asked)
            self.state = self.desk.state()
        finally:  # a browser that waits is told so even where this is about to fail
            self.send(reply)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the widget, and for a page without a kernel the sentence that it stands for."""
        shown = super()._repr_mimebundle_(**kwargs)
        if shown is not None:
            sentence = f"{self.said} It works in JupyterLab, while its kernel runs."
            shown[0]["text/plain"] = sentence
            shown[0]["text/html"] = f"<p>{html(sentence)}</p>"
        return shown


def review(
    lab: Lab,
    calls: Iterable[Any],
    *,
    reviewer: str | None = None,
    blind: bool = True,
    advance: bool = True,
    guide_version: str | None = None,
) -> DeskWidget:
    """Return a widget in which *reviewer* labels *calls*: rows that have a `call_uid`, or such uids.

    Of a queue only those are shown that *reviewer* is asked about. Every word is a line of the journal at once.
    What others said of a call shows after one's own label, unless *blind* is False: that is for settling
    disputes. *advance* moves on after each label. *reviewer* is git's `user.name` if nobody is named;
    *guide_version* is kept with each label.

    >>> import quality_lab as ql
    >>> lab = ql.open_demo()
    >>> review(lab, lab.calls(outcome="gated", limit=3), reviewer="dana@example.com").said
    'A review of 3 calls by Dana.'

    Raises: UsageError where a row has no `call_uid`, InputError where the home's `people.toml` is none.
    """
    id_ = author_of(lab.home, reviewer).id
    rows = list(calls)
    people = read_people(lab.home)
    me = people.name(id_)
    mine = [row for row in rows if me in _names(getattr(row, "reviewers", ()), people, else_=me)]
    desk = ReviewDesk(
        lab,
        [_uid(row) for row in mine],
        reviewer=id_,
        blind=blind,
        advance=advance,
        guide_version=guide_version,
        afresh={_uid(row) for row in mine if _is_asked_again(row, me, people)},
    )
    said = f"A review of {_several(len(desk.call_uids), 'call')} by {me}."
    others = len(rows) - len(mine)
    aside = f"Others are asked about {_several(others, 'more call')} of the queue." if others else ""
    return DeskWidget(
        desk, page="review.js", said=f"{said} {aside}".strip(), place=desk.first_open(), aside=aside
    )


def decide(lab: Lab, proposals: Iterable[Any] | None = None, *, reviewer: str | None = None) -> DeskWidget:
    """Return a widget in which *proposals* are decided: all of the lab's, or rows that have an `id`, or ids.

    Every decision is a line of the journal at once, by *reviewer* (git's `user.name` if nobody is named).

    >>> import quality_lab as ql
    >>> lab = ql.open_demo()
    >>> decide(lab, lab.proposals(top=3), reviewer="dana@example.com").said
    'Decisions on 3 proposals by Dana.'
    """
    id_ = author_of(lab.home, reviewer).id
    rows = lab.proposals(top=None) if proposals is None else proposals
    ids = list(dict.fromkeys(row if isinstance(row, str) else str(row.id) for row in rows))
    said = f"Decisions on {_several(len(ids), 'proposal')} by {read_people(lab.home).name(id_)}."
    return DeskWidget(DecideDesk(lab, ids, decider=id_), page="decide.js", said=said)


def _uid(row: Any) -> str:
    uid = row if isinstance(row, str) else getattr(row, "call_uid", None)
    if not isinstance(uid, str):
        raise UsageError(f"wanted rows with a call_uid, as `lab.calls()` has them; came {type(row).__name__}")
    return uid


def _names(reviewers: Any, people: People, *, else_: str) -> set[str]:
    """Return the names of those whom a row asks for, or the other one where it asks nobody in particular."""
    asked = reviewers if isinstance(reviewers, tuple) else ()  # a row of another kind may count them there
    return {people.name(one) for one in asked} or {else_}


def _is_asked_again(row: Any, me: str, people: People) -> bool:
    """Say whether a queue asks for a second look: at a disputed call that the reviewer has not labelled since."""
    return getattr(row, "stratum", None) == "disputed" and me not in {people.name(one) for one in row.done_by}


def _several(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _asset(name: str) -> str:
    return files("quality_lab.jupyter").joinpath(f"assets/{name}").read_text("utf-8")
