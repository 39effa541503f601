"""HTML that is safe by construction: text from anywhere is escaped and made visible, markup is only ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files

from quality_lab.answers import visible
from quality_lab.answers.words import percent, percent_range


class Html(str):
    """Markup that this project made. A plain text that meets it is escaped first."""

    __slots__ = ()


def text(value: object, *, keep: str = "") -> Html:
    """Return *value* as HTML that shows it and does nothing else; markup of ours stays what it is.

    >>> text("<b onclick=x>\\u202e")
    '&lt;b onclick=x&gt;\\\\u202e'
    """
    if isinstance(value, Html):
        return value
    return Html(escape(visible(str(value), keep=keep), quote=True))


def tag(name: str, *children: Html | str | None, **attributes: str | None) -> Html:
    """Return an element; children that are not markup are escaped, attributes without a value are left out.

    >>> tag("a", "more & more", href="#labels", class_="quiet")
    '<a href="#labels" class="quiet">more &amp; more</a>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Iterable[Html | str | None], between: str = "") -> Html:
    """Return the children one after another, None left out, each escaped unless it is markup."""
    return Html(text(between).join(text(child) for child in children if child is not None))


def paragraph(*children: Html | str | None, class_: str | None = None) -> Html:
    """Return a paragraph."""
    return tag("p", *children, class_=class_)


def section(anchor: str, title: str, *children: Html | str | None) -> Html:
    """Return a part of the page with its heading, under a name that links can point to."""
    return tag("section", tag("h2", title), *children, id=anchor)


def folded(summary: Html | str, *children: Html | str | None) -> Html:
    """Return something that opens on a click."""
    return tag("details", tag("summary", summary), *children)


def items(children: Iterable[Html | str]) -> Html:
    """Return a list of points."""
    return tag("ul", *(tag("li", child) for child in children))


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[Html | str]],
    *,
    numeric: Sequence[int] = (),
    caption: str | None = None,
) -> Html:
    """Return a table; the columns whose 0-based numbers stand in *numeric* are aligned to the right."""

    def cells(kind: str, row: Sequence[Html | str]) -> Html:
        return join(
            tag(kind, cell, class_="n" if place in numeric else None, scope="col" if kind == "th" else None)
            for place, cell in enumerate(row)
        )

    head = tag("thead", tag("tr", cells("th", headings)))
    body = tag("tbody", *(tag("tr", cells("td", row)) for row in rows))
    return tag("div", tag("table", tag("caption", caption) if caption else None, head, body), class_="wide")


def rate(value: float | None, low: float | None, high: float | None, *, unknown: str = "–") -> Html:
    """Return a share with its interval and a bar as long as it is large; *unknown* where there is none."""
    if value is None:
        return text(unknown)
    interval = f" ({percent_range(low, high)})" if low is not None and high is not None else ""
    width = f"width:{min(max(value, 0.0), 1.0) * 100:.1f}%"
    bar = tag("span", tag("i", style=width), class_="bar")
    return join([percent(value), tag("small", interval) if interval else None, bar])


@cache
def asset(name: str) -> str:
    """Return one of the files that lie beside this module."""
    return (files("quality_lab.reports") / "assets" / name).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a report that shows itself: in a notebook with its own style, on a page with the page's."""

    html: Html
    plain: str = ""

    def _repr_html_(self) -> str:
        return f'<div class="ql"><style>{asset("pieces.css")}</style>{self.html}</div>'

    def __repr__(self) -> str:
        """Return the same in words, for a terminal."""
        return self.plain or "a piece of a report; a notebook shows it"
