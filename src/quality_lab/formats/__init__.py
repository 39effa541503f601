"""From files to records: every kind of file that can be read, recognised by its content."""

from quality_lab.formats.contract import Format, ReadOptions, Unit
from quality_lab.formats.mapped import mapped, mapped_aliases, read_map_file
from quality_lab.formats.registry import by_name, read, read_in_bulk, recognise, registry

__all__ = [
    "Format",
    "ReadOptions",
    "Unit",
    "by_name",
    "mapped",
    "mapped_aliases",
    "read",
    "read_in_bulk",
    "read_map_file",
    "recognise",
    "registry",
]
