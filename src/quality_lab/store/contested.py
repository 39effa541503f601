"""Calls and labels that came in more than one version: merged into one row, or set aside together.

`versions` keeps every version of such a row, so that the outcome is a function of the set of versions and not
of the order in which they came.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import duckdb

from quality_lab.store.batches import append, columns_of, fetch_rows
from quality_lab.store.folding import Folded, Row

BOOKKEEPING = ("source_id", "line", "in_trace", "in_feedback", "in_case")
_VERSION_COLUMNS = {
    "kind": "VARCHAR",
    "uid": "UUID",
    "content": "VARCHAR",
    "conflicting": "BOOLEAN",
    "source_id": "BIGINT",
    "line": "BIGINT",
}
_CHUNK = 20_000
FIRST_OF_TRANSACTION = (
    36_028_797_018_960_000  # DuckDB numbers the rows a transaction has inserted from here on
)


@dataclass(slots=True)
class _Version:
    """A version of a row, and what it says."""

    row: dict[str, object]
    unit: int | None = None  # that brought it; None is an earlier load
    content: str = field(init=False)

    def __post_init__(self) -> None:
        self.content = _content(self.row)


@dataclass(slots=True)
class _Versions:
    """The versions of one row, each content once."""

    known: list[_Version] = field(default_factory=list)
    fresh: list[_Version] = field(default_factory=list)

    def distinct(self) -> list[dict[str, object]]:
        """Return one version per content, with the sightings of all its copies and the least origin."""
        found: dict[str, dict[str, object]] = {}
        for version in [*self.known, *self.fresh]:
            row = version.row
            if version.content not in found:
                found[version.content] = dict(row)
                continue
            twin = found[version.content]
            if _origin_rank(row) < _origin_rank(twin):
                twin["source_id"], twin["line"] = row["source_id"], row["line"]
            for flag in BOOKKEEPING[2:]:
                if flag in twin:
                    twin[flag] = bool(twin[flag]) or bool(row[flag])
        return [found[content] for content in sorted(found)]


def settle(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    key: str,
    weight: int,
    fold: Callable[[Sequence[Row]], Folded],
) -> None:
    """Weigh all versions of the rows named in the temporary table `contested`, and write what they come to.

    Reads the new versions from the staging table; adds to `statuses`.
    """
    uids = [uid for (uid,) in connection.execute("select distinct * from contested order by 1").fetchall()]
    columns = columns_of(connection, table)
    for start in range(0, len(uids), _CHUNK):
        some = {"uids": uids[start : start + _CHUNK], "kind": table}
        groups = _gather(connection, table, key, list(columns), some)
        rows: list[list[object]] = []
        versions: list[list[object]] = []
        statuses: list[list[object]] = []
        for uid, group in groups.items():
            distinct = group.distinct()
            folded = fold(distinct)
            if folded.row is not None:
                rows.append([folded.row[name] for name in columns])
            if len(distinct) > 1:
                for one in distinct:
                    # a copy in a case says nothing against an export
                    against = (
                        folded.row is None and (one.get("in_trace") or one.get("in_feedback")) is not False
                    )
                    versions.append(
                        [table, uid, json.dumps(one, sort_keys=True), against, one["source_id"], one["line"]]
                    )
            statuses += [[unit, weight, status] for unit, status in _statuses(group, folded)]
        connection.execute(
            f"delete from {table} where {key} in (select unnest($uids))", {"uids": some["uids"]}
        )
        connection.execute("delete from versions where kind = $kind and uid in (select unnest($uids))", some)
        append(connection, table, columns, rows)
        append(connection, "versions", _VERSION_COLUMNS, versions)
        append(connection, "statuses", {"unit": "BIGINT", "weight": "INTEGER", "status": "VARCHAR"}, statuses)


def _gather(
    connection: duckdb.DuckDBPyConnection, table: str, key: str, names: list[str], some: Mapping[str, object]
) -> dict[str, _Versions]:
    groups: dict[str, _Versions] = {}
    listed = ", ".join(names)
    only = {"uids": some["uids"]}
    recounted: list[list[object]] = []
    for row in _in_table(connection, table, key, listed, only):
        unit = row.pop("unit")
        group = groups.setdefault(str(row[key]), _Versions())
        if isinstance(unit, int):  # laid down by this load, and as new as what it is contested by
            group.fresh.append(_Version(row, unit))
            recounted.append([unit])
        else:
            group.known.append(_Version(row))
    append(connection, "recounted", {"unit": "BIGINT"}, recounted)
    several: set[str] = set()
    for (text,) in connection.execute(
        "select content from versions where kind = $kind and uid in (select unnest($uids))", dict(some)
    ).fetchall():
        version = json.loads(text)
        group = groups.setdefault(str(version[key]), _Versions())
        if str(version[key]) not in several:  # the row in the table is what they came to, not one of them
            group.known.clear()
            several.add(str(version[key]))
        group.known.append(_Version(version))
    for row in fetch_rows(
        connection,
        f"""
        select {listed}, unit from staged_{table} where {key} in (select unnest($uids))
        order by source_id, line, unit""",
        only,
    ):
        unit = row.pop("unit")
        assert isinstance(unit, int)  # a bigint column
        groups.setdefault(str(row[key]), _Versions()).fresh.append(_Version(row, unit))
    for group in groups.values():
        # counted as they were read, whatever their paths are; what a trace says before what repeats it
        group.fresh.sort(key=lambda version: (_origin_rank(version.row)[0], version.unit))
    return groups


def _in_table(
    connection: duckdb.DuckDBPyConnection, table: str, key: str, listed: str, only: Mapping[str, object]
) -> list[dict[str, object]]:
    """Return the rows of *table* that are contested, each with its unit if `bulk` laid it down in this load.

    Which they are is asked of the keys alone, so that no text is read of any other.
    """
    unit = "null"
    if table == "tool_calls":
        # a unit of a bulk file that has no status yet went straight into the table, if its row is of this
        # load
        unit = f"""
            (select min(b.first_unit) + t.line - 1 from bulk_files b
             where b.source_id = t.source_id and t.rowid >= {FIRST_OF_TRANSACTION}
               and b.first_unit + t.line - 1 not in (select unit from statuses where unit is not null))"""
    sql = f"""
        with picked as materialized (
            select rowid, {listed} from {table}
            where rowid in (select rowid from {table} where {key} in (select unnest($uids)))
        )
        select {listed}, {unit} as unit from picked t"""
    return fetch_rows(connection, sql, only)


def _statuses(group: _Versions, folded: Folded) -> list[tuple[int | None, str]]:
    met = {version.content for version in group.known}
    found: list[tuple[int | None, str]] = []
    for version in group.fresh:
        if folded.row is None:
            found.append((version.unit, "rejected"))
        elif version.content in met:
            found.append((version.unit, "unchanged"))
        else:
            found.append((version.unit, "merged" if met else "loaded"))
        met.add(version.content)
    return found


def _content(row: Mapping[str, object]) -> str:
    return json.dumps({name: value for name, value in row.items() if name not in BOOKKEEPING}, sort_keys=True)


def _origin_rank(row: Mapping[str, object]) -> tuple[bool, int, int]:
    source_id, line = row["source_id"], row["line"]
    assert isinstance(source_id, int)  # columns that are never null
    assert isinstance(line, int)
    return (not row.get("in_trace", True), source_id, line)
