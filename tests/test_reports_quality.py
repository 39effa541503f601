"""The quality report says what the data can say, and where it cannot, it says that."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from lab_builder import MONDAY, LabBuilder

from quality_lab.intervals import Rate, difference
from quality_lab.metrics.filters import Filters
from quality_lab.reports.quality import quality_page
from quality_lab.reports.quality.head import age_words
from quality_lab.reports.window import report_window
from quality_lab.store import Store

FAILED = {"is_error": True, "error_origin": "flag"}
PARTS = (
    *(
        "head",
        "failing_tools",
        "over_time",
        "labels",
        "coverage",
        "proposals",
        "disputes",
        "guards_and_gates",
    ),
    *("not_understood", "definitions"),
)


class Lab:
    """As much of a lab as a report needs."""

    def __init__(self, store: Store) -> None:
        self.store = store


def page_of(builder: LabBuilder, **given: Any) -> Any:
    return quality_page(Lab(builder.store()), **{"as_of": "2026-07-01", **given})


def html_of(part: Any) -> str:
    pieces = getattr(part, "parts", [part])
    return "".join(str(piece.html) for piece in pieces if hasattr(piece, "html"))


def words_of(part: Any) -> str:
    """Return what a part of the page says, as plain text."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html_of(part))).split())


def test_the_first_screen_says_window_freshness_counts_and_rate(tmp_path):
    builder = LabBuilder(tmp_path)
    builder.calls(30)
    builder.calls(10, **FAILED)
    builder.label(builder.calls(1)[0], "good_reply")

    said = words_of(page_of(builder, as_of="2026-06-01T14:00:00Z").head())

    # 41 calls of Monday 1 June 2026, 8:00, each in a conversation of its own; 10 failed
    assert said.startswith("Tool-call quality 5 May to 1 June 2026. Days and weeks are those of UTC.")
    assert "Calls 41 in 41 conversations" in said
    assert "Reviewed 1 2.4 % of the calls, by 1 person" in said
    assert re.search(r"Failed 24 % 1\d to 4\d %, of 41 calls with a known outcome", said)
    assert "Newest call 1 Jun, 08:00 6 hours before this report" in said
    assert "There is nothing to compare with" in said


def test_without_since_a_report_covers_the_28_days_that_end_with_the_newest_call_in_its_zone(tmp_path):
    builder = LabBuilder(tmp_path)
    builder.calls(1, created_at=MONDAY.replace(hour=20))  # 3:00 on Tuesday in Bangkok
    builder.calls(2, created_at=MONDAY.replace(hour=20) - timedelta(days=27))
    builder.calls(4, created_at=MONDAY.replace(hour=20) - timedelta(days=28))
    store = builder.store()

    window = report_window(store, Filters(tz="Asia/Bangkok"))

    assert window.words() == "6 May to 2 June 2026"
    assert window.filters.window().since.isoformat() == "2026-05-05T17:00:00+00:00"
    assert window.filters.window().until.isoformat() == "2026-06-02T17:00:00+00:00"
    assert window.facts.calls == 3
    assert window.facts_before is not None
    assert window.facts_before.calls == 4
    assert window.weeks == 4


def test_undated_calls_are_all_covered_where_no_call_has_a_time(tmp_path):
    builder = LabBuilder(tmp_path)
    builder.calls(5, created_at=None)

    page = page_of(builder)

    assert page.window.words() == "Everything, as no call has a time"
    assert "Calls 5" in words_of(page.head())
    assert "Newest call – no call has a time" in words_of(page.head())
    assert page.note().figures["newest_call_at"] is None


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (2, 30, "Calls fail more often than before: 30 % ("),
        (30, 2, "Calls fail less often than before: 2 % ("),
        (10, 12, "Calls fail no more and no less than before, beyond noise: 12 % ("),
    ],
)
def test_better_or_worse_is_said_only_beyond_noise(tmp_path, before, now, said):
    builder = LabBuilder(tmp_path)
    for failing, at in ((before, MONDAY - timedelta(days=28)), (now, MONDAY)):
        builder.calls(failing, created_at=at, **FAILED)
        builder.calls(100 - failing, created_at=at)

    assert said in words_of(page_of(builder).head())


def test_a_few_calls_are_not_compared(tmp_path):
    builder = LabBuilder(tmp_path)
    builder.calls(9, created_at=MONDAY - timedelta(days=28))
    builder.calls(50)

    assert "Calls fail: not enough data (50 calls now, 9 before)." in words_of(page_of(builder).head())


def test_the_difference_of_two_rates_is_newcombes():
    from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

    rates = []
    for hits, n in ((56, 70), (48, 80)):  # Newcombe 1998, example a
        low, high = proportion_confint(hits, n, method="wilson")
        rates.append(Rate(value=hits / n, low=low, high=high, n=n, n_eff=n, conversations=n, few=False))
    expected = confint_proportions_2indep(56, 70, 48, 80, compare="diff", method="newcomb")

    middle, low, high = difference(*rates) or (0, 0, 0)

    assert middle == pytest.approx(0.2)
    assert (low, high) == pytest.approx(expected, abs=1e-9)
    assert (round(low, 4), round(high, 4)) == (0.0524, 0.3339)  # as published
    assert difference(None, rates[0]) is None


def test_labels_without_a_trace_export_give_no_rate_anywhere(tmp_path):
    builder = LabBuilder(tmp_path)
    for call in builder.calls(20, seen_in="feedback", **FAILED):
        builder.label(call, "bad_args")
    page = page_of(builder)

    assert "Failed – no trace export" in words_of(page.head())
    assert "no_trace_export" in words_of(page.failing_tools())
    assert page.note().figures["error_rate"] is None
    assert page.note().figures["coverage"] is None
    assert "No call was seen in a trace export" in words_of(page.coverage())


def test_nobody_reviewed_is_said(tmp_path):
    builder = LabBuilder(tmp_path)
    builder.calls(20)
    page = page_of(builder)

    assert "Reviewed 0 by nobody yet" in words_of(page.head())
    assert "Nobody has labelled a call of this window." in words_of(page.labels())
    assert "No label asks for a change in this window." in words_of(page.proposals())
    assert "No call was reviewed by two people" in words_of(page.disputes())


def test_a_rate_on_a_few_reviewed_calls_is_words_not_a_number(tmp_path):
    builder = LabBuilder(tmp_path)
    for call in builder.calls(9):
        builder.label(call, "bad_args")
    builder.calls(30)
    page = page_of(builder)

    assert "not enough data (9 reviewed)" in words_of(page.failing_tools())
    assert "9 calls judged so of 9 reviewed: not enough data for a rate." in words_of(page.proposals())


def test_a_card_tells_a_real_example_as_an_exchange_and_folds_two_more(tmp_path):
    builder = LabBuilder(tmp_path)
    builder.message("user", "I need 20000 baht", position=0)
    told = builder.call(
        conversation_id="c1",
        arguments='{"amount":20000,"mode":"source"}',
        result='{"error":"no"}',
        message_position=1,
    )
    builder.label(told, "bad_args", "dana", note="Baht, not USDT")
    for call in builder.calls(3, created_at=MONDAY - timedelta(days=1)):
        builder.label(call, "bad_args", "dana")
    cards = html_of(page_of(builder).proposals())

    first = unescape(
        re.sub(r"<[^>]*>", " ", cards[cards.index('class="exchange"') : cards.index("<details>")])
    )
    assert " ".join(first.split()).endswith(
        'user I need 20000 baht call compute_exchange_quote {"amount": 20000, "mode": "source"} '
        'result soft error {"error": "no"} reviewer dana: bad_args Baht, not USDT'
    )
    assert cards.count("<details>") == 1
    assert cards[cards.index("<details>") :].count('class="exchange"') == 2


def test_a_dispute_shows_what_each_reviewer_said(tmp_path):
    builder = LabBuilder(tmp_path)
    call = builder.call(conversation_id="c7")
    builder.label(call, "bad_args", "dana", note="Wrong mode")
    builder.label(call, "good_reply", "priya")

    said = words_of(page_of(builder).disputes())

    assert "compute_exchange_quote conversation c7" in said
    assert "dana: bad_args Wrong mode" in said
    assert "priya: good_reply" in said


def test_gates_and_guards_stand_apart_from_failures(tmp_path):
    builder = LabBuilder(tmp_path)
    builder.calls(3, "order", result='{"ok":false,"needsVerification":true}')
    builder.guard("unbacked_quote", "rate_negotiation")
    page = page_of(builder)

    said = words_of(page.guards_and_gates())
    assert "order needsVerification 3 3" in said
    assert "rate_negotiation rewrite 1 1" in said
    assert "unbacked_quote rewrite 1 1" in said
    assert page.note().figures["error_rate"] == 0


def test_what_was_not_understood_on_load_is_named_file_by_file(tmp_path):
    (tmp_path / "data").mkdir()
    lines = ['{"items":[]', json.dumps(_trace(1)), json.dumps(_trace(2) | {"colour": "red"})]
    (tmp_path / "traces.jsonl").write_text("\n".join(lines))
    store = Store(tmp_path)
    store.load([tmp_path / "traces.jsonl"])

    said = words_of(quality_page(Lab(store), as_of="2026-07-01").not_understood())

    assert "1 of 3 lines could not be read; fields that nobody knows: colour (1)." in said
    assert "The line in quarantine" in said


def test_a_page_without_anything_wrong_says_so_in_sentences(tmp_path):
    builder = LabBuilder(tmp_path)
    for week in range(2):
        builder.calls(20, created_at=MONDAY + timedelta(weeks=week))
    page = page_of(builder)

    assert "Nothing stands out beyond noise in this window." in words_of(page.head())
    assert "Nothing went wrong in any week." in words_of(page.over_time())
    assert "No guard stepped in." in words_of(page.guards_and_gates())
    assert "No call was turned away." in words_of(page.guards_and_gates())
    assert "Every line of every file was read and understood." in words_of(page.not_understood())


def test_every_part_of_an_empty_lab_shows_itself(tmp_path):
    page = quality_page(Lab(Store(tmp_path)))

    shown = {name: words_of(getattr(page, name)()) for name in PARTS}

    assert all(shown.values())
    assert page.note().figures["calls_in_window"] == 0


def test_text_from_traces_is_never_markup_in_any_part(tmp_path):
    hostile = "<img src=x onerror=alert(1)></td></style><script>x</script>\u202e\x1b[31m"
    builder = LabBuilder(tmp_path)
    for call in builder.calls(
        12, hostile, arguments=json.dumps({hostile: hostile}), result=json.dumps(hostile)
    ):
        builder.label(call, "bad_args", hostile, note=hostile)
    disputed = builder.call(hostile, conversation_id=hostile, source=hostile)
    builder.label(disputed, "bad_args", "a", note=hostile)
    builder.label(disputed, "other", "b", note=hostile)
    builder.calls(5, hostile, result=json.dumps({"ok": False, "needsOperator": True, "reason": hostile}))
    builder.calls(5, hostile, error_text=hostile, **FAILED)
    builder.guard(result=json.dumps({"action": hostile, "reasons": [hostile]}))
    builder.message("user", hostile, position=0, conversation_id=hostile)
    page = page_of(builder)

    for name in PARTS:
        html = html_of(getattr(page, name)())
        assert "<img" not in html, name
        assert "<script" not in html, name
        assert "\u202e" not in html, name
        assert "\x1b" not in html, name
    assert "&lt;img src=x onerror=alert(1)&gt;" in html_of(page.failing_tools())


def test_a_password_in_a_quoted_argument_is_masked_by_its_name_unless_that_is_not_wanted(tmp_path):
    builder = LabBuilder(tmp_path)
    told = builder.call(arguments='{"password":"hunter2","amount":1.50}', result='{"pin":1234}')
    builder.label(told, "bad_args")
    store = builder.store()

    masked, unmasked = (
        words_of(quality_page(Lab(store), as_of="2026-07-01", unmasked=flag).proposals())
        for flag in (False, True)
    )

    assert re.search(r'{"password": "\[secret-[a-p]{10}\]", "amount": 1\.50}', masked)
    assert re.search(r'{"pin": "\[secret-[a-p]{10}\]"}', masked)
    assert '{"password": "hunter2", "amount": 1.50}' in unmasked


def test_ages_are_told_in_the_unit_that_people_use():
    assert [age_words(hours) for hours in (0.4, 1, 19.2, 47, 48, 200)] == [
        "24 minutes",
        "1 hour",
        "19 hours",
        "47 hours",
        "2 days",
        "8 days",
    ]


@pytest.mark.slow
def test_a_public_benchmark_is_readable_and_says_that_nobody_reviewed_it(shared, tmp_path):
    from quality_lab.reports import run

    (tmp_path / "data").mkdir()
    Store(tmp_path).load([shared / "traces" / "tau-bench" / "gpt-4o-airline.json"])

    made = run(tmp_path, "quality")

    summary = json.loads((made.folder / "summary.json").read_text())
    tools = summary["tools"]
    assert made.ok
    assert summary["figures"]["calls_in_window"] == 1164
    assert summary["figures"]["reviewed_calls"] == 0
    # 30 of 53 and 42 of 104, of 73 errors in all
    assert tools["book_reservation"]["error_rate"] == pytest.approx(30 / 53)
    assert tools["update_reservation_flights"]["error_rate"] == pytest.approx(42 / 104)
    assert summary["figures"]["error_rate"] == pytest.approx(73 / 1164)
    page = Path(made.html).read_text(encoding="utf-8")
    assert "by nobody yet" in page
    assert len(page.encode()) < 6_000_000
    assert {(finding["kind"], finding["tool_name"]) for finding in summary["findings"]} == {
        ("failure", "book_reservation"),
        ("failure", "update_reservation_flights"),
        ("swallowed", "search_direct_flight"),  # 24 of 141 answers hold nothing
    }


def _trace(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "conversationId": number,
        "contactId": None,
        "messageId": None,
        "outboundQueueId": None,
        "source": "rag_reply",
        "toolName": "quote",
        "args": {},
        "result": {},
        "error": False,
        "cycle": 0,
        "toolCallIndex": 0,
        "latencyMs": None,
        "createdAt": 1_780_000_000,
    }


@pytest.mark.slow
def test_the_demos_report_is_drawn_in_a_browser_and_ends_within_a_dozen_screens(
    chromium, repository, tmp_path
):
    from playwright.sync_api import sync_playwright

    from quality_lab.reports import run

    (tmp_path / "data").mkdir()
    Store(tmp_path).load([repository / "data" / "demo" / "exports", repository / "data" / "demo" / "journal"])
    made = run(tmp_path, "quality", filters={"as_of": "2026-06-01T08:00:00Z"})
    said, asked = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme=scheme)
            page.on("console", lambda line: said.append(line.text))
            page.on("pageerror", lambda error: said.append(str(error)))
            page.on("request", lambda request: asked.append(request.url))
            page.goto(made.html.as_uri())
            page.wait_for_selector("html[data-drawn='4']", timeout=60_000)
            wide, high = page.evaluate(
                "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
            )
            bottom = page.locator("ol.findings").bounding_box()
            dead = page.evaluate(
                "[...document.querySelectorAll('a[href^=\"#\"]')]"
                ".map(one => one.getAttribute('href').slice(1))"
                ".filter(name => !document.getElementById(name))"
            )
            background = page.evaluate("getComputedStyle(document.body).backgroundColor")
            dots = page.locator(".js-plotly-plot").first.locator(".point").first
            colour = dots.evaluate("one => getComputedStyle(one).fill")
            page.close()
            assert (background, colour) == {
                "light": ("rgb(255, 255, 255)", "rgb(0, 103, 168)"),
                "dark": ("rgb(21, 24, 28)", "rgb(108, 182, 240)"),
            }[scheme]
        browser.close()

    assert said == []
    assert [url for url in asked if not url.startswith("file:")] == []
    assert wide == 1280
    assert high <= 12 * 800
    assert bottom is not None
    assert bottom["y"] + bottom["height"] <= 800  # the findings stand on the first screen
    assert dead == []


def test_reviewed_rows_that_are_no_calls_of_the_agent_are_said_to_be_none(tmp_path):
    builder = LabBuilder(tmp_path)
    builder.label(builder.calls(12)[0], "good_reply")
    without = words_of(page_of(builder).labels())
    builder.label(builder.guard("unbacked_quote"), "missing_tool")

    page = page_of(builder)

    assert "no call of the agent" not in without
    assert "Reviewed 1" in words_of(page.head())
    assert "1 of the 2 is no call of the agent" in words_of(page.labels())


def test_the_order_of_the_failing_tools_is_said_beneath_them(tmp_path):
    builder = LabBuilder(tmp_path)
    builder.calls(12, **FAILED)

    assert words_of(page_of(builder).failing_tools()).endswith(
        "Tools stand in the order of the larger lower end of their two intervals, shown here or not."
    )
