"""Tools from a file: an HTTP catalogue, or definitions that can be offered but not run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quality_lab.toolbox.definitions import parse_definitions
from quality_lab.toolbox.guarded_http import Network
from quality_lab.toolbox.http_catalogue import is_http_catalogue, parse_http_catalogue, read_document
from quality_lab.toolbox.http_tools import http_tool
from quality_lab.toolbox.problem import ToolCheck
from quality_lab.toolbox.sources import Occasion, Opened
from quality_lab.toolbox.tool_check import check_definitions, check_http_entries, usable
from quality_lab.toolloop.contract import Tool


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSource:
    """A file of tools, read again whenever it is opened."""

    name: str
    path: Path
    environ: Mapping[str, str] = field(repr=False)
    network: Network | None = None
    own_hosts: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the one file."""
        return (self.path,)

    def open(self, occasion: Occasion) -> Opened:
        """Return the tools that the file holds, the same for every message.

        Raises:
            InputError: the file cannot be read, or holds no tools of a kind that is known.
        """
        document = read_document(self.path)
        return self._http(document) if is_http_catalogue(document) else self._definitions(document)

    def _definitions(self, document: Any) -> Opened:
        definitions = parse_definitions(document, where=str(self.path))
        tools, broken = usable(definitions)
        return Opened(
            tools=tuple(tools), left_out=tuple(broken), checks=tuple(check_definitions(definitions))
        )

    def _http(self, document: Any) -> Opened:
        entries = parse_http_catalogue(document, where=str(self.path), own_hosts=self.own_hosts)
        offered: list[Tool] = []
        switched_off: list[Tool] = []
        for entry in entries:
            if entry.spec is None or entry.problems:
                continue
            tool = http_tool(entry.spec, environ=self.environ, network=self.network, own_hosts=self.own_hosts)
            (offered if entry.spec.enabled else switched_off).append(tool)
        broken = (ToolCheck(tool=entry.name, problems=entry.problems) for entry in entries if entry.problems)
        return Opened(
            tools=tuple(offered),
            switched_off=tuple(switched_off),
            left_out=tuple(broken),
            checks=tuple(check_http_entries(entries)),
        )
