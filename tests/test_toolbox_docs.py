"""The guide to tools from catalogues: its files, commands and Python run as they are written."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from quality_lab import toolbox
from quality_lab.cli.tools import tools as tools_command

GUIDE = Path(__file__).resolve().parents[1] / "docs" / "tools.md"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.fixture(scope="module")
def section() -> str:
    text = GUIDE.read_text(encoding="utf-8")
    found = re.search(r"^## Tools from catalogues\n.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found
    return found[0]


def blocks(section: str) -> list[tuple[str, str]]:
    """Return the language and the text of every fenced block, in order."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def type_in(console: str) -> list[tuple[str, str, str]]:
    """Return each command of a console block with what it should print and what it printed."""
    compared = []
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        words = command.split()
        assert words[:2] == ["quality-lab", "tools"]
        printed = CliRunner().invoke(tools_command, words[2:], standalone_mode=False)
        assert printed.exception is None
        compared.append((command, expected, printed.stdout))
    return compared


def test_the_guide_to_catalogues_runs_as_it_is_written(section, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("QUALITY_LAB_HOME", raising=False)
    monkeypatch.delenv("QUALITY_LAB_BOOKING_URL", raising=False)
    monkeypatch.delitem(sys.modules, "shop_tools", raising=False)
    (tmp_path / "data").mkdir()
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    files, commands = [], 0
    for language, text in blocks(section):
        if language == "console":
            for command, expected, printed in type_in(text):
                commands += 1
                assert printed == expected, command
        elif language == "pycon":
            test = doctest.DocTestParser().get_doctest(text, names, "guide", str(GUIDE), 0)
            runner.run(test, clear_globs=False)
            names = test.globs
        else:
            name, _, rest = text.partition("\n")
            files.append(name.removeprefix("# "))
            Path(files[-1]).write_text(rest if language == "json" else text, encoding="utf-8")

    assert files == ["data/parcels.toml", "shop_tools.py", "data/tools.toml", "data/faq.json"]
    assert commands == 5
    assert runner.failures == 0
    assert runner.tries > 25


def test_every_public_name_of_the_toolbox_is_there_and_says_what_it_is():
    for name in toolbox.__all__:
        assert (getattr(toolbox, name).__doc__ or "").strip(), name
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = toolbox.nothing
