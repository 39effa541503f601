"""Many lines at once: the same tables, reports and rejects as line by line, whatever the file holds."""

from __future__ import annotations

import dataclasses
import gzip
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quality_lab import formats
from quality_lab.errors import InputError
from quality_lab.formats import bulk as reading_in_bulk
from quality_lab.formats import bulk_columns
from quality_lab.formats.bulk_runs import Run
from quality_lab.formats.columns import Batch
from quality_lab.records import ReadNotes
from quality_lab.store import Store, bulk, loading
from quality_lab.store.ahead import ahead
from quality_lab.store.bulk_rows import arrow_batch

TABLES = ("tool_calls", "feedback", "conversations", "versions", "rejects", "sources")
TRACE = (
    '{"id":%d,"conversationId":%s,"contactId":%s,"messageId":null,"outboundQueueId":null,"source":"rag_reply",'
    '"toolName":%s,"args":%s,"result":%s,"error":%s,"cycle":0,"toolCallIndex":%d,"latencyMs":%s,"createdAt":%s}'
)
FEEDBACK = (
    '{"id":%d,"toolCallId":%d,"adminId":%s,"label":%s,"note":%s,"feedbackCreatedAt":1781000450,"conversationId":977,'
    '"contactId":%s,"messageId":null,"outboundQueueId":null,"source":"rag_reply","toolName":"quote","args":%s,'
    '"result":{"rate":32.60},"error":false,"cycle":0,"toolCallIndex":0,"latencyMs":null,"toolCallCreatedAt":1781000120}'
)


def filled(template: str, *given: object) -> str:
    return template % given


TRACE_START = filled(
    TRACE, 100, 977, "null", '"quote"', '{"asset":"USDT"}', '{"rate":32.60}', "false", 0, "null", 1781000120
)
LABEL_START = filled(FEEDBACK, 100, 100, 3, '"bad_args"', '"in baht"', "null", '{"asset":"USDT"}')

NESTED = "[" * 600 + "]" * 600
ids = st.one_of(st.integers(1, 12), st.just(2**60), st.just(-3))
whole_or_null = st.sampled_from(
    ["null", "650", "651", "0", "-7", "12345678901234567890123", "1.0", '"650"', "true"]
)
tools = st.sampled_from(
    [
        '"quote"',
        '"check_exchange_verification"',
        '"exchange_response_guard"',
        '"a\\"b"',
        '"\\u00e9"',
        '"é"',
        '"\\u0000"',
        "7",
        '""',
    ]
)
values = st.sampled_from(
    [
        *(
            "{}",
            "[]",
            "null",
            '""',
            '"{\\"ok\\":false}"',
            '"no json"',
            "3",
            "true",
            "{ }",
            "[ ]",
            "1e2",
            "-0",
            "NaN",
        ),
        *(
            '{"rate":32.60}',
            '{"rate":1.10000000000000000000001}',
            '{"n":123456789012345678901234567890}',
            '{"n":1E400}',
        ),
        *(
            '{"ok":false}',
            '{"ok":false,"ok":true}',
            '{"error":"no rate"}',
            '{"error":""}',
            '{"error":null,"ok":true}',
        ),
        *(
            '{"ok":true,"needsVerification":true}',
            '{"needsOperator":true,"reason":"no_wallet"}',
            '{"verified":false}',
        ),
        *(
            '{"reason":"action_not_allowed_for_stage"}',
            '{"nested":{"ok":false}}',
            '{"o\\u006b":false}',
            '{"duplicateOrderId":5}',
        ),
        *(
            '{"text":"\\ud83d"}',
            '{"text":"\\ud83d\\ude00"}',
            '{"text":"\\u001f\\/"}',
            '{"text":"é\\n"}',
            '{"a":[1,]}',
            '{"a":1',
        ),
        *(
            '{"a":1,"result":2}',
            '{"a":"x\ty"}',
            NESTED,
            '{"big":"' + "x" * 1500 + '"}',
            '{"a" : 1}',
            '"\\ud83d"',
            "[1,2]",
        ),
    ]
)
times = st.sampled_from(
    ["1781000120", "1781000121", "0", "-5", "1781000120000", "null", "1.5", "99999999999999"]
)


@st.composite
def traces(draw: st.DrawFn) -> str:
    rarely = st.integers(0, 9).map(lambda number: number == 0)
    return TRACE % (
        draw(ids),
        draw(st.sampled_from(["977", "978"])),
        draw(whole_or_null) if draw(rarely) else draw(st.sampled_from(["null", "650"])),
        draw(tools) if draw(rarely) else '"quote"',
        draw(values) if draw(rarely) else '{"asset":"USDT"}',
        draw(values),
        draw(st.sampled_from(["false", "false", "true", "null"])),
        draw(st.sampled_from([0, 0, 1, -1])),
        draw(st.sampled_from(["null", "null", "12", "1.5", "1e2", "-0", '"x"'])) if draw(rarely) else "null",
        draw(times) if draw(rarely) else "1781000120",
    )


@st.composite
def labels(draw: st.DrawFn) -> str:
    return FEEDBACK % (
        draw(st.integers(1, 8)),
        draw(st.integers(1, 5)),
        draw(st.sampled_from(["3", "null"])),
        draw(st.sampled_from(['"bad_args"', '"Bad Args"', '"good_reply"', '"nice"', '"n\\u0069ce"', "5"])),
        draw(st.sampled_from(["null", '"in baht"', '"say \\"baht\\""', '"one\\ntwo"', '"Бат"', '"\\ud83d"'])),
        draw(st.sampled_from(["null", "650"])),
        draw(st.sampled_from(['{"asset":"USDT"}', '{"asset":"THB"}', '"cut {"', "null"])),
    )


@st.composite
def spoilt(draw: st.DrawFn, line: st.SearchStrategy[str]) -> str:
    text = draw(line)
    way = draw(st.integers(0, 24))
    match way:
        case 0:
            return text[: len(text) // 2]
        case 1:
            return draw(st.sampled_from(["", "  ", "oops", "[]", "{}", "null", "\t"]))
        case 2:
            return text + draw(line)
        case 3:
            return text.replace(":", ": ", draw(st.integers(1, 3)))
        case 4:
            return text.replace('"messageId":null', '"contactId":null', 1)
        case 5:
            return text.replace('"messageId":null', '"messagId2":null', 1)
        case 6:
            return text.replace('"messageId":null,', "", 1)
        case 7:
            return text.replace('"outboundQueueId":null,', '"messageId":null,"x":1,', 1)
        case 8:
            return " " + text + " "
        case 9:
            return text[:-1] + ',"id":' + text[6:].split(",", 1)[0] + "}"
        case 10:
            return text[:-1] + ',"more":{"a":1}}'
        case 11:
            return text.replace('"cycle":0,', "", 1).replace("{", '{"cycle":0,', 1)
        case 12:
            return text.replace("}", "\n}", 1)
        case _:
            return text


# What the lines of one file have in common, each spoilt or not.
DRESSES = {
    "as upstream writes it": lambda line: line,
    "a blank after each comma and colon": lambda line: line.replace('":', '": ').replace(',"', ', "'),
    "blanks and tabs before them": lambda line: line.replace('":', '"\t :').replace(',"', ' ,"'),
    "a field that nobody knows": lambda line: line.replace('"source":', '"t\u00e9st":[1, 2],"source":', 1),
    "two fields that nobody knows": lambda line: line.replace(
        '"cycle":', '"x":{"id": 1},"y":" ","cycle":', 1
    ),
    "no contact and no time": lambda line: line.replace('"contactId":null,', "", 1).replace(
        '"latencyMs":null,', "", 1
    ),
    "fractions": lambda line: line.replace('"latencyMs":null', f'"latencyMs":{len(line) * 1.3:.3f}', 1),
    "whole fractions": lambda line: line.replace('"latencyMs":null', f'"latencyMs":{len(line)}.0', 1),
    "a blank note": lambda line: line.replace('"in baht"', '"in \\u0020\\t baht"', 1),
}


@st.composite
def a_file(draw: st.DrawFn, line: st.SearchStrategy[str], start: str, most: int) -> list[str]:
    dress = DRESSES[draw(st.sampled_from(sorted(DRESSES)))]
    end = draw(st.sampled_from(["", "", "\r"]))
    lines = draw(st.lists(st.tuples(spoilt(line), st.integers(0, 9)), min_size=1, max_size=most))
    return [dress(start) + end, *((dress(text) if at else text) + end for text, at in lines)]


def state(store: Store) -> dict[str, Any]:
    with store.question() as connection:
        return {
            name: sorted(map(repr, connection.execute(f"select * from {name}").fetchall())) for name in TABLES
        }


@dataclasses.dataclass
class Lab:
    folder: Path
    number: int = 0

    def loaded(self, files: list[list[bytes]], *, bulk_from: int) -> list[Any]:
        """Return reports and tables after each of *files* was loaded, one after the other."""
        self.number += 1
        store = Store(self.folder / f"home{self.number}")
        seen: list[Any] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(loading, "BULK_FROM", bulk_from)
            for number, lines in enumerate(files):
                path = self.folder / f"file{number}.jsonl"
                path.write_bytes(b"\n".join(lines))
                kind = "feedback" if b"feedbackCreatedAt" in lines[0] else "traces"
                report = store.load([path], format=f"quality_lab.{kind}").to_json()
                report.pop("seconds")
                seen += [report, state(store)]
        return seen


def as_bytes(line: str) -> bytes:
    return line.encode("utf-8", "surrogatepass")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    files=st.lists(
        st.one_of(
            a_file(traces(), TRACE_START, 14),
            a_file(labels(), LABEL_START, 10),
        ),
        min_size=1,
        max_size=2,
    )
)
def test_many_lines_at_once_come_to_what_single_lines_come_to(
    files: list[list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    lab = Lab(tmp_path_factory.mktemp("bulk"))
    texts = [list(map(as_bytes, lines)) for lines in files]

    at_once, singly = lab.loaded(texts, bulk_from=0), lab.loaded(texts, bulk_from=1 << 60)

    assert at_once == singly


def test_rows_of_an_open_transaction_are_numbered_from_where_the_store_thinks() -> None:
    import duckdb

    from quality_lab.store.contested import FIRST_OF_TRANSACTION

    with duckdb.connect() as connection:
        connection.execute("create table rows as select 7 as value")
        connection.execute("begin")
        connection.execute("insert into rows values (8), (9)")

        found = connection.execute("select rowid from rows where value > 7 order by value").fetchall()

    assert found == [(FIRST_OF_TRANSACTION,), (FIRST_OF_TRANSACTION + 1,)]


def taken_and_not(path: Path, kind: str) -> tuple[int, list[int]]:
    """Return how many lines of the file are taken many at once, and the numbers of those that are not."""
    together, singly = 0, []
    known = formats.by_name(kind)
    lines: Iterator[formats.Unit | Batch] = formats.read_in_bulk(
        path, known, options=formats.ReadOptions(), notes=ReadNotes(), display_path="file"
    )
    for one in lines:
        if isinstance(one, Batch):
            together += len(one.lines)
        else:
            singly.append(one.line)
    return together, sorted(set(singly))


def many(count: int, **changed: str) -> list[str]:
    lines = [
        filled(TRACE, at, 977, "null", '"quote"', "{}", "{}", "false", 0, "null", 0)
        for at in range(1, count + 1)
    ]
    for at, line in changed.items():
        lines[int(at[1:]) - 1] = line
    return lines


def both_ways(content: str, folder: Path) -> dict[str, Any]:
    """Return the report of a file of traces, which many lines at once must come to as single ones do."""
    lab = Lab(folder)
    at_once, singly = (lab.loaded([[content.encode()]], bulk_from=bulk_from) for bulk_from in (0, 1 << 60))
    assert at_once == singly
    report: dict[str, Any] = at_once[0]["files"][0]
    return report


DRESSED = DRESSES["a field that nobody knows"](TRACE_START)
ONE, TWO, THREE = (DRESSED.replace('"id":100', f'"id":{number}') for number in (1, 2, 3))


@pytest.mark.parametrize("dress", ["as upstream writes it", "a blank after each comma and colon"])
@pytest.mark.parametrize(
    ("lines", "loaded", "rejected", "blank", "glued"),
    [
        ([ONE, TWO.replace('"USDT"', '\n"USDT"'), THREE], 2, 2, 0, 0),
        ([ONE, TWO.replace("[1,", "[1,\n"), THREE], 2, 2, 0, 0),
        (["", ONE, f"{TWO} {THREE}", ""], 3, 0, 1, 1),
        ([ONE, f"{TWO} {THREE}", ""], 3, 0, 0, 1),
        ([ONE, f"{TWO} {THREE}", "", ""], 3, 0, 1, 1),
        ([ONE, f"{TWO} {THREE}", "\r", ""], 3, 0, 1, 1),
    ],
    ids=[
        "a value on two lines",
        "an unknown value on two lines",
        "a blank line before two that share one",
        "two that share the last",
        "a blank line behind two that share one",
        "a blank line behind them, with a return",
    ],
)
def test_where_lines_and_objects_are_not_one_to_one_each_line_is_read_for_itself(
    dress: str, lines: list[str], loaded: int, rejected: int, blank: int, glued: int, tmp_path: Path
) -> None:
    report = both_ways("\n".join(map(DRESSES[dress], lines)), tmp_path)

    assert (report["loaded"], report["rejected"]) == (loaded, rejected)
    assert (report["blank"], report.get("glued", 0)) == (blank, glued)


@pytest.mark.parametrize("field", ['"args":{"asset":"USDT"}', '"result":{"rate":32.60}', '"more":1'])
@pytest.mark.parametrize(("levels", "rejected"), [(499, 0), (500, 1), (700, 1)])
def test_a_value_is_nested_too_deeply_with_the_object_that_it_stands_in(
    field: str, levels: int, rejected: int, tmp_path: Path
) -> None:
    first = TRACE_START.replace('"source"', '"more":1,"source"')
    deep = first.replace('"id":100', '"id":101').replace(
        field, field.split(":")[0] + ":" + "[" * levels + "]" * levels
    )

    report = both_ways(f"{first}\n{deep}\n", tmp_path)

    assert (report["loaded"], report["rejected"]) == (2 - rejected, rejected)


def test_a_field_that_nobody_knows_may_have_any_name(tmp_path: Path) -> None:
    written = ['a\\"b', "a\\\\b", "\\u0000", "\\n", "", "unknown_0", "__class__", "self", "\u00e9"]
    lines = [
        TRACE_START.replace('"id":100', f'"{name}":[1, 2],"id":{at}')
        for at, name in enumerate(written * 2, start=200)
    ]

    report = both_ways("\n".join(lines), tmp_path)

    names = ['a"b', "a\\b", "\0", "\n", *written[4:]]
    assert (report["loaded"], report["unknown_fields"]) == (18, dict.fromkeys(names, 2))


def test_of_a_thousand_unknown_fields_the_first_ones_are_named(tmp_path: Path) -> None:
    lines = many(1_200)
    lines[0] = lines[0].replace('"source"', '"first":1,"source"')
    lines[30:] = [line.replace('"source"', f'"late{at}":1,"source"') for at, line in enumerate(lines[30:])]

    fields = both_ways("\n".join(lines), tmp_path)["unknown_fields"]

    assert (fields["first"], len(fields), fields["\u2026"]) == (1, 1_001, 171)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("oops", "it is no JSON"),
        (TRACE_START.replace("{}", "{ }") + "{}", "objects share it"),
        (TRACE_START.replace('"cycle":0', '"cycle":"no"'), "a field is not of its type"),
        (TRACE_START.replace('"messageId"', '"message_id"'), "nobody knows a key"),
        (TRACE_START.replace('{"rate":32.60}', '"{\\"ok\\":false}"'), "its result is JSON in a text"),
        (TRACE_START.replace("1781000120", "1781000120000"), "its time is out of range"),
        (
            TRACE_START.replace('"messageId"', '"contactId"'),
            "a key stands there twice, and another not at all",
        ),
        (TRACE_START.replace(":null", ':null , "cycle" : 0', 1), "a key stands there twice among blanks"),
        (
            TRACE_START.replace('"source"', '"source":"a b c", "source"'),
            "a text with blanks stands there twice",
        ),
        (TRACE_START.replace('"result":{"rate":32.60},', ""), "there is no result"),
        (TRACE_START.replace('"quote"', '"qu\\u006fte"'), "a text is written longer than it must be"),
        (TRACE_START.replace('"latencyMs":null', '"latencyMs":1500.0'), "its latency could be shorter"),
        (TRACE_START.replace('"latencyMs":null', '"latencyMs":-0'), "its latency is written longer"),
    ],
)
def test_a_line_goes_the_exact_way_alone_if(line: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text("\n".join(many(3_000, l1500=line)) + "\n", "utf-8")

    together, singly = taken_and_not(path, "quality_lab.traces")

    assert (together, singly) == (2_999, [1500]), why


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (',"cycle"', ',\n"cycle"', "it goes on in the next"),
        ("}\n", "}", "the next stands on it"),
        (TRACE_START, "", "it is blank"),
    ],
)
def test_a_line_goes_the_exact_way_with_some_neighbours_if(
    old: str, new: str, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "traces.jsonl"
    text = "\n".join(many(3_000, l1500=TRACE_START + "\n" + TRACE_START)) + "\n"
    path.write_text(text.replace(f"{TRACE_START}\n", f"{TRACE_START}\n".replace(old, new), 1), "utf-8")

    together, singly = taken_and_not(path, "quality_lab.traces")

    assert 1500 in singly, why
    assert len(singly) <= 10
    assert together >= 2_990


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("null", " null", "there is a blank before a value"),
        ('":', '" :\t', "there are blanks and tabs around colons"),
        ("1781000120}", "1781000120} \t ", "there are blanks behind it"),
        ('{"id"', ' \t {"id"', "there are blanks before it"),
        ('"messageId":null,', "", "a field that may be absent is"),
        ('"latencyMs":null', '"latencyMs":1412.375', "its latency is a fraction"),
        ('"latencyMs":null', '"latencyMs":1412.0', "its latency is whole, and written as a fraction"),
    ],
)
def test_a_line_is_taken_with_the_others_though(old: str, new: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text("\n".join(many(3_000, l1500=TRACE_START.replace(old, new))) + "\n", "utf-8")

    assert taken_and_not(path, "quality_lab.traces") == (3_000, []), why


@pytest.mark.parametrize("fraction", ["1500.0", "0.001", "1e3", "2.50", "100.5e0"])
def test_a_fraction_goes_the_exact_way_where_it_could_be_shorter(fraction: str, tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    line = TRACE_START.replace('"latencyMs":null', f'"latencyMs":{fraction}')
    path.write_text("\n".join(many(100, l50=line)), "utf-8")

    assert 50 in taken_and_not(path, "quality_lab.traces")[1]


def test_fields_that_nobody_knows_are_counted_where_the_first_lines_have_them(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    lines = [line.replace('"cycle":', '"vers\\u0131on":{"a": 1},"cycle":') for line in many(3_000)]
    plain = [line.replace('"cycle":', '"vers\u0131on":{"a": 1},"cycle":') for line in many(3_000)]
    plain[6], plain[7] = many(8)[6], plain[7].replace('"cycle":', '"more":1,"cycle":')
    path.write_text("\n".join(plain), "utf-8")
    notes = ReadNotes()

    batches = [
        one
        for one in formats.read_in_bulk(
            path,
            formats.by_name("quality_lab.traces"),
            options=formats.ReadOptions(),
            notes=notes,
            display_path="file",
        )
        if isinstance(one, Batch)
    ]

    assert sum(len(batch.lines) for batch in batches) == 3_000
    assert notes.unknown_fields == {"vers\u0131on": 2_999, "more": 1}
    path.write_text("\n".join(lines[:100]), "utf-8")  # a key that is written longer than it must be
    assert taken_and_not(path, "quality_lab.traces")[0] == 0


def test_windows_ends_of_lines_are_taken_together_and_other_returns_are_not(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_bytes("\r\n".join([*many(3_000), ""]).encode())

    assert taken_and_not(path, "quality_lab.traces") == (3_000, [])
    path.write_bytes("\r\n".join(many(200, l100=TRACE_START.replace(":", ":\r", 1))).encode())
    together, singly = taken_and_not(path, "quality_lab.traces")
    assert 100 in singly
    assert together + len(singly) == 200


@pytest.mark.parametrize(
    "value",
    ['{"n":123456789012345678901234567890}', '{"n":0.1000000000000000000000001}', '{"n":1E400}', '{"n":-0}']
    + ['{"a":1,"a":2}', '{"t":"\\ud83d\\ude00\\/\\u001f"}', '{"t":"é"}', '{ "a" : [1 , 2] }', "3", "null"],
)
def test_values_that_a_parser_would_change_stay_as_they_came(value: str, tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    line = filled(TRACE, 7, 977, "null", '"quote"', value, value, "false", 0, "12", 1781000120)
    path.write_text("\n".join([*many(2, l2=line), ""]), "utf-8")
    store = Store(tmp_path / "home")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "BULK_FROM", 0)
        store.load([path])
    together, singly = taken_and_not(path, "quality_lab.traces")
    with store.question() as connection:
        held = connection.execute("select arguments, result from tool_calls where key = '7'").fetchall()

    assert (together, singly) == (2, [])
    assert held == [(value, value)]


def test_a_file_of_another_make_is_given_up_on_early(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text("\n".join(line.replace("quote", "qu\\u006fte") for line in many(40_000)), "utf-8")

    together, singly = taken_and_not(path, "quality_lab.traces")

    assert (together, len(singly)) == (0, 40_000)


def test_lines_that_go_the_exact_way_are_looked_for_once_in_all_their_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "traces.jsonl"
    lines = many(4_000)
    lines[::2] = [line.replace('"result":{}', '"result":"ok"') for line in lines[::2]]
    path.write_text("\n".join(lines), "utf-8")
    split = Run.split
    looked = []
    monkeypatch.setattr(Run, "split", lambda run: looked.append(len(run.text)) or split(run))

    together, singly = taken_and_not(path, "quality_lab.traces")

    assert (together, singly) == (2_000, list(range(1, 4_001, 2)))
    assert sum(looked) <= path.stat().st_size


def test_of_long_lines_few_are_held_at_once(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    long = '"result":{"text":"' + "word " * 40_000 + '"}'
    path.write_text("\n".join(line.replace('"result":{}', long) for line in many(200)), "utf-8")
    known = formats.by_name("quality_lab.traces")

    found = formats.read_in_bulk(
        path, known, options=formats.ReadOptions(), notes=ReadNotes(), display_path="file"
    )
    batches = [len(one.lines) for one in found if isinstance(one, Batch)]

    assert sum(batches) == 200
    assert max(batches) * 200_000 < 20_000_000


def test_beyond_the_first_thousands_of_tool_names_the_others_stay_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_columns, "_MOST_WORDS", 100)
    path = tmp_path / "traces.jsonl"
    lines = [line.replace('"quote"', f'"quote{at if at % 2 else 0}"') for at, line in enumerate(many(2_000))]
    path.write_text("\n".join(lines), "utf-8")

    together, singly = taken_and_not(path, "quality_lab.traces")

    assert (together, singly) == (
        1_000 + 99,
        list(range(200, 2_001, 2)),
    )  # 100 names: one, and 99 of the others


def test_labels_of_the_five_are_taken_together_and_others_singly(tmp_path: Path) -> None:
    path = tmp_path / "feedback.jsonl"
    lines = [LABEL_START.replace('"id":100', f'"id":{at}') for at in range(1, 1_001)]
    lines[499] = lines[499].replace("bad_args", "Bad Args")
    path.write_text("\n".join(lines), "utf-8")

    assert taken_and_not(path, "quality_lab.feedback") == (999, [500])


def test_calls_that_are_here_already_are_unchanged_and_new_ones_come_in(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    store = Store(tmp_path / "home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "BULK_FROM", 0)
        path.write_text("\n".join(many(2_000)), "utf-8")
        store.load([path])
        path.write_text("\n".join([*many(2_000), "oops", *many(3_000)[2_000:]]), "utf-8")

        report = store.load([path]).files[0]

    assert (report.lines, report.loaded, report.unchanged, report.rejected) == (3_001, 1_000, 2_000, 1)
    assert store.totals()["tool_calls"] == 3_000


PLAIN = "\n".join(many(40, l7="oops", l20="", l30=TRACE_START)).encode()


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(PLAIN, mtime=0),
        gzip.compress(PLAIN, mtime=0)[:-40],
        zstandard.compress(PLAIN),
        PLAIN + b"\n",
        PLAIN + b"\n\n",
        b"\xef\xbb\xbf" + PLAIN,
        PLAIN.decode().encode("utf-16"),
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.replace(b"\n", b"\r"),
        PLAIN.replace(b"quote", b"qu\xffte", 3),
        b"[" + b",".join(PLAIN.split(b"\n")[:5]) + b"]",
        b'{"items":[' + b",".join(PLAIN.split(b"\n")[:5]) + b"]}",
    ],
    ids=[
        "gz",
        "cut gz",
        "zst",
        "end",
        "blank end",
        "mark",
        "UTF-16",
        "CRLF",
        "CR",
        "not UTF-8",
        "list",
        "items",
    ],
)
def test_however_a_file_is_packed_many_lines_at_once_come_to_the_same(content: bytes, tmp_path: Path) -> None:
    lab = Lab(tmp_path)

    at_once, singly = lab.loaded([[content]], bulk_from=0), lab.loaded([[content]], bulk_from=1 << 60)

    assert at_once == singly
    assert at_once[0]["files"][0]["loaded"] >= 5


def test_what_fails_while_it_runs_ahead_fails_where_it_is_taken() -> None:
    def things() -> Iterator[int]:
        yield 1
        raise InputError("the disk is gone")

    taken = []

    with pytest.raises(InputError, match="the disk is gone"), ahead(things(), steps=2) as running:
        taken += running

    assert taken == [1]


def test_who_runs_ahead_stops_when_nobody_wants_more() -> None:
    numbers = iter(range(1_000))

    with ahead(numbers, steps=2) as running:
        assert next(running) == 0

    assert next(numbers) <= 6


def test_labels_are_let_go_once_they_are_staged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "feedback.jsonl"
    lines = [
        LABEL_START.replace('"id":100', f'"id":{at}').replace('"toolCallId":100', f'"toolCallId":{at}')
        for at in range(1, 6_001)
    ]
    path.write_text("\n".join(lines), "utf-8")
    held: list[weakref.ref[Any]] = []
    held_at_once = []

    def watched(batch: Batch, outcomes: Any) -> Any:
        held_at_once.append(sum(one() is not None for one in held))
        held.append(weakref.ref(batch.lines))
        return arrow_batch(batch, outcomes)

    monkeypatch.setattr(bulk, "arrow_batch", watched)
    monkeypatch.setattr(loading, "BULK_FROM", 0)
    monkeypatch.setattr(reading_in_bulk, "ROWS", 500)
    monkeypatch.setattr(reading_in_bulk, "_WORTH_LOOKING", 500)

    report = Store(tmp_path / "home").load([path]).files[0]

    assert (report.loaded, len(held) > 4) == (6_000, True)
    assert max(held_at_once) <= 1


@pytest.mark.parametrize("field", ["said\\\\so", 'the \\"end\\"', "a\\tb"])
def test_an_override_may_name_any_field_of_a_result(field: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "data").mkdir(parents=True)
    (home / "data" / "outcomes.toml").write_text(
        f'[[override]]\nfield = "{field}"\nequals = "no"\noutcome = "rejected"\n', "utf-8"
    )
    path = tmp_path / "traces.jsonl"
    line = filled(TRACE, 700, 977, "null", '"quote"', "{}", f'{{"{field}":"no"}}', "false", 0, "null", 0)
    path.write_text("\n".join(many(30, l20=line)), "utf-8")
    store = Store(home)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "BULK_FROM", 0)
        store.load([path])

    with store.question() as connection:
        found = connection.execute("select key, outcome from tool_calls where outcome <> 'ok'").fetchall()
    assert found == [("700", "rejected")]
