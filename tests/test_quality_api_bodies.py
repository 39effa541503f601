"""The bodies of write requests against what upstream made of the same ones, and what its limits mean."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quality_lab.quality_api.bodies import BodyError, create_filters, label_body, status_change


def vectors(shared: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((shared / "golden/proposals" / name).read_text("utf-8"))
    return found


def outcome(rule: Callable[[Any], dict[str, Any]], body: Any) -> dict[str, Any]:
    """Return what *rule* makes of a body, in the words of a vector."""
    try:
        return rule(body)
    except BodyError as error:
        return dict(error.body)


def label_vector(body: Any) -> dict[str, Any]:
    found = label_body(body)
    return {"label": found.label, "note": found.note}


def status_vector(body: Any) -> dict[str, Any]:
    found = status_change(body)
    return {"status": found.status, "decided": found.decided, "resolution": found.resolution}


@pytest.mark.parametrize(
    ("name", "rule", "count"),
    [
        ("create-bodies.json", lambda body: {"filters": create_filters(body)}, 34),
        ("feedback-bodies.json", label_vector, 16),
        ("status-changes.json", status_vector, 48),
    ],
)
def test_every_body_is_read_as_upstream_reads_it(shared, name, rule, count):
    found = vectors(shared, name)

    assert len(found) == count
    wanted = [{key: value for key, value in vector.items() if key != "body"} for vector in found]
    assert [outcome(rule, vector["body"]) for vector in found] == wanted


@pytest.mark.parametrize(
    ("limit", "rows"),
    [(True, 1), ([3], 3), ([[" 7 "]], 7), ("0x1F", 31), ("1e2", 100), (500, 500), (2.0, 2), (None, 100)],
)
def test_a_limit_is_what_javascript_takes_for_a_number(limit, rows):
    assert create_filters({"limit": limit}) == {"limit": rows}


@pytest.mark.parametrize("limit", [False, 501, "1_0", [1, 2], [None], [True], {"a": 1}, "\x855", 10**400, -1])
def test_a_limit_that_is_none_is_refused(limit):
    with pytest.raises(BodyError, match=r"^invalid limit$"):
        create_filters({"limit": limit})


@pytest.mark.parametrize(
    ("length", "fits"), [(1000, True), (1001, False)], ids=["two thousand units", "two more"]
)
def test_the_length_of_a_note_counts_utf_16_units_after_trimming(length, fits):
    body = {"label": "other", "note": " " + "\U0001f6b2" * length + "\ufeff"}

    assert (outcome(label_vector, body).get("error") is None) is fits


@pytest.mark.parametrize("name", ["kind", "ref", "url", "note"])
def test_each_word_of_a_resolution_has_its_own_limit(name):
    most = {"kind": 64, "ref": 500, "url": 1000, "note": 2000}[name]
    body = {"status": "dismissed", "resolution": {name: "x" * (most + 1)}}

    assert outcome(status_vector, body) == {"error": f"resolution.{name} must be at most {most} characters"}


def test_a_resolution_of_blanks_is_none():
    body = {"status": "dismissed", "resolution": {"kind": " ", "ref": "", "url": None, "note": "\ufeff"}}

    assert status_vector(body)["resolution"] is None


@pytest.mark.parametrize("body", [None, [], "x", 7])
def test_a_body_that_is_no_object_says_nothing(body):
    assert create_filters(body) == {"limit": 100}
    assert outcome(label_vector, body)["error"].startswith("label must be one of")
    assert outcome(status_vector, body)["error"].startswith("status must be one of")
