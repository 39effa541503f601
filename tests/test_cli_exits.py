"""The exit code tells the truth, stdout holds the answer alone, and importing costs next to nothing."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys

import click
import pytest
from command_line import run

from quality_lab import errors
from quality_lab.cli import exits, program

HEAVY = {"pandas", "polars", "plotly", "duckdb", "papermill", "openai", "pyarrow", "IPython", "msgspec"}


def quality_lab(*arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
    """Return how the command ended in a process of its own."""
    command = [sys.executable, "-m", "quality_lab", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


@pytest.fixture
def verb_that(monkeypatch):
    """Add a verb `try` that does what it is given."""

    def add(act) -> None:
        @click.command("try")
        def command():
            return act()

        monkeypatch.setattr(sys.modules[__name__], "command", command, raising=False)
        row = program.Verb("try", f"{__name__}:command", "Try.", program.ASK)
        monkeypatch.setattr(program, "VERBS", (*program.VERBS, row))

    return add


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.QualityLabError, 1),
        (errors.NoData, 1),
        (errors.UsageError, 2),
        (errors.UnknownName, 2),
        (errors.InputError, 3),
        (errors.StoreBusy, 3),
        (errors.OutputError, 3),
        (errors.ServiceError, 4),
        (KeyboardInterrupt, 130),
        (OSError, 3),
        (click.UsageError, 2),
    ],
)
def test_each_kind_of_failure_has_its_exit_code_and_says_so_on_stderr_alone(verb_that, error, code):
    def fail():
        raise error("what was wanted and what came")

    verb_that(fail)
    ran = run("try")

    assert ran.code == code
    assert ran.out == ""
    assert "interrupted" in ran.err if code == 130 else "what was wanted and what came" in ran.err
    assert "Traceback" not in ran.err


def test_what_a_verb_returns_is_its_exit_code(verb_that):
    verb_that(lambda: 1)

    assert run("try").code == 1


def test_an_error_shows_hostile_text_without_letting_it_act(verb_that):
    def fail():
        raise errors.InputError("a file named \x1b[2Jx\u202e")

    verb_that(fail)

    assert "a file named \\x1b[2Jx\\u202e" in run("try").err


def test_an_unknown_verb_is_wrong_usage_and_the_nearest_is_named():
    ran = run("laod")

    assert ran.code == 2
    assert "Did you mean 'load'" in ran.err


@pytest.mark.parametrize("arguments", [["load", "--no-such-option"], ["load"], ["formats", "extra"]])
def test_wrong_usage_is_2_and_leaves_stdout_empty(arguments):
    ran = run(*arguments)

    assert (ran.code, ran.out) == (2, "")


def test_help_is_fine_and_lists_every_verb():
    ran = run("--help")

    assert ran.code == 0
    assert all(f"  {verb.name} " in ran.out for verb in program.VERBS)


def _commands(group: click.Group, path: tuple[str, ...] = ()):
    """Yield each command below *group* that does something itself, with the words that name it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _commands(command, (*path, name))
        else:
            yield (*path, name), {option for parameter in command.params for option in parameter.opts}


def test_every_command_takes_a_home_and_json_but_the_one_that_hands_the_screen_to_jupyterlab():
    lacking = {
        " ".join(words): sorted({"--home", "--json"} - options)
        for words, options in _commands(program.program)
        if not {"--home", "--json"} <= options
    }

    assert lacking == {"notebook": ["--json"]}


def test_a_verb_that_reads_no_home_takes_one_all_the_same(tmp_path):
    assert run("formats", "--home", tmp_path, "--json").document == run("formats", "--json").document


def test_the_module_is_the_command():
    ran = quality_lab("--version")

    assert ran.returncode == 0
    assert ran.stdout.startswith("quality-lab ")


def test_help_reads_no_verb_and_nothing_heavy():
    code = (
        "import sys; from quality_lab.cli.program import program\n"
        "program.main(['--help'], standalone_mode=False)\n"
        "print('LOADED', *sorted(sys.modules))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = set(said.partition("LOADED")[2].split())

    assert loaded & HEAVY == set()
    assert {name for name in loaded if name.startswith("quality_lab.")} == {
        "quality_lab.cli",
        "quality_lab.cli.program",
    }


def test_a_reader_that_leaves_early_is_met_with_silence():
    command = f"{sys.executable} -m quality_lab formats --json | true; echo ${{PIPESTATUS[0]}}"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)

    assert ran.stderr == ""
    assert ran.stdout.strip() in ("0", str(exits.UNREAD))  # as the race between the two falls


def test_a_long_answer_of_which_only_the_head_is_read_ends_with_141_and_in_silence(tmp_path):
    program = (
        "import sys; from quality_lab.cli import exits, program\n"
        "program.program.main = lambda *_, **__: [print('x' * 70) for _ in range(100_000)] and 0\n"
        "exits.run(['calls', '--json'])"
    )
    command = f'{sys.executable} -c "$1" | head -n 1; echo "${{PIPESTATUS[0]}}"'
    ran = subprocess.run(["bash", "-c", command, "-", program], capture_output=True, text=True, check=False)

    assert (ran.stdout.splitlines(), ran.stderr) == (["x" * 70, "141"], "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("redirection", "why"), [(">/dev/full", "No space left on device"), (">&-", "it is closed")]
)
@pytest.mark.parametrize("arguments", ["formats --json", "tools booking get", "--help"])
def test_a_standard_output_that_takes_nothing_is_3_and_is_said(
    tmp_path, arguments, redirection, why, unbuffered
):
    command = f"exec {sys.executable} -m quality_lab {arguments} {redirection}"
    surroundings = {**os.environ, "PYTHONUNBUFFERED": unbuffered, "QUALITY_LAB_HOME": str(tmp_path)}
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=surroundings)

    assert ran.returncode == 3
    assert ran.stderr == f"quality-lab: standard output cannot be written: {why}\n"


def test_what_is_told_on_a_closed_standard_error_does_not_slip_into_standard_output(tmp_path):
    command = f"exec {sys.executable} -m quality_lab failing-tools --json --home {tmp_path} 2>&-"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)

    assert (ran.returncode, ran.stdout) == (1, "[]\n")


def test_an_error_of_the_system_names_the_file_and_not_its_own_number(verb_that):
    verb_that(lambda: open("/no/such/file"))  # noqa: PTH123, SIM115  # it cannot be opened

    assert run("try").err == "quality-lab: /no/such/file: No such file or directory\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [(errors.NoData, 1), (errors.StoreBusy, 3), (errors.ServiceError, 4), (OSError, 3)],
)
def test_with_json_a_command_that_could_not_answer_prints_what_went_wrong_as_its_one_document(
    verb_that, error, code
):
    def fail(*_: object):
        raise error("came \x1b[2J")

    verb_that(fail)
    program_of_try = sys.modules[__name__].command
    program_of_try.params.append(click.Option(["--json"], is_flag=True, expose_value=False))

    ran = run("try", "--json")

    assert ran.code == code
    assert ran.document == {"error": {"kind": error.__name__, "message": "came \x1b[2J"}}
    assert "\x1b" not in ran.out + ran.err
    assert run("try").out == ""


def test_with_json_a_document_that_was_printed_is_the_only_one(verb_that):
    def fail():
        print("[]")
        raise errors.NotFine("not what was wanted")

    verb_that(fail)
    sys.modules[__name__].command.params.append(click.Option(["--json"], is_flag=True, expose_value=False))

    assert (run("try", "--json").code, run("try", "--json").out) == (1, "[]\n")


def test_regressions_without_their_file_say_so_in_json_where_it_is_wanted(tmp_path):
    missing = tmp_path / "none.jsonl"

    asked, plain = (run("regressions", "--file", missing, *more) for more in (["--json"], []))

    assert (asked.code, plain.code, plain.out) == (3, 3, "")
    assert asked.document["error"]["kind"] == "InputError"
    assert str(missing) in asked.document["error"]["message"]
    assert asked.err == plain.err


def test_a_terminal_without_letters_gets_escapes_and_json_stays_json():
    surroundings = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    table = quality_lab("formats", env=surroundings)
    document = quality_lab("formats", "--json", env=surroundings)

    assert (table.returncode, table.stderr) == (0, "")
    assert (document.returncode, document.stderr) == (0, "")
    assert document.stdout.isascii()


def test_an_interrupt_is_130():
    code = (
        "import sys, time, click, quality_lab.cli.program as p\n"
        "@click.command()\n"
        "def command():\n"
        "    print('ready', flush=True); time.sleep(60)\n"
        "sys.modules['waiting'] = sys.modules['__main__']\n"
        "p.VERBS = (p.Verb('wait', 'waiting:command', '', p.ASK),)\n"
        "from quality_lab.cli import main; main(['wait'])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)

    assert process.returncode == 130
    assert "Traceback" not in err


@pytest.mark.slow
def test_importing_takes_150_ms_at_most_and_help_300():
    def best_ms(*command: str) -> float:
        """Return the least processor time of several runs: what others do meanwhile hardly counts in it."""
        taken = []
        for _ in range(7):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, capture_output=True, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(taken) * 1000

    assert best_ms(sys.executable, "-c", "import quality_lab") < 150
    assert best_ms(sys.executable, "-m", "quality_lab", "--help") < 300


HOLDER = """
import sys, time, duckdb
held = duckdb.connect(sys.argv[1])
held.execute("create table t (i int)")
print("held", flush=True)
time.sleep(60)
"""


def test_a_database_that_somebody_holds_is_waited_for_with_a_bound_and_the_holder_is_named(tmp_path):
    database = tmp_path / "data" / "quality.duckdb"
    database.parent.mkdir()
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(database)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        ran = run("failing-tools", "--home", tmp_path, "--wait", "0.3", "--json")
        holder.kill()

    assert (ran.code, ran.document["error"]["kind"]) == (3, "StoreBusy")
    assert f"waiting up to 0.3 s for {database}" in ran.err
    assert f"process {holder.pid}" in ran.err


@pytest.mark.parametrize("name", ["quality", "coach-review"])
def test_a_report_on_a_database_that_cannot_be_opened_is_3_within_the_wait_and_leaves_no_folder(
    tmp_path, name
):
    database = tmp_path / "data" / "quality.duckdb"
    database.parent.mkdir()
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(database)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        held = run("report", name, "--home", tmp_path, "--wait", "0.1", "--json")
        holder.kill()
    database.write_bytes(b"no database")
    broken = run("report", name, "--home", tmp_path)

    assert (held.code, held.document["error"]["kind"]) == (3, "StoreBusy")
    assert "waited 0.1 s" in held.err
    assert (broken.code, broken.out) == (3, "")
    assert f"{database} cannot be read as a database" in broken.err
    assert not (tmp_path / "reports").exists()


def test_a_report_that_does_not_exist_is_wrong_usage_whatever_the_database_is(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "quality.duckdb").write_bytes(b"no database")

    assert run("report", "horoscope", "--home", tmp_path).code == 2


@pytest.mark.parametrize("verb", [["cases"], ["regressions", "--rerun"], ["report", "list"]])
def test_the_wait_that_a_message_speaks_of_can_be_given(tmp_path, verb):
    database = tmp_path / "data" / "quality.duckdb"
    database.parent.mkdir()
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(database)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        ran = run(*verb, "--home", tmp_path, "--wait", "0.1")
        holder.kill()

    assert ran.code == (0 if verb == ["report", "list"] else 3)  # a list of folders asks no database
    assert ran.code == 0 or "waited 0.1 s (see --wait)" in ran.err


@pytest.mark.parametrize("home", [["--home", "lab"], ["--home=lab"]])
def test_a_check_of_records_takes_a_home_as_every_verb_does(tmp_path, monkeypatch, home):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tool-call-regression-cases.jsonl").write_text("")

    assert run("regressions", *home).out == run("regressions").out
    assert (run("regressions", "--home").code, run("regressions", "--file", "--home").code) == (2, 3)


@pytest.mark.parametrize("seconds", ["soon", "-1", "nan", "inf"])
def test_a_wait_of_a_rerun_is_a_number_of_seconds(tmp_path, seconds):
    ran = run("regressions", "--rerun", "--home", tmp_path, "--wait", seconds)

    assert ran.code == 2
    assert f"--wait is a number of seconds from 0, not {seconds}" in ran.err
