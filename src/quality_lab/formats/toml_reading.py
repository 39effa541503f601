"""TOML that people write, read so that every mistake is told with its file, its key and what was wanted."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from typing import Any, TypeVar

from quality_lab.errors import InputError, UsageError

Kind = TypeVar("Kind")
_WORDS = {
    str: "a text in quotes",
    bool: "true or false",
    int: "a whole number",
    list: "a list",
    dict: "a table",
}


class TomlTable:
    """One table of a TOML file: keys are taken out of it, and none may be left over."""

    def __init__(self, values: dict[str, Any], *, file: str, where: str = "") -> None:
        """Keep the table's values, the name of its file, and its own key in it."""
        self._values, self.file, self.where = dict(values), file, where
        self._known: list[str] = []

    def key(self, name: str) -> str:
        """Return the whole key of *name* in this table."""
        return f"{self.where}.{name}" if self.where else name

    def wrong(self, name: str, wanted: str, came: object) -> UsageError:
        """Return the error that says that under *name* something else was wanted than what came."""
        shown = repr(came)
        shown = shown if len(shown) <= 80 else f"{shown[:79]}…"
        return UsageError(f"{self.file}: {self.key(name) or 'the file'}: wanted {wanted}, got {shown}")

    def take(self, name: str) -> Any:
        """Return whatever stands under *name* and cross it off, or None."""
        self._known.append(name)
        return self._values.pop(name, None)

    def take_a(self, kind: type[Kind], name: str) -> Kind | None:
        """Return what stands under *name*, which must be of a *kind*, or None.

        Raises: UsageError.
        """
        value = self.take(name)
        if value is None or (isinstance(value, kind) and (kind is bool or not isinstance(value, bool))):
            return value
        raise self.wrong(name, _WORDS[kind], value)

    def table(self, name: str) -> TomlTable | None:
        """Return the table under *name*, or None.

        Raises: UsageError.
        """
        value = self.take_a(dict, name)
        return None if value is None else TomlTable(value, file=self.file, where=self.key(name))

    def tables(self, name: str) -> Iterator[TomlTable]:
        """Yield the tables under *name*, of which there may be one, several (`[[name]]`) or none.

        Raises: UsageError.
        """
        value = self.take(name)
        several = value if isinstance(value, list) else [] if value is None else [value]
        for place, one in enumerate(several):
            where = f"{name}[{place}]" if isinstance(value, list) else name
            if not isinstance(one, dict):
                raise self.wrong(where, "a table", one)
            yield TomlTable(one, file=self.file, where=self.key(where))

    def rest(self) -> dict[str, Any]:
        """Return what has not been taken, and cross it off."""
        left, self._values = self._values, {}
        return left

    def done(self) -> None:
        """See to it that nothing is left over.

        Raises: UsageError: a key that nobody knows; the text names those that could stand there.
        """
        for name in self._values:
            known = ", ".join(sorted(set(self._known)))
            raise UsageError(f"{self.file}: {self.key(name)}: no such key here; known are {known}")


def toml_table(text: str, *, file: str) -> TomlTable:
    """Return the top table of a TOML *text*; *file* names it in errors.

    Raises: InputError: it is no TOML.
    """
    try:
        return TomlTable(tomllib.loads(text), file=file)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise InputError(f"{file}: wanted TOML: {problem}") from None


def quoted(text: str) -> str:
    """Return *text* as a TOML string, in which nothing can act on a terminal.

    >>> quoted('a "b"\\x9b')
    '"a \\\\"b\\\\"\\\\u009b"'
    """
    shown = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() else _escaped(one) for one in shown)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
