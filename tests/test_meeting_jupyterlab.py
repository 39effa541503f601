"""A whole review meeting in a real JupyterLab: prepared, held by keyboard, closed, and there again after a reload."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from jupyterlab_page import Notebook, journal
from jupyterlab_server import Server, jupyterlab

import quality_lab as ql

pytestmark = [pytest.mark.slow, pytest.mark.browser]

DANA = "dana@example.com"
LAST_CELL = """() => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.deselectAll();
    notebook.activeCellIndex = notebook.widgets.length - 1;
}"""
DELIBERATE = """() => {
    const cell = window.jupyterapp.shell.currentWidget.content.widgets.at(-1);
    cell.model.sharedModel.setSource(cell.model.sharedModel.getSource().replace("close = False", "close = True"));
}"""
DECIDE, DISPUTES, QUEUE = ".ql-decide", ".ql-review >> nth=0", ".ql-review >> nth=1"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("meeting") / "notebooks"
    folder.mkdir()
    with jupyterlab(folder) as served:
        yield served


@pytest.fixture
def chrome(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


class Room:
    """The meeting's notebook in a browser; each desk says in its last line what it did."""

    def __init__(self, chrome: Any, server: Server, name: str) -> None:
        self.notebook = Notebook(chrome, server, name)
        self.page = self.notebook.page

    def at(self, desk: str) -> None:
        self.notebook.focus(desk)

    def says(self, desk: str, text: str) -> None:
        self.page.locator(f"{desk} >> .ql-status", has_text=text).wait_for(timeout=30_000)

    def label(self, desk: str, *keys: str) -> None:
        """Press each of *keys* once a call is shown: one that is not shown yet takes no label."""
        for key in keys:
            self.page.locator(f"{desk} >> .ql-call-head").wait_for(timeout=30_000)
            self.notebook.press(key)

    def fill(self, field: str, text: str) -> None:
        self.page.locator(f".ql-decide .ql-field-{field} input").fill(text)

    def photograph(self, name: str) -> None:
        """Keep a picture where somebody asked for one, to be looked at with one's own eyes."""
        if folder := os.environ.get("QUALITY_LAB_PICTURES"):
            self.page.screenshot(path=Path(folder) / f"{name}.png")


def meeting_notebook(server: Server, repository: Path, home: Path) -> str:
    """Lay the shipped notebook out for a lab and a reviewer; return its name."""
    content = json.loads((repository / "notebooks" / "meeting.ipynb").read_text(encoding="utf-8"))
    for cell in content["cells"]:
        lines = [re.sub(r"^home = None", f"home = {str(home)!r}", line) for line in cell["source"]]
        cell["source"] = [re.sub(r"^reviewer = None", f"reviewer = {DANA!r}", line) for line in lines]
    (server.folder / "meeting.ipynb").write_text(json.dumps(content), encoding="utf-8")
    return "meeting.ipynb"


def test_a_meeting_is_prepared_held_by_keyboard_closed_and_all_of_it_is_there_after_a_reload(
    server: Server, chrome: Any, repository: Path, tmp_path: Path
) -> None:
    story = repository / "data" / "demo"
    (tmp_path / "data").mkdir()
    lab = ql.open(tmp_path)
    lab.load(story / "exports", story / "journal")

    # before: the agenda
    prepared = run("--home", tmp_path, "report", "coach-review", "--as-of", "2026-06-01", "--json")
    assert prepared.code == 0, prepared.err
    folder = Path(prepared.document["folder"])
    agenda = lab.meeting()
    assert len(agenda.proposals) >= 4
    assert len(agenda.disputed) == 5

    # in it: decisions, a dispute, ten labels
    room = Room(chrome, server, meeting_notebook(server, repository, tmp_path))
    assert room.notebook.said == []
    room.at(DECIDE)
    room.page.locator(".ql-decide .ql-example").first.wait_for(timeout=30_000)
    room.photograph("1-decide")
    room.notebook.press("j", "a")
    room.fill("owner", "tomas")
    room.fill("due", "2026-06-12")
    room.fill("expect", "under 20 % by 1 July")
    room.photograph("2-accept")
    room.notebook.press("Enter")
    room.says(DECIDE, "accept: saved.")
    room.at(DECIDE)
    room.notebook.press("j", "d", "Enter")
    room.says(DECIDE, "dismiss: saved.")
    room.at(DECIDE)
    room.notebook.press("j", "p")
    room.page.locator(".ql-decide select").select_option("prompt_patch")
    room.fill("ref", "v12")
    room.notebook.press("Enter")
    room.says(DECIDE, "apply: saved.")
    room.at(DECIDE)
    room.notebook.press("k", "k", "k")
    room.page.locator(".ql-decide .ql-example").first.wait_for(timeout=30_000)
    room.at(DECIDE)
    room.notebook.press("m")
    room.page.keyboard.type("amountMode is target_thb")
    room.notebook.press("Enter")
    room.says(DECIDE, "is made")
    room.photograph("3-case")

    room.at(DISPUTES)
    room.label(DISPUTES, "a", "4")
    room.says(DISPUTES, "settled as bad args, saved")
    room.photograph("4-dispute")

    room.at(QUEUE)
    room.label(QUEUE, *"1b5g111112")
    room.says(QUEUE, "All 10 are labelled.")
    room.photograph("5-labels")

    # after it: the last cell closes nothing by itself; then the minutes, with a deliberate step
    room.page.evaluate(LAST_CELL)
    room.notebook.command("notebook:run-cell")
    room.page.locator(".jp-OutputArea-output", has_text="The meeting is open.").wait_for(timeout=30_000)
    assert not (folder / "minutes.md").exists()
    room.page.evaluate(DELIBERATE)
    room.page.evaluate(LAST_CELL)
    room.notebook.command("notebook:run-cell")
    minutes = room.page.locator(".jp-OutputArea-output h1", has_text="Coach review, ")
    minutes.wait_for(timeout=30_000)
    minutes.scroll_into_view_if_needed()
    first = room.page.locator(".jp-OutputArea-output .ql .wide td").first
    assert (
        first.evaluate("one => getComputedStyle(one).textAlign") == "left"
    )  # JupyterLab would have it right
    first.scroll_into_view_if_needed()
    room.photograph("6-minutes")

    labels, decisions = journal(tmp_path), journal(tmp_path, "decisions")
    assert [line["label"] for line in labels if "adjudication" not in line and line["author"] == DANA] == [
        *("good_reply", "bad_args", "other", "good_reply"),
        *("good_reply", "good_reply", "good_reply", "good_reply", "good_reply", "wrong_tool"),
    ]
    assert [(line["call"]["call_uid"], line["label"]) for line in labels if line.get("adjudication")] == [
        (agenda.disputed[0], "bad_args")
    ]
    (case,) = journal(tmp_path, "cases")
    assert [(line["action"], line.get("ref"), line.get("owner")) for line in decisions] == [
        ("accept", None, "tomas"),
        ("dismiss", None, None),
        ("apply", "v12", None),
        ("apply", f"REG-{case['record']['id']}", None),
    ]
    assert decisions[0]["expectation"] == "under 20 % by 1 July"
    markdown = (folder / "minutes.md").read_text(encoding="utf-8")
    assert "10 labels, 1 dispute settled, 4 decisions, 1 case by dana" in markdown
    assert "tomas by 12 June 2026 | under 20 % by 1 July" in markdown
    assert "is in no git work tree" in markdown
    assert not (tmp_path / ".git").exists()

    # and after a reload everything is there
    room.notebook.command("docmanager:save")
    room.notebook.open()
    for desk, said in ((QUEUE, "10 of 10 labelled"), (DISPUTES, "of 5 labelled")):
        room.page.locator(f"{desk} >> .ql-progress", has_text=said).wait_for(timeout=60_000)
    room.at(DECIDE)
    room.notebook.press("j")
    room.page.locator(".ql-decide .ql-decided", has_text="tomas").first.wait_for(timeout=30_000)
    room.page.locator(".jp-OutputArea-output h1", has_text="Coach review, ").wait_for(timeout=30_000)
    room.photograph("7-reloaded")
    states = {one.id: one.state for one in ql.open(tmp_path).proposals(top=None)}
    assert [states[one] for one in agenda.proposals[:4]] == ["applied", "accepted", "dismissed", "applied"]
    assert room.notebook.said == []
    assert room.notebook.asked == []
