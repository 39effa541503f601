"""HTTP tools as tools of the loop: arguments into a guarded request, the answer into a result."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from email.message import Message
from html import escape
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from quality_lab.errors import InputError
from quality_lab.toolbox.endpoint_guard import Endpoint, climbs, endpoint_problems, split_endpoint
from quality_lab.toolbox.guarded_http import EndpointRefused, Network, fetch
from quality_lab.toolbox.http_checks import body_place, spec_problems
from quality_lab.toolbox.http_spec import HttpToolSpec
from quality_lab.toolbox.liquid_templates import Template, TemplateFault
from quality_lab.toolbox.sources import HTTP
from quality_lab.toolloop.contract import Tool, ToolContext, ToolError

_LONGEST_URL = 8_000
_HIDDEN = "•••"
_SAFE_IN_URL = "/?&=:@!$'()*+,;-._~%[]"


def http_tool(
    spec: HttpToolSpec,
    *,
    environ: Mapping[str, str],
    network: Network | None = None,
    own_hosts: Iterable[str] = (),
) -> Tool:
    """Return *spec* as a tool that a model can call; its secret is read from *environ* when it is called.

    Raises:
        InputError: the tool has a problem, the first of which is named.
    """
    hosts = tuple(own_hosts)
    problems = spec_problems(spec, own_hosts=hosts)
    if problems:
        raise InputError(f"{spec.name} cannot be offered: {problems[0].message}")
    net = network if network is not None else Network()
    properties = {param.name: {"type": param.type, "description": param.description} for param in spec.param}
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    required = [param.name for param in spec.param if param.required]
    if required:
        schema["required"] = required
    return Tool(
        name=spec.name,
        description=spec.description or spec.title,
        parameters=schema,
        execute=_execute(spec, environ, net, hosts),
        effect=spec.effect,
        timeout_s=net.total_s + 5,  # the request ends by itself before that
        server=HTTP,
    )


def _execute(
    spec: HttpToolSpec, environ: Mapping[str, str], network: Network, own_hosts: tuple[str, ...]
) -> Callable[[dict[str, Any], ToolContext], Any]:
    url = Template(spec.endpoint_url, place="url")
    request = _optional(spec.request_template, body_place(spec.request_template or ""))
    response = _optional(spec.response_template, "text")

    async def execute(args: dict[str, Any], context: ToolContext) -> str:
        values = {param.name: args.get(param.name) for param in spec.param}
        headers, secrets = _credentials(spec, environ)
        endpoint = _filled_endpoint(spec, url, values, own_hosts)
        content = _content(spec, request, args, values, headers)
        answer = await fetch(network, spec.http_method, endpoint, headers=headers, content=content)
        text = _without(secrets, _decoded(answer.content, answer.headers.get("content-type", "")))
        return text if response is None else _without(secrets, _shaped(response, text))

    return execute


def _optional(source: str | None, place: Any) -> Template | None:
    return None if source is None else Template(source, place=place)


def _credentials(spec: HttpToolSpec, environ: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    headers = {"User-Agent": f"quality-lab/{version('quality-lab')}", "Accept": "application/json, */*"}
    if spec.auth_type == "none" or spec.auth_env is None:
        return headers, []
    secret = environ.get(spec.auth_env, "").strip()
    if not secret or not (secret.isascii() and secret.isprintable()):
        state = "holds no usable secret" if secret else "is not set"
        raise ToolError(f"{spec.name} is not configured: the environment variable {spec.auth_env} {state}")
    if spec.auth_type == "bearer":
        headers["Authorization"] = f"Bearer {secret}"
        return headers, [secret]
    if spec.auth_type == "api_key" and spec.auth_header is not None:
        headers[spec.auth_header] = secret
        return headers, [secret]
    _, colon, password = secret.partition(":")
    if not colon:
        raise ToolError(f"{spec.name} is not configured: {spec.auth_env} must hold user:password")
    encoded = base64.b64encode(secret.encode()).decode()
    headers["Authorization"] = f"Basic {encoded}"
    return headers, [secret, encoded, password]


def _filled_endpoint(
    spec: HttpToolSpec, template: Template, values: Mapping[str, Any], own_hosts: tuple[str, ...]
) -> Endpoint:
    """Return where the request goes; the guard of saving is asked again about what came out."""
    try:
        url = quote(template.fill(values), safe=_SAFE_IN_URL)
    except TemplateFault as error:
        raise ToolError(f"the URL of {spec.name} cannot be filled in: {error}") from error
    if len(url) > _LONGEST_URL:
        raise ToolError(f"the arguments make a URL of more than {_LONGEST_URL} characters")
    stated, endpoint = split_endpoint(spec.endpoint_url), split_endpoint(url)
    if (
        stated is None
        or endpoint is None
        or endpoint[:3] != stated[:3]
        or endpoint_problems(url, own_hosts=own_hosts)
    ):
        raise EndpointRefused("the arguments lead to another host")
    if climbs(endpoint.target):
        raise EndpointRefused("the arguments lead out of the endpoint's path")
    return endpoint


def _content(
    spec: HttpToolSpec,
    template: Template | None,
    args: Mapping[str, Any],
    values: Mapping[str, Any],
    headers: dict[str, str],
) -> bytes | None:
    if spec.http_method == "GET":
        return None
    if template is None:
        headers["Content-Type"] = "application/json"
        return json.dumps(dict(args), ensure_ascii=False).encode("utf-8", "replace")
    try:
        body = template.fill(values)
        if body_place(spec.request_template or "") == "json":
            headers["Content-Type"] = "application/json"
            json.loads(body)
        else:
            headers["Content-Type"] = "text/plain; charset=utf-8"
    except (TemplateFault, ValueError, RecursionError) as error:
        raise ToolError(f"the body of {spec.name} cannot be made of these arguments: {error}") from error
    return body.encode("utf-8", "replace")


def _decoded(content: bytes, content_type: str) -> str:
    header = Message()
    header["Content-Type"] = content_type
    try:
        return content.decode(str(header.get_content_charset("utf-8")), "replace")
    except (LookupError, ValueError):  # a charset that nobody knows, or that is none for text
        return content.decode("utf-8", "replace")


def _shaped(template: Template, text: str) -> str:
    try:
        parsed = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        parsed = text
    try:
        return template.fill({"response": parsed, "r": parsed})
    except TemplateFault as error:
        raise ToolError(f"the answer is not what was expected: {error}") from error


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _without(secrets: Iterable[str], text: str) -> str:
    """Return *text* with every echo of a secret hidden, also as a URL, JSON or HTML writes it."""
    for secret in secrets:
        in_json = json.dumps(secret)[1:-1]
        ways = {secret, quote(secret, safe=""), in_json, in_json.replace("/", "\\/"), escape(secret)}
        for written in sorted(filter(None, ways), key=len, reverse=True):
            text = text.replace(written, _HIDDEN)
    return text
