"""How many cases a second are run again: recorded decisions, and a model on a server that answers at once.

    python benchmarks/bench_rerun.py --cases 2000 --rounds 5

A case is two turns of a model and one call between them. *recorded* reads the lines, checks them as
upstream does and puts the decisions through the loop to a verdict. *server* asks a server on the loopback
(the one of `bench_loop.py`, in a process of its own), 32 cases at a time, and judges what came; *the loop
alone* is what that takes without cases, tape and judging. *pydantic-evals* and *inspect_ai*, where they are
installed, run as many cases with their mock models. Rounds take turns; the median counts. Beside the rate
stands the processor time for a case, which hardly depends on what else the machine is doing.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from quality_lab.regressions.rerunning import plan
from quality_lab.replay import Rerun, RunSettings, Shelf
from quality_lab.toolloop import OpenAICompatible, Tool, approve_all, run_loop

AT_ONCE = 32
QUOTE = {
    "type": "function",
    "function": {
        "name": "quote",
        "description": "Quotes a sum. Call it when the customer names one.",
        "parameters": {
            "type": "object",
            "properties": {"asset": {"type": "string"}, "amount": {"type": "number"}},
            "required": ["asset", "amount"],
        },
    },
}


def line(number: int) -> bytes:
    """Return one case as a line."""
    args = {"asset": "USDT", "amount": 200}
    wanted = {"tool": "quote", "args": {"amount": {"$type": "number"}}}
    case = {
        "recordType": "tool_call_regression_case", "id": number, "proposalId": None, "toolCallId": None,
        "source": "tool_call_feedback", "toolName": "quote", "label": "bad_args", "title": f"case {number}",
        "input": {"toolName": "quote", "args": args, "tools": [QUOTE],
                  "messages": [{"role": "user", "content": f"How much is 200 USDT? {number}"}]},
        "expected": {"behavior": "Quotes.", "calls": [wanted]},
        "recorded": [{"tool": "quote", "args": args, "result": {"thb": 6520}, "error": False}],
        "context": {}, "status": "active", "createdByAdminId": None, "createdAt": 1, "updatedAt": 1,
    }  # fmt: skip
    return json.dumps(case).encode()


def recorded(lines: list[bytes]) -> None:
    """Run the recorded decisions of all cases."""
    outcomes = asyncio.run(Rerun(Shelf(folder=Path(), environ={})).run(plan(lines).to_run))
    assert len(outcomes) == len(lines)


def kept_by_a_run(cases: int) -> float:
    """Return by how many KiB a case this process is larger once *cases* were run and all outcomes are held."""

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    lines = [line(number) for number in range(1, cases + 1)]
    recorded(lines[:200])  # what is made once is made
    before = resident()
    outcomes = asyncio.run(Rerun(Shelf(folder=Path(), environ={})).run(plan(lines).to_run))
    grown = resident() - before
    return grown / len(outcomes) / 1024


def on_server(lines: list[bytes], url: str) -> None:
    """Ask the server for all cases and judge what came."""

    async def run() -> None:
        async with OpenAICompatible("m", base_url=url) as model:
            settings = RunSettings(concurrency=AT_ONCE)
            shelf = Shelf(folder=Path(), environ={})
            outcomes = await Rerun(shelf, model=model, settings=settings).run(plan(lines).to_run)
        assert {outcome.verdict for outcome in outcomes} == {"PASS"}

    asyncio.run(run())


def loop_alone(lines: list[bytes], url: str) -> None:
    """Hold as many conversations with the server through the loop alone."""
    tool = Tool(
        name="quote", description="Quotes.", parameters=QUOTE["function"]["parameters"],  # type: ignore[index]  # an object
        execute=lambda args, context: {"thb": 6520}, inline=True,
    )  # fmt: skip

    async def run() -> None:
        left = iter(range(len(lines)))
        async with OpenAICompatible("m", base_url=url) as model:

            async def work() -> None:
                for number in left:
                    asked = [{"role": "user", "content": f"How much is 200 USDT? {number}"}]
                    await run_loop(model, asked, [tool], approve=approve_all)

            await asyncio.gather(*(work() for _ in range(AT_ONCE)))

    asyncio.run(run())


def pydantic_evals(lines: list[bytes]) -> None:
    """Evaluate as many cases with its mock model: an agent's two turns and one call between them."""
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel
    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import EqualsExpected

    def answer(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart("quote", {"asset": "USDT", "amount": 200})])
        return ModelResponse(parts=[TextPart("6520")])

    agent = Agent(FunctionModel(answer))

    @agent.tool_plain
    def quote(asset: str, amount: float) -> dict[str, Any]:
        """Quotes a sum."""
        return {"thb": 6520}

    async def task(asked: str) -> str:
        return (await agent.run(asked)).output

    cases = [Case(name=str(at), inputs=str(at), expected_output="6520") for at in range(len(lines))]
    dataset = Dataset(name="bench", cases=cases, evaluators=[EqualsExpected()])
    dataset.evaluate_sync(task, max_concurrency=AT_ONCE, progress=False)


def inspect_ai(lines: list[bytes]) -> None:
    """Evaluate as many samples with its mock model, in the same shape."""
    import tempfile

    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.scorer import match
    from inspect_ai.solver import generate, use_tools
    from inspect_ai.tool import Tool as InspectTool
    from inspect_ai.tool import tool

    @tool
    def quote() -> InspectTool:
        async def execute(asset: str, amount: float) -> str:
            """Quote a sum.

            Args:
                asset: What is sold.
                amount: How much.
            """
            return "6520"

        return execute

    def answers() -> Any:
        while True:
            yield ModelOutput.for_tool_call("mockllm/model", "quote", {"asset": "USDT", "amount": 200})
            yield ModelOutput.from_content("mockllm/model", "6520")

    samples = [Sample(input=str(at), target="6520") for at in range(len(lines))]
    task = Task(dataset=samples, solver=[use_tools(quote()), generate()], scorer=match())
    with tempfile.TemporaryDirectory() as folder:
        model = get_model("mockllm/model", custom_outputs=answers())
        evaluate(task, model=model, log_dir=folder, display="none", max_samples=AT_ONCE)


def main() -> None:
    """Time everybody in turns and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", action="store_true", help="only how much a recorded run of --cases keeps")
    asked = parser.parse_args()
    if asked.memory:
        print(f"{kept_by_a_run(asked.cases):.2f} KiB a case, {asked.cases:,} cases")
        return
    lines = [line(number) for number in range(1, asked.cases + 1)]
    script = Path(__file__).with_name("bench_loop.py")
    with subprocess.Popen([sys.executable, script, "--serve"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        contenders: dict[str, Callable[[], Any]] = {
            "recorded": lambda: recorded(lines),
            "server": lambda: on_server(lines, url),
            "the loop alone": lambda: loop_alone(lines, url),
        }
        if importlib.util.find_spec("pydantic_evals") and importlib.util.find_spec("pydantic_ai"):
            contenders["pydantic-evals"] = lambda: pydantic_evals(lines)
        if importlib.util.find_spec("inspect_ai"):
            contenders["inspect_ai"] = lambda: inspect_ai(lines)
        took: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
        for _ in range(asked.rounds):
            for name, work in contenders.items():
                wall, cpu = time.perf_counter(), time.thread_time()
                work()
                took[name].append((time.perf_counter() - wall, time.thread_time() - cpu))
        server.terminate()
    print("| | cases/s | ms of processor a case |")
    print("|---|---:|---:|")
    for name, times in took.items():
        wall = statistics.median(each for each, _ in times)
        cpu = statistics.median(each for _, each in times)
        print(f"| {name} | {len(lines) / wall:,.0f} | {cpu * 1000 / len(lines):.3f} |")
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")


if __name__ == "__main__":
    main()
