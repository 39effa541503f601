"""A report is run by one kernel of this interpreter and leaves a folder that is whole or is not there."""

from __future__ import annotations

import json
import os
import sys
import threading
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from lab_builder import LabBuilder
from notebook_maker import code, write_template

from quality_lab.errors import NoData, NotFine, OutputError, UsageError
from quality_lab.reports import find_template, run, runs, templates
from quality_lab.reports.kernel import early_kernel
from quality_lab.reports.notes import SUMMARY_MIME, collect, note
from quality_lab.reports.shelf import new_folder, put_on_shelf, write_index
from quality_lab.reports.summary import summary_md
from quality_lab.reports.templates import Parameter, typed_values

NOW = datetime(2026, 6, 30, 8, tzinfo=UTC)

ASKS = code(
    'home = None  # the lab\nsize = 3  # a number\nname = "x"  # a text\n'
    'tool = []  # tools\ntz = "UTC"  # a zone\nas_of = None  # now',
    tags=("parameters",),
)
SAYS = code(
    "import sys\nfrom quality_lab import reports\n"
    'reports.note(calls_in_window=size, python=sys.executable, named=repr(name), lead=["Three calls."])'
)
TELLS = """
import sys
card = "4111 1111" + " 1111 1111"
print("card", card)
print("card", card, file=sys.stderr)
{"card": card}
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A home with a lab of three calls and templates of its own."""
    home = tmp_path_factory.mktemp("home{braces}")
    builder = LabBuilder(home)
    builder.calls(3)
    builder.store()
    write_template(home, "says", ASKS, SAYS)
    write_template(home, "fails", ASKS, code("print('before')"), code("wrong = 1 / 0"), code("after = 1"))
    write_template(home, "dies", ASKS, code("import os\nos._exit(3)"))
    write_template(home, "mute", ASKS, code("40 + 2"))
    write_template(home, "tells", ASKS, code(TELLS), code("raise ValueError(card)"))
    return home


@pytest.fixture(scope="module")
def made(home):
    """One run of a report that says something."""
    return run(home, "says", {"size": "5", "name": "007"}, now=NOW)


def test_a_run_leaves_its_four_files_and_stands_in_the_index(home, made):
    assert made.ok
    assert made.folder == home / "reports" / "2026-06-30-says"
    assert sorted(path.name for path in made.folder.iterdir()) == [
        "report.html",
        "report.ipynb",
        "summary.json",
        "summary.md",
    ]
    assert 'href="2026-06-30-says/report.html"' in (home / "reports" / "index.html").read_text()
    assert [path.name for path in (home / "reports").iterdir() if path.name.startswith(".unfinished")] == []


def test_the_summary_says_what_was_asked_when_and_what_came_out(home, made):
    summary = json.loads((made.folder / "summary.json").read_text())

    assert summary["report"] == "says"
    assert summary["parameters"] == {
        "home": str(home),
        "size": 5,
        "name": "007",
        "tool": [],
        "tz": "UTC",
        "as_of": "2026-06-30T08:00:00Z",
    }
    assert (summary["generated_at"], summary["as_of"], summary["tz"]) == (
        "2026-06-30T08:00:00Z",
        "2026-06-30T08:00:00Z",
        "UTC",
    )
    assert summary["figures"] == {"calls_in_window": 5, "python": sys.executable, "named": "'007'"}
    assert (summary["findings"], summary["thresholds"], summary["ok"]) == ([], [], True)
    assert "Three calls." in (made.folder / "summary.md").read_text()


def test_a_second_run_on_the_same_day_gets_a_place_of_its_own(home, made):
    again = run(home, "says", now=NOW)

    assert again.folder == home / "reports" / "2026-06-30-says-2"
    assert made.folder.is_dir()
    assert [one.folder.name for one in runs(home / "reports")][:2] == ["2026-06-30-says-2", "2026-06-30-says"]


def test_a_cell_that_fails_ends_the_run_and_stays_readable(home, tmp_path):
    made = run(home, "fails", out=tmp_path, now=NOW)

    assert type(made.problem) is NotFine
    assert "ZeroDivisionError: division by zero" in str(made.problem)
    page = (made.folder / "report.html").read_text()
    assert "wrong = 1 / 0" in page
    assert "before" in page
    assert "after = 1" not in page
    assert json.loads((made.folder / "summary.json").read_text())["ok"] is False
    assert "Not fine" in (made.folder / "summary.md").read_text()


def test_no_secret_that_a_cell_shows_is_written_anywhere_in_the_run(home, tmp_path):
    made = run(home, "tells", out=tmp_path, now=NOW)

    written = {path.name: path.read_text() for path in made.folder.iterdir()}
    assert [name for name, text in written.items() if "4111 1111 1111 1111" in text] == []
    assert written["report.ipynb"].count("[card-") >= 5  # stdout, stderr, the value, the error twice
    assert "[card-" in str(made.problem)
    assert "[card-" in written["summary.json"]


def test_a_kernel_that_dies_is_said_and_the_folder_is_written(home, tmp_path):
    made = run(home, "dies", out=tmp_path, now=NOW)

    assert type(made.problem) is NotFine
    assert "lost its kernel" in str(made.problem)
    assert "lost its kernel" in (made.folder / "report.html").read_text()


def test_a_report_that_hands_nothing_over_still_says_how_fresh_the_data_is(home, tmp_path):
    made = run(home, "mute", out=tmp_path, now=NOW)

    # the three calls are of Monday 1 June 2026, 8:00; the report's now is the 30th, 8:00
    assert made.ok
    figures = made.summary["figures"]
    assert figures["newest_call_at"] == "2026-06-01T08:00:00Z"
    assert figures["hours_since_newest_call"] == 29 * 24
    assert figures["calls_in_window"] == 3
    assert (figures["since"], figures["until"]) == ("2026-05-05T00:00:00Z", "2026-06-02T00:00:00Z")


def test_an_empty_window_is_no_data_unless_that_is_allowed(tmp_path):
    write_template(tmp_path, "mute", ASKS, code("40 + 2"))

    refused = run(tmp_path, "mute", now=NOW)
    allowed = run(tmp_path, "mute", allow_empty=True, now=NOW)

    assert type(refused.problem) is NoData
    assert "no_data" in str(refused.problem)
    assert (refused.folder / "report.html").is_file()
    assert allowed.ok


def test_the_kernel_is_this_interpreter_whatever_kernels_the_user_has(home, made, tmp_path, monkeypatch):
    foreign = tmp_path / "kernels" / "python3"
    foreign.mkdir(parents=True)
    (foreign / "kernel.json").write_text(
        json.dumps({"argv": ["/bin/false"], "display_name": "x", "language": "python"})
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))

    with early_kernel(home) as kernel:
        started = kernel.provisioner.process.args

    assert started[0] == sys.executable
    assert made.summary["figures"]["python"] == sys.executable


@pytest.mark.parametrize(
    ("parameters", "filters", "said"),
    [
        ({"sizes": "5"}, {}, "has no parameter sizes; it has home, size, name, tool, tz, as_of"),
        ({"x = 1; import os": "1"}, {}, "has no parameter x = 1; import os"),
        ({"size": "five"}, {}, "size of report says is a whole number; got 'five'"),
        ({}, {"source": ("rag_reply",)}, "has no parameter source"),
        ({"tz": "Mars/Olympus"}, {}, "no time zone 'Mars/Olympus'"),
        ({}, {"as_of": "soon"}, "as_of is a date"),
    ],
)
def test_wrong_parameters_are_refused_before_anything_runs(home, tmp_path, parameters, filters, said):
    with pytest.raises(UsageError) as refused:
        run(home, "says", parameters, filters=filters, out=tmp_path / "out", now=NOW)

    assert said in str(refused.value)
    assert list((tmp_path / "out").glob("*")) == []


def test_an_unknown_report_names_those_that_exist(home):
    with pytest.raises(
        UsageError, match="no report .qualty.; there are .*dies, .*explore, .*quality, .*says"
    ):
        find_template(home, "qualty")


def test_a_homes_own_template_comes_before_the_shipped_one(tmp_path):
    own = write_template(tmp_path, "quality", ASKS, SAYS)

    found = {template.name: template.path for template in templates(tmp_path)}

    assert found["quality"] == own
    assert found["explore"].is_file()


def test_an_output_that_cannot_be_written_is_said(home, tmp_path):
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(OutputError, match="no report can be written into"):
        run(home, "says", out=tmp_path / "file" / "below", now=NOW)


def test_text_becomes_a_value_of_the_type_of_the_default():
    declared = {
        name: Parameter(name, default, "")
        for name, default in {"n": 3, "x": 0.5, "on": False, "t": "a", "none": None, "l": [], "d": {}}.items()
    }

    values = typed_values(
        "r",
        declared,
        {"n": "007", "x": "1e2", "on": "yes", "t": "007", "none": "7d", "l": "a,b", "d": '{"a": 1}'},
    )

    assert values == {
        "n": 7,
        "x": 100.0,
        "on": True,
        "t": "007",
        "none": "7d",
        "l": ["a,b"],
        "d": {"a": 1},
    }
    assert typed_values("r", declared, {"l": '["a", "b"]'}) == {"l": ["a", "b"]}
    assert typed_values("r", declared, {"l": ("a", "b"), "none": date(2026, 6, 1)}) == {
        "l": ["a", "b"],
        "none": "2026-06-01",
    }
    for name, text in {"n": "1.5", "on": "maybe", "l": "[1", "d": "[]"}.items():
        with pytest.raises(UsageError, match=f"{name} of report r is"):
            typed_values("r", declared, {name: text})


def test_a_folder_that_was_not_finished_is_gone_whatever_happened(tmp_path):
    def break_off_half_way() -> None:
        with new_folder(tmp_path) as folder:
            (folder / "half").write_text("written")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off_half_way()

    assert list(tmp_path.iterdir()) == []


def test_runs_that_end_at_once_get_a_place_each_and_the_index_knows_them_all(tmp_path):
    ready = threading.Barrier(6)

    def end(number: int) -> None:
        with new_folder(tmp_path) as folder:
            summary = {"report": "r", "generated_at": f"2026-06-30T08:00:0{number}Z", "ok": True}
            (folder / "summary.json").write_text(json.dumps(summary))
            ready.wait()
            put_on_shelf(folder, tmp_path, date(2026, 6, 30), "r")
        write_index(tmp_path)

    threads = [threading.Thread(target=end, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    places = sorted(path.name for path in tmp_path.iterdir() if path.is_dir())
    index = (tmp_path / "index.html").read_text()
    assert places == ["2026-06-30-r", *(f"2026-06-30-r-{number}" for number in range(2, 7))]
    assert all(f'href="{place}/report.html"' in index for place in places)


def test_the_index_shows_a_hostile_name_as_text(tmp_path):
    folder = tmp_path / "2026-06-30-x"
    folder.mkdir()
    summary = {
        "report": "<script>x</script>",
        "generated_at": "2026-06-30T08:00:00Z",
        "ok": False,
        "problem": "<b>",
    }
    (folder / "summary.json").write_text(json.dumps(summary))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "summary.json").write_text("{")

    page = write_index(tmp_path).read_text()

    assert "<script" not in page
    assert "&lt;script&gt;x&lt;/script&gt;" in page
    assert "broken" not in page


def test_notes_of_several_cells_are_put_together_in_order():
    cells = [
        code(
            "",
            {
                "output_type": "display_data",
                "data": note(a=1, b=1, findings=[{"text": "one"}])._repr_mimebundle_(),
            },
        ),
        code("", {"output_type": "display_data", "data": {"text/plain": "nothing"}}),
        code(
            "",
            {"output_type": "display_data", "data": note(b=2, tools={"t": {"calls": 3}})._repr_mimebundle_()},
        ),
        code("", {"output_type": "display_data", "data": {SUMMARY_MIME: "not a note"}}),
    ]

    found = collect({"cells": cells})

    assert found.figures == {"a": 1, "b": 2}
    assert found.findings == [{"text": "one"}]
    assert found.tools == {"t": {"calls": 3}}


def test_markdown_of_the_summary_shows_text_from_traces_as_text():
    summary = {
        "report": "r",
        "problem": None,
        "findings": [{"text": "<img src=x> [go](javascript:x) `a` *b* \u202e | c"}],
        "figures": {
            "error_rate": 0.0754,
            "error_low": 0.03,
            "error_high": 0.2,
            "judged_failure_rate": 0.5,
            "judged_low": 0.25,
            "judged_high": 0.75,
            "calls": 12345,
            "newest": None,
        },
    }

    written = summary_md("t", summary, [])

    assert "- &lt;img src=x&gt; \\[go\\](javascript:x) \\`a\\` \\*b\\* \\\\u202e \\| c" in written
    assert "| error\\_rate | 7.5 % (3 to 20 %) |" in written
    assert "| judged\\_failure\\_rate | 50 % (25 to 75 %) |" in written
    assert "| calls | 12,345 |" in written
    assert "| newest | not known |" in written
    assert os.linesep not in written.replace("\n", "")


@pytest.mark.parametrize("name", ["quality", "explore"])
def test_a_shipped_template_runs_with_its_own_defaults_even_on_an_empty_lab(tmp_path, name):
    made = run(tmp_path, name, allow_empty=True, now=NOW)

    assert made.ok
    assert made.summary["figures"]["calls_in_window"] == 0
