"""How often each label was given, and on what share of the reviewed calls it stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from quality_lab.answers import Answer
from quality_lab.errors import UsageError
from quality_lab.intervals import Sums, rate
from quality_lab.labels import FIVE
from quality_lab.metrics.asking import Asks, put, together
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.homeless_labels import homeless_labels
from quality_lab.metrics.label_splits import label_splits
from quality_lab.metrics.label_sums import LabelSums
from quality_lab.metrics.undated import undated_notes

LabelsBy = Literal["tool", "source", "error", "style", "reviewer", "week"]
BY: tuple[LabelsBy, ...] = ("tool", "source", "error", "style", "reviewer", "week")
ORDER = (*FIVE, "unmapped", "disputed")


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelCount:
    """A label, how often it was given and on how many calls it stands."""

    group: str | None = field(metadata={"help": "the tool, source, … where labels were counted by one"})
    label: str
    rows: int = field(metadata={"help": "labels as they were given, of every reviewer and every time"})
    calls: int = field(metadata={"help": "calls on which such a label stands now"})
    reviewed_calls: int = field(metadata={"help": "calls with any of the five labels"})
    share: float | None = field(
        metadata={"unit": "share", "help": "calls of the reviewed calls; may add up to over 1"}
    )
    low: float | None = field(metadata={"unit": "share", "help": "lower 95 % bound of the share"})
    high: float | None = field(metadata={"unit": "share", "help": "upper 95 % bound of the share"})
    last_at: datetime | None = field(metadata={"help": "time of the newest such label"})
    conversations: int = field(metadata={"help": "conversations of the reviewed calls"})
    flags: tuple[str, ...] = field(
        metadata={"help": "few_conversations: the interval takes calls for independent"}
    )


def label_counts(
    store: Asks, *, filters: Filters = EVERYTHING, by: LabelsBy | None = None
) -> Answer[LabelCount]:
    """Return the five labels in their fixed order, then "unmapped" and "disputed"; with *by*, once for each
    group.

    rows counts what was given, as upstream does; calls counts calls on which such a label stands now, so that
    shares may add up to more than 1. Groups come by reviewed calls, most first; weeks in order of time. The
    window means the time of the label unless `time="call"` says otherwise.

    Raises:
        UsageError: *by* is nothing that labels can be counted by.
    """
    if by is not None and by not in BY:
        raise UsageError(f"labels are counted by {', '.join(BY)}, not by {by!r}")
    with together(store):
        return _asked(store, filters, by)


def _asked(store: Asks, filters: Filters, by: LabelsBy | None) -> Answer[LabelCount]:
    if by in ("reviewer", "week"):
        sums = label_splits(store, filters=filters, by=by)
    else:
        picks = bool(filters.parameters(time="label")["picks_calls"])
        joins = by is not None or picks or homeless_labels(store) > 0
        sums = put(store, LabelSums, "label_counts", filters, time="label", by=by, joins_calls=joins)
    groups: dict[str | None, dict[str, LabelSums]] = defaultdict(dict)
    for row in sums:
        groups[row.grouped_by][row.label] = row
    if by is None:
        groups[None]  # an answer without a label still names all five
    wanted = [label for label in ORDER if not filters.label or label in filters.label]
    rows = [
        _count(label, groups[name], name)
        for name in _ordered(groups, in_time=by == "week")
        for label in wanted
    ]
    notes = undated_notes(store, filters, time="label")
    elsewhere = sum(row.elsewhere for row in sums)
    if elsewhere:
        stand = (
            "1 label stands on a call that is"
            if elsewhere == 1
            else f"{elsewhere} labels stand on calls that are"
        )
        notes.append(f"labels_elsewhere: {stand} not in this lab")
    title = "Labels" if by is None else f"Labels by {by}"
    return Answer(rows, LabelCount, title=title, notes=notes)


def _ordered(groups: dict[str | None, dict[str, LabelSums]], *, in_time: bool) -> Sequence[str | None]:
    def reviewed(name: str | None) -> int:
        return max((row.n for row in groups[name].values()), default=0)

    if in_time:
        return sorted(groups, key=lambda name: (name is None, name or ""))
    return sorted(groups, key=lambda name: (-reviewed(name), name is None, name or ""))


def _count(label: str, group: dict[str, LabelSums], name: str | None) -> LabelCount:
    row = group.get(label)
    reviewed = max((one.n for one in group.values()), default=0)
    found = None
    if row is not None and label != "unmapped":
        found = rate(Sums(n=row.n, y=row.y, conversations=row.conversations, yy=row.yy, ym=row.ym, mm=row.mm))
    return LabelCount(
        label=label,
        rows=row.rows_given if row else 0,
        calls=0 if row is None else row.unmapped_calls if label == "unmapped" else row.y,
        reviewed_calls=reviewed,
        share=found.value if found else None,
        low=found.low if found else None,
        high=found.high if found else None,
        last_at=row.last_at if row else None,
        conversations=max((one.conversations for one in group.values()), default=0),
        flags=("few_conversations",) if found and found.few else (),
        group=name,
    )
