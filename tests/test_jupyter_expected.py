"""What should have been called, said in the review widget: what is typed lands where it is meant, or is said not to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyterlab_page import Notebook, journal
from jupyterlab_server import Server, jupyterlab
from lab_builder import LabBuilder

pytestmark = [pytest.mark.slow, pytest.mark.browser]

DANA = "dana@example.com"
CALLS = 30


# JavaScript: inputs of the decision whose placeholder is longer than they are.
CUT = """() => [...document.querySelectorAll('.ql-decide .ql-fields input')].filter(one => {
    if (!one.checkVisibility() || !one.placeholder || one.type === 'date') return false;
    const style = getComputedStyle(one);
    const pen = document.createElement('canvas').getContext('2d');
    pen.font = style.font;
    const room = one.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    return pen.measureText(one.placeholder).width > room;
}).map(one => one.placeholder)"""


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("lab") / "notebooks"
    folder.mkdir()
    with jupyterlab(folder) as served:
        yield served


@pytest.fixture(scope="module")
def notebook(tmp_path_factory, server, chromium) -> Iterator[Notebook]:
    """A review of many calls, the first without arguments, one of none, and a decision, in a window of 1280 by 900."""
    from playwright.sync_api import sync_playwright

    home = tmp_path_factory.mktemp("home")
    builder = LabBuilder(home)
    calls = [
        builder.call(
            conversation_id=f"c{number}", arguments="{}" if number == 0 else json.dumps({"amount": number})
        )
        for number in range(CALLS)
    ]
    for call in calls[-3:]:
        builder.label(call, "bad_args")
    builder.store()
    name = server.write(
        "expected.ipynb",
        f"import quality_lab as ql\nfrom quality_lab.jupyter import decide, review\nlab = ql.open({str(home)!r})",
        f"review(lab, sorted(lab.calls(), key=lambda row: int(row.conversation_id[1:])), reviewer={DANA!r})",
        f"review(lab, [], reviewer={DANA!r})",
        f"decide(lab, reviewer={DANA!r})",
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        opened = Notebook(browser, server, name)
        opened.page.set_viewport_size({"width": 1280, "height": 900})
        opened.home = home  # type: ignore[attr-defined]  # for the journal
        yield opened
        browser.close()


def review_of(notebook: Notebook) -> Any:
    return notebook.page.locator(".ql-review").first


def labels(notebook: Notebook) -> list[dict[str, Any]]:
    home: Path = notebook.home  # type: ignore[attr-defined]  # as above
    return journal(home)


def test_a_tool_typed_after_e_is_the_tool_and_bad_arguments_are_said_beside_them_while_keys_stay_keys(
    notebook,
):
    review = review_of(notebook)
    review.wait_for(timeout=60_000)
    review.locator(".ql-name").click()
    review.locator(".ql-call-head").wait_for(timeout=30_000)

    notebook.press("e")
    notebook.page.keyboard.type("get_tour_options")
    tool, args = review.locator(".ql-expected input"), review.locator(".ql-expected textarea")
    typed = (tool.input_value(), args.input_value())
    args.fill('{"a": 1} x')
    notebook.press("Escape", "w")
    wrong = review.locator(".ql-wrong")
    wrong.wait_for(timeout=10_000)
    box = wrong.bounding_box()
    refused = labels(notebook)
    notebook.press("j", "k")  # neither is typed into the box
    notebook.press("e")
    kept = args.input_value()
    args.fill('{"a": 1}')
    said_no_more = wrong.is_visible()
    notebook.press("Escape", "w")
    review.locator(".ql-status", has_text="Call 1: wrong tool, saved").wait_for(timeout=30_000)

    assert typed == ("get_tour_options", "{}")
    assert 0 < box["y"] < box["y"] + box["height"] < 900
    assert refused == []
    assert kept == '{"a": 1} x'
    assert not said_no_more
    [line] = labels(notebook)
    assert (line["expected_tool"], json.loads(line["expected_arguments"])) == ("get_tour_options", {"a": 1})


def test_the_head_of_many_calls_is_one_line_with_the_question_mark_in_it(notebook):
    review = review_of(notebook)
    review.wait_for(timeout=60_000)

    head, help_ = (review.locator(f".ql-head{part}").bounding_box() for part in ("", " > button"))
    name = review.locator(".ql-name").bounding_box()

    assert abs((name["y"] + name["height"] / 2) - (help_["y"] + help_["height"] / 2)) < 6
    assert help_["x"] + help_["width"] <= head["x"] + head["width"]
    assert review.locator(".ql-strip .ql-dot").count() == CALLS


def test_a_review_of_nothing_is_small(notebook):
    empty = notebook.page.locator(".ql-review").nth(1)
    empty.wait_for(timeout=60_000)

    assert "There is no call to review." in empty.text_content()
    assert empty.bounding_box()["height"] < 150


def test_no_placeholder_of_a_decision_is_cut(notebook):
    notebook.page.locator(".ql-decide .ql-card-title").first.wait_for(timeout=60_000)
    notebook.page.locator(".ql-decide .ql-name").click()
    cut = []
    for key in ("a", "p"):
        notebook.press(key)
        notebook.page.locator(".ql-field-owner input").wait_for(timeout=10_000)
        cut += notebook.page.evaluate(CUT)

    assert cut == []
