"""Conversations a second of the tool loop, against what else could hold the same conversation.

    python benchmarks/bench_loop.py                    # ours, create() and post(); frameworks where installed
    python benchmarks/bench_loop.py --rounds 5 --conversations 2000

A conversation is two turns of a model with one call of a tool between them, 32 at a time, over a server on
the loopback that answers at once and lives in a process of its own. Each measurement is a fresh process that
times nothing but the conversations; contenders take turns, and the median counts. Beside the rate
stands the processor time that a conversation costs, which hardly depends on what else the machine is doing.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from typing import Any

CONCURRENCY = 32
ASK = [
    {"role": "system", "content": "You help customers of an exchange office."},
    {"role": "user", "content": "How many baht are 200 USDT?"},
]
PARAMETERS = {
    "type": "object",
    "properties": {"asset": {"type": "string"}, "amount": {"type": "number"}},
    "required": ["asset", "amount"],
    "additionalProperties": False,
}
DESCRIPTION = "Quotes the rate of an asset in baht. Call it when the customer names an amount."
DEFINITION = {
    "type": "function",
    "function": {"name": "quote", "description": DESCRIPTION, "parameters": PARAMETERS},
}


def rate_of(asset: str, amount: float) -> dict[str, Any]:
    return {"asset": asset, "amountToThb": amount * 32.6}


# -- the server ------------------------------------------------------------------------------------------


def reply(message: dict[str, Any], finish_reason: str) -> bytes:
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1781000000,
        "model": "m-1",
        "choices": [
            {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish_reason}
        ],
        "usage": {"prompt_tokens": 90, "completion_tokens": 20, "total_tokens": 110},
    }
    text = json.dumps(body).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
    return head.encode() + text


FUNCTION = {"name": "quote", "arguments": '{"asset":"USDT","amount":200}'}
FIRST = reply(
    {"content": None, "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}]}, "tool_calls"
)
SECOND = reply({"content": "200 USDT are 6520 baht."}, "stop")


class Server(asyncio.Protocol):
    """Answers a request that holds no tool's answer with a call, any other with text."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.read = b""

    def data_received(self, data: bytes) -> None:
        self.read += data
        while True:
            head, parted, rest = self.read.partition(b"\r\n\r\n")
            if not parted:
                return
            length = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
            needed = int(length or 0)
            if len(rest) < needed:
                return
            body, self.read = rest[:needed], rest[needed:]
            answered = b'"tool_call_id"' in body
            self.transport.write(SECOND if answered else FIRST)  # type: ignore[attr-defined]  # a transport of TCP


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


# -- the contenders --------------------------------------------------------------------------------------


class Stopwatch:
    """Measures conversations: how many a second, and how many milliseconds of processor time for each."""

    def __init__(self, conversations: int) -> None:
        self._conversations = conversations
        self._wall, self._processor = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        wall, processor = time.perf_counter() - self._wall, time.process_time() - self._processor
        return self._conversations / wall, 1000 * processor / self._conversations


Measured = tuple[float, float]


async def side_by_side(converse: Callable[[], Awaitable[None]], conversations: int) -> Measured:
    left = iter(range(conversations))

    async def worker() -> None:
        for _ in left:
            await converse()

    await converse()  # connections, imports and caches are not what is measured
    watch = Stopwatch(conversations)
    await asyncio.gather(*[worker() for _ in range(CONCURRENCY)])
    return watch.read()


async def ours(url: str, conversations: int, *, inline: bool) -> Measured:
    from quality_lab.toolloop import OpenAICompatible, Tool, run_loop

    def execute(args: dict[str, Any], context: Any) -> dict[str, Any]:
        return rate_of(args["asset"], args["amount"])

    tool = Tool(
        name="quote",
        description=DESCRIPTION,
        parameters=PARAMETERS,
        execute=execute,
        effect="read",
        inline=inline,
    )
    async with OpenAICompatible("m-1", base_url=url) as model:

        async def converse() -> None:
            result = await run_loop(model, ASK, [tool])
            assert (result.content, result.calls[0].status) == ("200 USDT are 6520 baht.", "ok")

        return await side_by_side(converse, conversations)


async def ours_inline(url: str, conversations: int) -> Measured:
    return await ours(url, conversations, inline=True)


async def ours_thread(url: str, conversations: int) -> Measured:
    return await ours(url, conversations, inline=False)


def client(url: str) -> Any:
    import openai

    return openai.AsyncOpenAI(api_key="none", base_url=url, http_client=openai.DefaultAioHttpClient())


def told(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    answers = []
    for each in calls:
        result = rate_of(**json.loads(each["function"]["arguments"]))
        answers.append({"role": "tool", "tool_call_id": each["id"], "content": json.dumps(result)})
    return answers


async def post(url: str, conversations: int) -> Measured:
    """The openai client's bare ``post(cast_to=object)``: no types are walked, nothing is checked."""
    async with client(url) as connection:

        async def converse() -> None:
            messages: list[dict[str, Any]] = list(ASK)
            while True:
                body = {"model": "m-1", "messages": messages, "tools": [DEFINITION]}
                answer = await connection.post("/chat/completions", cast_to=object, body=body)
                message = answer["choices"][0]["message"]
                if not message.get("tool_calls"):
                    return
                messages = [*messages, message, *told(message["tool_calls"])]

        return await side_by_side(converse, conversations)


async def create_loop(connection: Any) -> None:
    messages: list[Any] = list(ASK)
    while True:
        answer = await connection.chat.completions.create(model="m-1", messages=messages, tools=[DEFINITION])
        message = answer.choices[0].message
        if not message.tool_calls:
            return
        messages = [*messages, message, *told([each.model_dump() for each in message.tool_calls])]


async def create(url: str, conversations: int) -> Measured:
    """``chat.completions.create()``, as most people write it."""
    async with client(url) as connection:
        return await side_by_side(lambda: create_loop(connection), conversations)


async def pydantic_ai(url: str, conversations: int) -> Measured:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("m-1", provider=OpenAIProvider(openai_client=client(url)))
    agent = Agent(model, system_prompt=ASK[0]["content"])

    @agent.tool_plain(description=DESCRIPTION)
    async def quote(asset: str, amount: float) -> dict[str, Any]:
        return rate_of(asset, amount)

    async def converse() -> None:
        answer = await agent.run(ASK[1]["content"])
        assert answer.output

    return await side_by_side(converse, conversations)


async def pydantic_evals(url: str, conversations: int) -> Measured:
    """A data set of pydantic-evals whose task is the loop over ``create()``."""
    from pydantic_evals import Case, Dataset

    async with client(url) as connection:

        async def task(question: str) -> str:
            await create_loop(connection)
            return question

        await task("warm")
        cases = [Case(name=str(number), inputs=ASK[1]["content"]) for number in range(conversations)]
        data = Dataset(name="quotes", cases=cases)
        watch = Stopwatch(conversations)
        await data.evaluate(task, max_concurrency=CONCURRENCY, progress=False)
        return watch.read()


def inspect_ai(url: str, conversations: int) -> Measured:
    """inspect_ai's own evaluation with its OpenAI provider."""
    os.environ.update(INSPECT_DISPLAY="none", BENCH_API_KEY="none", BENCH_BASE_URL=url)
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import Sample
    from inspect_ai.solver import generate, use_tools
    from inspect_ai.tool import tool

    @tool
    def quote() -> Any:
        async def execute(asset: str, amount: float) -> str:
            """Quotes the rate of an asset in baht.

            Args:
                asset: What is sold.
                amount: How much of it.
            """
            return json.dumps(rate_of(asset, amount))

        return execute

    samples = [Sample(input=ASK[1]["content"], target="6520") for _ in range(conversations)]
    task = Task(dataset=samples, solver=[use_tools(quote()), generate()])
    with tempfile.TemporaryDirectory() as folder:
        watch = Stopwatch(conversations)
        logs = evaluate(
            task,
            model="openai-api/bench/m-1",
            max_connections=CONCURRENCY,
            max_samples=CONCURRENCY,
            log_dir=folder,
            log_level="error",
        )
        measured = watch.read()
    assert logs[0].status == "success", logs[0].error
    return measured


CONTENDERS: dict[str, tuple[Callable[[str, int], Any], str | None]] = {
    "ours, tool in place": (ours_inline, None),
    "ours, tool in a thread": (ours_thread, None),
    "post(cast_to=object)": (post, None),
    "create()": (create, None),
    "pydantic-evals": (pydantic_evals, "pydantic_evals"),
    "pydantic-ai": (pydantic_ai, "pydantic_ai"),
    "inspect_ai": (inspect_ai, "inspect_ai"),
}


# -- the race --------------------------------------------------------------------------------------------


def measure(name: str, url: str, conversations: int) -> Measured:
    command = [sys.executable, __file__, "--one", name, "--url", url, "--conversations", str(conversations)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"{name} failed:\n{ran.stderr[-2000:]}")
    rate, cost = ran.stdout.split()[-2:]
    return float(rate), float(cost)


def race(rounds: int, conversations: int, slow_conversations: int) -> None:
    server = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        measured: dict[str, list[Measured]] = {}
        for _ in range(rounds):
            for name, (_, module) in CONTENDERS.items():
                if module is not None and importlib.util.find_spec(module) is None:
                    continue
                number = conversations if module is None else slow_conversations
                measured.setdefault(name, []).append(measure(name, url, number))
    finally:
        server.terminate()
        server.wait()
    rates = {name: statistics.median(rate for rate, _ in each) for name, each in measured.items()}
    costs = {name: statistics.median(cost for _, cost in each) for name, each in measured.items()}
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {rounds} rounds, medians")
    print(
        "| contender | conversations/s | of post() | of create() | processor, ms | of post() | of create() |"
    )
    print("|---|---|---|---|---|---|---|")
    bare, usual = "post(cast_to=object)", "create()"
    for name in sorted(rates, key=lambda name: costs[name]):
        faster = f"{rates[name] / rates[bare]:.2f} | {rates[name] / rates[usual]:.2f}"
        cheaper = f"{costs[bare] / costs[name]:.2f} | {costs[usual] / costs[name]:.2f}"
        print(f"| {name} | {rates[name]:.0f} | {faster} | {costs[name]:.2f} | {cheaper} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--conversations", type=int, default=2000)
    parser.add_argument("--slow-conversations", type=int, default=500, help="for the frameworks")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        asyncio.run(serve())
    elif chosen.one:
        measured = CONTENDERS[chosen.one][0](chosen.url, chosen.conversations)
        print(*(asyncio.run(measured) if asyncio.iscoroutine(measured) else measured))
    else:
        race(chosen.rounds, chosen.conversations, chosen.slow_conversations)


if __name__ == "__main__":
    main()
