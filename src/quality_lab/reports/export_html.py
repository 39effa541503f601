"""From an executed notebook to one page: self-contained, offline, and deaf to whatever its text tries to be.

Three locks stand one behind the other. Our own pieces escape what they show; whatever HTML a cell put out
goes through an allow-list; and the page's policy runs no script but the three that carry its nonce, and
fetches nothing.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from quality_lab.answers import visible
from quality_lab.answers.exchange import EXCHANGE_STYLE
from quality_lab.answers.page import STYLE as ANSWER_STYLE
from quality_lab.reports.attached import AGENDA_MIME, SLIDES_MIME
from quality_lab.reports.blocks import Html, asset, folded, join, paragraph, section, table, tag, text
from quality_lab.reports.clean_html import PICTURES, SOURCES, clean
from quality_lab.reports.notes import SUMMARY_MIME
from quality_lab.reports.palette import DARK_FOR_LIGHT

FIGURE_MIME = "application/vnd.plotly.v1+json"
_HIDDEN_TAGS = frozenset({"papermill-error-cell-tag"})
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)


@dataclass(slots=True)
class _Page:
    """What was met on the way down the notebook."""

    figures: list[str] = field(default_factory=list)  # JSON text of each
    said: list[str] = field(default_factory=list)  # what went to stderr
    failure: Html | None = None


def export_html(
    notebook: Mapping[str, Any], *, title: str, parameters: Mapping[str, object], problem: str | None = None
) -> str:
    """Return the executed *notebook* (as its JSON) as one HTML page.

    Code stands on the page only where it failed. *parameters* are listed at its end, *problem* heads it where
    no cell says itself what went wrong.
    """
    page = _Page()
    body = [_cell(cell, page) for cell in notebook.get("cells", [])]
    if problem and page.failure is None:
        page.failure = tag("div", paragraph(problem, class_="warn"), class_="ql failed")
    nonce = secrets.token_urlsafe(16)
    scripts = Html("")
    if page.figures:
        held = [_held("colours", _script_json({"dark": DARK_FOR_LIGHT}))]
        held += [_held(str(number), figure) for number, figure in enumerate(page.figures)]
        scripts = join([*held, _script(_plotly(), nonce), _script(asset("page.js"), nonce)])
    content = join([page.failure, *body, _appendix(parameters, page.said)])
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY.format(nonce=nonce)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{text(title)}</title>"
        f"<style>{asset('page.css')}\n{asset('pieces.css')}\n{ANSWER_STYLE}\n{EXCHANGE_STYLE}</style></head>\n"
        f"<body><main>\n{content}\n</main>\n{scripts}</body></html>\n"
    )


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def _script(code: str, nonce: str) -> Html:
    # Nothing inside a script can end it but this: in JavaScript "<\/" is "</" wherever it may stand.
    harmless = re.sub(r"</(?=script)", r"<\\/", code, flags=re.IGNORECASE)
    return Html(f'<script nonce="{nonce}">{harmless}</script>\n')


def _held(name: str, json_text: str) -> Html:
    return Html(f'<script type="application/json" data-held="{name}">{json_text}</script>\n')


def _script_json(value: object) -> str:
    r"""Return JSON that a script element can hold: `<`, `>`, `&` and both line separators are escaped."""
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return written


def _cell(cell: Mapping[str, Any], page: _Page) -> Html:
    if _HIDDEN_TAGS.intersection(cell.get("metadata", {}).get("tags", [])):
        return Html("")
    source = _joined(cell.get("source"))
    if cell.get("cell_type") == "markdown":
        return Html(f'<div class="ql">{_markdown(source)}</div>\n') if source.strip() else Html("")
    if cell.get("cell_type") != "code":
        return Html("")
    return join([_output(output, source, page) for output in cell.get("outputs", [])])


def _output(output: Mapping[str, Any], source: str, page: _Page) -> Html:
    kind = output.get("output_type")
    if kind == "stream":
        words = plain_text(_joined(output.get("text")))
        if output.get("name") == "stderr":
            page.said.append(words)
            return Html("")
        return Html(f'<div class="ql">{tag("pre", text(words, keep=_LINES))}</div>\n')
    if kind == "error":
        trace = plain_text("\n".join(str(line) for line in output.get("traceback", [])))
        message = plain_text(f"{output.get('ename', 'Error')}: {output.get('evalue', '')}")
        page.failure = tag(
            "div",
            tag("h2", "This report failed", class_="warn"),
            paragraph("A cell could not be run, so what stands below ends there. It said:"),
            tag("pre", text(message, keep=_LINES)),
            folded("The cell, and where in it", tag("pre", text(f"{source}\n\n{trace}", keep=_LINES))),
            class_="ql failed",
        )
        return Html("")
    if kind in ("display_data", "execute_result"):
        return _shown(output.get("data", {}), page)
    return Html("")


_LINES = "\n\t"


def _shown(bundle: Mapping[str, Any], page: _Page) -> Html:
    """Return the richest of an output's forms that can be shown safely."""
    if not {SUMMARY_MIME, AGENDA_MIME, SLIDES_MIME}.isdisjoint(bundle):
        return Html("")  # for the runner, not for readers
    if FIGURE_MIME in bundle:
        return _figure(bundle[FIGURE_MIME], page)
    if "text/html" in bundle:
        return Html(f'<div class="cell">{clean(_joined(bundle["text/html"]))}</div>\n')
    for mime in PICTURES:
        if mime in bundle:
            return _picture(mime, _joined(bundle[mime]))
    if "text/markdown" in bundle:
        return Html(f'<div class="ql">{_markdown(_joined(bundle["text/markdown"]))}</div>\n')
    words = plain_text(_joined(bundle.get("text/plain")))
    return (
        Html(f'<div class="ql">{tag("pre", text(words, keep=_LINES))}</div>\n') if words.strip() else Html("")
    )


def _figure(figure: Mapping[str, Any], page: _Page) -> Html:
    figure = _made_visible(figure)
    layout = figure.get("layout") or {}
    page.figures.append(_script_json({"data": figure.get("data") or [], "layout": layout}))
    height = layout.get("height")
    pixels = int(height) if isinstance(height, (int, float)) and 0 < height < 10_000 else 450
    name = _figure_title(layout)
    return Html(
        f'<div class="ql"><figure role="img" aria-label="{text(name)}">'
        f'<div class="ql-plot" data-figure="{len(page.figures) - 1}" style="height:{pixels}px"></div>'
        "<noscript><p>A script of this page draws this figure; this browser runs none.</p></noscript>"
        "</figure></div>\n"
    )


def _made_visible(value: Any) -> Any:
    """Return a figure's JSON with every text in it made visible: no direction marks, no controls."""
    if isinstance(value, str):
        return visible(value, keep=_LINES)
    if isinstance(value, Mapping):
        return {key: _made_visible(inner) for key, inner in value.items() if not _loads(key, inner)}
    return [_made_visible(inner) for inner in value] if isinstance(value, list) else value


def _loads(key: str, value: Any) -> bool:
    """Return whether a figure would ask for this picture from somewhere."""
    return key == "source" and isinstance(value, str) and not value.startswith(SOURCES)


def _figure_title(layout: Mapping[str, Any]) -> str:
    title = layout.get("title")
    words = title.get("text") if isinstance(title, Mapping) else title
    return re.sub(r"<[^>]*>", " ", words) if isinstance(words, str) else "Figure"


def _picture(mime: str, encoded: str) -> Html:
    try:
        content = base64.b64decode(encoded, validate=False)
    except (binascii.Error, ValueError):
        return Html("")
    again = base64.b64encode(content).decode("ascii")
    return Html(f'<div class="ql"><figure><img alt="" src="data:{mime};base64,{again}"></figure></div>\n')


def _markdown(source: str) -> str:
    """Return Markdown as HTML; HTML inside it is shown as the text it is."""
    from markdown_it import MarkdownIt

    return clean(MarkdownIt("commonmark", {"html": False}).enable("table").render(source))


def plain_text(words: str) -> str:
    """Return *words* without the codes that colour a terminal."""
    return _ANSI.sub("", words)


def _joined(value: str | Sequence[str] | None) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else "".join(value)


def _appendix(parameters: Mapping[str, object], said: Sequence[str]) -> Html:
    rows = [[tag("code", name), _value(value)] for name, value in parameters.items()]
    told = "\n".join(words.rstrip() for words in said).strip()
    return tag(
        "footer",
        section("parameters", "What this report was asked", table(["Parameter", "Value"], rows))
        if rows
        else None,
        folded("What the run said on the side", tag("pre", text(told, keep=_LINES), class_="said"))
        if told
        else None,
        class_="ql",
    )


def _value(value: object) -> Html:
    if value is None or value == [] or value == "":
        return tag("span", "not set", class_="quiet")
    return tag(
        "code", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    )
