"""What a tool promises: its name, when to call it, what it takes, what it changes, how long it lasts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

from quality_lab.json_text import canonical

from .schema import ToolContractError, compile_schema, problems_of, schema_of, strict_schema, without_nulls

if TYPE_CHECKING:
    from jsonschema_rs import Validator
    from pydantic import BaseModel

Effect = Literal["read", "write", "irreversible"]
Execute = Callable[[dict[str, Any], "ToolContext"], Any]
Gate = Callable[
    [dict[str, Any], "ToolContext"], Mapping[str, Any] | None | Awaitable[Mapping[str, Any] | None]
]
Permission = str | Callable[["ToolContext"], bool]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_PROPERTY_ANTHROPIC = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")
_LONGEST_DESCRIPTION_OPENAI = 1024
DEFAULT_TIMEOUT_S = 30.0


class ToolError(Exception):
    """Raised by a tool to tell the model in its own words what went wrong; other exceptions are told too."""


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """Who is served and on what state the tools work; handed to every tool, never shown to the model."""

    tenant: str = "default"
    conversation: str | None = None
    user: str | None = None
    permissions: frozenset[str] = frozenset()
    state: Any = None  # what the tools of one's own work on: a desk, a conversation, a client


@dataclass(frozen=True, kw_only=True, eq=False)
class Tool:
    """Something that a model may call.

    *parameters* is a pydantic model or a JSON Schema of an object. *execute* gets the arguments as a plain
    dict, the numbers as JSON gave them, and the context; it may be a coroutine function and gives back any
    JSON value. *gate* is asked right before each run: a dict is the answer "not now" and goes to the model
    in place of a result. *permission* (a name that must be in the context's permissions, or a rule) decides
    whether the tool is offered. A synchronous tool runs in a thread of its own so that it can be left
    behind when *timeout_s* is over, unless it is *inline*: such a tool promises to return at once, and
    neither thread nor time-out is spent on it.

    Raises:
        ToolContractError: the name, the description or the schema is one that no provider takes.
    """

    name: str
    description: str  # what it does and when to call it
    parameters: type[BaseModel] | Mapping[str, Any] = field(
        default_factory=lambda: {"type": "object", "properties": {}}
    )
    execute: Execute = field(repr=False)
    effect: Effect = "irreversible"  # what is not stated may be anything
    timeout_s: float | None = DEFAULT_TIMEOUT_S  # None: as long as it takes
    gate: Gate | None = field(default=None, repr=False)
    permission: Permission | None = None
    server: str | None = None  # where it came from: an MCP server, a catalogue
    inline: bool = False
    strict: bool = False  # offered in OpenAI's strict form; a null there may mean "left out"

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise ToolContractError(
                f"a tool's name is 1 to 64 of A-Z a-z 0-9 _ -; {self.name[:80]!r} of {len(self.name)} is not"
            )
        if not self.description.strip():
            raise ToolContractError(f"{self.name} has no description: say what it does and when to call it")
        if self.effect not in ("read", "write", "irreversible"):
            raise ToolContractError(
                f"the effect of {self.name} is {self.effect!r}; it is read, write or irreversible"
            )
        if self.timeout_s is not None and not self.timeout_s > 0:
            raise ToolContractError(
                f"the time-out of {self.name} is {self.timeout_s!r}; it is seconds above 0, or None"
            )
        if self.schema.get("type") != "object":
            raise ToolContractError(
                f"the parameters of {self.name} are of type {self.schema.get('type')!r}, not an object"
            )
        self._validator  # noqa: B018 - compiled here so that a bad schema fails where the tool is written

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments, as the model is shown it."""
        if isinstance(self.parameters, Mapping):
            return dict(self.parameters)
        return schema_of(self.parameters)

    @cached_property
    def digest(self) -> str:
        """``sha256:`` and the digest of name, description and schema: what the model saw."""
        seen = {"name": self.name, "description": self.description, "parameters": self.schema}
        return "sha256:" + hashlib.sha256(canonical(seen).encode()).hexdigest()

    @cached_property
    def _validator(self) -> Validator:
        return compile_schema(self.schema, where=self.name)

    def problems(self, arguments: Any) -> list[str]:
        """Return what is wrong with *arguments*, one sentence a fault; empty where the tool may run.

        A pydantic model's own validators are asked too, after its schema.
        """
        told = problems_of(arguments, self._validator)
        if told or isinstance(self.parameters, Mapping):
            return told
        from pydantic import ValidationError

        try:
            self.parameters.model_validate(arguments)
        except ValidationError as error:
            return [
                f"{'.'.join(str(step) for step in fault['loc'])}: {fault['msg']}".removeprefix(": ")
                for fault in error.errors(include_url=False, include_context=False, include_input=False)
            ]
        return []

    def permits(self, context: ToolContext) -> bool:
        """Return whether the tool may be offered in *context*."""
        if self.permission is None:
            return True
        if isinstance(self.permission, str):
            return self.permission in context.permissions
        return bool(self.permission(context))

    def without_nulls(self, arguments: Any) -> Any:
        """Return *arguments* as meant: without the nulls by which the strict form leaves things out."""
        return without_nulls(arguments, self.schema) if self.strict else arguments

    def openai_definition(self, *, strict: bool | None = None, limits: bool = True) -> dict[str, Any]:
        """Return the tool as an OpenAI function definition, in the strict form where it or *strict* says so.

        *limits* False is for a compatible server that does not have OpenAI's.

        Raises:
            ToolContractError: the description is longer than OpenAI takes, or the schema has no strict form.
        """
        if limits and len(self.description) > _LONGEST_DESCRIPTION_OPENAI:
            raise ToolContractError(
                f"the description of {self.name} has {len(self.description)} characters; "
                f"OpenAI takes at most {_LONGEST_DESCRIPTION_OPENAI}"
            )
        strict = self.strict if strict is None else strict
        parameters = strict_schema(self.schema, where=self.name) if strict else self.schema
        function: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "parameters": parameters,
        }
        if strict:
            function["strict"] = True
        return {"type": "function", "function": function}

    def anthropic_definition(self) -> dict[str, Any]:
        """Return the tool as an Anthropic tool with its ``input_schema``.

        Raises:
            ToolContractError: a parameter has a name that Anthropic does not take.
        """
        for name in self.schema.get("properties", {}):
            if not _PROPERTY_ANTHROPIC.match(name):
                raise ToolContractError(
                    f"{self.name} has a parameter {name!r}; Anthropic takes 1 to 64 of A-Z a-z 0-9 _ . -"
                )
        return {"name": self.name, "description": self.description, "input_schema": self.schema}


@overload
def tool(execute: Execute, /) -> Tool: ...
@overload
def tool(**promises: Any) -> Callable[[Execute], Tool]: ...


def tool(execute: Execute | None = None, /, **promises: Any) -> Tool | Callable[[Execute], Tool]:
    """Return the decorated function as a `Tool` with its name and docstring, unless *promises* say others.

    >>> @tool(effect="read", inline=True)
    ... def opening_hours(args, context):
    ...     "Tells when the shop is open. Call it when the customer asks about hours."
    ...     return {"open": "09:00", "close": "18:00"}
    >>> opening_hours.name, opening_hours.effect
    ('opening_hours', 'read')
    """

    def promise(function: Execute) -> Tool:
        said = {"name": function.__name__, "description": _paragraphs(function.__doc__ or ""), **promises}
        return Tool(execute=function, **said)

    return promise if execute is None else promise(execute)


def _paragraphs(docstring: str) -> str:
    return "\n".join(line.strip() for line in docstring.strip().splitlines())
