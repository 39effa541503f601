"""Tools whose arguments are judged wrong more often since some day, and the argument that is to blame."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from quality_lab.intervals import Sums, rate
from quality_lab.metrics.signs.reviews import ArgumentValue, LabelNote, Reviewed
from quality_lab.reports.findings.argument_traits import Trait, paths_that_differ, traits
from quality_lab.reports.findings.finding import Finding, day_words, rate_words
from quality_lab.reports.findings.significance import (
    Change,
    Cluster,
    change_point,
    combined,
    fisher_more,
    lower_bound,
)

LEVEL = 0.05  # of one wrong finding, over all tools with enough reviewed calls together
LEAST_REVIEWED = 16
LEAST_BAD = 5
LEAST_SIDE = 5  # reviewed calls on each side of the change
LEAST_SHARE = 0.10  # after the change
Day = Callable[[datetime], int]


@dataclass(frozen=True, slots=True)
class Drift:
    """A tool whose share of bad arguments rose."""

    tool_name: str
    change: Change
    after: Sums
    bad: tuple[str, ...]  # uids of the calls judged bad_args since


@dataclass(frozen=True, slots=True)
class Culprit:
    """The argument that wrong calls have in common and right ones have not."""

    name: str
    path: str
    trait: Trait | None  # None: the reviewers said which argument they had expected otherwise
    bad_with: int
    bad: int
    p_value: float


def drifts(reviewed: Sequence[Reviewed], day: Day) -> list[Drift]:
    """Return the tools whose share of bad arguments rose beyond noise."""
    by_tool: dict[str, list[Reviewed]] = defaultdict(list)
    for row in reviewed:
        if row.created_at is not None and row.outcome != "guard":
            by_tool[row.tool_name].append(row)
    tested = {tool: rows for tool, rows in by_tool.items() if _enough(rows)}
    found = []
    for tool, rows in sorted(tested.items()):
        clusters = _clusters(rows, day)
        change = change_point(clusters, least=LEAST_SIDE)
        if change is None or change.p_value > LEVEL / len(tested):
            continue
        if change.after_y / change.after_n < LEAST_SHARE:
            continue
        later = [row for row in rows if _is_bad(row) and row.created_at and day(row.created_at) >= change.day]
        after = _sums([cluster for cluster in clusters if cluster.day >= change.day])
        found.append(Drift(tool, change, after, tuple(row.call_uid for row in later)))
    return found


def culprit(
    values: Sequence[ArgumentValue], notes: Sequence[LabelNote], change: Change, day: Day
) -> Culprit | None:
    """Return the argument that is to blame, if the evidence names one.

    Where reviewers wrote what they had expected, that decides. Otherwise a trait of an argument has to be
    more common among calls judged wrong than among those judged right, more common since the change than
    before, and (where there are notes) more often named beside wrong calls than beside right ones; the three
    are combined, and the level is shared out among all the traits that most wrong calls have.
    """
    said = _as_expected(values, notes)
    if said is not None:
        return said
    held = {value.call_uid: traits(value.arguments) for value in values}
    bad = [held[value.call_uid] for value in values if value.verdict == "bad_args"]
    good = [held[value.call_uid] for value in values if value.verdict == "good_reply"]
    after = [held[v.call_uid] for v in values if v.created_at is not None and day(v.created_at) >= change.day]
    before = [held[v.call_uid] for v in values if v.created_at is not None and day(v.created_at) < change.day]
    bad_notes = [note.note for note in notes if note.note and note.label == "bad_args"]
    good_notes = [note.note for note in notes if note.note and note.label == "good_reply"]
    common = Counter(trait for call in bad for trait in call)
    everywhere = Counter(trait for call in held.values() for trait in call)
    candidates = [t for t, count in common.items() if 2 * count > len(bad) and everywhere[t] < len(held)]
    best: Culprit | None = None
    for trait in sorted(candidates):
        evidence = [_more(trait, bad, good), _more(trait, after, before)]
        if bad_notes:
            evidence.append(_more_named(trait, bad_notes, good_notes))
        p_value = combined(evidence)
        if best is None or p_value < best.p_value:
            best = Culprit(trait.name, trait.path, trait, common[trait], len(bad), p_value)
    return best if best is not None and best.p_value <= LEVEL / len(candidates) else None


def finding_of(drift: Drift, found: Culprit | None, *, weeks: float) -> Finding:
    """Return a drift as a finding."""
    change, now = drift.change, rate(drift.after)
    assert now is not None  # a change leaves calls on both sides
    before = change.before_y / change.before_n
    what = "wrong arguments" if found is None else f"the wrong {found.name}"
    since = date.fromordinal(change.day)
    text = (
        f"Since {day_words(since)}, {drift.tool_name} is called with {what} in "
        f"{rate_words(now.value, now.low, now.high)} of reviewed calls "
        f"({change.after_y} of {change.after_n}); "
        f"before it was {_percent(before)} ({change.before_y} of {change.before_n})."
    )
    if found is not None and found.trait is not None:
        all_or = "all" if found.bad_with == found.bad else str(found.bad_with)
        text += f" In {all_or} of the {found.bad} calls judged so, {found.name} {found.trait.words()}."
    return Finding(
        kind="args_drift",
        tool_name=drift.tool_name,
        text=text,
        weight=lower_bound(drift.after, level=0.025) * change.after_n / weeks,
        evidence={
            "since": since.isoformat(), "p_value": change.p_value, "level": LEVEL,
            "rate": now.value, "low": now.low, "high": now.high, "n_eff": now.n_eff,
            "reviewed_after": change.after_n, "bad_args_after": change.after_y,
            "reviewed_before": change.before_n, "bad_args_before": change.before_y, "rate_before": before,
            "argument": None if found is None else found.name,
            "argument_path": None if found is None else found.path,
            "argument_trait": None if found is None or found.trait is None else found.trait.words(),
            "argument_p_value": None if found is None else found.p_value,
            "examples": list(drift.bad[:3]),
        },
    )  # fmt: skip  # evidence reads by its groups


def _percent(share: float) -> str:
    from quality_lab.answers.words import percent

    return percent(share)


def _is_bad(row: Reviewed) -> bool:
    return row.verdict == "bad_args"


def _enough(rows: Sequence[Reviewed]) -> bool:
    return len(rows) >= LEAST_REVIEWED and sum(map(_is_bad, rows)) >= LEAST_BAD


def _clusters(rows: Sequence[Reviewed], day: Day) -> list[Cluster]:
    """Return one cluster a conversation, on the day of its first reviewed call."""
    grouped: dict[str, list[Reviewed]] = defaultdict(list)
    for row in rows:
        grouped[row.conversation_uid].append(row)
    return [
        Cluster(
            min(day(row.created_at) for row in group if row.created_at is not None),
            len(group),
            sum(map(_is_bad, group)),
        )
        for group in grouped.values()
    ]


def _sums(clusters: Sequence[Cluster]) -> Sums:
    return Sums(
        n=sum(c.n for c in clusters), y=sum(c.y for c in clusters), conversations=len(clusters),
        yy=sum(c.y * c.y for c in clusters), ym=sum(c.y * c.n for c in clusters),
        mm=sum(c.n * c.n for c in clusters),
    )  # fmt: skip  # the sums read as two lines


def _more(trait: Trait, these: Collection[frozenset[Trait]], those: Collection[frozenset[Trait]]) -> float:
    return fisher_more(
        sum(trait in call for call in these), len(these), sum(trait in call for call in those), len(those)
    )


def _more_named(trait: Trait, bad_notes: Sequence[str], good_notes: Sequence[str]) -> float:
    """Return how likely notes beside wrong calls name the argument or its value more by chance alone."""
    names = [re.escape(trait.name)]
    if trait.kind == "value" and len(trait.value.strip('"')) >= 3:
        names.append(re.escape(trait.value.strip('"')))
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)", re.IGNORECASE)
    bad, good = (sum(bool(pattern.search(note)) for note in notes) for notes in (bad_notes, good_notes))
    return fisher_more(bad, len(bad_notes), good, len(good_notes))


def _as_expected(values: Sequence[ArgumentValue], notes: Sequence[LabelNote]) -> Culprit | None:
    """Return the argument that most reviewers who wrote what they had expected had expected otherwise."""
    made = {value.call_uid: value.arguments for value in values}
    differing: Counter[str] = Counter()
    told = 0
    for note in notes:
        if note.label == "bad_args" and note.expected_arguments and note.call_uid in made:
            told += 1
            differing.update(paths_that_differ(made[note.call_uid], note.expected_arguments))
    if told < 3 or not differing:
        return None
    path, count = max(differing.items(), key=lambda one: (one[1], one[0]))
    return Culprit(Trait(path, "value", "").name, path, None, count, told, 0.0) if 2 * count > told else None
