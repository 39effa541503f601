"""`load --map` and `load --suggest-map`: a file of one's own, from its proposal to a lab that can be rebuilt."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from command_line import run

MAP = """
name = "desk"
[conversation]
id = "session"
[call]
tool = "tool"
arguments = "args"
result = "result"
[[call.error]]
path = "ok"
equals = false
"""
RECORDS: list[dict[str, Any]] = [
    {"session": "a", "tool": "quote", "args": {"amount": 5}, "result": {"rate": 1.10}, "ok": True},
    {"session": "a", "tool": "pay", "args": {"amount": 5}, "result": None, "ok": False},
    {"session": "b", "tool": "quote", "args": {}, "ok": True, "cost": 3},
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home, a file of one's own in it, and its map."""
    (tmp_path / "data").mkdir()
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(one) + "\n" for one in RECORDS))
    (tmp_path / "map.toml").write_text(MAP)
    return tmp_path


def load(home: Path, *arguments: object) -> Any:
    """Return the document of a load with these arguments."""
    ran = run("load", *arguments, "--home", home, "--json")
    assert ran.code == 0, ran.err
    return ran.document


def calls(home: Path) -> list[Any]:
    found: list[Any] = run("calls", "--home", home, "--json").document
    return sorted(found, key=lambda one: (one["conversation_id"], one["call_index"]))


def exported(home: Path) -> list[Any]:
    """Return the lab's calls with all of their fields."""
    run("export", "calls", home / "calls.jsonl", "--home", home)
    return [json.loads(line) for line in (home / "calls.jsonl").read_text("utf-8").splitlines()]


def test_a_file_loads_as_its_map_says_and_what_it_leaves_out_is_told(home: Path) -> None:
    document = load(home, home / "own.jsonl", "--map", home / "map.toml")

    (file,) = document["files"]
    assert (file["format"], file["lines"], file["loaded"]) == ("mapped", 3, 3)
    assert file["unknown_fields"] == {"cost": 1}
    assert file["missing"] == {"call without result": 1}
    assert file["not_captured"] == {"result absent": 1}
    assert document["totals"]["tool_calls"] == 3
    assert [(one["tool_name"], one["arguments"], one["outcome"]) for one in calls(home)] == [
        ("quote", '{"amount": 5}', "ok"),
        ("pay", '{"amount": 5}', "error"),
        ("quote", "{}", "unknown"),
    ]


def test_a_rebuild_reads_the_file_as_the_map_said_even_where_the_map_is_gone(home: Path) -> None:
    load(home, home / "own.jsonl", "--map", home / "map.toml")
    before = calls(home)
    (home / "map.toml").unlink()

    load(home, "--rebuild")

    assert calls(home) == before


def test_another_map_takes_the_place_of_the_one_before(home: Path) -> None:
    load(home, home / "own.jsonl", "--map", home / "map.toml")
    (home / "map.toml").write_text(MAP.replace('tool = "tool"', 'tool = "tool"\nmodel = "session"'))

    document = load(home, home / "own.jsonl", "--map", home / "map.toml")

    assert document["store"]["tool_calls"] == 3
    assert ["loaded with another map before" in notice for notice in document["notices"]] == [True]
    assert [(file["path"], file["status"]) for file in document["files"]] == [
        (str(home / "own.jsonl"), "loaded")
    ]
    assert run("rejects", "--home", home, "--json").document == []
    assert len(run("sources", "--home", home, "--json").document) == 1
    assert {one["model"] for one in exported(home)} == {"a", "b"}
    assert load(home, "--rebuild")["store"]["tool_calls"] == 3


def test_the_same_map_again_loads_nothing_again(home: Path) -> None:
    load(home, home / "own.jsonl", "--map", home / "map.toml")

    (file,) = load(home, home / "own.jsonl", "--map", home / "map.toml")["files"]

    assert (file["status"], file["unknown_fields"]) == ("unchanged", {"cost": 1})


def test_in_a_folder_a_map_is_for_the_files_that_nobody_knows(home: Path) -> None:
    folder = home / "exports"
    folder.mkdir()
    (home / "own.jsonl").rename(folder / "own.jsonl")
    chat = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]}
    (folder / "chat.jsonl").write_text(json.dumps(chat) + "\n")

    files = load(home, folder, "--map", home / "map.toml")["files"]

    assert {Path(file["path"]).name: file["format"] for file in files} == {
        "chat.jsonl": "openai_chat",
        "own.jsonl": "mapped",
    }


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        ("name = ", 3, "map.toml: wanted TOML"),
        ('name = "a"\n[call]\ntol = "t"', 2, "map.toml: call.tool: wanted the path of the tool's name"),
        (None, 3, "map.toml: the map cannot be read: No such file or directory"),
    ],
)
def test_a_map_that_cannot_be_is_told_and_nothing_is_loaded(
    home: Path, content: str | None, code: int, said: str
) -> None:
    (home / "map.toml").unlink()
    if content is not None:
        (home / "map.toml").write_text(content)

    ran = run("load", home / "own.jsonl", "--map", home / "map.toml", "--home", home)

    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err
    assert not (home / "data" / "quality.duckdb").exists()


def test_a_proposal_is_toml_on_stdout_a_preview_on_stderr_and_loads_without_an_edit(home: Path) -> None:
    ran = run("load", home / "own.jsonl", "--suggest-map", "--home", home)
    (home / "proposed.toml").write_text(ran.out)

    assert ran.code == 0
    assert tomllib.loads(ran.out)["call"]["tool"] == "tool"
    assert "3 records: 3 calls in 2 conversations" in ran.err
    assert "1 calls failed" in ran.err
    assert "fields that are not mapped: cost (1)" in ran.err
    assert not (home / "data" / "quality.duckdb").exists()
    assert load(home, home / "own.jsonl", "--map", home / "proposed.toml")["totals"]["tool_calls"] == 3
    assert [one["is_error"] for one in calls(home)] == [False, True, False]


def test_a_proposal_as_json_is_one_document(home: Path) -> None:
    ran = run("load", home / "own.jsonl", "--suggest-map", "--home", home, "--json")

    document = ran.document
    assert ran.err == ""
    assert tomllib.loads(document["map"])["conversation"] == {"id": "session"}
    assert document["recognised_as"] is None
    seen = document["preview"]
    assert (seen["records"], seen["calls"], seen["conversations"], seen["errors"]) == (3, 3, 2, 1)
    assert seen["first_calls"][0]["result"] == '{"rate": 1.1}'
    assert seen["unknown_fields"] == {"cost": 1}


def test_a_file_that_is_recognised_needs_no_map_and_the_preview_says_so(home: Path) -> None:
    chat = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]}
    (home / "chat.jsonl").write_text(json.dumps(chat) + "\n")

    ran = run("load", home / "chat.jsonl", "--suggest-map", "--home", home)

    assert "is recognised as openai_chat, and loads without a map" in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--suggest-map",), "wanted at least one PATH"),
        (("own.jsonl", "map.toml", "--suggest-map"), "wanted the path of one file"),
        (("data", "--suggest-map"), "wanted the path of one file"),
        (("own.jsonl", "--map", "map.toml", "--format", "mapped"), "wanted --map or --format, got both"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(
    home: Path, arguments: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)

    ran = run("load", *arguments, "--home", home)

    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_map_for_a_file_that_is_not_there_is_input_that_cannot_be_used(home: Path) -> None:
    ran = run("load", home / "none.jsonl", "--suggest-map", "--home", home)

    assert (ran.code, ran.out) == (3, "")
    assert ran.err == f"quality-lab: {home / 'none.jsonl'}: no such file\n"


def test_a_file_nobody_knows_is_told_the_way_to_a_map(home: Path) -> None:
    ran = run("load", home / "own.jsonl", "--home", home)

    assert ran.code == 3
    assert "--suggest-map" in ran.out + ran.err


@pytest.mark.parametrize(
    "name", ["aegis-desk.traces", "seismic_agent.tool_calls", "shaft-design-agent.tool_calls"]
)
def test_what_small_teams_really_have_loads_by_its_proposal_without_an_edit(
    name: str, shared: Path, tmp_path: Path
) -> None:
    path = shared / "traces" / "homegrown" / f"{name}.jsonl"
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    (tmp_path / "map.toml").write_text(run("load", path, "--suggest-map", "--home", tmp_path).out)

    document = load(tmp_path, path, "--map", tmp_path / "map.toml")

    tools = [one.get("tool_name", one.get("tool")) for one in records if "tool" in one or "tool_name" in one]
    own = {
        one.get("mission_id", "the one" if "round" in one else number) for number, one in enumerate(records)
    }
    assert document["totals"]["tool_calls"] == len(tools)
    assert document["totals"]["conversations"] == len(own)
    assert document["totals"]["rejected"] == 0
    assert sorted(one["tool_name"] for one in calls(tmp_path)) == sorted(tools)
    assert [one for one in calls(tmp_path) if one["is_error"]] == []
