"""Upstream's preview and query strings against the golden vectors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quality_lab.errors import UsageError
from quality_lab.metrics import Filters
from quality_lab.proposals import CompatQueryError, compat_preview, parse_compat_query
from quality_lab.store import Store


def answered(store: Store, query: dict[str, str]) -> tuple[int, dict]:
    """Return status and body as upstream's endpoint would give them."""
    try:
        asked = parse_compat_query(query)
    except CompatQueryError as refused:
        return 400, refused.body
    filters = Filters.of(tool=asked.tool_name, source=asked.source, label=asked.label, error=asked.error)
    return 200, {"items": compat_preview(store, filters=filters, limit=asked.limit)}


def previews_of(name: str, shared: Path, tmp_path: Path) -> int:
    """Return how many previews of the golden set *name* were compared with upstream's."""
    folder = shared / "golden" / "proposals"
    store = Store(tmp_path / name)
    loaded = store.load([folder / "sets" / f"{name}.jsonl"], format="quality_lab.feedback")
    assert [one.status for one in loaded.files] == ["loaded"], name
    vectors = json.loads((folder / "expected" / f"{name}.json").read_text("utf-8"))
    for vector in vectors:
        status, body = answered(store, vector["query"])
        assert (status, body) == (vector["status"], vector["body"]), (name, vector["query"])
        assert [list(one) for one in body.get("items", ())] == [
            list(one) for one in vector["body"].get("items", ())
        ]
    return len(vectors)


@pytest.mark.parametrize("name", ["limits", "notes-mixed", "severity-edges", "ties-by-errors", "bad-queries"])
def test_a_preview_equals_upstreams(shared, tmp_path, name):
    assert previews_of(name, shared, tmp_path) > 0


@pytest.mark.slow  # a load for each of the forty sets
def test_every_preview_equals_upstreams(shared, tmp_path):
    names = sorted(path.stem for path in (shared / "golden" / "proposals" / "expected").glob("*.json"))

    assert sum(previews_of(name, shared, tmp_path) for name in names) == 114


def test_every_query_string_gives_upstreams_filters_or_its_error(shared):
    vectors = json.loads((shared / "golden" / "proposals" / "queries.json").read_text("utf-8"))
    for vector in vectors:
        try:
            found = {"filters": parse_compat_query(vector["query"], endpoint=vector["endpoint"]).filters()}
        except CompatQueryError as refused:
            found = refused.body
        expected = {name: vector[name] for name in ("filters", "error") if name in vector}
        assert found == expected, vector

    assert len(vectors) == 102


@pytest.mark.parametrize(
    ("text", "limit"),
    [("0b11", 3), ("0o17", 15), ("5.", 5), (".5e1", 5), ("\xa07\ufeff", 7), ("+3", 3), ("500", 500)],
)
def test_a_limit_is_read_as_javascript_reads_numbers(text, limit):
    assert parse_compat_query({"limit": text}).limit == limit


@pytest.mark.parametrize(
    "text", ["-1", "1_0", "\x857", "0x", "5e", "１", "Infinity", "--3", "0x" + "f" * 400]
)
def test_a_limit_that_javascript_would_not_read_or_upstream_not_allow_is_refused(text):
    with pytest.raises(CompatQueryError, match="invalid limit"):
        parse_compat_query({"limit": text})


def test_an_endpoint_that_there_is_not_is_refused():
    with pytest.raises(UsageError, match="no endpoint 'everything'"):
        parse_compat_query({}, endpoint="everything")


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": 501}, {"filters": Filters.of(style="calm")}])
def test_what_upstream_does_not_know_is_refused(tmp_path, wrong):
    with pytest.raises(UsageError):
        compat_preview(Store(tmp_path), **wrong)
