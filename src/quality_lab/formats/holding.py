"""Units that are held until their file has been read, since what they say is known only then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from quality_lab.formats.contract import Unit
from quality_lab.formats.exact import restored
from quality_lab.records import Record


def told_at_the_end(
    units: Iterator[Unit],
    *,
    speaks: Callable[[int], bool],
    records: Callable[[], Iterable[tuple[int, Record]]],
) -> Iterator[Unit]:
    """Yield *units*; those whose lines *speak* come last, with the *records* that all of them make.

    Of objects that share a line the first bears the line's records.
    """
    held: list[Unit] = []
    for unit in units:
        if unit.rejects or unit.blank or not speaks(unit.line):
            yield unit
        else:
            held.append(unit)
    told: dict[int, list[Record]] = {}
    for line, record in records():
        told.setdefault(line, []).append(restored(record))
    for unit in held:
        yield Unit(unit.line, (*unit.records, *told.pop(unit.line, ())))
