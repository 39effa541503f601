"""What JavaScript's `new URL(text)` takes for an absolute URL, and the parts that a request needs.

The rules are those of the WHATWG URL standard, without relative URLs and the drive letters of file URLs.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from urllib.parse import quote, unquote_to_bytes

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=:)")
_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}
_SPECIAL = {*_DEFAULT_PORTS, "file"}
_IGNORED = re.compile(r"[\t\n\r]")
_ENDS = "".join(map(chr, range(0x21)))  # control characters and the space
_NO_HOST = re.compile("[\x00-\x20\x7f#%/:<>?@\\[\\\\\\]^|]")  # may not stand in a domain
_NO_OPAQUE_HOST = re.compile(r"[\x00\t\n\r #/:<>?@\[\\\]^|]")
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))
_IPV4_PART = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Url:
    """An absolute URL in its parts; *path* begins with a slash where the scheme is http or its like."""

    scheme: str  # in lower case
    host: str
    port: int | None  # None is the scheme's own
    path: str
    secret: bool = field(default=False, repr=False)  # a user, a password, a query or a hash came with it

    @property
    def shown(self) -> str:
        """The URL without user, password, query and hash."""
        if not self.host and self.scheme != "file":
            return f"{self.scheme}:{self.path}"
        port = "" if self.port is None else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}{self.path}"


def parse_url(text: str) -> Url | None:
    """Return the parts of *text*, or None where `new URL(text)` would throw.

    >>> parse_url("http:user:pw@LAB.example.com:80/lab/../v2/?tenant=4").shown
    'http://lab.example.com/v2/'
    >>> parse_url("lab.example.com"), parse_url("http://[::1"), parse_url("http://lab:99999")
    (None, None, None)
    """
    text = _IGNORED.sub("", text.strip(_ENDS))
    found = _SCHEME.match(text)
    if found is None:
        return None
    scheme = found.group().lower()
    rest, has_hash, _ = text[found.end() + 1 :].partition("#")
    rest, has_query, _ = rest.partition("?")
    secret = bool(has_hash or has_query)
    if scheme in _SPECIAL:
        rest = rest.replace("\\", "/")
    if scheme in _DEFAULT_PORTS:
        rest = "//" + rest.lstrip("/")
    elif not rest.startswith("//"):
        return Url(scheme=scheme, host="", port=None, path=rest, secret=secret)
    authority, slash, path = rest[2:].partition("/")
    userinfo, at, where = authority.rpartition("@")
    host_text, port_text = _without_port(where)
    port = _port(port_text, scheme)
    host = _host(host_text, special=scheme in _SPECIAL)
    if host is None or port == -1 or (not host and (scheme in _DEFAULT_PORTS or where or at)):
        return None
    if scheme == "file" and (at or ":" in where.rpartition("]")[2]):
        return None
    path = _path(slash + path) or ("/" if scheme in _SPECIAL else "")
    return Url(scheme=scheme, host=host, port=port, path=path, secret=secret or bool(userinfo))


def _without_port(where: str) -> tuple[str, str]:
    host, colon, port = where.rpartition(":")
    return (host, port) if colon and "]" not in port else (where, "")


def _port(text: str, scheme: str) -> int | None:
    """Return the port, None for the scheme's own, -1 for none that can be."""
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and int(text[-6:]) <= 65_535 and len(text.lstrip("0")) <= 5):
        return -1
    return None if int(text) == _DEFAULT_PORTS.get(scheme) else int(text)


def _host(text: str, *, special: bool) -> str | None:
    """Return the host as it is asked for, or None where it is none."""
    if text.startswith("["):
        if not text.endswith("]") or "%" in text:
            return None
        try:
            return f"[{ipaddress.IPv6Address(text[1:-1]).compressed}]"
        except ValueError:
            return None
    if not special:
        return None if _NO_OPAQUE_HOST.search(text) else quote(text, safe=_PRINTABLE)
    host = _ascii(unquote_to_bytes(text.encode("utf-8", "replace")).decode("utf-8", "replace"))
    if host is None or _NO_HOST.search(host):
        return None
    last = host.removesuffix(".").rpartition(".")[2]
    if last and (last.isdigit() or _IPV4_PART.fullmatch(last)):
        return _ipv4(host)
    return host


def _ascii(domain: str) -> str | None:
    """Return a domain in lower case, its letters beyond ASCII as Punycode; None where that cannot be."""
    if not domain.isascii():
        import idna

        try:
            domain = idna.uts46_remap(domain, std3_rules=False)
        except idna.IDNAError:
            return None
    labels = [_ascii_label(label) for label in domain.lower().split(".")]
    return None if None in labels else ".".join(label for label in labels if label is not None)


def _ascii_label(label: str) -> str | None:
    if not label.isascii():
        return "xn--" + label.encode("punycode").decode("ascii")
    if label.startswith("xn--"):
        try:
            meant = label[4:].encode("ascii").decode("punycode")
        except UnicodeError:
            return None
        return None if meant.isascii() or not meant.isprintable() else label
    return label


def _ipv4(host: str) -> str | None:
    parts = host.removesuffix(".").split(".")
    if len(parts) > 4 or not all(_IPV4_PART.fullmatch(part) for part in parts):
        return None
    try:
        numbers = [_ipv4_number(part) for part in parts]
    except ValueError:
        return None
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= 256 ** (5 - len(numbers)):
        return None
    address = numbers[-1] + sum(number << 8 * (3 - at) for at, number in enumerate(numbers[:-1]))
    return str(ipaddress.IPv4Address(address))


def _ipv4_number(part: str) -> int:
    if part[:2].lower() == "0x":
        return int(part[2:] or "0", 16)
    return int(part, 8) if part.startswith("0") else int(part)


def _path(path: str) -> str:
    """Return *path* without its dot segments, and with everything quoted that may not stand in one."""
    if not path:
        return ""
    kept: list[str] = []
    steps = path[1:].split("/")
    for at, step in enumerate(steps):
        meant = re.sub("%2e", ".", step, flags=re.IGNORECASE)
        if meant == "..":
            del kept[-1:]
        if meant in (".", ".."):
            if at == len(steps) - 1:
                kept.append("")
            continue
        kept.append(quote(step, safe="!$%&'()*+,-./:;=@[\\]_|~"))
    return "/" + "/".join(kept)
