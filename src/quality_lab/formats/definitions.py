"""Tools as they were offered: OpenAI's three spellings of a function, and Anthropic's, known by digest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

import msgspec

from quality_lab import json_text
from quality_lab.formats.contract import Unit
from quality_lab.formats.exact import restored
from quality_lab.records import ToolDefinition

_ABSENT = msgspec.Raw()
_HELD_AT_MOST = 1_000  # units


class _Function(msgspec.Struct):
    name: str
    description: str | None = None
    parameters: msgspec.Raw = _ABSENT
    input_schema: msgspec.Raw = _ABSENT


class _Tool(msgspec.Struct):
    """`{"type": "function", "function": {…}}`, or the function's fields laid flat, with or without a type."""

    type: str | None = None
    function: _Function | None = None
    name: str | None = None
    description: str | None = None
    parameters: msgspec.Raw = _ABSENT
    input_schema: msgspec.Raw = _ABSENT  # as Anthropic calls them


class Offer(NamedTuple):
    """The tools that were offered in one conversation."""

    digests: tuple[str, ...]
    by_name: dict[str, str]  # name → digest


@dataclass(slots=True)
class _Seen:
    definition: ToolDefinition
    first: datetime | None
    last: datetime | None
    told: bool = False  # with these times


@dataclass(slots=True)
class Definitions:
    """The definitions of one file, each with the first and the last time at which it was seen."""

    _seen: dict[str, _Seen] = field(default_factory=dict)
    _offers: dict[bytes, Offer] = field(default_factory=dict)

    def offer(self, tools: msgspec.Raw, seen_at: datetime | None) -> Offer:
        """Return what the list *tools* offers, and remember that it was seen then.

        Raises:
            msgspec.ValidationError: it is not a list of tools.
        """
        text = bytes(tools)
        offer = self._offers.get(text)
        if offer is None:
            offer = self._learn(tools)
            self._offers = {**self._offers, text: offer} if len(self._offers) < 256 else {text: offer}
        for digest in offer.digests:
            seen = self._seen[digest]
            if seen_at is not None and (seen.first is None or seen_at < seen.first):
                seen.first, seen.told = seen_at, False
            if seen_at is not None and (seen.last is None or seen_at > seen.last):
                seen.last, seen.told = seen_at, False
        return offer

    def told_at_last(self, units: Iterator[Unit]) -> Iterator[Unit]:
        """Yield *units*; definitions whose times have changed ride on the last unit that has records."""
        held: list[Unit] = []
        for unit in units:
            if held and (unit.records or len(held) > _HELD_AT_MOST):
                if len(held) > _HELD_AT_MOST:
                    held[0] = self._laden(held[0])
                yield from held
                held = []
            if held or unit.records:
                held.append(unit)
            else:
                yield unit
        if held:
            held[0] = self._laden(held[0])
        yield from held

    def _laden(self, unit: Unit) -> Unit:
        return Unit(unit.line, (*unit.records, *self._untold()), unit.rejects, unit.blank)

    def _untold(self) -> Iterator[ToolDefinition]:
        for seen in self._seen.values():
            if not seen.told:
                seen.told = True
                for moment in dict.fromkeys((seen.first, seen.last)):
                    yield restored(replace(seen.definition, seen_at=moment))

    def _learn(self, tools: msgspec.Raw) -> Offer:
        by_name: dict[str, str] = {}
        digests: dict[str, None] = {}
        if bytes(tools).startswith(b'"'):  # written once more as text
            tools = msgspec.Raw(msgspec.json.decode(tools, type=str).encode())
        for tool in msgspec.json.decode(tools, type=list[_Tool] | None) or ():
            function = tool.function or tool
            if function.name is None:
                continue  # a tool of the provider's own, such as a web search: it has no definition
            parameters = str(function.parameters, "utf-8") or str(function.input_schema, "utf-8") or None
            digest = definition_digest(function.name, function.description, parameters)
            definition = ToolDefinition(
                digest=digest, name=function.name, description=function.description, parameters=parameters
            )
            self._seen.setdefault(digest, _Seen(definition, None, None))
            by_name[function.name] = digest
            digests[digest] = None
        return Offer(tuple(digests), by_name)


def definition_digest(name: str, description: str | None, parameters: str | None) -> str:
    """Return the digest of a definition: equal for equal name, description and schema."""
    schema = None if parameters is None else json_text.parse(parameters)
    text = json_text.canonical({"name": name, "description": description, "parameters": schema})
    return hashlib.sha256(text.encode()).hexdigest()[:16]
