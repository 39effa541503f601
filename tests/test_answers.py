"""Answers show themselves without letting trace text act, and turn into frames whose types are known."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from html.parser import HTMLParser
from typing import Literal

import duckdb
import pandas
import polars
import pytest

from quality_lab.answers import Answer, CallView, ConversationView, Step, visible
from quality_lab.answers.pretty import pretty
from quality_lab.errors import OutputError

HOSTILE = "<img src=x onerror=alert(1)>\x1b]0;owned\x07\u202egnp\x9b2J\x00"
NOON = datetime(2026, 6, 1, 12, 30, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Signature:
    signature: str
    calls: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolRow:
    tool_name: str = field(metadata={"help": "the tool, as called"})
    calls: int | None = None
    error_rate: float | None = field(default=None, metadata={"unit": "share"})
    error_low: float | None = None
    error_high: float | None = None
    reviewed: bool | None = None
    kind: Literal["read", "write"] | None = None
    last_at: datetime | None = None
    period: date | None = None
    flags: tuple[str, ...] = ()
    signatures: tuple[Signature, ...] = ()
    counts: dict[str, int] | None = None


def answer_of(*rows: ToolRow, **more: object) -> Answer[ToolRow]:
    return Answer(rows, ToolRow, title="Failing tools", **more)


class Tags(HTMLParser):
    """Every tag and attribute that a page holds, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def test_control_direction_and_invisible_characters_become_their_escapes():
    assert visible(HOSTILE) == r"<img src=x onerror=alert(1)>\x1b]0;owned\x07\u202egnp\x9b2J\x00"
    assert visible("a\u200bb\ufeff\u2066\ud800\U000e0041") == r"a\u200bb\ufeff\u2066\ud800\U000e0041"


def test_letters_of_every_script_stay_what_they_are():
    text = "ไทย Русский فارسی\u200cها 日本語 🙂 a\u00a0b"

    assert visible(text) == text


@pytest.mark.parametrize("shown", [repr, lambda answer: answer.to_text(width=40)])
def test_a_terminal_never_gets_a_raw_control_character(shown):
    said = shown(answer_of(ToolRow(tool_name=HOSTILE, flags=(HOSTILE,)), notes=[HOSTILE]))

    assert all(character.isprintable() or character == "\n" for character in said)
    assert r"\x1b" in said


def test_a_notebook_shows_hostile_text_and_never_acts_on_it():
    rows = [ToolRow(tool_name=HOSTILE * 10, counts={HOSTILE: 1}, flags=('"onmouseover="alert(1)',))]
    page = Answer(rows, ToolRow, title=HOSTILE, notes=[HOSTILE])._repr_html_()
    read = Tags(page)

    assert set(read.tags) <= {"div", "style", "table", "thead", "tbody", "tr", "th", "td", "p", "span"}
    assert {name for name, _ in read.attributes} <= {"class", "style", "title", "scope", "tabindex"}
    assert "<img src=x onerror=alert(1)>\\x1b]0;owned" in read.text
    assert "\u202e" not in page


def test_the_whole_of_a_long_text_is_its_hover_text():
    name = "a" * 100

    page = answer_of(ToolRow(tool_name=name))._repr_html_()

    assert f'title="{name}"' in page
    assert f">{'a' * 60}…<" in page


def test_a_rate_stands_with_its_interval_and_a_bar_of_its_length():
    page = answer_of(
        ToolRow(tool_name="quote", error_rate=0.075, error_low=0.03, error_high=0.2)
    )._repr_html_()

    assert "7.5 %" in page
    assert "(3 to 20 %)" in page
    assert "width:7.5%" in page  # the bar
    assert "left:3.0%;width:17.0%" in page  # the whisker


def test_a_rate_that_is_not_known_has_no_bar():
    rows = [ToolRow(tool_name="a", error_rate=0.5, error_low=0.1, error_high=0.9), ToolRow(tool_name="b")]

    assert answer_of(*rows)._repr_html_().count('class="ql-bar"') == 1


def test_twenty_rows_are_shown_and_a_word_says_how_many_more():
    many = answer_of(*(ToolRow(tool_name=f"tool_{number}") for number in range(23)), more=4)

    for shown in (repr(many), many._repr_html_()):
        assert "tool_19" in shown
        assert "tool_20" not in shown
        assert "The first 20 of 23 rows; 4 more were not asked for." in shown


def test_columns_that_say_nothing_are_named_instead_of_shown():
    said = repr(answer_of(ToolRow(tool_name="quote", calls=0, error_rate=0.5)))

    assert (
        "All 0, unknown or empty: calls, reviewed, kind, last at, period, flags, signatures, counts." in said
    )


def test_columns_without_room_are_named():
    said = answer_of(ToolRow(tool_name="quote", calls=3, kind="read", last_at=NOON)).to_text(width=20)

    assert "No room for: last at." in said
    assert max(len(line) for line in said.splitlines()[:4]) <= 20


def test_where_room_is_scarce_rates_and_what_they_rest_on_stay():
    row = ToolRow(tool_name="quote", kind="read", calls=31, error_rate=0.5, error_low=0.25, error_high=0.75)

    said = answer_of(row).to_text(width=32)

    assert said.splitlines()[1:5] == [
        "tool",
        "name   calls         error rate",
        "-----  -----  -----------------",
        "quote     31  50 % (25 to 75 %)",
    ]
    assert "No room for: kind." in said


def test_no_rows_are_said_in_words_and_keep_their_typed_columns():
    nothing = answer_of(notes=["no_data: nothing lies in this window"])

    assert "No rows." in repr(nothing)
    assert "no_data: nothing lies in this window" in nothing._repr_html_()
    assert nothing.to_polars().schema == {
        "tool_name": polars.String,
        "calls": polars.Int64,
        "error_rate": polars.Float64,
        "error_low": polars.Float64,
        "error_high": polars.Float64,
        "reviewed": polars.Boolean,
        "kind": polars.String,
        "last_at": polars.Datetime("us", "UTC"),
        "period": polars.Date,
        "flags": polars.List(polars.String),
        "signatures": polars.List(polars.Struct({"signature": polars.String, "calls": polars.Int64})),
        "counts": polars.String,
    }


@pytest.fixture
def two_rows() -> Answer[ToolRow]:
    return answer_of(
        ToolRow(
            tool_name="=quote",
            calls=2,
            error_rate=-0.5,
            reviewed=True,
            last_at=NOON,
            period=date(2026, 6, 1),
            flags=("few_conversations",),
            signatures=(Signature(signature="$.amount", calls=2),),
            counts={"a": 1},
        ),
        ToolRow(tool_name="book"),
    )


def test_records_are_ready_for_json_with_times_in_z(two_rows):
    first, second = json.loads(json.dumps(two_rows.records()))

    assert first["last_at"] == "2026-06-01T12:30:00Z"
    assert first["period"] == "2026-06-01"
    assert first["signatures"] == [{"signature": "$.amount", "calls": 2}]
    assert first["counts"] == {"a": 1}
    assert second == {
        "tool_name": "book", "calls": None, "error_rate": None, "error_low": None, "error_high": None,
        "reviewed": None, "kind": None, "last_at": None, "period": None, "flags": [], "signatures": [],
        "counts": None,
    }  # fmt: skip  # one row


def test_pandas_keeps_whole_numbers_and_flags_beside_unknown_ones(two_rows):
    frame = two_rows.to_pandas()

    assert frame["calls"].dtype == "Int64"
    assert frame["reviewed"].dtype == "boolean"
    assert frame["last_at"][0] == pandas.Timestamp(NOON)
    assert frame["calls"].isna().tolist() == [False, True]


def test_duckdb_and_polars_read_an_answer_as_the_arrow_stream_it_is(two_rows):
    assert duckdb.sql("select sum(calls)::int from two_rows").fetchall() == [(2,)]
    assert polars.DataFrame(two_rows)["tool_name"].to_list() == ["=quote", "book"]


def test_a_spreadsheet_gets_no_formula_and_its_numbers_stay_numbers(tmp_path):
    texts = ["=1+1", "+1", "-1", "@x", "\t=x", "\r=x", "safe=1"]
    rows = [ToolRow(tool_name=text, error_rate=-0.25) for text in texts]

    path = answer_of(*rows).to_csv(tmp_path / "rows.csv")

    with path.open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    assert [row["tool_name"] for row in read] == ["'=1+1", "'+1", "'-1", "'@x", "'\t=x", "'\r=x", "safe=1"]
    assert {row["error_rate"] for row in read} == {"-0.25"}


def test_parquet_comes_back_as_it_went(two_rows, tmp_path):
    path = two_rows.to_parquet(tmp_path / "rows.parquet")

    assert polars.read_parquet(path).equals(two_rows.to_polars())


def test_a_file_that_cannot_be_written_is_an_output_error_that_names_it(two_rows, tmp_path):
    for write in (two_rows.to_csv, two_rows.to_parquet):
        with pytest.raises(OutputError, match="no_such_folder"):
            write(tmp_path / "no_such_folder" / "rows")


def test_a_slice_of_an_answer_is_an_answer_that_knows_what_it_left_out(two_rows):
    head = two_rows[:1]

    assert isinstance(head, Answer)
    assert (len(head), head.more, head[0].tool_name) == (1, 1, "=quote")


def test_pretty_json_keeps_every_number_key_and_duplicate_as_written():
    text = r'{"b": 1.10, "a": 12345678901234567890123456, "a": 1e400, "t": "{\"x\":[1, 2]} \u043f"}'

    assert (
        pretty(text) == r'{"b": 1.10, "a": 12345678901234567890123456, "a": 1e400, "t": "{\"x\":[1, 2]} п"}'
    )
    assert pretty('{"a":[],"b":[1,{}]}', width=4) == '{\n  "a": [],\n  "b": [\n    1,\n    {}\n  ]\n}'
    assert pretty('{"a":[1,2],"b":[3,4]}', width=12) == '{\n  "a": [1, 2],\n  "b": [3, 4]\n}'
    assert pretty("{'a': not json}") == "{'a': not json}"


STEPS = (
    Step(kind="said", who="user", text=f"15000 baht, please\n{HOSTILE}"),
    Step(
        kind="called",
        who="compute_exchange_quote",
        arguments='{"amount":15000.00}',
        result='{"ok":true}',
        state="ok",
        at=NOON,
        call_uid="0af3",
        origin="traces.jsonl:7",
        chosen=True,
    ),
    Step(kind="labelled", who="anna", state="bad_args", fine=False, text="Client asked in THB"),
)


def test_a_call_reads_as_user_call_result_and_the_reviewers_note():
    said = repr(CallView(STEPS, title="One call"))

    assert said.splitlines() == [
        "One call",
        "  user",
        "    15000 baht, please",
        r"    <img src=x onerror=alert(1)>\x1b]0;owned\x07\u202egnp\x9b2J\x00",
        "> calls compute_exchange_quote: ok  2026-06-01 12:30",
        '    {"amount": 15000.00}',
        "    returned",
        '    {"ok": true}',
        "    0af3 traces.jsonl:7",
        "  label by anna: bad_args",
        "    Client asked in THB",
    ]


def test_an_exchange_on_a_page_escapes_what_was_said():
    long = json.dumps({"note": "<script>alert(1)</script>" * 100})
    steps = [*STEPS, Step(kind="called", who="<b>", arguments=None, result=long)]

    page = ConversationView(steps, answer=Answer([], ToolRow, title="<i>"))._repr_html_()
    read = Tags(page)

    assert set(read.tags) <= {"div", "style", "span", "pre", "p", "br", "details", "summary"}
    assert {name for name, _ in read.attributes} <= {"class", "title"}
    assert "(no arguments)" in read.text
    assert "<img src=x onerror=alert(1)>\\x1b" in read.text
