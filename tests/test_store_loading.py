"""A load: what each line came to, what the files brought, and what happens when it is done again."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from quality_lab.errors import InputError, StoreError
from quality_lab.store import Store


def trace(number: int, **changes: Any) -> dict[str, Any]:
    base = {
        "id": number,
        "conversationId": 977,
        "contactId": None,
        "messageId": None,
        "outboundQueueId": None,
        "source": "rag_reply",
        "toolName": "compute_exchange_quote",
        "args": {"asset": "USDT"},
        "result": {"rate": 32.60},
        "error": False,
        "cycle": 0,
        "toolCallIndex": 0,
        "latencyMs": None,
        "createdAt": 1781000120,
    }
    return base | changes


def feedback(number: int, on: int, **changes: Any) -> dict[str, Any]:
    seen = trace(on)
    created = seen.pop("createdAt")
    seen |= {
        "id": number,
        "toolCallId": on,
        "adminId": 3,
        "label": "bad_args",
        "note": "in baht, please",
        "feedbackCreatedAt": 1781000450,
        "toolCallCreatedAt": created,
    }
    return seen | changes


def write(path: Path, *lines: dict[str, Any] | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines), "utf-8"
    )
    return path


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def test_every_line_is_accounted_for(store: Store, tmp_path: Path) -> None:
    file = write(tmp_path / "traces.jsonl", trace(1), "", "oops", trace(2), trace(2), trace(3, error="no"))

    report = store.load([file])

    one = report.files[0]
    assert (one.format, one.status) == ("quality_lab.traces", "loaded")
    assert (one.lines, one.loaded, one.unchanged, one.rejected, one.blank) == (6, 2, 1, 2, 1)
    assert report.totals["tool_calls"] == 2
    assert [(row.line, row.path) for row in store.rejects()] == [(3, ""), (6, "error")]
    assert store.rejects()[0].text == "oops"


def test_loading_again_changes_nothing_and_says_so(store: Store, tmp_path: Path) -> None:
    file = write(tmp_path / "traces.jsonl", trace(1), "oops", trace(2))
    first = store.load([file])

    again = store.load([file])

    assert again.files[0].status == "unchanged"
    assert (again.files[0].lines, again.files[0].unchanged, again.files[0].rejected) == (3, 2, 1)
    assert all(count == 0 for count in again.totals.values())
    assert again.store == first.store


def test_a_grown_file_brings_its_new_lines_alone(store: Store, tmp_path: Path) -> None:
    file = write(tmp_path / "traces.jsonl", trace(1), "oops")
    store.load([file])
    write(file, trace(1), "oops", trace(2))

    report = store.load([file])

    assert (report.files[0].loaded, report.files[0].unchanged, report.files[0].rejected) == (1, 1, 1)
    assert len(store.rejects()) == 1


def test_three_exports_in_all_six_orders_give_equal_tables(tmp_path: Path) -> None:
    files = [
        write(tmp_path / "traces.jsonl", trace(1), trace(2), trace(4)),
        write(tmp_path / "feedback.jsonl", feedback(7, 1), feedback(8, 2, contactId=650), feedback(9, 3)),
        write(tmp_path / "more.jsonl", trace(2), trace(4, toolName="another"), trace(5)),
    ]
    seen = []
    for number, order in enumerate(itertools.permutations(files)):
        store = Store(tmp_path / f"home{number}")
        for file in order:
            store.load([file])
        with store.question() as connection:
            seen.append(
                {
                    name: sorted(connection.execute(f"select * from {name}").fetchall(), key=str)
                    for name in ("tool_calls", "feedback", "conversations", "versions", "rejects")
                }
            )

    assert all(one == seen[0] for one in seen)
    assert sorted(row[3] for row in seen[0]["tool_calls"]) == ["1", "2", "3", "5"]
    assert len(seen[0]["versions"]) == 2 + 2  # call 2 with and without a contact, call 4 in conflict


def test_a_rebuild_makes_the_same_cache_from_the_files(store: Store, tmp_path: Path) -> None:
    store.load([write(tmp_path / "traces.jsonl", trace(1), "oops")], source=None)
    store.load([write(tmp_path / "feedback.jsonl", feedback(7, 1))], tenant="acme")
    before = store.totals()

    store.load(rebuild=True)

    assert store.totals() == before


def test_a_rebuild_that_misses_a_file_names_it_and_leaves_the_cache(store: Store, tmp_path: Path) -> None:
    gone = write(tmp_path / "gone.jsonl", trace(1))
    store.load([gone])
    gone.unlink()

    with pytest.raises(InputError, match=r"gone\.jsonl"):
        store.load(rebuild=True)

    assert store.totals()["tool_calls"] == 1


def test_a_cache_that_is_deleted_comes_back_from_the_list_beside_it(store: Store, tmp_path: Path) -> None:
    store.load([write(tmp_path / "traces.jsonl", trace(1))])
    store.database.unlink()

    store.load(rebuild=True)

    assert store.totals()["tool_calls"] == 1


def test_a_damaged_cache_is_refused_with_the_way_out_and_can_be_made_anew(
    store: Store, tmp_path: Path
) -> None:
    store.load([write(tmp_path / "traces.jsonl", trace(1))])
    store.database.write_bytes(b"\x00" * 40_000)

    with pytest.raises(StoreError, match="--rebuild"):
        store.totals()
    store.load(rebuild=True)

    assert store.totals()["tool_calls"] == 1


def test_a_cache_of_another_schema_is_refused_with_the_way_out(store: Store, tmp_path: Path) -> None:
    import duckdb

    store.load([write(tmp_path / "traces.jsonl", trace(1))])
    with duckdb.connect(str(store.database)) as connection:
        connection.execute("update lab_meta set value = '0' where name = 'schema_version'")

    with pytest.raises(StoreError, match=r"has schema 0.*--rebuild"):
        store.totals()
    store.load(rebuild=True)

    assert store.totals()["tool_calls"] == 1


def test_two_tenants_may_use_the_same_ids(store: Store, tmp_path: Path) -> None:
    store.load([write(tmp_path / "a.jsonl", trace(1))], tenant="acme")
    store.load([write(tmp_path / "b.jsonl", trace(1, toolName="other"))], tenant="globex")

    assert store.totals()["tool_calls"] == 2
    assert store.rejects() == []


def test_a_named_path_that_is_not_there_fails_and_the_others_load(store: Store, tmp_path: Path) -> None:
    file = write(tmp_path / "traces.jsonl", trace(1))

    report = store.load([tmp_path / "nowhere.jsonl", file])

    assert [one.status for one in report.files] == ["failed", "loaded"]
    assert report.exit_code() == 3


def test_an_unknown_file_in_a_folder_is_a_notice_and_a_fault_only_under_strict(
    store: Store, tmp_path: Path
) -> None:
    write(tmp_path / "box" / "traces.jsonl", trace(1))
    write(tmp_path / "box" / "notes.txt", "hello")

    report = store.load([tmp_path / "box"])

    assert sorted(one.status for one in report.files) == ["loaded", "unrecognised"]
    assert (report.exit_code(), report.exit_code(strict=True)) == (0, 1)


def test_exactly_a_full_page_is_possibly_truncated(store: Store, tmp_path: Path) -> None:
    full = write(tmp_path / "full.jsonl", *(trace(number) for number in range(1, 101)))
    less = write(tmp_path / "less.jsonl", *(trace(number) for number in range(1, 100)))

    report = store.load([full, less])

    assert [one.possibly_truncated for one in report.files] == [True, False]


def test_a_kept_file_can_be_deleted_and_the_cache_still_rebuilt(store: Store, tmp_path: Path) -> None:
    file = write(tmp_path / "traces.jsonl", trace(1))
    store.load([file], keep=True)
    file.unlink()

    store.load(rebuild=True)

    assert store.totals()["tool_calls"] == 1


def test_an_empty_file_is_an_export_of_nothing_and_says_so(store: Store, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.jsonl"
    nothing.touch()

    report = store.load([nothing])

    assert (report.files[0].status, report.files[0].lines, report.exit_code()) == ("loaded", 0, 0)
    assert "empty" in (report.files[0].reason or "")


def test_more_broken_lines_than_are_held_in_memory_are_each_in_quarantine_once(tmp_path):
    store, path = Store(tmp_path / "home"), tmp_path / "broken.jsonl"
    good = '{"messages": [{"role": "user", "content": "Hello"}]}\n'

    path.write_text(good + '{"messages": 5}\n' * 20_500 + good)
    (first,) = store.load([path]).files
    lines = [one.line for one in store.rejects()]
    path.write_text(good + '{"messages": 7}\n' * 3)
    (again,) = store.load([path]).files

    assert (first.lines, first.rejected) == (20_502, 20_500)
    assert lines == list(range(2, 20_502))
    assert again.rejected == 3
    assert [(one.line, one.text) for one in store.rejects()] == [(n, '{"messages": 7}') for n in (2, 3, 4)]


@pytest.mark.parametrize("given", ["data/journal/labels.jsonl", "data/../data/journal", "data"])
def test_the_home_s_own_journal_is_read_once_though_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    line = {"record_type": "label", "id": "aa", "label": "bad_args", "call": {"tool_call_id": 1}}
    write(tmp_path / "home" / "data" / "journal" / "labels.jsonl", line)
    monkeypatch.chdir(tmp_path / "home")
    store = Store(Path.cwd())

    report = store.load([given, given], tenant="north", keep=True)

    [one] = [file for file in report.files if file.path.endswith("labels.jsonl")]
    assert (one.path.startswith(given), one.loaded) == (True, 1)
    assert report.store["feedback"] == 1
    assert [(row.path, row.tenant) for row in store.sources() if row.path.endswith(".jsonl")] == [
        ("data/journal/labels.jsonl", "default")
    ]


@pytest.mark.parametrize(("text", "lines"), [("\n", 1), ("\n \n\t\r\n", 3), ("  ", 1), ("\n\n ", 3)])
def test_a_file_of_blank_lines_alone_is_an_export_of_nothing(
    store: Store, tmp_path: Path, text: str, lines: int
) -> None:
    path = tmp_path / "night.jsonl"
    path.write_bytes(text.encode())

    report = store.load([path]).files[0]

    assert (report.status, report.lines, report.blank, report.rejected) == ("loaded", lines, lines, 0)
    assert report.reason == "the file has blank lines alone, nothing to load"
