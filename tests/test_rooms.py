"""The floors of the house, as contracts that are executed, and the size of a room."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("pandas", "polars", "plotly", "duckdb", "papermill", "openai", "pyarrow", "jupyterlab", "IPython")
MOST_LINES = 300
REASON = "Longer than one reading because"


def lint_imports(repository: Path, *, first_on_path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Return what import-linter says of the contracts, about the package that Python finds first."""
    surroundings = dict(os.environ, COLUMNS="240")
    if first_on_path:
        surroundings["PYTHONPATH"] = str(first_on_path)
    command = [
        Path(sys.executable).with_name("lint-imports"),
        "--config",
        repository / "pyproject.toml",
        "--no-cache",
    ]
    return subprocess.run(
        command, cwd=repository, env=surroundings, capture_output=True, text=True, check=False
    )


def test_no_room_looks_up_or_across(repository):
    checked = lint_imports(repository)

    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "0 broken" in checked.stdout


@pytest.fixture(scope="module")
def crooked_house(repository, tmp_path_factory) -> str:
    """What import-linter says of a house in which every rule is broken once."""
    top = tmp_path_factory.mktemp("crooked")
    house = top / "quality_lab"
    house.mkdir()
    (house / "__init__.py").touch()
    rooms = {
        "lab": "",
        "attic": "",  # on no floor
        "records": "import quality_lab.lab",  # upward from the ground
        "formats": "import quality_lab.store",  # upward within a wing
        "proposals": "import quality_lab.toolloop",  # across, towards the models
        "replay": "import quality_lab.cases",  # across, towards the database
        "judge": "import pandas",
        "metrics": "import duckdb",
        "reports": "import openai",
        "store": "",
        "cases": "",
        "toolloop": "",
    }
    for room, line in rooms.items():
        (house / f"{room}.py").write_text(line + "\n")
    return lint_imports(repository, first_on_path=top).stdout


@pytest.mark.parametrize(
    "said",
    [
        "quality_lab.attic",
        "quality_lab.records -> quality_lab.lab",
        "quality_lab.formats -> quality_lab.store",
        "quality_lab.proposals -> quality_lab.toolloop",
        "quality_lab.replay -> quality_lab.cases",
        "quality_lab.judge -> pandas",
        "quality_lab.metrics -> duckdb",
        "quality_lab.reports -> openai",
    ],
)
def test_the_contracts_name_what_breaks_them(crooked_house, said):
    assert said in crooked_house
    assert " 0 kept, 6 broken" in crooked_house


def modules(repository: Path) -> list[Path]:
    """Return every module of the package."""
    return sorted((repository / "src").rglob("*.py"))


def test_a_module_is_one_reading_or_says_at_its_top_why_not(repository):
    too_long = {}
    for module in modules(repository):
        lines = module.read_text(encoding="utf-8").splitlines()
        excused = any(line.lstrip('#" ').startswith(REASON) for line in lines[:20])
        if len(lines) > MOST_LINES and not excused:
            too_long[str(module.relative_to(repository))] = len(lines)

    assert modules(repository)
    assert too_long == {}, f"split it, or write '{REASON} ...' at its top"


def test_no_module_is_named_for_a_drawer(repository):
    drawers = {"utils", "util", "helpers", "helper", "common", "base", "misc"}
    named = [path for path in modules(repository) if {path.stem.strip("_"), path.parent.name} & drawers]

    assert named == []


@pytest.mark.parametrize("room", ["quality_lab", "quality_lab.cli"])
def test_importing_loads_nothing_heavy(room):
    program = f"import {room}, sys; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert loaded.stderr == ""
    assert loaded.stdout.split() == []
