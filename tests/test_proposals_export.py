"""Proposals, labels and cases of upstream, in and out without loss."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from hypothesis import given, settings
from hypothesis import strategies as st
from lab_builder import MONDAY, LabBuilder

from quality_lab.lab import Lab, open_lab

NINE = int(MONDAY.timestamp()) + 3600
KINDS = {"bad_args": "schema_fix", "wrong_tool": "routing_prompt_fix", "missing_tool": "tool_candidate"}
RESOLUTIONS = (
    *("prompt_patch", "tool_schema_patch", "regression_case", "coach_proposal"),
    *("shadow_eval", "pull_request", "other"),
)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in records), encoding="utf-8")
    return path


words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)
maybe = st.none() | words
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
seconds = st.integers(1, 2**31)
resolutions = st.none() | st.fixed_dictionaries(
    {"kind": st.none() | st.sampled_from(RESOLUTIONS), "ref": maybe, "url": maybe, "note": maybe}
)


@st.composite
def tracked(draw: st.DrawFn, number: int) -> dict[str, Any]:
    """A proposal as upstream tracks it, with keys in its order."""
    label = draw(st.sampled_from(sorted(KINDS)))
    status = draw(st.sampled_from(["pending", "applied", "dismissed"]))
    tool, source = (
        f"tool_{number}",
        draw(st.sampled_from(["rag_reply", "llm_reply", "admin_sim", "self_play"])),
    )
    call = {
        "id": 7000 + number, "conversationId": 5, "contactId": None, "messageId": None, "outboundQueueId": None,
        "source": source, "toolName": tool, "args": draw(st.dictionaries(words, values, max_size=2)),
        "result": draw(values), "error": draw(st.booleans()), "cycle": 0, "toolCallIndex": 0, "latencyMs": None,
        "createdAt": draw(seconds),
    }  # fmt: skip
    feedback = {
        "id": 8000 + number, "toolCallId": 7000 + number, "adminId": 3, "label": label, "note": draw(maybe),
        "createdAt": draw(seconds),
    }  # fmt: skip
    return {
        "id": 100 + number, "fingerprint": f"{KINDS[label]}:{source}:{tool}:{label}", "kind": KINDS[label],
        "status": status, "severity": draw(st.sampled_from(["high", "medium", "low"])), "title": draw(words),
        "toolName": tool, "source": source, "label": label, "feedbackCount": draw(st.integers(0, 500)),
        "errorCount": draw(st.integers(0, 500)), "lastFeedbackAt": draw(st.none() | seconds),
        "summary": draw(words), "rationale": draw(st.lists(words, max_size=3)),
        "actionItems": draw(st.lists(words, max_size=3)),
        "examples": [{"feedback": feedback, "toolCall": call}] if draw(st.booleans()) else [],
        "createdAt": draw(seconds), "updatedAt": draw(seconds),
        "decidedAt": None if status == "pending" else draw(seconds),
        "decidedByAdminId": draw(st.none() | st.integers(1, 99)),
        "resolution": None if status == "pending" else draw(resolutions),
    }  # fmt: skip


@settings(max_examples=6)
@given(data=st.data(), count=st.integers(1, 6), as_items=st.booleans())
def test_tracked_proposals_come_out_as_they_went_in_key_for_key(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, count: int, as_items: bool
) -> None:
    home = tmp_path_factory.mktemp("home")
    came = [data.draw(tracked(number)) for number in range(count)]
    file = home / "proposals.json"
    if as_items:
        file.write_text(json.dumps({"items": came}, indent=1), encoding="utf-8")
    else:
        write(file, came)
    lab = open_lab(home)
    lab.load(file)

    written = lab.export_proposals(home / "out.jsonl", compat=True)

    went = lines(home / "out.jsonl")
    assert (written.rows, written.left_out) == (count, 0)
    newest_first = sorted(came, key=lambda one: (-one["updatedAt"], -one["id"]))
    assert went == newest_first
    assert [list(one) for one in went] == [list(one) for one in newest_first]

    again = open_lab(tmp_path_factory.mktemp("again"))
    again.load(home / "out.jsonl")
    again.export_proposals(home / "twice.jsonl", compat=True)
    assert (home / "twice.jsonl").read_bytes() == (home / "out.jsonl").read_bytes()


def test_the_demo_s_proposals_labels_and_cases_come_out_as_they_went_in(
    tmp_path: Path, repository: Path
) -> None:
    exports = repository / "data" / "demo" / "exports"
    lab = open_lab(tmp_path / "home")
    lab.load(exports)

    lab.export_proposals(tmp_path / "proposals.jsonl", compat=True)
    lab.export("feedback", tmp_path / "feedback.jsonl", compat=True)
    lab.export_cases(tmp_path / "cases.jsonl", status="all", compat=True)

    came = json.loads((exports / "improvement-proposals.json").read_text(encoding="utf-8"))["items"]
    assert sorted(lines(tmp_path / "proposals.jsonl"), key=lambda one: one["id"]) == sorted(
        came, key=lambda one: one["id"]
    )
    whole = {one["id"]: one for one in _whole_lines(exports / "tool-call-feedback.jsonl")}
    assert {one["id"]: one for one in lines(tmp_path / "feedback.jsonl")} == whole
    assert len(whole) == 95
    cases = {one["id"]: one for one in lines(exports / "tool-call-regression-cases.jsonl")}
    assert {one["id"]: one for one in lines(tmp_path / "cases.jsonl")} == cases
    assert len(cases) == 12


def _whole_lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of the feedback export that keep its promise; two are broken on purpose."""
    found = lines(path)
    return [one for one in found if "conversationId" in one and isinstance(one["label"], str)]


# ---- what was decided here ----


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A lab with a pending proposal that upstream tracks under 12, and one group that it does not."""
    builder = LabBuilder(tmp_path / "home")
    for tool in ("pay", "quote"):
        builder.label(builder.call(tool), "bad_args", author="3", note="as text")
    record = {
        "id": 12, "fingerprint": "schema_fix:rag_reply:pay:bad_args", "kind": "schema_fix", "status": "pending",
        "severity": "low", "title": "Tighten args for pay", "toolName": "pay", "source": "rag_reply",
        "label": "bad_args", "feedbackCount": 1, "errorCount": 0, "lastFeedbackAt": NINE, "summary": "",
        "rationale": [], "actionItems": [], "examples": [], "createdAt": NINE, "updatedAt": NINE,
        "decidedAt": None, "decidedByAdminId": None, "resolution": None,
    }  # fmt: skip
    builder.tracked(
        record["fingerprint"],
        "pending",
        key="12",
        record=json.dumps(record),
        updated_at=MONDAY + timedelta(hours=1),
    )
    builder.store()
    return open_lab(builder.home)


def exported(lab: Lab) -> dict[str, dict[str, Any]]:
    """Return the lab's export for upstream, by tool."""
    path = lab.home / "out.jsonl"
    lab.export_proposals(path, compat=True)
    return {one["toolName"]: one for one in lines(path)}


PR = {"kind": "pull_request", "ref": "PR-1"}
OTHER = {"kind": "other", "ref": "x"}
PR_ALONE = {"kind": "pull_request", "ref": "PR-1", "url": None, "note": None}


@pytest.mark.parametrize(
    ("taken", "status", "resolution"),
    [
        ([("accept", {})], "pending", None),
        ([("dismiss", {})], "dismissed", None),
        ([("dismiss", {"note": " wanted "})], "dismissed", {"kind": None, "ref": None, "url": None, "note": "wanted"}),
        ([("apply", PR)], "applied", PR_ALONE),
        ([("apply", PR), ("close", {})], "applied", PR_ALONE),
        ([("apply", PR), ("close", {"note": "it held"})], "applied", PR_ALONE | {"note": "it held"}),
        ([("apply", PR), ("close", OTHER)], "applied", PR_ALONE | OTHER),
        ([("close", {})], "applied", PR_ALONE | {"kind": "other", "ref": "closed without a reference"}),
        ([("apply", PR), ("dismiss", {})], "dismissed", None),
        ([("apply", PR), ("reopen", {}), ("accept", {"owner": "tomas"})], "pending", None),
    ],
)  # fmt: skip
def test_what_was_decided_here_goes_out_as_upstream_would_hold_it(
    lab: Lab, taken: list[tuple[Any, dict[str, str]]], status: str, resolution: dict[str, str | None] | None
) -> None:
    for action, given_ in taken:
        last = lab.decide("12", action, reviewer="8", **given_)

    one = exported(lab)["pay"]

    assert (one["status"], one["resolution"]) == (status, resolution)
    at = lab.decisions("12")[-1].decided_at
    assert last.in_lab
    assert one["updatedAt"] == int(at.timestamp())
    assert (one["decidedAt"], one["decidedByAdminId"]) == (
        (None, None) if status == "pending" else (int(at.timestamp()), 8)
    )
    assert (one["id"], list(one)[3], list(one)[-1]) == (12, "status", "resolution")


def test_every_kind_of_resolution_goes_out_and_comes_back(lab: Lab, tmp_path: Path) -> None:
    went = []
    for number, kind in enumerate(RESOLUTIONS):
        lab.decide("12", "apply", kind=kind, url="https://example.com/1", reviewer="8")
        tool = f"pay_{number}"
        fingerprint = f"schema_fix:rag_reply:{tool}:bad_args"
        went.append({**exported(lab)["pay"], "id": number + 1, "toolName": tool, "fingerprint": fingerprint})
    other = open_lab(tmp_path / "other")
    other.load(write(tmp_path / "out.jsonl", went))

    came = {row.tool_name: (row.state, row.kind, row.url, row.author) for row in other.followed()}

    assert came == {
        f"pay_{number}": ("applied", kind, "https://example.com/1", "8")
        for number, kind in enumerate(RESOLUTIONS)
    }


def test_what_upstream_says_later_wins_over_what_was_decided_here(lab: Lab, tmp_path: Path) -> None:
    lab.decide("12", "dismiss", reviewer="8")
    [came] = [exported(lab)["pay"]]
    later = {**came, "status": "applied", "updatedAt": 4_000_000_000, "decidedAt": 4_000_000_000}
    later["resolution"] = {"kind": "other", "ref": "x", "url": None, "note": None}
    lab.load(write(tmp_path / "later.jsonl", [later]))

    assert exported(lab)["pay"] == later


def test_a_case_answers_its_proposal_as_reg_and_its_id(tmp_path: Path, repository: Path) -> None:
    lab = open_lab(tmp_path / "home")
    lab.load(repository / "data" / "demo" / "exports")
    made = lab.case_from_proposal("12", again=True, reviewer="3")

    one = exported(lab)["compute_exchange_quote"]

    assert (one["status"], one["resolution"]["kind"], one["resolution"]["ref"]) == (
        "applied",
        "regression_case",
        f"REG-{made.id}",
    )


def test_a_group_that_upstream_does_not_track_goes_out_once_it_is_decided(lab: Lab) -> None:
    assert list(exported(lab)) == ["pay"]
    quote = "schema_fix:rag_reply:quote:bad_args"
    lab.decide(quote, "apply", **PR, reviewer="8")

    one = exported(lab)["quote"]

    assert (one["fingerprint"], one["status"], one["resolution"]) == (quote, "applied", PR_ALONE)
    assert 2**31 <= one["id"] < 2**53
    assert list(one) == list(exported(lab)["pay"])
    assert (one["feedbackCount"], one["title"]) == (1, "Tighten args for quote")
    assert [example["feedback"]["note"] for example in one["examples"]] == ["as text"]


def test_a_decided_group_that_upstream_cannot_hold_is_counted(lab: Lab, tmp_path: Path) -> None:
    builder = LabBuilder(tmp_path / "other")
    builder.label(builder.call("book", source=None), "bad_args")
    builder.store()
    chat = open_lab(builder.home)
    chat.decide(chat.proposals()[0].id, "dismiss", reviewer="8")

    written = chat.export_proposals(tmp_path / "out.jsonl", compat=True)

    assert (written.rows, written.left_out) == (0, 1)


def test_a_note_longer_than_upstream_takes_is_cut_without_breaking_a_character(lab: Lab) -> None:
    line = {
        "record_type": "decision",
        "fingerprint": "schema_fix:rag_reply:pay:bad_args",
        "action": "dismiss",
    }
    lab.journal.append("decisions", {**line, "note": "x" * 1999 + "\U0001f600"}, author="8")
    lab.load()

    note = exported(lab)["pay"]["resolution"]["note"]

    assert note == "x" * 1999  # the emoji is two UTF-16 units, and upstream takes 2,000


# ---- the lab's own lines, and the command ----


def test_the_own_export_holds_every_proposal_with_its_decisions_and_their_effect(
    lab: Lab, tmp_path: Path
) -> None:
    lab.decide("12", "apply", **PR, owner="tomas", expect="under 5 %", reviewer="8")

    ran = run("--home", lab.home, "export", "proposals", tmp_path / "own.jsonl", "--json")

    assert (ran.code, ran.document["rows"]) == (0, 2)
    found = {one["tool_name"]: one for one in lines(tmp_path / "own.jsonl")}
    assert [(one["action"], one["owner"]) for one in found["pay"]["decisions"]] == [("apply", "tomas")]
    assert found["pay"]["effect"]["verdict"] == "inconclusive"
    assert (found["quote"]["decisions"], found["quote"]["effect"]) == ([], None)


def test_the_command_writes_upstreams_lines_to_standard_output(lab: Lab) -> None:
    ran = run("--home", lab.home, "export", "proposals", "-", "--compat")

    assert (ran.code, json.loads(ran.out)["id"]) == (0, 12)
    assert run("--home", lab.home, "export", "proposals", "-", "--compat", "--json").code == 2


def test_of_several_tenants_one_has_to_be_named(lab: Lab, tmp_path: Path) -> None:
    lab.load(write(tmp_path / "north.jsonl", [exported(lab)["pay"] | {"title": "North"}]), tenant="north")

    refused = run("--home", lab.home, "export", "proposals", "-", "--compat")
    ran = run("--home", lab.home, "export", "proposals", "-", "--compat", "--tenant", "north")

    assert (refused.code, "default, north" in refused.err) == (2, True)
    assert json.loads(ran.out)["title"] == "North"


def test_an_empty_lab_exports_nothing(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()

    for compat in ((), ("--compat",)):
        ran = run("--home", tmp_path, "export", "proposals", tmp_path / "x.jsonl", *compat)
        assert ran.code == 0
        assert (tmp_path / "x.jsonl").read_text(encoding="utf-8") == ""
