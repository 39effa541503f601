"""The demo story in a lab of its own, for looking round and for examples that run anywhere."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from quality_lab.errors import InputError
from quality_lab.lab.front_door import Lab, open_lab

_PLACES = (
    Path(__file__).parents[1] / "demo",  # in an installed package
    Path(__file__).parents[3] / "data" / "demo",  # in a checkout
)


@cache
def open_demo() -> Lab:
    """Return a lab with the demo story loaded: four invented weeks of an exchange and booking assistant.

    Its home is a temporary folder, made once in a process and removed when that ends.

    >>> import quality_lab as ql
    >>> lab = ql.open_demo()
    >>> lab.totals()["regression_cases"]
    15

    Raises: InputError if the story was left out of this installation.
    """
    story = next((place for place in _PLACES if place.is_dir()), None)
    if story is None:
        raise InputError(f"the demo story is in neither of {', '.join(map(str, _PLACES))}")
    home = Path(tempfile.mkdtemp(prefix="quality-lab-demo-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    (home / "data").mkdir()
    shutil.copy(story / "people.toml", home / "data")
    lab = open_lab(home)
    lab.load(story / "exports", story / "journal")
    return lab
