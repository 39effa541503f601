"""Files that are written to while they are loaded, and lines so long that few can be held."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from test_store_loading import trace, write

from quality_lab.store import Store, loading

LINES = 5_000


def keys(store: Store) -> set[str]:
    with store.question() as connection:
        return {key for (key,) in connection.execute("select key from tool_calls").fetchall()}


def loaded_while(change: Callable[[], object], path: Path, store: Store) -> None:
    """Load *path* and *change* it once, when some lines were read."""
    pending = [change]

    def progress(_path: str, _lines: int) -> None:
        if pending:
            pending.pop()()

    store.load([path], progress=progress)
    assert not pending


def replaced(path: Path, *numbers: int) -> None:
    """Put another file in the place of *path*."""
    write(path.with_name("new"), *map(trace, numbers))
    path.with_name("new").replace(path)


@pytest.mark.parametrize("bulk_from", [0, 1 << 60], ids=["many lines at once", "line by line"])
def test_what_is_written_to_a_file_while_it_is_read_comes_with_the_next_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bulk_from: int
) -> None:
    monkeypatch.setattr(loading, "BULK_FROM", bulk_from)
    first = range(10_000, 10_000 + LINES)
    for name, change, new in (
        ("appended", lambda path: write(path.with_name("more"), trace(7)), {"7"}),
        ("replaced", lambda path: replaced(path, *range(20_000, 20_000 + LINES)), {"20000", "24999"}),
    ):
        path = write(tmp_path / name / "traces.jsonl", *map(trace, first))
        store = Store(tmp_path / name / "home")

        def happen(path: Path = path, change: Callable[[Path], object] = change, name: str = name) -> None:
            change(path)
            if name == "appended":
                with path.open("a") as file:
                    file.write(path.with_name("more").read_text())

        loaded_while(happen, path, store)
        again = store.load([path]).files[0]

        assert again.status == "loaded", name
        assert new <= keys(store), name
        assert store.load([path]).files[0].status == "unchanged", name


def test_of_long_lines_no_more_are_held_than_of_short_ones(tmp_path: Path) -> None:
    long = "x" * 250_000
    path = write(tmp_path / "traces.jsonl", *[trace(number, result={"text": long}) for number in range(400)])
    store = Store(tmp_path / "home")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "BULK_FROM", 1 << 60)
        tracemalloc.start()
        store.load([path])
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert len(keys(store)) == 400
    assert peak < 75e6  # of a file of 100 MB
