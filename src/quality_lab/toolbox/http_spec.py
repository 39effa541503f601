"""An HTTP tool as its catalogue states it: what may stand there, and the slug by which a model calls it."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from quality_lab.toolbox.problem import Problem
from quality_lab.toolloop.contract import Effect

LONGEST_SLUG = 64
_TRIES = 5
_SLUG = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_NOT_FOR_SECRETS = ("host", "content-length", "transfer-encoding", "connection", "accept-encoding")

Text = Annotated[str, Field(strict=True)]
FilledText = Annotated[str, Field(strict=True, min_length=1)]
Truth = Annotated[bool, Field(strict=True)]
Variable = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
Header = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")]


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpParam:
    """One parameter of an HTTP tool."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    name: Variable
    type: Literal["string", "number", "integer", "boolean", "array", "object"]
    description: FilledText
    required: Truth = False


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpToolSpec:
    """One HTTP tool; its secret stays in the environment, under the name `auth_env`."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    title: FilledText
    endpoint_url: FilledText
    slug: Text | None = None
    description: Text | None = None
    http_method: Literal["GET", "POST"] = "GET"
    auth_type: Literal["none", "bearer", "basic", "api_key"] = "none"
    auth_env: Variable | None = None
    auth_header: Header | None = None
    effect: Effect = "irreversible"  # what is not stated may be anything
    enabled: Truth = True
    request_template: Text | None = None
    response_template: Text | None = None
    param: tuple[HttpParam, ...] = ()

    @property
    def name(self) -> str:
        """Return the slug, made from the title where none is written."""
        return self.slug or slug_from_title(self.title)


def read_spec(raw: object, *, taken: Iterable[str]) -> tuple[HttpToolSpec | None, list[Problem]]:
    """Return the tool that *raw* states, with a slug that none of *taken* has, and what is wrong with it.

    The tool is None where a key or a value cannot be read at all.
    """
    try:
        spec = _reader().validate_python(raw)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        return None, [_schema_problem(fault) for fault in faults]
    problems = []
    if spec.slug is None:
        free = unique_slug(spec, taken)
        spec = replace(spec, slug=free)
        if free is None:
            message = f"{_TRIES} slugs for {spec.title!r} are taken; give the tool a slug of its own"
            problems.append(Problem(rule="unique_slug", message=message))
    elif not _SLUG.match(spec.slug):
        shown = spec.slug[:80]
        message = f"a slug is 1 to {LONGEST_SLUG} of A-Z, a-z, 0-9, _ and -, got {shown!r}"
        problems.append(Problem(rule="slug", message=message))
    elif spec.slug in set(taken):
        problems.append(Problem(rule="unique_slug", message=f"the slug {spec.slug} is taken already"))
    names = [param.name for param in spec.param]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        problems.append(Problem(rule="schema", message=f"param {', '.join(doubled)} stands there twice"))
    return spec, problems + _auth_problems(spec)


def slug_from_title(title: str) -> str:
    """Return the slug that a title gives: ASCII words after `custom_`, at most 64 characters.

    >>> slug_from_title("Où est mon colis ?")
    'custom_ou_est_mon_colis'
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")
    return f"custom_{words or 'tool'}"[:LONGEST_SLUG].rstrip("_")


def unique_slug(spec: HttpToolSpec, taken: Iterable[str]) -> str | None:
    """Return the slug of *spec*, with six more letters or digits where it is taken; None after five tries.

    The ending depends on title and endpoint alone, so that a file without slugs reads the same every time.
    """
    slug, names = slug_from_title(spec.title), set(taken)
    if slug not in names:
        return slug
    letters = "0123456789abcdefghijklmnopqrstuvwxyz"
    for attempt in range(_TRIES):
        told = f"{spec.title}\n{spec.endpoint_url}\n{attempt}".encode()
        number = int.from_bytes(hashlib.sha256(told).digest(), "big")
        ending = "".join(letters[number // 36**place % 36] for place in range(6))
        candidate = f"{slug[: LONGEST_SLUG - 7]}_{ending}"
        if candidate not in names:
            return candidate
    return None


@lru_cache(maxsize=1)
def _reader() -> TypeAdapter[HttpToolSpec]:
    return TypeAdapter(HttpToolSpec)


def _schema_problem(fault: Any) -> Problem:
    path = ".".join(str(step) for step in fault["loc"])
    if fault["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return Problem(rule="unknown_key", message=f"{path} is no key of an HTTP tool")
    return Problem(rule="schema", message=f"{path}: {fault['msg']}" if path else str(fault["msg"]))


def _auth_problems(spec: HttpToolSpec) -> list[Problem]:
    wanted = {"auth_env": spec.auth_type != "none", "auth_header": spec.auth_type == "api_key"}
    problems = []
    for key, needed in wanted.items():
        if needed != (getattr(spec, key) is not None):
            word = "needs" if needed else "takes no"
            message = f"auth_type {spec.auth_type} {word} {key}"
            problems.append(Problem(rule="auth", message=message))
    if (spec.auth_header or "").lower() in _NOT_FOR_SECRETS:
        problems.append(Problem(rule="auth", message=f"auth_header cannot be {spec.auth_header}"))
    return problems
