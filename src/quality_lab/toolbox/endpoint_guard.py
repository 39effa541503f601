"""What an endpoint's URL may look like, judged when a tool is saved and again when its URL is filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import unquote

from quality_lab.toolbox.problem import Problem

_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?]*)(?P<rest>.*)\Z", re.DOTALL)
_OUTPUT = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\Z")
_NUMBER = re.compile(r"([0-9]+|0[xX][0-9A-Fa-f]*)\Z")
_INSIDE = ("localhost", "local", "localdomain", "internal", "intranet", "lan", "home.arpa")
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\#<>\"^`|{}]")


class Endpoint(NamedTuple):
    """A URL in its parts; *target* is path and query, which may hold `{{ … }}` while it is a template."""

    scheme: str
    host: str
    port: int | None
    target: str


def split_endpoint(url: str) -> Endpoint | None:
    """Return the parts of *url*, or None where it is no URL of a host.

    >>> split_endpoint("https://api.example.com:8443/rates?of={{ asset }}")
    Endpoint(scheme='https', host='api.example.com', port=8443, target='/rates?of={{ asset }}')
    """
    found = _URL.match(url)
    if found is None:
        return None
    host, port_text = _without_port(found["authority"])
    if port_text and not (re.fullmatch(r"[0-9]{1,5}", port_text) and 0 < int(port_text) < 65_536):
        return None
    target = found["rest"]
    if not target.startswith("/"):
        target = "/" + target
    return Endpoint(found["scheme"].lower(), host, int(port_text) if port_text else None, target)


def endpoint_problems(url: str, *, own_hosts: Iterable[str] = ()) -> list[Problem]:
    """Return every rule that the template *url* breaks: one `Problem` a rule, empty where it may be saved.

    Templates stand in path and query only, as `{{ … }}`; host, port and scheme are written out. *own_hosts*
    are the application's own, which a tool may not call.
    """
    literal = _OUTPUT.sub("x", url)
    if re.search(r"\{%|%\}|\{\{|\}\}|\{#", literal):
        return [_problem("template_in_url", "only {{ … }} may stand in a URL, no {% … %}", url)]
    found = _URL.match(url)
    authority = found["authority"] if found is not None else ""
    if "{" in authority or (found is None and _URL.match(literal)):
        return [
            _problem("template_in_host", "no template may stand before the path; write the host out", url)
        ]
    if found is None:
        return [_problem("valid_url", "the endpoint must be a valid URL", url)]
    problems = []
    if split_endpoint(url) is None or _FORBIDDEN.search(literal):
        problems.append(_problem("valid_url", "the endpoint must be a valid URL", url))
    if found["scheme"].lower() != "https":
        problems.append(_problem("https", "the endpoint must use HTTPS", url))
    if "@" in authority:
        problems.append(_problem("userinfo", "no user name or password may stand in the URL", url))
    host, _ = _without_port(authority.rpartition("@")[2])
    rule = _host_rule(host, {own.casefold().rstrip(".") for own in own_hosts})
    if rule is not None:
        problems.append(_problem(rule, _HOST_RULES[rule], url))
    return problems


def _without_port(authority: str) -> tuple[str, str]:
    host, colon, port = authority.rpartition(":")
    return (host, port) if colon and not authority.endswith("]") else (authority, "")


def climbs(target: str) -> bool:
    """Return whether a path has a `.` or `..` in it, however it is written.

    >>> climbs("/users/%2e%2E/admin"), climbs("/users/..%2Fadmin"), climbs("/users/a..b")
    (True, True, False)
    """
    path = unquote(unquote(target.partition("?")[0])).replace("\\", "/")
    return any(step in (".", "..") for step in path.split("/"))


_HOST_RULES = {
    "hostname": "the endpoint must have a valid hostname",
    "own_host": "the endpoint cannot be the application itself",
    "disallowed_hostname": "the endpoint cannot use a disallowed hostname",
    "ip_address": "the endpoint cannot be an IP address, however it is written",
    "non_ascii": "the hostname can hold ASCII characters only",
}


def _host_rule(host: str, own_hosts: set[str]) -> str | None:
    """Return the rule that *host* breaks, or None."""
    if not host.isascii():
        return "non_ascii"
    bare = host.lower().rstrip(".")
    if host.startswith("[") or ":" in host or _NUMBER.match(bare.rpartition(".")[2]):
        return "ip_address"
    if bare in own_hosts:
        return "own_host"
    if any(bare == name or bare.endswith("." + name) for name in _INSIDE):
        return "disallowed_hostname"
    if len(host) > 253 or not all(_LABEL.match(label) for label in host.split(".")):
        return "hostname"
    return "disallowed_hostname" if "." not in host else None


def _problem(rule: str, message: str, url: str) -> Problem:
    shown = re.sub(r"//[^/@]*@", "//…@", url)  # a password is never repeated
    return Problem(rule=rule, message=f"{message}: {shown[:200]}")
