"""Hostile text wherever it can stand: shown as text by page, notebook, terminal and sheet, and never acted on."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from command_line import run
from notebook_maker import code, write_template
from test_reports_jupyterlab import Server, put, run_all
from test_reports_jupyterlab import server as server  # the fixture of that name
from test_store_loading import feedback, trace, write

from quality_lab.lab import open_lab

ACTS = (
    "<script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"
    "<a href=\"javascript:document.title='ran'\" onclick=\"document.title='ran'\">go</a>"
    "<svg onload=\"document.title='ran'\"></svg><iframe src='https://example.com/'></iframe>"
    "</script></style></title></textarea>--><style>body{display:none}</style>"
    "[go](javascript:document.title='ran') ![x](https://example.com/x.png)\n```\n</code></pre><b>out</b>\n"
    "$(id) `id` {{ 7*7 }}{% raw %}{{ 'x' | upcase }} ${7*7} #{7*7} =cmd|' /C calc'!A0 "
    "\x1b[31mred\x1b]0;owned\x07\x1b[2J\x9b2J\u202eturned\u2066\u200b\x00\ud83d"
)
FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1")
NAMES = tuple(f"{start}{ACTS}" for start in ("", "=", "+", "-", "@"))
MEGABYTE = ("<b onload=x>" + ACTS) * (1_000_000 // (len(ACTS) + 12))
QUESTIONS = (
    *(
        "failing-tools",
        "labels",
        "proposals",
        "calls",
        "coverage",
        "trend",
        "latency",
        "guards",
        "definitions",
    ),
    *("summary", "rejects", "sources"),
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lab in which every text that may be hostile is."""
    folder = tmp_path_factory.mktemp("hostile")
    traces, labels = [], []
    for number in range(1, 121):
        name = NAMES[number % 4]
        traces.append(
            trace(
                number,
                conversationId=number // 3,
                toolName=name,
                args={ACTS: ACTS, "n": number},
                result={"error": ACTS} if number % 3 else {"ok": True, "text": ACTS},
                error=number % 5 == 0,
                createdAt=1781000120 + number * 20_000,
            )
        )
        if number % 2:
            same = {
                key: traces[-1][key]
                for key in ("conversationId", "toolName", "args", "result", "error", "contactId")
            }
            same["toolCallCreatedAt"] = traces[-1]["createdAt"]
            labels.append(feedback(1_000 + number, number, note=ACTS, label="bad_args", **same))
            labels.append(
                feedback(
                    3_000 + number,
                    number,
                    note=ACTS,
                    label=ACTS if number % 4 == 1 else "other",
                    adminId=9,
                    **same,
                )
            )
    traces.append(trace(500, args={"big": MEGABYTE}, result=MEGABYTE, toolName=NAMES[0]))
    guard = {"action": ACTS, "reasons": [ACTS], "blocked": True}
    traces.append(trace(501, toolName="exchange_response_guard", result=guard, error=True, **{ACTS: 1}))
    chat = {
        "id": ACTS,
        "model": ACTS,
        "messages": [
            {"role": "user", "content": ACTS},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": ACTS,
                        "type": "function",
                        "function": {"name": ACTS, "arguments": json.dumps({"x": ACTS})},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": ACTS, "content": ACTS},
        ],
        "tools": [
            {
                "type": "function",
                "function": {"name": ACTS, "description": ACTS, "parameters": {"type": "object"}},
            }
        ],
    }
    odd = "<img src=x onerror=alert(1)> \x1b[2J\u202e{{7*7}}`.jsonl"
    files = [
        write(
            folder / f"traces {odd}", *traces, json.dumps(trace(9, error=ACTS)), "oops " + ACTS.split("\n")[0]
        ),
        write(folder / f"labels {odd}", *labels),
        write(folder / f"chat {odd}", chat),
    ]
    ran = run(
        "load",
        *files,
        "--source",
        "<s onclick=x>",
        "--style",
        ACTS.replace("\ud83d", ""),
        "--home",
        folder / "home",
    )
    assert ran.code == 0, ran.err
    assert all(character.isprintable() or character == "\n" for character in ran.out)
    lab = open_lab(folder / "home")
    for row in lab.calls(limit=3):
        lab.label(row.call_uid, "wrong_tool", note=ACTS, reviewer=ACTS.replace("\ud83d", ""))
    assert lab.totals()["tool_calls"] == 122
    return folder / "home"


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_terminal_gets_text_and_json_no_character_that_acts(home: Path, question: str) -> None:
    table = (
        run(question, "--home", home, "--allow-empty")
        if question != "summary"
        else run(question, "--home", home)
    )
    document = run(question, "--home", home, "--json", *(["--allow-empty"] if question != "summary" else []))

    assert (table.code, document.code) == (0, 0), table.err + document.err
    assert all(character.isprintable() or character == "\n" for character in table.out + table.err)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]", document.out)
    json.loads(document.out)


@pytest.mark.parametrize("question", ["failing-tools", "calls", "proposals", "rejects"])
def test_a_spreadsheet_gets_no_formula(home: Path, tmp_path: Path, question: str) -> None:
    ran = run(question, "--home", home, "--csv", tmp_path / "sheet.csv")
    csv.field_size_limit(10_000_000)
    with (tmp_path / "sheet.csv").open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]

    assert ran.code == 0, ran.err
    assert len(cells) > 10
    numbers = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
    assert [
        cell
        for cell in cells
        if cell.startswith(("=", "+", "-", "@", "\t", "\r")) and not numbers.fullmatch(cell)
    ] == []


def test_a_megabyte_in_a_field_is_whole_in_the_data_and_short_on_the_page(home: Path) -> None:
    lab = open_lab(home)
    row = max(lab.calls(limit=500), key=lambda row: len(row.arguments))

    assert json.loads(row.arguments) == {"big": MEGABYTE}
    assert len(repr(lab.calls(limit=500))) < 20_000
    assert len(lab.calls(limit=500)._repr_html_()) < 4_000_000


@pytest.mark.slow
@pytest.mark.parametrize("report", ["quality", "explore"])
def test_a_report_in_a_browser_runs_nothing_asks_nothing_and_stands(
    home: Path, tmp_path: Path, chromium: str, report: str
) -> None:
    from playwright.sync_api import sync_playwright

    ran = run("report", report, "--home", home, "--out", tmp_path, "--unmasked", "--json")
    assert ran.code == 0, ran.err
    page_file = Path(ran.document["html"])
    said, asked = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(page_file.as_uri())
        title = page.title()
        page.wait_for_selector("html[data-drawn]", timeout=60_000)
        for fold in page.query_selector_all("details"):
            fold.evaluate("one => one.open = true")
        for link in page.query_selector_all("a"):
            link.dispatch_event("click")
        page.mouse.move(400, 300)
        page.wait_for_timeout(500)
        seen = {
            "title": page.title(),
            "bars": page.locator(".js-plotly-plot .point").count(),
            "rows": page.locator("table tbody tr").count(),
            "hidden": page.evaluate("getComputedStyle(document.body).display"),
            "acting": page.evaluate(
                "[...document.querySelectorAll('*')].filter(one => [...one.attributes]"
                ".some(held => /^on/i.test(held.name) || /^\\s*javascript:/i.test(held.value))).length"
            ),
            "foreign": page.locator(
                "main iframe, main script, main svg[onload], main img[src^=http]"
            ).count(),
            "text": page.evaluate("document.body.textContent"),
            "wide": page.evaluate("document.documentElement.scrollWidth"),
        }
        browser.close()

    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert (seen["title"], seen["hidden"], seen["acting"], seen["foreign"]) == (title, "block", 0, 0)
    assert seen["bars"] > 0
    assert seen["rows"] > 5
    assert "<script>document.title='ran'</script>" in seen["text"]
    assert "{{ 7*7 }}{% raw %}" in seen["text"]
    assert not re.search("[\x1b\x07\x9b\u202e\u2066]", seen["text"])
    assert seen["wide"] == 1280


ANSWERS = [
    "import quality_lab as ql\nlab = ql.open(home)\nlab.failing_tools()",
    *(f"lab.{name}" for name in (
        *("labels()", "labels(by='reviewer')", "proposals()", "calls(limit=20)", "coverage()", "trend()", "latency()"),
        *("guards()", "definitions()", "summary()", "rejects()", "sources()"),
    )),
    "row = lab.calls(label='bad_args')[0]\nlab.call(row.call_uid)",
    "lab.conversation(row.conversation_id)",
    "lab.calls(limit=20).to_pandas()",
    "lab.calls(limit=20).to_polars()",
    "lab.sql('select tool_name, arguments from tool_calls limit 20')",
    "row",
]  # fmt: skip  # one list


@pytest.mark.slow
def test_answers_in_a_live_jupyterlab_run_nothing_ask_nothing_and_stand(
    home: Path, tmp_path: Path, chromium: str, server: Server
) -> None:
    asks = code("home = None  # the lab", tags=("parameters",))
    path = write_template(tmp_path, "answers", asks, *map(code, ANSWERS))
    content = json.loads(path.read_text())
    for number, cell in enumerate(content["cells"]):
        cell["id"] = f"cell{number}"
        cell["source"] = cell["source"].splitlines(keepends=True)
    path.write_text(json.dumps(content))

    seen = run_all(server, put(server, path, home), chromium)

    assert seen.failed == []
    assert seen.said == []
    assert seen.asked == []
    assert seen.title == "as it was"
    assert seen.text.count("<script>document.title='ran'</script>") > 10
