"""A run judged by a case's rules: forbidden, counts, calls, reply, end state, in that order, all reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quality_lab.matching.assignment import bits
from quality_lab.matching.board import Board
from quality_lab.matching.calls import FAILED, MadeCall, Run
from quality_lab.matching.checks import Check, Failure, Judgement, verdict_of
from quality_lab.matching.json_values import ABSENT, path_text, shown, value_at
from quality_lab.matching.list_of_calls import check_list, path_failures
from quality_lab.matching.rules import Entry, ReplyRules, Rules
from quality_lab.matching.values import Leaf

ONLY_PROSE = "only_prose: the case has no rule, only a description"
ONE_CALL = "one_call_known: only the labelled call was kept, the others of its turn were not"
AFTER = "after_unavailable: what decides came after a result that could not be served"


def judge_run(rules: Rules, run: Run) -> Judgement:
    """Return the verdict on *run*.

    A check that cannot decide (something was not captured, or came after a result that was unavailable)
    keeps the verdict from PASS, never from FAIL.
    """
    if rules.problems:
        shape = Check(name="shape", status="error", reason=f"malformed_case: {rules.problems[0]}")
        return verdict_of([shape], nothing=ONLY_PROSE)
    board = Board(run.calls)
    standing = _standing(run)
    checks = [
        _forbidden(rules, board, standing),
        _counts(rules, run, standing),
        _calls(rules, run, board, standing),
        _reply(rules.reply, run),
        _end_state(rules.end_state, run),
    ]
    return verdict_of([check for check in checks if check is not None], nothing=ONLY_PROSE)


def _standing(run: Run) -> int:
    """Return the calls that stand as evidence: those up to the cycle of the first unavailable result."""
    last = run.unavailable_cycle
    return sum(1 << at for at, call in enumerate(run.calls) if last is None or call.cycle <= last)


def _forbidden(rules: Rules, board: Board, standing: int) -> Check | None:
    if not rules.forbidden:
        return None
    failures: list[Failure] = []
    doubt: str | None = None
    for entry in rules.forbidden:
        fit = board.fit(entry)
        for at in bits(fit.surely & standing):
            call = board.calls[at]
            said = f"{call.tool} with {shown(call.args)}" if entry.leaves is not None else call.tool
            failures.append(
                Failure(step=at, rule=entry.where, path="tool", expected="not called so", got=said)
            )
        if fit.surely & ~standing:
            doubt = doubt or AFTER
        if fit.perhaps & ~fit.surely:
            doubt = doubt or _not_captured(board, next(bits(fit.perhaps & ~fit.surely)))
    return _check("forbidden", failures, doubt)


def _counts(rules: Rules, run: Run, standing: int) -> Check | None:
    fewest, most = rules.min_calls, rules.max_calls
    if fewest is None and most is None:
        return None
    if run.only_one_call_known:
        return Check(name="counts", status="undecided", reason=ONE_CALL)
    made, sure = len(run.calls), standing.bit_count()
    failures: list[Failure] = []
    doubt: str | None = None
    if most is not None and made > most:
        if sure > most:
            failures.append(_count_failure("max_calls", f"at most {most} calls", made))
        else:
            doubt = AFTER
    if fewest is not None and sure < fewest:
        if run.unavailable_cycle is not None:
            doubt = doubt or AFTER
        else:
            failures.append(_count_failure("min_calls", f"at least {fewest} calls", made))
    return _check("counts", failures, doubt)


def _count_failure(rule: str, expected: str, made: int) -> Failure:
    return Failure(step=None, rule=rule, path="calls", expected=expected, got=str(made))


def _calls(rules: Rules, run: Run, board: Board, standing: int) -> Check | None:
    if not rules.rules_calls:
        return None
    if run.only_one_call_known:
        return _one_call(rules, board)
    calls = rules.calls or ()
    entries = [entry for entry in calls for _ in range(entry.times)]
    if not rules.ignore_failed:
        return check_list(rules.mode, entries, board, standing, run.unavailable_cycle is not None)
    kept = [at for at, call in enumerate(run.calls) if call.outcome not in FAILED]
    unsure = [at for at in kept if run.calls[at].succeeded is None]
    checks = [_check_kept(rules, entries, run, kept)]
    if unsure:  # each might have failed, and would then not count
        checks.append(_check_kept(rules, entries, run, [at for at in kept if at not in unsure]))
    if len({check.status for check in checks}) > 1:
        return Check(name="calls", status="undecided", reason=_not_captured(board, unsure[0]))
    return checks[0]


def _check_kept(rules: Rules, entries: Sequence[Entry], run: Run, kept: Sequence[int]) -> Check:
    """Check the list without the failed attempts; failures still name the steps of the whole run."""
    calls = [run.calls[at] for at in kept]
    standing = _standing(replace(run, calls=calls))
    check = check_list(rules.mode, entries, Board(calls), standing, run.unavailable_cycle is not None)
    failures = (
        failure if failure.step is None else replace(failure, step=kept[failure.step])
        for failure in check.failures
    )
    return replace(check, failures=tuple(failures))


def _one_call(rules: Rules, board: Board) -> Check:
    """Check the arguments of the only call that was kept, where an entry of its tool rules them."""
    about = [
        entry
        for entry in rules.calls or ()
        if entry.leaves is not None and board.of_tool(entry) and rules.mode != "none"
    ]
    fits = [board.fit(entry) for entry in about]
    if not about:
        return Check(name="calls", status="undecided", reason=ONE_CALL)
    others = [entry for entry in rules.calls or () if entry not in about]
    if any(fit.surely for fit in fits):
        return Check(name="calls", status="undecided" if others or len(about) > 1 else "pass",
                     reason=ONE_CALL if others or len(about) > 1 else None)  # fmt: skip
    failing = [(entry, path_failures(board, entry, 0)) for entry in about]
    if any(fit.perhaps for fit in fits):
        return Check(name="calls", status="undecided", reason=_not_captured(board, 0))
    _, failures = min(failing, key=lambda pair: len(pair[1]))
    return Check(name="calls", status="fail", failures=tuple(failures))


def _reply(rules: ReplyRules | None, run: Run) -> Check | None:
    if rules is None:
        return None
    if not run.reply_known:
        return Check(name="reply", status="undecided", reason="reply_not_known: the final text was not kept")
    if run.unavailable_cycle is not None:
        return Check(name="reply", status="undecided", reason=AFTER)
    text = run.reply or ""
    got = "no text" if run.reply is None else shown(text)
    failures = [
        Failure(step=None, rule="reply.contains", path="reply", expected=shown(wanted), got=got)
        for wanted in rules.contains
        if wanted not in text or run.reply is None
    ]
    failures += [
        Failure(step=None, rule="reply.not_contains", path="reply", expected=f"no {shown(unwanted)}", got=got)
        for unwanted in rules.not_contains
        if unwanted in text
    ]
    if rules.matches_test is not None and (run.reply is None or not rules.matches_test(text)):
        expected = f"all of it to match {rules.matches}"
        failures.append(Failure(step=None, rule="reply.matches", path="reply", expected=expected, got=got))
    return _check("reply", failures, None)


def _end_state(leaves: Sequence[Leaf] | None, run: Run) -> Check | None:
    if leaves is None:
        return None
    if run.end_state is ABSENT:
        reason = "end_state_not_known: no stand-in kept a state"
        return Check(name="end_state", status="undecided", reason=reason)
    if run.unavailable_cycle is not None:
        return Check(name="end_state", status="undecided", reason=AFTER)
    failures = [
        Failure(
            step=None,
            rule=f"end_state {leaf.rule}",
            path=path_text(leaf.path, root="end_state"),
            expected=leaf.expected,
            got=shown(value_at(run.end_state, leaf.path)),
        )
        for leaf in leaves
        if not leaf.holds(value_at(run.end_state, leaf.path))
    ]
    return _check("end_state", failures, None)


def _check(name: str, failures: list[Failure], doubt: str | None) -> Check:
    status = "fail" if failures else "undecided" if doubt else "pass"
    return Check(name=name, status=status, failures=tuple(failures), reason=None if failures else doubt)  # type: ignore[arg-type]  # names and statuses are ours


def _not_captured(board: Board, at: int) -> str:
    call: MadeCall = board.calls[at]
    if call.outcome == "refused":
        return f"refused: call {at + 1} ({call.tool}) may not be carried out in a re-run"
    what = "arguments" if call.args is ABSENT else "result"
    return f"not_captured: the {what} of call {at + 1} ({call.tool}) were not kept"
