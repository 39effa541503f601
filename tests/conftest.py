"""What every test may ask for, and a last line that says how many tests were left out for want of it.

A test that needs something from outside the checkout carries a marker: `shared` (the golden files in
../shared), `browser` (chromium), `spark` (a JDK). Where that is missing the test is skipped, unless
QUALITY_LAB_REQUIRE names it (`chromium,java,shared`): then it fails, so that CI cannot pass by leaving
things out.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = REPOSITORY.parent / "shared"

# A machine that is busy with something else is no reason to fail a property.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """Something outside the checkout that the tests of one marker need."""

    marker: str
    name: str  # in QUALITY_LAB_REQUIRE
    shown: str  # in the reason of a skip and in the last line

    def path(self) -> str | None:
        """Return where it lies, or None."""
        if self.marker == "shared":
            return str(SHARED) if SHARED.is_dir() else None
        return shutil.which(self.name)

    @property
    def reason(self) -> str:
        return f"no {self.shown} here"


NEEDS = (
    Need(marker="shared", name="shared", shown="../shared"),
    Need(marker="browser", name="chromium", shown="chromium"),
    Need(marker="spark", name="java", shown="JDK"),
)


def required() -> set[str]:
    """Return the names in QUALITY_LAB_REQUIRE."""
    return {name.strip() for name in os.environ.get("QUALITY_LAB_REQUIRE", "").split(",") if name.strip()}


def pytest_configure(config: pytest.Config) -> None:
    unknown = required() - {need.name for need in NEEDS}
    if unknown:
        known = ", ".join(need.name for need in NEEDS)
        raise pytest.UsageError(f"QUALITY_LAB_REQUIRE names {', '.join(sorted(unknown))}; known are {known}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give a test that takes `shared` or `chromium` its marker, and keep all browser tests on one worker."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if "shared" in fixtures:
            item.add_marker("shared")
        if "chromium" in fixtures:
            item.add_marker("browser")
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for need in NEEDS:
        if item.get_closest_marker(need.marker) and need.path() is None:
            if need.name in required():
                pytest.fail(f"{need.reason}, and QUALITY_LAB_REQUIRE asks for it", pytrace=False)
            pytest.skip(need.reason)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None]:
    """Say after pytest's own closing line what was left out, and for want of what."""
    yield
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None or hasattr(session.config, "workerinput") or not session.testscollected:
        return
    reasons = [report.longrepr[2] for report in terminal.stats.get("skipped", ()) if report.longrepr]
    left_out = [
        f"{count} for want of {need.shown}"
        for need in NEEDS
        if (count := sum(reason.endswith(need.reason) for reason in reasons))
    ]
    others = len(reasons) - sum(int(part.split()[0]) for part in left_out)
    if others:
        left_out.append(f"{others} for the reasons above")
    terminal.write_line(f"Skipped: {', '.join(left_out) or 'nothing'}.")


@pytest.fixture(scope="session", autouse=True)
def _own_surroundings() -> Iterator[None]:
    """Keep the user's Jupyter and IPython settings, kernels, lab and keys out of the tests."""
    own = Path(
        tempfile.mkdtemp(prefix="ql-")
    )  # short: a kernel may listen on a socket below it, whose path has a limit
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
        patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
        patch.setenv("JUPYTER_CONFIG_DIR", str(own / "jupyter-config"))
        patch.setenv("JUPYTER_DATA_DIR", str(own / "jupyter-data"))
        patch.setenv("JUPYTER_RUNTIME_DIR", str(own / "jupyter-runtime"))
        patch.setenv("IPYTHONDIR", str(own / "ipython"))
        patch.setenv("no_proxy", "127.0.0.1,localhost")  # servers of tests are never behind a proxy
        for name in (
            "JUPYTER_PATH",
            "QUALITY_LAB_HOME",
            "QUALITY_LAB_TOKEN",
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
        ):
            patch.delenv(name, raising=False)
        yield
    shutil.rmtree(own, ignore_errors=True)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The top of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of golden files beside the checkout; a file missing in it is a failure, not a skip."""
    return SHARED


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the browser that Playwright is to start."""
    return shutil.which("chromium") or ""
