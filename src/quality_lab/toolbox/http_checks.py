"""What is wrong with an HTTP tool: its endpoint, its templates, its parameters."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from quality_lab.toolbox.endpoint_guard import endpoint_problems
from quality_lab.toolbox.http_spec import HttpToolSpec
from quality_lab.toolbox.liquid_templates import Place, Template, TemplateFault, unknown_names
from quality_lab.toolbox.problem import Problem

_SAMPLES: dict[str, Any] = {
    "string": "text",
    "number": 1.5,
    "integer": 1,
    "boolean": True,
    "array": ["text"],
    "object": {"key": "text"},
}


def spec_problems(spec: HttpToolSpec, *, own_hosts: Iterable[str] = ()) -> list[Problem]:
    """Return every rule that *spec* breaks in its endpoint, its templates and its parameters."""
    problems = endpoint_problems(spec.endpoint_url, own_hosts=own_hosts)
    known = {param.name for param in spec.param}
    used: set[str] = set()
    url = None if problems else _template("endpoint_url", spec.endpoint_url, "url", known, problems)
    if url is not None:
        used |= url.names()
    if spec.request_template is not None:
        if spec.http_method == "GET":
            message = "a GET sends no body; leave request_template out or use POST"
            problems.append(Problem(rule="request_template", message=message))
        else:
            used |= _request_problems(spec, known, problems)
    if spec.response_template is not None:
        _template("response_template", spec.response_template, "text", {"response", "r"}, problems)
    unused = sorted(known - used)
    if unused and (spec.http_method == "GET" or spec.request_template is not None) and not problems:
        message = f"{', '.join(unused)} would never be sent: neither the URL nor the body asks for it"
        problems.append(Problem(rule="unused_param", message=message))
    return problems


def body_place(template: str) -> Place:
    """Return whether a request template writes JSON (it begins with a brace or bracket) or plain text."""
    return (
        "json" if template.lstrip().startswith(("{", "[")) and not _begins_with_liquid(template) else "text"
    )


def _begins_with_liquid(template: str) -> bool:
    return template.lstrip().startswith(("{{", "{%"))


def _request_problems(spec: HttpToolSpec, known: set[str], problems: list[Problem]) -> set[str]:
    source = spec.request_template or ""
    place = body_place(source)
    template = _template("request_template", source, place, known, problems)
    if template is None:
        return set()
    if place == "json":
        every = {param.name: _SAMPLES[param.type] for param in spec.param}
        only_required = {param.name: every[param.name] if param.required else None for param in spec.param}
        for values, which in ((every, "all parameters"), (only_required, "the required parameters only")):
            try:
                json.loads(template.fill(values))
            except (TemplateFault, ValueError) as error:
                message = f"with {which} it gives no JSON ({error}); quote texts, or write them with | json"
                problems.append(Problem(rule="request_template", message=message))
                break
    return template.names()


def _template(
    key: str, source: str, place: Place, known: set[str], problems: list[Problem]
) -> Template | None:
    try:
        template = Template(source, place=place)
    except TemplateFault as error:
        problems.append(Problem(rule=key, message=f"{key} is no template that can be used: {error}"))
        return None
    unknown = unknown_names(template, known)
    if unknown:
        there = ", ".join(sorted(known)) or "no parameters"
        message = f"{key} asks for {', '.join(unknown)}; there are {there}"
        problems.append(Problem(rule="unknown_name", message=message))
        return None
    return template
