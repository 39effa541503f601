"""What a decision is to bring about, read from the sentence that somebody wrote down.

A small language, so that nothing is guessed:

    [rate of] [LABEL] [on TOOL] [from SHARE] LIMIT SHARE [by DAY]

    LIMIT   under, below, less than, < · at most, up to, no more than, <= (a "to" before it is fine);
            a bare "to" means at most
    SHARE   18 %, 4.5%, 5 percent · 0.05
    DAY     2026-03-01 · 1 March 2026 · March 1, 2026 · 1 March (the first such day from the decision on, or
            from when it holds, where that is earlier)

"bad_args on compute_exchange_quote from 18 % to under 5 % by 1 March" is one, "under 5 %" is another.
Whatever is written otherwise stays what it is, a text for people, and `unread` says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from quality_lab.answers.words import percent, percent_range
from quality_lab.labels import FIVE, fold_label

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_SHARE = r"(?:\d+(?:[.,]\d+)?\s*(?:%|per\s?cent)|0?[.,]\d+|0|1)"
_SENTENCE = re.compile(
    rf"""(?:the\s+)?(?:rate\s+of\s+)?
    (?:(?P<label>[a-z]+(?:[ _-][a-z]+)?)\s+)??
    (?:on\s+(?P<tool>\S+?),?\s+)?
    (?:(?:falls\s+)?from\s+(?P<was>{_SHARE})\s+)?
    (?:(?:falls\s+)?to\s+)?
    (?P<limit>under|below|less\s+than|<=|≤|<|at\s+most|up\s+to|no\s+more\s+than|(?<=to\s))\s*
    (?P<share>{_SHARE})
    (?:,?\s+by\s+(?P<day>.+?))?\.?""",
    re.VERBOSE | re.IGNORECASE,
)
_BELOW = re.compile(r"under|below|less\s+than|<(?!=)", re.IGNORECASE)
_DAY_FIRST = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\s+([a-z]{3,9})\.?(?:,?\s+(\d{4}))?", re.IGNORECASE)
_MONTH_FIRST = re.compile(r"([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(\d{4}))?", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Expectation:
    """What was expected, as far as it can be read."""

    text: str  # as it was written
    limit: float | None = None  # 0 to 1; None where the text was not read
    below: bool = True  # the rate has to be under the limit; False: it may lie at it
    label: str | None = None
    tool_name: str | None = None
    was: float | None = None  # the rate that was seen then, 0 to 1
    by: date | None = None  # the last day on which it may come true
    unread: str | None = None  # why nothing can be held against the text

    def words(self) -> str:
        """Return the limit in words, as in `under 5 %`; the text itself where it was not read."""
        if self.limit is None:
            return self.text
        return f"{'under' if self.below else 'at most'} {percent(self.limit)}"

    def met_by(self, share: float) -> bool:
        """Return whether a rate keeps the limit. There has to be one."""
        assert self.limit is not None  # asked only of what was read
        return share < self.limit if self.below else share <= self.limit


def read_expectation(text: str, *, written: date) -> Expectation:
    """Return what *text*, written down on that day, expects; `unread` says why where it cannot be read.

    >>> from datetime import date
    >>> found = read_expectation("bad_args on quote from 18 % to under 5 % by 1 March", written=date(2026, 1, 9))
    >>> found.label, found.tool_name, found.was, found.limit, found.below, found.by.isoformat()
    ('bad_args', 'quote', 0.18, 0.05, True, '2026-03-01')
    >>> read_expectation("clients are happier", written=date(2026, 1, 9)).unread
    'it names no limit such as "under 5 %"'
    """
    found = _SENTENCE.fullmatch(" ".join(text.split()))
    if found is None:
        return Expectation(text=text, unread='it names no limit such as "under 5 %"')
    limit = _share(found["share"])
    was = None if found["was"] is None else _share(found["was"])
    if limit > 1 or (was or 0) > 1:
        return Expectation(text=text, unread="a share over 100 % cannot be")
    below = _BELOW.match(found["limit"]) is not None
    if limit == 0:
        return Expectation(text=text, unread="no number of reviewed calls can show a rate of 0 %")
    label = None
    if found["label"] is not None:
        label = fold_label(found["label"])
        if label is None:
            return Expectation(
                text=text, unread=f"{found['label']!r} is no label; there are {', '.join(FIVE)}"
            )
    by = None
    if found["day"] is not None:
        by = _day(found["day"].strip(), written)
        if by is None:
            return Expectation(text=text, unread=f"{found['day']!r} is no day such as 2026-03-01 or 1 March")
    return Expectation(
        text=text, limit=limit, below=below, label=label, tool_name=found["tool"], was=was, by=by
    )


def read_about(text: str, *, written: date, label: str, tool_name: str) -> Expectation:
    """Return what *text* expects of one tool's label; unread where it is about another."""
    found = read_expectation(text, written=written)
    for named, own, noun in ((found.label, label, "label"), (found.tool_name, tool_name, "tool")):
        if named is not None and named != own:
            why = f"it is about the {noun} {named}, and the proposal about {own}"
            return Expectation(text=text, unread=why)
    return found


def form_of(label: str, rate: float | None) -> str:
    """Return an expectation as it can be read, for a label at that rate.

    >>> form_of("missing_tool", 0.4), form_of("bad_args", None)
    ('missing_tool from 40 % to under 20 % by 1 March', 'bad_args under 5 % by 1 March')
    """
    if not rate:
        return f"{label} under 5 % by 1 March"
    return f"{label} from {percent(rate)} to under {percent(rate / 2)} by 1 March"


def remark_on(
    text: str,
    *,
    written: date,
    label: str,
    tool_name: str,
    rate: float | None,
    low: float | None,
    high: float | None,
) -> str | None:
    """Return what whoever wrote *text* should know at once; None where it can be measured and fits the *rate*.

    That is: it cannot be read, with the form that can, or what it says the rate is ("from 18 %") lies outside of
    the 95 % interval from *low* to *high* of the rate that is measured now.
    """
    found = read_about(text, written=written, label=label, tool_name=tool_name)
    if found.unread is not None:
        return (
            f"the expectation is kept, but cannot be measured: {found.unread}; "
            f'one that can is "{form_of(label, rate)}"'
        )
    if found.was is None or rate is None or low is None or high is None or low <= found.was <= high:
        return None
    return (
        f"the expectation says from {percent(found.was)}, and measured now is {percent(rate)} "
        f"({percent_range(low, high)})"
    )


def _share(written: str) -> float:
    number = re.match(r"[\d.,]+", written)
    assert number is not None  # the sentence matched
    value = float(number[0].replace(",", "."))
    return value / 100 if number[0] != written else value


def _day(written: str, reference: date) -> date | None:
    try:
        return date.fromisoformat(written)
    except ValueError:
        pass
    if found := _DAY_FIRST.fullmatch(written):
        day, name, year = found.groups()
    elif found := _MONTH_FIRST.fullmatch(written):
        name, day, year = found.groups()
    else:
        return None
    months = [number for number, month in enumerate(_MONTHS, 1) if month.startswith(name.lower())]
    if len(months) != 1:
        return None
    years = [int(year)] if year else [reference.year + more for more in range(9)]  # 29 February may be far
    for each in years:
        try:
            found_day = date(each, months[0], int(day))
        except ValueError:
            continue
        if year or found_day >= reference:
            return found_day
    return None
