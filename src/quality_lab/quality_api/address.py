"""Where the API lies: what people write as its base, made the URL of one of its paths."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from quality_lab.errors import UsageError
from quality_lab.js_url import parse_url

ADMIN = "/api/admin/quality/"


def shown_base(base: str) -> str:
    """Return *base* as it may be shown and remembered: without user, password, query, hash and last slash.

    Raises:
        UsageError: *base* is no http or https URL.

    >>> shown_base("https://me:pw@LAB.example.com/eu/?tenant=4")
    'https://lab.example.com/eu'
    """
    url = parse_url(base)
    if url is None or url.scheme not in ("http", "https"):
        came = "no URL" if url is None else f"one of the scheme {url.scheme}"
        raise UsageError(f"wanted an http or https URL as the base of the API, got {came}")
    return url.shown.rstrip("/")


def endpoint(base: str, path: str, query: Mapping[str, str | int] | None = None) -> str:
    """Return the URL of *path* below *base*: a path prefix of the base is kept.

    User, password, query and hash of the base are left out: the token is what lets us in.

    Raises:
        UsageError: *base* is no http or https URL.

    >>> endpoint("https://lab.example.com/eu/", "tool-calls", {"limit": 5})
    'https://lab.example.com/eu/api/admin/quality/tool-calls?limit=5'
    """
    asked = f"?{urlencode(query)}" if query else ""
    return shown_base(base) + ADMIN + path + asked
