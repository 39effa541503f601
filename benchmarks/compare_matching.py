"""Our verdicts beside those of other scorers, on 30 cases whose answers were written down first.

    pip install deepeval agentevals pydantic-evals          (into an environment of their own)
    PYTHONPATH=src python benchmarks/compare_matching.py > docs/matching-benchmark.md

`matching_cases.jsonl` holds the cases, each with the right answer and why; it was committed before there was
a matcher to ask. Every scorer is set as near to the mode of the case as its settings come, and passes where
its score is the full one. A dash stands where a case cannot be said in its terms without code of one's own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"

from quality_lab.json_text import parse
from quality_lab.matching import read_case

CASES = Path(__file__).with_name("matching_cases.jsonl")
CANNOT = "-"
Case = dict[str, Any]


def ours(case: Case, line: str) -> str:
    """Return our verdict, on the numbers as they were written."""
    return read_case(parse(line)).judge_recorded().verdict


def entries(case: Case) -> list[dict[str, Any]]:
    """Return the expected calls."""
    listed: list[dict[str, Any]] = case["expected"].get("calls", [])
    return listed


def has_rules(case: Case) -> bool:
    """Return whether an argument is ruled by more than a value."""
    return '"$' in json.dumps(entries(case))


def made(case: Case) -> list[dict[str, Any]]:
    """Return the calls with arguments; none is what others take for not captured."""
    return [{"args": {}, **call} for call in case["recorded"]]


def passes(whether: bool) -> str:
    """Return the word for it."""
    return "PASS" if whether else "FAIL"


def deepeval(case: Case, line: str) -> str:
    """Return the verdict of ToolCorrectnessMetric at threshold 1, arguments compared."""
    from deepeval.metrics import ToolCorrectnessMetric
    from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams

    mode = case["expected"]["mode"]
    if has_rules(case) or mode not in ("exact", "in_order", "any_order", "none"):
        return CANNOT
    metric = ToolCorrectnessMetric(
        threshold=1,
        model=_no_model(),
        evaluation_params=[ToolCallParams.INPUT_PARAMETERS],
        should_exact_match=mode in ("exact", "none"),
        should_consider_ordering=mode == "in_order",
        async_mode=False,
    )
    wanted = [ToolCall(name=each["tool"], input_parameters=each.get("args", {})) for each in entries(case)]
    called = [
        ToolCall(name=each["tool"], input_parameters=each["args"], output=each.get("result"))
        for each in made(case)
    ]
    test = LLMTestCase(input="x", actual_output="x", tools_called=called, expected_tools=wanted)
    metric.measure(test, _show_indicator=False)
    return passes(metric.is_successful())


def _no_model() -> Any:
    """Return a model that the metric wants to be given and never asks."""
    from deepeval.models import DeepEvalBaseLLM

    class NoModel(DeepEvalBaseLLM):  # type: ignore[misc]  # the base has no types
        def load_model(self, *_: Any, **__: Any) -> Any:
            return self

        def generate(self, *_: Any, **__: Any) -> str:
            raise AssertionError("no model is asked here")

        async def a_generate(self, *_: Any, **__: Any) -> str:
            raise AssertionError("no model is asked here")

        def get_model_name(self, *_: Any, **__: Any) -> str:
            return "none"

    return NoModel()


def agentevals(case: Case, line: str) -> str:
    """Return the verdict of the trajectory matcher in its mode of that meaning."""
    from agentevals.trajectory.match import create_trajectory_match_evaluator

    modes = {"exact": "strict", "none": "strict", "unordered": "unordered", "any_order": "superset",
             "only_from": "subset"}  # fmt: skip
    mode = case["expected"]["mode"]
    if has_rules(case) or mode not in modes:
        return CANNOT
    args_mode = "exact" if any(each.get("args_mode") == "exact" for each in entries(case)) else "superset"
    ignored = {each["tool"]: "ignore" for each in entries(case) if "args" not in each}
    evaluate = create_trajectory_match_evaluator(
        trajectory_match_mode=modes[mode],
        tool_args_match_mode=args_mode,
        tool_args_match_overrides=ignored or None,
    )
    wanted = _messages([{"args": {}, "cycle": at, **each} for at, each in enumerate(entries(case))])
    return passes(evaluate(outputs=_messages(made(case)), reference_outputs=wanted)["score"] is True)


def _messages(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a conversation that makes *calls*, those of a cycle in one message."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "x"}]
    for cycle in dict.fromkeys(call["cycle"] for call in calls):
        told = [
            {
                "id": f"c{at}",
                "type": "function",
                "function": {"name": call["tool"], "arguments": json.dumps(call["args"])},
            }
            for at, call in enumerate(calls)
            if call["cycle"] == cycle
        ]
        messages.append({"role": "assistant", "content": "", "tool_calls": told})
        messages += [{"role": "tool", "tool_call_id": each["id"], "content": "{}"} for each in told]
    return [*messages, {"role": "assistant", "content": "done"}]


def pydantic_evals(case: Case, line: str) -> str:
    """Return the verdict of its evaluators on spans: the tools, and the arguments of each call in turn."""
    from pydantic_evals.evaluators import ArgumentCorrectness, ToolCorrectness, TrajectoryMatch

    mode = case["expected"]["mode"]
    if has_rules(case) or mode in ("only_from", "in_order"):
        return CANNOT
    names = [each["tool"] for each in entries(case)]
    checks: list[Any] = [
        TrajectoryMatch(expected_trajectory=names, order="exact")
        if mode == "exact"
        else ToolCorrectness(expected_tools=names, allow_extra=mode == "any_order")
    ]
    for at, each in enumerate(entries(case)):
        if "args" in each:
            checks.append(
                ArgumentCorrectness(
                    tool_name=each["tool"],
                    expected_arguments=each["args"],
                    match_mode=each.get("args_mode", "subset"),
                    occurrence=names[:at].count(each["tool"]),
                )
            )
    context = _context(case)
    return passes(all(check.evaluate(context).value in (True, 1.0) for check in checks))


def _context(case: Case) -> Any:
    """Return what its evaluators look at: a span for each call."""
    from pydantic_evals.evaluators import EvaluatorContext
    from pydantic_evals.otel.span_tree import SpanNode, SpanTree

    tree, start = SpanTree(), datetime(2026, 6, 1, tzinfo=UTC)
    spans = [
        SpanNode(
            name=f"execute_tool {call['tool']}",
            trace_id=1,
            span_id=at + 1,
            parent_span_id=None,
            start_timestamp=start + timedelta(seconds=at),
            end_timestamp=start + timedelta(seconds=at + 1),
            attributes={
                "gen_ai.tool.name": call["tool"],
                **({"gen_ai.tool.call.arguments": json.dumps(call["args"])} if "args" in call else {}),
            },
            status="error" if call.get("error") else "unset",
        )
        for at, call in enumerate(case["recorded"])
    ]
    tree.add_spans(spans)
    return EvaluatorContext(
        name=None, inputs=None, metadata=None, expected_output=None, output=None, duration=1.0,
        _span_tree=tree, attributes={}, metrics={},
    )  # fmt: skip


SCORERS: dict[str, Callable[[Case, str], str]] = {
    "Quality Lab": ours,
    "deepeval": deepeval,
    "agentevals": agentevals,
    "pydantic-evals": pydantic_evals,
}


def cell(came: str, right: str) -> str:
    """Return how a verdict stands in the table: a wrong one in bold."""
    return "–" if came == CANNOT else came if came == right else f"**{came}**"


def main() -> None:
    """Ask everybody and print the page."""
    lines = CASES.read_text(encoding="utf-8").splitlines()
    rows: list[str] = []
    right_ones = dict.fromkeys(SCORERS, 0)
    wrong_ones = dict.fromkeys(SCORERS, 0)
    for line in lines:
        case = json.loads(line)
        came = {name: scorer(case, line) for name, scorer in SCORERS.items()}
        for name, verdict in came.items():
            right_ones[name] += verdict == case["verdict"]
            wrong_ones[name] += verdict not in (case["verdict"], CANNOT)
        after = f" ([complaint]({case['after']}))" if case["after"] else ""
        mode = case["expected"]["mode"]
        cells = " | ".join(cell(verdict, case["verdict"]) for verdict in came.values())
        rows.append(f"| {case['id']} | {case['title']}{after} | {mode} | {case['verdict']} | {cells} |")
    versions = ", ".join(f"{name} {version(name)}" for name in list(SCORERS)[1:])
    print("# Thirty cases, four scorers\n")
    print(INTRODUCTION.format(versions=versions))
    print("| | case | mode | right | " + " | ".join(SCORERS) + " |")
    print("|---:|---|---|---|" + "---|" * len(SCORERS))
    print("\n".join(rows))
    for word, counts in (("right", right_ones), ("wrong", wrong_ones)):
        print(f"| | **{word}** | | | " + " | ".join(str(count) for count in counts.values()) + " |")
    print("\n" + WHY)
    for line in lines:
        case = json.loads(line)
        print(f"{case['id']}. {case['why']}")


INTRODUCTION = """The right answers were worked out by hand from the words of the modes ([how calls are
judged](matching.md)) and committed with their reasons before the matcher was written:
`benchmarks/matching_cases.jsonl`. Eight of the cases follow a public complaint about a
scorer. The page is what `benchmarks/compare_matching.py` printed with {versions}.

Each of the others is set as near to the mode as its settings come (the script says how) and passes where
its score is the full one. It was made for scores, not for verdicts, and often means something else on
purpose; the table says what a case of ours would get, not which tool is better. A dash stands where a case
cannot be said in its terms without code of one's own; a wrong verdict is bold.
"""
WHY = "## Why each answer is right\n"


if __name__ == "__main__":
    main()
