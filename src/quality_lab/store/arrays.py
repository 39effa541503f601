"""Columns as Arrow arrays, without the detour over pandas that Arrow takes to look at a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from quality_lab.formats.columns import Choices, Column, Flags, Numbers, Texts, texts
from quality_lab.store.row_values import clean

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # for times in UTC that do not say so, as tables keep them
_EPOCH_OF_UTC = _EPOCH.replace(tzinfo=UTC)


def once(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatchReader:
    """Return *batches* to be read once and let go.

    A table that was registered is held by DuckDB until its transaction ends, unregistered or not.
    """
    return pa.RecordBatchReader.from_batches(schema, batches)


def array_of(column: Column) -> pa.Array:
    """Return *column* as an Arrow array that shares its memory where it can."""
    match column:
        case Numbers(values, known):
            kind = pa.int64() if values.dtype == np.int64 else pa.float64()
            return pa.Array.from_buffers(kind, len(values), [_bits(known), pa.py_buffer(values)])
        case Texts(utf8, lengths, known):
            buffers = [_bits(known), _offsets(lengths), pa.py_buffer(utf8)]
            return pa.Array.from_buffers(pa.large_string(), len(lengths), buffers)
        case Flags(values, known):
            return pa.Array.from_buffers(pa.bool_(), len(values), [_bits(known), _bits(values)])
        case Choices(words, chosen):
            buffers = [_bits(chosen >= 0), pa.py_buffer(np.maximum(chosen, 0))]
            index = pa.int8() if chosen.dtype == np.int8 else pa.int32()
            kind = pa.dictionary(index, pa.large_string())
            return pa.DictionaryArray.from_buffers(kind, len(chosen), buffers, array_of(texts(list(words))))


def array_from(kind: str, values: Sequence[Any]) -> pa.Array:
    """Return Python *values* as an Arrow array that DuckDB can cast to its type *kind*; None is null."""
    count, first = len(values), values[0]
    if first is values[-1] and (first is None or isinstance(first, str)) and values.count(first) == count:
        if first is None:
            return pa.nulls(count)
        return array_of(Choices((_text(first),), np.zeros(count, np.int8)))
    known = None
    if None in values:
        known = np.array([value is not None for value in values], np.bool_)
    if kind == "VARCHAR[]":
        lengths = np.array([len(value or ()) for value in values], np.int64)
        items = array_of(_texts(list(chain.from_iterable(value or () for value in values))))
        buffers = [_bits(known), _offsets(lengths)]
        return pa.Array.from_buffers(pa.large_list(pa.large_string()), len(values), buffers, children=[items])
    if kind == "TIMESTAMP" and not any(isinstance(value, str) for value in values):
        moments = np.fromiter(map(_microseconds, values), np.int64, count)
        return pa.Array.from_buffers(pa.timestamp("us"), len(values), [_bits(known), pa.py_buffer(moments)])
    if kind in ("INTEGER", "BIGINT"):
        return array_of(Numbers(np.array([value or 0 for value in values], np.int64), known))
    if kind == "DOUBLE":
        return array_of(Numbers(np.array([value or 0.0 for value in values], np.float64), known))
    if kind == "BOOLEAN":
        return array_of(Flags(np.array([bool(value) for value in values], np.bool_), known))
    if known is not None:
        values = ["" if value is None else value for value in values]
    return array_of(_texts(values)._replace(known=known))


def _texts(values: Sequence[Any]) -> Texts:
    """Return *values* as a column of texts that UTF-8 can hold."""
    try:
        return texts(values)
    except (TypeError, UnicodeEncodeError):
        return texts(list(map(_text, values)))


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else clean(str(value))


def _microseconds(moment: datetime | None) -> int:
    """Return how many microseconds *moment*, in UTC, is after the beginning of 1970."""
    if moment is None:
        return 0
    since = moment - (_EPOCH if moment.tzinfo is None else _EPOCH_OF_UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _offsets(lengths: NDArray[np.int64]) -> pa.Buffer:
    ends = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    return pa.py_buffer(ends)


def _bits(known: NDArray[np.bool_] | None) -> pa.Buffer | None:
    return None if known is None else pa.py_buffer(np.packbits(known, bitorder="little"))
