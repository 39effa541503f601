"""Slides: one file that asks nobody, is moved by keys, prints a slide a page, and does nothing that its text says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quality_lab.reports.slides import slides_html

HOSTILE = (
    "<script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"
    "<a href=\"javascript:document.title='ran'\">go</a></section></main></script></style>{{ 7*7 }} \x1b[31m\u202e"
)


def test_slides_are_numbered_and_what_they_hold_is_cleaned() -> None:
    page = slides_html("Review <b>", ["<h2>One</h2>", f"<p>{HOSTILE}</p>"])

    assert page.count('<section class="slide"') == 2
    assert "<h2>One</h2>" in page
    assert "2 / 2" in page
    assert "Review &lt;b&gt;" in page
    body = page[page.index("<body>") : page.index("<script nonce=")]
    assert not re.search(r"<script|onerror|javascript:|\x1b|\u202e|src=x", body)
    assert body.count("</section>") == 2


def test_the_page_may_fetch_nothing_and_run_its_own_script_alone() -> None:
    first, second = slides_html("Review", ["<p>x</p>"]), slides_html("Review", ["<p>x</p>"])

    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', first)
    (nonce,) = re.findall(r"script-src 'nonce-([^']+)'", policy)
    assert policy.startswith("default-src 'none';")
    assert re.findall(r"<script[^>]*>", first) == [f'<script nonce="{nonce}">']
    assert nonce not in second
    assert not re.search(r"https?://(?!www\.w3\.org)", first)


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


class Shown:
    """Slides in a browser, and what was heard meanwhile."""

    def __init__(
        self, browser: Any, file: Path, *, at: str = "", width: int = 1280, height: int = 800
    ) -> None:
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page = browser.new_page(viewport={"width": width, "height": height})
        self.page.on("console", lambda line: self.said.append(line.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.address = file.as_uri()
        self.page.goto(self.address + at)

    def now(self) -> list[str]:
        """Return the headings that can be seen."""
        return [one.inner_text() for one in self.page.locator("h2").all() if one.is_visible()]

    def after(self, key: str) -> str:
        self.page.keyboard.press(key)
        (heading,) = self.now()
        return heading


def write(folder: Path, *slides: str, title: str = "Review") -> Path:
    file = folder / "slides.html"
    file.write_text(slides_html(title, slides), encoding="utf-8")
    return file


@pytest.mark.browser
def test_the_keyboard_moves_one_slide_at_a_time_and_stops_at_the_ends(browser: Any, tmp_path: Path) -> None:
    shown = Shown(browser, write(tmp_path, "<h2>one</h2>", "<h2>two</h2>", "<h2>three</h2>"))

    assert shown.now() == ["one"]
    moves = ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "PageUp", "ArrowLeft", " ", "End", "Home"]
    assert [shown.after(key) for key in moves] == [
        *("two", "three", "three", "two", "one", "one", "two", "three", "one"),
    ]
    assert shown.after("PageDown") == "two"
    assert shown.page.url.endswith("#2")
    assert Shown(browser, tmp_path / "slides.html", at="#3").now() == ["three"]
    assert Shown(browser, tmp_path / "slides.html", at="#99").now() == ["three"]
    assert (shown.said, shown.asked) == ([], [shown.address])


@pytest.mark.browser
def test_a_slide_is_as_large_as_the_window_allows_and_too_long_a_one_is_set_smaller(
    browser: Any, tmp_path: Path
) -> None:
    long, longer = ("".join(f"<p>line {number}</p>" for number in range(count)) for count in (18, 60))
    file = write(tmp_path, "<h2>short</h2>", f"<h2>long</h2>{long}", f"<h2>longer</h2>{longer}")
    size = "one => { const box = one.getBoundingClientRect(); return [box.width, box.height]; }"

    for width, height, wanted in (
        (1280, 800, [1280, 720]),
        (2560, 1440, [2560, 1440]),
        (640, 800, [640, 360]),
    ):
        shown = Shown(browser, file, width=width, height=height)
        assert shown.page.locator(".slide.now").evaluate(size) == pytest.approx(wanted, abs=1)
    shown = Shown(browser, file)
    zooms = shown.page.evaluate(
        "[...document.querySelectorAll('.slide > .ql')].map(one => Number(one.style.zoom))"
    )
    cut = shown.page.evaluate(
        "[...document.querySelectorAll('.slide')].map(one => one.classList.contains('cut'))"
    )
    assert zooms[0] == 1
    assert 0.55 < zooms[1] < 1
    assert zooms[2] == pytest.approx(0.55)
    assert cut == [False, False, True]
    shown.page.keyboard.press("ArrowRight")
    last = shown.page.locator(".slide.now p").last
    assert last.inner_text() == "line 17"
    assert last.bounding_box()["y"] + last.bounding_box()["height"] < 40 + 720 - 50  # above the footer


@pytest.mark.browser
def test_one_slide_is_one_page_on_paper(browser: Any, tmp_path: Path) -> None:
    long = "".join(f"<p>line {number}</p>" for number in range(60))
    shown = Shown(
        browser, write(tmp_path, "<h2>one</h2>", f"<h2>two</h2>{long}", "<h2>three</h2>", "<h2>four</h2>")
    )
    shown.page.keyboard.press("ArrowRight")

    pdf = shown.page.pdf(prefer_css_page_size=True)

    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf)) == 4
    assert set(re.findall(rb"/MediaBox\s*\[([^\]]*)\]", pdf)) == {b"0 0 960 540"}  # 1280 by 720 at 96 a inch


@pytest.mark.browser
def test_without_scripts_the_slides_stand_one_below_the_other(browser: Any, tmp_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(write(tmp_path, "<h2>one</h2>", "<h2>two</h2>").as_uri())

    assert [one.is_visible() for one in page.locator("h2").all()] == [True, True]


@pytest.mark.browser
def test_hostile_text_runs_nothing(browser: Any, tmp_path: Path) -> None:
    shown = Shown(browser, write(tmp_path, f"<h2>x</h2><p>{HOSTILE}</p>", HOSTILE, title=HOSTILE))
    title = shown.page.title()

    for key in ("ArrowRight", "ArrowLeft"):
        shown.page.keyboard.press(key)
    shown.page.locator("a").first.evaluate("one => one.click()")

    assert shown.page.title() == title != "ran"
    assert shown.asked == [shown.address]
    assert shown.said == []
