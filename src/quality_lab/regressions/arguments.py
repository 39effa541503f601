"""The command line, flag for flag as the upstream runner reads it, and in its words where it cannot.

A valued flag takes whatever comes next, be it another flag; `--x=v` gives it an empty value too. The first
argument that is wrong is the one that is named, wherever `--help` stands. What API mode needs is looked at
last: a file beside it, the URL, the token.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from quality_lab import js_text
from quality_lab.errors import UsageError
from quality_lab.js_url import parse_url
from quality_lab.regressions.results import Metadata

DEFAULT_FILE = "./tool-call-regression-cases.jsonl"
DEFAULT_TOKEN_ENV = "QUALITY_LAB_TOKEN"  # the name of a variable, no secret
STATUSES = ("active", "archived", "all")
MOST_CASES = 1000

VALUED = {  # flag: what it asks for when nothing comes
    "--file": "a path",
    "--api-base": "a URL",
    "--token": "a bearer token",
    "--token-env": "an environment variable name",
    "--status": "active, archived, or all",
    "--limit": "a number",
    "--tool": "a name",
    "--tools": "a comma-separated list",
    "--out-json": "a path",
    "--out-junit": "a path",
    "--out-md": "a path",
}
SWITCHES = ("--include-archived", "--skip-unsupported", "--json", "--help", "-h")


class ArgumentError(UsageError):
    """An argument that the runner does not take; the text is upstream's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSource:
    """Cases in a file."""

    path: str  # absolute

    @property
    def metadata(self) -> Metadata:
        """What the report says of this source."""
        return {"source": "file", "filePath": self.path}


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiSource:
    """Cases behind a Quality API."""

    base: str  # as given
    token: str = field(repr=False)
    status: str
    limit: int

    @property
    def metadata(self) -> Metadata:
        """What the report says of this source; a user, password, query or hash of the base is left out."""
        url = parse_url(self.base)
        shown = url.shown if url is not None and url.secret else self.base
        return {
            "source": "api",
            "apiBase": js_text.well_formed(shown).removesuffix("/"),
            "status": self.status,
            "limit": self.limit,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What one run was asked to do."""

    source: FileSource | ApiSource
    supported_tools: tuple[str, ...] = ()
    archived_too: bool = False
    skip_unsupported: bool = False
    as_json: bool = False
    help: bool = False
    out_json: str | None = None  # absolute paths
    out_junit: str | None = None
    out_markdown: str | None = None

    @property
    def include_archived(self) -> bool:
        """Whether archived cases are checked: where asked for, or where only they were fetched."""
        return self.archived_too or (isinstance(self.source, ApiSource) and self.source.status == "archived")

    @property
    def metadata(self) -> Metadata:
        """What the report says of this run."""
        tools = {"supportedTools": self.supported_tools} if self.supported_tools else {}
        return {**self.source.metadata, **tools}


def parse_arguments(arguments: Sequence[str], *, env: Mapping[str, str], folder: str) -> Settings:
    """Return what *arguments* ask for; relative paths are relative to *folder*.

    Raises:
        ArgumentError: one of them is wrong.

    >>> parse_arguments(["--tools", "a, b", "--limit=1e2"], env={}, folder="/lab").supported_tools
    ('a', 'b')
    """
    given = _Given()
    rest = iter(arguments)
    for argument in rest:
        flag, equals, value = argument.partition("=")
        if not argument:
            continue
        if argument in VALUED:
            value = next(rest, "")
            if not value:
                raise ArgumentError(f"{argument} requires {VALUED[argument]}")
            given.take(argument, value)
        elif equals and flag in VALUED:
            given.take(flag, value)
        elif argument in SWITCHES:
            given.switches.add(argument)
        else:
            raise ArgumentError(f"unknown argument: {js_text.well_formed(argument)}")
    return given.settings(env, folder)


class _Given:
    """What has been given so far; of a flag that is repeated the last counts, except --tool and --tools."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.tools: dict[str, None] = {}
        self.switches: set[str] = set()
        self.status = "active"
        self.limit = 500

    def take(self, flag: str, value: str) -> None:
        """Take one value, and check it where it can be checked alone."""
        self.values[flag] = value
        if flag in ("--tool", "--tools"):
            names = (js_text.trim(js_text.well_formed(name)) for name in value.split(","))
            self.tools.update((name, None) for name in names if name)
        elif flag == "--status":
            if value not in STATUSES:
                raise ArgumentError("--status must be active, archived, or all")
            self.status = value
        elif flag == "--limit":
            number = js_text.number(value)
            if not (js_text.is_integer(number) and 1 <= number <= MOST_CASES):
                raise ArgumentError(f"--limit must be an integer from 1 to {MOST_CASES}")
            self.limit = int(number)

    def settings(self, env: Mapping[str, str], folder: str) -> Settings:
        """Return the settings, with the checks that look at more than one flag."""
        wants_help = bool(self.switches & {"--help", "-h"})
        return Settings(
            source=self._file(folder) if wants_help else self._source(env, folder),
            supported_tools=tuple(self.tools),
            archived_too="--include-archived" in self.switches,
            skip_unsupported="--skip-unsupported" in self.switches,
            as_json="--json" in self.switches,
            help=wants_help,
            out_json=self._path("--out-json", folder),
            out_junit=self._path("--out-junit", folder),
            out_markdown=self._path("--out-md", folder),
        )

    def _source(self, env: Mapping[str, str], folder: str) -> FileSource | ApiSource:
        base = self.values.get("--api-base", "")
        if not base:
            return self._file(folder)
        if "--file" in self.values:
            raise ArgumentError("--file and --api-base cannot be used together")
        if parse_url(base) is None:
            raise ArgumentError("--api-base must be a valid URL")
        name = self.values.get("--token-env", DEFAULT_TOKEN_ENV)
        token = self.values.get("--token", env.get(name, ""))
        if not token:
            raise ArgumentError(f"--api-base requires --token or {js_text.well_formed(name)}")
        return ApiSource(base=base, token=token, status=self.status, limit=self.limit)

    def _file(self, folder: str) -> FileSource:
        return FileSource(path=_absolute(self.values.get("--file", DEFAULT_FILE), folder))

    def _path(self, flag: str, folder: str) -> str | None:
        return _absolute(self.values[flag], folder) if flag in self.values else None


def _absolute(path: str, folder: str) -> str:
    """Return *path* below *folder* with its dots resolved as text; links are not followed."""
    joined = os.path.normpath(os.path.join(folder, path))  # noqa: PTH118  # pathlib keeps the ".."
    return "/" + joined.lstrip("/") if joined.startswith("//") else joined
