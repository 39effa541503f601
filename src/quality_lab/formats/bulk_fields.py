"""The fields of a line as the parser of many lines is told of them: those of its format, and what else a file has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, get_args

import msgspec
from msgspec import UNSET, UnsetType

from quality_lab.formats.raw_fields import NEEDS_ESCAPE, raw_fields

_SAFE = 1 << 62
_Whole = Annotated[int, msgspec.Meta(ge=-_SAFE, le=_SAFE)]
_Seconds = Annotated[int, msgspec.Meta(ge=-62_135_596_800, le=253_402_300_799)]  # the years 1 to 9999
_KINDS: dict[object, str] = {
    int: "whole",
    int | None: "whole?",
    str: "text",
    str | None: "text?",
    bool: "flag",
    float | None: "real?",
    msgspec.Raw: "json",
}
_LINES_LOOKED_AT = 20
_MOST_UNKNOWN = 32  # names; a file with more has no fields that one could speak of


class LineFields:
    """The fields of a msgspec struct.

    *seconds* names the times among them, *repeated* the texts of which there are few.
    """

    def __init__(
        self, kind: type[msgspec.Struct], *, seconds: Sequence[str], repeated: Sequence[str]
    ) -> None:
        self.kinds: dict[str, str] = {}
        self._name = kind.__name__
        self._fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
        for field in msgspec.structs.fields(kind):
            base = get_args(field.type)[0] if hasattr(field.type, "__metadata__") else field.type
            name, kind_name = field.encode_name, _KINDS[base]
            self.kinds[name] = "word" if name in repeated else kind_name
            if kind_name == "json":
                self._fields.append((name, msgspec.Raw | UnsetType, UNSET))
            elif kind_name == "real?":
                self._fields.append((name, _Whole | float | None | UnsetType, UNSET))
            elif kind_name.endswith("?"):
                wanted = _Whole | None if kind_name == "whole?" else base
                self._fields.append((name, wanted | UnsetType, UNSET))
            elif name in seconds:
                self._fields.append((name, _Seconds))
            else:
                self._fields.append((name, _Whole if field.type is int else field.type))

    def decoder(self, unknown: Sequence[str] = ()) -> msgspec.json.Decoder[Any]:
        """Return a decoder of objects with these fields, and perhaps those that are *unknown*, and no others."""
        more, rename = raw_fields(unknown)
        strict = msgspec.defstruct(
            self._name,
            [*self._fields, *more],
            rename=rename,
            forbid_unknown_fields=True,
            kw_only=True,
            gc=False,
        )
        return msgspec.json.Decoder(strict)

    def unknown_in(self, head: bytes) -> tuple[str, ...]:
        """Return the names that the first lines of *head* have beside these fields; none where there are too many.

        A name that the parser cannot be told of is left out: its lines go the exact way.
        """
        names: dict[str, None] = {}
        for line in head.split(b"\n")[:_LINES_LOOKED_AT]:
            try:
                names |= dict.fromkeys(_keys.decode(line))
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                continue  # whoever reads the line will say so
        unknown = tuple(name for name in names if name not in self.kinds and not NEEDS_ESCAPE.search(name))
        return unknown if len(unknown) <= _MOST_UNKNOWN else ()


_keys = msgspec.json.Decoder(dict[str, msgspec.Raw])
