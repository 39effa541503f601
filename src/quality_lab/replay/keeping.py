"""Trials of a run kept in a file as they end, so that a run that was cut short does not pay them again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from quality_lab.errors import OutputError
from quality_lab.json_text import JsonTextError, canonical, compact, parse
from quality_lab.matching.case import Case
from quality_lab.matching.checks import Check, Failure
from quality_lab.matching.json_values import ABSENT
from quality_lab.replay.opinions import Unjudged
from quality_lab.replay.playing import Trial
from quality_lab.replay.stage import Evidence

_FORM = 1  # of a line; lines of another form are passed over
_NOT_CONTENT = (
    "proposalId", "toolCallId", "createdAt", "updatedAt", "createdByAdminId", "title", "status",
)  # fmt: skip


def content_key(case: Case, settings: Mapping[str, Any]) -> str:
    """Return the digest of everything that a trial depends on: the case's content, tools, model, settings."""
    content = {key: value for key, value in case.record.items() if key not in _NOT_CONTENT}
    return hashlib.sha256(canonical([_FORM, content, settings]).encode()).hexdigest()


class Keeper:
    """The file of trials: one line each, written in one piece when the trial ends.

    With *resume* what an earlier run left there is used, and otherwise forgotten. Trials that went wrong
    around the agent are not kept: they are to be tried again, but for what was played before a judge could not
    be asked. Each kept trial stands for one trial only, and each answer of a judge for one question.
    """

    def __init__(self, path: Path, *, resume: bool) -> None:
        self.path = path
        self._kept: dict[tuple[str, int], Trial] = {}
        self._unjudged: dict[tuple[str, int], Unjudged] = {}
        self._answers: dict[str, list[Mapping[str, Any]]] = {}
        self._file: TextIO | None = None
        if resume:
            self._read()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a" if resume else "w", encoding="utf-8")
            path.chmod(0o600)  # it holds what was said
            if resume:
                self._end_the_last_line()
        except OSError as problem:
            reason = problem.strerror or type(problem).__name__
            raise OutputError(f"wanted to keep the trials of the run in {path}, got: {reason}") from problem

    def find(self, key: str, trial: int) -> Trial | None:
        """Return the trial that was made before with this number, and hand it out once."""
        return self._kept.pop((key, trial), None)

    def keep(self, key: str, number: int, trial: Trial) -> None:
        """Write down a trial that came to something."""
        if trial.verdict == "ERROR" or trial.kept:
            return
        self._write({"key": key, "trial": number, "came": _as_json(trial)})

    def find_unjudged(self, key: str, trial: int) -> Unjudged | None:
        """Return what was played and paid before in the trial with this number, which nobody judged; once."""
        return self._unjudged.pop((key, trial), None)

    def keep_unjudged(self, key: str, number: int, held: Unjudged) -> None:
        """Write down what was played, before a judge is asked about it."""
        played = {"trial": _as_json(held.trial), "calls": list(held.calls), "cut": held.cut}
        self._write({"key": key, "trial": number, "unjudged": played})

    def find_answer(self, key: str) -> Mapping[str, Any] | None:
        """Return a judge's answer that was given before to the same question, and hand it out once."""
        answers = self._answers.get(key)
        return answers.pop(0) if answers else None

    def keep_answer(self, key: str, answer: Mapping[str, Any]) -> None:
        """Write down what a judge answered."""
        self._write({"key": key, "answer": dict(answer)})

    def _write(self, told: Mapping[str, Any]) -> None:
        if self._file is not None:
            self._file.write(compact({"form": _FORM, **told}) + "\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _read(self) -> None:
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return
        except OSError as problem:
            reason = problem.strerror or type(problem).__name__
            raise OutputError(f"wanted to go on from {self.path}, got: {reason}") from problem
        for line in lines:
            try:
                told = parse(line)
                if told["form"] == _FORM and "answer" in told:
                    self._answers.setdefault(told["key"], []).append(dict(told["answer"]))
                elif told["form"] == _FORM and "unjudged" in told:
                    self._unjudged[told["key"], int(told["trial"])] = _unjudged(told["unjudged"])
                elif told["form"] == _FORM:
                    place = told["key"], int(told["trial"])
                    self._kept[place] = _trial(told["came"])
                    self._unjudged.pop(place, None)
            except (JsonTextError, KeyError, TypeError, ValueError):
                continue  # the line that was being written when the run was cut short

    def _end_the_last_line(self) -> None:
        if self.path.stat().st_size and self._file is not None:
            with self.path.open("rb") as held:
                held.seek(-1, os.SEEK_END)
                if held.read(1) != b"\n":
                    self._file.write("\n")


def _as_json(trial: Trial) -> dict[str, Any]:
    told = asdict(trial)
    told["evidence"] = [
        {name: value for name, value in asdict(each).items() if value is not ABSENT and name != "result"}
        for each in trial.evidence
    ]
    told.pop("kept")
    return told


def _unjudged(told: Mapping[str, Any]) -> Unjudged:
    calls = tuple(dict(call) for call in told["calls"])
    return Unjudged(trial=_trial(told["trial"]), calls=calls, cut=bool(told["cut"]))


def _trial(told: Mapping[str, Any]) -> Trial:
    checks = tuple(
        Check(**{**check, "failures": tuple(Failure(**failure) for failure in check["failures"])})
        for check in told["checks"]
    )
    evidence = tuple(Evidence(**{"args": ABSENT, **each}) for each in told["evidence"])
    rest = {name: value for name, value in told.items() if name not in ("checks", "evidence", "notes")}
    if rest.get("latency_ms") is not None:
        rest["latency_ms"] = float(rest["latency_ms"])
    return Trial(**rest, checks=checks, evidence=evidence, notes=tuple(told["notes"]), kept=True)
