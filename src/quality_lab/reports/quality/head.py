"""The first screen: which window and data, how many calls, better or worse than before, and the findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from quality_lab.answers.words import percent, percent_range
from quality_lab.intervals import Rate, difference
from quality_lab.reports.blocks import Html, join, paragraph, tag
from quality_lab.reports.window import ReportWindow

MOST_FINDINGS = 5
_STALE_HOURS = 36


class Sentence(Protocol):
    """A finding, as far as the first screen shows it."""

    @property
    def tool_name(self) -> str | None:
        """The tool it is about, which stands out in its sentence."""
        ...

    @property
    def text(self) -> str:
        """What it says."""
        ...


def head(
    window: ReportWindow,
    findings: Sequence[Sentence],
    anchors: Sequence[str | None],
    *,
    title: str,
    tz: str,
    about: str = "",
) -> Html:
    """Return the head of the page; *anchors* are where the evidence of each finding stands, *about* what it is on."""
    return join(
        [
            tag("h1", title) if title else None,
            paragraph(about) if about else None,
            paragraph(f"{window.words()}. Days and weeks are those of {tz}.", class_="quiet"),
            facts_list(window),
            paragraph(*(sentence.replace(" %", "\u00a0%") for sentence in state(window)), class_="state"),
            listed(findings, anchors),
        ]
    )


def facts_list(window: ReportWindow) -> Html:
    """Return how much there is, how much of it was reviewed, how much failed, and how fresh it is."""
    facts, failed = window.facts, window.facts.failed_rate()
    reviewers = f"by {window.reviewers} {'person' if window.reviewers == 1 else 'people'}"
    coverage = f"{percent(facts.reviewed_traced / facts.traced)} of the calls, " if facts.traced else ""
    shown = [
        ("Calls", f"{facts.calls:,}", f"in {facts.conversations:,} conversations"),
        ("Reviewed", f"{facts.reviewed:,}", f"{coverage}{reviewers}" if facts.reviewed else "by nobody yet"),
        ("Failed", *_rate(failed, "no trace export" if not facts.traced else "no outcome is known")),
        ("Newest call", *_age(window)),
    ]
    return tag(
        "dl", *(tag("div", tag("dt", name), tag("dd", value, tag("small", more)))
              for name, value, more in shown),
        class_="facts",
    )  # fmt: skip  # one line a fact


def _rate(rate: Rate | None, otherwise: str) -> tuple[str, str]:
    if rate is None:
        return "–", otherwise
    return percent(
        rate.value
    ), f"{percent_range(rate.low, rate.high)}, of {rate.n:,} calls with a known outcome"


def _age(window: ReportWindow) -> tuple[Html | str, Html | str]:
    newest, hours = window.facts.newest_call_at, window.hours_since_newest_call
    if newest is None or hours is None:
        return "–", "no call has a time"
    local = newest.astimezone(window.zone)
    day = f"{local.day} {local:%b}, {local:%H:%M}"
    old = f"{age_words(hours)} before this report"
    return day, tag("span", old, class_="warn") if hours > _STALE_HOURS else old


def age_words(hours: float) -> str:
    """Return an age in the unit that people would use.

    >>> age_words(0.4), age_words(19.2), age_words(200)
    ('24 minutes', '19 hours', '8 days')
    """
    if hours < 1:
        return f"{max(0, round(hours * 60))} minutes"
    if hours < 48:
        return f"{round(hours)} hour{'' if round(hours) == 1 else 's'}"
    return f"{round(hours / 24):,} days"


def state(window: ReportWindow) -> list[str]:
    """Return whether it is better or worse than in the accepted run, else the equal window before, as sentences."""
    now, before, kept = window.facts, window.facts_before, window.accepted
    if kept is not None:
        day = kept.generated_at.astimezone(window.zone)
        then = f"in the accepted report of {day.day} {day:%B}"
        failed = kept.rate("error_rate", "error", of="calls_in_window")
        wrong = kept.rate("judged_failure_rate", "judged", of="reviewed_calls")
        return _sentences(window, failed, wrong, then)
    if now.calls and now.newest_call_at is None:
        return ["There is nothing to compare with, as no call has a time."]
    if before is None or not (before.calls or before.reviewed):
        first = now.first_call_at
        begin = f"; the first call known is of {first.astimezone(window.zone):%-d %B %Y}" if first else ""
        return [f"There is nothing to compare with: no call is known from the time just before this{begin}."]
    return _sentences(window, before.failed_rate(), before.wrong_rate(), "in the equal time before")


def _sentences(window: ReportWindow, failed: Rate | None, wrong: Rate | None, then: str) -> list[str]:
    now = window.facts
    sentences = [
        _compared("Calls fail", now.failed_rate(), failed, "calls", then),
        _compared("Reviewers judge calls wrong", now.wrong_rate(), wrong, "reviewed calls", then),
    ]
    said = [sentence for sentence in sentences if sentence]
    return [f"{sentence} " for sentence in said] or [f"Neither now nor {then} is there a rate to compare."]


def _compared(what: str, now: Rate | None, before: Rate | None, of: str, then: str) -> str:
    apart = difference(now, before)
    if apart is None or now is None or before is None:
        return ""
    if min(now.n, before.n) < 10:
        return f"{what}: not enough data ({now.n} {of} now, {before.n} before)."
    share = f"{percent(now.value)} ({percent_range(now.low, now.high)})"
    earlier = f"{percent(before.value)} {then}"
    if apart[1] > 0:
        return f"{what} more often than before: {share} of {of}, {earlier}; that is beyond noise."
    if apart[2] < 0:
        return f"{what} less often than before: {share} of {of}, {earlier}; that is beyond noise."
    return f"{what} no more and no less than before, beyond noise: {share} of {of}, {earlier}."


def listed(
    findings: Sequence[Sentence], anchors: Sequence[str | None], *, most: int | None = MOST_FINDINGS
) -> Html:
    """Return the first *most* findings as a list; *anchors* are where the evidence of each stands."""
    if not findings:
        return paragraph("Nothing stands out beyond noise in this window.")
    shown = [
        tag("li", _sentence(finding), _link(anchor))
        for finding, anchor in list(zip(findings, anchors, strict=True))[:most]
    ]
    rest = len(findings) - len(shown)
    more = paragraph(f"{rest} more in summary.json.", class_="quiet") if rest > 0 else None
    return join([tag("ol", *shown, class_="findings"), more])


def _sentence(finding: Sentence) -> Html:
    """Return a finding with its tool standing out, and no line that begins with a percent sign."""
    words = finding.text.replace(" %", "\u00a0%")
    before, name, after = words.partition(finding.tool_name or "\0")
    return join([before, tag("strong", name) if name else None, after])


def _link(anchor: str | None) -> Html | None:
    return None if anchor is None else join([Html(" "), tag("a", "Evidence", href=f"#{anchor}")])


def note_figures(window: ReportWindow) -> Mapping[str, object]:
    """Return the figures of the whole window for summary.json."""
    facts, before = window.facts, window.facts_before
    failed, wrong = facts.failed_rate(), facts.wrong_rate()
    failed_before = None if before is None else before.failed_rate()
    if window.accepted is not None:
        failed_before = window.accepted.rate("error_rate", "error", of="calls_in_window")
    apart = difference(failed, failed_before)
    return {
        "conversations": facts.conversations,
        "reviewed_calls": facts.reviewed,
        "reviewers": window.reviewers,
        "coverage": facts.reviewed_traced / facts.traced if facts.traced else None,
        **_bounds("error", failed, "error_rate"),
        **_bounds("judged", wrong, "judged_failure_rate"),
        "error_rate_before": None if failed_before is None else failed_before.value,
        "error_rate_changed": None if apart is None else apart[1] > 0 or apart[2] < 0,
    }


def _bounds(stem: str, rate: Rate | None, name: str) -> dict[str, float | None]:
    low, high = (None, None) if rate is None else (rate.low, rate.high)
    return {name: None if rate is None else rate.value, f"{stem}_low": low, f"{stem}_high": high}
