"""The list of expected calls checked against the calls that were made, and told where they part."""

from __future__ import annotations

from collections.abc import Sequence

from quality_lab.matching.assignment import bits
from quality_lab.matching.board import Board
from quality_lab.matching.checks import Check, Failure
from quality_lab.matching.json_values import ABSENT, path_text, shown
from quality_lab.matching.modes import CLOSED, HOLDS, Mode, can_still_hold, rounds_of
from quality_lab.matching.rules import Entry

_NOT_CAPTURED = "not_captured: too little was kept of the calls to pair them with what was expected"
_AFTER = "after_unavailable: what decides came after a result that could not be served"


def check_list(mode: Mode, entries: Sequence[Entry], board: Board, standing: int, truncated: bool) -> Check:
    """Return whether *entries* (each as often as it is wanted) and the calls on *board* are as *mode* says.

    Calls outside of *standing* came after a result that was unavailable; *truncated* says that there was
    such a result, so that what is missing may have come had it been served.
    """
    fits = [board.fit(entry) for entry in entries]
    surely, perhaps = [fit.surely for fit in fits], [fit.perhaps for fit in fits]
    rounds = rounds_of([call.cycle for call in board.calls])
    if standing != board.every:
        return _truncated(mode, entries, board, standing, surely, perhaps)
    if HOLDS[mode](surely, rounds):
        return Check(name="calls", status="pass")
    if HOLDS[mode](perhaps, rounds):
        return Check(name="calls", status="undecided", reason=_doubt(board))
    failures = explain(mode, entries, board, perhaps, board.every)
    if truncated and all(failure.step is None for failure in failures):
        return Check(name="calls", status="undecided", reason=_AFTER)
    return Check(name="calls", status="fail", failures=failures)


def _doubt(board: Board) -> str:
    for at, call in enumerate(board.calls):
        if call.outcome == "refused":
            return f"refused: call {at + 1} ({call.tool}) may not be carried out in a re-run"
    return _NOT_CAPTURED


def _truncated(
    mode: Mode, entries: Sequence[Entry], board: Board, standing: int, surely: list[int], perhaps: list[int]
) -> Check:
    """Return the check where calls came after the first unavailable result: only those up to it decide."""
    rounds = rounds_of([call.cycle for at, call in enumerate(board.calls) if standing >> at & 1])
    sure, maybe = [mask & standing for mask in surely], [mask & standing for mask in perhaps]
    if mode in ("any_order", "in_order"):
        if HOLDS[mode](sure, rounds):
            return Check(name="calls", status="pass")
        all_rounds = rounds_of([call.cycle for call in board.calls])
        if not HOLDS[mode](perhaps, all_rounds):
            failures = explain(mode, entries, board, maybe, standing)
            decisive = tuple(failure for failure in failures if failure.step is not None)
            if decisive:
                return Check(name="calls", status="fail", failures=decisive)
    elif not can_still_hold(mode, maybe, rounds):
        return Check(name="calls", status="fail", failures=explain(mode, entries, board, maybe, standing))
    elif mode == "only_from" and HOLDS[mode](surely, rounds_of([call.cycle for call in board.calls])):
        return Check(name="calls", status="pass")
    return Check(name="calls", status="undecided", reason=_AFTER)


def explain(
    mode: Mode, entries: Sequence[Entry], board: Board, fits: Sequence[int], among: int
) -> tuple[Failure, ...]:
    """Return where *entries* and the calls *among* those made part, by the pairing that needs least said."""
    if mode == "none":
        return tuple(_extra(board, at, "no call at all") for at in bits(among))
    if mode == "only_from":
        return tuple(
            failure
            for at in bits(among)
            if not any(mask >> at & 1 for mask in fits)
            for failure in _not_allowed(board, entries, at)
        )
    paired = board.nearest(entries, fits, among)
    failures: list[Failure] = []
    for row, (entry, at) in enumerate(zip(entries, paired, strict=True)):
        if at < 0:
            failures.append(
                Failure(step=None, rule=entry.where, path="tool", expected=_wish(entry), got="no such call")
            )
        elif not fits[row] >> at & 1:
            failures += path_failures(board, entry, at)
    if mode in CLOSED:
        extra = among & ~sum(1 << at for at in paired if at >= 0)
        failures += [_extra(board, at, "no call beside those listed") for at in bits(extra)]
    return tuple(failures or _out_of_order(board, entries, paired))


def path_failures(board: Board, entry: Entry, at: int) -> list[Failure]:
    """Return what keeps the call *at* that position from satisfying *entry*, place by place."""
    failures = [
        Failure(
            step=at,
            rule=f"{entry.where} {leaf.rule}",
            path=path_text(leaf.path),
            expected=leaf.expected,
            got=shown(board.value(at, leaf.path)),
        )
        for leaf in board.failing(entry, at)
    ]
    call = board.calls[at]
    if entry.must_succeed and call.succeeded is not True:
        failures.append(
            Failure(
                step=at,
                rule=f"{entry.where} must_succeed",
                path="outcome",
                expected="a call that did its work",
                got=call.outcome,
            )
        )
    return failures


def _not_allowed(board: Board, entries: Sequence[Entry], at: int) -> list[Failure]:
    about = [entry for entry in entries if board.of_tool(entry) >> at & 1]
    if not about:
        listed = ", ".join(dict.fromkeys(entry.tool for entry in entries)) or "no tool"
        return [_extra(board, at, f"only calls of {listed}")]
    return min((path_failures(board, entry, at) for entry in about), key=len)


def _out_of_order(board: Board, entries: Sequence[Entry], paired: Sequence[int]) -> list[Failure]:
    """Return the entries whose calls came before the call of the entry above them."""
    failures: list[Failure] = []
    for before, after, entry_before, entry in zip(paired, paired[1:], entries, entries[1:], strict=False):
        if board.calls[after].cycle < board.calls[before].cycle:
            failures.append(
                Failure(
                    step=after,
                    rule=entry.where,
                    path="order",
                    expected=f"{entry.tool} after {entry_before.tool} ({entry_before.where})",
                    got=f"call {after + 1} before call {before + 1}",
                )
            )
    return failures


def _extra(board: Board, at: int, expected: str) -> Failure:
    call = board.calls[at]
    got = call.tool if call.args is ABSENT else f"{call.tool} with {shown(call.args)}"
    return Failure(step=at, rule="calls", path="tool", expected=expected, got=got)


def _wish(entry: Entry) -> str:
    if not entry.leaves:
        return f"a call of {entry.tool}"
    wishes = (
        f"{path_text(leaf.path)} {leaf.expected}"
        for leaf in entry.leaves
        if leaf.rule not in ("object", "array", "keys")
    )
    return f"a call of {entry.tool} with {', '.join(wishes) or 'no arguments'}"
