"""What is installed, what is missing, and how to get it; whether home, database and kernel work."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from quality_lab.answers import Answer
from quality_lab.errors import QualityLabError

if TYPE_CHECKING:
    from quality_lab.lab.front_door import Lab

DISTRIBUTION = "quality-lab"
_KERNEL_WAIT_S = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One thing that was looked at."""

    subject: str
    state: Literal["ok", "missing", "broken"]
    required: bool  # False: only some things want it, see needed_for
    found: str | None = None  # its version, path or numbers
    needed_for: str | None = None
    how: str | None = None  # how to get it or mend it


@dataclass(frozen=True, kw_only=True, slots=True)
class _Program:
    """A program outside Python that some things want."""

    names: tuple[str, ...]
    needed_for: str
    how: str


_PROGRAMS = (
    _Program(
        names=("chromium", "chromium-browser", "google-chrome"),
        needed_for="the browser tests",
        how="apt-get install chromium",
    ),
    _Program(names=("java",), needed_for="the tests on Spark", how="apt-get install default-jdk-headless"),
    _Program(names=("git",), needed_for="a reviewer's name, and merging journals", how="apt-get install git"),
)


def examine(lab: Lab, *, kernel: bool = True) -> Answer[Check]:
    """Return one row a thing that was looked at, what is amiss first; *kernel* starts one, for some seconds.

    No row ever holds a secret: of a key in the environment it says only whether it is there.
    """
    checks = [_python(), *_packages(), _home(lab), _database(lab), _notebook_kernel(), *_programs(), *_keys()]
    if kernel:
        checks.append(_report_kernel(lab))
    ordered = sorted(checks, key=lambda check: (check.state == "ok", not check.required))
    return Answer(ordered, Check, title="What is installed, and what is missing")


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    return Check(subject="Python", state="ok", required=True, found=f"{version} at {sys.executable}")


def _packages() -> Iterator[Check]:
    try:
        yield Check(subject=DISTRIBUTION, state="ok", required=True, found=metadata.version(DISTRIBUTION))
        wanted = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        how = "pip install quality-lab, or `make report` in a checkout"
        yield Check(subject=DISTRIBUTION, state="missing", required=True, how=how)
        return
    for line in wanted:
        name = re.match(r"[A-Za-z0-9._-]+", line)
        extra = re.search(r"extra == ['\"]([^'\"]+)['\"]", line)
        if name is None or (extra and extra[1] == "dev"):
            continue
        yield _package(name[0], extra[1] if extra else None)


def _package(name: str, extra: str | None) -> Check:
    needed_for = f"the extra {extra}" if extra else None
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        how = f'pip install "{DISTRIBUTION}[{extra}]"' if extra else f"pip install {name}"
        return Check(subject=name, state="missing", required=extra is None, needed_for=needed_for, how=how)
    return Check(subject=name, state="ok", required=extra is None, found=found, needed_for=needed_for)


def _programs() -> Iterator[Check]:
    for program in _PROGRAMS:
        path = next(filter(None, map(shutil.which, program.names)), None)
        yield Check(
            subject=program.names[0],
            state="ok" if path else "missing",
            required=False,
            found=path,
            needed_for=program.needed_for,
            how=None if path else program.how,
        )


def _keys() -> Iterator[Check]:
    for variable, needed_for in (
        ("OPENAI_API_KEY", "re-runs and judges with a live model"),
        ("QUALITY_LAB_TOKEN", "talking to the admin API"),
    ):
        there = bool(os.environ.get(variable))
        yield Check(
            subject=variable,
            state="ok" if there else "missing",
            required=False,
            found="set" if there else None,
            needed_for=needed_for,
            how=None if there else f"export {variable}=…",
        )


def _home(lab: Lab) -> Check:
    folder = _nearest_existing(lab.home)
    writable = os.access(folder, os.W_OK)
    return Check(
        subject="home",
        state="ok" if writable else "broken",
        required=True,
        found=f"{lab.home} ({lab.home_found})",
        how=None if writable else f"make {folder} writable, or name another home with --home",
    )


def _nearest_existing(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if folder.exists())


def _database(lab: Lab) -> Check:
    if not lab.store.exists():
        how = "quality-lab load PATH…"
        return Check(
            subject="database", state="missing", required=False, needed_for="every question", how=how
        )
    try:
        totals = lab.totals()
    except QualityLabError as error:
        return Check(
            subject="database",
            state="broken",
            required=True,
            found=str(error),
            how="quality-lab load --rebuild",
        )
    size = lab.store.database.stat().st_size / 1_000_000
    held = (
        ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in totals.items() if count)
        or "nothing yet"
    )
    return Check(subject="database", state="ok", required=True, found=f"{held}; {size:,.1f} MB")


def _notebook_kernel() -> Check:
    """Look up the kernel in which JupyterLab opens our notebooks: it is to be this interpreter."""
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    subject, how = "notebook kernel", f"{sys.executable} -m ipykernel install --sys-prefix"
    try:
        command: str = KernelSpecManager().get_kernel_spec("python3").argv[0]
    except (NoSuchKernel, OSError, ValueError) as error:
        return Check(subject=subject, state="missing", required=True, found=str(error), how=how)
    path = shutil.which(command) or command
    same = Path(path).exists() and Path(path).samefile(sys.executable)
    if not same and Path(command).name.startswith("python") and Path(command).parent == Path():
        same = True  # a bare name: Jupyter puts its own interpreter in its place
    state: Literal["ok", "broken"] = "ok" if same else "broken"
    return Check(
        subject=subject, state=state, required=True, found=f"python3: {command}", how=None if same else how
    )


def _report_kernel(lab: Lab) -> Check:
    """Start the kernel that reports run in, and let it import the package."""
    from queue import Empty

    from quality_lab.reports.kernel import early_kernel

    subject, how = "report kernel", "pip install --force-reinstall ipykernel"
    printed: list[str] = []
    try:
        with early_kernel(_nearest_existing(lab.home)) as manager:
            client = manager.blocking_client()
            client.start_channels()
            try:
                client.wait_for_ready(timeout=_KERNEL_WAIT_S)
                reply = client.execute_interactive(
                    "import quality_lab, sys; print(sys.executable)",
                    timeout=_KERNEL_WAIT_S,
                    output_hook=lambda message: printed.append(message["content"].get("text", "")),
                )["content"]
            finally:
                client.stop_channels()
    except (QualityLabError, RuntimeError, OSError, TimeoutError, Empty) as error:
        found = f"{type(error).__name__}: {error}"
        return Check(subject=subject, state="broken", required=True, found=found, how=how)
    if reply["status"] != "ok":
        found = f"cannot import quality_lab: {reply.get('evalue')}"
        return Check(subject=subject, state="broken", required=True, found=found, how=how)
    return Check(subject=subject, state="ok", required=True, found="".join(printed).strip())
