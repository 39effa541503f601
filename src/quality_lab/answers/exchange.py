"""A call shown as the exchange it was: what was said, the call, what came back, what a reviewer wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from quality_lab.answers.answer import Answer
from quality_lab.answers.harmless import visible
from quality_lab.answers.page import text as html
from quality_lab.answers.pretty import readable
from quality_lab.answers.words import time

_LONG = 600  # characters; what is longer is folded on a page
_LONGEST = 20_000  # characters; what is longer is cut, with a word on how much
_KEEP = "\n\t"

EXCHANGE_STYLE = """
.ql-exchange .ql-step{display:grid;grid-template-columns:8.5em minmax(0,1fr);gap:0 .8em;
  padding:.35em 0 .35em .6em;border-left:3px solid transparent;max-width:64em;box-sizing:border-box;
  border-bottom:1px solid color-mix(in srgb,currentColor 12%,transparent)}
.ql-exchange .ql-who{opacity:.75;overflow-wrap:anywhere}
.ql-exchange .ql-text{white-space:pre-wrap;overflow-wrap:anywhere}
.ql-exchange .ql-chosen{border-left-color:var(--ql-bar)}
.ql-exchange pre{margin:.2em 0 0;padding:0;white-space:pre-wrap;overflow-wrap:anywhere;background:none;
  color:inherit;font:12px/1.45 ui-monospace,monospace}
.ql-exchange .ql-tool{font-weight:600}
.ql-exchange .ql-bad{font-weight:600;color:var(--ql-warning,#b3470e)}
.ql-exchange summary{cursor:pointer;overflow-wrap:anywhere}
""".strip()


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One thing that happened in a conversation."""

    kind: Literal["said", "called", "labelled"]
    who: str  # the role that spoke, the tool that was called, the reviewer who labelled
    text: str | None = None  # what was said, or the reviewer's note
    arguments: str | None = None  # of a call: JSON text
    result: str | None = None  # of a call: JSON text
    state: str | None = None  # of a call: its outcome, with a reason where it has one; else the label
    fine: bool = True  # False: an outcome or a label that a reader should look at
    at: datetime | None = None
    call_uid: str | None = None
    origin: str | None = None  # file and line
    chosen: bool = False  # the one call that was asked for


class Exchange:
    """Steps of one conversation in order, shown as a conversation in a notebook and on a terminal."""

    def __init__(self, steps: Sequence[Step], *, title: str, notes: Sequence[str] = ()) -> None:
        """Keep the steps; *notes* are sentences to read with them."""
        self.steps = tuple(steps)
        self.title = title
        self.notes = tuple(notes)

    def __repr__(self) -> str:
        """Return the exchange as plain text; control characters show as their escapes."""
        return exchange_text(self.steps, title=self.title, notes=self.notes)

    def _repr_html_(self) -> str:
        """Return the exchange as escaped HTML, for notebooks."""
        return exchange_html(self.steps, title=self.title, notes=self.notes)


class CallView(Exchange):
    """One call as the exchange it was: the messages around it, its result, its labels.

    >>> import quality_lab as ql
    >>> lab = ql.open_demo()
    >>> one = lab.call(lab.calls(label="bad_args")[0].call_uid)
    >>> [step.kind for step in one.steps if step.chosen]
    ['called']
    """


class ConversationView(Exchange):
    """A whole conversation: its messages, calls and labels in order; the same as rows is its `answer`.

    >>> import quality_lab as ql
    >>> told = ql.open_demo().conversation("chat-0005")
    >>> told.steps[0].kind
    'said'
    """

    def __init__(self, steps: Sequence[Step], *, answer: Answer[Any]) -> None:
        """Keep the steps, and the rows that they were made from."""
        super().__init__(steps, title=answer.title, notes=answer.notes)
        self.answer = answer


def exchange_text(steps: Sequence[Step], *, title: str, notes: Sequence[str] = ()) -> str:
    """Return the steps as plain text, each indented under who or what it is."""
    lines = [visible(title)]
    for step in steps:
        stamp = f"  {time(step.at)}" if step.at else ""
        mark = ">" if step.chosen else " "
        state = f": {visible(step.state)}" if step.state else ""
        what = {"said": "", "called": "calls ", "labelled": "label by "}[step.kind]
        lines.append(f"{mark} {what}{visible(step.who)}{state}{stamp}")
        if step.kind == "called":
            lines += _block(readable(step.arguments) if step.arguments is not None else "(no arguments)")
            lines.append("    returned")
            lines += _block(readable(step.result) if step.result is not None else "(no result)")
            if step.origin or step.call_uid:
                lines.append(
                    f"    {visible(' '.join(part for part in (step.call_uid, step.origin) if part))}"
                )
        elif step.text is not None:
            lines += _block(step.text)
    return "\n".join([*lines, *(visible(note) for note in notes)])


def _block(text: str) -> list[str]:
    return [f"    {line}" for line in visible(_cut(text), keep=_KEEP).split("\n")]


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}… ({len(text) - _LONGEST:,} more characters)"


def exchange_html(steps: Sequence[Step], *, title: str, notes: Sequence[str] = (), style: bool = True) -> str:
    """Return the steps as HTML; *style* False leaves the style sheets to the page around it."""
    from quality_lab.answers.page import STYLE

    sheet = f"<style>{STYLE}\n{EXCHANGE_STYLE}</style>" if style else ""
    body = "".join(_step(step) for step in steps) or "<p>Nothing is known of it.</p>"
    tail = [*notes, *(["Times are UTC."] if any(step.at for step in steps) else [])]
    paragraphs = "".join(f"<p>{html(line)}</p>" for line in tail)
    head = f'<div class="ql-title">{html(title)}</div>'
    return f'<div class="ql-answer ql-exchange">{sheet}{head}{body}{paragraphs}</div>'


def _step(step: Step) -> str:
    what = {"said": step.who, "called": "call", "labelled": f"label by {step.who}"}[step.kind]
    when = f"<br>{html(time(step.at))}" if step.at else ""
    state = ""
    if step.state:
        state = f'<span class="{"ql-fine" if step.fine else "ql-bad"}">{html(step.state)}</span>'
    if step.kind == "called":
        given, came = _folded(step.arguments, "no arguments"), _folded(step.result, "no result")
        inside = f'<span class="ql-tool">{html(step.who)}</span>{given}<div>returned {state}</div>{came}'
    else:
        inside = state + _said(step.text or "")
    hover = " ".join(part for part in (step.call_uid, step.origin) if part)
    title = f' title="{html(hover)}"' if hover else ""
    chosen = " ql-chosen" if step.chosen else ""
    return (
        f'<div class="ql-step ql-{step.kind}{chosen}"{title}>'
        f'<div class="ql-who">{html(what)}{when}</div><div>{inside}</div></div>'
    )


def _said(text: str) -> str:
    if not text:
        return ""
    block = f'<div class="ql-text">{html(_cut(text), keep=_KEEP)}</div>'
    if len(text) <= _LONG:
        return block
    start = html(text[:80].replace("\n", " "))
    return f"<details><summary>{start}… ({len(text):,} characters)</summary>{block}</details>"


def _folded(json_text: str | None, nothing: str) -> str:
    if json_text is None:
        return f"<pre>({nothing})</pre>"
    shown = _cut(readable(json_text))
    block = f"<pre>{html(shown, keep=_KEEP)}</pre>"
    if len(shown) <= _LONG:
        return block
    start = html(shown[:80].replace("\n", " "))
    return f"<details><summary>{start}… ({len(json_text):,} characters)</summary>{block}</details>"
