"""One re-run made ready: cases, tools, models, budget and what is kept, as they were asked for."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quality_lab.errors import InputError, UsageError

if TYPE_CHECKING:
    from quality_lab.regressions.rerun_arguments import RerunArguments
    from quality_lab.regressions.rerun_report import RerunReport
    from quality_lab.regressions.results import Metadata
    from quality_lab.replay.comparison import Judged
    from quality_lab.replay.rerun import Progress
    from quality_lab.replay.to_run import CaseToRun
    from quality_lab.store import Store
    from quality_lab.toolloop import Model, Tool

OPENAI = "https://api.openai.com/v1"
KEPT_TRIALS = "reruns.jsonl"  # in the home's data/


def cases_of(store: Store) -> tuple[list[bytes], list[str]]:
    """Return the records of the active cases in *store*, a line each, and beside them whose they are."""
    from quality_lab.metrics.regression_cases import regression_cases

    rows = regression_cases(store, statuses=["active"]) if store.exists() else []
    rows.sort(key=lambda row: (row.tenant, row.key))
    return [row.record.encode() for row in rows], [row.tenant for row in rows]


def lines_of(path: Path) -> list[bytes]:
    """Return the lines of a file of cases.

    Raises: InputError where it cannot be read.
    """
    try:
        return path.read_bytes().split(b"\n")
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        raise InputError(f"wanted to read {path}, got: {reason}") from problem


async def rerun_lines(
    lines: Sequence[bytes],
    asked: RerunArguments,
    *,
    home: Path,
    metadata: Metadata,
    tenants: Sequence[str] = (),
    only_red: bool = False,
    include_archived: bool = False,
    supported_tools: Sequence[str] = (),
    skip_unsupported: bool = False,
    model: Model | None = None,
    judge_model: Model | None = None,
    tools: Sequence[Tool] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> RerunReport:
    """Return the report on the cases in *lines*; *model*, *judge_model*, *tools* replace those *asked* names.

    Raises: UsageError, InputError, OutputError.
    """
    from quality_lab.judge import Judge
    from quality_lab.regressions.rerunning import plan, run_plan
    from quality_lab.replay.budget import Budget, price_of
    from quality_lab.replay.keeping import Keeper
    from quality_lab.replay.rerun import Rerun, RunSettings
    from quality_lab.replay.shelf import Shelf

    planned = plan(
        lines,
        tenants=tenants,
        include_archived=include_archived,
        supported_tools=supported_tools,
        skip_unsupported=skip_unsupported,
        wanted=is_red if only_red else None,
    )
    allowed = () if skip_unsupported else supported_tools
    shelf = Shelf(
        tools if tools is not None else asked.tools_from,
        folder=Path.cwd(),
        environ=os.environ,
        allow_live=asked.allow_live,
        allowed=allowed,
    )
    baseline = _baseline(asked.baseline)
    async with AsyncExitStack() as closing:
        if model is None and not asked.is_recorded:
            model = await closing.enter_async_context(model_named(asked.model, asked.base_url, os.environ))
        if judge_model is None and asked.judge is not None:
            judge_model = await closing.enter_async_context(
                model_named(asked.judge, asked.base_url, os.environ)
            )
        budget = purse = None
        if asked.budget_usd is not None and model is not None:
            budget = Budget(asked.budget_usd, price_of(model.name))
            purse = budget.purse(price_of(judge_model.name)) if judge_model is not None else None
        keeper = None
        if model is not None:
            keeper = Keeper(home / "data" / KEPT_TRIALS, resume=asked.resume)
            closing.callback(keeper.close)
        judge = None
        if judge_model is not None and model is not None:  # recorded decisions leave nothing to judge
            judge = Judge(judge_model, purse=purse, answers=keeper)
            read = (each.read() for each in planned.to_run)
            await judge.measure(each.case for each in read if each.malformed is None)
        run = Rerun(
            shelf,
            model=model,
            model_key=f"{asked.model} {asked.base_url or ''}",
            settings=RunSettings(
                tape=asked.tape,
                trials=asked.trials,
                concurrency=asked.concurrency,
                draft_rules=asked.draft_rules,
            ),
            budget=budget,
            keeper=keeper,
            judge=judge,
            progress=progress,
        )
        return await run_plan(
            planned,
            run,
            now=datetime.now(UTC),
            metadata=metadata,
            settings=_told(asked, allowed),
            baseline=baseline,
            judge=judge.as_json if judge is not None else None,
        )


def model_named(name: str, base_url: str | None, environ: Mapping[str, str]) -> Any:
    """Return the model of a name: ``openai:NAME``, or NAME on the server at *base_url*.

    Raises: UsageError where no server is named, or OpenAI's without a key.
    """
    from quality_lab.toolloop.models import OpenAICompatible

    key = environ.get("OPENAI_API_KEY", "")
    if name.startswith("openai:"):
        if not key and base_url is None:
            raise UsageError(f"{name} needs a key in OPENAI_API_KEY")
        bare = name.removeprefix("openai:")
        return OpenAICompatible(bare, base_url=base_url or OPENAI, api_key=key or "none")
    address = base_url or environ.get("OPENAI_BASE_URL")
    if not address:
        raise UsageError(f"the model {name} needs a base URL (--base-url), or is written openai:{name}")
    return OpenAICompatible(name, base_url=address, api_key=key or "none")


def is_red(given: CaseToRun) -> bool:
    """Return whether a case gates: it provably catches its fault."""
    return given.malformed is None and given.case.proof(given.case.judge_recorded()) == "red"


def _baseline(path: str | None) -> list[Judged] | None:
    if path is None:
        return None
    from quality_lab.regressions.rerun_report import judged_in

    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        return judged_in(document if isinstance(document, dict) else {})
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        raise InputError(f"wanted to read the baseline {path}, got: {reason}") from problem
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{path} is no report of a re-run: {problem}") from problem


def _told(asked: RerunArguments, allowed: Sequence[str]) -> dict[str, Any]:
    """Return what the report says of how the run was made; no key, and no address that may hold one."""
    told: dict[str, Any] = {"model": asked.model}
    if asked.base_url:
        told["base_url"] = asked.base_url.split("?")[0]
    if asked.tools_from:
        told["tools_from"] = asked.tools_from
    if allowed:
        told["allowed"] = list(allowed)
    told |= {"tape": asked.tape, "allow_live": "read" if asked.allow_live else None, "trials": asked.trials}
    told |= {"draft_rules": asked.draft_rules, "judge": asked.judge, "resumed": asked.resume}
    if asked.budget_usd is not None:
        told["budget_usd"] = float(asked.budget_usd)
    return told
