"""Labels that name a span alone: they find their call, whichever file came first, and never a wrong one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from span_making import TRACE, tool
from test_formats_otel_genai import STORY, WRAPPINGS

from quality_lab.store import Store

ROW: dict[str, Any] = {
    "id": "A1", "span_id": "0x2", "name": "review", "annotator_kind": "HUMAN", "result": {"label": "bad_args"}
}  # fmt: skip


@dataclass
class Placed:
    feedback_key: str
    key: str | None
    conversation: bool
    tool_name: str | None


def placed(store: Store) -> list[Placed]:
    """Return each label with the key of the call that it stands on."""
    return store.ask(
        Placed,
        """
        select f.key as feedback_key, t.key, f.tool_name,
               f.conversation_uid is not distinct from t.conversation_uid as conversation
        from feedback f left join tool_calls t using (call_uid) order by 1""",
    )


def files(tmp_path: Path, **documents: Any) -> dict[str, Path]:
    paths = {}
    for name, document in documents.items():
        paths[name] = tmp_path / f"{name}.json"
        paths[name].write_text(json.dumps(document))
    return paths


@pytest.mark.parametrize("order", list(permutations(["spans", "labels"])))
@pytest.mark.parametrize("at_once", [True, False])
def test_a_label_finds_the_call_of_its_span_in_any_order(
    tmp_path: Path, order: tuple[str, ...], at_once: bool
) -> None:
    paths = files(tmp_path, spans=[tool(2, "look", {}, "ok"), tool(3, "look", {}, "ok")], labels=[ROW])
    store = Store(tmp_path / "home")

    for batch in [order] if at_once else [(name,) for name in order]:
        store.load([paths[name] for name in batch])

    assert placed(store) == [Placed("A1", f"{TRACE}:{2:016x}", True, "look")]


def test_loading_the_labels_again_changes_nothing_and_contradicts_nothing(tmp_path: Path) -> None:
    paths = files(tmp_path, spans=[tool(2, "look", {}, "ok")], labels=[ROW], again=[ROW, ROW])
    store = Store(tmp_path / "home")
    store.load([paths["labels"]])
    store.load([paths["spans"]])

    store.load([paths["again"]])

    assert placed(store) == [Placed("A1", f"{TRACE}:{2:016x}", True, "look")]
    assert store.rejects() == []


def test_a_span_id_that_two_traces_share_places_nothing(tmp_path: Path) -> None:
    other = {**tool(2, "look", {}, "ok"), "trace_id": "f" * 32}
    paths = files(tmp_path, spans=[tool(2, "look", {}, "ok"), other], labels=[ROW])
    store = Store(tmp_path / "home")

    store.load([paths["spans"], paths["labels"]])

    assert placed(store) == [Placed("A1", None, True, None)]


def test_the_tenant_of_a_label_is_that_of_its_call(tmp_path: Path) -> None:
    paths = files(tmp_path, spans=[tool(2, "look", {}, "ok")], labels=[ROW])
    store = Store(tmp_path / "home")

    store.load([paths["spans"]], tenant="one")
    store.load([paths["labels"]], tenant="two")

    assert [one.key for one in placed(store)] == [None]


@dataclass
class Counted:
    calls: int
    conversations: int
    messages: int


def test_one_trace_out_of_ten_exporters_is_one_conversation_with_one_call(tmp_path: Path) -> None:
    store = Store(tmp_path / "home")
    paths = files(tmp_path, **{name.replace(" ", "_"): wrap(STORY) for name, wrap in WRAPPINGS.items()})

    reports = store.load(list(paths.values())).files

    found = store.ask(
        Counted,
        """select (select count(*) from tool_calls) as calls, (select count(*) from conversations) as conversations,
                  (select count(*) from messages) as messages""",
    )
    assert len(reports) == len(WRAPPINGS) == 10
    assert {one.format for one in reports} == {"otel_genai"}
    assert found == [Counted(calls=1, conversations=1, messages=4)]
    assert store.rejects() == []
