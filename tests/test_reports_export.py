"""From an executed notebook to one page that runs nothing foreign and fetches nothing."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from notebook_maker import code, markdown, notebook, shown

from quality_lab.reports.export_html import export_html

HOSTILE = (
    "<script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"
    "<a href=\"javascript:document.title='ran'\">go</a><svg onload=alert(1)></svg>"
    "<iframe src='https://example.com/'></iframe></script></title></textarea>"
    "<style>body{display:none}</style>{{ 7*7 }}{% raw %}``` \x1b[31mred\x07 \u202eturned\u2066 \x00"
)
FIGURE = {"data": [{"type": "bar", "x": ["a", "b"], "y": [1, 2]}], "layout": {"title": {"text": "Two bars"}}}


class Tags(HTMLParser):
    """What a page is made of."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def body(page: str) -> str:
    """Return what stands between the page's head and its scripts."""
    return page[page.index("<main>") : page.index("</main>")]


def test_whatever_a_cell_puts_out_no_element_of_it_can_run_or_load():
    outputs = [
        shown(text_html=HOSTILE),
        shown(text_plain=HOSTILE),
        shown(text_markdown=HOSTILE),
        {"output_type": "stream", "name": "stdout", "text": HOSTILE},
        {"output_type": "stream", "name": "stderr", "text": HOSTILE},
        {"output_type": "error", "ename": HOSTILE, "evalue": HOSTILE, "traceback": [HOSTILE]},
    ]

    page = export_html(
        notebook(markdown(HOSTILE), code("x", *outputs)), title=HOSTILE, parameters={HOSTILE: HOSTILE}
    )

    found = Tags(body(page)).found
    assert {tag for tag, _ in found} & {"script", "style", "iframe", "svg", "object", "form", "meta"} == set()
    assert [name for _, attributes in found for name in attributes if name.startswith("on")] == []
    addresses = [
        attributes[name] for _, attributes in found for name in ("href", "src") if name in attributes
    ]
    assert [
        address for address in addresses if address and not address.startswith(("#", "data:image/"))
    ] == []
    assert not set("\x1b\x07\x00\u202e\u2066") & set(page)


def test_templating_braces_stay_the_text_they_are():
    page = export_html(notebook(code("x", shown(text_plain="{{ 7*7 }} {% raw %}"))), title="t", parameters={})

    assert "{{ 7*7 }} {% raw %}" in body(page)


def test_a_figure_is_held_as_json_that_no_text_can_end():
    hostile = {
        "data": [{"type": "bar", "x": [HOSTILE], "y": [1]}],
        "layout": {"title": {"text": "</script>&"}},
    }

    page = export_html(notebook(code("x", shown(figure=hostile))), title="t", parameters={})

    (held,) = re.findall(r'<script type="application/json" data-held="0">(.*?)</script>', page, re.DOTALL)
    assert "<" not in held
    read = json.loads(held)
    assert read["layout"]["title"]["text"] == "</script>&"
    assert read["data"][0]["x"][0].startswith("<script>document.title")
    assert "\\u202eturned" in read["data"][0]["x"][0]


def test_the_page_allows_only_the_scripts_that_carry_its_nonce_and_no_address_at_all():
    page = export_html(notebook(code("x", shown(figure=FIGURE))), title="t", parameters={})

    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    parts = dict(part.strip().split(" ", 1) for part in policy[1].split(";") if part.strip())
    nonce = re.fullmatch(r"'nonce-([\w-]{22,})'", parts["script-src"])
    assert nonce is not None
    assert parts["default-src"] == "'none'"
    assert parts["img-src"] == "data:"
    running = re.findall(r"<script nonce=\"([^\"]*)\">", page)
    assert running == [nonce[1], nonce[1]]
    again = export_html(notebook(code("x", shown(figure=FIGURE))), title="t", parameters={})
    assert nonce[1] not in again


def test_plotly_comes_once_however_many_figures_there_are_and_not_at_all_without_one():
    several = export_html(
        notebook(code("x", shown(figure=FIGURE), shown(figure=FIGURE))), title="t", parameters={}
    )
    none = export_html(notebook(code("x", shown(text_plain="1"))), title="t", parameters={})

    assert several.count("* plotly.js v") == 1
    assert 4_000_000 < len(several.encode()) < 6_000_000
    assert len(none) < 40_000
    assert "<script" not in none


def test_code_stands_on_the_page_only_where_it_failed():
    error = {
        "output_type": "error",
        "ename": "ZeroDivisionError",
        "evalue": "division by zero",
        "traceback": ["\x1b[31mZeroDivisionError\x1b[0m: division by zero"],
    }
    page = body(
        export_html(
            notebook(code("kept_away = 1", shown(text_plain="1")), code("wrong = 1 / 0", error)),
            title="t",
            parameters={},
        )
    )

    assert "kept_away" not in page
    assert "wrong = 1 / 0" in page
    assert "This report failed" in page
    assert "[31m" not in page


def test_parameters_are_listed_and_what_was_handed_to_the_runner_is_not_shown():
    page = body(
        export_html(
            notebook(code("x", shown(summary={"figures": {"calls": 1}}, text_plain="noted"))),
            title="t",
            parameters={"since": None, "tool": ["quote"], "top": 12},
        )
    )

    assert "noted" not in page
    assert re.sub(r"<[^>]*>", " ", page).split() == [
        *("What", "this", "report", "was", "asked", "Parameter", "Value"),
        *("since", "not", "set", "tool", "[&quot;quote&quot;]", "top", "12"),
    ]


def test_pictures_are_kept_as_data_and_others_are_dropped():
    page = body(
        export_html(
            notebook(
                code(
                    "x",
                    shown(image_png="aGFsbG8="),
                    shown(
                        text_html="<img src='https://example.com/x.png'>"
                        "<img src='data:text/html;base64,AA=='>"
                    ),
                )
            ),
            title="t",
            parameters={},
        )
    )

    assert re.findall(r'src="([^"]*)"', page) == ["data:image/png;base64,aGFsbG8="]


@pytest.mark.slow
def test_in_a_browser_hostile_text_runs_nothing_asks_nothing_and_the_figure_stands(chromium, tmp_path):
    from playwright.sync_api import sync_playwright

    hostile = {
        "data": [{"type": "bar", "x": [HOSTILE, "b"], "y": [1, 2], "hovertext": [HOSTILE, "b"]}],
        "layout": {"title": {"text": HOSTILE}, "images": [{"source": "https://example.com/x.png"}]},
    }
    outputs = [
        shown(text_html=HOSTILE),
        shown(text_plain=HOSTILE),
        shown(figure=hostile),
        shown(figure=FIGURE),
    ]
    path = tmp_path / "page.html"
    path.write_text(
        export_html(
            notebook(markdown(HOSTILE), code("x", *outputs)), title="quiet", parameters={"a": HOSTILE}
        ),
        encoding="utf-8",
    )
    said, asked = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-drawn='2']", timeout=30_000)
        for link in page.query_selector_all("a"):
            link.dispatch_event("click")
        title, bars = page.title(), page.locator(".bars .point").count()
        wide = page.evaluate("document.documentElement.scrollWidth")
        browser.close()

    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert title == "quiet"
    assert bars == 4
    assert wide == 1280
