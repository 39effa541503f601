"""The booking link: where it is kept, how it is checked, and the tool that offers it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from quality_lab.errors import InputError, OutputError, UsageError
from quality_lab.toolbox.shapes import arguments
from quality_lab.toolloop.contract import Tool, ToolContext
from quality_lab.whole_files import write_whole

BOOKING_VARIABLE = "QUALITY_LAB_BOOKING_URL"
_TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")


def booking_file(home: Path, tenant: str = "default") -> Path:
    """Return where the booking link of *tenant* lies under *home*.

    Raises:
        UsageError: the tenant's name cannot be a file's name.
    """
    if not _TENANT.match(tenant):
        raise UsageError(f"a tenant is named by letters, digits, . _ and - (at most 64), got {tenant!r}")
    return home / "data" / ".secrets" / f"booking-{tenant}.url"


def check_booking_url(url: str) -> str:
    """Return *url* without the blanks around it.

    Raises:
        UsageError: `url required`, `url must use http or https` or `invalid url format`.
    """
    trimmed = url.strip()
    if not trimmed:
        raise UsageError("url required")
    try:
        parts = urlsplit(trimmed)
        parts.port  # noqa: B018 - reading it is what checks it
    except ValueError as error:
        raise UsageError("invalid url format") from error
    if parts.scheme and parts.scheme not in ("http", "https"):
        raise UsageError("url must use http or https")
    if not parts.scheme or not parts.hostname or re.search(r"[\s\x00-\x1f\x7f<>\"\\^`{|}]", trimmed):
        raise UsageError("invalid url format")
    return trimmed


def get_booking_url(
    home: Path, tenant: str = "default", *, environ: Mapping[str, str] | None = None
) -> str | None:
    """Return the booking link of *tenant*, or None where none is set.

    In *environ*, `QUALITY_LAB_BOOKING_URL` stands above the default tenant's file.

    Raises:
        UsageError: the variable holds no link.
        InputError: the file cannot be read.
    """
    path = booking_file(home, tenant)
    stated = (environ or {}).get(BOOKING_VARIABLE)
    if stated and tenant == "default":
        return check_booking_url(stated)
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the booking link in {path} cannot be read: {error}") from error


def set_booking_url(home: Path, url: str, tenant: str = "default") -> str:
    """Keep the booking link in a file that only its owner can read, and return it as it was kept.

    Raises:
        UsageError: as `check_booking_url` says.
        OutputError: the file cannot be written.
    """
    checked = check_booking_url(url)
    path = booking_file(home, tenant)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise OutputError(f"the booking link cannot be written to {path}: {error}") from error
    write_whole(path, checked + "\n", mode=0o600)
    return checked


def delete_booking_url(home: Path, tenant: str = "default") -> bool:
    """Forget the booking link and return whether there was one.

    Raises:
        OutputError: the file cannot be removed.
    """
    path = booking_file(home, tenant)
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise OutputError(f"the booking link in {path} cannot be removed: {error}") from error
    return True


def booking_tools(url: str | None) -> list[Tool]:
    """Return `offer_booking_link` where there is a link, else nothing."""
    if url is None:
        return []

    def execute(args: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return {"url": url}

    return [
        Tool(
            name="offer_booking_link",
            description="Gives the link to book an appointment. Call it when the customer wants one.",
            parameters=arguments(),
            execute=execute,
            effect="read",
            server="toolbox:booking",
            inline=True,
        )
    ]
