"""Whatever stands in a file: values go through unchanged, every line is counted once, order does not matter."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from file_reading import json_texts
from hypothesis import given, settings
from hypothesis import strategies as st
from test_store_loading import feedback, trace

from quality_lab.json_text import canonical, parse
from quality_lab.store import Store

TABLES = (
    *("tool_calls", "feedback", "conversations", "messages", "versions", "rejects", "retractions"),
    *("regression_cases", "proposals", "tool_definitions"),
)
COUNTED = ("loaded", "updated", "unchanged", "merged", "rejected", "blank")


def with_texts(number: int, arguments: str, result: str) -> str:
    """Return a trace whose arguments and result stand as the JSON texts given."""
    line = json.dumps(trace(number, args="ARGUMENTS", result="RESULT"))
    before, rest = line.split('"ARGUMENTS"')
    between, after = rest.split('"RESULT"')
    return f"{before}{arguments}{between}{result}{after}"


objects = json_texts().filter(lambda text: text.lstrip().startswith("{"))


@settings(max_examples=8)
@given(st.lists(st.tuples(objects, json_texts()), min_size=1, max_size=12))
def test_arguments_and_results_come_out_as_they_went_in_to_the_last_digit_and_code_point(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("values")
    lines = [with_texts(number, *pair) for number, pair in enumerate(texts, start=1)]
    lines = [line.replace("\n", " ").replace("\r", " ") for line in lines]
    (folder / "file.jsonl").write_text("\n".join(lines) + "\n", "utf-8", newline="")

    loaded = run("load", folder / "file.jsonl", "--home", folder / "home", "--json")
    rows = run("calls", "--home", folder / "home", "--limit", "100", "--json").document

    assert loaded.document["files"][0]["rejected"] == 0
    found = {row["line"]: (row["arguments"], row["result"]) for row in rows}
    assert sorted(found) == list(range(1, len(texts) + 1))
    for line, (arguments, result) in enumerate(texts, start=1):
        assert canonical(parse(found[line][0])) == canonical(parse(arguments))
        assert _keys(found[line][0]) == _keys(arguments)
        assert canonical(parse(found[line][1] or "null")) == canonical(parse(result))


def _keys(text: str) -> list[str]:
    """Return the names of an object's members in order, doubled ones too."""
    pairs: list[tuple[str, Any]] = json.loads(text, object_pairs_hook=lambda found: found)
    return [name for name, _ in pairs]


# ---- files of all kinds of lines

numbers = st.integers(1, 6)
good = st.builds(
    lambda number, contact, tool: json.dumps(trace(number, contactId=contact, toolName=tool)),
    numbers,
    st.sampled_from([None, 650]),
    st.sampled_from(["quote", "quote", "order"]),  # another tool under the same id: a conflict
)
labels = st.builds(
    lambda number, on, label: json.dumps(feedback(number, on, label=label)),
    st.integers(1, 4),
    numbers,
    st.sampled_from(["bad_args", "other", "never heard of"]),
)
broken = st.sampled_from(
    ["oops", '{"id": 3, "toolName', json.dumps(trace(2, error="no")), json.dumps(trace(3, cycle=-1)), "[1]"]
)
blank = st.sampled_from(["", "  ", "\t"])
glued = st.builds(lambda one, other: one + other, good, good)
trace_file = st.lists(good | good | broken | blank | glued, min_size=1, max_size=14).map(
    lambda lines: [json.dumps(trace(9)), *lines]
)
feedback_file = st.lists(labels | labels | broken | blank, min_size=1, max_size=8).map(
    lambda lines: [json.dumps(feedback(9, 9)), *lines]
)
files = st.lists(trace_file | feedback_file, min_size=1, max_size=3)


def write_all(folder: Path, contents: list[list[str]]) -> list[Path]:
    paths = [folder / f"{number}.jsonl" for number in range(len(contents))]
    for path, lines in zip(paths, contents, strict=True):
        path.write_text("\n".join(lines) + "\n", "utf-8")
    return paths


def tables(store: Store) -> dict[str, list[Any]]:
    with store.question() as connection:
        return {
            name: sorted(map(str, connection.execute(f"select * from {name}").fetchall())) for name in TABLES
        }


@settings(max_examples=6)
@given(files)
def test_every_line_is_counted_once_and_loading_twice_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, contents: list[list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("counts")
    paths = write_all(folder, contents)
    store = Store(folder / "home")

    first = store.load(paths)
    once = tables(store)
    again = store.load(paths)
    for path in paths:  # the same lines under another digest
        path.write_bytes(path.read_bytes() + b"\n")
    touched = store.load(paths)

    for report in (first, again, touched):
        for file in report.files:
            assert file.lines == sum(getattr(file, name) for name in COUNTED)
    for file, lines in zip(first.files, contents, strict=True):
        assert file.lines == len(lines) + file.glued
        assert file.blank == sum(not line.strip() for line in lines)
    assert [file.status for file in again.files] == ["unchanged"] * len(paths)
    assert [file.loaded + file.updated + file.merged for file in touched.files] == [0] * len(paths)
    assert all(count == 0 for name, count in touched.totals.items() if name != "rejected")
    assert tables(store) == once


@settings(max_examples=6)
@given(files, st.randoms(use_true_random=False))
def test_any_order_of_files_one_by_one_or_at_once_gives_equal_tables(
    tmp_path_factory: pytest.TempPathFactory, contents: list[list[str]], chance: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("orders")
    paths = write_all(folder, contents)
    together, apart = Store(folder / "together"), Store(folder / "apart")
    shuffled = chance.sample(paths, len(paths))

    together.load(paths)
    for path in shuffled:
        apart.load([path])
    once = tables(apart)
    apart.load(rebuild=True)

    assert once == tables(together)
    assert tables(apart) == once
