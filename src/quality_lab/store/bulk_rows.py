"""Batches of lines as rows of tables: what `rows.row_of` makes of one record, by the column and in SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

import duckdb
import pyarrow as pa

from quality_lab.formats.columns import Batch, Column, Numbers
from quality_lab.records import Feedback, ToolCall
from quality_lab.store.arrays import array_of
from quality_lab.store.bulk_outcomes import BulkOutcomes

_LABEL = "label_"  # before the names of a label's fields, which share a batch with those of its call


def arrow_batch(batch: Batch, outcomes: BulkOutcomes) -> pa.RecordBatch:
    """Return *batch* as Arrow, with what the cache says of each call besides."""
    outcome, gate_reason, empty_result = outcomes.of(batch)
    columns: dict[str, Column] = {
        "line": Numbers(batch.lines),
        **batch.calls,
        "outcome": outcome,
        "gate_reason": gate_reason,
        "empty_result": empty_result,
        **{_LABEL + name: column for name, column in (batch.feedback or {}).items()},
    }
    return pa.RecordBatch.from_arrays(list(map(array_of, columns.values())), names=list(columns))


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """Rows of one table out of batches: SQL for each of the table's columns, and the values it names."""

    expressions: Mapping[str, str]
    values: Mapping[str, object]

    def insert(
        self, connection: duckdb.DuckDBPyConnection, table: str, origin: str, *, first_unit: int | None = None
    ) -> int:
        """Lay the rows of *origin* into *table*, with their units where there is a first; return how many."""
        names, expressions, values = (
            list(self.expressions),
            list(self.expressions.values()),
            dict(self.values),
        )
        if first_unit is not None:
            names.append("unit")
            expressions.append("$first_unit + line - 1")
            values["first_unit"] = first_unit
        sql = f"insert into {table} ({', '.join(names)}) select {', '.join(expressions)} from {origin}"
        (count,) = connection.execute(sql, values).fetchone() or (0,)
        return int(count)


def call_rows(batch: Batch, columns: Mapping[str, str], *, tenant: str, source_id: int) -> Rows:
    """Return how the calls of batches like *batch* fill a table's *columns* (name → type)."""
    key_space, seen_in = batch.same["key_space"], batch.same["seen_in"]
    special = {
        "call_uid": _uid("key"),
        "conversation_uid": _uid("conversation_id"),
        "in_trace": str(seen_in == "trace"),
        "in_feedback": str(seen_in == "feedback"),
        "in_case": str(seen_in == "case"),
        "outcome": "outcome",
        "gate_reason": "gate_reason",
        "empty_result": "empty_result",
    }
    values = {
        "space": _counted(tenant, key_space),
        **_defaults(ToolCall),
        **batch.same,
        "tenant": tenant,
        "source_id": source_id,
    }
    return _rows(columns, batch.calls, special, values, before="")


def feedback_rows(batch: Batch, columns: Mapping[str, str], *, tenant: str, source_id: int) -> Rows:
    """Return how the labels of batches like *batch* fill a table's *columns* (name → type)."""
    key_space, target = batch.same["key_space"], batch.same["target_key_space"]
    special = {
        "feedback_uid": _uid(f"{_LABEL}key"),
        "call_uid": _uid(f"{_LABEL}call_key", "target"),
        "conversation_uid": _uid(f"{_LABEL}conversation_id", "target"),
    }
    values = {
        "space": _counted(tenant, key_space),
        "target": _counted(tenant, target),
        **_defaults(Feedback),
        **batch.same,
        "tenant": tenant,
        "source_id": source_id,
    }
    return _rows(columns, batch.feedback or {}, special, values, before=_LABEL)


def _rows(
    columns: Mapping[str, str],
    given: Mapping[str, Column],
    special: Mapping[str, str],
    values: Mapping[str, object],
    *,
    before: str,
) -> Rows:
    expressions: dict[str, str] = {}
    for name, kind in columns.items():
        if name == "unit":  # it has a column in staging tables alone; see `Rows.insert`
            continue
        if name in special:
            expressions[name] = special[name]
        elif name == "line":
            expressions[name] = name
        elif name not in given:
            expressions[name] = f"${name}" if values[name] is not None else f"null::{kind}"
        elif kind == "TIMESTAMP":
            expressions[name] = f"make_timestamp({before}{name} * 1_000_000)"
        else:
            expressions[name] = f"{before}{name}::{kind}"
    named = sorted(set(re.findall(r"\$(\w+)", " ".join(expressions.values()))))
    return Rows(expressions=expressions, values={name: values[name] for name in named})


def _uid(key: str, space: str = "space") -> str:
    """Return SQL for `rows.uid` of tenant, key space and a whole number."""
    return f"md5_number(concat(${space}, length({key}::varchar), ':', {key}))::uuid"


def _counted(*parts: str) -> str:
    return "".join(f"{len(part)}:{part}" for part in parts)


def _defaults(record: type[ToolCall] | type[Feedback]) -> dict[str, object]:
    return {field.name: field.default for field in fields(record)}
