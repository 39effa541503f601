"""docs/formats.md: what it shows works as it stands there, and it leaves out no key of a map."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from quality_lab import formats
from quality_lab.errors import UsageError
from quality_lab.formats.label_aliases import read_aliases
from quality_lab.store.load_report import FileReport

GUIDE = (Path(__file__).resolve().parents[1] / "docs" / "formats.md").read_text("utf-8")
BLOCKS = re.findall(r"^```toml\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
SOUND = 'name = "a"\n'
TABLES = {
    "the top": 'odd = 1\n[call]\ntool = "t"',
    "file": '[file]\nodd = 1\n[call]\ntool = "t"',
    "conversation": '[conversation]\nodd = 1\n[call]\ntool = "t"',
    "call": '[call]\ntool = "t"\nodd = 1',
    "error": '[call]\ntool = "t"\n[[call.error]]\npath = "x"\nequals = 1\nodd = 1',
    "answer": "[answer]\nodd = 1",
    "message": '[[message]]\nrole = "r"\ntext = "t"\nodd = 1',
    "label": '[[label]]\nlabel = "l"\nodd = 1',
    "record": '[[record]]\nodd = 1\n[record.call]\ntool = "t"',
    "time": '[call]\ntool = "t"\nstarted = { path = "x", odd = 1 }',
    "value": '[call]\ntool = { path = "x", odd = 1 }',
}


def test_every_map_and_table_that_the_guide_shows_is_one() -> None:
    maps = [block for block in BLOCKS if block.startswith("name")]
    tables = [block for block in BLOCKS if not block.startswith("name")]

    assert [formats.mapped(text, file="docs").map is not None for text in maps] == [True, True]
    assert [len(read_aliases(text, file="docs").scores) for text in tables] == [2]


@pytest.mark.parametrize("table", TABLES)
def test_every_key_that_a_map_knows_stands_in_the_guide(table: str) -> None:
    with pytest.raises(UsageError, match="odd: no such key here; known are ") as raised:
        formats.mapped(SOUND + TABLES[table], file="docs")

    known = str(raised.value).partition("known are ")[2].split(", ")
    words = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`([^`\n]+)`", GUIDE)) + " ".join(BLOCKS)))
    assert known
    assert set(known) - words == set()


def test_the_guide_names_every_loss_that_a_report_counts() -> None:
    counted = {
        name
        for name, value in FileReport(path="x").__class__.__dataclass_fields__.items()
        if "dict" in str(value.type) or name in ("glued", "truncated_input", "possibly_truncated")
    }

    assert {name for name in counted if f"`{name}`" not in GUIDE} == set()
