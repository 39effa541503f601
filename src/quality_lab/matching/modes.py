"""What a list of expected calls demands of the calls made, mode by mode, in other tools' words too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from quality_lab.matching.assignment import Matching, bits, largest

Mode = Literal["exact", "in_order", "any_order", "unordered", "only_from", "none"]
DEFAULT_MODE: Mode = "any_order"

ALIASES: dict[str, Mode] = {  # folded in case: names with the same meaning
    "exact": "exact",
    "strict": "exact",
    "exact_match": "exact",
    "in_order": "in_order",
    "in_order_match": "in_order",
    "any_order": "any_order",
    "any_order_match": "any_order",
    "superset": "any_order",
    "unordered": "unordered",
    "only_from": "only_from",
    "subset": "only_from",
    "none": "none",
    "irrelevance": "none",
}
REFUSED = {  # folded in case: names that mean something else, and what to write instead
    "precision": "it is a share of the calls that were right, not a verdict; write only_from",
    "recall": "it is a share of the expected calls that were made, not a verdict; write any_order",
    "f1": "it is a share, not a verdict; write unordered for just these calls, any_order for at least these",
    "single_tool_use": "it looks at a tool's name alone; write any_order and leave the entry's args out",
    "fuzzy": "there is no being nearly right; write rules such as $approx, $folded or $one_of into args",
    "semantic": "meaning is judged by people or by --judge; describe it in behavior",
    "llm": "meaning is judged by people or by --judge; describe it in behavior",
    "ordered": "some tools allow other calls between and some do not; write in_order or exact",
    "partial": "some mean the calls by it and some the arguments; write any_order, or args_mode subset",
    "contains": "write any_order where order does not matter, in_order where it does",
    "relevance": "it only asks that some call is made; write min_calls 1",
}
_ALSO = {"trajectory_precision": "precision", "trajectory_recall": "recall", "tool_call_f1": "f1",
         "tool-call-f1": "f1", "trajectory_single_tool_use": "single_tool_use"}  # fmt: skip
_ALIASED = {"trajectory_exact_match": "exact_match", "trajectory_in_order_match": "in_order_match",
            "trajectory_any_order_match": "any_order_match"}  # fmt: skip


class ModeProblem(ValueError):
    """A mode that there is not, or a name that means something else elsewhere."""


def mode_named(name: str) -> Mode:
    """Return the mode that *name* means here or in another tool.

    >>> mode_named("strict"), mode_named("ANY_ORDER"), mode_named("subset")
    ('exact', 'any_order', 'only_from')

    Raises:
        ModeProblem: the name means something that no mode does, or nothing.
    """
    folded = name.strip().casefold()
    folded = _ALIASED.get(folded, _ALSO.get(folded, folded))
    if folded in ALIASES:
        return ALIASES[folded]
    if folded in REFUSED:
        raise ModeProblem(f"{name} is no mode here: {REFUSED[folded]}")
    raise ModeProblem(f"no mode is named {name}; there are {', '.join(dict.fromkeys(ALIASES.values()))}")


@dataclass(frozen=True, slots=True)
class Round:
    """Calls that were made together, in one cycle: their order says nothing."""

    size: int
    mask: int  # their positions among all calls


def rounds_of(cycles: Sequence[int]) -> list[Round]:
    """Return the rounds of calls whose cycles stand in *cycles*, in order."""
    rounds: list[Round] = []
    for at, cycle in enumerate(cycles):
        if at and cycle == cycles[at - 1]:
            rounds[-1] = Round(rounds[-1].size + 1, rounds[-1].mask | 1 << at)
        else:
            rounds.append(Round(1, 1 << at))
    return rounds


# Each asks the same of: a mask of fitting calls for each expected one, and the rounds of the calls made.


def _exact(masks: Sequence[int], rounds: Sequence[Round]) -> bool:
    if len(masks) != sum(each.size for each in rounds):
        return False
    return _begins(masks, rounds)


def _begins(masks: Sequence[int], rounds: Sequence[Round]) -> bool:
    """Return whether the calls of *rounds* are the first of the expected ones, and nothing else."""
    if sum(each.size for each in rounds) > len(masks):
        return False
    at = 0
    for each in rounds[:-1]:
        if -1 in largest([mask & each.mask for mask in masks[at : at + each.size]]):
            return False
        at += each.size
    last = rounds[-1] if rounds else Round(0, 0)
    return -1 not in largest([mask & last.mask for mask in masks[at : at + last.size]])


def _in_order(masks: Sequence[int], rounds: Sequence[Round]) -> bool:
    at = 0
    for each in rounds:  # taking all that a round can give leaves least to do for those after it
        pairs = Matching()
        while at < len(masks) and pairs.add(masks[at] & each.mask):
            at += 1
    return at == len(masks)


def _any_order(masks: Sequence[int], rounds: Sequence[Round]) -> bool:
    pairs = Matching()
    return all(pairs.add(mask) for mask in masks)


def _unordered(masks: Sequence[int], rounds: Sequence[Round]) -> bool:
    return len(masks) == sum(each.size for each in rounds) and _any_order(masks, rounds)


def _only_from(masks: Sequence[int], rounds: Sequence[Round]) -> bool:
    allowed = 0
    for mask in masks:
        allowed |= mask
    return all(not each.mask & ~allowed for each in rounds)


def _none(masks: Sequence[int], rounds: Sequence[Round]) -> bool:
    return not rounds


HOLDS: dict[Mode, Callable[[Sequence[int], Sequence[Round]], bool]] = {
    "exact": _exact,
    "in_order": _in_order,
    "any_order": _any_order,
    "unordered": _unordered,
    "only_from": _only_from,
    "none": _none,
}
CLOSED: tuple[Mode, ...] = ("exact", "unordered", "only_from", "none")  # a call that is not listed fails them


def can_still_hold(mode: Mode, masks: Sequence[int], rounds: Sequence[Round]) -> bool:
    """Return whether *mode* could hold if more calls, unknown ones, came after those of *rounds*."""
    if mode == "exact":
        return _begins(masks, rounds)
    if mode == "unordered":
        made = [at for each in rounds for at in bits(each.mask)]
        pairs = Matching()
        wanted_by = [sum(1 << row for row, mask in enumerate(masks) if mask >> at & 1) for at in made]
        return all(pairs.add(rows) for rows in wanted_by)
    if mode in ("only_from", "none"):
        return HOLDS[mode](masks, rounds)
    return True
