"""Slides: one HTML file that asks nobody, is moved by the arrow keys, and prints a slide a page."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from quality_lab.answers.exchange import EXCHANGE_STYLE
from quality_lab.reports.blocks import Html, asset, join, tag, text
from quality_lab.reports.clean_html import clean

_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)


def slides_html(title: str, slides: Sequence[str]) -> str:
    """Return *slides* (HTML of anybody's, which is cleaned) as one page.

    Left and right move, as do space, Page Up and Page Down, Home and End; the number of a slide stands in the
    address. Each slide is a sheet of one size that is made as large as the window allows; what is too long for
    it is set smaller. Without scripts the slides stand one below the other.
    """
    nonce = secrets.token_urlsafe(16)
    sheets = join(
        tag(
            "section",
            tag("div", Html(clean(slide)), class_="ql"),
            tag("footer", f"{title}", tag("span", f"{number} / {len(slides)}")),
            class_="slide",
            aria_label=f"Slide {number} of {len(slides)}",
        )
        for number, slide in enumerate(slides, 1)
    )
    script = Html(f'<script nonce="{nonce}">{asset("slides.js")}</script>')
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY.format(nonce=nonce)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{text(title)}</title>"
        f"<style>{asset('page.css')}\n{asset('pieces.css')}\n{EXCHANGE_STYLE}\n{asset('slides.css')}</style></head>\n"
        f"<body><main>\n{sheets}\n</main>\n{script}</body></html>\n"
    )
