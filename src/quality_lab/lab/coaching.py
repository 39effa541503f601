"""What a style can be coached on, and edits of it that a model drafts."""

from __future__ import annotations

import os
from collections.abc import Collection
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from quality_lab.answers import Answer
from quality_lab.errors import UnknownName
from quality_lab.lab.filter_words import FilterWords, Moment, Words
from quality_lab.lab.review_questions import ReviewQuestions

if TYPE_CHECKING:
    from quality_lab.coaching import CoachDraft
    from quality_lab.masking import Masker
    from quality_lab.metrics.coach_signals import CoachSignal
    from quality_lab.toolloop import Model

_TEXTS = ("tool_name", "source", "label", "expected_tool", "outcome")
_MASKED = ("note", "asked")
_MASKED_JSON = ("arguments", "result", "expected_arguments")


class SignalFilters(TypedDict, total=False):
    """Which signals a draft is to rest on; these are filters of every question."""

    tool: Words
    source: Words
    label: Words
    reviewer: Words
    tenant: Words
    since: Moment
    until: Moment
    tz: str
    as_of: datetime | str | None


class Coaching(ReviewQuestions):
    """What a lab knows of a style: the faults that reviewers confirmed on calls made in it."""

    home: Path

    def coach_signals(
        self, style: str, /, *, limit: int = 12, **filters: Unpack[FilterWords]
    ) -> Answer[CoachSignal]:
        """Return the newest *limit* faults that reviewers confirmed on calls made in *style*, with what belongs
        to each: what the user said, arguments, result, note.

        >>> import quality_lab as ql
        >>> ql.open_demo().coach_signals("calm")
        Traceback (most recent call last):
        quality_lab.errors.UnknownName: wanted a style of this lab, came 'calm'; no call says in which it was ...

        Raises: UnknownName where no call was made in such a style.
        """
        from quality_lab.metrics.coach_signals import coach_signals, styles

        answer = coach_signals(self.store, style, filters=self._filters(filters), limit=limit)
        if not answer:
            known = [row.style for row in styles(self.store)] if self.store.exists() else []
            if style not in known:
                there = (
                    f"there are {', '.join(known)}"
                    if known
                    else ("no call says in which it was made; `load --style NAME` says it of a file")
                )
                raise UnknownName(f"wanted a style of this lab, came {style!r}; {there}")
        return self._named(answer)

    async def coach_suggest(
        self,
        style: str,
        /,
        *,
        model: str | Model,
        base_url: str | None = None,
        style_text: str | None = None,
        skills: Collection[str] | None = None,
        limit: int = 12,
        most_tokens: int | None = None,
        **filters: Unpack[SignalFilters],
    ) -> CoachDraft:
        """Return edits of *style* that a model drafts from its signals: a draft, which changes nothing.

        *model* is ``openai:NAME``, a name on the server at *base_url*, or a `Model` of your own. *style_text* is
        the style as it is now, *skills* are those attached to it. What traces and reviewers say goes to the model
        as data, fenced off and masked; what its answer says of tools, or anything else that is no text of a
        style, is left out and named in `refused`. Without a signal no model is asked. In a notebook: ``await``.

        Raises: UnknownName as `coach_signals`, UsageError where no server is named, ServiceError.
        """
        from quality_lab.coaching import MOST_TOKENS, draft_edits, nothing_to_coach_on
        from quality_lab.lab.rerun_lines import model_named
        from quality_lab.masking import Masker
        from quality_lab.metrics.called_tools import called_tools

        signals = self.coach_signals(style, limit=limit, **filters)
        if not signals:
            return nothing_to_coach_on(style)
        masker = Masker(self.home)
        given: dict[str, Any] = {
            "style": style,
            "style_text": None if style_text is None else masker.text(style_text),
            "skills": skills,
            "tools": {*called_tools(self.store), *(signal.tool_name for signal in signals)},
            "most_tokens": most_tokens or MOST_TOKENS,
        }
        shown = [_shown(signal, masker) for signal in signals]
        if not isinstance(model, str):
            return await draft_edits(model, shown, **given)
        async with model_named(model, base_url, os.environ) as asked:
            return await draft_edits(asked, shown, **given)


def _shown(signal: CoachSignal, masker: Masker) -> dict[str, Any]:
    """Return a signal as a model is shown it: no ids of people, and nothing that is to be masked."""
    shown: dict[str, Any] = {"call_uid": signal.call_uid}
    shown |= {name: getattr(signal, name) for name in _TEXTS}
    for names, mask in ((_MASKED, masker.text), (_MASKED_JSON, masker.json_text)):
        shown |= {name: mask(text) if (text := getattr(signal, name)) is not None else None for name in names}
    at = signal.labelled_at
    return {**shown, "error": signal.error, "disputed": signal.disputed, "labelled_at": at and at.isoformat()}
