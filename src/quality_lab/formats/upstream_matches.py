"""Upstream's self-play and pairwise exports: a style talks with a persona, and no tool is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object
from quality_lab.formats.units import RawUnit
from quality_lab.records import SetAside

Kind = Literal["self_play_match", "pairwise_match"]
_WHY = "a match of styles; it holds no tool call"


class _Match(msgspec.Struct):
    kind: Kind


_decoder = msgspec.json.Decoder(_Match)


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    return each_object(
        raws, reading, lambda text, line: (SetAside(kind=_decoder.decode(text).kind, reason=_WHY),)
    )


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    return {
        'a "kind" of self_play_match or pairwise_match': found.get("kind")
        in ("self_play_match", "pairwise_match")
    }


FORMAT = ObjectFormat(
    name="quality_lab.matches",
    title="Upstream's self-play and pairwise matches",
    recognised_by='Objects whose "kind" is self_play_match or pairwise_match; known, and set aside.',
    key="none: nothing is kept",
    expectations=_expectations,
    reader=_read,
    upstream_export=True,
)
