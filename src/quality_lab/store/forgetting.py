"""Taking a person's content out of the cache, and keeping it out: rows whose names were forgotten go.

It is done once when `forget` is asked for, and again at the end of every load, in the load's transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import duckdb

from quality_lab.store.forgotten import Forgotten

_DIGEST = "sha256($salt || ':{kind}:' || length({tenant}) || ':' || {tenant} || ':' || {value})"
_NAMED = r'"{0}(?:Id|_id)"\s*:\s*("(?:[^"\\]|\\.)*"|[^",}}\s]+)'  # a string in its quotes, or a number


@dataclass(kw_only=True, slots=True)
class Erased:
    """What was taken out of the cache."""

    rows: dict[str, int] = field(default_factory=dict)  # by table
    lines: Counter[int] = field(default_factory=Counter)  # lines of the sources (by number) that held it
    rejected: Counter[int] = field(default_factory=Counter)  # those of them that were in quarantine

    @property
    def total(self) -> int:
        """Return how many rows went."""
        return sum(self.rows.values())

    def of(self, source_id: int) -> tuple[int, int]:
        """Return how many lines of one source held it, and how many of these were in quarantine."""
        return self.lines[source_id], self.rejected[source_id]


def erase(
    connection: duckdb.DuckDBPyConnection, forgotten: Forgotten, *, arrived: Collection[int] | None = None
) -> Erased:
    """Take out of every table what belongs to a forgotten conversation, contact or tenant.

    Where nothing was forgotten since it was done last, the broken lines of files that *arrived* (by number) are
    looked through, and no others; without it, those of all.
    """
    if not forgotten.digests:
        return Erased()
    known = connection.execute("select value from lab_meta where name = 'forgotten'").fetchone()
    if arrived is not None and known == (forgotten.state,):
        _find(connection, forgotten, broken_in=arrived)
    else:
        _find(connection, forgotten)
        connection.execute("delete from lab_meta where name = 'forgotten'")
        connection.execute("insert into lab_meta values ('forgotten', $state)", {"state": forgotten.state})
    erased = Erased()
    read: set[tuple[int, int]] = set()
    broken: set[tuple[int, int]] = set()
    for table, condition in _CONDITIONS.items():
        counts_as_broken = {"rejects": "true", "versions": "conflicting"}.get(table, "false")
        sql = f"select distinct source_id, line, {counts_as_broken} from {table} where {condition}"
        for source_id, line, is_broken in connection.execute(sql).fetchall():
            (broken if is_broken else read).add((source_id, line))
        (count,) = connection.execute(f"delete from {table} where {condition}").fetchone() or (0,)
        if count:
            erased.rows[table] = count
    erased.lines.update(source_id for source_id, _ in read | broken)
    erased.rejected.update(source_id for source_id, _ in broken - read)
    return erased


def tenants_that_name(connection: duckdb.DuckDBPyConnection, forgotten: Forgotten) -> set[str]:
    """Return the tenants of whose broken lines, cases or proposals any names what *forgotten* holds.

    It is for a conversation or a contact of which no line could be read.
    """
    _find(connection, forgotten)
    rows = connection.execute("""
        select tenant from sources where source_id in (select source_id from gone_in_rejects)
        union select tenant from regression_cases where (source_id, line) in (select (source_id, line)
                                                                              from gone_in_regression_cases)
        union select tenant from proposals where (source_id, line) in (select (source_id, line)
                                                                       from gone_in_proposals)""")
    return {tenant for (tenant,) in rows.fetchall()}


def _find(
    connection: duckdb.DuckDBPyConnection, forgotten: Forgotten, *, broken_in: Collection[int] | None = None
) -> None:
    """Lay the uids of what goes into the temporary tables `gone_conversations`, `gone_calls`, `gone_tenants`.

    Broken lines are looked for in the files *broken_in*, or in all.
    """
    known = {"salt": forgotten.salt, "digests": sorted(forgotten.digests)}
    conversation = _DIGEST.format(kind="conversation", tenant="tenant", value="conversation_id")
    contact = _DIGEST.format(kind="contact", tenant="tenant", value="coalesce(contact_id, '')")
    whole = _DIGEST.format(kind="tenant", tenant="tenant", value="''")
    run = connection.execute
    run(
        f"""
        create or replace temp table gone_tenants as
        select tenant from (select tenant from sources union select tenant from tool_calls
                            union select tenant from feedback union select tenant from conversations)
        where array_contains($digests, {whole})""",
        known,
    )
    run(
        f"""
        create or replace temp table gone_conversations as
        with met as (
            select conversation_uid, tenant, conversation_id, null as contact_id from conversations
            union all
            select conversation_uid, tenant, conversation_id, contact_id from tool_calls
            union all
            select (content ->> 'conversation_uid')::uuid, content ->> 'tenant', content ->> 'conversation_id',
                   content ->> 'contact_id'
            from versions where kind = 'tool_calls'
        ), names as (select distinct * from met)
        select distinct conversation_uid from names
        where array_contains($digests, {conversation}) or array_contains($digests, {contact})
           or tenant in (select tenant from gone_tenants)""",
        known,
    )
    run("""
        create or replace temp table gone_calls as
        select call_uid from tool_calls where conversation_uid in (select conversation_uid from gone_conversations)
        union
        select uid from versions
        where kind = 'tool_calls'
          and (content ->> 'conversation_uid')::uuid in (select conversation_uid from gone_conversations)""")
    for table in ("regression_cases", "proposals"):
        _find_in_records(connection, known, table)
    _find_broken_lines(connection, known, broken_in)


def _find_in_records(connection: duckdb.DuckDBPyConnection, known: Mapping[str, object], table: str) -> None:
    """Lay origin and line of the records that name a forgotten conversation or contact into `gone_in_<table>`."""
    conversation = _DIGEST.format(kind="conversation", tenant="tenant", value="name")
    contact = _DIGEST.format(kind="contact", tenant="tenant", value="name")
    connection.execute(
        f"""
        create or replace temp table gone_in_{table} as
        with named as (
            select source_id, line, tenant,
                   unnest(regexp_extract_all(record, $conversation_name, 1)) as name, true as is_conversation
            from {table}
            union all
            select source_id, line, tenant, unnest(regexp_extract_all(record, $contact_name, 1)), false
            from {table}
        ), plain as (
            select source_id, line, tenant, is_conversation,
                   coalesce(try_cast(name as json) ->> '$', trim(name, '"')) as name
            from named
        )
        select distinct source_id, line from plain
        where case when is_conversation then array_contains($digests, {conversation})
                   else array_contains($digests, {contact}) end
        union
        select source_id, line from {table} where tenant in (select tenant from gone_tenants)""",
        {
            **known,
            "conversation_name": _NAMED.format("conversation"),
            "contact_name": _NAMED.format("contact"),
        },
    )


# In a broken line the names of every format that is read are looked for, and those of maps that people write.
_CONVERSATION = "conversation|session|thread|trace|chat|dialog|sample|task"
_CONTACT = "contact|customer|client|user|person|patient|lead"
_NAMED_IN_BROKEN = r'"[^"\\]*(?i:{0})[^"\\]*"\s*:\s*("(?:[^"\\]|\\.)*"|[^",}}\s]+)'
_ANY_STRING = r'"(?:[^"\\]|\\.)*"'
_ANY_WORD = r"[^\s\",:;(){}\[\]\\]+"  # a number; an id in a row of CSV, or where the quotes are broken
_TELLING = 5  # characters; a shorter id (12, main) is a value like any other, and needs its name beside it


def _find_broken_lines(
    connection: duckdb.DuckDBPyConnection, known: Mapping[str, object], broken_in: Collection[int] | None
) -> None:
    """Lay origin and line of the lines in quarantine that speak of what is forgotten into `gone_in_rejects`.

    A line speaks of it where the id is the value of a name like session_id, or where an id of five characters
    or more stands anywhere as a string, a number or a word.
    """
    named = _DIGEST.format(kind="conversation", tenant="tenant", value="name")
    contact = _DIGEST.format(kind="contact", tenant="tenant", value="name")
    connection.execute(
        f"""
        create or replace temp table gone_in_rejects as
        with held as (
            select r.source_id, r.line, s.tenant, r.text from rejects r join sources s using (source_id)
            where $everywhere or array_contains($broken_in::bigint[], r.source_id)
        ), met as (
            select source_id, line, tenant, true as named,
                   unnest(regexp_extract_all(text, $conversation_name, 1)
                          || regexp_extract_all(text, $contact_name, 1)) as name
            from held
            union all
            select source_id, line, tenant, false,
                   unnest(regexp_extract_all(text, $any_string) || regexp_extract_all(text, $any_word))
            from held
        ), plain as (
            select source_id, line, tenant, named,
                   coalesce(try_cast(name as json) ->> '$', trim(name, '"')) as name
            from met
        ), spoken as (
            select tenant, name from (
                select distinct tenant, name from plain where named or length(name) >= $telling
            )
            where array_contains($digests, {named}) or array_contains($digests, {contact})
        )
        select distinct source_id, line
        from plain join spoken using (tenant, name)
        where named or length(name) >= $telling
        union
        select source_id, line from held where tenant in (select tenant from gone_tenants)""",
        {
            **known,
            "conversation_name": _NAMED_IN_BROKEN.format(_CONVERSATION),
            "contact_name": _NAMED_IN_BROKEN.format(_CONTACT),
            "any_string": _ANY_STRING,
            "any_word": _ANY_WORD,
            "telling": _TELLING,
            "everywhere": broken_in is None,
            "broken_in": list(broken_in or ()),
        },
    )


_BY_CONVERSATION = "conversation_uid in (select conversation_uid from gone_conversations)"
_BY_TENANT = "tenant in (select tenant from gone_tenants)"


def _in_records(table: str) -> str:
    return f"(source_id, line) in (select (source_id, line) from gone_in_{table})"


_LABELS = f"call_uid in (select call_uid from gone_calls) or {_BY_CONVERSATION} or {_BY_TENANT}"
_CONDITIONS = {
    "messages": _BY_CONVERSATION,
    "retractions": f"retracts in (select 'quality_lab/' || tenant || '/' || key from feedback where {_LABELS})"
    " or exists (select 1 from gone_tenants t where starts_with(retracts, 'quality_lab/' || t.tenant || '/'))",
    "feedback": _LABELS,
    "regression_cases": f"call_uid in (select call_uid from gone_calls) or {_in_records('regression_cases')}",
    "proposals": _in_records("proposals"),
    "decisions": _BY_TENANT,
    "queues": _BY_TENANT,
    "queue_calls": f"call_uid in (select call_uid from gone_calls) or {_BY_TENANT}",
    "rejects": _in_records("rejects"),
    "versions": "uid in (select call_uid from gone_calls)"
    " or (content ->> 'call_uid')::uuid in (select call_uid from gone_calls)"
    " or (content ->> 'conversation_uid')::uuid in (select conversation_uid from gone_conversations)",
    "tool_calls": _BY_CONVERSATION,
    "conversations": _BY_CONVERSATION,
}
