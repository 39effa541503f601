"""Where the tools of a re-run come from: today's definitions, those that a case brings along, stand-ins."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from quality_lab.errors import InputError
from quality_lab.json_text import canonical, parse
from quality_lab.matching.case import Case
from quality_lab.matching.json_values import ABSENT
from quality_lab.replay.stage import Stage, plain
from quality_lab.replay.tape import Policy, Tape, tape_of
from quality_lab.toolbox.definitions import (
    Definition,
    is_definition_only,
    no_implementation,
    parse_definitions,
)
from quality_lab.toolbox.sources import Occasion, Opened, ToolSource, tool_source
from quality_lab.toolbox.stand_ins import World
from quality_lab.toolloop.contract import Tool
from quality_lab.toolloop.schema import ToolContractError
from quality_lab.toolloop.wire import to_json

CONVERSATION = "1"
_STAND_IN = "toolbox:"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """The stage of one trial, and what is known of it."""

    stage: Stage
    world: World | None  # what the stand-ins live in
    of_today: frozenset[str]  # tools that are defined by today's source
    known: frozenset[str]  # tools of which any definition is known
    case: Case

    allowed: frozenset[str] = frozenset()  # the only tools that may be called; empty: any

    def rules_out(self, tool: str) -> bool:
        """Return whether a call of *tool* is refused for its name alone: it is not on the list."""
        return bool(self.allowed) and tool not in self.allowed

    def is_ruled(self, tool: str) -> bool:
        """Return whether anything could refuse a call of *tool*."""
        return tool in self.known or bool(self.allowed)

    def as_captured(self) -> dict[str, Any]:
        """Return the definitions that the case brought along, in OpenAI's shape as they were, by name."""
        brought = {tool.name for tool in self.stage.tools} - self.of_today
        found: dict[str, Any] = {}
        for definition in self.case.definitions or ():
            function = definition.get("function")
            name = function.get("name") if isinstance(function, Mapping) else None
            if isinstance(name, str) and name in brought and definition.get("type") == "function":
                found.setdefault(name, plain(definition))
        return found

    def end_state(self) -> Any:
        """Return the state of the stand-ins, numbers exact; ABSENT where there are none."""
        return ABSENT if self.world is None else parse(to_json(self.world.state()))


class Shelf:
    """The tools of a run; a new stage for each trial.

    *source* is what `tools_from` takes, or tools of one's own. *allowed* names the tools that may be called
    at all (all, where it is empty). Only reads named by *allow_live* run for real.
    """

    def __init__(
        self,
        source: str | Sequence[Tool] | None = None,
        *,
        folder: Path,
        environ: Mapping[str, str],
        allow_live: bool = False,
        allowed: Sequence[str] = (),
    ) -> None:
        self.name = source if isinstance(source, str) else None
        self.allow_live = allow_live
        self.allowed = frozenset(allowed)
        self._given = tuple(source) if source is not None and not isinstance(source, str) else ()
        self._source: ToolSource | None = None
        self._always: Opened | None = None
        if isinstance(source, str):
            self._source = tool_source(source, folder=folder, environ=environ)
            opened = self._source.open(Occasion())
            if self._source.files:  # a file is read once for the whole run
                self._always = opened
            self._digest = _digest_of([*opened.tools, *opened.by_choice])
        else:
            self._digest = _digest_of(self._given)

    @property
    def is_stand_in(self) -> bool:
        """Whether the tools run in memory alone."""
        return self.name is not None and self.name.startswith(_STAND_IN)

    @property
    def digest(self) -> str:
        """What identifies the tools of the run, beside those that cases bring along."""
        return self._digest

    def prepare(self, case: Case, policy: Policy) -> Prepared:
        """Return a new stage for one trial of *case*."""
        world = World() if self.is_stand_in else None
        today = self._today(world)
        names = {tool.name for tool in today}
        brought = [tool for tool in _brought(case) if tool.name not in names]
        tools = [tool for tool in (*today, *brought) if self._may_be_called(tool.name)]
        known = frozenset(names | {tool.name for tool in brought})
        stand_ins = names if self.is_stand_in else set()
        live = {
            tool.name
            for tool in today
            if self.allow_live and tool.effect == "read" and not is_definition_only(tool)
        }
        mentioned = [name for name in _mentioned(case) if name not in known and self._may_be_called(name)]
        stage = Stage(
            tools=tools,
            tape=Tape(tape_of(case), policy),
            stand_ins=stand_ins,
            live=live - stand_ins,
            undeclared=mentioned,
        )
        return Prepared(
            stage=stage,
            world=world,
            of_today=frozenset(names),
            known=known,
            case=case,
            allowed=self.allowed,
        )

    def _may_be_called(self, name: str) -> bool:
        return not self.allowed or name in self.allowed

    def _today(self, world: World | None) -> Sequence[Tool]:
        if self._source is None:
            return self._given
        if self._always is not None:
            return self._always.tools
        occasion = Occasion(conversation=CONVERSATION, world=world or World())
        return self._source.open(occasion).tools


def _digest_of(tools: Sequence[Tool]) -> str:
    told = [(tool.name, tool.digest, tool.effect, tool.strict) for tool in tools]
    return hashlib.sha256(canonical(told).encode()).hexdigest()


def _brought(case: Case) -> list[Tool]:
    """Return the tools that *case* defines, as tools that nothing stands behind."""
    if not case.definitions:
        return []
    return list(_tools_in(json.dumps(list(case.definitions), default=plain)))


@lru_cache(maxsize=512)
def _tools_in(document: str) -> tuple[Tool, ...]:
    """Return the tools in a JSON document of definitions; one that cannot be a tool is left out."""
    try:
        definitions = parse_definitions(json.loads(document), where="input.tools")
    except InputError:
        return ()
    tools = (_tool_of(definition) for definition in definitions)
    return tuple({tool.name: tool for tool in reversed([each for each in tools if each])}.values())


def _tool_of(definition: Definition) -> Tool | None:
    try:
        return Tool(
            name=definition.name,
            description=definition.description.strip() or "No description was kept.",
            parameters=definition.schema,
            execute=no_implementation,
            effect=definition.effect,
            server=definition.server,
            inline=True,
        )
    except (ToolContractError, TypeError, ValueError, AttributeError):  # whatever was kept is no schema
        return None


def _mentioned(case: Case) -> list[str]:
    """Return the tools that the case speaks of and that could be called, definition or not."""
    calls = (*case.kept_calls, *(case.corrected or ()), *(case.tape or ()))
    names = [str(call["tool"]) for call in calls]
    names += [entry.tool for entry in case.rules.calls or ()]
    return [name for name in dict.fromkeys(names) if _NAME.match(name)]
