"""`quality-lab regressions --rerun`: cases put to a model again, or their decisions to today's contracts."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from quality_lab.errors import InputError, OutputError, UsageError
from quality_lab.js_text import well_formed

if TYPE_CHECKING:
    from quality_lab.regressions import Settings
    from quality_lab.regressions.rerun_arguments import RerunArguments
    from quality_lab.regressions.rerun_report import RerunReport
    from quality_lab.regressions.results import Metadata
    from quality_lab.replay.comparison import Judged
    from quality_lab.replay.rerun import CaseToRun, Progress
    from quality_lab.toolloop.models import OpenAICompatible

OPENAI = "https://api.openai.com/v1"
KEPT_TRIALS = "reruns.jsonl"  # in the home's data/
Write = Callable[[TextIO, str], None]


def rerun(arguments: Sequence[str], *, write: Write, home: str | None) -> int:
    """Return the exit code of a re-run, once its report files are written and its streams have spoken."""
    from quality_lab.regressions import parse_arguments
    from quality_lab.regressions.rerun_arguments import split_arguments
    from quality_lab.regressions.rerun_documents import rerun_json, rerun_text

    asked, left = split_arguments(arguments)
    asked = asked if asked.home or not home else replace(asked, home=home)
    settings = parse_arguments(left, env=os.environ, folder=str(Path.cwd()))
    of_a_file = any(each == "--file" or each.startswith("--file=") for each in left)
    of_the_lab = not of_a_file and not any(each.startswith("--api-base") for each in left)
    lines, metadata = _from_lab(asked) if of_the_lab else _from_source(settings)
    report = asyncio.run(_run(asked, settings, lines, metadata, only_red=of_the_lab))
    _write_files(report, settings)
    if settings.as_json:
        write(sys.stdout, rerun_json(report))
    else:
        out, told = rerun_text(report)
        write(sys.stdout, out)
        write(sys.stderr, told)
    return report.exit_code(strict=asked.strict)


async def _run(
    asked: RerunArguments,
    settings: Settings,
    lines: Sequence[bytes],
    metadata: Metadata,
    *,
    only_red: bool,
) -> RerunReport:
    from quality_lab.judge import Judge
    from quality_lab.regressions.rerunning import plan, run_plan
    from quality_lab.replay.budget import Budget, price_of
    from quality_lab.replay.keeping import Keeper
    from quality_lab.replay.rerun import Rerun, RunSettings
    from quality_lab.replay.shelf import Shelf

    planned = plan(
        lines,
        include_archived=settings.include_archived,
        supported_tools=settings.supported_tools,
        skip_unsupported=settings.skip_unsupported,
        wanted=_is_red if only_red else lambda case: True,
    )
    shelf = Shelf(
        asked.tools_from,
        folder=Path.cwd(),
        environ=os.environ,
        allow_live=asked.allow_live,
        allowed=() if settings.skip_unsupported else settings.supported_tools,
    )
    baseline = _baseline(asked.baseline)
    model = None if asked.is_recorded else model_named(asked.model, asked.base_url, os.environ)
    judge_model = model_named(asked.judge, asked.base_url, os.environ) if asked.judge else None
    budget = None
    if asked.budget_usd is not None and model is not None:
        budget = Budget(asked.budget_usd, price_of(model.name))
    judge = Judge(judge_model) if judge_model is not None else None
    keeper = Keeper(_kept_trials(asked), resume=asked.resume) if model is not None else None
    run = Rerun(
        shelf,
        model=model,
        model_key=f"{model.name} at {model.base_url}" if model is not None else "recorded",
        settings=RunSettings(
            tape=asked.tape,
            trials=asked.trials,
            concurrency=asked.concurrency,
            draft_rules=asked.draft_rules,
        ),
        budget=budget,
        keeper=keeper,
        judge=judge,
        progress=_progress if sys.stderr.isatty() else None,
    )
    try:
        if judge is not None:
            await judge.measure([each.case for each in planned.to_run if not each.problems])
        return await run_plan(
            planned,
            run,
            now=datetime.now(UTC),
            metadata=metadata,
            settings=_told(asked, settings),
            baseline=baseline,
            judge=judge.as_json if judge is not None else None,
        )
    finally:
        if keeper is not None:
            keeper.close()
        for each in (model, judge_model):
            if each is not None:
                await each.aclose()


def model_named(name: str, base_url: str | None, environ: Mapping[str, str]) -> OpenAICompatible:
    """Return the model that a command line names: ``openai:NAME``, or NAME on the server at *base_url*.

    Raises:
        UsageError: no server is named, or OpenAI's without a key.
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
        raise UsageError(f"--model {name} needs --base-url, or is written openai:{name}")
    return OpenAICompatible(name, base_url=address, api_key=key or "none")


def _from_source(settings: Settings) -> tuple[list[bytes], Metadata]:
    """Return the lines of the file or the API that was named, and what the report says of it."""
    from quality_lab.regressions import FileSource

    source = settings.source
    if isinstance(source, FileSource):
        try:
            return Path(source.path).read_bytes().split(b"\n"), settings.metadata
        except OSError as problem:
            reason = problem.strerror or type(problem).__name__
            raise InputError(f"wanted to read {well_formed(source.path)}, got: {reason}") from problem
    from quality_lab.quality_api import fetch_regression_cases, without_token

    body = fetch_regression_cases(source.base, token=source.token, status=source.status, limit=source.limit)
    text = without_token(body.decode("utf-8", "replace"), source.token)  # before anything is made of it
    return text.encode().split(b"\n"), settings.metadata


def _from_lab(asked: RerunArguments) -> tuple[list[bytes], Metadata]:
    """Return the lab's active cases, oldest id first, and what the report says of them."""
    from quality_lab.lab import open_lab

    lab = open_lab(asked.home)
    query = "select record from regression_cases where status = 'active' order by tenant, key"
    records = list(lab.sql(query)["record"]) if lab.store.exists() else []
    return [str(record).encode() for record in records], {"source": "lab", "home": str(lab.home)}


def _is_red(given: CaseToRun) -> bool:
    """Return whether a case of the lab is one that gates: it provably catches its fault."""
    return not given.problems and given.case.proof(given.case.judge_recorded()) == "red"


def _kept_trials(asked: RerunArguments) -> Path:
    from quality_lab.lab.home import find_home

    home = find_home(asked.home, environment=os.environ, start=Path.cwd())
    return home.path / "data" / KEPT_TRIALS


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
    except ValueError as problem:
        raise InputError(f"{path} is no report of a re-run: {problem}") from problem


def _told(asked: RerunArguments, settings: Settings) -> dict[str, Any]:
    """Return what the report says of how the run was made; no key and no address with one in it."""
    told: dict[str, Any] = {"model": asked.model}
    if asked.base_url:
        told["base_url"] = asked.base_url.split("?")[0]
    if asked.tools_from:
        told["tools_from"] = asked.tools_from
    if settings.supported_tools:
        told["allowed"] = list(settings.supported_tools)
    told |= {"tape": asked.tape, "allow_live": "read" if asked.allow_live else None, "trials": asked.trials}
    told |= {"draft_rules": asked.draft_rules, "judge": asked.judge, "resumed": asked.resume}
    if asked.budget_usd is not None:
        told["budget_usd"] = float(asked.budget_usd)
    return told


def _write_files(report: RerunReport, settings: Settings) -> None:
    from quality_lab.regressions.rerun_documents import rerun_json, rerun_junit, rerun_markdown

    for path, document in (
        (settings.out_json, rerun_json),
        (settings.out_junit, rerun_junit),
        (settings.out_markdown, rerun_markdown),
    ):
        if path is None:
            continue
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(document(report), encoding="utf-8", newline="\n")
        except OSError as problem:
            reason = problem.strerror or type(problem).__name__
            raise OutputError(f"wanted to write {well_formed(path)}, got: {reason}") from problem


def _progress(progress: Progress) -> None:
    spent = f", {progress.spent_usd:.4f} dollars" if progress.spent_usd else ""
    end = "\n" if progress.done == progress.total else ""
    sys.stderr.write(f"\r{progress.done} of {progress.total} trials{spent}{end}")
    sys.stderr.flush()
