"""`forget`: a conversation, a contact or a tenant leaves the cache and the journal, and what remains is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from quality_lab.errors import UnknownName, UsageError
from quality_lab.journal import Journal
from quality_lab.store.database import utf8_path, writing
from quality_lab.store.forgetting import Erased, erase, tenants_that_name
from quality_lab.store.forgotten import Forgotten, Kind, read_forgotten, write_forgotten
from quality_lab.store.kept import keep_answers, let_go
from quality_lab.store.rebuilding import draft_path

if TYPE_CHECKING:
    from quality_lab.store.store import Store

_CONVERSATION_NAMES = frozenset({"conversation_id", "conversationId"})
_CONTACT_NAMES = frozenset({"contact_id", "contactId"})
_CALL_NAMES = frozenset({"tool_call_id", "toolCallId", "key"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Remains:
    """A file that still holds what was forgotten; the lab never changes the files it reads."""

    path: str = field(metadata={"unit": "path"})
    lines: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ForgetReport:
    """What went, and what is still there."""

    conversations: int
    rows: Mapping[str, int]  # taken out of the cache, by table
    journal_lines: int  # taken out of the journal
    remains: Sequence[Remains]
    notices: Sequence[str]

    def to_json(self) -> dict[str, Any]:
        """Return the document of `forget --json`."""
        return {
            "conversations": self.conversations,
            "rows": dict(self.rows),
            "journal_lines": self.journal_lines,
            "remains": [{"path": one.path, "lines": one.lines} for one in self.remains],
            "notices": list(self.notices),
        }


@dataclass(frozen=True, slots=True)
class _Found:
    """What is known of the names that are to be forgotten."""

    tenant: str | None  # that goes as a whole

    names: set[tuple[Kind, str, str]]
    conversations: set[str]
    uids: set[str]
    keys: set[str]


def forget(
    store: Store, *, conversation: str | None = None, contact: str | None = None, tenant: str | None = None
) -> ForgetReport:
    """Take the content of one conversation, contact or tenant out of cache and journal, for good.

    *tenant* beside one of the others narrows it. Later loads, and rebuilds, leave the same content out and
    count its lines as `forgotten`.

    Raises: UsageError, UnknownName where nothing of it is here, StoreBusy, StoreError, OutputError.
    """
    if (conversation is None) == (contact is None) and (conversation is not None or tenant is None):
        raise UsageError("wanted a conversation, a contact or a tenant to forget")
    forgotten = read_forgotten(store.home)

    def keep(connection: duckdb.DuckDBPyConnection) -> None:
        keep_answers(connection, store.kept_questions, changed=changed)

    changed = 1
    with writing(store.database, wait_s=store.wait_s, afterwards=keep) as connection:
        found = _find(connection, conversation, contact, tenant)
        if not found.names:
            found = _find_unread(connection, forgotten, conversation, contact, tenant)
        if not found.names:
            raise UnknownName("nothing of it is in this lab")
        # Said first: whatever happens from here on, the next load takes out what is left.
        forgotten = forgotten.with_names(found.names)
        write_forgotten(forgotten, store.home)
        removed = _out_of_journal(store.home / "data" / "journal", found, contact)
        erased = erase(connection, forgotten)
        remains = _remains(connection, erased)
        let_go(connection)
        changed = max(1, erased.total)
        _compact(connection, store.database)
    return ForgetReport(
        conversations=len(found.conversations),
        rows=erased.rows,
        journal_lines=removed,
        remains=remains,
        notices=_notices(store.home, removed),
    )


def _find(
    connection: duckdb.DuckDBPyConnection, conversation: str | None, contact: str | None, tenant: str | None
) -> _Found:
    rows = connection.execute(
        """
        with met as (
            select tenant, conversation_id, call_uid, key, contact_id, conversation_uid from tool_calls
            union all
            select tenant, conversation_id, null, null, null, conversation_uid from conversations
            union all
            select content ->> 'tenant', content ->> 'conversation_id', uid, content ->> 'key',
                   content ->> 'contact_id', (content ->> 'conversation_uid')::uuid
            from versions where kind = 'tool_calls'
        ), wanted as (
            select conversation_uid from met
            where ($tenant is null or tenant = $tenant)
              and ($conversation is null or conversation_id = $conversation)
              and ($contact is null or contact_id = $contact)
        )
        select distinct tenant, conversation_id, call_uid::varchar, key from met
        where conversation_uid in (select conversation_uid from wanted)""",
        {"tenant": tenant, "conversation": conversation, "contact": contact},
    ).fetchall()
    names: set[tuple[Kind, str, str]] = {("conversation", row[0], row[1]) for row in rows}
    if contact is not None:
        names |= {("contact", row[0], contact) for row in rows}
    whole = tenant if conversation is None and contact is None else None
    if whole is not None:
        held = connection.execute(
            "select count(*) from sources where tenant = $tenant", {"tenant": whole}
        ).fetchone()
        names = {("tenant", whole, "")} if rows or held != (0,) else set()
    return _Found(
        tenant=whole,
        names=names,
        conversations={row[1] for row in rows},
        uids={row[2].replace("-", "") for row in rows if row[2]},
        keys={row[3] for row in rows if row[3]},
    )


def _find_unread(
    connection: duckdb.DuckDBPyConnection,
    forgotten: Forgotten,
    conversation: str | None,
    contact: str | None,
    tenant: str | None,
) -> _Found:
    """Return the same for what only broken lines, cases or proposals name."""
    kind: Kind = "conversation" if conversation is not None else "contact"
    value = conversation if conversation is not None else contact
    names: set[tuple[Kind, str, str]] = set()
    if value is not None:
        tenants = {each for (each,) in connection.execute("select tenant from sources").fetchall()}
        asked = [(kind, each, value) for each in tenants if tenant in (None, each)]
        names = {
            (kind, each, value)
            for each in tenants_that_name(connection, Forgotten(forgotten.salt).with_names(asked))
        }
    told = {value} if value is not None and names and kind == "conversation" else set()
    return _Found(tenant=None, names=names, conversations=told, uids=set(), keys=set())


def _out_of_journal(folder: Path, found: _Found, contact: str | None) -> int:
    """Take the lines out of the journal that are about what is forgotten, and those that take them back."""
    journal = Journal(folder)
    gone: set[str] = set()

    def about(value: object) -> bool:
        if isinstance(value, list):
            return any(map(about, value))
        if not isinstance(value, dict):
            return False
        for name, inner in value.items():
            text = str(inner)
            if (
                (name in _CONVERSATION_NAMES and text in found.conversations)
                or (name in _CONTACT_NAMES and text == contact)
                or (name == "call_uid" and text.replace("-", "").lower() in found.uids)
                or (name in _CALL_NAMES and text in found.keys)
                or about(inner)
            ):
                return True
        return False

    def goes(line: dict[str, Any]) -> bool:
        of_tenant = found.tenant is not None and line.get("tenant") == found.tenant
        if of_tenant or about(line) or str(line.get("retracts")) in gone:
            gone.add(str(line.get("id")))
            return True
        return False

    return journal.remove(goes)


def _remains(connection: duckdb.DuckDBPyConnection, erased: Erased) -> list[Remains]:
    rows = connection.execute("select source_id, path from sources order by path").fetchall()
    return [
        Remains(path=path, lines=erased.lines[source_id])
        for source_id, path in rows
        if source_id in erased.lines and not path.startswith("data/journal/")
    ]


def _notices(home: Path, journal_lines: int) -> list[str]:
    found = []
    if journal_lines and (home / ".git").exists():
        found.append("git remembers the journal's earlier lines until its history is rewritten")
    if any((home / "reports").glob("*/report.html")):
        found.append("reports that were made before may still show it: reports/")
    return found


def _compact(connection: duckdb.DuckDBPyConnection, database: Path) -> None:
    """Write the database anew, so that no block of it holds what was deleted; the writer's lock is still held."""
    draft = draft_path(database)
    draft.unlink(missing_ok=True)
    connection.execute("commit")
    connection.execute("checkpoint")
    (name,) = connection.execute("select current_database()").fetchone() or ("quality",)
    quoted = utf8_path(draft).replace("'", "''")
    connection.execute(f"attach '{quoted}' as compacted")
    connection.execute(f'copy from database "{name}" to compacted')
    connection.execute("detach compacted")
    draft.replace(database)
    connection.execute("begin")
