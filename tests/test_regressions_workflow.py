"""The workflow for a user's repository: its shape by GitHub's schema, its shell steps run as they stand."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from loopback import Loopback, Reply
from regression_lines import line

from quality_lab.regressions import WORKFLOW

TOKEN = "tok-for-the-lab"
REPORTS = ["tool-call-regressions.json", "tool-call-regressions.junit.xml", "tool-call-regressions.md"]


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    """The file as it stands, every scalar as its text: `on` is no truth value there."""
    return yaml.load(WORKFLOW.read_text("utf-8"), yaml.BaseLoader)


# ---- its shape ----


def test_the_file_fits_github_s_schema_for_workflows():
    checker = Path(sys.executable).with_name("check-jsonschema")
    command = [checker, "--builtin-schema", "vendor.github-workflows", WORKFLOW]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_it_is_started_by_hand_and_by_the_clock_with_the_inputs_of_upstream_s(workflow):
    inputs = workflow["on"]["workflow_dispatch"]["inputs"]

    assert workflow["on"]["schedule"] == [{"cron": "23 3 * * *"}]
    assert {name: (each["type"], each["default"]) for name, each in inputs.items()} == {
        "api_base": ("string", ""),
        "status": ("choice", "active"),
        "limit": ("string", "500"),
        "supported_tools": ("string", ""),
        "skip_unsupported": ("boolean", "true"),
    }
    assert inputs["status"]["options"] == ["active", "archived", "all"]


def test_it_may_only_read_ends_in_time_and_gives_way_to_a_newer_run(workflow):
    job = workflow["jobs"]["tool-regressions"]

    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]["cancel-in-progress"] == "true"
    assert job["timeout-minutes"] == "10"
    assert job["steps"][-1]["with"] == {
        "name": "tool-call-regressions",
        "path": "".join(f"artifacts/{name}\n" for name in REPORTS),
        "if-no-files-found": "ignore",
    }


def test_nothing_that_people_fill_in_becomes_shell_text(workflow):
    shell = [step["run"] for step in workflow["jobs"]["tool-regressions"]["steps"] if "run" in step]

    assert len(shell) == 4
    assert [text for text in shell if "${{" in text] == []


def test_the_token_is_in_the_two_steps_that_need_it_and_nowhere_else(workflow):
    job = workflow["jobs"]["tool-regressions"]
    holders = [step["name"] for step in job["steps"] if "secrets." in str(step)]

    assert holders == ["Look at the settings", "Check the cases"]
    assert "secrets." not in str({**job, "steps": []})


def test_its_head_names_every_secret_and_variable_that_it_reads(workflow):
    head = WORKFLOW.read_text("utf-8").partition("\nname:")[0]
    read = set(re.findall(r"(?:secrets|vars)\.(\w+)", str(workflow)))

    assert read == {
        "QUALITY_LAB_TOKEN",
        *(
            f"QUALITY_TOOL_REGRESSION_{name}"
            for name in ("API_BASE", "STATUS", "LIMIT", "TOOLS", "SKIP_UNSUPPORTED")
        ),
    }
    assert [name for name in read if name not in head] == []


# ---- a runner that is just enough ----


def evaluated(text: str, known: Mapping[str, object]) -> str:
    """Return *text* with GitHub's expressions worked out: names, quoted text, ==, &&, ||, format."""

    def worked_out(found: re.Match[str]) -> str:
        python = re.sub(
            r"'[^']*'|\b[a-z]+(?:\.\w+)+",
            lambda part: named(part[0]),
            found[1].replace("&&", "and").replace("||", "or"),
        )
        value = eval(python, {"format": lambda pattern, value: pattern.replace("{0}", shown(value))})
        return shown(value)

    def named(part: str) -> str:
        return part if part.startswith("'") else repr(known.get(part, ""))

    def shown(value: object) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    return re.sub(r"\$\{\{ (.+?) \}\}", worked_out, text)


@dataclass
class Finished:
    """How a run of the workflow ended."""

    codes: dict[str, int] = field(default_factory=dict)  # of the shell steps that ran
    said: str = ""
    summary: str = ""
    asked_pip: str = ""


def run_workflow(workflow: dict[str, Any], folder: Path, known: Mapping[str, object]) -> Finished:
    """Run the shell steps of *workflow* in *folder* as GitHub's runner does, with pip standing aside."""
    stubs = folder / "stubs"
    stubs.mkdir()
    python, asked_pip = shlex.quote(sys.executable), shlex.quote(str(folder / "pip"))
    (stubs / "python").write_text(
        f'#!/bin/sh\n[ "$1 $2" != "-m pip" ] || exec echo "$@" >> {asked_pip}\nexec {python} "$@"\n'
    )
    (stubs / "quality-lab").write_text(f'#!/bin/sh\nexec {python} -m quality_lab "$@"\n')
    for stub in stubs.iterdir():
        stub.chmod(0o755)
    (checkout := folder / "checkout").mkdir()
    outputs, summary = folder / "outputs", folder / "summary"
    outputs.touch()
    summary.touch()
    job = workflow["jobs"]["tool-regressions"]
    base = {"PATH": f"{stubs}:{os.environ['PATH']}", "HOME": str(folder), "no_proxy": "127.0.0.1"}
    base |= {"GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(summary)}
    base |= {name: evaluated(text, known) for name, text in job["env"].items()}
    finished, failed = Finished(), False
    for step in job["steps"]:
        condition = step.get("if", "")
        configured = "configured=true\n" in outputs.read_text("utf-8")
        wanted = "configured == 'true'" not in condition or configured
        if "run" not in step or not wanted or (failed and "always()" not in condition):
            continue
        script = folder / "step.sh"
        script.write_text(step["run"], encoding="utf-8")
        env = base | {name: evaluated(text, known) for name, text in step.get("env", {}).items()}
        ended = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
            cwd=checkout,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        finished.codes[step["name"]] = ended.returncode
        finished.said += ended.stdout
        failed = failed or ended.returncode != 0
    finished.summary = summary.read_text("utf-8")
    finished.asked_pip = (folder / "pip").read_text("utf-8") if (folder / "pip").exists() else ""
    return finished


def by_the_clock(base: str, **variables: str) -> dict[str, object]:
    """Return what a scheduled run knows."""
    known: dict[str, object] = {"github.event_name": "schedule", "secrets.QUALITY_LAB_TOKEN": TOKEN}
    known["vars.QUALITY_TOOL_REGRESSION_API_BASE"] = base
    return known | {f"vars.QUALITY_TOOL_REGRESSION_{name}": value for name, value in variables.items()}


def by_hand(base: str, **inputs: object) -> dict[str, object]:
    """Return what a run knows that somebody started, with the defaults of the form."""
    form = {
        "api_base": "",
        "status": "active",
        "limit": "500",
        "supported_tools": "",
        "skip_unsupported": True,
    }
    known = {**by_the_clock(base), "github.event_name": "workflow_dispatch"}
    return known | {f"inputs.{name}": value for name, value in {**form, **inputs}.items()}


BODY = line() + b"\n" + line(toolName="gone", id=42) + b"\n"
ALL_STEPS = ["Look at the settings", "Install Quality Lab", "Check the cases", "Show the report"]


def targets(server: Loopback) -> list[str]:
    return [seen.target.partition("?")[2] for seen in server.seen]


# ---- its steps ----


@pytest.mark.parametrize(
    "known",
    [
        {"github.event_name": "schedule"},
        by_the_clock("") | {"secrets.QUALITY_LAB_TOKEN": TOKEN},
        by_the_clock("https://lab.example.com") | {"secrets.QUALITY_LAB_TOKEN": ""},
    ],
)
def test_without_base_or_token_it_says_so_and_ends_green(workflow, tmp_path, known):
    finished = run_workflow(workflow, tmp_path, known)

    assert finished.codes == {"Look at the settings": 0}
    assert finished.said.startswith("::notice title=Tool-call regressions are skipped::")
    assert finished.said.count("\n") == 1


def test_a_night_s_run_asks_with_the_defaults_and_shows_the_report(workflow, tmp_path):
    with Loopback(Reply(body=BODY)) as server:
        finished = run_workflow(workflow, tmp_path, by_the_clock(server.base))

    assert finished.codes == dict.fromkeys(ALL_STEPS, 0)
    assert targets(server) == ["status=active&limit=500"]
    assert server.seen[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert finished.asked_pip == "-m pip install --quiet --disable-pip-version-check quality-lab\n"
    assert sorted(path.name for path in (tmp_path / "checkout" / "artifacts").iterdir()) == REPORTS
    assert finished.summary.startswith("## Tool-call Regression Report\n")
    assert "| Passed | 2 |" in finished.summary
    assert TOKEN not in finished.said + finished.summary
    assert "::notice" not in finished.said


@pytest.mark.parametrize(
    ("value", "code", "counted"), [("false", 1, "Failed"), ("true", 0, "Skipped"), ("1", 0, "Skipped")]
)
def test_the_variables_say_what_is_asked(workflow, tmp_path, value, code, counted):
    with Loopback(Reply(body=BODY)) as server:
        known = by_the_clock(
            server.base, STATUS="all", LIMIT="1000", TOOLS="book_table", SKIP_UNSUPPORTED=value
        )
        finished = run_workflow(workflow, tmp_path, known)

    assert targets(server) == ["status=all&limit=1000"]
    assert finished.codes["Check the cases"] == code
    assert finished.codes["Show the report"] == 0
    assert f"| {counted} | 1 |" in finished.summary


@pytest.mark.parametrize(("skip", "code"), [(True, 0), (False, 1)])
def test_what_is_filled_in_by_hand_goes_before_the_variables(workflow, tmp_path, skip, code):
    with Loopback(Reply(body=BODY)) as server:
        known = by_hand(
            "https://not.asked.example.com",
            api_base=f"{server.base}/eu",
            status="archived",
            limit="7",
            supported_tools="book_table",
            skip_unsupported=skip,
        )
        known["vars.QUALITY_TOOL_REGRESSION_STATUS"] = "all"
        known["vars.QUALITY_TOOL_REGRESSION_SKIP_UNSUPPORTED"] = "true"
        finished = run_workflow(workflow, tmp_path, known)

    assert [seen.target.partition("/api")[0] for seen in server.seen] == ["/eu"]
    assert targets(server) == ["status=archived&limit=7"]
    assert finished.codes["Check the cases"] == code


@pytest.mark.parametrize(
    ("filled_in", "said"),
    [
        ({"status": "deleted"}, "The status must be"),
        ({"status": "active'; touch here; '"}, "The status must be"),
        *(
            ({"limit": limit}, "The limit must be")
            for limit in ("0", "1001", "1e2", "-1", " 5", "9" * 30, "$(id)")
        ),
    ],
)
def test_a_wrong_status_or_limit_is_an_error_before_anything_is_installed(
    workflow, tmp_path, filled_in, said
):
    finished = run_workflow(workflow, tmp_path, by_hand("https://lab.example.com", **filled_in))

    assert finished.codes == {"Look at the settings": 1}
    assert finished.said.startswith(f"::error title=Tool-call regressions::{said}")
    assert list((tmp_path / "checkout").iterdir()) == []


@pytest.mark.parametrize("tools", ["$(touch here)", "`touch here`", "--json", "a b,*", "'; touch here #"])
def test_a_list_of_tools_is_only_ever_a_list_of_tools(workflow, tmp_path, tools):
    with Loopback(Reply(body=BODY)) as server:
        finished = run_workflow(workflow, tmp_path, by_hand(server.base, supported_tools=tools))

    assert finished.codes["Check the cases"] == 0  # both cases are skipped: their tool is not on the list
    assert "| Unsupported | 2 |" in finished.summary
    assert [path.name for path in (tmp_path / "checkout").iterdir()] == ["artifacts"]


def test_a_service_that_refuses_fails_the_job_and_the_summary_says_that_there_is_no_report(
    workflow, tmp_path
):
    with Loopback(Reply(status=401, body=f"bad {TOKEN}".encode())) as server:
        finished = run_workflow(workflow, tmp_path, by_the_clock(server.base))

    assert finished.codes["Check the cases"] == 4
    assert finished.codes["Show the report"] == 0
    assert "there is no report" in finished.summary
    assert TOKEN not in finished.said


def test_a_full_page_is_noticed(workflow, tmp_path):
    with Loopback(Reply(body=BODY)) as server:
        finished = run_workflow(workflow, tmp_path, by_the_clock(server.base, LIMIT="2"))

    assert "::notice title=There may be more cases::" in finished.said


def test_the_shell_line_in_its_head_does_the_same(tmp_path):
    (found,) = re.findall(
        r"^#   (QUALITY_LAB_TOKEN=\S+ quality-lab .+)$", WORKFLOW.read_text("utf-8"), re.MULTILINE
    )
    with Loopback(Reply(body=BODY)) as server:
        shell = found.replace("QUALITY_LAB_TOKEN=...", f"QUALITY_LAB_TOKEN={TOKEN}")
        shell = shell.replace("https://lab.example.com", server.base)
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        ended = subprocess.run(
            ["sh", "-c", shell], cwd=tmp_path, env={"PATH": path, "no_proxy": "*"}, check=False
        )

    assert ended.returncode == 0
    assert targets(server) == ["status=active&limit=500"]
    assert sorted(each.name for each in (tmp_path / "artifacts").iterdir()) == REPORTS
