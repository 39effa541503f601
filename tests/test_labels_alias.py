"""What foreign scores mean: one table, in the home or in a map, for every format alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import run

from quality_lab.errors import InputError, UsageError
from quality_lab.formats.label_aliases import read_aliases
from quality_lab.records import Feedback

TABLE = """
[values]
"did not invoke tool" = "missing_tool"
"n/a" = "none"

[[score]]
name = "correctness"
value = "incorrect"
label = "wrong_tool"

[[score]]
name = "reward"
below = 0.5
label = "other"

[[score]]
name = "reward"
at_least = 0.5
format = "tau_bench"
label = "good_reply"

[[score]]
name = "thumbs"
value = true
label = "good_reply"
"""


def opinion(**given: Any) -> Feedback:
    """Return an opinion on a call."""
    values: dict[str, Any] = {
        "key_space": "k",
        "key": "1",
        "target_level": "call",
        "target_key_space": "k",
        "conversation_id": None,
    }
    return Feedback(**values | given)


@pytest.mark.parametrize(
    ("given", "format_name", "known", "label"),
    [
        ({"label_raw": "Did not  invoke-tool"}, "x", True, "missing_tool"),
        ({"label_raw": "N/A"}, "x", True, None),
        ({"label_raw": "strange"}, "x", False, None),
        ({"name": "Correctness", "label_raw": "INCORRECT"}, "langfuse", True, "wrong_tool"),
        ({"name": "tone", "label_raw": "incorrect"}, "langfuse", False, None),
        ({"name": "reward", "score": "0.0"}, "tau_bench", True, "other"),
        ({"name": "reward", "score": "1.0"}, "tau_bench", True, "good_reply"),
        ({"name": "reward", "score": "1.0"}, "mlflow", False, None),
        ({"name": "thumbs", "score": "true"}, "x", True, "good_reply"),
        ({"name": "thumbs", "score": "false"}, "x", False, None),
        ({"name": "thumbs", "score": '"true"'}, "x", True, "good_reply"),
        ({"label": "bad_args", "label_raw": "did not invoke tool"}, "x", False, "bad_args"),
    ],
)
def test_a_score_means_what_the_first_row_that_fits_says(
    given: dict[str, Any], format_name: str, known: bool, label: str | None
) -> None:
    found, was_known = read_aliases(TABLE, file="labels.toml").labelled(
        opinion(**given), format_name=format_name
    )

    assert (was_known, found.label) == (known, label)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[values]\nx = "wrong"', "labels.toml: values.x: wanted one of good_reply, wrong_tool"),
        (
            '[[score]]\nlabel = "other"',
            "labels.toml: score[0].name: wanted a name, a value, at_least or below",
        ),
        ('[[score]]\nname = "a"', "labels.toml: score[0].label: wanted one of good_reply"),
        (
            '[[score]]\nname = "a"\nbelow = "1"\nlabel = "other"',
            "labels.toml: score[0].below: wanted a number, got '1'",
        ),
        ('[scores]\na = "other"', "labels.toml: scores: no such key here; known are score, values"),
        ("[values", "labels.toml: wanted TOML"),
    ],
)
def test_a_row_that_cannot_be_says_file_key_and_what_was_wanted(text: str, said: str) -> None:
    with pytest.raises((UsageError, InputError)) as raised:
        read_aliases(text, file="labels.toml")

    assert str(raised.value).startswith(said)


LINE = {
    "id": 1, "label": "Did not invoke tool", "note": None, "adminId": 3, "feedbackCreatedAt": 1781000200,
    "toolCallId": 9, "conversationId": 7, "contactId": None, "messageId": None, "outboundQueueId": None,
    "source": "rag_reply", "toolName": "book_tour", "args": {}, "result": {"ok": True}, "error": False,
    "cycle": 0, "toolCallIndex": 0, "latencyMs": None, "toolCallCreatedAt": 1781000120,
}  # fmt: skip  # one line of a file


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a feedback export: two labels of one foreign word, one of another, one of the five."""
    (tmp_path / "data").mkdir()
    labels = ["Did not invoke tool", "did not invoke tool", "strange", "bad_args"]
    lines = [LINE | {"id": n, "toolCallId": 10 + n, "label": label} for n, label in enumerate(labels)]
    (tmp_path / "feedback.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def labels(home: Path) -> dict[str, int]:
    """Return how many rows carry each label."""
    found = run("labels", "--home", home, "--json").document
    return {row["label"]: row["rows"] for row in found if row["rows"]}


def test_a_home_s_table_maps_labels_as_they_load_and_counts_what_it_does_not(home: Path) -> None:
    (home / "data" / "labels.toml").write_text(TABLE)

    (file,) = run("load", home / "feedback.jsonl", "--home", home, "--json").document["files"]

    assert file["unmapped_labels"] == {"strange": 1}
    assert labels(home) == {"missing_tool": 2, "bad_args": 1, "unmapped": 1}


def test_without_a_table_foreign_labels_are_kept_counted_and_told(home: Path) -> None:
    ran = run("load", home / "feedback.jsonl", "--home", home)

    assert (
        "labels that nobody knows: Did not invoke tool (1), did not invoke tool (1), strange (1)" in ran.out
    )
    assert labels(home) == {"bad_args": 1, "unmapped": 3}


def test_another_table_takes_effect_with_a_rebuild_and_until_then_the_load_says_so(home: Path) -> None:
    run("load", home / "feedback.jsonl", "--home", home)
    (home / "data" / "labels.toml").write_text(TABLE)

    again = run("load", home / "feedback.jsonl", "--home", home)
    assert "labels.toml has changed" in again.err
    assert "`quality-lab load --rebuild`" in again.err
    assert labels(home) == {"bad_args": 1, "unmapped": 3}

    rebuilt = run("load", "--rebuild", "--home", home)
    assert "has changed" not in rebuilt.err
    assert labels(home) == {"missing_tool": 2, "bad_args": 1, "unmapped": 1}
    assert "has changed" not in run("load", home / "feedback.jsonl", "--home", home).err


def test_a_large_export_read_many_lines_at_once_is_mapped_alike(home: Path) -> None:
    (home / "data" / "labels.toml").write_text(TABLE)
    words = ["did not invoke tool", "strange", "wrong_tool"]
    lines = (LINE | {"id": n, "toolCallId": n, "label": words[n % 3], "note": "x" * 200} for n in range(6000))
    (home / "large.jsonl").write_text(
        "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    )

    (file,) = run("load", home / "large.jsonl", "--home", home, "--json").document["files"]

    assert (home / "large.jsonl").stat().st_size > 2 << 20
    assert file["unmapped_labels"] == {"strange": 2000}
    assert labels(home) == {"missing_tool": 2000, "wrong_tool": 2000, "unmapped": 2000}


def test_a_map_s_own_rows_come_before_those_of_the_home(home: Path) -> None:
    (home / "data" / "labels.toml").write_text('[values]\nbad = "other"\nworse = "other"\n')
    (home / "map.toml").write_text(
        'name = "own"\n[call]\ntool = "tool"\n[[call.label]]\nlabel = "verdict"\n[labels.values]\nbad = "wrong_tool"\n'
    )
    rows = [{"tool": "t", "verdict": word} for word in ("bad", "worse", "odd")]
    (home / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    (file,) = run("load", home / "own.jsonl", "--map", home / "map.toml", "--home", home, "--json").document[
        "files"
    ]

    assert file["unmapped_labels"] == {"odd": 1}
    assert labels(home) == {"wrong_tool": 1, "other": 1, "unmapped": 1}


def test_scores_without_a_label_are_counted_by_name_and_value(home: Path) -> None:
    (home / "map.toml").write_text(
        'name = "own"\n[call]\ntool = "tool"\n[[call.label]]\nscore = "s"\nname = { const = "f1" }\n'
    )
    rows = [{"tool": "t", "s": score} for score in (0.25, 0.5, True, "fine")]
    (home / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    (file,) = run("load", home / "own.jsonl", "--map", home / "map.toml", "--home", home, "--json").document[
        "files"
    ]

    assert file["unmapped_labels"] == {"f1 (a number)": 2, "f1 = true": 1, "f1 = fine": 1}


def test_a_table_that_cannot_be_stops_the_load(home: Path) -> None:
    (home / "data" / "labels.toml").write_text('[values]\nbad = "worse"\n')

    ran = run("load", home / "feedback.jsonl", "--home", home)

    assert ran.code == 2
    assert "labels.toml: values.bad: wanted one of good_reply" in ran.err
