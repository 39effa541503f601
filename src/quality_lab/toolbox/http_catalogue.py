"""Catalogues of HTTP tools: TOML or JSON files that are checked tool by tool and added to in turn."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from quality_lab.errors import InputError, UsageError
from quality_lab.toolbox.files import file_lock
from quality_lab.toolbox.http_checks import spec_problems
from quality_lab.toolbox.http_spec import HttpToolSpec, read_spec, slug_from_title
from quality_lab.toolbox.problem import Problem
from quality_lab.toolbox.sources import MOST_HTTP_TOOLS
from quality_lab.whole_files import write_whole


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpEntry:
    """One entry of a catalogue: its name, the tool where it could be read, and what is wrong with it."""

    name: str
    spec: HttpToolSpec | None
    problems: tuple[Problem, ...]


def is_http_catalogue(document: object) -> bool:
    """Return whether a parsed TOML or JSON document looks like a catalogue of HTTP tools."""
    return isinstance(document, dict) and isinstance(document.get("tool"), list)


def parse_http_catalogue(document: object, *, where: str, own_hosts: Iterable[str] = ()) -> list[HttpEntry]:
    """Return the entries of a parsed catalogue in their order, each with its own problems.

    Raises:
        InputError: the document is no catalogue.
    """
    if not isinstance(document, dict) or not is_http_catalogue(document):
        raise InputError(f"{where} is no catalogue of HTTP tools: it has no list [[tool]]")
    others = sorted(set(document) - {"tool"})
    if others:
        raise InputError(f"{where} has {', '.join(others)} beside [[tool]]; a catalogue has no other keys")
    entries: list[HttpEntry] = []
    for place, raw in enumerate(document["tool"], 1):
        spec, problems = read_spec(raw, taken=[entry.name for entry in entries])
        if spec is not None:
            problems += spec_problems(spec, own_hosts=own_hosts)
        if place > MOST_HTTP_TOOLS:
            message = f"it is number {place}; a tenant has at most {MOST_HTTP_TOOLS} HTTP tools"
            problems.append(Problem(rule="too_many", message=message))
        name = spec.name if spec is not None else _name_of(raw, place)
        entries.append(HttpEntry(name=name, spec=spec, problems=tuple(problems)))
    return entries


def read_http_catalogue(path: Path, *, own_hosts: Iterable[str] = ()) -> list[HttpEntry]:
    """Return the entries of the catalogue in *path*.

    Raises:
        InputError: the file cannot be read or is no catalogue.
    """
    return parse_http_catalogue(read_document(path), where=str(path), own_hosts=own_hosts)


def read_document(path: Path) -> Any:
    """Return the TOML (by its ending) or JSON document in *path*.

    Raises:
        InputError: the file cannot be read, or is neither.
    """
    kind = "TOML" if path.suffix == ".toml" else "JSON"
    try:
        content = path.read_text(encoding="utf-8-sig")
        return tomllib.loads(content) if kind == "TOML" else json.loads(content)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as {kind}: {error}") from error


def add_http_tool(path: Path, tool: Mapping[str, Any], *, own_hosts: Iterable[str] = ()) -> HttpToolSpec:
    """Add *tool* to the catalogue in *path* (made where it is not there) and return it with its slug.

    Writers take turns, so two of them never go over the limit nor take the same slug; the file is replaced in
    one step, and what stands in it, comments too, is left as it is.

    Raises:
        UsageError: the tool has a problem, or the tenant has its fifteen tools already.
        InputError: what stands in the file is no catalogue.
        OutputError: the file cannot be written.
    """
    with file_lock(path):
        entries = read_http_catalogue(path) if path.exists() else []
        if len(entries) >= MOST_HTTP_TOOLS:
            raise UsageError(f"{path} has {len(entries)} HTTP tools; a tenant has at most {MOST_HTTP_TOOLS}")
        spec, problems = read_spec(dict(tool), taken=[entry.name for entry in entries])
        if spec is not None:
            problems += spec_problems(spec, own_hosts=own_hosts)
        if spec is None or problems:
            told = "; ".join(f"{problem.rule}: {problem.message}" for problem in problems)
            raise UsageError(f"the tool was not saved: {told}")
        write_whole(path, _with_added(path, spec))
        return spec


def _name_of(raw: object, place: int) -> str:
    if isinstance(raw, dict):
        if isinstance(raw.get("slug"), str) and raw["slug"]:
            return str(raw["slug"])
        if isinstance(raw.get("title"), str) and raw["title"]:
            return slug_from_title(raw["title"])
    return f"tool {place}"


def _with_added(path: Path, spec: HttpToolSpec) -> str:
    stated = {
        field.name: getattr(spec, field.name)
        for field in fields(spec)
        if field.name != "param" and getattr(spec, field.name) != field.default
    }
    params = [asdict(param) for param in spec.param]
    before = path.read_text(encoding="utf-8-sig") if path.exists() else ""
    if path.suffix == ".toml":
        gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
        return before + gap + _as_toml(stated, params)
    document = json.loads(before) if before.strip() else {"tool": []}
    document["tool"].append({**stated, **({"param": params} if params else {})})
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _as_toml(stated: Mapping[str, Any], params: Iterable[Mapping[str, Any]]) -> str:
    lines = ["[[tool]]", *(f"{key} = {_toml_value(value)}" for key, value in stated.items())]
    for param in params:
        lines += ["", "[[tool.param]]", *(f"{key} = {_toml_value(value)}" for key, value in param.items())]
    return "\n".join(lines) + "\n"


def _toml_value(value: str | bool) -> str:
    # A JSON string is a TOML string once DEL is escaped; booleans are written alike in both.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
