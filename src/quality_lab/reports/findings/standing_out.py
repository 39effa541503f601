"""Tools whose calls fail or come back empty more than chance and other tools explain; and since when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from quality_lab.answers.words import percent
from quality_lab.intervals import Rate, rate
from quality_lab.metrics.signs.shares import ConversationSign, Sign, ToolSign
from quality_lab.reports.findings.finding import Finding, day_words, rate_words
from quality_lab.reports.findings.significance import Change, Cluster, change_point, lower_bound

LEVEL = 0.01  # of one wrong finding of a kind, over all tools together
CHANGE_LEVEL = 0.05  # of a wrong "since", once a tool stands out
LEAST_CALLS = 20
LEAST_HITS = 5
LEAST_CONVERSATIONS = 10  # fewer cannot tell how much their calls resemble each other
LEAST_SIDE = 8  # calls on each side of a change
FLOORS: dict[Sign, float] = {"failed": 0.10, "gated": 0.10, "empty": 0.05}  # below that it is ordinary life
ALWAYS_EMPTY = 0.9  # a tool that hardly ever returns anything returns nothing by design


@dataclass(frozen=True, slots=True)
class Standout:
    """A tool whose share lies surely above the floor and above that of all other tools."""

    tool: ToolSign
    sign: Sign
    rate: Rate
    surely: float  # the lower bound at the level shared out among the tools
    others: float  # the share among all other tools' calls


def standouts(tools: Sequence[ToolSign], sign: Sign) -> Iterator[Standout]:
    """Yield the tools that stand out, in the order given."""
    tested = [tool for tool in tools if _enough(tool, sign) and not _empty_by_design(tool, sign)]
    usual = [tool.sums(sign) for tool in tools if not _empty_by_design(tool, sign)]
    n, y = sum(sums.n for sums in usual), sum(sums.y for sums in usual)
    for tool in tested:
        sums = tool.sums(sign)
        found = rate(sums)
        others = (y - sums.y) / (n - sums.n) if n > sums.n else 0.0
        surely = lower_bound(sums, level=LEVEL / len(tested))
        if found is None or sums.y < LEAST_HITS or surely <= max(FLOORS[sign], others):
            continue
        yield Standout(tool, sign, found, surely, others)


def _empty_by_design(tool: ToolSign, sign: Sign) -> bool:
    return sign == "empty" and tool.empty >= ALWAYS_EMPTY * tool.fine > 0


def _enough(tool: ToolSign, sign: Sign) -> bool:
    sums = tool.sums(sign)
    return sums.n >= LEAST_CALLS and sums.conversations >= LEAST_CONVERSATIONS


def risen(
    standout: Standout, conversations: Sequence[ConversationSign], days: Sequence[int]
) -> Change | None:
    """Return since when the share is higher, if the data can say it; *days* are the conversations'."""
    clusters = [
        Cluster(day, *conversation.of(standout.sign))
        for day, conversation in zip(days, conversations, strict=True)
        if conversation.tool_name == standout.tool.tool_name
    ]
    change = change_point([cluster for cluster in clusters if cluster.n], least=LEAST_SIDE)
    return change if change is not None and change.p_value <= CHANGE_LEVEL else None


def finding_of(
    standout: Standout, change: Change | None, reasons: Sequence[tuple[str, int]] = (), *, weeks: float
) -> Finding:
    """Return a failing or a silently empty tool as a finding."""
    found, tool = standout.rate, standout.tool.tool_name
    sums = standout.tool.sums(standout.sign)
    fails = standout.sign == "failed"
    does, which = ("fails", "calls") if fails else ("comes back empty", "calls that report no error")
    text = (
        f"{tool} {does} in {rate_words(found.value, found.low, found.high)} of its {sums.n:,} {which}; "
        f"all other tools together {'fail' if fails else 'do'} in {percent(standout.others)}."
    )
    if change is not None:
        after, before = change.after_y / change.after_n, change.before_y / change.before_n
        text = (
            f"Since {day_words(date.fromordinal(change.day))}, "
            f"{tool} {does} in {percent(after)} of its {which} ("
            f"{change.after_y} of {change.after_n}); before it was {percent(before)} "
            f"({change.before_y} of {change.before_n})."
        )
    if reasons:
        said = ", ".join(f"“{reason}” ({count})" for reason, count in reasons[:2])
        text += f" Most often it says {said}."
    if not fails:
        text += " Such a call counts as fine, so an error may hide in it."
    return Finding(
        kind="failure" if fails else "swallowed",
        tool_name=tool,
        text=text,
        weight=standout.surely * sums.n / weeks,
        evidence={
            "calls": sums.n, "hits": sums.y, "conversations": sums.conversations,
            "rate": found.value, "low": found.low, "high": found.high, "n_eff": found.n_eff,
            "others": standout.others, "level": LEVEL, "reasons": dict(reasons), **change_evidence(change),
        },
    )  # fmt: skip  # evidence reads by its groups


def change_evidence(change: Change | None) -> dict[str, object]:
    """Return a change as evidence."""
    if change is None:
        return {"since": None}
    return {
        "since": date.fromordinal(change.day).isoformat(), "p_value": change.p_value,
        "before_calls": change.before_n, "before_hits": change.before_y,
        "after_calls": change.after_n, "after_hits": change.after_y,
    }  # fmt: skip  # before and after, side by side
