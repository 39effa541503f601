"""Rows laid into a table: the same whether they are few or many, whatever stands in them."""

from __future__ import annotations

from datetime import UTC, datetime

import duckdb
import pytest

from quality_lab.store.batches import append

MOMENT = datetime(2026, 5, 4, 3, 40, 2, 123_456, UTC)
BEFORE_1970 = datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC).replace(tzinfo=None)  # as tables keep times
COLUMNS = {
    "number": "BIGINT",
    "said": "VARCHAR",
    "kind": "VARCHAR",
    "nothing": "VARCHAR",
    "moment": "TIMESTAMP",
    "uid": "UUID",
}


@pytest.mark.parametrize("rows", [3, 1_500])
def test_texts_are_cleaned_and_times_lose_their_zone_however_many_rows_there_are(rows: int) -> None:
    connection = duckdb.connect()
    connection.execute("set timezone = 'Asia/Bangkok'")
    connection.execute(f"create table held ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())})")
    texts = ["cut \ud83d here", None, "städte"]
    moments = [MOMENT, None, BEFORE_1970]
    uid = "0123456789abcdef0123456789abcdef"
    given = [
        (number, texts[number % 3], "same \udc00", None, moments[number % 3], uid) for number in range(rows)
    ]

    append(connection, "held", COLUMNS, given)

    found = connection.execute(
        "select said, kind, nothing, moment, uid::varchar from held order by number"
    ).fetchall()
    rest = ("same \ufffd", None)
    end = "01234567-89ab-cdef-0123-456789abcdef"
    assert found[:3] == [
        ("cut \ufffd here", *rest, MOMENT.replace(tzinfo=None), end),
        (None, *rest, None, end),
        ("städte", *rest, BEFORE_1970, end),
    ]
    assert found == [found[place % 3] for place in range(rows)]
