"""Fields of JSON objects that a parser looks for under any name, and gives as they are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

NEEDS_ESCAPE = re.compile(
    r'[\x00-\x1f"\\]'
)  # in a JSON text; a parser cannot be told a name with one of these


def raw_fields(names: Sequence[str]) -> tuple[list[tuple[str, Any, Any]], dict[str, str]]:
    """Return the fields of a struct for what stands under *names*, in their order, and how it is to rename them.

    Each is `UNSET` where it does not stand there.

    >>> fields, rename = raw_fields(["a", "not a name"])
    >>> kind = msgspec.defstruct("Found", fields, rename=rename)
    >>> found = msgspec.json.decode('{"not a name": [1, 2.50]}', type=kind)
    >>> found.field_0, bytes(found.field_1)
    (UNSET, b'[1, 2.50]')
    """
    rename = {f"field_{place}": name for place, name in enumerate(names)}
    return [(attribute, msgspec.Raw | UnsetType, UNSET) for attribute in rename], rename
