"""Definitions of tools read as a model reads them: what leaves it to guess, tool by tool and argument by argument.

`tool_check` says whether a tool could be offered at all; this says whether it is offered well. Nothing is asked
of a model, and nothing is called.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from quality_lab.toolbox.definitions import Definition, parse_definitions
from quality_lab.toolbox.http_catalogue import is_http_catalogue, parse_http_catalogue, read_document
from quality_lab.toolbox.tool_check import check_definitions, check_http_entries

Level = Literal["error", "warning"]

RULES: Mapping[str, str] = {  # in words, for whoever reads a report
    "name": "A tool's name is one that every provider takes.",
    "description": "A tool says what it does and when to call it.",
    "description_length": "A description is no longer than every provider takes.",
    "schema": "The parameters are a JSON Schema of an object that can be used.",
    "parameter_name": "A parameter's name is one that every provider takes.",
    "unique_name": "No two tools have one name.",
    "definition": "Each entry of the file is the definition of a tool.",
    "arguments": "Each entry of a registry's list of arguments has a name.",
    "empty_description": "A description says more than the tool's name does.",
    "same_description": "No two tools are described in the same words.",
    "near_name": "No two names differ in nothing but case and separators.",
    "undescribed_parameter": "Each parameter says what it is.",
    "untyped_parameter": "Each parameter says of what type it is.",
    "unknown_required": "What is required is among the properties.",
    "required_default": "What is required has no default.",
    "values_in_words": "Values that a description lists stand in the schema as an enum.",
    "open_object": "An object says what may stand in it.",
}
_ERRORS = frozenset(
    ("name", "description", "schema", "parameter_name", "unique_name", "definition", "arguments")
) | {"unknown_required"}
_TYPED = ("type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "not")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_LISTED = re.compile(
    r"\b(?:one of|allowed values?|possible values?|valid values?|options are)\b[^.;]{0,20}?"
    r"[\"'`(\[]?[\w-]+[\"'`]?(?:\s*(?:,|/|\||\bor\b)\s*[\"'`]?[\w-]+[\"'`]?)+",
    re.IGNORECASE,
)
_SAYS_NOTHING = frozenset(("a", "an", "the", "tool", "function", "this", "to", "of", "for", "and"))
_DEEPEST = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One rule that one tool breaks, and where in its parameters."""

    tool: str
    server: str | None
    rule: str
    level: Level
    path: str  # `amount`, `items[].id`; "" is the tool itself
    message: str

    @property
    def fingerprint(self) -> str:
        """Return what tells this finding from others though the file around it changes."""
        told = "\x1f".join((self.server or "", self.tool, self.rule, self.path))
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def lint_file(path: Path) -> list[Finding]:
    """Return what the definitions in a file leave to guess, in the file's order.

    Raises: InputError where the file cannot be read, or holds no definitions of tools.
    """
    document = read_document(path)
    if is_http_catalogue(document):
        checks = check_http_entries(parse_http_catalogue(document, where=str(path)))
        return [
            _finding(check.tool, None, problem.rule, "", problem.message)
            for check in checks
            for problem in check.problems
        ]
    return lint(parse_definitions(document, where=str(path)))


def lint(definitions: Sequence[Definition]) -> list[Finding]:
    """Return the same for definitions that were read already.

    >>> made = Definition(name="pay", description="Pays.", schema={"type": "object", "properties": {"sum": {}}},
    ...                   effect="write", server=None)
    >>> [(one.rule, one.path) for one in lint([made])]
    [('empty_description', ''), ('undescribed_parameter', 'sum'), ('untyped_parameter', 'sum')]
    """
    found: list[Finding] = []
    for one, check in zip(definitions, check_definitions(definitions), strict=True):
        found += [_finding(one.name, one.server, each.rule, "", each.message) for each in check.problems]
        if not any(each.rule == "definition" for each in check.problems):
            found += _of_words(one)
            found += _of_schema(one, one.schema, "", 0)
    place = {(one.server, one.name): at for at, one in reversed(list(enumerate(definitions)))}
    found += _of_all(definitions)
    return sorted(found, key=lambda one: place.get((one.server, one.tool), len(place)))


def _finding(tool: str, server: str | None, rule: str, path: str, message: str) -> Finding:
    level: Level = "error" if rule in _ERRORS else "warning"
    return Finding(tool=tool, server=server, rule=rule, level=level, path=path, message=message)


def _of_words(one: Definition) -> Iterator[Finding]:
    words = {word.casefold() for word in _WORD.findall(one.description)}
    name = {word.casefold() for word in _WORD.findall(one.name)}
    more = {word for word in words - _SAYS_NOTHING if not any(_alike(word, part) for part in name)}
    if one.description.strip() and not more:
        message = f"{one.description.strip()[:80]!r} says no more than the name: say when to call it"
        yield _finding(one.name, one.server, "empty_description", "", message)


def _alike(word: str, part: str) -> bool:
    """Say whether two words are one, but for an ending such as -s or -ing."""
    return word == part or (
        min(len(word), len(part)) > 2 and (word.startswith(part) or part.startswith(word))
    )


def _of_schema(one: Definition, schema: Any, path: str, depth: int) -> Iterator[Finding]:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        where = _below(path, str(name))
        if name not in properties and properties:
            message = (
                f"{name} is required and is none of the properties {', '.join(map(str, properties))[:200]}"
            )
            yield _finding(one.name, one.server, "unknown_required", where, message)
    for name, inner in properties.items():
        where = _below(path, str(name))
        if not isinstance(inner, Mapping):
            continue
        yield from _of_parameter(one, inner, where)
        if isinstance(required, list) and name in required and "default" in inner:
            message = f"{where} is required and has a default: one of the two is not meant"
            yield _finding(one.name, one.server, "required_default", where, message)
        yield from _of_schema(one, inner, where, depth + 1)
    items = schema.get("items")
    if isinstance(items, Mapping):
        yield from _of_schema(one, items, f"{path}[]", depth + 1)


def _of_parameter(one: Definition, inner: Mapping[str, Any], where: str) -> Iterator[Finding]:
    said = inner.get("description") or inner.get("title")
    if not isinstance(said, str) or not said.strip():
        message = f"{where} has no description: say what it is, in which unit and form"
        yield _finding(one.name, one.server, "undescribed_parameter", where, message)
    if not any(key in inner for key in _TYPED):
        message = f"{where} has no type, so anything may be passed"
        yield _finding(one.name, one.server, "untyped_parameter", where, message)
    description = inner.get("description")
    listed = _LISTED.search(description) if isinstance(description, str) else None
    if listed and inner.get("type") == "string" and "enum" not in inner and "pattern" not in inner:
        message = (
            f"{where} lists its values in words ({listed[0][:80]!r}): an enum would hold the model to them"
        )
        yield _finding(one.name, one.server, "values_in_words", where, message)
    bare = not any(
        key in inner for key in ("properties", "additionalProperties", "patternProperties", "$ref")
    )
    if inner.get("type") == "object" and bare:
        message = f"{where} is an object of which nothing is said, so its keys are guessed"
        yield _finding(one.name, one.server, "open_object", where, message)


def _of_all(definitions: Iterable[Definition]) -> Iterator[Finding]:
    """Yield what a model could take for one another: tools described alike, or called alike."""
    by_words: dict[str, list[Definition]] = defaultdict(list)
    by_name: dict[str, list[Definition]] = defaultdict(list)
    for one in definitions:
        if one.description.strip():
            by_words[" ".join(one.description.casefold().split())].append(one)
        by_name["".join(_WORD.findall(one.name)).casefold()].append(one)
    for first, *others in by_words.values():
        for other in others:
            if other.name != first.name:
                message = f"it is described in the words of {first.name}: say what tells them apart"
                yield _finding(other.name, other.server, "same_description", "", message)
    for first, *others in by_name.values():
        for other in others:
            if other.name != first.name:
                message = f"its name differs from {first.name} in case and separators alone"
                yield _finding(other.name, other.server, "near_name", "", message)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
