"""The widgets in a real JupyterLab: worked by keyboard, through a reload, a kernel that dies, and hostile text."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyterlab_page import Notebook, journal
from jupyterlab_server import Server, jupyterlab
from lab_builder import LabBuilder

import quality_lab as ql

pytestmark = [pytest.mark.slow, pytest.mark.browser]

DANA, KIM = "dana@example.com", "kim@example.com"
HOSTILE = (
    "<script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"
    "<a href=\"javascript:document.title='ran'\">go</a></script></style>{{ 7*7 }}``` \x1b[31m\u202e"
)


# JavaScript: texts in a desk whose contrast with what is behind them is below WCAG's 4.5, with that contrast.
PALE = """desk => {
    const parts = text => {
        const numbers = text.match(/[\\d.]+(?:e-?\\d+)?/g).map(Number);
        const [r, g, b, alpha = 1] = numbers;
        return text.startsWith('color(') ? [r, g, b, alpha] : [r / 255, g / 255, b / 255, alpha];
    };
    const over = (top, under) => under.slice(0, 3).map((part, i) => top[i] * top[3] + part * (1 - top[3]));
    const behind = node => {
        const layers = [];
        for (let one = node; one; one = one.parentElement) {
            layers.push(parts(getComputedStyle(one).backgroundColor));
        }
        return layers.reverse().reduce((under, top) => over(top, under), [1, 1, 1]);
    };
    const light = rgb => {
        const [r, g, b] = rgb.map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const pale = [];
    const texts = document.createTreeWalker(document.querySelector(desk), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const node = texts.currentNode.parentElement;
        if (!texts.currentNode.data.trim() || !node.checkVisibility()) continue;
        const ground = behind(node);
        const ink = over(parts(getComputedStyle(node).color), ground);
        const [low, high] = [light(ground), light(ink)].sort((a, b) => a - b);
        const contrast = (high + 0.05) / (low + 0.05);
        if (contrast < 4.5) pale.push([texts.currentNode.data.slice(0, 40), contrast.toFixed(2)]);
    }
    return pale;
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("lab") / "notebooks"
    folder.mkdir()
    with jupyterlab(folder) as served:
        yield served


@pytest.fixture(scope="module")
def chrome(chromium) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def review_notebook(server: Server, name: str, home: Path, calls: str, *more: str) -> str:
    head = f"import quality_lab as ql\nfrom quality_lab.jupyter import decide, review\nlab = ql.open({str(home)!r})"
    return server.write(name, head, f"review(lab, {calls}, reviewer={DANA!r})", *more)


@pytest.fixture
def demo(tmp_path, repository) -> Path:
    """A home with the demo story in it."""
    story = repository / "data" / "demo"
    (tmp_path / "data").mkdir()
    ql.open(tmp_path).load(story / "exports", story / "journal")
    return tmp_path


def test_ten_calls_are_labelled_by_keyboard_and_one_proposal_is_decided_and_all_is_there_after_a_reload(
    server, chrome, demo
):
    queue = "lab.queue(size=10, seed=7, author='lee@example.com')"
    name = review_notebook(server, "ten.ipynb", demo, queue, f"decide(lab, reviewer={DANA!r})")
    notebook = Notebook(chrome, server, name)
    cells, runs = notebook.cells(), notebook.runs()
    uids = [row.call_uid for row in ql.open(demo).queue()]
    ql.open(demo).label(uids[2], "good_reply", reviewer=KIM)

    notebook.focus(".ql-review")
    frame = notebook.places()
    notebook.press("x", "y", "c", "v", "Shift+Enter", "Control+Enter")  # JupyterLab's own
    notebook.press("u", "Escape")  # nothing to take back yet
    notebook.label("1", "2")  # and the page moves on by itself
    notebook.press("n")
    notebook.page.keyboard.type("amount is in baht, ajd 12")  # letters that are keys outside of a note
    notebook.press("Enter")
    notebook.label("4")
    notebook.status("says good reply")
    notebook.label(*"1b5g111")
    notebook.status("All 10 are labelled.")
    notebook.press("1")  # again: nothing to write down
    notebook.status("is good reply already")
    notebook.press("u")
    notebook.status("Taken back on call 10.")
    notebook.press("e")
    notebook.page.locator(".ql-expected input").fill("get_order_status")
    notebook.press("Escape", "w")
    notebook.status("Call 10: wrong tool, saved.")
    for _ in range(7):
        notebook.press("k")
    notebook.page.locator(".ql-voices", has_text="disputed").wait_for()
    notebook.press("a")
    settling = notebook.places()
    notebook.press("4")
    notebook.status("settled as bad args, saved")
    assert frame == settling == notebook.places()

    lines = journal(demo)
    own = [line for line in lines if line["author"] == DANA]
    assert [uids.index(line["call"]["call_uid"]) + 1 for line in own] == [*range(1, 11), 10, 3]
    assert [line["label"] for line in own] == [
        *("good_reply", "wrong_tool", "bad_args", "good_reply", "bad_args", "other", "good_reply"),
        *("good_reply", "good_reply", "good_reply", "wrong_tool", "bad_args"),
    ]
    assert own[2]["note"] == "amount is in baht, ajd 12"
    assert own[10]["expected_tool"] == "get_order_status"
    assert own[11]["adjudication"] is True
    assert [line["retracts"] for line in journal(demo, "retractions")] == [own[9]["id"]]

    notebook.focus(".ql-decide")
    notebook.press("j", "p", "Enter")
    notebook.status("Not saved: to apply takes a kind, and a ref or a url", desk=".ql-decide")
    assert journal(demo, "decisions") == []
    notebook.page.locator(".ql-decide select").select_option("prompt_patch")
    notebook.page.locator(".ql-field-ref input").fill("v12")
    notebook.page.locator(".ql-field-owner input").fill("tomas")
    notebook.press("Enter")
    notebook.status("apply: saved.", desk=".ql-decide")
    (decision,) = journal(demo, "decisions")
    assert (decision["action"], decision["kind"], decision["ref"], decision["owner"]) == (
        *("apply", "prompt_patch", "v12"),
        "tomas",
    )

    assert notebook.cells() == cells  # no key reached JupyterLab
    assert notebook.runs() == runs
    notebook.command("docmanager:save")
    notebook.open()
    notebook.page.locator(".ql-progress", has_text="10 of 10 labelled").wait_for(timeout=60_000)
    notebook.page.locator(".ql-voices", has_text="settled by").wait_for(timeout=30_000)
    assert (
        notebook.page.locator(".ql-strip [aria-current=true]")
        .get_attribute("aria-label")
        .startswith("call 3,")
    )
    notebook.page.locator(".ql-decide .ql-decided", has_text="v12").wait_for(timeout=30_000)
    assert notebook.said == []
    assert notebook.asked == []
    notebook.page.close()


def test_a_case_is_made_of_an_example_by_keyboard(server, chrome, demo):
    imports = "import quality_lab as ql\nfrom quality_lab.jupyter import decide"
    name = server.write("case.ipynb", imports, f"decide(ql.open({str(demo)!r}), reviewer={DANA!r})")
    notebook = Notebook(chrome, server, name)

    notebook.focus(".ql-decide")
    notebook.page.locator(".ql-example").first.wait_for(timeout=30_000)
    notebook.press("m")
    notebook.page.keyboard.type("amountMode is target_thb")
    notebook.press("Enter")
    notebook.status("is made (it catches its fault)", desk=".ql-decide")

    (made,) = journal(demo, "cases")
    (decision,) = journal(demo, "decisions")
    assert decision["ref"] == f"REG-{made['record']['id']}"
    assert "amountMode is target_thb" in json.dumps(made["record"]["expected"])
    assert notebook.said == []
    notebook.page.close()


def test_when_the_kernel_is_killed_the_journal_holds_what_was_shown_as_saved_and_the_rest_stays_in_sight(
    server, chrome, demo
):
    pid = "import os\nprint('pid', os.getpid())"
    name = review_notebook(server, "killed.ipynb", demo, "lab.calls(limit=12)", pid)
    notebook = Notebook(chrome, server, name)
    uids = [row.call_uid for row in ql.open(demo).calls(limit=12)]
    output = notebook.page.locator(".jp-OutputArea-output", has_text="pid ").first.text_content()
    kernel = int(output.removeprefix("pid "))

    notebook.focus(".ql-review")
    notebook.label("1", "1", "1")
    notebook.status("Call 3: good reply, saved.")
    notebook.page.wait_for_timeout(2_000)  # the next calls are fetched
    notebook.press("4", "4")  # at once, while the kernel is about to die
    os.kill(kernel, signal.SIGKILL)
    notebook.press(*"22222222")  # calls that are not shown take none of it
    notebook.page.locator(".ql-trouble", has_text="Not connected").wait_for(timeout=60_000)

    saved = notebook.saved()
    written = [uids.index(line["call"]["call_uid"]) + 1 for line in journal(demo)]
    assert saved[:3] == [1, 2, 3]
    assert set(saved) <= set(written)
    unsaved = notebook.page.locator(".ql-trouble li").all_text_contents()
    open_ = [place for place in range(1, 13) if any(text.startswith(f"call {place}:") for text in unsaved)]
    last = max(open_)
    assert 7 <= last < 12  # three calls are fetched ahead, and what was not shown took no label
    assert set(open_) == set(range(1, last + 1)) - set(saved)

    notebook.page.locator(".jp-Dialog button", has_text="Ok").click()  # "The kernel appears to have died"
    notebook.command("notebook:run-all-cells")
    notebook.page.locator(".ql-progress", has_text=f"{len(set(written))} of 12 labelled").wait_for(
        timeout=60_000
    )
    assert notebook.saved() == sorted(set(written))
    notebook.page.locator(".ql-trouble li", has_text=f"call {last}: wrong tool").wait_for(timeout=30_000)
    notebook.page.locator(".ql-trouble button", has_text="Try again").click()
    notebook.page.locator(".ql-progress", has_text=f"{last} of 12 labelled").wait_for(timeout=60_000)
    labels = {uids.index(line["call"]["call_uid"]) + 1: line["label"] for line in journal(demo)}
    assert labels == {1: "good_reply", 2: "good_reply", 3: "good_reply"} | {
        **dict.fromkeys((4, 5), "bad_args"),
        **dict.fromkeys(range(6, last + 1), "wrong_tool"),
    }
    assert not notebook.page.locator(".ql-trouble").is_visible()
    notebook.page.close()


def test_what_the_journal_refuses_is_not_shown_as_saved_and_can_be_tried_again(server, chrome, demo):
    name = review_notebook(server, "refused.ipynb", demo, "lab.calls(limit=3)")
    notebook = Notebook(chrome, server, name)
    in_the_way = demo / "data" / "journal"
    in_the_way.write_text("a file where the folder should be")

    notebook.focus(".ql-review")
    notebook.label("4")
    notebook.page.locator(".ql-trouble", has_text="labels.jsonl cannot be written").wait_for(timeout=30_000)
    shown, frame = notebook.saved(), notebook.places()
    in_the_way.unlink()
    notebook.page.locator(".ql-trouble button", has_text="Try again").click()
    notebook.status("Call 1: bad args, saved.")

    assert shown == []
    assert frame == notebook.places()
    assert notebook.saved() == [1]
    assert [line["label"] for line in journal(demo)] == ["bad_args"]
    assert not notebook.page.locator(".ql-trouble").is_visible()
    notebook.page.close()


def test_two_people_label_in_one_folder_at_once_and_no_line_is_lost(server, chrome, demo):
    name = review_notebook(server, "two.ipynb", demo, "lab.calls(limit=8)")
    notebook = Notebook(chrome, server, name)
    kims = ql.open(demo)
    uids = [row.call_uid for row in kims.calls(limit=8)]
    at_work = threading.Thread(target=lambda: [kims.label(uid, "good_reply", reviewer=KIM) for uid in uids])

    notebook.focus(".ql-review")
    at_work.start()
    notebook.label(*"44444444")
    at_work.join()
    notebook.page.locator(".ql-progress", has_text="8 of 8 labelled").wait_for(timeout=60_000)
    notebook.press("k")
    notebook.page.locator(".ql-voices", has_text=KIM).wait_for(timeout=30_000)

    said = sorted((line["author"], uids.index(line["call"]["call_uid"])) for line in journal(demo))
    assert said == sorted((author, place) for author in (DANA, KIM) for place in range(8))
    assert len(ql.open(demo).calls(label="disputed")) >= 8
    assert notebook.said == []
    notebook.page.close()


def test_hostile_text_runs_nothing_in_either_widget(server, chrome, tmp_path):
    builder = LabBuilder(tmp_path)
    call = builder.call(
        HOSTILE,
        arguments=json.dumps({HOSTILE: HOSTILE}),
        result=json.dumps([HOSTILE] * 40),
        message_position=2,
    )
    builder.message("user", HOSTILE * 20, position=1)
    builder.message(HOSTILE, HOSTILE, position=3)
    for number in range(3):
        other = builder.call(
            HOSTILE, conversation_id=HOSTILE + str(number), source=HOSTILE, error_text=HOSTILE
        )
        builder.label(other, "bad_args", HOSTILE, note=HOSTILE)
    builder.label(call, "bad_args", HOSTILE, note=HOSTILE, expected_tool=HOSTILE)
    builder.store()
    lab = ql.open(tmp_path)
    decision = {
        "fingerprint": lab.proposals()[0].fingerprint,
        "action": "apply",
        "kind": "other",
        "ref": HOSTILE,
    }
    lab.journal.append("decisions", {**decision, "url": "javascript:document.title='ran'"}, author=HOSTILE)
    lab.load()
    name = review_notebook(
        server, "hostile.ipynb", tmp_path, "lab.calls()", f"decide(lab, reviewer={DANA!r})"
    )
    notebook = Notebook(chrome, server, name)

    notebook.focus(".ql-review")
    for _ in range(4):
        notebook.label("d", "e", "Escape", "4")
    notebook.status("All 4 are labelled.")
    notebook.press("k", "k", "k")
    notebook.page.locator(".ql-voices", has_text="<img").wait_for()
    review = notebook.page.locator(".ql-review").text_content()
    wide = notebook.wide()
    notebook.focus(".ql-decide")
    notebook.page.locator(".ql-example").first.wait_for(timeout=30_000)
    notebook.press("x", "x", "a", "Escape")
    decide = notebook.page.locator(".ql-decide").text_content()
    links = notebook.page.locator(".ql-desk a").count()
    wide += notebook.wide()

    assert "<script>document.title='ran'</script>" in review
    assert "<script>document.title='ran'</script>" in decide
    assert "javascript:document.title" in decide
    assert links == 0
    assert wide == []
    assert notebook.page.locator(".ql-desk :is(script, img, style, iframe)").count() == 0
    assert notebook.as_it_was()
    assert notebook.said == []
    assert notebook.asked == []
    notebook.page.close()


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_every_word_can_be_read_in_the_theme(server, chrome, demo, theme):
    lab = ql.open(demo)
    uids = [row.call_uid for row in lab.calls(conversation="chat-0060")]
    lab.label(uids[0], "good_reply", reviewer=KIM)
    name = review_notebook(server, "theme.ipynb", demo, repr(uids), f"decide(lab, reviewer={DANA!r})")
    notebook = Notebook(chrome, server, name, theme=theme)

    notebook.focus(".ql-review")
    notebook.label("4")
    notebook.status("Call 1: bad args, saved.")
    notebook.press("k", "d", "e", "Escape", "?")
    notebook.page.locator(".ql-voices", has_text="disputed").wait_for(timeout=30_000)
    review = notebook.page.evaluate(PALE, ".ql-review")
    notebook.focus(".ql-decide")
    notebook.page.locator(".ql-example").first.wait_for(timeout=30_000)
    notebook.press("p", "Enter")
    notebook.status("Not saved", desk=".ql-decide")
    decide = notebook.page.evaluate(PALE, ".ql-decide")

    assert review == []
    assert decide == []
    notebook.page.close()
