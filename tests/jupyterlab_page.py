"""A notebook in a browser, worked as a person does, and what its journal holds then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jupyterlab_server import IDLE, Server


class Notebook:
    """A notebook in a browser, with its cells run, and what the browser heard meanwhile."""

    def __init__(self, chrome: Any, server: Server, name: str, *, theme: str = "JupyterLab Light") -> None:
        self.server = server
        self.name = name
        self.said: list[str] = []  # errors on the console, exceptions, dialogs
        self.asked: list[str] = []  # addresses elsewhere
        self.page = chrome.new_page(viewport={"width": 1280, "height": 800})
        self.page.on("console", lambda line: self.said.append(line.text) if line.type == "error" else None)
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        self.page.on("request", self._heard)
        self.open()
        if theme != "JupyterLab Light":
            self.command("apputils:change-theme", {"theme": theme})
        self.title = self.page.title()
        self.command("notebook:run-all-cells")  # waits until they ran

    def _heard(self, request: Any) -> None:
        if not request.url.startswith((self.server.address, "ws:", "data:", "blob:")):
            self.asked.append(request.url)

    def open(self) -> None:
        self.page.goto(self.server.url(self.name))
        self.page.wait_for_function(IDLE, timeout=180_000)

    def command(self, name: str, given: dict[str, Any] | None = None) -> None:
        self.page.evaluate(
            "([name, given]) => window.jupyterapp.commands.execute(name, given)", [name, given or {}]
        )

    def cells(self) -> list[tuple[str, str]]:
        return [
            tuple(cell)
            for cell in self.page.evaluate(
                "() => window.jupyterapp.shell.currentWidget.content.widgets.map(one => [one.model.type,"
                " one.model.sharedModel.source])"
            )
        ]

    def runs(self) -> list[int | None]:
        """Return how often the kernel had run a cell when it ran each of them."""
        counts = "one => one.model.executionCount"
        return list(
            self.page.evaluate(f"() => window.jupyterapp.shell.currentWidget.content.widgets.map({counts})")
        )

    def focus(self, desk: str) -> None:
        shown = self.page.locator(desk)
        shown.wait_for(timeout=30_000)
        shown.scroll_into_view_if_needed()
        shown.locator(".ql-name").click()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def label(self, *keys: str) -> None:
        """Press each of *keys* when a call is shown: one that is not shown yet takes no label."""
        for key in keys:
            self.page.locator(".ql-review .ql-call-head").wait_for(timeout=30_000)
            self.press(key)

    def status(self, text: str, *, desk: str = ".ql-review") -> None:
        """Wait until the last line of a desk says *text*."""
        self.page.locator(f"{desk} .ql-status", has_text=text).wait_for(timeout=30_000)

    def saved(self) -> list[int]:
        """Return the calls that the strip shows as labelled, from 1."""
        dots = self.page.locator(".ql-strip .ql-dot")
        shown = [dots.nth(index).get_attribute("class") for index in range(dots.count())]
        return [place for place, name in enumerate(shown, 1) if "done" in name or "disputed" in name]

    def wide(self) -> list[str]:
        """Return the panes whose text runs out of them."""
        return list(
            self.page.evaluate(
                "() => [...document.querySelectorAll('.ql-desk, .ql-pane, .ql-foot')]"
                ".filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.className)"
            )
        )

    def places(self) -> Any:
        """Return how high and how low the parts of the review stand: nothing that is said or done may move them."""
        return self.page.evaluate(
            """() => {
                const desk = document.querySelector('.ql-review').getBoundingClientRect();
                return ['.ql-main', '.ql-foot', '.ql-label', '.ql-note', '.ql-status'].map(name => {
                    const box = document.querySelector(`.ql-review ${name}`).getBoundingClientRect();
                    return [name, box.y - desk.y, box.height].map(part =>
                        typeof part === 'number' ? Math.round(part) : part);
                });
            }"""
        )

    def as_it_was(self) -> bool:
        return bool(self.page.title().lstrip("● ") == self.title.lstrip("● "))


def journal(home: Path, shelf: str = "labels") -> list[dict[str, Any]]:
    path = home / "data" / "journal" / f"{shelf}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
