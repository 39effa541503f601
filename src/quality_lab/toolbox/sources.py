"""Where tools come from: stand-ins, files, Python objects and entry points, each named by one short text.

toolbox:exchange?stage=order_created      a stand-in, with options
catalogue.toml, tools.json                an HTTP catalogue, or definitions (OpenAI, Anthropic, MCP)
my_tools:TOOLS                            a tool, tools, or a function that returns them
entry-points, entry-points:NAME           what installed packages offer
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qsl

from quality_lab.errors import InputError, QualityLabError, UsageError
from quality_lab.toolbox.problem import ToolCheck
from quality_lab.toolbox.stand_ins import World
from quality_lab.toolloop.contract import Tool

if TYPE_CHECKING:
    from quality_lab.toolbox.guarded_http import Network

ENTRY_POINTS = "quality_lab.tools"
HTTP = "http"  # the server of a tool from an HTTP catalogue
MOST_HTTP_TOOLS = 15  # a tenant
_PYTHON = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\Z")


@dataclass(frozen=True, kw_only=True, slots=True)
class Occasion:
    """For which message tools are wanted, and the world that stand-ins work on."""

    tenant: str = "default"
    conversation: str = "1"
    message: int | None = None  # number of the customer's message that is answered
    world: World = field(default_factory=World)


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """What a source offers on an occasion, and what it had to leave out."""

    tools: tuple[Tool, ...] = ()
    by_choice: tuple[Tool, ...] = ()  # not offered unless a text references them
    switched_off: tuple[Tool, ...] = ()
    left_out: tuple[ToolCheck, ...] = ()
    checks: tuple[ToolCheck, ...] = ()  # of every tool, as `tools check` shows them


class ToolSource(Protocol):
    """A place that tools come from."""

    @property
    def name(self) -> str:
        """Return the text that names the source."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the files on which the answer rests; when one changes, `open` is to be asked again."""

    def open(self, occasion: Occasion) -> Opened:
        """Return the tools for one message."""


def tool_source(
    name: str,
    *,
    folder: Path,
    environ: Mapping[str, str],
    modules: Path | None = None,
    network: Network | None = None,
    own_hosts: Iterable[str] = (),
) -> ToolSource:
    """Return the source that *name* means; files lie in *folder*, Python modules in *modules* or there too.

    *environ* holds the secrets of HTTP tools, *network* says how they reach their endpoints, and *own_hosts*
    are those that they may not call.

    Raises:
        UsageError: *name* is none of the forms that there are.
    """
    path = (folder / name).expanduser()
    if name.startswith("toolbox:"):
        stand_in, _, query = name.removeprefix("toolbox:").partition("?")
        return _StandInSource(
            name=name, stand_in=stand_in, options=dict(parse_qsl(query, keep_blank_values=True))
        )
    if name == "entry-points" or name.startswith("entry-points:"):
        return _EntryPointSource(name=name, wanted=name.partition(":")[2] or None)
    if path.suffix in (".toml", ".json") or path.is_file():
        from quality_lab.toolbox.file_source import FileSource  # pydantic and Liquid are read for files only

        return FileSource(name=name, path=path, environ=environ, network=network, own_hosts=tuple(own_hosts))
    if _PYTHON.match(name):
        return _PythonSource(name=name, folder=modules if modules is not None else folder)
    wanted = "a file, MODULE:NAME, toolbox:NAME, or entry-points"
    raise UsageError(f"no tools can be taken from {name!r}; wanted is {wanted}")


@dataclass(frozen=True, kw_only=True, slots=True)
class _StandInSource:
    name: str
    stand_in: str
    options: dict[str, str]
    files: tuple[Path, ...] = ()

    def open(self, occasion: Occasion) -> Opened:
        opened = occasion.world.open(
            self.stand_in,
            conversation=occasion.conversation,
            message=occasion.message,
            options=self.options,
        )
        return Opened(tools=opened.offered, by_choice=opened.by_choice)


@dataclass(frozen=True, kw_only=True, slots=True)
class _PythonSource:
    name: str
    folder: Path
    files: tuple[Path, ...] = ()

    def open(self, occasion: Occasion) -> Opened:
        module_name, _, attribute = self.name.partition(":")
        with _importable_from(self.folder):
            try:
                found: Any = importlib.import_module(module_name)
                for step in attribute.split("."):
                    found = getattr(found, step)
            except Exception as error:  # a module may do and raise anything when it is read
                raise InputError(f"tools {self.name} cannot be imported: {_words_of(error)}") from error
        return Opened(tools=_tools_of(found, occasion, self.name))


@dataclass(frozen=True, kw_only=True, slots=True)
class _EntryPointSource:
    name: str
    wanted: str | None
    files: tuple[Path, ...] = ()

    def open(self, occasion: Occasion) -> Opened:
        found = sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name)
        if self.wanted is not None:
            there = ", ".join(entry.name for entry in found) or "none"
            found = [entry for entry in found if entry.name == self.wanted]
            if not found:
                raise UsageError(f"no package offers tools as {self.wanted!r}; there are {there}")
        tools: list[Tool] = []
        for entry in found:
            try:
                loaded = entry.load()
            except Exception as error:  # a module may do and raise anything when it is read
                told = f"tools of entry point {entry.name} cannot be imported: {_words_of(error)}"
                raise InputError(told) from error
            tools += _tools_of(loaded, occasion, f"entry point {entry.name}")
        return Opened(tools=tuple(tools))


def _words_of(error: Exception) -> str:
    """Return what *error* says; of one that is not about importing, what it is as well."""
    known = isinstance(error, (ImportError, AttributeError, SyntaxError))
    return str(error) if known else f"{type(error).__name__}: {error}"


def _tools_of(found: Any, occasion: Occasion, where: str) -> tuple[Tool, ...]:
    """Return the tools in a Python object: a tool, several, or a function of the occasion that makes them."""
    if isinstance(found, Tool):
        return (found,)
    if callable(found):
        make: Callable[[Occasion], Any] = found
        try:
            found = make(occasion)
            found = list(found) if isinstance(found, Iterator) else found
        except QualityLabError:
            raise
        except Exception as error:  # the function is not ours, it may raise anything
            raise InputError(f"{where} makes no tools: {_words_of(error)}") from error
        if isinstance(found, Tool):
            return (found,)
    if not isinstance(found, Iterable) or isinstance(found, (str, bytes, Mapping)):
        raise InputError(
            f"{where} is {type(found).__name__}; wanted is a Tool, several, or a function of them"
        )
    tools = tuple(found)
    for each in tools:
        if not isinstance(each, Tool):
            raise InputError(f"{where} holds {type(each).__name__} beside tools")
    return tools


@contextmanager
def _importable_from(folder: Path) -> Iterator[None]:
    """Let modules in *folder* be imported while the block runs."""
    place = str(folder.resolve())
    sys.path.insert(0, place)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(place)
