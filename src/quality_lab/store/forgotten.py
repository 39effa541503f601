"""What was forgotten, as hashes: enough to know a person's content when it comes again, and no more.

`data/forgotten.json` holds a salt and, for each conversation, contact or tenant, one digest. It goes into git
with the journal, so that a colleague's lab forgets too.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from quality_lab.errors import InputError, OutputError
from quality_lab.whole_files import write_whole

Kind = Literal["conversation", "contact", "tenant"]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The digests of what was forgotten in one lab."""

    salt: str
    digests: frozenset[str] = frozenset()

    def digest(self, kind: Kind, tenant: str, value: str) -> str:
        """Return the digest of one name; `forgetting` makes the same in SQL."""
        return hashlib.sha256(f"{self.salt}:{kind}:{len(tenant)}:{tenant}:{value}".encode()).hexdigest()

    @property
    def state(self) -> str:
        """Return one digest of all of it, by which it is known whether anything was added."""
        return hashlib.sha256("\n".join([self.salt, *sorted(self.digests)]).encode()).hexdigest()

    def with_names(self, names: Iterable[tuple[Kind, str, str]]) -> Forgotten:
        """Return the same with more *names*: kind, tenant and id ("" for a whole tenant)."""
        return replace(self, digests=self.digests | {self.digest(*name) for name in names})


def read_forgotten(home: Path) -> Forgotten:
    """Return what was forgotten in this home. Raises: InputError where the file is not what was written."""
    path = _path(home)
    try:
        found = json.loads(path.read_text("utf-8"))
        return Forgotten(str(found["salt"]), frozenset(map(str, found["forgotten"])))
    except FileNotFoundError:
        return Forgotten(secrets.token_hex(16))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"{path} cannot be read, so nobody knows what was forgotten: {error}") from error


def write_forgotten(forgotten: Forgotten, home: Path) -> None:
    """Write the file, whole or not at all. Raises: OutputError."""
    path = _path(home)
    content = {"salt": forgotten.salt, "forgotten": sorted(forgotten.digests)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path.parent} cannot be made: {error.strerror or error}") from error
    write_whole(path, json.dumps(content, indent=1) + "\n")


def _path(home: Path) -> Path:
    return home / "data" / "forgotten.json"
