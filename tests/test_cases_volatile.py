"""Arguments that are new in every call are found by comparing calls, and what the agent was told is kept."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from quality_lab.cases.volatile import loosened, volatile_paths
from quality_lab.metrics.argument_samples import ArgumentSample

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
UUIDS = [f"0d5c8a7e-1111-4222-8333-00000000000{number}" for number in range(3)]


def samples(*values: Any) -> list[ArgumentSample]:
    return [ArgumentSample(arguments=json.dumps({"x": value, "sum": 5}), created_at=NOON) for value in values]


@pytest.mark.parametrize(
    ("values", "is_volatile"),
    [
        (UUIDS, True),
        (["req_8f3a9c02b7d14e56", "req_1c9e7730aa5b4d21", "req_90b1cd23ef456789"], True),
        (["2026-06-01T12:00:03Z", "2026-06-01T09:00:00Z", "2026-06-01T10:30:00Z"], True),
        ([1780315201, 1780315000, 1780314000], True),
        ([1780315201000, 1780315000000, 1780314000000], True),
        (UUIDS[:2], False),  # two calls say nothing about every
        ([UUIDS[0], UUIDS[1], UUIDS[0]], False),  # one came twice
        (
            ["2026-06-02T18:00:00Z", "2026-06-03T18:00:00Z", "2026-06-04T18:00:00Z"],
            False,
        ),  # a time wished for
        (["2026-06-01", "2026-06-02", "2026-06-03"], False),
        (["mia_li_3668", "ivan_muller_7015", "yara_garcia_1905"], False),
        (["credit_card_4421486", "gift_card_8516878", "certificate_7504069"], False),
        ([125, 250, 375], False),
    ],
)
def test_what_looks_made_up_and_never_repeats_is_volatile(values: list[Any], is_volatile: bool) -> None:
    found = volatile_paths({"x": values[0], "sum": 5}, samples(*values), told="", called_at=NOON)

    assert found == ({("x",)} if is_volatile else set())


def test_what_the_agent_was_told_is_not_volatile() -> None:
    told = f'{{"order":"{UUIDS[0]}"}}'

    assert volatile_paths({"x": UUIDS[0]}, samples(*UUIDS), told=told, called_at=NOON) == set()


def test_a_time_is_now_only_where_it_is_known_when_the_call_was_made() -> None:
    times = samples("2026-06-01T12:00:03Z", "2026-06-01T09:00:00Z", "2026-06-01T10:30:00Z")

    assert volatile_paths({"x": "2026-06-01T12:00:03Z"}, times, told="", called_at=None) == set()


def test_a_forbidden_call_keeps_what_alone_tells_it_from_a_right_one() -> None:
    assert loosened({"x": UUIDS[0]}, {("x",)}, keep_one=True) == {"x": UUIDS[0]}
    assert loosened({"x": UUIDS[0], "sum": 5}, {("x",)}, keep_one=True) == {"x": {"$any": True}, "sum": 5}
    assert loosened({"x": UUIDS[0]}, {("x",)}) == {"x": {"$any": True}}
    assert loosened({"meta": {"x": UUIDS[0]}}, {("meta", "x")}) == {"meta": {"x": {"$any": True}}}
