"""The style that is said of a file: upstream's exports name none, and a style cannot be coached without one."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import run
from test_store_bulk import LABEL_START, TRACE_START

import quality_lab as ql
from quality_lab.store import loading


@pytest.fixture
def files(tmp_path) -> tuple[Path, Path]:
    """A trace and a label on it, each in a file of its own."""
    (tmp_path / "traces.jsonl").write_text(TRACE_START + "\n", encoding="utf-8")
    (tmp_path / "feedback.jsonl").write_text(LABEL_START + "\n", encoding="utf-8")
    return tmp_path / "traces.jsonl", tmp_path / "feedback.jsonl"


def styles(home: Path) -> list[str | None]:
    return [call.style for call in ql.open(home).calls()]


@pytest.mark.parametrize("bulk_from", [0, 2**60], ids=["many lines at once", "line by line"])
@pytest.mark.parametrize("which", ["traces", "feedback", "both"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_call_has_the_style_that_was_said_of_either_file_in_any_order(
    tmp_path, files, monkeypatch, bulk_from, which, turned
):
    monkeypatch.setattr(loading, "BULK_FROM", bulk_from)
    home = tmp_path / "home"
    for path in reversed(files) if turned else files:
        said = ("--style", "calm") if which in ("both", path.stem) else ()
        assert run("load", path, "--home", home, *said).code == 0

    assert styles(home) == ["calm"]
    assert [row["label"] for row in run("coach", "signals", "calm", "--home", home, "--json").document] == [
        "bad_args"
    ]


@pytest.mark.parametrize("bulk_from", [0, 2**60], ids=["many lines at once", "line by line"])
def test_where_nothing_is_said_there_is_no_style(tmp_path, files, monkeypatch, bulk_from):
    monkeypatch.setattr(loading, "BULK_FROM", bulk_from)
    run("load", *files, "--home", tmp_path / "home")

    assert styles(tmp_path / "home") == [None]


def test_two_styles_of_one_call_are_a_conflict(tmp_path, files):
    home = tmp_path / "home"
    for path, style in zip(files, ("calm", "bold"), strict=True):
        run("load", path, "--home", home, "--style", style)

    assert styles(home) == []
