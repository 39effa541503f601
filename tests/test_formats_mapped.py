"""Home-grown files through a map: what the map says becomes calls, messages and labels, value for value."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from file_reading import Read, json_texts, written
from hypothesis import given, settings
from hypothesis import strategies as st

from quality_lab import formats
from quality_lab.errors import InputError, UsageError
from quality_lab.formats.mapping.preview import suggest
from quality_lab.json_text import parse, same_value
from quality_lab.records import Conversation, Feedback, SetAside, ToolCall

PLAIN = """
name = "desk"
[conversation]
id = "session"
[call]
tool = "tool"
arguments = "args"
result = "result"
"""


def read_mapped(path: Path, text: str, **options: Any) -> Read:
    """Return what comes of the file at *path* by the map *text*."""
    known = formats.mapped(text, file="map.toml")
    found = Read(known.name, [])
    chosen = formats.ReadOptions(**options)
    found.units = list(formats.read(path, known, options=chosen, notes=found.notes, display_path=str(path)))
    return found


def by(tmp_path: Path, text: str, *records: Any, name: str = "own.jsonl") -> Read:
    """Return what comes of these *records* by the map *text*."""
    return read_mapped(written(tmp_path, records, name), text)


def table(tmp_path: Path, rows: list[list[str]], *, delimiter: str = ",", encoding: str = "utf-8") -> Path:
    """Return the path of a CSV file with these rows."""
    target = io.StringIO(newline="")
    csv.writer(target, delimiter=delimiter).writerows(rows)
    path = tmp_path / "own.csv"
    path.write_bytes(target.getvalue().encode(encoding))
    return path


# ---- values ----


@given(arguments=json_texts(), result=json_texts())
def test_arguments_and_results_come_out_of_json_with_the_values_that_went_in(
    tmp_path_factory: pytest.TempPathFactory, arguments: str, result: str
) -> None:
    line = f'{{"session": "s", "tool": "t", "args": {{"a": {arguments}}}, "result": [{result}]}}'.encode()
    (call,) = by(tmp_path_factory.mktemp("own"), PLAIN, line).calls

    assert same_value(call.arguments or "", f'{{"a": {arguments}}}')
    assert same_value(call.result or "", f"[{result}]")


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)


@given(cells=st.lists(CELLS, min_size=1, max_size=5), result=json_texts(), mark=st.sampled_from(",;\t|"))
def test_cells_come_out_of_a_table_as_they_were_written_whatever_stands_in_them(
    tmp_path_factory: pytest.TempPathFactory, cells: list[str], result: str, mark: str
) -> None:
    held = f'{{"r": {result}}}'
    rows = [["session", "tool", "args", "text"], *(["s", "t", held, cell] for cell in cells)]
    path = table(tmp_path_factory.mktemp("own"), rows, delimiter=mark)
    found = read_mapped(path, PLAIN.replace('"result"', '{ path = "text", as = "text" }'))

    assert [call.arguments for call in found.calls] == [held] * len(cells)
    assert [None if call.result is None else parse(call.result) for call in found.calls] == [
        cell or None for cell in cells
    ]


@pytest.mark.parametrize(
    "value", ["9007199254740993", "0.1000000000000000000001", "1e400", '"\\ud83d"', '"\\u0000"']
)
def test_numbers_and_surrogates_stay_as_they_were_written(tmp_path: Path, value: str) -> None:
    line = f'{{"session": "s", "tool": "t", "args": {{"v": {value}}}, "result": {value}}}'.encode()
    (call,) = by(tmp_path, PLAIN, line).calls

    assert (call.arguments, call.result) == (f'{{"v": {value}}}', value)


def test_text_that_holds_an_object_is_read_one_level_and_other_text_stays_text(tmp_path: Path) -> None:
    found = by(
        tmp_path,
        PLAIN,
        {"session": "s", "tool": "t", "args": '{"n": 1}', "result": '{"ok": false}'},
        {"session": "s", "tool": "t", "args": "[cut", "result": "12"},
        {"session": "s", "tool": "t", "args": "", "result": ""},
        {"session": "s", "tool": "t"},
    )

    assert [(call.arguments, call.arguments_state) for call in found.calls] == [
        ('{"n": 1}', "json_string"),
        ('"[cut"', "invalid_json"),
        ('""', "absent"),
        (None, "not_captured"),
    ]
    assert [(call.result, call.result_state) for call in found.calls] == [
        ('{"ok": false}', "present"),
        ('"12"', "present"),
        ('""', "present"),
        (None, "absent"),
    ]
    assert found.notes.missing == {"call without result": 1}


def test_a_big_cell_and_one_with_line_ends_and_quotes_are_one_cell(tmp_path: Path) -> None:
    big = json.dumps({"text": "x" * 300_000, "lines": 'a\r\nb "c"\n'})
    rows = [["session", "tool", "args", "result"], ["s", "t", "{}", big], ["s", "t", "{}", "two\nlines"]]
    found = read_mapped(table(tmp_path, rows), PLAIN)

    assert [call.result for call in found.calls] == [big, '"two\\nlines"']
    assert [unit.line for unit in found.units] == [2, 3]


def test_a_table_in_another_encoding_is_read_by_its_name(tmp_path: Path) -> None:
    path = table(
        tmp_path, [["session", "tool", "args", "result"], ["s", "t", "{}", "año"]], encoding="cp1252"
    )

    utf8 = read_mapped(path, PLAIN)
    named = read_mapped(path, f'{PLAIN}\n[file]\nencoding = "cp1252"')

    assert [reason for _, _, reason in utf8.broken] == ["wanted text in the file's encoding, got other bytes"]
    assert [call.result for call in named.calls] == ['"año"']


def test_a_broken_row_of_a_table_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text('session,tool,args,result\ns,t,{},1\ns,t,{},2,3\ns,t,"{},4\ns,t\n\ns,t,{},5\n')
    found = read_mapped(path, PLAIN)

    assert [call.result for call in found.calls] == ['"1"', None, '"5"']
    assert found.broken == [
        (3, "", "wanted at most 4 cells, as the header has, got 5"),
        (4, "", "a quote is opened here and never closed"),
    ]
    assert found.notes.missing == {"cells at the end of a row": 1, "call without result": 1}
    assert [unit.line for unit in found.units if unit.blank] == [6]


# ---- times, durations, places ----


@pytest.mark.parametrize(
    ("rule", "value", "moment"),
    [
        ('"at"', "2026-06-01T10:00:00+02:00", "2026-06-01T08:00:00"),
        ('"at"', "2026-06-01 10:00:00", "2026-06-01T10:00:00"),
        ('{ path = "at", zone = "Europe/Madrid" }', "2026-06-01T10:00:00", "2026-06-01T08:00:00"),
        ('{ path = "at", unit = "s" }', 1780308000, "2026-06-01T10:00:00"),
        ('{ path = "at", unit = "s" }', "1780308000.5", "2026-06-01T10:00:00.500000"),
        ('{ path = "at", unit = "ms" }', 1780308000001, "2026-06-01T10:00:00.001000"),
        ('{ path = "at", unit = "us" }', 1780308000000001, "2026-06-01T10:00:00.000001"),
        ('{ path = "at", unit = "ns" }', 1780308000000001999, "2026-06-01T10:00:00.000001"),
        ('{ path = "at", format = "%d/%m/%Y %H:%M" }', "01/06/2026 10:00", "2026-06-01T10:00:00"),
    ],
)
def test_a_time_is_read_in_the_unit_zone_or_form_that_the_map_names(
    tmp_path: Path, rule: str, value: Any, moment: str
) -> None:
    (call,) = by(tmp_path, PLAIN + f"started = {rule}", {"session": "s", "tool": "t", "at": value}).calls

    assert call.created_at is not None
    assert call.created_at.isoformat() == f"{moment}+00:00"


@pytest.mark.parametrize(
    ("unit", "value", "ms"),
    [
        ("s", 1.747, 1747.0),
        ("ms", 866.77, 866.77),
        ("us", 1500, 1.5),
        ("ns", "2500000", 2.5),
        ("min", 2, 120_000.0),
        ("iso", "PT20S", 20_000.0),
        ("iso", "0:01:02.5", 62_500.0),
    ],
)
def test_a_duration_comes_out_in_milliseconds(tmp_path: Path, unit: str, value: Any, ms: float) -> None:
    text = PLAIN + f'latency = {{ path = "took", unit = "{unit}" }}'
    (call,) = by(tmp_path, text, {"session": "s", "tool": "t", "took": value}).calls

    assert call.latency_ms == ms


def test_start_and_end_give_the_latency_where_no_duration_stands(tmp_path: Path) -> None:
    text = PLAIN + 'started = "a"\nended = "b"'
    record = {"session": "s", "tool": "t", "a": "2026-06-01T10:00:00Z", "b": "2026-06-01T10:00:01.250Z"}
    (call,) = by(tmp_path, text, record).calls

    assert call.latency_ms == 1250.0


def test_a_time_or_a_number_that_is_none_puts_its_record_aside(tmp_path: Path) -> None:
    text = PLAIN + 'started = { path = "at", unit = "ms" }\ncycle = { path = "round", starts_at = 1 }'
    found = by(
        tmp_path,
        text,
        {"session": "s", "tool": "t", "at": "yesterday"},
        {"session": "s", "tool": "t", "round": 0},
        {"session": "s", "round": 1},
    )

    assert found.broken == [
        (1, "at", "wanted a number of ms since 1970, got 'yesterday'"),
        (2, "round", "wanted a whole number from 1 on, got '0'"),
        (3, "tool", "required field is missing"),
    ]


def test_places_count_from_nought_within_conversation_turn_and_cycle(tmp_path: Path) -> None:
    text = PLAIN + 'turn = "turn"\ncycle = { path = "round", starts_at = 1 }'
    places = [("a", 0, 1), ("a", 0, 1), ("b", 0, 1), ("a", 0, 2), ("a", 1, 1)]
    found = by(
        tmp_path, text, *({"session": s, "tool": "t", "turn": turn, "round": r} for s, turn, r in places)
    )

    assert [(call.call_index, call.cycle, call.index_in_cycle) for call in found.calls] == [
        (0, 0, 0),
        (1, 0, 1),
        (0, 0, 0),
        (2, 1, 0),
        (0, 0, 0),
    ]


def test_records_in_any_order_are_placed_by_their_times(tmp_path: Path) -> None:
    text = PLAIN + 'started = { path = "at", unit = "s" }\n[file]\norder = "time"'
    found = by(tmp_path, text, *({"session": "s", "tool": "t", "at": at} for at in (300, 100, 200)))

    assert [call.call_index for call in found.calls] == [2, 0, 1]


# ---- errors ----


@pytest.mark.parametrize(
    ("rules", "record", "expected"),
    [
        ('path = "ok"\nequals = false', {"ok": False}, (True, "flag", None)),
        ('path = "ok"\nequals = false', {"ok": True}, (False, None, None)),
        ('path = "ok"\nequals = false', {"ok": None}, (False, None, None)),
        ('path = "ok"\nequals = false', {}, (None, None, None)),
        (
            'path = "ok"\nequals = false\ntext = "why"',
            {"ok": False, "why": "no money"},
            (True, "flag", "no money"),
        ),
        ('path = "status"\nequals = ["failed", "timeout"]', {"status": "timeout"}, (True, "flag", None)),
        ('path = "code"\nnot_equals = 0\norigin = "exit_code"', {"code": 2}, (True, "exit_code", None)),
        ('path = "code"\nnot_equals = 0\norigin = "exit_code"', {"code": 0}, (False, None, None)),
        ('path = "error"\nnonempty = true', {"error": "boom"}, (True, "exception", "boom")),
        ('path = "error"\nnonempty = true', {"error": {}}, (False, None, None)),
        ('path = "error"\nnonempty = true', {"error": "None"}, (False, None, None)),
        (
            'path = "result"\nstarts_with = "Error:"',
            {"result": "Error: no seat"},
            (None, "text", "Error: no seat"),
        ),
        ('path = "result"\nstarts_with = "Error:"', {"result": "fine"}, (False, None, None)),
        (
            'path = "result.result.error"\nnonempty = true',
            {"result": {"ok": True, "result": {"error": "docker is not installed"}}},
            (True, "exception", "docker is not installed"),
        ),
    ],
)
def test_a_call_failed_if_a_rule_says_so_and_did_not_if_one_could_have_said_so(
    tmp_path: Path, rules: str, record: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    text = f"{PLAIN}\n[[call.error]]\n{rules}"
    (call,) = by(tmp_path, text, {"session": "s", "tool": "t", **record}).calls

    assert (call.is_error, call.error_origin, call.error_text) == expected


def test_a_cell_says_true_and_false_in_words(tmp_path: Path) -> None:
    text = f'{PLAIN}\n[[call.error]]\npath = "ok"\nequals = false'
    rows = [["session", "tool", "ok"], ["s", "t", "False"], ["s", "t", "TRUE"], ["s", "t", "0"]]

    assert [call.is_error for call in read_mapped(table(tmp_path, rows), text).calls] == [True, False, False]


# ---- conversations and keys ----


def test_a_whole_file_is_one_conversation_or_several_that_begin_in_it(tmp_path: Path) -> None:
    whole = 'name = "desk"\n[call]\ntool = "tool"'
    begins = whole + '\n[conversation]\nbegins = { path = "round", equals = 1 }'
    rounds = [{"tool": "t", "round": number} for number in (1, 2, 1, 2, 3)]

    one, several = by(tmp_path, whole, *rounds), by(tmp_path, begins, *rounds)

    assert len({call.conversation_id for call in one.calls}) == 1
    ids = [call.conversation_id for call in several.calls]
    assert [ids.index(one) for one in ids] == [0, 0, 2, 2, 2]


def test_keys_stay_when_a_file_grows_and_when_its_records_come_in_another_file_again(tmp_path: Path) -> None:
    records = [{"session": "s", "tool": "t", "args": {"n": number % 2}} for number in range(6)]
    first = by(tmp_path, PLAIN, *records[:4])
    grown = by(tmp_path, PLAIN, *records, name="grown.jsonl")

    assert [call.key for call in grown.calls[:4]] == [call.key for call in first.calls]
    assert len({call.key for call in grown.calls}) == 6


def test_an_id_of_the_file_s_own_is_the_key(tmp_path: Path) -> None:
    (call,) = by(tmp_path, PLAIN + 'id = "n"', {"session": "s", "tool": "t", "n": 7}).calls

    assert (call.key_space, call.key) == ("map:desk", "7")


def test_a_conversation_s_id_may_be_of_several_parts(tmp_path: Path) -> None:
    text = 'name = "desk"\n[conversation]\nid = { join = ["task", "trial"] }\n[call]\ntool = "tool"'
    found = by(tmp_path, text, {"tool": "t", "task": 3, "trial": 0}, {"tool": "t", "task": 3, "trial": 1})

    assert [one.conversation_id for one in found.of(Conversation)] == ["3/0", "3/1"]


# ---- records of several kinds, and nested ones ----


def test_a_start_and_an_end_are_one_call_and_other_records_are_counted(tmp_path: Path) -> None:
    text = """
    name = "steps"
    [conversation]
    id = "chat"
    [[record]]
    when = { path = "type", equals = "step_started" }
    [record.call]
    tool = "step"
    arguments = "args"
    started = { path = "ts", unit = "ms" }
    [[record]]
    when = { path = "type", equals = ["step_succeeded", "step_failed"] }
    [record.answer]
    tool = "step"
    result = "result"
    ended = { path = "ts", unit = "ms" }
    [[record.answer.error]]
    path = "type"
    equals = "step_failed"
    text = "error"
    """
    found = by(
        tmp_path,
        text,
        {"type": "step_started", "chat": "c", "step": "a", "args": {}, "ts": 1000},
        {"type": "step_started", "chat": "c", "step": "b", "args": {}, "ts": 1100},
        {"type": "step_failed", "chat": "c", "step": "b", "error": "timeout", "ts": 1400},
        {"type": "step_succeeded", "chat": "c", "step": "a", "result": {"t": 1}, "ts": 3000},
        {"type": "step_started", "chat": "c", "step": "c", "args": {}, "ts": 4000},
        {"type": "step_succeeded", "chat": "d", "step": "c", "result": 1, "ts": 5000},
        {"type": "conversation_state", "chat": "c"},
    )

    told = [
        (c.tool_name, c.result, c.result_state, c.is_error, c.error_text, c.latency_ms) for c in found.calls
    ]
    assert told == [
        ("a", '{"t": 1}', "present", False, None, 2000.0),
        ("b", None, "absent", True, "timeout", 300.0),
        ("c", None, "absent", None, None, None),
    ]
    assert found.notes.merged == {"call told at its start and at its end": 2}
    assert found.notes.missing == {"call without result": 1, "result without call": 1}
    assert found.notes.not_understood == {"record with type = conversation_state": 1}
    assert len(found.of(SetAside)) == 4


def test_answers_find_their_calls_by_id_where_both_have_one(tmp_path: Path) -> None:
    text = """
    name = "steps"
    [[record]]
    when = { path = "kind", equals = "call" }
    call = { tool = "tool", call_id = "id" }
    [[record]]
    when = { path = "kind", equals = "result" }
    answer = { call_id = "of", result = "out" }
    """
    found = by(
        tmp_path,
        text,
        {"kind": "call", "tool": "t", "id": "1"},
        {"kind": "call", "tool": "t", "id": "2"},
        {"kind": "result", "of": "2", "out": "two"},
        {"kind": "result", "of": "1", "out": "one"},
    )

    assert [call.result for call in found.calls] == ['"one"', '"two"']


def test_one_line_may_hold_a_conversation_with_its_messages_and_calls(tmp_path: Path) -> None:
    text = """
    name = "chats"
    [conversation]
    id = "chat"
    [call]
    each = "steps[].calls[]"
    tool = "fn.name"
    arguments = "fn.arguments"
    model = "$.model"
    [[message]]
    each = "messages[]"
    role = "role"
    text = "content"
    """
    found = by(
        tmp_path,
        text,
        {
            "chat": "c1",
            "model": "m-1",
            "messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": [{"t": 1}]}],
            "steps": [
                {"calls": [{"fn": {"name": "a", "arguments": {"x": 1}}}, {"fn": {"name": "b"}}]},
                {"calls": []},
                {"calls": [{"fn": {"name": "c"}, "extra": 1}]},
            ],
        },
    )

    assert [(call.tool_name, call.model, call.call_index) for call in found.calls] == [
        ("a", "m-1", 0),
        ("b", "m-1", 1),
        ("c", "m-1", 2),
    ]
    assert [(one.position, one.role, one.text, one.content) for one in found.messages] == [
        (0, "user", "hello", None),
        (1, "assistant", None, '[{"t":1}]')
        if found.messages[1].content == '[{"t":1}]'
        else (1, "assistant", None, '[{"t": 1}]'),
    ]
    assert found.notes.unknown_fields == {"steps[].calls[].extra": 1}


def test_the_records_of_a_document_may_stand_in_a_list_below_its_top(tmp_path: Path) -> None:
    text = PLAIN + '\n[file]\nrecords = "runs[]"'
    path = written(
        tmp_path,
        json.dumps({"runs": [{"session": "a", "tool": "t"}, {"session": "b", "tool": "t"}], "v": 1}).encode(),
    )
    found = read_mapped(path, text)

    assert [call.conversation_id for call in found.calls] == ["a", "b"]
    assert found.notes.unknown_fields == {"v": 1}


def test_fields_that_the_map_does_not_name_are_counted_unless_it_ignores_them(tmp_path: Path) -> None:
    record = {"session": "s", "tool": "t", "cost": 1, "meta": {"a": 1, "b": 2}}
    text = PLAIN + 'model = "meta.a"'

    named = by(tmp_path, text, record)
    ignored = by(tmp_path, 'ignore = ["cost", "meta"]\n' + text, record)

    assert named.notes.unknown_fields == {"cost": 1, "meta.b": 1}
    assert ignored.notes.unknown_fields == {}


@pytest.mark.parametrize("between", [(",", ":"), (", ", ": "), (" , ", " : "), (",", ": ")])
def test_a_key_that_stands_twice_is_found_however_the_line_is_spaced(
    tmp_path: Path, between: tuple[str, str]
) -> None:
    comma, colon = between

    def line(*names: str) -> bytes:
        return ("{" + comma.join(f'"{name}"{colon}"{name}"' for name in names) + "}\n").encode()

    path = tmp_path / "own.jsonl"
    path.write_bytes(
        line("tool", "a", "b") + line("tool", "a", "tool") + line("a", "a", "tool") + line("tool")
    )

    found = read_mapped(path, PLAIN)

    assert found.broken == [
        (2, "tool", "the key stands there 2 times"),
        (3, "a", "the key stands there 2 times"),
    ]
    assert len(found.calls) == 2


def test_a_key_that_stands_twice_puts_the_record_aside_and_glued_objects_are_two(tmp_path: Path) -> None:
    found = by(
        tmp_path,
        PLAIN,
        b'{"tool": "t", "tool": "u"}',
        b'{"session":"s","tool":"a"}{"session":"s","tool":"b"}',
    )

    assert found.broken == [(1, "tool", "the key stands there 2 times")]
    assert [call.tool_name for call in found.calls] == ["a", "b"]
    assert found.notes.glued == 1


# ---- labels ----


def test_a_label_in_the_record_of_a_call_is_one_on_that_call(tmp_path: Path) -> None:
    text = (
        PLAIN
        + """
    [[call.label]]
    label = "verdict"
    note = "why"
    author = "by"
    author_kind = { const = "LLM" }
    """
    )
    found = by(
        tmp_path,
        text,
        {"session": "s", "tool": "t", "verdict": "Bad-Args", "why": "no city", "by": "judge-1"},
        {"session": "s", "tool": "t", "verdict": "strange"},
        {"session": "s", "tool": "t"},
    )

    assert [(one.label, one.label_raw, one.note, one.author, one.author_kind) for one in found.labels] == [
        ("bad_args", "Bad-Args", "no city", "judge-1", "LLM"),
        (None, "strange", None, None, "LLM"),
    ]
    assert [one.call_key for one in found.labels] == [call.key for call in found.calls[:2]]
    assert found.notes.unmapped_labels == {"strange": 1}


def test_a_table_of_labels_may_name_conversations_of_another_format(tmp_path: Path) -> None:
    text = 'name = "notes"\n[conversation]\nid = "run"\n[[label]]\nof = "tau_bench"\nscore = "reward"\nnote = "note"'
    (label,) = read_mapped(table(tmp_path, [["run", "reward", "note"], ["7/0", "1.0", "fine"]]), text).labels

    assert (label.target_level, label.target_key_space, label.conversation_id) == (
        "conversation",
        "tau_bench",
        "7/0",
    )
    assert (label.score, label.note, label.label) == ("1.0", "fine", None)


# ---- maps that cannot be ----


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = ", "map.toml: wanted TOML"),
        ('[call]\ntool = "t"', "map.toml: name: wanted a name"),
        ('name = "a"', "map.toml: call: wanted at least one of call, answer, message, label"),
        ('name = "a"\n[call]\narguments = "x"', "map.toml: call.tool: wanted the path of the tool's name"),
        (
            'name = "a"\n[call]\ntool = "a..b"',
            "map.toml: call.tool: wanted a path (a full stop without a name",
        ),
        ('name = "a"\n[call]\ntool = 5', "map.toml: call.tool: wanted a path such as result.error, got 5"),
        (
            'name = "a"\n[call]\ntool = "t"\nresutl = "r"',
            "map.toml: call.resutl: no such key here; known are actor,",
        ),
        (
            'name = "a"\n[call]\ntool = "t"\nlatency = "ms"',
            "map.toml: call.latency: wanted a unit beside the path",
        ),
        (
            'name = "a"\n[call]\ntool = "t"\nstarted = { path = "x", unit = "h" }',
            "call.started.unit: wanted one of iso",
        ),
        ('name = "a"\n[call]\ntool = "t"\neach = "calls"', "map.toml: call.each: wanted a path with []"),
        (
            'name = "a"\n[file]\nzone = "Mars/Base"\n[call]\ntool = "t"',
            "map.toml: file.zone: wanted a time zone",
        ),
        (
            'name = "a"\n[file]\nencoding = "utf-99"\n[call]\ntool = "t"',
            "file.encoding: wanted the name of a text",
        ),
        (
            'name = "a"\n[call]\ntool = "t"\n[[call.error]]\npath = "x"',
            "map.toml: call.error[0].path: wanted one of equals",
        ),
        (
            'name = "a"\n[call]\ntool = "t"\n[labels.values]\nbad = "worse"',
            "labels.values.bad: wanted one of good_reply",
        ),
        ('name = "a"\n[[record]]\nskip = 1', "map.toml: record[0].skip: wanted true or false, got 1"),
    ],
)
def test_a_map_that_cannot_be_says_file_key_and_what_was_wanted(text: str, said: str) -> None:
    with pytest.raises((UsageError, InputError)) as raised:
        formats.mapped(text, file="map.toml")

    assert said in str(raised.value)
    assert str(raised.value).startswith("map.toml: ")


def test_the_format_without_a_map_says_that_one_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="wanted a map"):
        list(
            formats.read(
                written(tmp_path, [{}]),
                formats.by_name("mapped"),
                options=formats.ReadOptions(),
                notes=Read("", []).notes,
                display_path="own.jsonl",
            )
        )


# ---- what is proposed ----


def suggested(path: Path) -> tuple[Read, list[str]]:
    """Return what comes of a file by the map that is proposed for it, without an edit, and what to look at."""
    found = suggest(path)
    return read_mapped(path, found.map), found.look_at


def walked(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file as the standard library reads them."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def test_a_map_is_proposed_that_loads_seismic_right(shared: Path) -> None:
    path = shared / "traces" / "homegrown" / "seismic_agent.tool_calls.jsonl"
    records, (found, look_at) = walked(path), suggested(path)

    assert len(records) == 6
    assert look_at == []
    assert [(call.tool_name, call.conversation_id, call.latency_ms) for call in found.calls] == [
        (one["tool_name"], one["mission_id"], one["duration_ms"]) for one in records
    ]
    assert [call.is_error for call in found.calls] == [
        not one["success"] or bool(one["error"]) for one in records
    ]
    assert [parse(call.result or "") for call in found.calls] == [one["summary"] for one in records]
    assert (len(found.of(Conversation)), found.broken, found.notes.unknown_fields) == (2, [], {})


def test_a_map_is_proposed_that_loads_shaft_right_and_says_what_it_took_for_granted(shared: Path) -> None:
    path = shared / "traces" / "homegrown" / "shaft-design-agent.tool_calls.jsonl"
    records, (found, look_at) = walked(path), suggested(path)

    assert len(records) == 4
    assert [(call.tool_name, call.cycle) for call in found.calls] == [
        (one["tool"], one["round"] - 1) for one in records
    ]
    assert [json.loads(call.arguments or "") for call in found.calls] == [one["args"] for one in records]
    assert {call.is_error for call in found.calls} == {None}
    assert {call.result_state for call in found.calls} == {"not_captured"}
    assert len(found.of(Conversation)) == 1
    assert [words.split(":")[0] for words in look_at] == [
        "no field names a conversation",
        "nothing says whether a call failed, so that is unknown",
    ]


def test_a_map_is_proposed_that_loads_aegis_right_and_says_that_it_holds_no_tool(shared: Path) -> None:
    path = shared / "traces" / "homegrown" / "aegis-desk.traces.jsonl"
    records, (found, look_at) = walked(path), suggested(path)

    assert len(records) == 46
    assert len(found.of(Conversation)) == 46
    assert found.calls == []
    assert [(one.role, one.text) for one in found.messages] == [
        said for one in records for said in (("user", one["query"]), ("assistant", one["respuesta"]))
    ]
    answers = [one for one in found.messages if one.role == "assistant"]
    assert [one.latency_ms for one in answers] == [
        pytest.approx(one["elapsed_seconds"] * 1000) for one in records
    ]
    assert any("no field names a tool" in words for words in look_at)
    assert any("timestamp names no time zone" in words for words in look_at)


def test_a_map_is_proposed_for_an_error_that_hides_behind_ok(tmp_path: Path) -> None:
    inner = [{"stdout": "x"}, {"error": "docker is not installed"}, {"stdout": ""}]
    path = written(
        tmp_path,
        [
            {
                "timestamp": f"2026-05-01T10:0{place}:00.123456-07:00",
                "model": "m-1",
                "tool": "shell",
                "arguments": {"cmd": "ls"},
                "result": {"ok": True, "tool": "shell", "result": one},
            }
            for place, one in enumerate(inner)
        ],
    )
    found, _ = suggested(path)

    assert [call.is_error for call in found.calls] == [False, True, False]
    assert found.calls[0].created_at is not None
    assert found.calls[0].created_at.isoformat() == "2026-05-01T17:00:00.123456+00:00"
    assert {call.model for call in found.calls} == {"m-1"}


def test_a_map_is_proposed_for_events_that_start_and_end(tmp_path: Path) -> None:
    events = [
        event
        for number in range(3)
        for event in (
            {
                "type": "step_started",
                "session_id": "s",
                "step": "weather",
                "args": {"n": number},
                "ts": 1780000000000,
            },
            {
                "type": "step_failed",
                "session_id": "s",
                "step": "weather",
                "error": "no net",
                "ts": 1780000000500,
            }
            if number == 1
            else {
                "type": "step_succeeded",
                "session_id": "s",
                "step": "weather",
                "result": number,
                "ts": 1780000000500,
            },
        )
    ]
    found, look_at = suggested(
        written(tmp_path, [*events, {"type": "conversation_state", "session_id": "s", "state": {}}])
    )

    assert [(call.arguments, call.result, call.is_error, call.latency_ms) for call in found.calls] == [
        ('{"n": 0}', "0", False, 500.0),
        ('{"n": 1}', None, True, 500.0),
        ('{"n": 2}', "2", False, 500.0),
    ]
    assert found.notes.not_understood == {"record with type = conversation_state": 1}
    assert any("1 records" in words for words in look_at)


def test_a_map_is_proposed_for_a_table_with_columns_in_anybody_s_spelling(tmp_path: Path) -> None:
    rows = [
        ["Session ID", "Time", "Tool Name", "arg_city", "Output", "Status", "Took (s)", "Label", "Reviewer"]
    ]
    for number in range(6):
        status = "failed" if number == 4 else "success"
        label = "bad_args" if number == 1 else ""
        rows.append(
            [
                f"s{number // 3}",
                f"0{number + 1}/05/2026 10:00:00",
                "book",
                "Phu;ket",
                '{"ok":true}',
                status,
                "1.5",
                label,
                "ana",
            ]
        )
    found, look_at = suggested(table(tmp_path, rows, delimiter=";"))

    assert [call.conversation_id for call in found.calls] == ["s0"] * 3 + ["s1"] * 3
    assert [call.is_error for call in found.calls] == [False] * 4 + [True, False]
    assert {(call.arguments, call.result, call.latency_ms) for call in found.calls} == {
        ('{"arg_city":"Phu;ket"}', '{"ok":true}', 1500.0)
    }
    assert [(one.label, one.author) for one in found.labels] == [("bad_args", "ana")]
    assert any("day/month or month/day" in words for words in look_at)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (
            {
                "thread_id": "t",
                "tool_call": {"name": "a", "arguments": '{"q": 1}', "id": "c1"},
                "response": {"n": 2},
            },
            ("t", "a", '{"q": 1}', "c1", '{"n":2}'),
        ),
        (
            {"run_id": "t", "action": "a", "action_input": {"q": 1}, "observation": "Error: none"},
            ("t", "a", '{"q":1}', None, '"Error: none"'),
        ),
        (
            {"id": "t", "turns": [{"tools": [{"tool": "a", "params": {"q": 1}, "output": "fine"}]}]},
            ("t", "a", '{"q":1}', None, '"fine"'),
        ),
    ],
)
def test_a_map_is_proposed_for_many_a_house_s_way_of_writing_a_call(
    tmp_path: Path, record: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    found, _ = suggested(written(tmp_path, [json.dumps(record, separators=(",", ":")).encode()]))

    (call,) = found.calls
    assert (call.conversation_id, call.tool_name, call.arguments, call.call_id, call.result) == expected


def test_names_and_values_of_strangers_do_not_break_out_of_a_proposed_map(tmp_path: Path) -> None:
    nasty = 'a"]\n[x]\ny = 1 #\x1b[31m\x9b'
    path = written(
        tmp_path,
        [{"tool": "t", "session": "s", nasty: 1, "type": nasty}, {"tool": "t", "session": "s", "type": "b"}],
    )
    found = suggest(path)

    assert read_mapped(path, found.map).notes.unknown_fields.keys() >= {"type"}
    assert not any(ord(one) < 32 or 127 <= ord(one) < 160 for one in found.map.replace("\n", ""))


@settings(max_examples=40)
@given(
    records=st.lists(
        st.dictionaries(
            st.sampled_from(
                [
                    "tool",
                    "args",
                    "session",
                    "timestamp",
                    "error",
                    "status",
                    "messages",
                    "type",
                    "round",
                    "a b",
                ]
            ),
            json_texts().map(lambda text: parse(text) if "\\ud" not in text.lower() else None),
            min_size=1,
        ),
        min_size=1,
        max_size=6,
    )
)
def test_whatever_stands_in_a_file_what_is_proposed_is_a_map(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    from quality_lab.json_text import compact

    path = written(
        tmp_path_factory.mktemp("own"), [compact(one).encode("utf-8", "surrogatepass") for one in records]
    )
    found = suggest(path)

    assert found.preview.records == len(records)
    assert isinstance(formats.mapped(found.map, file="map").map, object)


def test_what_is_no_table_and_no_json_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="wanted JSON objects, or a table with a header row"):
        suggest(written(tmp_path, b"hello\nworld\n"))


def test_labels_of_both_kinds_are_feedback(tmp_path: Path) -> None:
    text = PLAIN + '\n[[label]]\nname = { const = "stars" }\nscore = "stars"'
    found = by(tmp_path, text, {"session": "s", "tool": "t", "stars": 4})

    assert [type(one) for unit in found.units for one in unit.records] == [Conversation, ToolCall, Feedback]
    assert [(one.target_level, one.name, one.score) for one in found.labels] == [
        ("conversation", "stars", "4")
    ]
