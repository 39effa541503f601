"""What a pull that was killed half-way leaves in data/exports, and who takes it away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from quality_lab.lab.pulling import keep_rows
from quality_lab.quality_api.slices import Row

NOW = datetime(2026, 6, 1, tzinfo=UTC)
KILLED = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from quality_lab.lab.pulling import keep_rows
from quality_lab.quality_api.slices import Row

os.fsync = lambda _: os.kill(os.getpid(), signal.{signal})
row = Row(text='{{"id":1}}', key=1)
keep_rows([row], "calls", home=Path(sys.argv[1]), tenant="north", now=datetime(2026, 6, 1, tzinfo=UTC))
"""


def pulls(home: Path, ends_by: str) -> subprocess.Popen[bytes]:
    """Return a process that pulls and gets a signal while it writes."""
    return subprocess.Popen([sys.executable, "-c", KILLED.format(signal=ends_by), str(home)])


def hidden(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "data" / "exports").glob(".*"))


def test_what_a_killed_pull_had_begun_is_gone_after_the_next_one_even_if_that_brings_nothing(
    tmp_path: Path,
) -> None:
    (tmp_path / "data" / "exports").mkdir(parents=True)
    assert pulls(tmp_path, "SIGKILL").wait(timeout=60) == -signal.SIGKILL
    left = hidden(tmp_path)

    kept = keep_rows([], "feedback", home=tmp_path, tenant="default", now=NOW)

    assert len(left) == 1
    assert (kept.file, hidden(tmp_path)) == (None, [])


def test_the_draft_of_a_pull_that_still_runs_stays_and_so_does_what_no_pull_wrote(tmp_path: Path) -> None:
    exports = tmp_path / "data" / "exports"
    exports.mkdir(parents=True)
    for name in (".pulled-notes", ".pulled-calls-1-notes", f".mine-{2**22}-0123abcd"):
        (exports / name).write_text("mine", encoding="utf-8")
    strangers = hidden(tmp_path)
    running = pulls(tmp_path, "SIGSTOP")
    os.waitpid(running.pid, os.WUNTRACED)
    begun = hidden(tmp_path)

    keep_rows([Row(text='{"id":2}', key=2)], "calls", home=tmp_path, tenant="default", now=NOW)
    meanwhile = hidden(tmp_path)
    running.kill()
    running.wait(timeout=60)
    keep_rows([], "calls", home=tmp_path, tenant="default", now=NOW)

    assert len(begun) == len(strangers) + 1
    assert meanwhile == begun
    assert hidden(tmp_path) == strangers
