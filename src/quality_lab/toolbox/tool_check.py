"""Whether tools could be offered to a model as they stand: names, descriptions and schemas, by rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from quality_lab.toolbox.definitions import Definition, no_implementation
from quality_lab.toolbox.http_catalogue import HttpEntry
from quality_lab.toolbox.problem import Problem, ToolCheck, check
from quality_lab.toolbox.references import referenced_tools
from quality_lab.toolloop.contract import Tool
from quality_lab.toolloop.schema import ToolContractError, compile_schema

LONGEST_DESCRIPTION = 1_024
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_PARAMETER = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")


def check_definitions(definitions: Iterable[Definition]) -> list[ToolCheck]:
    """Return the check of every definition, in their order."""
    checks: list[ToolCheck] = []
    for definition in definitions:
        problems = list(definition.problems)
        if not any(problem.rule == "definition" for problem in problems):
            problems += _offer_problems(definition.name, definition.description, definition.schema)
            problems += _doubled(definition.name, checks)
        checks.append(check(definition.name, problems))
    return checks


def check_tools(tools: Iterable[Tool]) -> list[ToolCheck]:
    """Return the check of every tool, in their order; what a `Tool` cannot be is not looked for again."""
    checks: list[ToolCheck] = []
    for tool in tools:
        problems = _offer_problems(tool.name, tool.description, tool.schema)
        checks.append(check(tool.name, [*problems, *_doubled(tool.name, checks)]))
    return checks


def check_http_entries(entries: Iterable[HttpEntry]) -> list[ToolCheck]:
    """Return the check of every entry of an HTTP catalogue, in their order."""
    checks = []
    for entry in entries:
        problems = list(entry.problems)
        if entry.spec is not None:
            problems += _description_problems(entry.spec.description or entry.spec.title)
        checks.append(check(entry.name, problems))
    return checks


def check_references(text: str, available: Iterable[str]) -> list[ToolCheck]:
    """Return the check of every tool that an instruction text references: does it exist?"""
    there = sorted(set(available))
    checks = []
    for name in referenced_tools(text):
        missing = f"the text references {name}, which does not exist; there are {', '.join(there) or 'none'}"
        problems = [] if name in there else [Problem(rule="unknown_reference", message=missing)]
        checks.append(check(name, problems))
    return checks


def usable(
    definitions: Sequence[Definition],
) -> tuple[list[Tool], list[ToolCheck]]:
    """Return those that break no rule as tools that can be offered but not run, and the other checks.

    A description that is only too long for one provider does not keep a tool out.
    """
    tools, broken = [], []
    for definition, checked in zip(definitions, check_definitions(definitions), strict=True):
        if any(problem.rule != "description_length" for problem in checked.problems):
            broken.append(checked)
            continue
        tools.append(
            Tool(
                name=definition.name,
                description=definition.description,
                parameters=definition.schema,
                execute=no_implementation,
                effect=definition.effect,
                server=definition.server,
                inline=True,
            )
        )
    return tools, broken


def _offer_problems(name: str, description: str, schema: Any) -> list[Problem]:
    problems = []
    if not _NAME.match(name):
        message = f"a name is 1 to 64 of A-Z a-z 0-9 _ -, got {name[:80]!r} of {len(name)}"
        problems.append(Problem(rule="name", message=message))
    problems += _description_problems(description)
    return problems + _schema_problems(name, schema)


def _description_problems(description: str) -> list[Problem]:
    if not description.strip():
        message = "it has no description: say what it does and when to call it"
        return [Problem(rule="description", message=message)]
    if len(description) > LONGEST_DESCRIPTION:
        message = f"a description is at most {LONGEST_DESCRIPTION} characters, got {len(description)}"
        return [Problem(rule="description_length", message=message)]
    return []


def _schema_problems(name: str, schema: Any) -> list[Problem]:
    if not isinstance(schema, dict):
        message = f"the parameters are to be a JSON Schema object, got {type(schema).__name__}"
        return [Problem(rule="schema", message=message)]
    if schema.get("type") != "object":
        message = f"the parameters are to be of type object, got {schema.get('type')!r}"
        return [Problem(rule="schema", message=message)]
    try:
        compile_schema(schema, where=name)
    except ToolContractError as error:
        return [Problem(rule="schema", message=str(error))]
    properties = schema.get("properties")
    odd = [key for key in properties if not _PARAMETER.match(key)] if isinstance(properties, dict) else []
    if odd:
        message = f"a parameter's name is 1 to 64 of A-Z a-z 0-9 _ . -, got {', '.join(map(repr, odd))[:200]}"
        return [Problem(rule="parameter_name", message=message)]
    return []


def _doubled(name: str, before: Iterable[ToolCheck]) -> list[Problem]:
    if any(checked.tool == name for checked in before):
        return [Problem(rule="unique_name", message=f"another tool before it is named {name}")]
    return []
