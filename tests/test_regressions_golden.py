"""The runner against what upstream's did on the same input; each deviation is named here, any other fails."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import Ran, run
from loopback import Loopback, Reply, closed_port

from quality_lab.regressions import ApiSource, ArgumentError, parse_arguments

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")

# ---- deviations in files: what upstream wrote, what we write, and why --------------------------------

LINE_END = "a line feed in a value would end the bullet and begin whatever Markdown likes"
MARKUP = "Markdown would read the value as markup"
CONTROL = "a control character acts on whoever prints the page"
ILLEGAL = "XML knows no such character, not even as a reference; no parser would read the document"

Replacement = tuple[str, str, str, str]  # end of the file's name, upstream's text, ours, the reason

BLANKS_MD: list[Replacement] = [
    (".md", "actual \x0b\n", "actual \\u000b\n", CONTROL),
    (".md", "actual \x0c\n", "actual \\u000c\n", CONTROL),
]
BLANKS_XML: list[Replacement] = [
    (".xml", "actual=\x0b\n", "actual=\\u000b\n", ILLEGAL),
    (".xml", "actual=\x0c\n", "actual=\\u000c\n", ILLEGAL),
    (".xml", 'case 8314 - \x1e"', 'case 8314 - \\u001e"', ILLEGAL),
]
KEYS: list[Replacement] = [(".md", '{"__proto__":', '{"__proto\\_\\_":', MARKUP)]
HEADER_MD: list[Replacement] = [
    (".md", "case 4709, tool \x85\n", "case 4709, tool \\u0085\n", CONTROL),
    (".md", "case unknown, tool \x1f\n", "case unknown, tool \\u001f\n", CONTROL),
]
HEADER_XML: list[Replacement] = [
    (".xml", 'case unknown - \x1f"', 'case unknown - \\u001f"', ILLEGAL),
    (".xml", "tool=\x1f\n", "tool=\\u001f\n", ILLEGAL),
]
SINGLE_XML: list[Replacement] = [
    (".xml", 'case 4484 - \x1f"', 'case 4484 - \\u001f"', ILLEGAL),
    (".xml", "tool=\x1f\n", "tool=\\u001f\n", ILLEGAL),
    (".xml", "expected=\x1f\n", "expected=\\u001f\n", ILLEGAL),
]
MIXED: list[Replacement] = [(".md", "actual \t\n\r\n", "actual \t\\n\\r\n", LINE_END)]
TEXT: list[Replacement] = [
    (".md", "actual one\ntwo\n\nthree\n", "actual one\\ntwo\\n\\nthree\n", LINE_END),
    (".md", "actual |a|`b`*c*\n- d\n", "actual \\|a\\|\\`b\\`\\*c\\*\\n- d\n", LINE_END),
    (".md", "actual <active>&", "actual \\<active>&", MARKUP),
    (".md", "actual a\r\nb\n", "actual a\\r\\nb\n", LINE_END),
    (".md", "actual \x7f\x9f\n", "actual \\u007f\\u009f\n", CONTROL),
    (".md", "c\x85d\n", "c\\u0085d\n", CONTROL),
]
BELL_XML: list[Replacement] = [(".xml", '- bell\x07"', '- bell\\u0007"', ILLEGAL)]
BELL_FAILS: list[Replacement] = [
    (".md", "tool bell\x07\n", "tool bell\\u0007\n", CONTROL),
    (".md", "actual bell\x07\n", "actual bell\\u0007\n", CONTROL),
    (".xml", "tool=bell\x07\n", "tool=bell\\u0007\n", ILLEGAL),
    (".xml", "actual=bell\x07\n", "actual=bell\\u0007\n", ILLEGAL),
]
DEVIATIONS: dict[str, list[Replacement]] = {
    "blank-strings.reports": BLANKS_MD + BLANKS_XML,
    "blank-strings.skip-without-tools": BLANKS_MD,
    "blank-strings.tools-skip": BLANKS_MD + BLANKS_XML,
    "keys.blank-tools": KEYS,
    "keys.reports": KEYS,
    "keys.skip-without-tools": KEYS,
    "keys.tools-skip": KEYS,
    "multi-header.blank-tools": HEADER_MD + HEADER_XML,
    "multi-header.reports": HEADER_MD + HEADER_XML,
    "multi-header.skip-without-tools": HEADER_MD,
    "multi-header.tools-skip": HEADER_MD + HEADER_XML,
    "multi-mixed.archived": MIXED,
    "multi-mixed.archived-tools": MIXED,
    "multi-mixed.blank-tools": MIXED,
    "multi-mixed.reports": MIXED,
    "multi-mixed.skip-without-tools": MIXED,
    "multi-mixed.tools": MIXED,
    "multi-mixed.tools-skip": MIXED,
    "single-header.archived": SINGLE_XML,
    "single-header.reports": SINGLE_XML,
    "text.archived": TEXT + BELL_XML,
    "text.archived-tools": TEXT + BELL_XML + BELL_FAILS,
    "text.odd-tools": TEXT + BELL_XML + BELL_FAILS,
    "text.reports": TEXT + BELL_XML,
}


def filled(text: str, **stand_ins: str) -> str:
    """Return what a run left, with the stand-ins of the golden files put where they belong."""
    for name, value in stand_ins.items():
        text = text.replace(value, f"<{name}>")
    return STAMP.sub("GENERATED_AT", text)


def same(expected: str, came: str) -> bool:
    """Return whether *came* is what was expected, with any words of the parser."""
    pattern = re.escape(expected).replace("PARSER_MESSAGE", r"[^\n]+")
    return re.fullmatch(pattern, came) is not None


def files_below(folder: Path, *, but: Mapping[str, bytes]) -> dict[str, str]:
    """Return the files that are new or changed in *folder*."""
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    return {name: content.decode("utf-8") for name, content in found.items() if but.get(name) != content}


def differences(
    expected: dict[str, Any], ran: Ran, files: dict[str, str], **stand_ins: str
) -> dict[str, Any]:
    """Return where a run is not as expected: what was expected and what came, by stream and file."""
    pairs = {name: (text, files.get(name, "no such file")) for name, text in expected["files"].items()}
    pairs |= {"stdout": (expected["stdout"], ran.out), "stderr": (expected["stderr"], ran.err)}
    wrong: dict[str, Any] = {
        name: (text, filled(came, **stand_ins))
        for name, (text, came) in pairs.items()
        if not same(text, filled(came, **stand_ins))
    }
    if set(files) != set(expected["files"]):
        wrong["files"] = (sorted(expected["files"]), sorted(files))
    return wrong


def exit_code(upstream: int, *, otherwise: int = 1) -> int:
    """Return the code of ours for upstream's, which knows a lone 1; *otherwise* says what went wrong."""
    return otherwise if upstream else 0


# ---- files ------------------------------------------------------------------------------------------


def with_deviations(vector: dict[str, Any]) -> dict[str, Any]:
    """Return the vector's files as ours are to be; every deviation named for it has to apply."""
    files = dict(vector["files"])
    for suffix, theirs, ours, _ in DEVIATIONS.get(vector["id"], []):
        (name,) = [name for name in files if name.endswith(suffix)]
        assert theirs in files[name], (vector["id"], theirs)
        files[name] = files[name].replace(theirs, ours)
    return {**vector, "files": files}


def test_every_run_over_a_file_is_upstream_s_but_for_the_named_escapes(shared, tmp_path, monkeypatch):
    golden = shared / "golden" / "regressions"
    vectors = [json.loads(path.read_text("utf-8")) for path in sorted((golden / "runs").glob("*.json"))]
    wrong, codes = {}, {}
    for vector in vectors:
        folder = tmp_path / vector["id"]
        folder.mkdir()
        corpus = golden / vector["corpus"]
        (folder / corpus.name).write_bytes(corpus.read_bytes())
        monkeypatch.chdir(folder)
        ran = run("regressions", *vector["argv"])
        files = files_below(folder, but={corpus.name: corpus.read_bytes()})
        if found := differences(with_deviations(vector), ran, files, CWD=str(folder)):
            wrong[vector["id"]] = found
        if ran.code != exit_code(vector["exit"]):
            codes[vector["id"]] = (vector["exit"], ran.code)

    assert len(vectors) == 167
    assert len(DEVIATIONS) == 24
    assert set(DEVIATIONS) <= {vector["id"] for vector in vectors}
    assert wrong == {}
    assert codes == {}


UNREADABLE = "a file that cannot be read is told in our words, with 3"
UNWRITABLE = "a report that cannot be written is told in our words, with 3"
SPECIAL = {  # vector: our exit code, what stderr says, why
    "missing-file": (3, "<CWD>/nope.jsonl", UNREADABLE),
    "default-file-missing": (3, "<CWD>/tool-call-regression-cases.jsonl", UNREADABLE),
    "directory-as-file": (3, "<CWD>/dir", UNREADABLE),
    "out-json-is-directory": (3, "<CWD>/dir", UNWRITABLE),
    "out-md-under-a-file": (3, "<CWD>/c.jsonl/m.md", UNWRITABLE),
}


def test_strange_paths_end_as_upstream_s_but_for_the_named_messages(shared, tmp_path, monkeypatch, help_text):
    vectors = json.loads((shared / "golden" / "regressions" / "special-runs.json").read_text("utf-8"))
    wrong = {}
    for vector in vectors:
        folder = tmp_path / vector["id"]
        folder.mkdir()
        given = {name: text.encode("utf-8") for name, text in vector.get("inputs", {}).items()}
        given |= {name: bytes.fromhex(text) for name, text in vector.get("inputs_hex", {}).items()}
        for name, content in given.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        monkeypatch.chdir(folder)
        ran = run("regressions", *vector["argv"])
        code, said, _ = SPECIAL.get(vector["id"], (vector["exit"], None, None))
        found = differences(vector, ran, files_below(folder, but=given), CWD=str(folder), HELP=help_text)
        if said is not None:
            upstream, ours = found.pop("stderr")
            assert upstream.startswith("Error: ")
            assert re.fullmatch(f"Error: wanted to (read|write) {re.escape(said)}, got: .+\n", ours)
        if found or ran.code != code:
            wrong[vector["id"]] = (found, ran)

    assert len(vectors) == 15
    assert set(SPECIAL) == {vector["id"] for vector in vectors if vector.get("stderr_portable") is False}
    assert wrong == {}


# ---- arguments --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def help_text() -> str:
    """The whole help text, without its last line feed."""
    return run("regressions", "--help").out.removesuffix("\n")


def parsed(vector: dict[str, Any]) -> dict[str, Any]:
    """Return what the command line of *vector* is for us, in the words of the golden file."""
    try:
        settings = parse_arguments(vector["argv"], env=vector["env"], folder="/a/folder")
    except ArgumentError as problem:
        return {"error": str(problem)}
    source = settings.source
    paths = {
        "outJsonPath": settings.out_json,
        "outJunitPath": settings.out_junit,
        "outMdPath": settings.out_markdown,
    }
    said = {
        "supportedTools": list(settings.supported_tools),
        "includeArchived": settings.archived_too,
        "skipUnsupported": settings.skip_unsupported,
        "json": settings.as_json,
        "help": settings.help,
        "source": {
            "kind": "api",
            "apiBase": source.base,
            "token": source.token,
            "status": source.status,
            "limit": source.limit,
        }
        if isinstance(source, ApiSource)
        else {"kind": "file", "filePath": source.path},
        **{name: path for name, path in paths.items() if path is not None},
    }
    return json.loads(json.dumps(said).replace("/a/folder", "<CWD>"))


def test_every_command_line_means_what_it_means_upstream(shared, tmp_path, monkeypatch, help_text):
    vectors = json.loads((shared / "golden" / "regressions" / "arguments.json").read_text("utf-8"))
    wrong = [(vector["argv"], parsed(vector)) for vector in vectors if parsed(vector) != vector["parsed"]]
    monkeypatch.chdir(tmp_path)
    ended = [vector for vector in vectors if "run" in vector]
    for vector in ended:
        with monkeypatch.context() as patch:
            for name, value in vector["env"].items():
                patch.setenv(name, value)
            ran = run("regressions", *vector["argv"])
        code = exit_code(vector["run"]["exit"], otherwise=2)  # wrong usage
        found = differences(
            {**vector["run"], "files": {}}, ran, files_below(tmp_path, but={}), HELP=help_text
        )
        if found or ran.code != code:
            wrong.append((vector["argv"], ran))

    assert len(vectors) == 92
    assert len(ended) == 54
    assert wrong == []


# ---- the API ----------------------------------------------------------------------------------------

PREFIX = "the base URL's path prefix is kept"
REDACTED = "user, password, query and hash of the base stay out of the report"
ASKED_AGAIN = "a refusal that may pass is asked about again, three times in all"
NOT_REACHED = "the words are those of an engine"
API: dict[str, tuple[str, list[tuple[str, str]]]] = {  # vector: why it deviates, upstream's text and ours
    "base-path": (PREFIX, [("/api/admin", "/lab/v2/api/admin")]),
    "base-path-slash": (PREFIX, [("/api/admin", "/lab/v2/api/admin")]),
    "base-path-error": (PREFIX, [("/api/admin", "/lab/api/admin")]),
    "base-query": (REDACTED, [("http://<HOST>/?tenant=4#top", "http://<HOST>")]),
    "credentials-in-base-ok": (REDACTED, [("http://user:pw@<HOST>", "http://<HOST>")]),
    "no-server": (NOT_REACHED, []),
    "scheme-without-host": (NOT_REACHED, []),
    **{
        name: (ASKED_AGAIN, [])
        for name in (
            "too-many",
            "no-reason",
            *(f"server-error-{kind}" for kind in ("long", "240", "241", "spaces", "wide")),
            *(f"server-error-{kind}" for kind in ("blank-body", "emoji-cut", "bom-body")),
        )
    },
}
CODES = {"scheme-without-host": 2}  # a base that is no http URL is wrong usage


def test_every_run_over_the_api_is_upstream_s_but_for_the_named_deviations(shared, tmp_path, monkeypatch):
    vectors = json.loads((shared / "golden" / "regressions" / "api-runs.json").read_text("utf-8"))
    wrong = {}
    for vector in vectors:
        folder = tmp_path / vector["id"]
        folder.mkdir()
        monkeypatch.chdir(folder)
        replies = [reply(said, vector.get("reason")) for said in vector["server"]]
        with Loopback(*replies) as server, monkeypatch.context() as patch:
            for name, value in vector["env"].items():
                patch.setenv(name, value)
            closed = f"http://127.0.0.1:{closed_port()}"
            ran = run("regressions", *(with_base(word, server, closed) for word in vector["argv"]))
        why, replacements = API.get(vector["id"], ("", []))
        expected = json.loads(replaced(json.dumps(vector), replacements))
        requests = [
            {"method": seen.method, "target": seen.target, "authorization": seen.headers["authorization"]}
            for seen in server.seen
        ]
        if why == ASKED_AGAIN:
            expected["requests"] = expected["requests"] * 3
        found = differences(expected, ran, files_below(folder, but={}), CWD=str(folder), HOST=server.host)
        if why == NOT_REACHED:
            assert found.pop("stderr")[1].startswith("Error: ")
        refused = not vector["stdout"]  # upstream ends with a stack and says nothing
        code = CODES.get(vector["id"], exit_code(vector["exit"], otherwise=4 if refused else 1))
        if found or ran.code != code or requests != expected["requests"]:
            wrong[vector["id"]] = (found, ran.code, requests)

    assert len(vectors) == 46
    assert len(API) == 17
    assert set(API) <= {vector["id"] for vector in vectors}
    assert wrong == {}


def reply(said: dict[str, Any], reason: str | None) -> Reply:
    """Return the reply that a vector's server gives; it lets us ask again at once."""
    headers = {**said["headers"], "Retry-After": "0"}
    return Reply(status=said["status"], headers=headers, body=said["body"].encode("utf-8"), reason=reason)


def with_base(word: str, server: Loopback, closed: str) -> str:
    bases = {
        "<BASE>": server.base,
        "<BASE_UPPER>": f"HTTP://{server.host}",
        "<BASE_CRED>": f"http://user:pw@{server.host}",
        "<CLOSED>": closed,
    }
    return replaced(word, list(bases.items()))


def replaced(text: str, replacements: list[tuple[str, str]]) -> str:
    for old, new in replacements:
        text = text.replace(old, new)
    return text


# ---- as a process -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["text.plain", "long.reports", "line-ends.blank-tools", "not-json.json", "allowlist.json", "valid.plain"],
)
def test_the_bytes_of_a_real_process_are_upstream_s(shared, tmp_path, name):
    golden = shared / "golden" / "regressions"
    vector = with_deviations(json.loads((golden / "runs" / f"{name}.json").read_text("utf-8")))
    corpus = golden / vector["corpus"]
    (tmp_path / corpus.name).write_bytes(corpus.read_bytes())
    command = [sys.executable, "-m", "quality_lab", "regressions", *vector["argv"]]
    ended = subprocess.run(
        command, cwd=tmp_path, capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"}
    )
    ran = Ran(ended.returncode, ended.stdout.decode("utf-8"), ended.stderr.decode("utf-8"))
    files = files_below(tmp_path, but={corpus.name: corpus.read_bytes()})

    assert ran.code == exit_code(vector["exit"])
    assert differences(vector, ran, files, CWD=str(tmp_path)) == {}
