"""The rules of the house: what belongs together is together, what is said is true, nothing is foreign."""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import json
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from packaging.requirements import Requirement

import quality_lab

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "src" / "quality_lab"
TOP_LEVEL = {
    *(
        "pyproject.toml",
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
        "Makefile",
        "requirements.txt",
        "requirements-dev.txt",
    ),
    *(".gitattributes", ".gitignore", ".pre-commit-config.yaml", ".ci", ".github"),
    *("notebooks", "src", "data", "reports", "tests", "benchmarks", "docs"),
}


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Return how *command* ended, run at the top of the checkout."""
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)


def tool(name: str) -> Path:
    """Return the path of a tool of the environment that runs the tests."""
    return Path(sys.executable).with_name(name)


def tracked() -> list[Path]:
    """Return the files that git tracks, or would with the next commit; every file where there is no git."""
    listed = run(
        "git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"
    )
    if listed.returncode != 0:
        pytest.skip("no git checkout here: which files belong to the project cannot be told")
    paths = [REPOSITORY / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def shown(path: Path, line: int | None = None) -> str:
    place = str(path.relative_to(REPOSITORY))
    return place if line is None else f"{place}:{line}"


def python_files() -> list[Path]:
    return [path for path in tracked() if path.suffix == ".py"]


# ---- style and types ----


@pytest.mark.parametrize("command", [("check",), ("format", "--check")])
def test_ruff_finds_nothing(command):
    checked = run(tool("ruff"), *command, ".")

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_mypy_finds_nothing_in_src():
    checked = run(tool("mypy"))

    assert checked.returncode == 0, checked.stdout + checked.stderr


# ---- what belongs together ----


METRICS = PACKAGE / "metrics"


def questions(folder: Path) -> dict[str, ast.FunctionDef]:
    """Return the public functions of the modules in *folder* that put a question to a store, by name."""
    found = {}
    for module in sorted(folder.glob("*.py")):
        for node in ast.parse(module.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                first = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)][:1]
                if first == ["store"] and module.stem != "asking":
                    found[node.name] = node
    return found


@pytest.mark.parametrize("folder", [METRICS, METRICS / "signs"], ids=lambda folder: folder.name)
def test_every_query_has_a_function_and_every_function_a_query(folder):
    queries = {path.stem for path in folder.glob("*.sql")}
    functions = questions(folder)
    asked_by = {
        name: {ast.unparse(called.func) for called in ast.walk(node) if isinstance(called, ast.Call)}
        for name, node in functions.items()
    }
    made_of_others = {name for name, called in asked_by.items() if called & (set(functions) - {name})}

    assert queries
    assert queries - set(functions) == set(), "queries that no function of their name asks"
    assert set(functions) - queries - made_of_others == set(), "functions without a query of their name"


def test_a_query_says_first_what_one_row_of_it_is():
    queries = sorted(METRICS.rglob("*.sql"))

    assert queries
    assert [shown(path) for path in queries if not path.read_text(encoding="utf-8").startswith("-- ")] == []


def test_every_step_is_taken_by_a_query_and_every_step_taken_is_there():
    written = {path.stem for path in (METRICS / "steps").glob("*.sql")}
    heads = [
        re.search(r"^-- steps: (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        for path in PACKAGE.rglob("*.sql")
    ]
    taken = {step.strip() for head in heads if head for step in head[1].split(",")}

    assert taken
    assert taken ^ written == set()


def test_every_column_of_the_schema_has_a_comment():
    columns, bare, table = 0, [], ""
    for number, line in enumerate(
        (PACKAGE / "store" / "schema.sql").read_text(encoding="utf-8").splitlines(), 1
    ):
        code, _, comment = line.partition("--")
        if opening := re.match(r"create (?:or replace )?table (\w+)", code):
            table = opening[1]
        elif table and code.startswith(")"):
            table = ""
        elif table and re.match(r"\s+[a-z_]+ [a-z]", code):
            columns += 1
            if len(comment.strip()) < 3:
                bare.append(f"{number}: {line.strip()}")

    assert columns > 100
    assert bare == []


def test_a_format_s_reader_its_row_and_its_test_come_together():
    folder = PACKAGE / "formats"
    readers = {
        path.stem
        for path in folder.glob("*.py")
        if re.search(r"^FORMAT\b.* = ", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    rows = importlib.import_module("quality_lab.formats.registry").FORMATS
    tests = {
        path.stem.removeprefix("test_formats_") for path in (REPOSITORY / "tests").glob("test_formats_*.py")
    }

    assert readers
    assert set(rows) == readers
    assert readers - tests == set(), "formats without a tests/test_formats_<name>.py"


NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks():
    assert {path.stem for path in NOTEBOOKS} >= {"quality", "explore"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_a_page_and_not_a_program_or_a_result(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    sources = ["".join(cell["source"]) for cell in cells]

    assert [cell["id"] for cell in cells if cell["outputs"] or cell["execution_count"]] == []
    assert sum("parameters" in cell["metadata"].get("tags", ()) for cell in cells) == 1
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert [source for source in sources if len(source.splitlines()) > 12] == []
    assert [
        source for source in sources if re.search(r"^\s*(async )?def |^\s*class ", source, re.MULTILINE)
    ] == []


def commands(
    group: click.Command, context: click.Context, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    """Yield every command below *group* with its words, `proposals show` for one."""
    if isinstance(group, click.Group):
        for name in group.list_commands(context):
            below = group.get_command(context, name)
            assert below is not None
            if not below.hidden:
                yield from commands(
                    below, click.Context(below, info_name=name, parent=context), (*path, name)
                )
    if path and (not isinstance(group, click.Group) or group.invoke_without_command):
        yield " ".join(path), group


def command_line() -> dict[str, click.Command]:
    """Return every command that people can type."""
    program = importlib.import_module("quality_lab.cli.program").program
    return dict(commands(program, click.Context(program, info_name="quality-lab")))


def test_every_command_has_help_with_an_example_and_a_place_in_the_readme():
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    found = command_line()
    without_example = [
        words
        for words, command in found.items()
        if not re.search(rf"quality-lab .*\b{words}\b", f"{command.help} {command.epilog}")
    ]
    not_in_readme = [words for words in found if not re.search(rf"(quality-lab [^\n`]*|`){words}\b", readme)]

    assert len(found) > 10
    assert without_example == []
    assert not_in_readme == []


def test_every_command_in_the_readme_exists():
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    first_words = {words.split()[0] for words in command_line()}
    typed = {
        match[1]
        for match in re.finditer(
            r"^(?:\$ )?quality-lab(?: --[a-z-]+(?: [^-\s]\S*)?)* ([a-z][a-z-]*)", readme, re.M
        )
    }

    assert typed
    assert typed - first_words == set()


def test_every_exported_name_has_a_docstring_with_an_example():
    bare, without_example = [], []
    for name in quality_lab.__all__:
        exported = getattr(quality_lab, name)
        if not (inspect.isclass(exported) or callable(exported) or inspect.ismodule(exported)):
            continue
        words = exported.__doc__ or ""
        if not words.strip() or words.startswith(f"{name}("):  # a dataclass writes its signature there
            bare.append(name)
        elif not (inspect.isclass(exported) and issubclass(exported, Exception)) and ">>> " not in words:
            without_example.append(name)

    assert quality_lab.__all__
    assert bare == []
    assert without_example == []


def test_the_readme_shows_python_that_was_run():
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:python|pycon)\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)

    assert blocks
    assert [block for block in blocks if not block.startswith(">>> ")] == []


# ---- reasons ----

SKIPS = {"pytest.skip", "pytest.xfail", "pytest.mark.skip", "pytest.mark.skipif", "pytest.mark.xfail"}


def test_every_exception_to_a_rule_has_its_reason_beside_it():
    marked, without_reason = 0, []
    for path in python_files():
        source = path.read_text(encoding="utf-8")
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type != tokenize.COMMENT:
                continue
            excused = re.search(
                r"(?:noqa(?:: ?[A-Z]+\d+(?:, ?[A-Z]+\d+)*)?|type: ignore(?:\[[\w, -]+\])?)(.*)", token.string
            )
            if excused:
                marked += 1
                if len(re.findall(r"[a-z]{2,}", excused[1].replace("type: ignore", ""))) < 2:
                    without_reason.append(shown(path, token.start[0]))
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in SKIPS:
                marked += 1
                if not node.args and not any(word.arg in ("reason", "msg") for word in node.keywords):
                    without_reason.append(shown(path, node.lineno))
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                without_reason += [
                    shown(path, mark.lineno) for mark in node.decorator_list if ast.unparse(mark) in SKIPS
                ]

    assert marked
    assert without_reason == []


def test_a_test_claims_something():
    silent = []
    for path in sorted((REPOSITORY / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                words = ast.unparse(node)
                if not re.search(r"\bassert|\braises\(|\bwarns\(", words):
                    silent.append(shown(path, node.lineno))

    assert silent == []


# ---- nothing foreign ----

# Put together from pieces, so that this file does not hold what it forbids.
FOREIGN = [
    *(f"/{folder}/" for folder in ("wor" + "k", "roo" + "t", "hom" + "e/[a-z]+", "tmp/[a-z]*" + "brief")),
    *(f"{first}{second}" for first in ("far" + "m-", "/far" + "m/") for second in ("bench", "studio")),
    r"\.librar" + "y/",
    *("pythonhoste" + "d", r"pypi\.or" + "g/simple", r"registry\.npmj" + "s", r"deb\.debia" + "n"),
    r"^--(?:extra-)?index-" + "url",
]
LEFT_OPEN = [rf"\b{word}\b" for word in ("TO" + "DO", "FIX" + "ME", "XX" + "X")]


def test_no_file_speaks_of_another_place_than_the_project():
    foreign = re.compile("|".join(FOREIGN + LEFT_OPEN), re.MULTILINE)
    read, found = 0, []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        read += 1
        found += [
            f"{shown(path, number)}: {match[0]}"
            for number, line in enumerate(text.splitlines(), 1)
            if (match := foreign.search(line))
        ]

    assert read > 20
    assert found == []


def test_the_top_level_holds_what_everybody_expects_there():
    top = {path.relative_to(REPOSITORY).parts[0] for path in tracked()}

    assert top >= {"pyproject.toml", "README.md", "LICENSE", "Makefile", "src", "tests"}
    assert top - TOP_LEVEL == set()


# ---- locks and the wheel ----


@pytest.mark.parametrize("lock", ["requirements.txt", "requirements-dev.txt"])
def test_a_lock_pins_every_release_by_hash_and_names_no_address(lock):
    text = (REPOSITORY / lock).read_text(encoding="utf-8")
    pins = re.findall(
        r"^([a-z0-9][\w.-]*)==\S+[^\n]*((?:\n    --hash=sha256:[0-9a-f]{64}[ \\]*)+)", text, re.MULTILINE
    )
    logical_lines = [
        line for line in re.sub(r"\\\n", " ", text).splitlines() if line and not line.lstrip().startswith("#")
    ]

    assert len(pins) > 100
    assert len(logical_lines) == len(pins)
    assert "://" not in text


def test_the_locks_hold_what_the_project_asks_for():
    import tomllib

    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {
        "requirements.txt": project["dependencies"],
        "requirements-dev.txt": sum(project["optional-dependencies"].values(), project["dependencies"]),
    }
    unmet, pins = [], {}
    for lock, requirements in wanted.items():
        text = (REPOSITORY / lock).read_text(encoding="utf-8")
        pinned: dict[str, list[str]] = {}
        for name, version in re.findall(r"^([a-z0-9][\w.-]*)==([^\s;\\]+)", text, re.MULTILINE):
            pinned.setdefault(name, []).append(version)
        pins[lock] = pinned
        for requirement in map(Requirement, requirements):
            versions = pinned.get(requirement.name.lower(), [])
            if not versions or not all(requirement.specifier.contains(version) for version in versions):
                unmet.append(f"{lock}: {requirement}, locked {versions}")

    assert unmet == [], "run `make lock`"
    assert pins["requirements.txt"].items() <= pins["requirements-dev.txt"].items()


def test_every_package_that_is_imported_is_named_as_a_dependency():
    import tomllib
    from importlib.metadata import packages_distributions

    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = sum(project["optional-dependencies"].values(), project["dependencies"])
    named = {Requirement(each).name.lower().replace("_", "-") for each in asked}
    distributions = packages_distributions()
    unnamed = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules = [node.module]
            for top in {module.partition(".")[0] for module in modules} - sys.stdlib_module_names:
                brought_by = {each.lower().replace("_", "-") for each in distributions.get(top, [])}
                if top != "quality_lab" and not brought_by & named:
                    unnamed.add(f"{top}, in {path.name}")

    assert unnamed == set()


@pytest.mark.slow
def test_the_wheel_carries_queries_schema_and_notebook_templates(tmp_path):
    import zipfile

    built = run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path))
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
    inside = {
        path.relative_to(REPOSITORY / "src").as_posix() for path in tracked() if path.is_relative_to(PACKAGE)
    }

    assert inside - names == set()
    assert {f"quality_lab/notebooks/{path.name}" for path in NOTEBOOKS} - names == set()
    assert [name for name in names if name.startswith(("tests/", "data/"))] == []
