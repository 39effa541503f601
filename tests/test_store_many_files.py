"""A load of many files: each has its own report, its own lines in quarantine, and costs no more than its lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_store_loading import trace, write

from quality_lab.store import Store, loading, quarantine


def a_folder(folder: Path, *, files: int) -> Path:
    """Write files of three lines: a call, a broken line, a call that every file has; the third has no end."""
    for number in range(files):
        write(folder / f"{number:03}.jsonl", trace(number + 10), f"oops {number}", trace(1))
    return folder


def test_each_file_of_a_folder_has_its_own_counts_and_its_own_broken_lines(tmp_path: Path) -> None:
    store = Store(tmp_path / "home")

    report = store.load([a_folder(tmp_path / "folder", files=30)])

    counts = [(one.lines, one.loaded, one.unchanged, one.rejected) for one in report.files]
    assert counts == [(3, 2, 0, 1), *[(3, 1, 1, 1)] * 29]
    assert [(Path(row.file).name, row.line, row.text) for row in store.rejects()] == [
        (f"{number:03}.jsonl", 2, f"oops {number}") for number in range(30)
    ]
    assert [(row.lines, row.loaded, row.rejected) for row in store.sources()] == [
        (3, 2, 1),
        *[(3, 1, 1)] * 29,
    ]


@pytest.mark.parametrize(("flush", "kept"), [(1, 1), (2, 3), (7, 20_000), (20_000, 5)])
def test_how_much_is_held_in_memory_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flush: int, kept: int
) -> None:
    folder = a_folder(tmp_path / "folder", files=9)
    write(folder / "many-broken.jsonl", *[f"broken {number}" for number in range(12)], trace(2))
    usual, other = Store(tmp_path / "usual"), Store(tmp_path / "other")
    expected = [one.to_json() for one in usual.load([folder]).files]
    monkeypatch.setattr(loading, "_FLUSH_ROWS", flush)
    monkeypatch.setattr(quarantine, "_KEPT_AT_ONCE", kept)

    reports = [one.to_json() for one in other.load([folder]).files]

    assert reports == expected
    assert other.rejects() == usual.rejects()
    assert len(other.rejects()) == 9 + 12


def test_a_file_that_changed_has_its_new_broken_lines_in_place_of_the_old_and_others_keep_theirs(
    tmp_path: Path,
) -> None:
    store = Store(tmp_path / "home")
    folder = a_folder(tmp_path / "folder", files=3)
    store.load([folder])
    write(folder / "001.jsonl", trace(11), "other words", trace(1))

    report = store.load([folder])

    assert [one.status for one in report.files] == ["unchanged", "loaded", "unchanged"]
    assert [row.text for row in store.rejects()] == ["oops 0", "other words", "oops 2"]


def test_a_file_that_is_named_twice_has_its_broken_lines_once(tmp_path: Path) -> None:
    store = Store(tmp_path / "home")
    path = write(tmp_path / "traces.jsonl", trace(1), "oops")

    report = store.load([path, path, tmp_path / "traces.jsonl"])

    assert [row.text for row in store.rejects()] == ["oops"]
    assert [(row.lines, row.rejected) for row in store.sources()] == [(2, 1)]
    assert {one.rejected for one in report.files} == {1}


def test_a_file_that_cannot_be_read_to_its_end_leaves_the_broken_lines_of_the_others(tmp_path: Path) -> None:
    store = Store(tmp_path / "home")
    folder = a_folder(tmp_path / "folder", files=2)
    (folder / "000b.jsonl").write_bytes(b"PK\x03\x04 no archive")

    report = store.load([folder])

    assert [one.status for one in report.files] == ["loaded", "failed", "loaded"]
    assert [row.text for row in store.rejects()] == ["oops 0", "oops 1"]
