"""From a file of traces to a first answer: the lab beside phoenix and mlflow, each importing the same lines.

    python benchmarks/bench_import.py --others importers/bin/python       # 10,000 traces, one round
    python benchmarks/bench_import.py --others importers/bin/python --traces 2000 --only mlflow

*lab* loads the file into an empty home and says which tools fail. *phoenix* is a server of its own on the loopback,
running before the clock starts; a client posts each line as a span, a thousand at a time, and the answer is the
server's own count of them, complete. *mlflow* writes each line as a trace into an SQLite store, the synchronous
way, and the answer is which traces failed. Phoenix and mlflow are looked for in the Python that --others names
(this one, where it is not given); one that is not there is said to be missing.

Every measurement is a fresh process from its start to its answer; its processor time counts what the server took
meanwhile.
Target: the lab at least 100 times as fast.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import make_lines
from bench_load import environment

CONTENDERS = {"lab": "quality_lab", "phoenix": "phoenix.client", "mlflow": "mlflow"}
AT_ONCE = 1_000  # spans of one request


def lab(lines: Path, folder: Path) -> dict[str, int]:
    """Load *lines*; return the errors of each tool."""
    from quality_lab.lab import open_lab

    opened = open_lab(folder)
    opened.load(lines)
    return {row.tool_name: row.errors for row in opened.failing_tools()}


def span_of(call: dict[str, Any]) -> dict[str, Any]:
    """Return a trace line as phoenix takes a span: a trace of its own."""
    at = datetime.fromtimestamp(call["createdAt"], UTC).isoformat()
    return {
        "name": call["toolName"],
        "context": {"trace_id": f"{call['id']:032x}", "span_id": f"{call['id']:016x}"},
        "span_kind": "TOOL",
        "start_time": at,
        "end_time": at,
        "status_code": "ERROR" if call["error"] else "OK",
        "attributes": {
            "session.id": str(call["conversationId"]),
            "tool.name": call["toolName"],
            "input.value": json.dumps(call["args"]),
            "input.mime_type": "application/json",
            "output.value": json.dumps(call["result"]),
            "output.mime_type": "application/json",
        },
    }


def phoenix(lines: Path, address: str) -> dict[str, int]:
    """Post *lines* as spans; return the count that the server tells once it has them all."""
    from phoenix.client import Client

    client = Client(base_url=address)
    spans = [span_of(json.loads(line)) for line in lines.read_bytes().splitlines()]
    for first in range(0, len(spans), AT_ONCE):
        client.spans.log_spans(
            project_identifier="default", spans=spans[first : first + AT_ONCE], timeout=3600
        )
    question = json.dumps({"query": "{ projects { edges { node { recordCount } } } }"}).encode()
    while True:
        request = urllib.request.Request(f"{address}/graphql", question, {"content-type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            found = json.load(answer)["data"]["projects"]["edges"]
        if (count := sum(edge["node"]["recordCount"] for edge in found)) >= len(spans):
            return {"spans": count}
        time.sleep(0.1)


def mlflow(lines: Path, folder: Path) -> dict[str, int]:
    """Write *lines* as traces; return how many failed, by name."""
    os.environ["MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"] = "false"
    import mlflow as product

    product.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
    client = product.MlflowClient()
    experiment = product.create_experiment("calls", artifact_location=str(folder / "artifacts"))
    written = 0
    for line in lines.read_bytes().splitlines():
        call = json.loads(line)
        at = call["createdAt"] * 10**9
        root = client.start_trace(
            call["toolName"], span_type="TOOL", inputs=call["args"], experiment_id=experiment,
            start_time_ns=at, tags={"conversation": str(call["conversationId"])},
        )  # fmt: skip
        status = "ERROR" if call["error"] else "OK"
        client.end_trace(root.trace_id, outputs=call["result"], status=status, end_time_ns=at)
        written += 1
    failed = client.search_traces([experiment], filter_string="status = 'ERROR'", max_results=500)
    return {"traces": written, **Counter(trace.data.spans[0].name for trace in failed)}


@contextlib.contextmanager
def phoenix_server(python: str, folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the address of a phoenix that has nothing yet, and its process."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with socket.create_server(("127.0.0.1", 0)) as free:
        grpc = free.getsockname()[1]
    told = environment(folder.parent) | {
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(grpc),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    address = f"http://127.0.0.1:{port}"
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [python, "-m", "phoenix.server.main", "serve"], env=told, stdout=log, stderr=log
        )
    try:
        while True:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{address}/healthz").close()
                break
            if server.poll() is not None:
                raise SystemExit(f"phoenix did not start: {(folder / 'server.log').read_text()[-2000:]}")
            time.sleep(0.2)
        yield address, server.pid
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


def measured(what: str, python: str, lines: Path, folder: Path) -> dict[str, Any]:
    """Return what it takes from the start of a process to its answer."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with contextlib.ExitStack() as open_things:
        where, server = str(folder), None
        if what == "phoenix":
            where, server = open_things.enter_context(phoenix_server(python, folder))
        start, before = time.perf_counter(), spent(server)
        command = [python, __file__, "--child", what, "--lines", str(lines), "--where", where]
        done = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True, env=environment(lines.parent)
        )
        seconds, processor = time.perf_counter() - start, spent(server) - before
    return {"seconds": seconds, "processor": processor, "answer": json.loads(done.stdout.splitlines()[-1])}


def spent(server: int | None) -> float:
    """Return the processor time of the processes that have ended, and of the *server* that has not."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = ended.ru_utime + ended.ru_stime
    if server is not None:
        fields = Path(f"/proc/{server}/stat").read_text("utf-8").rsplit(")", 1)[1].split()
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # utime, stime
    return total


def has(python: str, module: str) -> bool:
    """Say whether that Python can import a module."""
    return (
        subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0
    )


def main() -> None:
    """Let each contender import the lines in turn and print their table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--traces", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--others", default=sys.executable, help="the Python that has phoenix and mlflow")
    parser.add_argument("--only", choices=["phoenix", "mlflow"], action="append", help="of the others")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "quality-lab-bench")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--lines", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--where", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child == "phoenix":
        print(json.dumps(phoenix(asked.lines, asked.where)))
        return
    if asked.child:
        print(json.dumps({"lab": lab, "mlflow": mlflow}[asked.child](asked.lines, Path(asked.where))))
        return
    folder = asked.folder / f"import-{asked.traces}"
    make_lines.make(folder, calls=asked.traces, bad_share=0, clean=False)
    pythons = {name: sys.executable if name == "lab" else asked.others for name in CONTENDERS}
    wanted = [name for name in CONTENDERS if name == "lab" or name in (asked.only or CONTENDERS)]
    missing = [name for name in wanted if not has(pythons[name], CONTENDERS[name])]
    taken: dict[str, list[dict[str, Any]]] = {name: [] for name in wanted if name not in missing}
    for _ in range(asked.rounds):
        for name, rounds in taken.items():
            rounds.append(measured(name, pythons[name], folder / "traces.jsonl", folder / name))
    print(
        f"{asked.traces:,} traces; {asked.rounds} rounds; {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}\n"
    )
    print("| | seconds | of the lab's | processor | of the lab's | answer |")
    print("|---|---:|---:|---:|---:|---|")
    for name, rounds in taken.items():
        cells = []
        for what in ("seconds", "processor"):
            middle, ours = (statistics.median(one[what] for one in some) for some in (rounds, taken["lab"]))
            cells += [f"{middle:.1f}", f"{middle / ours:.0f} ×"]
        print(f"| {name} | {' | '.join(cells)} | {json.dumps(rounds[0]['answer'])} |")
    for name in missing:
        print(f"\n{name} is not installed in {pythons[name]}")


if __name__ == "__main__":
    main()
