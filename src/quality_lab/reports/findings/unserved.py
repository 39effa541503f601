"""What people ask for and no tool can do: from missing_tool labels, notes and what the guards stopped."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from quality_lab.intervals import Sums, rate
from quality_lab.metrics.signs.reviews import Asked, LabelNote, Reviewed
from quality_lab.metrics.signs.shares import GuardText
from quality_lab.reports.findings.finding import Finding, counted, rate_words
from quality_lab.reports.findings.significance import fisher_more, lower_bound

LEVEL = 0.01
LEAST_MISSING = 5  # calls judged missing_tool
LEAST_CONVERSATIONS = 4
LEAST_SHARE = 0.02  # of the reviewed calls, surely
MOST_TOPIC_WORDS = 3
_WORD = re.compile(r"[^\W\d_]{4,}")
_OF_THE_LABEL = frozenset({"missing", "tool", "tools"})  # every note beside this label may say so


@dataclass(frozen=True, slots=True)
class Topic:
    """Words that stand beside calls for which there was no tool, and not beside others."""

    words: tuple[str, ...]
    with_it: int  # calls judged missing_tool that have at least one of the words
    of: int  # calls judged missing_tool that have any words at all


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, four letters and more, in lower case.

    >>> sorted(words_of("Payout status again! No tool for it."))
    ['again', 'payout', 'status', 'tool']
    """
    return frozenset(word.casefold() for word in _WORD.findall(text)) - {""}


def topic(missing: Sequence[frozenset[str]], others: Sequence[frozenset[str]]) -> Topic | None:
    """Return what calls without a tool are about, from the words beside them and beside other calls."""
    told = [words for words in missing if words]
    counts = Counter(word for words in told for word in words if word not in _OF_THE_LABEL)
    least = max(3, len(told) // 4)
    tested = sorted(word for word, count in counts.items() if count >= least)
    elsewhere = [words for words in others if words]
    found = []
    for word in tested:
        p_value = fisher_more(
            counts[word], len(told), sum(word in words for words in elsewhere), len(elsewhere)
        )
        if p_value <= LEVEL / len(tested):
            found.append((p_value, -counts[word], word))
    chosen = _covering([word for _, _, word in sorted(found)], told)
    if not chosen:
        return None
    return Topic(chosen, sum(bool(words.intersection(chosen)) for words in told), len(told))


def _covering(words: Sequence[str], told: Sequence[frozenset[str]]) -> tuple[str, ...]:
    """Return few of *words*, best first: those that cover the texts, then those that half of them have."""
    chosen: list[str] = []
    left = list(told)
    while left and len(chosen) < MOST_TOPIC_WORDS:
        best = max(words, key=lambda word: sum(word in text for text in left), default=None)
        if best is None or not any(best in text for text in left):
            break
        chosen.append(best)
        left = [text for text in left if best not in text]
    often = [word for word in words if 2 * sum(word in text for text in told) >= len(told)]
    return tuple(dict.fromkeys([*chosen, *often]))[:MOST_TOPIC_WORDS]


def no_tool(
    reviewed: Sequence[Reviewed],
    notes: Sequence[LabelNote],
    asked: Sequence[Asked],
    guards: Sequence[GuardText],
    *,
    weeks: float,
) -> Finding | None:
    """Return the finding that something is asked for which no tool can do, if reviewers surely say so."""
    missing = [row for row in reviewed if row.verdict == "missing_tool"]
    conversations = {row.conversation_uid for row in missing}
    if len(missing) < LEAST_MISSING or len(conversations) < LEAST_CONVERSATIONS:
        return None
    sums = _sums(reviewed)
    found = rate(sums)
    surely = lower_bound(sums, level=LEVEL)
    if found is None or surely < LEAST_SHARE:
        return None
    beside = _words_beside(notes, asked)
    uids = {row.call_uid for row in missing}
    about = topic(
        [beside.get(uid, frozenset()) for uid in sorted(uids)],
        [words for uid, words in sorted(beside.items()) if uid not in uids],
    )
    stopped = _stopped(guards, uids, about)
    labelled_on = Counter(row.tool_name for row in missing if row.outcome != "guard")
    share = rate_words(found.value, found.low, found.high)
    subject = "what users asked for" if about is None else f"questions about {_listed(about.words)}"
    text = (
        f"No tool serves {subject}: reviewers marked missing_tool on {share} of what they reviewed "
        f"({sums.y} of {sums.n}, in {counted(len(conversations), 'conversation')})"
    )
    if about is not None:
        some = "all" if about.with_it == about.of else str(about.with_it)
        text += f"; {some} of the {about.of} with words beside them speak of that"
    text += "."
    for reason, count in stopped[:1]:
        text += f" A guard stopped {counted(count, 'reply', 'replies')} there for {reason}."
    return Finding(
        kind="no_tool",
        tool_name=None,
        text=text,
        weight=surely * sums.n / weeks,
        evidence={
            "reviewed": sums.n, "missing_tool": sums.y, "conversations": len(conversations),
            "rate": found.value, "low": found.low, "high": found.high, "n_eff": found.n_eff, "level": LEVEL,
            "topic": [] if about is None else list(about.words),
            "guard_reasons": dict(stopped),
            "labelled_on": dict(labelled_on.most_common()),
            "examples": sorted(uids)[:3],
        },
    )  # fmt: skip  # evidence reads by its groups


def _words_beside(notes: Iterable[LabelNote], asked: Iterable[Asked]) -> Mapping[str, frozenset[str]]:
    """Return the words that reviewers wrote beside each call, and those that the user had said before it."""
    beside: dict[str, set[str]] = defaultdict(set)
    for note in notes:
        if note.note:
            beside[note.call_uid] |= words_of(note.note)
    for one in asked:
        beside[one.call_uid] |= words_of(one.text)
    return {uid: frozenset(words) for uid, words in beside.items()}


def _stopped(
    guards: Sequence[GuardText], missing: Collection[str], about: Topic | None
) -> list[tuple[str, int]]:
    """Return the guards' reasons that belong to it, most frequent first: judged so, or the same words."""
    total = Counter(row.reason for row in guards if row.reason)
    judged = {row.reason for row in guards if row.call_uid in missing}
    same = Counter(
        row.reason
        for row in guards
        if row.reason and about is not None and words_of(row.text or "").intersection(about.words)
    )
    return [
        (reason, count)
        for reason, count in total.most_common()
        if reason in judged or 2 * same[reason] > count
    ]


def _sums(rows: Sequence[Reviewed]) -> Sums:
    by_conversation: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in rows:
        by_conversation[row.conversation_uid][0] += 1
        by_conversation[row.conversation_uid][1] += row.verdict == "missing_tool"
    pairs = list(by_conversation.values())
    return Sums(
        n=sum(m for m, _ in pairs), y=sum(y for _, y in pairs), conversations=len(pairs),
        yy=sum(y * y for _, y in pairs), ym=sum(y * m for m, y in pairs), mm=sum(m * m for m, _ in pairs),
    )  # fmt: skip  # the sums read as two lines


def _listed(words: Sequence[str]) -> str:
    quoted = list(words)
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
