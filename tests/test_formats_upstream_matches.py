"""Upstream's self-play and pairwise matches: known, and set aside with a word."""

from __future__ import annotations

from pathlib import Path

from file_reading import read, written

from quality_lab.records import SetAside

SELF_PLAY = {
    "schemaVersion": 1,
    "kind": "self_play_match",
    "exportedAt": "2026-06-01T08:00:00.000Z",
    "source": "admin-api",
    "match": {
        "matchId": 7,
        "outcome": "lost",
        "transcript": [{"role": "candidate", "text": "What is your rate?"}],
    },
}


def test_matches_are_recognised_and_set_aside(tmp_path: Path) -> None:
    found = read(written(tmp_path, [SELF_PLAY, {**SELF_PLAY, "kind": "pairwise_match"}]))

    assert found.format == "quality_lab.matches"
    assert found.of(SetAside) == [
        SetAside(kind="self_play_match", reason="a match of styles; it holds no tool call"),
        SetAside(kind="pairwise_match", reason="a match of styles; it holds no tool call"),
    ]


def test_another_kind_among_them_is_a_reject(tmp_path: Path) -> None:
    found = read(written(tmp_path, [SELF_PLAY, {**SELF_PLAY, "kind": "duel"}]))

    assert found.broken == [(2, "kind", "Invalid enum value 'duel'")]
