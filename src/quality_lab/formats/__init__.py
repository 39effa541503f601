"""From files to records: every kind of file that can be read, recognised by its content."""

from quality_lab.formats.contract import Format, ReadOptions, Unit
from quality_lab.formats.registry import by_name, read, recognise, registry

__all__ = ["Format", "ReadOptions", "Unit", "by_name", "read", "recognise", "registry"]
