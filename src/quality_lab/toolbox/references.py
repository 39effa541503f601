"""References to tools in instruction texts: `[@Label](tool://id)`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quality_lab.errors import UsageError
from quality_lab.toolloop.contract import Tool

_REFERENCE = re.compile(r"\[(?P<label>[^\]]*)\]\(tool://(?P<id>[^/)]+)\)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Scenario:
    """An instruction text as the model reads it, and the tools that it references: those and no others."""

    prompt: str
    tools: tuple[Tool, ...]


def referenced_tools(text: str) -> list[str]:
    """Return the ids of the tools that *text* references, each once, in the order of their first mention.

    >>> referenced_tools("Ask [@FAQ](tool://faq_lookup), then [@Hand off](tool://handoff).")
    ['faq_lookup', 'handoff']
    """
    return list(dict.fromkeys(found["id"] for found in _REFERENCE.finditer(text)))


def unknown_references(text: str, available: Iterable[str]) -> list[str]:
    """Return the ids that *text* references and that are not *available*, in the order of their mention."""
    there = set(available)
    return [name for name in referenced_tools(text) if name not in there]


def prompt_of(text: str) -> str:
    """Return *text* with each reference put into words that name the tool.

    >>> prompt_of("Then call [@Hand off](tool://handoff).")
    'Then call tool handoff.'
    """
    return _REFERENCE.sub(lambda found: f"tool {found['id']}", text)


def scenario(text: str, available: Sequence[Tool]) -> Scenario:
    """Return the prompt for the instruction *text* and exactly the tools that it references.

    Raises:
        UsageError: the text references tools that are not available; all of them are named.
    """
    unknown = unknown_references(text, (tool.name for tool in available))
    if unknown:
        there = ", ".join(sorted(tool.name for tool in available)) or "none"
        missing = ", ".join(unknown)
        raise UsageError(f"the text references tools that do not exist: {missing}; there are {there}")
    by_name = {tool.name: tool for tool in reversed(available)}
    return Scenario(prompt=prompt_of(text), tools=tuple(by_name[name] for name in referenced_tools(text)))
