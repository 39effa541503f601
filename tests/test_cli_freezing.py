"""Freezing, changing and taking away cases on the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from lab_builder import LabBuilder
from replaying import record

from quality_lab.json_text import parse
from quality_lab.lab import open_lab
from quality_lab.records import Conversation, Message, ToolDefinition

CARD = "4111 1111 1111 1111"  # a number for tests that passes the check digit
BIG = "12345678901234567890.120"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A lab with one conversation: a payment with wrong arguments after a look-up, then two more calls."""
    lab = LabBuilder(tmp_path / "home")
    chat = {"key_space": "chat", "conversation_id": "c1", "source": None, "is_error": None}
    lab.add(
        ToolDefinition(
            digest="d1",
            name="pay",
            description="Pays.",
            parameters='{"type":"object","properties":{"password":{"type":"string"}}}',
        ),
        Conversation(key_space="chat", conversation_id="c1", offered=("d1",)),
    )
    said = [
        ("system", "Be brief."),
        ("user", f"Pay my bill with {CARD}"),
        ("assistant", None),
        ("tool", '{"bill":"b-7"}'),
        ("assistant", "Shall I?"),
        ("user", "Yes, all of it"),
        ("assistant", None),
    ]
    for position, (role, text) in enumerate(said):
        lab.records.append(
            Message(key_space="chat", conversation_id="c1", position=position, role=role, text=text)
        )
    lab.call("get_bill", **chat, key="c1#2", turn=0, cycle=0, call_index=0, message_position=2, call_id="x",
             arguments=f'{{"card":"{CARD}"}}', result='"{\\"bill\\":\\"b-7\\"}"')  # fmt: skip
    for number in range(3):
        call = lab.call(
            "pay", **{**chat, "conversation_id": "c1" if number == 0 else f"c{number + 1}"}, key=f"c{number + 1}#6",
            turn=1, cycle=0, call_index=0, message_position=6, call_id="x", result='{"ok":true}',
            arguments=f'{{"bill":"b-7","sum":{BIG},"card":"{CARD}",'
            f'"request":"0d5c8a7e-1111-4222-8333-00000000000{number}"}}',
        )  # fmt: skip
        if number == 0:
            lab.label(call, "bad_args", note="half of it")
    lab.store()
    return lab.home


def uid_of(home: Path, tool: str) -> str:
    calls = run("--home", home, "calls", "--tool", tool, "--conversation", "c1", "--json").document
    return str(calls[0]["call_uid"])


def journal(home: Path, shelf: str = "cases") -> list[dict[str, Any]]:
    path = home / f"data/journal/{shelf}.jsonl"
    return [parse(line) for line in path.read_text(encoding="utf-8").splitlines()]


def freeze(home: Path, *more: object) -> Any:
    return run("--home", home, "cases", "freeze", uid_of(home, "pay"), *more, "--json")


def test_a_frozen_case_holds_what_was_said_offered_and_done(home: Path) -> None:
    frozen = freeze(home)

    assert frozen.code == 0
    record = frozen.document["record"]
    assert [(one["role"], one.get("tool_call_id")) for one in record["input"]["messages"]] == [
        ("system", None), ("user", None), ("assistant", None), ("tool", "x"), ("assistant", None), ("user", None),
    ]  # fmt: skip
    assert record["input"]["messages"][-1]["content"] == "Yes, all of it"
    assert record["input"]["messages"][3]["content"] == '{"bill":"b-7"}'
    assert record["input"]["tools"][0]["function"]["parameters"]["properties"] == {
        "password": {"type": "string"}
    }
    assert [call["tool"] for call in record["recorded"]] == ["pay"]
    assert (record["label"], record["provenance"]["proof"]) == ("bad_args", "red")
    assert record["input"]["feedback"]["note"] == "half of it"
    assert 2**31 <= record["id"] < 2**53


def test_every_change_is_a_line_of_the_journal_with_exact_numbers_and_counts_at_once(home: Path) -> None:
    case_id = freeze(home).document["id"]

    [line] = journal(home)
    assert (line["record_type"], line["record"]["id"]) == ("case", case_id)
    assert str(line["record"]["input"]["args"]["sum"]) == BIG
    [row] = run("--home", home, "cases", "--json").document
    assert (row["id"], row["proof"], row["recorded"]) == (case_id, "red", "FAIL")


def test_payment_data_gets_stand_ins_that_keep_the_case_red(home: Path) -> None:
    masked = freeze(home)

    assert CARD not in masked.out
    record = masked.document["record"]
    told = record["expected"]["forbidden"][0]["args"]["card"]
    assert told.startswith("[card-")
    assert told == record["recorded"][0]["args"]["card"]
    assert told in record["input"]["messages"][1]["content"]
    assert masked.document["proof"] == "red"

    assert CARD in freeze(home, "--unmasked", "--again").out


def test_an_argument_that_is_new_in_every_call_is_not_pinned(home: Path) -> None:
    args = freeze(home).document["record"]["expected"]["forbidden"][0]["args"]

    assert args["request"] == {"$any": True}
    assert args["bill"] == "b-7"


def test_what_a_person_expects_is_demanded_and_is_the_corrected_call(home: Path) -> None:
    wanted = f'{{"bill":"b-7","sum":{BIG[:-1]}1}}'

    frozen = freeze(home, "--expected-args", wanted, "--expect", "Pays all of it.").document

    assert (frozen["proof"], frozen["corrected"]) == ("red", "PASS")
    [line] = journal(home)
    assert str(line["record"]["corrected"][0]["args"]["sum"]) == "12345678901234567890.121"
    assert line["record"]["expected"]["behavior"] == "Pays all of it."


def test_the_same_case_is_refused_with_the_id_of_the_one_that_is_here(home: Path) -> None:
    first = freeze(home).document["id"]

    refused = freeze(home)
    again = freeze(home, "--again")

    assert (refused.code, f"case {first} (active)" in refused.err) == (2, True)
    assert again.document["id"] != first


@pytest.mark.parametrize(
    ("tool", "more", "words"),
    [
        ("get_bill", (), "nobody has labelled this call"),
        ("pay", ("--label", "other"), "says nothing that a case could demand"),
        ("pay", ("--label", "wrong"), "good_reply, wrong_tool"),
        ("pay", ("--expected-args", "[1]"), "wanted a JSON object"),
    ],
)
def test_a_call_without_a_label_that_demands_something_makes_no_case(home, tool, more, words):
    refused = run("--home", home, "cases", "freeze", uid_of(home, tool), *more)

    assert (refused.code, words in refused.err) == (2, True)
    assert not (home / "data/journal/cases.jsonl").exists()


@pytest.mark.parametrize(
    ("label", "more", "proof", "expected"),
    [
        ("wrong_tool", (), "red", {"forbidden": [{"tool": "get_bill"}]}),
        (
            "wrong_tool",
            ("--expected-tool", "pay"),
            "red",
            {"forbidden": [{"tool": "get_bill"}], "calls": [{"tool": "pay"}]},
        ),
        ("missing_tool", (), "unprovable", {}),
        ("missing_tool", ("--expected-tool", "pay"), "red", {"calls": [{"tool": "pay"}]}),
        ("missing_tool", ("--expected-tool", "get_bill"), "not_red", {"calls": [{"tool": "get_bill"}]}),
    ],
)
def test_rules_are_drafted_from_the_label_and_every_case_is_kept(home, label, more, proof, expected):
    frozen = run(
        "--home", home, "cases", "freeze", uid_of(home, "get_bill"), "--label", label, *more, "--json"
    )

    assert frozen.document["proof"] == proof
    rules = frozen.document["record"]["expected"]
    assert {name: rules[name] for name in ("calls", "forbidden") if name in rules} == expected
    assert ("proof_reason" in frozen.document["record"]["provenance"]) == (proof != "red")
    assert len(run("--home", home, "cases", "--json").document) == 1


def test_a_good_reply_becomes_a_case_that_its_recording_passes(home: Path) -> None:
    frozen = run(
        "--home", home, "cases", "freeze", uid_of(home, "get_bill"), "--label", "good_reply", "--json"
    ).document

    assert frozen["proof"] == "red"
    assert (frozen["record"]["label"], frozen["record"]["provenance"]["label"]) == ("bad_args", "good_reply")
    assert [row["recorded"] for row in run("--home", home, "cases", "--json").document] == ["PASS"]


def test_an_edit_is_the_case_from_now_on_and_the_earlier_one_comes_back_when_it_is_taken_back(
    home: Path, tmp_path: Path
) -> None:
    case_id = freeze(home).document["id"]
    record = journal(home)[0]["record"]
    file = tmp_path / "case.json"
    file.write_text(json.dumps({**record, "title": "Pays all", "input": {**record["input"], "args": None}},
                               default=str), encoding="utf-8")  # fmt: skip

    edited = run("--home", home, "cases", "edit", case_id, file, "--json")

    assert edited.code == 0
    assert [row["title"] for row in run("--home", home, "cases", "--json").document] == ["Pays all"]
    history = run("--home", home, "cases", "history", case_id, "--json").document
    assert [event["action"] for event in history] == ["freeze", "edit"]

    run("--home", home, "undo", edited.document["line_id"])

    assert [row["title"] for row in run("--home", home, "cases", "--json").document] == [record["title"]]
    anew = tmp_path / "anew"
    shutil.copytree(home / "data/journal", anew / "data/journal")
    open_lab(anew).load()
    assert [row["title"] for row in run("--home", anew, "cases", "--json").document] == [record["title"]]


def test_an_edit_that_upstream_would_refuse_is_no_case(home: Path, tmp_path: Path) -> None:
    case_id = freeze(home).document["id"]
    (tmp_path / "case.json").write_text(json.dumps({"id": case_id, "title": ""}), encoding="utf-8")
    (tmp_path / "other.json").write_text(json.dumps({"id": 7}), encoding="utf-8")

    refused = run("--home", home, "cases", "edit", case_id, tmp_path / "case.json")
    of_another = run("--home", home, "cases", "edit", case_id, tmp_path / "other.json")

    assert (refused.code, "title: wanted non-empty string" in refused.err) == (3, True)
    assert (of_another.code, "came that of 7" in of_another.err) == (3, True)
    assert len(journal(home)) == 1


def test_an_archived_case_gates_no_more_until_it_is_restored(home: Path) -> None:
    case_id = freeze(home).document["id"]

    archived = run("--home", home, "cases", "archive", case_id)
    assert (archived.code, archived.err.split(":")[0]) == (0, "archived")
    assert run("--home", home, "cases", "--json").code == 1
    assert run("--home", home, "cases", "archive", case_id).code == 2
    [row] = run("--home", home, "cases", "list", "--status", "archived", "--json").document
    assert (row["id"], row["status"]) == (case_id, "archived")

    assert run("--home", home, "cases", "restore", f"REG-{case_id}").code == 0
    assert [row["id"] for row in run("--home", home, "cases", "--json").document] == [case_id]
    assert run("--home", home, "cases", "restore", "999").code == 2


def test_an_exported_case_is_fine_here_and_in_the_upstream_runner(home: Path, tmp_path: Path) -> None:
    freeze(home, "--expected-args", '{"bill":"b-7","sum":5}')
    ours, theirs = tmp_path / "ours.jsonl", tmp_path / "theirs.jsonl"

    assert run("--home", home, "cases", "export", ours).code == 0
    assert run("--home", home, "cases", "export", theirs, "--compat").code == 0

    assert run("cases", "check", ours).code == 0
    assert (run("regressions", "--file", ours).code, run("regressions", "--file", theirs).code) == (0, 0)
    assert set(json.loads(theirs.read_text("utf-8"))["expected"]) == {"behavior", "proposalKind"}
    other = tmp_path / "other-lab"
    assert run("--home", other, "load", ours).code == 0
    assert [row["proof"] for row in run("--home", other, "cases", "--json").document] == ["red"]


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A lab of two tenants, each of which has a case 41 from an export."""
    where = tmp_path / "two"
    for tenant in ("north", "south"):
        file = tmp_path / f"{tenant}.jsonl"
        file.write_text(
            json.dumps(record(41, title=f"of the {tenant}", toolCallId=9)) + "\n", encoding="utf-8"
        )
        assert run("--home", where, "load", file, "--tenant", tenant).code == 0
    return where


def titles(home: Path, *words: object) -> list[tuple[str, str]]:
    rows = run("--home", home, "cases", "list", *words, "--json").document
    return sorted((row["tenant"], row["title"]) for row in rows)


def test_a_case_that_two_tenants_have_is_changed_for_the_one_that_is_named(two: Path, tmp_path: Path) -> None:
    edited = tmp_path / "edited.json"
    edited.write_text(json.dumps(record(41, title="changed", toolCallId=9)), encoding="utf-8")

    assert run("--home", two, "cases", "archive", "41", "--tenant", "north").code == 0
    assert run("--home", two, "cases", "edit", "41", edited, "--tenant", "south").code == 0

    assert titles(two, "--status", "archived") == [("north", "of the north")]
    assert titles(two) == [("south", "changed")]
    history = run("--home", two, "cases", "history", "41", "--tenant", "south", "--json").document
    assert [event["action"] for event in history] == ["edit"]
    exported = run("--home", two, "cases", "export", "-", "--tenant", "south").out
    assert json.loads(exported)["title"] == "changed"


@pytest.mark.parametrize(
    "words",
    [("archive", "41"), ("history", "41"), ("export", "-", "--status", "all")],
    ids=lambda words: words[0],
)
def test_a_case_that_two_tenants_have_wants_a_tenant(two: Path, words: tuple[str, ...]) -> None:
    for tenant in ("north", "south"):
        run("--home", two, "cases", "archive", "41", "--tenant", tenant)
        run("--home", two, "cases", "restore", "41", "--tenant", tenant)

    refused = run("--home", two, "cases", *words)

    assert (refused.code, "north, south" in refused.err, refused.out) == (2, True, "")


def test_a_case_lies_in_the_tenant_of_its_call(home: Path, tmp_path: Path) -> None:
    exported = tmp_path / "calls.jsonl"
    run("--home", home, "export", "calls", exported)
    other = tmp_path / "other"
    run("--home", other, "load", exported, "--tenant", "north")
    uid = uid_of(other, "pay")

    made = run("--home", other, "cases", "freeze", uid, "--label", "bad_args", "--json")

    assert made.code == 0
    assert [line.get("tenant") for line in journal(other)] == ["north"]
    assert [(row["tenant"], row["call_uid"]) for row in run("--home", other, "cases", "--json").document] == [
        ("north", uid)
    ]
    run("--home", other, "forget", "--tenant", "north", "--yes")
    assert run("--home", other, "cases", "--json").document == []
    assert (other / "data/journal/cases.jsonl").read_text("utf-8") == ""


@pytest.fixture
def demo(tmp_path: Path, repository: Path) -> Path:
    """The demo story in a home of its own."""
    where = tmp_path / "demo"
    story = repository / "data/demo"
    assert run("--home", where, "load", story / "exports", story / "journal").code == 0
    return where


def test_the_demo_s_frozen_cases_are_what_the_lab_freezes(demo: Path) -> None:
    cases = run("--home", demo, "cases", "list", "--json").document
    [swapped] = [row for row in cases if row["proof"] == "red" and row["tool_name"] == "get_transfer_options"]
    [good] = [row for row in cases if row["title"].startswith("good_reply")]
    for row in (swapped, good):
        stored = open_lab(demo).case(row["id"])
        expected = stored["expected"]["calls"][0]["args"]
        more = ["--expected-args", json.dumps(expected, default=str)] if row is swapped else []

        made = run("--home", demo, "cases", "freeze", row["call_uid"], "--again", *more, "--json")

        again = parse(made.out)["record"]
        for case in (stored, again):
            for name in ("id", "createdAt", "updatedAt"):
                case.pop(name)
            for name in ("frozen_at", "by"):
                case["provenance"].pop(name)
        assert again == stored


def test_an_example_of_a_tracked_proposal_becomes_upstreams_record_and_answers_the_proposal(
    demo: Path,
) -> None:
    made = run("--home", demo, "cases", "from-proposal", "14", "--reviewer", "dana@example.com", "--json")

    assert made.code == 0
    record = made.document["record"]
    assert (record["proposalId"], record["label"]) == (14, "wrong_tool")
    assert record["context"]["proposal"]["id"] == 14
    assert record["expected"]["forbidden"] == [{"tool": "check_exchange_verification"}]
    assert made.document["proof"] == "red"
    [decision] = journal(demo, "decisions")
    assert (decision["action"], decision["kind"], decision["ref"], decision["proposal_id"]) == (
        "apply",
        "regression_case",
        f"REG-{record['id']}",
        "14",
    )
    assert decision["fingerprint"] == "routing_prompt_fix:rag_reply:check_exchange_verification:wrong_tool"
    assert run("--home", demo, "proposals", "show", "14", "--json").document["state"] == "applied"


def test_an_example_of_a_computed_proposal_freezes_its_call(demo: Path) -> None:
    proposals = run("--home", demo, "proposals", "--json").document
    [one] = [each for each in proposals if each["tool_name"] == "get_tour_options"]

    made = run("--home", demo, "cases", "from-proposal", one["id"], "--json").document

    assert made["record"]["provenance"]["call_uid"] == one["examples"][0]["call_uid"]
    assert made["record"]["input"]["messages"][-1]["role"] == "user"
    assert (made["record"]["proposalId"], made["proof"]) == (None, "red")
    assert run("--home", demo, "cases", "from-proposal", one["id"], "--example", "9").code == 2
    assert run("--home", demo, "cases", "from-proposal", "nothing").code == 2
