"""The notebooks in JupyterLab itself, opened and run by a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from jupyterlab_server import IDLE, Server, jupyterlab
from lab_builder import MONDAY, LabBuilder

from quality_lab.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.browser]

HOSTILE = (
    "<script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"
    "<a href=\"javascript:document.title='ran'\">go</a></script></style>{{ 7*7 }}``` \x1b[31m\u202e"
)
FAILED = """() => {
    const failed = [];
    for (const cell of window.jupyterapp.shell.currentWidget.content.widgets) {
        const outputs = cell.model.type === 'code' ? cell.model.outputs : {length: 0};
        for (let i = 0; i < outputs.length; i++) {
            if (outputs.get(i).type === 'error') { failed.push(outputs.get(i).toJSON().evalue); }
        }
    }
    return failed;
}"""
TEXT = """() => window.jupyterapp.shell.currentWidget.content.widgets
    .map(one => one.node.textContent).join('\\n')"""
WIDE = """() => [...document.querySelectorAll('.jp-OutputArea-output, .jp-WindowedPanel-outer, html')]
    .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.className)"""


def put(server: Server, notebook: Path, home: Path) -> str:
    """Copy *notebook* into the folder of *server*, its home set to *home*; return its name there."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    for cell in content["cells"]:
        cell["source"] = [re.sub(r"^home = None", f"home = {str(home)!r}", line) for line in cell["source"]]
    (server.folder / notebook.name).write_text(json.dumps(content), encoding="utf-8")
    return notebook.name


@dataclass
class Seen:
    """What a browser saw and heard while a notebook ran."""

    figures: int
    bars: int
    failed: list[str]
    wide: list[str]
    title: str
    text: str
    said: list[str] = field(default_factory=list)  # errors on the console, exceptions, dialogs
    asked: list[str] = field(default_factory=list)  # addresses


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("lab") / "notebooks"
    folder.mkdir()
    with jupyterlab(folder) as served:
        yield served


def run_all(server: Server, name: str, chromium: str) -> Seen:
    """Open the notebook in JupyterLab, run all its cells, and return what was seen."""
    from playwright.sync_api import sync_playwright

    said: list[str] = []
    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.on("console", lambda line: said.append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(server.url(name))
        page.wait_for_function(IDLE, timeout=180_000)
        title = page.title()
        page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")  # waits until they ran
        page.wait_for_timeout(3_000)
        seen = Seen(
            figures=page.locator(".js-plotly-plot").count(),
            bars=page.locator(".js-plotly-plot .bars .point").count(),
            failed=page.evaluate(FAILED),
            wide=page.evaluate(WIDE),
            title="as it was" if page.title().lstrip("● ") == title.lstrip("● ") else page.title(),
            text=page.evaluate(TEXT),
            said=said,
            asked=[url for url in asked if not url.startswith((server.address, "ws:", "data:", "blob:"))],
        )
        browser.close()
    return seen


def test_explore_runs_in_jupyterlab_draws_its_figures_and_asks_nobody(server, repository, chromium, tmp_path):
    (tmp_path / "data").mkdir()
    story = repository / "data" / "demo"
    Store(tmp_path).load([story / "exports", story / "journal"])

    seen = run_all(server, put(server, repository / "notebooks" / "explore.ipynb", tmp_path), chromium)

    assert seen.failed == []
    assert seen.said == []
    assert seen.asked == []
    assert seen.wide == []
    assert seen.figures == 3  # failing tools, labels, coverage
    assert seen.bars == 7 + 2 * 15  # the five labels, unmapped, disputed; fifteen tools, reviewed and not
    assert "fetch_exchange_requisites is called too early" in seen.text


@pytest.mark.parametrize("name", ["explore", "quality"])
def test_hostile_text_in_a_lab_runs_nothing_in_jupyterlab(server, repository, chromium, tmp_path, name):
    builder = LabBuilder(tmp_path)
    for week in range(3):
        for call in builder.calls(
            12, HOSTILE, created_at=MONDAY + timedelta(weeks=week), arguments='{"a":1}'
        ):
            builder.label(call, "bad_args", HOSTILE, note=HOSTILE)
    builder.calls(8, HOSTILE, is_error=True, error_origin="flag", error_text=HOSTILE, source=HOSTILE)
    builder.guard("unbacked_quote", arguments=json.dumps({"originalText": HOSTILE}))
    builder.store()

    seen = run_all(server, put(server, repository / "notebooks" / f"{name}.ipynb", tmp_path), chromium)

    assert seen.failed == []
    assert seen.said == []
    assert seen.asked == []
    assert seen.title == "as it was"
    assert seen.figures >= 3
    assert "<script>document.title='ran'</script>" in seen.text
