"""Bad input on the real command line: a clear message, the right exit code, and every good line loaded."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import zstandard
from child_command import run_apart, run_without_root
from command_line import Ran, run
from test_store_loading import trace

MIB = 1 << 20


def line(number: int, **changes: Any) -> bytes:
    return json.dumps(trace(number, **changes)).encode()


def with_arguments(number: int, text: str) -> bytes:
    """Return a good line whose arguments stand as the JSON *text*."""
    return line(number, args="HERE").replace(b'"HERE"', text.encode())


def load(home: Path, *paths: object, **options: Any) -> Ran:
    given = [word for name, value in options.items() for word in (f"--{name}", value)]
    return run("load", *paths, "--home", home, "--json", *given)


def calls(home: Path) -> dict[int, dict[str, Any]]:
    """Return the calls in the lab by their line."""
    rows = run("calls", "--home", home, "--limit", "1000", "--allow-empty", "--json").document
    return {row["line"]: row for row in rows}


def reasons(home: Path) -> list[tuple[int, str, str]]:
    """Return line, field and reason of what is in quarantine."""
    rows = run("rejects", "--home", home, "--json").document
    return [(row["line"], row["path"], row["reason"]) for row in rows]


def counted(file: dict[str, Any]) -> int:
    return sum(file[name] for name in ("loaded", "updated", "unchanged", "merged", "rejected", "blank"))


# ---- files that are nothing at all


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"Dear all, the export is attached.\nRegards\n", "no JSON object among its first lines"),
        (bytes(range(256)) * 64, "no JSON object among its first lines"),
        (b"\x7fELF\x02\x01\x01" + bytes(4096), "no JSON object among its first lines"),
        (b"PK\x03\x04" + bytes(64), "got a zip archive"),
        (b'{"a": 1}\n', "no format fits. Nearest are"),
        (b"[1, 2, 3]", "no JSON object among its first lines"),
    ],
    ids=["a letter", "all bytes", "a program", "a zip", "another object", "a list of numbers"],
)
def test_a_file_that_is_no_export_is_3_and_named_and_the_others_load(
    tmp_path: Path, content: bytes, said: str
) -> None:
    (tmp_path / "bad.jsonl").write_bytes(content)
    (tmp_path / "good.jsonl").write_bytes(line(1) + b"\n")

    ran = load(tmp_path / "home", tmp_path / "bad.jsonl", tmp_path / "good.jsonl")

    bad, good = ran.document["files"]
    assert ran.code == 3
    assert bad["status"] in ("unrecognised", "failed")
    assert said in bad["reason"]
    assert str(tmp_path / "bad.jsonl") in bad["reason"]
    assert (good["status"], good["loaded"]) == ("loaded", 1)


def test_an_empty_file_is_0_and_said_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "blank.jsonl").write_bytes(b"\n\n")

    ran = load(tmp_path / "home", tmp_path / "empty.jsonl", format="quality_lab.traces")
    blank = load(tmp_path / "home", tmp_path / "blank.jsonl", format="quality_lab.traces")

    assert (ran.code, ran.document["files"][0]["lines"]) == (0, 0)
    assert "is empty" in ran.document["files"][0]["reason"]
    assert (blank.code, blank.document["files"][0]["blank"]) == (0, 2)


def test_a_path_that_is_not_there_is_3_and_the_others_load(tmp_path: Path) -> None:
    (tmp_path / "good.jsonl").write_bytes(line(1) + b"\n")

    ran = load(tmp_path / "home", tmp_path / "gone.jsonl", tmp_path / "good.jsonl", tmp_path / "no" / "*.gz")

    gone, good, none = ran.document["files"]
    assert ran.code == 3
    assert (gone["status"], gone["reason"]) == ("failed", "no such file or folder")
    assert (none["status"], none["reason"]) == ("failed", "no such file or folder")
    assert good["loaded"] == 1


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter and read."""
    folder = Path(tempfile.mkdtemp(prefix="ql-open-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def test_a_file_that_may_not_be_read_is_3_and_the_others_load(open_folder: Path) -> None:
    good, secret = open_folder / "good.jsonl", open_folder / "secret.jsonl"
    good.write_bytes(line(1) + b"\n")
    secret.write_bytes(line(2) + b"\n")
    secret.chmod(0)
    (open_folder / "warm.jsonl").write_bytes(line(3) + b"\n")

    ran = run_without_root(
        *("load", secret, good, "--home", open_folder / "home", "--json"),
        warm=[["load", open_folder / "warm.jsonl", "--home", open_folder / "warm"]],
    )

    assert ran.code == 3, ran.err
    unread, read = ran.document["files"]
    assert unread["status"] == "failed"
    assert "cannot be read: Permission denied" in unread["reason"]
    assert read["loaded"] == 1
    assert "Traceback" not in ran.err


def test_a_folder_that_may_not_be_looked_into_is_told_and_is_3_where_it_is_named(open_folder: Path) -> None:
    exports, closed = open_folder / "exports", open_folder / "exports" / "closed"
    closed.mkdir(parents=True)
    (exports / "good.jsonl").write_bytes(line(1) + b"\n")
    (closed / "unseen.jsonl").write_bytes(line(2) + b"\n")
    closed.chmod(0)
    (open_folder / "warm.jsonl").write_bytes(line(3) + b"\n")
    warm: list[list[object]] = [["load", open_folder / "warm.jsonl", "--home", open_folder / "warm"]]

    inside = run_without_root("load", exports, "--home", open_folder / "home", "--json", warm=warm)
    named = run_without_root("load", closed, "--home", open_folder / "home", warm=warm)
    closed.chmod(0o700)  # so that it can be cleared away

    assert inside.code == 0, inside.err
    read, unread = inside.document["files"]
    assert read["loaded"] == 1
    assert (unread["path"], unread["status"]) == (str(closed), "failed")
    assert unread["reason"] == "the folder cannot be read: Permission denied"
    assert named.code == 3
    assert "the folder cannot be read: Permission denied" in named.out + named.err


# ---- encodings and ends of lines


@pytest.mark.parametrize(
    "make",
    [
        lambda text: text.decode().encode("utf-16"),
        lambda text: text.decode().encode("utf-16-be"),
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text.replace(b"\n", b"\r"),
        gzip.compress,
        zstandard.compress,
    ],
    ids=["UTF-16 with a mark", "UTF-16 without", "BOM", "CRLF", "lone CR", "gzip", "zstd"],
)
def test_encoding_and_ends_of_lines_change_no_value(tmp_path: Path, make: Any) -> None:
    content = line(1, args={"город": "Пхукет 🙂"}) + b"\n" + line(2) + b"\noops\n" + line(3) + b"\n"
    (tmp_path / "file").write_bytes(make(content))

    ran = load(tmp_path / "home", tmp_path / "file")

    file = ran.document["files"][0]
    assert ran.code == 0
    assert (file["lines"], file["loaded"], file["rejected"]) == (4, 3, 1)
    assert json.loads(calls(tmp_path / "home")[1]["arguments"]) == {"город": "Пхукет 🙂"}
    assert [where for where, _, _ in reasons(tmp_path / "home")] == [3]


def test_bytes_that_are_no_text_cost_only_their_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(line(1) + b"\n" + line(2)[:-2] + b"\xff\xfe}\n" + line(3) + b"\n")

    ran = load(tmp_path / "home", tmp_path / "file")

    assert ran.code == 0
    assert sorted(calls(tmp_path / "home")) == [1, 3]
    ((where, _, reason),) = reasons(tmp_path / "home")
    assert (where, reason) == (2, f"wanted UTF-8, got the byte 0xff at {len(line(2)) - 2}")


# ---- lines whose JSON is odd


def test_two_objects_on_a_line_are_two_objects_and_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(line(1) + b"\n" + line(2) + line(3) + b"\n" + line(4) + b"\n")

    ran = load(tmp_path / "home", tmp_path / "file")

    file = ran.document["files"][0]
    assert (file["loaded"], file["glued"], file["rejected"]) == (4, 1, 0)
    assert counted(file) == file["lines"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "01", "1.", "+1", ".5", "0x1F"])
def test_what_is_no_json_number_costs_only_its_line_and_says_where(tmp_path: Path, number: str) -> None:
    bad = with_arguments(2, f'{{"rate": {number}}}')
    (tmp_path / "file").write_bytes(line(1) + b"\n" + bad + b"\n" + line(3) + b"\n")

    ran = load(tmp_path / "home", tmp_path / "file")

    assert ran.code == 0
    assert sorted(calls(tmp_path / "home")) == [1, 3]
    ((where, _, reason),) = reasons(tmp_path / "home")
    assert where == 2
    assert "JSON" in reason
    row = run("rejects", "--home", tmp_path / "home", "--json").document[0]
    assert row["text"] == bad.decode()


EXACT = {
    "25 digits": '{"n":1234567890123456789012345,"m":-9999999999999999999999999}',
    "22 digits of a fraction": '{"rate":0.1234567890123456789012,"x":32.60,"e":1.50E+3}',
    "duplicate keys": '{"a":1,"a":2,"A":3}',
    "lone surrogates": '{"half":"\\ud83d","other":"\\ude00\\ud83d","pair":"\\ud83d\\ude00"}',
    "NUL": '{"name":"a\\u0000b","\\u0000":1}',
    "keys that differ in case": '{"id":1,"ID":2,"Id":3,"iD":{"x":1,"X":2}}',
    "order of keys": '{"z":1,"a":2,"m":null}',
    "empty keys": '{"":{"":""}}',
}


@pytest.mark.parametrize("text", EXACT.values(), ids=EXACT)
def test_arguments_and_results_come_out_to_the_last_digit_and_code_point(tmp_path: Path, text: str) -> None:
    odd = with_arguments(2, text).replace(b'"result": {"rate": 32.6}', b'"result": ' + text.encode())
    (tmp_path / "file").write_bytes(line(1) + b"\n" + odd + b"\n" + line(3) + b"\n")

    ran = load(tmp_path / "home", tmp_path / "file")

    rows = calls(tmp_path / "home")
    assert ran.code == 0
    assert sorted(rows) == [1, 2, 3]
    assert (rows[2]["arguments"], rows[2]["result"]) == (text, text)


def test_top_level_keys_that_differ_in_case_are_counted_as_unknown_fields(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(line(1) + b"\n" + line(2, ToolName="other", ID=7) + b"\n")

    file = load(tmp_path / "home", tmp_path / "file").document["files"][0]

    assert (file["loaded"], file["unknown_fields"]) == (2, {"ToolName": 1, "ID": 1})
    assert calls(tmp_path / "home")[2]["tool_name"] == "compute_exchange_quote"


def test_a_depth_of_ten_thousand_costs_only_its_line(tmp_path: Path) -> None:
    deep = with_arguments(2, '{"x":' + "[" * 10_000 + "]" * 10_000 + "}")
    objects = with_arguments(3, '{"x":' * 10_000 + "1" + "}" * 10_000)
    (tmp_path / "file").write_bytes(b"\n".join([line(1), deep, objects, line(4), b""]))

    ran = load(tmp_path / "home", tmp_path / "file")

    assert ran.code == 0
    assert sorted(calls(tmp_path / "home")) == [1, 4]
    assert reasons(tmp_path / "home") == [(n, "", "nested more than 500 levels deep") for n in (2, 3)]


@pytest.mark.slow
def test_a_line_of_fifty_megabytes_loads_whole(tmp_path: Path) -> None:
    long = with_arguments(2, '{"page":"' + "y" * 50_000_000 + '"}')
    (tmp_path / "file").write_bytes(line(1) + b"\n" + long + b"\n" + line(3) + b"\n")

    ran = run_apart("load", tmp_path / "file", "--home", tmp_path / "home", "--json")

    assert (ran.code, ran.document["files"][0]["loaded"]) == (0, 3)
    rows = run_apart("calls", "--home", tmp_path / "home", "--json").document
    assert max(len(row["arguments"]) for row in rows) == 50_000_011
    assert ran.peak_bytes < 1_500 * MIB


# ---- folders and names


def test_of_a_folder_of_mixed_files_what_can_be_read_is_read(tmp_path: Path) -> None:
    box = tmp_path / "box"
    (box / "deep" / "er").mkdir(parents=True)
    (box / "traces.jsonl").write_bytes(line(1) + b"\n")
    (box / "deep" / "more.json").write_text(json.dumps({"items": [trace(2), trace(3)]}))
    (box / "deep" / "er" / "packed.gz").write_bytes(gzip.compress(line(4) + b"\n"))
    (box / "readme.txt").write_text("nothing here")
    (box / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (box / ".hidden").write_bytes(line(9) + b"\n")
    os.mkfifo(box / "pipe")

    ran = load(tmp_path / "home", box)
    strict = run("load", box, "--home", tmp_path / "other", "--strict", "--json")

    by_name = {Path(file["path"]).name: file for file in ran.document["files"]}
    assert (ran.code, strict.code) == (0, 1)
    assert ran.document["store"]["tool_calls"] == 4
    assert {name for name, file in by_name.items() if file["status"] == "unrecognised"} == {
        "readme.txt",
        "picture.png",
    }
    assert (by_name["pipe"]["status"], ".hidden" in by_name) == ("failed", False)


def test_symlinks_that_lead_in_circles_or_nowhere_end(tmp_path: Path) -> None:
    box = tmp_path / "box"
    (box / "in").mkdir(parents=True)
    (box / "traces.jsonl").write_bytes(line(1) + b"\n")
    (box / "in" / "round").symlink_to(box)
    (box / "self").symlink_to(box / "self")
    (box / "nowhere").symlink_to(tmp_path / "nowhere")

    ran = load(tmp_path / "home", box)
    named = load(tmp_path / "home", box / "self")

    by_name = {Path(file["path"]).name: file for file in ran.document["files"]}
    assert ran.code == 0
    assert ran.document["store"]["tool_calls"] == 1
    assert by_name["self"]["status"] == by_name["nowhere"]["status"] == "failed"
    assert named.code == 3
    assert "symbolic links" in named.document["files"][0]["reason"]


@pytest.mark.parametrize(
    "name",
    [
        "two words.jsonl",
        'it\'s "quoted" `here`.jsonl',
        "new\nline\r.jsonl",
        "tab\t\x1b[31mred\u202e.jsonl",
        "-rf.jsonl",
        "'; drop table tool_calls; --.jsonl",
        "{{ 7*7 }}{% raw %}$(id).jsonl",
        "<img src=x onerror=alert(1)>.jsonl",
        os.fsdecode(b"not-utf-8-\xff.jsonl"),
        "[a-z]*.jsonl",
    ],
)
def test_a_file_of_any_name_loads_and_its_name_never_acts(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(line(1) + b"\noops\n")
    home = ("--home", tmp_path / "home")

    ran = load(tmp_path / "home", tmp_path / name)
    table = run("rejects", *home)
    again = load(tmp_path / "home", tmp_path / name)
    rebuilt = run("load", "--rebuild", *home)

    assert (ran.code, ran.document["files"][0]["loaded"]) == (0, 1)
    assert again.document["files"][0]["status"] == "unchanged"
    assert rebuilt.code == 0, rebuilt.err
    assert ran.document["store"]["tool_calls"] == 1
    for shown in (table.out, rebuilt.out, run("sources", *home).out):
        assert all(character.isprintable() or character == "\n" for character in shown)
    assert run("rejects", tmp_path / name, *home, "--json").document[0]["line"] == 2


# ---- archives


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_of_a_cut_archive_the_lines_before_the_cut_load_and_the_tail_is_told(
    tmp_path: Path, pack: Any
) -> None:
    rows = [line(number, args={"x": os.urandom(200).hex()}) for number in range(1, 1001)]
    packed = pack(b"\n".join(rows) + b"\n")
    (tmp_path / "cut").write_bytes(packed[: len(packed) * 3 // 5])

    ran = load(tmp_path / "home", tmp_path / "cut")

    file = ran.document["files"][0]
    assert ran.code == 0
    assert file["truncated_input"] is True
    assert 300 < file["loaded"] < 1_000
    assert (file["rejected"], file["lines"]) == (1, file["loaded"] + 1)
    assert reasons(tmp_path / "home")[0][2] == "the compressed file ends too early"


@pytest.mark.slow
@pytest.mark.parametrize(
    "packed",
    [partial(gzip.open, mode="wb", compresslevel=1), partial(zstandard.open, mode="wb")],
    ids=["gzip", "zstd"],
)
def test_a_bomb_in_an_archive_is_eaten_in_bounded_memory(tmp_path: Path, packed: Any) -> None:
    with packed(tmp_path / "bomb") as file:
        file.write(line(1) + b'\n{"x":"')
        for _ in range(1_500):
            file.write(b"0" * MIB)
        file.write(b'"}\n' + line(2) + b"\n")

    ran = run_apart("load", tmp_path / "bomb", "--home", tmp_path / "home", "--json")

    assert (tmp_path / "bomb").stat().st_size < 8 * MIB
    report = ran.document["files"][0]
    assert (ran.code, report["loaded"], report["rejected"]) == (0, 2, 1)
    assert reasons(tmp_path / "home") == [(2, "", "longer than 256 MiB; this is its beginning")]
    assert ran.peak_bytes < 700 * MIB


@pytest.mark.slow
def test_a_bomb_of_many_blank_lines_is_eaten_in_bounded_memory(tmp_path: Path) -> None:
    (tmp_path / "bomb").write_bytes(gzip.compress(line(1) + b"\n" * (2 * MIB) + line(2) + b"\n"))

    ran = run_apart("load", tmp_path / "bomb", "--home", tmp_path / "home", "--json")

    file = ran.document["files"][0]
    assert (ran.code, file["loaded"], file["blank"]) == (0, 2, 2 * MIB - 1)
    assert ran.peak_bytes < 400 * MIB
