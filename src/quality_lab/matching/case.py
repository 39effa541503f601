"""A regression case as the runner's wing reads it: what it demands, and what it brings along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from quality_lab.js_text import trim
from quality_lab.json_text import JsonTextError, parse
from quality_lab.matching.calls import MadeCall, Run, outcome_of_result, recorded_calls
from quality_lab.matching.checks import Judgement
from quality_lab.matching.json_values import ABSENT, shown
from quality_lab.matching.judging import judge_run
from quality_lab.matching.rules import Rules, read_rules

Proof = Literal["red", "not_red", "unprovable"]
NOTHING_RECORDED = "nothing_recorded: the case holds no calls that were made"


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One case; *problems* says what of it cannot be read, and then nothing of it counts."""

    record: Mapping[str, Any]  # the whole record, numbers exact
    rules: Rules
    recorded: tuple[Mapping[str, Any], ...] | None = None  # None: absent
    corrected: tuple[Mapping[str, Any], ...] | None = None
    tape: tuple[Mapping[str, Any], ...] | None = None
    messages: tuple[Mapping[str, Any], ...] | None = None
    definitions: tuple[Mapping[str, Any], ...] | None = None
    problems: tuple[str, ...] = ()

    @property
    def tool_name(self) -> str:
        """The tool that the case is about."""
        name = self.record.get("toolName")
        return name if isinstance(name, str) else ""

    @property
    def label(self) -> str:
        """The label under which upstream knows the case."""
        label = self.record.get("label")
        return label if isinstance(label, str) else ""

    @property
    def positive(self) -> bool:
        """Whether the case was made from a good reply, so that its recording has to pass."""
        provenance = self.record.get("provenance")
        return isinstance(provenance, Mapping) and provenance.get("label") == "good_reply"

    @property
    def kept_calls(self) -> tuple[Mapping[str, Any], ...]:
        """The calls that are known to have been made: those recorded, else the labelled one; maybe none."""
        if self.recorded is not None:
            return self.recorded
        context = self.record.get("context")
        kept = context.get("toolCall") if isinstance(context, Mapping) else None
        return (self._labelled(kept),) if isinstance(kept, Mapping) else ()

    def _labelled(self, kept: Mapping[str, Any]) -> Mapping[str, Any]:
        given = self.record.get("input")
        args = given.get("args") if isinstance(given, Mapping) else None
        call: dict[str, Any] = {"tool": self.tool_name, "cycle": kept.get("cycle", 0)}
        if args is not None:  # upstream writes null where it has none
            call["args"] = args
        if "result" in kept:
            call["result"] = kept["result"]
        if isinstance(kept.get("error"), bool):
            call["error"] = kept["error"]
        return call

    def recorded_run(self) -> Run | None:
        """Return the run that was recorded; None where nothing was."""
        if self.recorded is not None:
            return Run(calls=recorded_calls(self.recorded))
        if not self.kept_calls:
            return None
        call = self.kept_calls[0]
        outcome = outcome_of_result(call["tool"], error=call.get("error"), result=call.get("result", ABSENT))
        made = MadeCall(tool=call["tool"], args=call.get("args", ABSENT), outcome=outcome)
        return Run(calls=(made,), only_one_call_known=True)

    def judge_recorded(self) -> Judgement:
        """Return the verdict on the recorded calls."""
        run = self.recorded_run()
        if run is None and not self.problems:
            return Judgement(verdict="INCONCLUSIVE", reason=NOTHING_RECORDED, checks=())
        return self.judge(run or Run(calls=()))

    def judge_corrected(self) -> Judgement | None:
        """Return the verdict on the calls that should have been made; None where nobody wrote any."""
        if self.corrected is None:
            return None
        return self.judge(Run(calls=recorded_calls(self.corrected, as_wanted=True)))

    def judge(self, run: Run) -> Judgement:
        """Return the verdict on *run*; ERROR where the case cannot be read."""
        if self.problems:
            return Judgement(verdict="ERROR", reason=f"malformed_case: {self.problems[0]}", checks=())
        return judge_run(self.rules, run)

    def proof(self, recorded: Judgement) -> Proof:
        """Return whether the case catches its fault: its recording fails, or passes where it was good."""
        if recorded.verdict not in ("PASS", "FAIL"):
            return "unprovable"
        return "red" if (recorded.verdict == "PASS") == self.positive else "not_red"


def read_case(record: Any) -> Case:
    """Return the case in a parsed *record*; what is wrong with it stands in its *problems*.

    >>> case = read_case({"expected": {"mode": "none"}, "recorded": []})
    >>> case.judge_recorded().verdict
    'PASS'
    """
    if not isinstance(record, Mapping):
        return Case(record={}, rules=Rules(), problems=(f"wanted an object, got {shown(record)}",))
    problems: list[str] = []
    rules = read_rules(record.get("expected", ABSENT))
    given = record.get("input")
    given = given if isinstance(given, Mapping) else {}
    return Case(
        record=record,
        rules=rules,
        recorded=_calls(record, "recorded", problems),
        corrected=_calls(record, "corrected", problems),
        tape=_calls(record, "tape", problems),
        messages=_messages(given, problems),
        definitions=_objects(given, "tools", "input.tools", problems),
        problems=(*rules.problems, *problems),
    )


def read_case_line(line: bytes) -> tuple[Case, tuple[str, ...]]:
    """Return the case in *line*, and what keeps the line from being JSON."""
    try:
        record = parse(trim(line.decode("utf-8", "replace")))
    except JsonTextError as problem:
        return read_case({}), (str(problem),)
    return read_case(record), ()


def _messages(given: Mapping[str, Any], problems: list[str]) -> tuple[Mapping[str, Any], ...] | None:
    messages = _objects(given, "messages", "input.messages", problems)
    for at, message in enumerate(messages or ()):
        if not isinstance(message.get("role"), str):
            came = shown(message.get("role", ABSENT))
            problems.append(f"input.messages[{at}].role: wanted text, got {came}")
    return messages


def _calls(record: Mapping[str, Any], name: str, problems: list[str]) -> tuple[Mapping[str, Any], ...] | None:
    calls = _objects(record, name, name, problems)
    for at, call in enumerate(calls or ()):
        where = f"{name}[{at}]"
        if not isinstance(call.get("tool"), str) or not call["tool"]:
            problems.append(f"{where}.tool: wanted the name of a tool, got {shown(call.get('tool', ABSENT))}")
        if not isinstance(call.get("error", False), bool):
            problems.append(f"{where}.error: wanted true or false, got {shown(call['error'])}")
        cycle = call.get("cycle", 0)
        if not isinstance(cycle, int) or isinstance(cycle, bool):
            problems.append(f"{where}.cycle: wanted a whole number, got {shown(cycle)}")
    return calls


def _objects(
    held: Mapping[str, Any], key: str, where: str, problems: list[str]
) -> tuple[Mapping[str, Any], ...] | None:
    if key not in held:
        return None
    listed = held[key]
    if not isinstance(listed, list) or not all(isinstance(each, Mapping) for each in listed):
        problems.append(f"{where}: wanted a list of objects, got {shown(listed)}")
        return None
    return tuple(listed)


def reasons(judgements: Sequence[Judgement | None]) -> list[str]:
    """Return in words why the verdicts that are not PASS are what they are."""
    told: list[str] = []
    for judgement in judgements:
        if judgement is None or judgement.verdict == "PASS":
            continue
        failures = [str(failure) for check in judgement.checks for failure in check.failures]
        doubts = [check.reason for check in judgement.checks if check.reason]
        told += [*failures, *doubts] or [judgement.reason]
    return list(dict.fromkeys(told))
