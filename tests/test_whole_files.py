"""Files that are written whole: old content or new, never a part, and never a draft that stays behind."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from quality_lab.errors import OutputError
from quality_lab.whole_files import write_whole

OLD, NEW = "old\n" * 50_000, "new and longer\n" * 50_000


def test_who_reads_while_two_write_finds_one_of_both_contents_whole(tmp_path: Path) -> None:
    path = tmp_path / "accepted.json"
    write_whole(path, OLD)
    writers = [
        threading.Thread(target=lambda content=content: [write_whole(path, content) for _ in range(20)])
        for content in (OLD, NEW)
    ]
    for writer in writers:
        writer.start()

    seen = set()
    while any(writer.is_alive() for writer in writers):
        seen.add(path.read_text("utf-8"))
    for writer in writers:
        writer.join()

    assert seen <= {OLD, NEW}
    assert [one.name for one in tmp_path.iterdir()] == ["accepted.json"]


def test_on_a_full_disk_the_old_content_stays_and_no_draft_does(tmp_path: Path) -> None:
    path = tmp_path / "minutes.md"
    write_whole(path, "as it was")
    script = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from quality_lab.errors import OutputError; from quality_lab.whole_files import write_whole\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try: write_whole(Path(sys.argv[1]), 'x' * 100_000)\n"
        "except OutputError as error: sys.exit(str(error))\n"
    )

    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=False)

    assert done.stderr.strip() == f"{path} cannot be written: File too large"
    assert path.read_text("utf-8") == "as it was"
    assert [one.name for one in tmp_path.iterdir()] == ["minutes.md"]


def test_a_file_keeps_its_mode_and_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    write_whole(real, "{}", mode=0o600)
    link.symlink_to(real)

    write_whole(link, "[]")

    assert (link.is_symlink(), real.read_text("utf-8"), real.stat().st_mode & 0o777) == (True, "[]", 0o600)


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="away/minutes.md cannot be written: No such file or directory"):
        write_whole(tmp_path / "away" / "minutes.md", "")


def test_a_lone_surrogate_is_written_as_its_escape_where_that_is_wanted(tmp_path: Path) -> None:
    write_whole(tmp_path / "minutes.md", "said \ud83d", errors="backslashreplace")

    assert (tmp_path / "minutes.md").read_text("utf-8") == "said \\ud83d"
