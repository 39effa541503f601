"""forget: what a person asks to be forgotten is out of cache and journal, stays out, and what remains is said."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from test_store_loading import feedback, trace, write

from quality_lab.errors import UnknownName, UsageError
from quality_lab.journal import Journal
from quality_lab.lab import open_lab

SECRET = "qz7-wX2vK9-my-own-words"
OTHER = "kept-words-of-somebody-else"


def about(number: int, *, mine: bool, **more: Any) -> dict[str, Any]:
    words = SECRET if mine else OTHER
    base = {"conversationId": 977 if mine else 5, "contactId": 650 if mine else 7, "args": {"said": words}}
    return trace(number, **(base | more))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two people's calls, labels and quarantine; one call of the first in two versions."""
    home = tmp_path / "home"
    traces = write(
        tmp_path / "traces.jsonl",
        about(1, mine=True),
        about(2, mine=True, contactId=None),
        about(3, mine=False),
        about(4, mine=True, result={"version": 1, "said": SECRET}),
        about(4, mine=True, result={"version": 2, "said": SECRET}),
        about(6, mine=True, error="no"),
        about(7, mine=False, error="no"),
    )
    labels = write(
        tmp_path / "feedback.jsonl",
        feedback(11, 1, conversationId=977, contactId=650, note=SECRET, args={"said": SECRET}),
        feedback(12, 3, conversationId=5, contactId=7, note=OTHER, args={"said": OTHER}),
    )
    assert run("load", traces, labels, "--home", home).code == 0
    lab = open_lab(home)
    for row in lab.calls():
        lab.label(row.call_uid, "other", note=f"on {row.arguments}", reviewer="dana@example.com")
    return home


def everything(home: Path) -> bytes:
    """Return all bytes under the home."""
    return b"\n".join(path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file())


def held(home: Path) -> dict[str, int]:
    return open_lab(home).totals()


@pytest.mark.parametrize("words", [("--contact", "650"), ("--conversation", "977")])
def test_no_byte_of_it_is_left_below_the_home_and_all_else_is(home: Path, words: tuple[str, str]) -> None:
    before = everything(home).count(SECRET.encode())
    kept_before = held(home)

    ran = run("forget", *words, "--yes", "--home", home, "--json")

    assert before > 0
    assert ran.code == 0, ran.err
    assert everything(home).count(SECRET.encode()) == 0
    assert [row.arguments for row in open_lab(home).calls()] == [f'{{"said": "{OTHER}"}}']
    assert [row.line for row in open_lab(home).rejects()] == [7]
    after = held(home)
    assert (kept_before["tool_calls"], after["tool_calls"], after["feedback"]) == (3, 1, 2)
    assert [line["note"] for line in Journal(home / "data" / "journal").lines("labels")] == [
        f'on {{"said": "{OTHER}"}}'
    ]


def test_it_says_what_went_and_which_files_still_hold_it(home: Path, tmp_path: Path) -> None:
    ran = run("forget", "--contact", "650", "--yes", "--home", home, "--json")

    document = ran.document
    assert document["conversations"] == 1
    assert document["rows"]["tool_calls"] == 2
    assert document["journal_lines"] == 2
    assert {one["path"] for one in document["remains"]} == {
        str(tmp_path / "traces.jsonl"),
        str(tmp_path / "feedback.jsonl"),
    }
    assert SECRET in (tmp_path / "traces.jsonl").read_text()


def test_a_person_reads_it_in_words(home: Path) -> None:
    out = run("forget", "--conversation", "977", "--yes", "--home", home).out

    assert "Forgotten: 1 conversations." in out
    assert "Out of the journal: 2 lines." in out
    assert "traces.jsonl" in out


@pytest.mark.parametrize("again", ["load", "rebuild", "a later export"])
def test_it_does_not_come_back_and_its_lines_are_counted(home: Path, tmp_path: Path, again: str) -> None:
    run("forget", "--contact", "650", "--yes", "--home", home)
    more = write(tmp_path / "later.jsonl", about(20, mine=True, contactId=None), about(21, mine=False))
    if again == "rebuild":
        (home / "data" / "quality.duckdb").unlink()
    given = {"load": [tmp_path / "traces.jsonl"], "rebuild": ["--rebuild"], "a later export": [more]}[again]
    if again == "load":
        with (tmp_path / "traces.jsonl").open("a") as file:
            file.write("\n")

    ran = run("load", *given, "--home", home, "--json")

    assert ran.code == 0, ran.err
    assert all(SECRET not in row.arguments for row in open_lab(home).calls())
    assert held(home)["tool_calls"] == (2 if again == "a later export" else 1)
    files = [file for file in ran.document["files"] if file["status"] == "loaded"]
    assert (
        sum(file.get("forgotten", 0) for file in files)
        == {"load": 5, "rebuild": 6, "a later export": 1}[again]
    )
    for file in files:
        parts = ("loaded", "updated", "unchanged", "merged", "rejected", "blank")
        assert file["lines"] == sum(file[part] for part in parts)


def test_the_list_of_what_was_forgotten_names_nobody(home: Path) -> None:
    run("forget", "--contact", "650", "--yes", "--home", home)

    content = json.loads((home / "data" / "forgotten.json").read_text())
    assert set(content) == {"salt", "forgotten"}
    assert all(len(digest) == 64 for digest in content["forgotten"])
    assert "977" not in content["forgotten"]


def test_a_whole_tenant_goes_and_another_stays(tmp_path: Path) -> None:
    home = tmp_path / "home"
    north = write(tmp_path / "north.jsonl", about(1, mine=True), "oops " + SECRET)
    south = write(tmp_path / "south.jsonl", about(1, mine=False))
    run("load", north, "--tenant", "north", "--home", home)
    run("load", south, "--tenant", "south", "--home", home)

    ran = run("forget", "--tenant", "north", "--yes", "--home", home, "--json")

    assert ran.code == 0, ran.err
    assert everything(home).count(SECRET.encode()) == 0
    assert held(home)["tool_calls"] == 1
    assert open_lab(home).rejects().rows == ()


def test_of_one_tenant_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    file = write(tmp_path / "one.jsonl", about(1, mine=True))
    run("load", file, "--tenant", "north", "--home", home)
    run("load", file, "--tenant", "south", "--home", home)

    run("forget", "--conversation", "977", "--tenant", "north", "--yes", "--home", home)

    assert [row.tenant for row in open_lab(home).calls()] == ["south"]


def test_what_is_not_here_is_wrong_usage_and_nothing_is_remembered(home: Path) -> None:
    ran = run("forget", "--contact", "nobody", "--yes", "--home", home)

    assert ran.code == 2
    assert "nothing of it is in this lab" in ran.err
    assert not (home / "data" / "forgotten.json").exists()
    with pytest.raises(UnknownName):
        open_lab(home).forget(conversation="nothing")
    with pytest.raises(UsageError):
        open_lab(home).forget(conversation="977", contact="650")
    assert run("forget", "--yes", "--home", home).code == 2


def test_a_spoilt_list_of_what_was_forgotten_stops_a_load_rather_than_bring_it_back(home: Path) -> None:
    run("forget", "--contact", "650", "--yes", "--home", home)
    (home / "data" / "forgotten.json").write_text("{")

    ran = run("load", "--rebuild", "--home", home)

    assert ran.code == 3
    assert "nobody knows what was forgotten" in ran.err


def test_on_a_terminal_it_asks_first(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.confirm", lambda *words, **more: (_ for _ in ()).throw(KeyboardInterrupt))

    ran = run("forget", "--contact", "650", "--home", home)

    assert ran.code == 130
    assert held(home)["tool_calls"] == 3


def test_where_there_is_no_terminal_to_ask_on_it_wants_yes_and_forgets_nothing(home: Path) -> None:
    ran = run("forget", "--contact", "650", "--home", home)

    assert ran.code == 2
    assert "--yes" in ran.err
    assert held(home)["tool_calls"] == 3
    assert not (home / "data" / "forgotten.json").exists()


@pytest.mark.parametrize("name", ["chat 5, of Ana", 'Ana "the boss" {1}', "анна\\5", "12"])
def test_broken_lines_go_too_whatever_the_conversation_is_called(tmp_path: Path, name: str) -> None:
    lines = [
        {"conversation_id": name, "messages": [{"role": "user", "content": SECRET}]},
        {"conversation_id": name, "messages": SECRET},
        {"conversation_id": "another", "messages": OTHER},
    ]
    path = tmp_path / "chats.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    lab = open_lab(tmp_path / "home")
    loaded = lab.load(path).files[0]

    lab.forget(conversation=name)

    assert (loaded.loaded, loaded.rejected) == (1, 2)
    assert [(row.line, OTHER in row.text) for row in lab.rejects()] == [(3, True)]


MINE, SHORT = "sess-90211-q", "12"


def broken(tmp_path: Path, *texts: str, forget: dict[str, str]) -> list[int]:
    """Return the numbers of the broken lines *texts* that are left in quarantine after *forget*."""
    path = tmp_path / "chats.jsonl"
    named = next(iter(forget.values()))
    good = {"conversation_id": named, "messages": [{"role": "user", "content": "hello"}]}
    path.write_text("".join(text + "\n" for text in (json.dumps(good), *texts)))
    lab = open_lab(tmp_path / "home")
    loaded = lab.load(path).files[0]
    assert (loaded.loaded, loaded.rejected) == (1, len(texts))
    lab.forget(**forget)
    return [row.line - 1 for row in lab.rejects()]


@pytest.mark.parametrize(
    "name",
    ["session_id", "sessionId", "conversation_id", "trace_id", "traceID", "thread_id", "chat_id", "dialog"],
)
def test_a_broken_line_goes_under_every_name_that_a_format_gives_a_conversation(
    tmp_path: Path, name: str
) -> None:
    left = broken(
        tmp_path,
        f'{{"{name}": {SHORT}, "messages": "cut',
        f'{{"{name}": "{SHORT}", "messages": "cut',
        f'{{"{name}": {SHORT}3, "messages": "cut',
        f'{{"amount": {SHORT}, "messages": "cut',
        forget={"conversation": SHORT},
    )

    assert left == [3, 4]  # 123 is another conversation, and 12 an amount


def test_a_broken_line_goes_where_a_telling_id_stands_in_it_as_any_value(tmp_path: Path) -> None:
    left = broken(
        tmp_path,
        f'{{"key": "gen_ai.conversation.id", "value": {{"stringValue": "{MINE}"}}, oops',
        f'{{"body": "{{\\"session\\": \\"{MINE}\\"}}", oops',
        f"{MINE},pay,2026-05-01",
        f'{{"note": "{MINE}x", oops',
        '{"note": "of somebody else", oops',
        forget={"conversation": MINE},
    )

    assert left == [4, 5]


def test_a_broken_line_goes_where_the_number_of_a_contact_stands_in_it(tmp_path: Path) -> None:
    path = write(
        tmp_path / "traces.jsonl",
        about(1, mine=True, contactId=650771),
        '{"id": 2, "who": 650771, oops',
        '{"id": 3, "who": 6507710, oops',
        '{"id": 4, "user_id": "650771", oops',
    )
    lab = open_lab(tmp_path / "home")
    lab.load(path)

    lab.forget(contact="650771")

    assert [row.line for row in lab.rejects()] == [3]


@pytest.mark.parametrize(
    ("forget", "line"),
    [
        ({"conversation": "12"}, '{"session_id": "12", "messages": "cut'),
        ({"contact": "650771"}, '{"id": 1, "contactId": 650771, oops'),
    ],
)
def test_who_stands_in_broken_lines_alone_is_forgotten_too(
    tmp_path: Path, forget: dict[str, str], line: str
) -> None:
    path = write(tmp_path / "traces.jsonl", line, about(3, mine=False))
    lab = open_lab(tmp_path / "home")
    lab.load(path)

    done = lab.forget(**forget)

    assert (done.rows, [one.lines for one in done.remains]) == ({"rejects": 1}, [1])
    assert len(lab.rejects()) == 0
    path.write_text(path.read_text() + "\n")
    assert lab.load(path).files[0].status == "loaded"
    assert len(lab.rejects()) == 0
    with pytest.raises(UnknownName):
        lab.forget(conversation="nobody-at-all")


def test_a_broken_line_that_comes_in_a_later_file_goes_and_others_of_that_file_stay(tmp_path: Path) -> None:
    lab = open_lab(tmp_path / "home")
    lab.load(write(tmp_path / "first.jsonl", about(1, mine=True, contactId=650771), "oops, of nobody"))
    lab.forget(contact="650771")
    later = write(
        tmp_path / "later.jsonl", '{"id": 2, "who": 650771, oops', "oops again", about(3, mine=False)
    )

    loaded = lab.load(later).files[0]

    assert (loaded.loaded, loaded.rejected, loaded.forgotten) == (1, 1, 1)
    assert [row.text for row in lab.rejects()] == ["oops, of nobody", "oops again"]


def test_what_a_colleague_forgot_goes_with_the_next_load_out_of_files_that_were_here_before(
    tmp_path: Path,
) -> None:
    path = write(
        tmp_path / "first.jsonl", about(1, mine=True, contactId=650771), '{"id": 2, "who": 650771, oops'
    )
    ours, theirs = open_lab(tmp_path / "ours"), open_lab(tmp_path / "theirs")
    other = write(tmp_path / "other.jsonl", about(5, mine=True), about(6, mine=False))
    for lab in (ours, theirs):
        lab.load(path, other)
    ours.forget(conversation="5")
    theirs.forget(contact="650771")
    ours.load(write(tmp_path / "empty.jsonl", about(7, mine=False)))
    (ours.home / "data" / "forgotten.json").write_bytes(
        (theirs.home / "data" / "forgotten.json").read_bytes()
    )

    ours.load(write(tmp_path / "another.jsonl", about(8, mine=False)))

    assert len(ours.rejects()) == 0
