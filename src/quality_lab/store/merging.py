"""From staged rows to the tables: what is new, what is the same, what is more complete, what contradicts.

Every step is set-based; only rows that came in several versions are looked at one by one (`contested`).
The result is a function of the set of rows that were ever loaded: their order does not matter. What became of
each unit (a line, an object) is noted in the table `statuses`; of several notes on one unit those with the
least weight decide: labels, cases, proposals (0), then calls and messages (1), then the rest (2). Calls laid
down by `bulk` count as loaded without a note, unless they are contested: then they are noted and `recounted`.
"""

from __future__ import annotations

import duckdb

from quality_lab.store.batches import columns_of
from quality_lab.store.contested import BOOKKEEPING, settle
from quality_lab.store.folding import fold_call, fold_feedback
from quality_lab.store.journal_lines import LINES, merge_lines, retract
from quality_lab.store.span_labels import place_span_labels

TABLES = (
    "conversations",
    "messages",
    "tool_calls",
    "tool_definitions",
    "feedback",
    "regression_cases",
    "proposals",
    "decisions",
    "queues",
    "queue_calls",
    "retractions",
)


def prepare(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the empty staging tables `staged_<table>`, and `statuses`."""
    _lay_out_staging(connection)
    connection.execute("create or replace temp table statuses (unit bigint, weight integer, status varchar)")
    connection.execute("create or replace temp table bulk_files (source_id bigint, first_unit bigint)")
    connection.execute("create or replace temp table recounted (unit bigint)")


def _lay_out_staging(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the staging tables anew: rows that are deleted from one stay in memory as long as it stands."""
    for table in TABLES:
        connection.execute(
            f"create or replace temp table staged_{table} as select *, 0::bigint as unit from {table} limit 0"
        )


def merge(connection: duckdb.DuckDBPyConnection) -> None:
    """Bring what is staged into the tables, note what became of it, and empty the staging tables."""
    place_span_labels(connection)
    foldings = (("feedback", "feedback_uid", 0, fold_feedback), ("tool_calls", "call_uid", 1, fold_call))
    for table, key, weight, fold in foldings:
        if _some(connection, table) and not _take_all(connection, table, key, weight):
            _merge_versions(connection, table, key, weight)
            settle(connection, table, key, weight, fold)
    for table in filter(lambda name: _some(connection, name), LINES):
        merge_lines(connection, table)
    for table, key in (("regression_cases", "case_uid"), ("proposals", "proposal_uid")):
        if _some(connection, table):
            _merge_newest(connection, table, key)
    _stage_conversations_of_calls(connection)
    whole = (("conversations", _merge_conversations), ("messages", _merge_messages))
    for table, bring in (*whole, ("tool_definitions", _merge_definitions)):
        if _some(connection, table):
            bring(connection)
    retract(connection)
    _lay_out_staging(connection)


def _some(connection: duckdb.DuckDBPyConnection, table: str) -> bool:
    return connection.execute(f"select 1 from staged_{table} limit 1").fetchone() is not None


def _take_all(connection: duckdb.DuckDBPyConnection, table: str, key: str, weight: int) -> bool:
    """Take in all staged rows if each has a key that nobody had before, as in most loads; say whether it is so."""
    run = connection.execute
    met = run(f"""
        select 1 from (select {key} from staged_{table} group by all having count(*) > 1 limit 1)
        union all select 1 from (select 1 from staged_{table} semi join {table} using ({key}) limit 1)
        union all select 1 from (select 1 from versions where kind = '{table}' limit 1)""").fetchone()
    if met is None:
        run(f"insert into {table} select * exclude (unit) from staged_{table}")
        run(f"""
            insert into statuses
            select unit, {weight}, 'loaded' from staged_{table} where unit is not null""")
    return met is None


def _merge_versions(connection: duckdb.DuckDBPyConnection, table: str, key: str, weight: int) -> None:
    """Take in the rows of which one version exists, and name the others in `contested`.

    What has to be ordered or compared lies in narrow tables: of texts as long as results only the hash does. Which
    rows are met is asked of the keys alone, so that no text is read of any other.
    """
    run = connection.execute
    names = list(columns_of(connection, table))
    content = ", ".join(name for name in names if name not in BOOKKEEPING)
    flags = [name for name in names if name in BOOKKEEPING[2:]]
    rank = "not in_trace, " if flags else ""
    listed = ", ".join([key, "source_id", "line", *flags])
    run(f"""
        create or replace temp table fresh as
        select rowid as place, unit, {listed}, hash({content}) as content_hash from staged_{table}""")
    run(f"""
        create or replace temp table known as
        select {key}, hash({content}) as content_hash from {table}
        where rowid in (select rowid from {table} where {key} in (select {key} from fresh))""")
    run(f"""
        create or replace temp table contested as
        select {key} from (select {key}, content_hash from fresh union select {key}, content_hash from known)
        group by {key} having count(*) > 1
        union
        select uid from versions where kind = '{table}' and uid in (select {key} from fresh)""")
    seen = "".join(f", bool_or({flag}) over (partition by {key}) as {flag}" for flag in flags)
    run(f"""
        create or replace temp table plain as
        select place, unit, {key}, source_id, line{seen},
               row_number() over (partition by {key} order by {rank}source_id, line, unit) as copy,
               row_number() over (partition by {key} order by {rank}unit) as arrival,
               {key} in (select {key} from known) as met
        from fresh where {key} not in (select {key} from contested)""")
    taken = ", ".join(f"p.{name}" if name in flags else f"s.{name}" for name in names)
    run(f"""
        insert into {table}
        select {taken} from staged_{table} s join plain p on s.rowid = p.place where p.copy = 1 and not p.met""")
    run(f"""
        insert into statuses
        select unit, {weight}, case when arrival = 1 and not met then 'loaded' else 'unchanged' end from plain""")
    _take_sightings(connection, table, key, flags)


def _take_sightings(connection: duckdb.DuckDBPyConnection, table: str, key: str, flags: list[str]) -> None:
    """Note on rows that were here already where else they were seen now, and the least origin.

    What changes stays in memory, by the column: so each is changed only where it must be.
    """
    old, new = (f"({f'not {t}.in_trace, ' * bool(flags)}{t}.source_id, {t}.line)" for t in (table, "p"))
    changes = {"source_id = p.source_id, line = p.line": f"{new} < {old}"}
    changes |= {f"{flag} = true": f"p.{flag} and not {table}.{flag}" for flag in flags}
    for change, where in changes.items():
        connection.execute(f"""
            update {table} set {change} from (select * from plain where copy = 1 and met) p
            where {table}.{key} = p.{key} and {where}""")


def _merge_newest(connection: duckdb.DuckDBPyConnection, table: str, key: str) -> None:
    """Of several versions the one with the later updatedAt stands; ties go by the digest of the record.

    A case that the journal tells counts as long as no line takes that line back.
    """
    run = connection.execute
    if table == "regression_cases":
        run("""
            insert into statuses
            select unit, 0, 'unchanged' from staged_regression_cases
            where journal_line in (select retracts from retractions)""")
        for there in (table, f"staged_{table}"):
            run(f"delete from {there} where journal_line in (select retracts from retractions)")
    names = ", ".join(columns_of(connection, table))
    run(f"""
        create or replace temp table ranked as
        select *, row_number() over (
                      partition by {key} order by updated_at desc nulls last, md5(record) desc, source_id,
                      line, unit) as place,
               count(*) filter (where unit is null) over (partition by {key}) > 0 as met,
               max(record) filter (where unit is null) over (partition by {key}) as old_record
        from (select {names}, null::bigint as unit from {table}
              where {key} in (select {key} from staged_{table})
              union all select {names}, unit from staged_{table})""")
    run("""
        insert into statuses
        select unit, 0, case when place > 1 or record is not distinct from old_record then 'unchanged'
                             when met then 'updated' else 'loaded' end
        from ranked where unit is not null""")
    run(f"delete from {table} where {key} in (select {key} from ranked)")
    run(f"insert into {table} select {names} from ranked where place = 1")


def _stage_conversations_of_calls(connection: duckdb.DuckDBPyConnection) -> None:
    """A format that knows no conversations still names them in its calls."""
    connection.execute("""
        insert into staged_conversations
        select conversation_uid, min(tenant), min(key_space), min(conversation_id), min(source), min(model),
               min(style), min(created_at), max(created_at), null, (min((source_id, line)))[1],
               (min((source_id, line)))[2], min(unit)
        from staged_tool_calls
        where not in_case
        group by conversation_uid""")


def bring_conversations_of(connection: duckdb.DuckDBPyConnection, source_id: int) -> None:
    """Bring in the conversations of the calls of one file that went straight into their table."""
    known = connection.execute(
        "select 1 from conversations union all select 1 from staged_conversations limit 1"
    )
    target, unit = ("staged_conversations", ", null") if known.fetchone() else ("conversations", "")
    connection.execute(
        f"""
        insert into {target}
        select conversation_uid, any_value(tenant), any_value(key_space), any_value(conversation_id), min(source),
               min(model), min(style), min(created_at), max(created_at), null, $source_id, min(line){unit}
        from tool_calls
        where source_id = $source_id and not in_case
        group by conversation_uid""",
        {"source_id": source_id},
    )


def _merge_conversations(connection: duckdb.DuckDBPyConnection) -> None:
    run = connection.execute
    names = ", ".join(columns_of(connection, "conversations"))
    run("""
        insert into statuses
        select unit, 2, case when row_number() over (partition by conversation_uid
                                                     order by source_id, line, unit) = 1
                                  and conversation_uid not in (select conversation_uid from conversations)
                             then 'loaded' else 'unchanged' end
        from staged_conversations
        where unit is not null""")
    run(f"""
        create or replace temp table folded as
        select conversation_uid, min(tenant) as tenant, min(key_space) as key_space,
               min(conversation_id) as conversation_id, min(source) as source, min(model) as model,
               min(style) as style, min(started_at) as started_at, max(ended_at) as ended_at,
               list_sort(list_distinct(flatten(list(offered) filter (where offered is not null)))) as offered,
               (min((source_id, line)))[1] as source_id, (min((source_id, line)))[2] as line
        from (select {names} from conversations
              where conversation_uid in (select conversation_uid from staged_conversations)
              union all select {names} from staged_conversations)
        group by conversation_uid
        except
        select {names} from conversations
        where conversation_uid in (select conversation_uid from staged_conversations)""")
    run("delete from conversations where conversation_uid in (select conversation_uid from folded)")
    run(f"insert into conversations select {names} from folded")


def _merge_messages(connection: duckdb.DuckDBPyConnection) -> None:
    """A message that is written again, more complete, replaces the earlier one."""
    if _take_all(connection, "messages", "conversation_uid, position", 1):
        return
    run = connection.execute
    columns = list(columns_of(connection, "messages"))
    names = ", ".join(columns)
    content = [name for name in columns if name not in BOOKKEEPING]
    known = " + ".join(f"({name} is not null)::integer" for name in content)
    run(f"""
        create or replace temp table ranked as
        select *, row_number() over (
                      partition by conversation_uid, position
                      order by {known} desc, coalesce(length(text), 0) + coalesce(length(content), 0) desc,
                               content_hash desc, source_id, line, unit nulls first) as place,
               row_number() over (
                      partition by conversation_uid, position, content_hash
                      order by unit nulls first) as copy,
               row_number() over (partition by conversation_uid, position
                      order by unit nulls first) as arrival
        from (select {names}, unit, md5(concat_ws(chr(31), {
        ", ".join(f"coalesce({n}::varchar, chr(30))" for n in content)
    }))
                     as content_hash
              from (select {names}, null::bigint as unit from messages
                    where (conversation_uid, position) in (
                        select (conversation_uid, position) from staged_messages)
                    union all select {names}, unit from staged_messages))""")
    run("""
        insert into statuses
        select unit, 1, case when copy > 1 then 'unchanged' when arrival > 1 then 'merged' else 'loaded' end
        from ranked where unit is not null""")
    run("""
        delete from messages where (conversation_uid, position) in (
            select (conversation_uid, position) from ranked)""")
    run(f"insert into messages select {names} from ranked where place = 1")


def _merge_definitions(connection: duckdb.DuckDBPyConnection) -> None:
    run = connection.execute
    run("""
        insert into statuses
        select unit, 2, case when row_number() over (partition by digest order by unit) = 1
                                  and digest not in (select digest from tool_definitions)
                             then 'loaded' else 'unchanged' end
        from staged_tool_definitions""")
    names = ", ".join(columns_of(connection, "tool_definitions"))
    run(f"""
        create or replace temp table folded as
        select digest, min(name) as name, min(description) as description, min(parameters) as parameters,
               min(effect) as effect, min(server) as server, min(first_at) as first_at,
               max(last_at) as last_at
        from (select {names} from tool_definitions
              where digest in (select digest from staged_tool_definitions)
              union all select {names} from staged_tool_definitions)
        group by digest""")
    run("delete from tool_definitions where digest in (select digest from folded)")
    run(f"insert into tool_definitions select {names} from folded")
