"""Which tools a message is answered with: sources by tenant, enabled flags, resolved once and cached."""

from __future__ import annotations

import threading
import tomllib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from quality_lab.errors import InputError, UsageError
from quality_lab.toolbox.booking import booking_file, get_booking_url
from quality_lab.toolbox.faq import FaqIndex, read_faq
from quality_lab.toolbox.hand_clock import Clock
from quality_lab.toolbox.problem import Problem, ToolCheck, check
from quality_lab.toolbox.references import Scenario, scenario
from quality_lab.toolbox.sources import HTTP, MOST_HTTP_TOOLS, Occasion, Opened, tool_source
from quality_lab.toolbox.stand_ins import STAND_INS, World
from quality_lab.toolloop.contract import Tool

if TYPE_CHECKING:
    from quality_lab.toolbox.guarded_http import Network

CONFIGURATION = "tools.toml"  # in the home's data/
_MOST_CONVERSATIONS = 1_000

Signature = tuple[tuple[str, int, int, int], ...]


class _TenantTools(msgspec.Struct, forbid_unknown_fields=True):
    sources: list[str] = msgspec.field(default_factory=lambda: [f"toolbox:{name}" for name in STAND_INS])
    enabled: dict[str, bool] = {}
    own_hosts: list[str] = []
    faq: str | None = None


class _ToolsFile(msgspec.Struct, forbid_unknown_fields=True):
    tenant: dict[str, _TenantTools] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class OfferedTool:
    """A tool, the source it came from, and whether it is offered or was switched off."""

    tool: Tool
    source: str
    enabled: bool = True
    by_choice: bool = False  # offered only where a text references it


@dataclass(frozen=True, kw_only=True)
class ToolSet:
    """The tools for one message, in the order of their sources."""

    known: tuple[OfferedTool, ...]
    left_out: tuple[ToolCheck, ...]  # what could not be offered, and why
    prompt: str  # what the system prompt says of custom tools; may be empty
    world: World

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Return the tools that are offered."""
        return tuple(each.tool for each in self.known if each.enabled and not each.by_choice)

    @property
    def available(self) -> tuple[Tool, ...]:
        """Return the tools that an instruction text may reference: the offered ones and those by choice."""
        return tuple(each.tool for each in self.known if each.enabled)

    def scenario(self, text: str) -> Scenario:
        """Return the prompt of an instruction *text* and exactly the tools that it references.

        Raises:
            UsageError: it references tools that are not available; all of them are named.
        """
        return scenario(text, self.available)


def tools_from(
    source: str,
    *,
    folder: Path,
    environ: Mapping[str, str],
    occasion: Occasion | None = None,
    network: Network | None = None,
) -> ToolSet:
    """Return the tools of one *source* (`sources` says what may be named), resolved now and not cached.

    Give the *occasion* a new `World` for each case that is run: its `state()` is then that run's end state.

    Raises:
        UsageError: the source is none that there is.
        InputError: it cannot be read.
    """
    served = occasion if occasion is not None else Occasion()
    found = _Found()
    opened = tool_source(source, folder=folder, environ=environ, network=network).open(served)
    found.take(source, opened)
    return found.as_set(served.world)


class ToolResolver:
    """Resolves the tools of each incoming message once, by tenant and conversation.

    The configuration is `data/tools.toml` of the home: for each tenant its `sources`, `enabled` flags,
    `own_hosts` that HTTP tools may not call, and a `faq` file. Without it the stand-ins of the toolbox are
    offered. An answer is kept for its message and thrown away when a file that it rests on changes, or when
    the exchange's rates do.
    """

    def __init__(
        self,
        home: Path,
        *,
        environ: Mapping[str, str],
        clock: Clock | None = None,
        seed: int = 0,
        network: Network | None = None,
    ) -> None:
        self.home = home
        self._environ = environ
        self._clock = clock
        self._seed = seed
        self._network = network
        self._worlds: dict[str, World] = {}
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()
        self._lock = threading.RLock()

    @property
    def configuration(self) -> Path:
        """Return where the configuration lies."""
        return self.home / "data" / CONFIGURATION

    def world(self, tenant: str = "default") -> World:
        """Return the world in which the stand-ins of *tenant* live."""
        with self._lock:
            if tenant not in self._worlds:
                self._worlds[tenant] = World(seed=self._seed, clock=self._clock)
            return self._worlds[tenant]

    def resolve(
        self, *, tenant: str = "default", conversation: str = "1", message: int | None = None
    ) -> ToolSet:
        """Return the tools for one message; asked again for the same message, the very same ones.

        Raises:
            InputError: the configuration or a source cannot be read.
            UsageError: a source is none that there is.
        """
        with self._lock:
            key = (tenant, conversation)
            kept = self._kept.get(key)
            if kept is not None and kept.message == message and kept.is_fresh():
                self._kept.move_to_end(key)
                return kept.tools
            files, tools = self._resolve(tenant, conversation, message)
            self._kept[key] = _Kept(message, files, _signature(files), tools.world.version, tools)
            self._kept.move_to_end(key)
            while len(self._kept) > _MOST_CONVERSATIONS:
                self._kept.popitem(last=False)
            return tools

    def _resolve(
        self, tenant: str, conversation: str, message: int | None
    ) -> tuple[tuple[Path, ...], ToolSet]:
        stated = self._stated(tenant)
        folder = self.configuration.parent
        world = self.world(tenant)
        files = [self.configuration, booking_file(self.home, tenant)]
        world.booking_url = get_booking_url(self.home, tenant, environ=self._environ)
        if stated.faq is not None:
            path = folder / stated.faq
            files.append(path)
            world.faq = FaqIndex(read_faq(path))
        occasion = Occasion(tenant=tenant, conversation=conversation, message=message, world=world)
        found = _Found()
        for name in stated.sources:
            source = tool_source(
                name,
                folder=folder,
                modules=self.home,
                environ=self._environ,
                network=self._network,
                own_hosts=stated.own_hosts,
            )
            files += source.files
            found.take(name, source.open(occasion))
        found.switch(stated.enabled)
        return tuple(files), found.as_set(world)

    def _stated(self, tenant: str) -> _TenantTools:
        try:
            raw = tomllib.loads(self.configuration.read_text(encoding="utf-8-sig"))
            stated = msgspec.convert(raw, _ToolsFile)
        except FileNotFoundError:
            return _TenantTools()
        except (OSError, ValueError) as error:  # tomllib and msgspec raise kinds of ValueError
            raise InputError(f"{self.configuration} cannot be read: {error}") from error
        if tenant in stated.tenant:
            return stated.tenant[tenant]
        there = ", ".join(sorted(stated.tenant)) or "none"
        raise UsageError(f"{self.configuration} has no tenant {tenant}; it has {there}")


@dataclass(frozen=True, slots=True)
class _Kept:
    message: int | None
    files: tuple[Path, ...]
    signature: Signature
    version: int
    tools: ToolSet

    def is_fresh(self) -> bool:
        return self.version == self.tools.world.version and self.signature == _signature(self.files)


class _Found:
    """Tools as they are found: the first of a name is kept, and HTTP tools are counted."""

    def __init__(self) -> None:
        self.known: list[OfferedTool] = []
        self.left_out: list[ToolCheck] = []

    def take(self, source: str, opened: Opened) -> None:
        self.left_out += opened.left_out
        for tool in opened.tools:
            self._add(OfferedTool(tool=tool, source=source))
        for tool in opened.switched_off:
            self._add(OfferedTool(tool=tool, source=source, enabled=False))
        for tool in opened.by_choice:
            self._add(OfferedTool(tool=tool, source=source, by_choice=True))

    def _add(self, offered: OfferedTool) -> None:
        name = offered.tool.name
        first = next((each for each in self.known if each.tool.name == name), None)
        if first is not None:
            message = f"{first.source} has a tool {name} already; that of {offered.source} is left out"
            self.left_out.append(check(name, [Problem(rule="unique_name", message=message)]))
        elif offered.tool.server == HTTP and len(self._custom()) >= MOST_HTTP_TOOLS:
            message = f"a tenant has at most {MOST_HTTP_TOOLS} HTTP tools; {offered.source} brings more"
            self.left_out.append(check(name, [Problem(rule="too_many", message=message)]))
        else:
            self.known.append(offered)

    def switch(self, flags: Mapping[str, bool]) -> None:
        by_name = {each.tool.name: place for place, each in enumerate(self.known)}
        for name, enabled in flags.items():
            if name in by_name:
                known = self.known[by_name[name]]
                chosen = known.by_choice and not enabled
                self.known[by_name[name]] = replace(known, enabled=enabled, by_choice=chosen)
            else:
                message = f"a flag says whether {name} is enabled, but no source has such a tool"
                self.left_out.append(check(name, [Problem(rule="unknown_tool", message=message)]))

    def as_set(self, world: World) -> ToolSet:
        return ToolSet(
            known=tuple(self.known), left_out=tuple(self.left_out), prompt=self._prompt(), world=world
        )

    def _prompt(self) -> str:
        offered = [each.tool for each in self._custom() if each.enabled]
        lines = [f"- {tool.name}: {' '.join(tool.description.split())}" for tool in offered]
        return "\n".join(["Custom tools that you may call:", *lines]) if lines else ""

    def _custom(self) -> list[OfferedTool]:
        return [each for each in self.known if each.tool.server == HTTP]


def _signature(files: tuple[Path, ...]) -> Signature:
    """Return what changes when a file changes, appears or goes."""
    seen = []
    for path in files:
        try:
            stat = path.stat()
        except OSError:
            seen.append((str(path), 0, 0, 0))
        else:
            seen.append((str(path), stat.st_mtime_ns, stat.st_size, stat.st_ino))
    return tuple(seen)
