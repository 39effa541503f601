"""The world misbehaves, for real: locks, full disks, kill -9, damage, no rights, wrong clocks, no locale."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from child_command import command, largest_file, run_apart, run_without_root
from command_line import run
from test_store_loading import trace, write

from quality_lab.errors import StoreBusy
from quality_lab.store import Store

MIB = 1 << 20
SOME = 50
MANY = 20_000

HOLDER = """
import sys, time, duckdb
held = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "reader")
held.execute("select count(*) from tool_calls" if sys.argv[2] == "reader" else "create table t (i int)")
print("held", flush=True)
sys.stdin.readline()
"""


def few(folder: Path, name: str = "few.jsonl", *, first: int = 1) -> Path:
    return write(folder / name, *(trace(number) for number in range(first, first + SOME)))


def many(folder: Path, *, first: int = 1_000, count: int = MANY) -> Path:
    chance = random.Random(first)
    return write(
        folder / f"many-{first}.jsonl",
        *(
            trace(number, conversationId=number // 5, args={"x": f"{chance.getrandbits(800):x}"})
            for number in range(first, first + count)
        ),
    )


def held_calls(home: Path) -> int:
    return Store(home, wait_s=60).totals()["tool_calls"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a few calls."""
    assert run("load", few(tmp_path), "--home", tmp_path / "home").code == 0
    return tmp_path / "home"


@contextmanager
def held(home: Path, by: str) -> Iterator[subprocess.Popen[str]]:
    """Let another process hold the database, as a "reader" or a "writer", until its stdin ends."""
    database = home / "data" / "quality.duckdb"
    holding = [sys.executable, "-c", HOLDER, str(database), by]
    with subprocess.Popen(holding, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield holder
        holder.kill()


# ---- locks


@pytest.mark.parametrize(
    ("by", "arguments"),
    [("reader", ["load", "more.jsonl"]), ("writer", ["failing-tools"]), ("writer", ["load", "more.jsonl"])],
    ids=["a reader and a load", "a writer and a question", "a writer and a load"],
)
def test_a_held_database_is_waited_for_with_a_bound_and_the_holder_is_named(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str, arguments: list[str]
) -> None:
    few(tmp_path, "more.jsonl", first=500)
    monkeypatch.chdir(tmp_path)
    with held(home, by) as holder:
        started = time.monotonic()
        ran = run(*arguments, "--home", home, "--wait", "0.5", "--json")
        took_s = time.monotonic() - started

    assert (ran.code, list(ran.document)) == (3, ["error"])
    assert "waiting up to 0.5 s" in ran.err
    assert f"process {holder.pid}" in ran.err
    assert 0.5 <= took_s < 10
    assert held_calls(home) == SOME


@pytest.mark.parametrize(("by", "verb"), [("reader", "load"), ("writer", "failing-tools")])
def test_who_waits_goes_on_as_soon_as_the_holder_lets_go(
    home: Path, tmp_path: Path, by: str, verb: str
) -> None:
    more = few(tmp_path, "more.jsonl", first=500)
    words = command(verb, *([more] if verb == "load" else []), "--home", home, "--wait", "60", "--json")
    with held(home, by) as holder:
        waiting = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert waiting.stderr is not None
        first = waiting.stderr.readline()
        assert holder.stdin is not None
        holder.stdin.close()
        out, err = waiting.communicate(timeout=60)

    assert "waiting up to 60 s" in first
    assert (waiting.returncode, err) == (0, "")
    assert json.loads(out)
    assert held_calls(home) == (2 * SOME if verb == "load" else SOME)


@pytest.mark.slow
def test_two_loads_at_once_both_arrive(home: Path, tmp_path: Path) -> None:
    files = [many(tmp_path, first=1_000 * number, count=500) for number in (1, 2, 3)]
    loads = [
        subprocess.Popen(
            command("load", file, "--home", home, "--json", "--wait", "120"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for file in files
    ]
    ended = [load.communicate(timeout=200) for load in loads]

    assert [load.returncode for load in loads] == [0, 0, 0], ended
    assert [json.loads(out)["files"][0]["loaded"] for out, _ in ended] == [500, 500, 500]
    assert held_calls(home) == SOME + 1_500
    remembered = json.loads((home / "data" / "sources.json").read_text())
    assert len(remembered) == 4


# ---- disks


@pytest.mark.slow
def test_a_file_system_that_takes_no_more_is_3_keeps_what_was_there_and_a_later_load_works(
    home: Path, tmp_path: Path
) -> None:
    file = many(tmp_path)
    room = (home / "data" / "quality.duckdb").stat().st_size + MIB

    ran = run_apart("load", file, "--home", home, "--json", before=largest_file(room))
    kept = held_calls(home)
    again = run("load", file, "--home", home, "--json")

    assert (ran.code, list(ran.document)) == (3, ["error"]), ran.err
    assert "nothing of this load was kept" in ran.err
    assert "Traceback" not in ran.err
    assert kept == SOME
    assert (again.code, held_calls(home)) == (0, SOME + MANY)


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of 6 MiB."""
    folder = Path(tempfile.mkdtemp(prefix="ql-disk-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        folder.rmdir()
        pytest.skip("mounting is refused here; the limit of a file's size is tested beside this")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
    folder.rmdir()


@pytest.mark.slow
def test_a_full_disk_is_3_keeps_what_was_there_and_a_later_load_works(
    small_disk: Path, tmp_path: Path
) -> None:
    home = small_disk / "home"
    run("load", few(tmp_path), "--home", home)
    filler = small_disk / "filler"
    filler.write_bytes(bytes(shutil.disk_usage(small_disk).free - MIB // 2))

    ran = run_apart("load", many(tmp_path), "--home", home, "--json")
    left = shutil.disk_usage(small_disk).free
    kept = held_calls(home)
    filler.unlink()
    later = run_apart("load", few(tmp_path, "more.jsonl", first=500), "--home", home, "--json")

    assert (ran.code, list(ran.document)) == (3, ["error"]), ran.err
    assert "nothing of this load was kept" in ran.err
    assert kept == SOME
    assert left > MIB // 4  # what was begun was cleared away
    assert (later.code, held_calls(home)) == (0, 2 * SOME), later.err


def test_an_export_onto_a_full_disk_is_3_and_says_why(home: Path, small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(bytes(shutil.disk_usage(small_disk).free))
    home_words = ("--home", home)

    exported = run("export", "calls", small_disk / "calls.jsonl", *home_words)
    taken = run("calls", "--csv", small_disk / "calls.csv", *home_words)
    tables = run("export", "parquet", small_disk / "tables", *home_words)

    for ran in (exported, taken, tables):
        assert ran.code == 3, ran.err
        assert "No space left on device" in ran.err


# ---- kill -9


@pytest.mark.slow
def test_a_load_killed_at_twenty_random_moments_leaves_all_or_nothing_and_the_next_works(
    home: Path, tmp_path: Path
) -> None:
    file, seed = many(tmp_path), random.randrange(1 << 32)
    chance = random.Random(seed)
    spare = tmp_path / "spare"
    shutil.copytree(home, spare)
    words = command("load", file, "--home", home)
    started = time.monotonic()
    subprocess.run(words, check=True, capture_output=True)
    whole_s = time.monotonic() - started
    shutil.rmtree(home)
    shutil.copytree(spare, home)
    seen = []
    for _ in range(20):
        load = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.15, 1.05) * whole_s)
        load.send_signal(signal.SIGKILL)
        load.wait()
        seen.append(held_calls(home))
        if seen[-1] != SOME:
            shutil.rmtree(home)
            shutil.copytree(spare, home)
    last = run("load", file, "--home", home, "--json")

    assert set(seen) <= {SOME, SOME + MANY}, f"seed {seed}"
    assert SOME in seen
    assert (last.code, held_calls(home)) == (0, SOME + MANY)
    leftovers = {path.name for path in (home / "data").iterdir()}
    assert leftovers <= {"quality.duckdb", "sources.json", "quality.duckdb.wal"}


@pytest.mark.slow
def test_a_rebuild_that_is_killed_leaves_the_old_cache(home: Path, tmp_path: Path) -> None:
    run("load", many(tmp_path), "--home", home)
    for wait_s in (0.8, 1.4):
        rebuild = subprocess.Popen(command("load", "--rebuild", "--home", home), stdout=subprocess.DEVNULL)
        time.sleep(wait_s)
        rebuild.kill()
        rebuild.wait()

        assert held_calls(home) == SOME + MANY
    assert run("load", "--rebuild", "--home", home).code == 0
    assert held_calls(home) == SOME + MANY
    assert [path.name for path in (home / "data").iterdir() if "rebuild" in path.name] == []


def test_a_load_that_ends_while_a_rebuild_runs_is_not_lost(home: Path, tmp_path: Path) -> None:
    later = few(tmp_path, "later.jsonl", first=500)
    loads = []

    def in_the_middle(path: str, lines: int) -> None:
        if not loads:
            loads.append(run("load", later, "--home", home).code)

    run("load", many(tmp_path, count=3_000), "--home", home)
    with pytest.raises(StoreBusy, match="1 files were loaded while the rebuild ran"):
        Store(home).load(rebuild=True, progress=in_the_middle)
    kept = held_calls(home)
    again = run("load", "--rebuild", "--home", home)

    assert loads == [0]
    assert kept == held_calls(home) == 2 * SOME + 3_000
    assert again.code == 0


def test_a_rebuild_waits_for_who_writes_before_it_takes_the_place_of_the_cache(
    home: Path, tmp_path: Path
) -> None:
    before = (home / "data" / "quality.duckdb").stat().st_ino
    with ExitStack() as holders:

        def in_the_middle(path: str, lines: int) -> None:
            if not told:
                told.append(holders.enter_context(held(home, "writer")).pid)

        told: list[int] = []
        with pytest.raises(StoreBusy) as refused:
            Store(home, wait_s=0.5).load([many(tmp_path, count=3_000)], rebuild=True, progress=in_the_middle)

    assert f"held by process {told[0]} " in str(refused.value)
    assert (home / "data" / "quality.duckdb").stat().st_ino == before
    assert held_calls(home) == SOME
    assert run("load", "--rebuild", "--home", home).code == 0


# ---- damage


def overwritten(database: Path) -> None:
    database.write_bytes(b"\x00" * 40_000)


def cut(database: Path) -> None:
    os.truncate(database, database.stat().st_size // 2)


def emptied(database: Path) -> None:
    os.truncate(database, 0)


def scratched(database: Path) -> None:
    with database.open("r+b") as file:
        for at in range(0, database.stat().st_size, 4096):
            file.seek(at)
            file.write(b"\xff" * 64)


def of_an_older_version(database: Path) -> None:
    import duckdb

    with duckdb.connect(str(database)) as connection:
        connection.execute("update lab_meta set value = '0' where name = 'schema_version'")


@pytest.mark.parametrize("spoil", [overwritten, emptied, cut, scratched, of_an_older_version])
def test_a_spoilt_cache_is_3_with_the_way_out_which_works(
    home: Path, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(home / "data" / "quality.duckdb")

    asked = run("failing-tools", "--home", home, "--json")
    loaded = run("load", few(tmp_path, "more.jsonl", first=500), "--home", home, "--json")
    rebuilt = run("load", "--rebuild", "--home", home, "--json")

    for ran in (asked, loaded):
        assert (ran.code, list(ran.document)) == (3, ["error"])
        assert "load --rebuild" in ran.err
        assert "Traceback" not in ran.err
    assert (rebuilt.code, held_calls(home)) == (0, SOME), rebuilt.err


def test_a_cache_that_is_deleted_is_missed_by_the_next_load_and_comes_back(
    home: Path, tmp_path: Path
) -> None:
    (home / "data" / "quality.duckdb").unlink()

    loaded = run("load", few(tmp_path, "more.jsonl", first=500), "--home", home, "--json")
    rebuilt = run("load", "--rebuild", "--home", home)

    assert loaded.code == 0
    assert "lacks 1 files that were loaded before: `quality-lab load --rebuild`" in loaded.err
    assert (rebuilt.code, held_calls(home)) == (0, 2 * SOME), rebuilt.err


def test_a_foreign_log_beside_the_cache_harms_nothing(home: Path, tmp_path: Path) -> None:
    (home / "data" / "quality.duckdb.wal").write_bytes(os.urandom(50_000))

    asked = run("failing-tools", "--home", home, "--json")
    loaded = run("load", few(tmp_path, "more.jsonl", first=500), "--home", home, "--json")

    assert (asked.code, asked.document[0]["calls"]) == (0, SOME)
    assert (loaded.code, held_calls(home)) == (0, 2 * SOME), loaded.err


def test_a_spoilt_list_of_files_is_written_anew_from_the_database(home: Path) -> None:
    (home / "data" / "sources.json").write_text("{not a list")

    assert run("failing-tools", "--home", home).code == 0
    assert run("load", "--rebuild", "--home", home).code == 0
    assert json.loads((home / "data" / "sources.json").read_text())[0]["path"].endswith("few.jsonl")


# ---- rights, clocks, locales


def test_a_home_that_may_only_be_read_answers_and_refuses_a_load_with_3() -> None:
    folder = Path(tempfile.mkdtemp(prefix="ql-open-"))
    folder.chmod(0o755)
    home, warm = folder / "home", folder / "warm"
    run("load", few(folder), "--home", home)
    more = few(folder, "more.jsonl", first=500)
    for path in [home, *home.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    warming: list[list[object]] = [
        ["load", more, "--home", warm],
        ["failing-tools", "--home", warm, "--json"],
    ]

    asked = run_without_root("failing-tools", "--home", home, "--json", warm=warming)
    loaded = run_without_root("load", more, "--home", home, "--json", warm=warming)
    kept = held_calls(home)
    for path in [home, home / "data"]:
        path.chmod(0o755)
    shutil.rmtree(folder)

    assert asked.code == 0, asked.err
    assert asked.document[0]["calls"] == SOME
    assert (loaded.code, list(loaded.document)) == (3, ["error"])
    assert "quality.duckdb cannot be opened" in loaded.err
    assert "Permission denied" in loaded.err
    assert kept == SOME


CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
static const long YEAR = 365L * 86400;
int clock_gettime(clockid_t id, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int said = real(id, now);
    if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) now->tv_sec -= YEAR;
    return said;
}
time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
int gettimeofday(struct timeval *out, void *zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return 0;
}
"""


@pytest.fixture(scope="module")
def year_back(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process whose clock stands a year back."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler here to build a clock with")
    folder = tmp_path_factory.mktemp("clock")
    (folder / "clock.c").write_text(CLOCK)
    built = [compiler, "-shared", "-fPIC", "-o", folder / "clock.so", folder / "clock.c", "-ldl"]
    subprocess.run(built, check=True)
    return {"LD_PRELOAD": str(folder / "clock.so")}


@pytest.mark.slow
def test_a_clock_set_back_a_year_loses_nothing_and_hangs_nowhere(
    home: Path, tmp_path: Path, year_back: dict[str, str]
) -> None:
    more = few(tmp_path, "more.jsonl", first=500)
    now = subprocess.run(
        [sys.executable, "-c", "import time; print(time.time())"],
        capture_output=True,
        check=True,
        env={**os.environ, **year_back},
    )
    again = run_apart("load", tmp_path / "few.jsonl", "--home", home, "--json", environment=year_back)
    loaded = run_apart("load", more, "--home", home, "--json", environment=year_back)
    asked = run_apart("failing-tools", "--home", home, "--json", environment=year_back)
    recent = run_apart("failing-tools", "--since", "7d", "--home", home, "--json", environment=year_back)
    with held(home, "writer"):
        started = time.monotonic()
        waited = run_apart("labels", "--home", home, "--wait", "0.5", environment=year_back)
        took_s = time.monotonic() - started

    assert time.time() - float(now.stdout) > 364 * 86400
    assert again.document["files"][0]["status"] == "unchanged"
    assert (loaded.code, loaded.document["files"][0]["loaded"]) == (0, SOME)
    assert asked.document[0]["calls"] == 2 * SOME
    assert recent.code == 1
    assert "no_data" in recent.err
    assert waited.code == 3
    assert took_s < 30


@pytest.mark.slow
def test_in_the_locale_c_letters_of_every_script_load_and_show_as_escapes(tmp_path: Path) -> None:
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    text = "Пхукет 🙂"
    write(tmp_path / "записи.jsonl", trace(1, toolName="сервис", args={"город": text}), "плохо")
    home = tmp_path / "дом"

    loaded = run_apart("load", tmp_path / "записи.jsonl", "--home", home, environment=locale)
    document = run_apart("calls", "--home", home, "--json", environment=locale)
    table = run_apart("rejects", "--home", home, environment=locale)
    exported = run_apart("export", "calls", home / "calls.jsonl", "--home", home, environment=locale)
    taken = run_apart("calls", "--csv", home / "calls.csv", "--home", home, environment=locale)
    rebuilt = run_apart("load", "--rebuild", "--home", home, environment=locale)

    for ran in (loaded, document, table, exported, taken, rebuilt):
        assert (ran.code, "Traceback" in ran.err) == (0, False), ran.err
        assert ran.out.isascii()
    (call,) = document.document
    assert call["tool_name"] == "сервис"
    assert json.loads(call["arguments"]) == {"город": text}
    assert json.loads((home / "calls.jsonl").read_text("utf-8"))["tool_name"] == "сервис"
    assert "сервис" in (home / "calls.csv").read_text("utf-8")
    assert held_calls(home) == 1
