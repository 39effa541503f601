"""Whom to ask about which calls: a stratified random draw whose probabilities are known exactly.

The design is stratified simple random sampling without replacement (Cochran, *Sampling Techniques*, 1977,
chapter 5). The eligible calls are the frame; a strategy cuts it into strata; of the N_h calls of a stratum
n_h are drawn, every set of n_h calls with equal chance, so each of them was drawn with probability n_h / N_h.
The n_h are a function of the N_h alone: nothing about them is random, and the probabilities of all calls sum
to the size of the queue.

A fifth of every queue is a floor that is spread over all strata in proportion to their calls, rounded up. So
no call has a probability below a fifth of what a plain random draw would give it, and none has 0: that is
what makes estimates for all calls possible, however strongly a strategy prefers some.

Which calls are drawn is decided by permanent random numbers (Ohlsson 1995): a call's number is the md5 of
seed and uid, and the n_h calls with the least numbers are taken. So a seed draws the same calls in whatever
order files were loaded.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, cycle
from math import ceil
from types import MappingProxyType
from typing import Literal, get_args

from quality_lab.errors import UsageError

Strategy = Literal["mixed", "errors", "random", "rare", "disputed"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
FLOOR = Fraction(1, 5)  # of the size, drawn over all eligible calls

REST, REVIEWED, DISPUTED = "rest", "reviewed", "disputed"  # REVIEWED: known before, and never drawn
PREFERRED: dict[Strategy, tuple[str, ...]] = {  # strata that come before the rest
    "mixed": (DISPUTED, "error", "rare"),
    "errors": ("error",),
    "random": (),
    "rare": ("rare",),
    "disputed": (DISPUTED,),
}
_RARE = Fraction(1, 10)  # of the eligible calls belong, at most, to tools that count as rare


def draw_number(seed: int, call_uid: str, purpose: str = "draw") -> str:
    """Return the permanent random number of a call under a *seed*, as 32 hex digits; SQL makes the same."""
    return hashlib.md5(
        f"{seed}:{purpose}:{call_uid.replace('-', '')}".encode(), usedforsecurity=False
    ).hexdigest()


def rare_tools(calls: Mapping[str, int]) -> tuple[str, ...]:
    """Return the tools with fewest calls that have at most a tenth of all calls together; ties go by name.

    >>> rare_tools({"quote": 90, "refund": 6, "handoff": 4})
    ('handoff', 'refund')
    """
    room, found = _RARE * sum(calls.values()), []
    for name, count in sorted(calls.items(), key=lambda pair: (pair[1], pair[0])):
        room -= count
        if room < 0:
            break
        found.append(name)
    return tuple(found)


def sizes(calls: Mapping[str, int], size: int, *, first: Sequence[str] = ()) -> dict[str, int]:
    """Return how many calls are drawn of each stratum, *size* in all, or every call where there are fewer.

    *calls* says how many eligible calls each stratum has. Each stratum gets its part of the floor, rounded
    up. What is left goes in equal parts to the strata that come *first*, as far as they have calls; what they
    cannot take goes to the others in proportion to their calls.

    >>> sizes({"error": 80, "rest": 1920}, 100, first=["error"])
    {'error': 80, 'rest': 20}
    >>> sizes({"error": 80, "rest": 1920}, 40, first=["error"])
    {'error': 32, 'rest': 8}

    Raises: UsageError where *size* is less than the number of strata: one of them would have no chance.
    """
    there = {name: count for name, count in calls.items() if count > 0}
    total = sum(there.values())
    if size >= total:
        return there
    if size < max(1, len(there)):
        raise UsageError(
            f"wanted a queue of at least {len(there)} calls, one for each of {', '.join(there)}; came {size}"
        )
    floor = ceil(FLOOR * size)
    taken = {name: ceil(Fraction(floor * count, total)) for name, count in there.items()}
    left = _share_out(size - sum(taken.values()), taken, there, [name for name in first if name in there])
    _in_proportion(left, taken, there)
    return taken


def _share_out(left: int, taken: dict[str, int], there: Mapping[str, int], names: list[str]) -> int:
    """Give *left* calls in equal parts to the strata *names* while they have any; return what nobody took."""
    while left and (open_ones := [name for name in names if taken[name] < there[name]]):
        part = max(1, left // len(open_ones))
        for name in open_ones:
            more = min(part, there[name] - taken[name], left)
            taken[name] += more
            left -= more
    return left


def _in_proportion(left: int, taken: dict[str, int], there: Mapping[str, int]) -> None:
    """Give *left* calls to whatever strata have room, by largest remainder; ties go by the order of strata."""
    while left:
        room = {name: there[name] - taken[name] for name in there if taken[name] < there[name]}
        whole = sum(room.values())
        shares = {name: Fraction(left * count, whole) for name, count in room.items()}
        for name, share in shares.items():
            taken[name] += int(share)
            left -= int(share)
        for name in sorted(shares, key=lambda one: int(shares[one]) - shares[one])[:left]:
            if taken[name] < there[name]:
                taken[name] += 1
                left -= 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """A call of a queue."""

    call_uid: str
    stratum: str
    probability: float  # with which it was drawn, 0 to 1
    reviewers: tuple[str, ...]  # who is asked; nobody in particular where empty


def in_order(drawn: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Return (stratum, call_uid) in the order in which calls are to be reviewed.

    *drawn* has the calls of each stratum by their random numbers. The strata are interleaved evenly: whoever
    stops half-way leaves about half of each stratum, chosen at random, and not the errors alone.
    """
    places = [
        (Fraction(2 * rank + 1, 2 * len(calls)), order, stratum, call_uid)
        for order, (stratum, calls) in enumerate(drawn.items())
        for rank, call_uid in enumerate(calls)
    ]
    return [(stratum, call_uid) for _, _, stratum, call_uid in sorted(places)]


def assigned(
    calls: Sequence[str],
    reviewers: Sequence[str],
    *,
    seed: int,
    overlap: float,
    spoke: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> dict[str, tuple[str, ...]]:
    """Return who reviews which call: everybody about as many, a share *overlap* of the calls two people.

    Which calls two people see is random and so is who sees what; pairs take turns, so that any two reviewers
    can be compared. Without reviewers every call is anybody's. Who *spoke* of a call before is not asked about
    it where somebody else is named; the two swap calls, so that everybody keeps as many.

    >>> sorted(assigned(["a", "b", "c", "d"], ["dana", "lee"], seed=7, overlap=0.25).values())
    [('dana',), ('dana',), ('dana', 'lee'), ('lee',)]
    >>> assigned(["a", "b"], ["dana", "lee"], seed=7, overlap=0, spoke={"a": ["dana"]})["a"]
    ('lee',)

    Raises: UsageError for an overlap outside 0 to 1, or one without two reviewers.
    """
    people = list(dict.fromkeys(reviewers))
    if not 0 <= overlap <= 1:
        raise UsageError(f"wanted an overlap from 0 to 1, came {overlap:g}")
    if overlap and len(people) < 2:
        raise UsageError(f"an overlap takes at least two reviewers, came {', '.join(people) or 'none'}")
    if not people:
        return dict.fromkeys(calls, ())
    shuffled = sorted(calls, key=lambda uid: (draw_number(seed, uid, "who"), uid))
    twice = int(Fraction(str(overlap)) * len(calls) + Fraction(1, 2))
    pairs, singles = cycle(combinations(people, 2)), cycle(people)
    found: dict[str, tuple[str, ...]] = {uid: next(pairs) for uid in shuffled[:twice]}
    found |= {uid: (next(singles),) for uid in shuffled[twice:]}
    for uid in shuffled:
        for person in found[uid]:
            if person in spoke.get(uid, ()):
                _ask_another(found, uid, person, people, shuffled, spoke)
    return found


def _ask_another(
    found: dict[str, tuple[str, ...]],
    uid: str,
    person: str,
    people: Sequence[str],
    shuffled: Sequence[str],
    spoke: Mapping[str, Collection[str]],
) -> None:
    """Ask somebody about a call who did not speak of it, in place of *person*; nobody, where there is none."""
    fresh = [one for one in people if one not in found[uid] and one not in spoke[uid]]
    if not fresh:
        return
    loads = Counter(one for asked in found.values() for one in asked)
    other = min(fresh, key=lambda one: loads[one])
    found[uid] = _with(found[uid], person, other)
    for swapped in shuffled:
        asked = found[swapped]
        if swapped != uid and other in asked and person not in {*asked, *spoke.get(swapped, ())}:
            found[swapped] = _with(asked, other, person)
            return


def _with(asked: tuple[str, ...], person: str, other: str) -> tuple[str, ...]:
    return tuple(other if one == person else one for one in asked)
