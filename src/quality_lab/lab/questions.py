"""The questions that a lab answers, each under the name that it has in `metrics`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack, get_args

from quality_lab.answers import Answer, CallView, ConversationView
from quality_lab.errors import UnknownName
from quality_lab.lab.filter_words import FilterWords, filters_of
from quality_lab.lab.review_questions import ReviewQuestions
from quality_lab.store import Store

if TYPE_CHECKING:
    from quality_lab.lab.summary import Summary
    from quality_lab.metrics.calls import CallRow
    from quality_lab.metrics.coverage import Coverage
    from quality_lab.metrics.definitions import Definition
    from quality_lab.metrics.failing_tools import FailingTool, RankBy
    from quality_lab.metrics.guards import Guard
    from quality_lab.metrics.label_counts import LabelCount, LabelsBy
    from quality_lab.metrics.latency import Latency
    from quality_lab.metrics.trend import Every, Period
    from quality_lab.proposals import Proposal


class Questions(ReviewQuestions):
    """What may be asked of a store."""

    store: Store
    home_found: str  # how the home was found, in words

    def labels(self, *, by: LabelsBy | None = None, **filters: Unpack[FilterWords]) -> Answer[LabelCount]:
        """Return how often each label was given and on what share of reviewed calls it stands.

        >>> import quality_lab as ql
        >>> [row.label for row in ql.open_demo().labels()][:3]
        ['good_reply', 'wrong_tool', 'missing_tool']
        """
        from quality_lab.metrics.label_counts import label_counts

        answer = label_counts(self.store, filters=self._filters(filters), by=by)
        return self._groups_named(answer) if by == "reviewer" else answer

    def failing_tools(
        self, *, by: RankBy = "rate", top: int | None = 25, **filters: Unpack[FilterWords]
    ) -> Answer[FailingTool]:
        """Return the tools that fail most, worst first, each rate with its interval and its denominator.

        >>> import quality_lab as ql
        >>> worst = ql.open_demo().failing_tools(top=1)[0]
        >>> worst.error_low <= worst.error_rate <= worst.error_high
        True
        """
        from quality_lab.metrics.failing_tools import failing_tools

        return failing_tools(self.store, filters=self._filters(filters), by=by, top=top)

    def proposals(self, *, top: int | None = 25, **filters: Unpack[FilterWords]) -> Answer[Proposal]:
        """Return what to change, worst first: complaints of one kind about one tool, with rate and examples.

        >>> import quality_lab as ql
        >>> ql.open_demo().proposals()[0].fingerprint
        'schema_fix:rag_reply:compute_exchange_quote:bad_args'
        """
        from quality_lab.proposals import proposals

        return self._named(proposals(self.store, filters=self._filters(filters), top=top))

    def calls(self, *, limit: int | None = None, **filters: Unpack[FilterWords]) -> Answer[CallRow]:
        """Return single calls, newest first, with arguments, results and labels: all, or *limit* of them.

        >>> import quality_lab as ql
        >>> {row.outcome for row in ql.open_demo().calls(outcome="gated")}
        {'gated'}
        """
        from quality_lab.metrics.calls import calls

        return self._named(calls(self.store, filters=self._filters(filters), limit=limit))

    def call(self, call_uid: str) -> CallView:
        """Return one call as the exchange it was: what was asked, the call, its result, what reviewers wrote.

        >>> import quality_lab as ql
        >>> lab = ql.open_demo()
        >>> one = lab.call(lab.calls(tool="get_transfer_options")[0].call_uid)
        >>> [step.kind for step in one.steps][:2]
        ['said', 'called']

        The beginning of the uid is enough where no other begins so.

        Raises: UnknownName where the lab has no such call, UsageError where several begin so.
        """
        from quality_lab.lab.views import call_view
        from quality_lab.metrics.call_place import call_place
        from quality_lab.metrics.conversation import conversation

        place = call_place(self.store, call_uid)
        if place is None:
            raise UnknownName(f"wanted the uid of a call in this lab, came {call_uid!r}; `calls` lists them")
        return call_view(conversation(self.store, place.conversation_uid), place.call_uid, people=self.people)

    def conversation(self, conversation_id: str, *, tenant: str | None = None) -> ConversationView:
        """Return a conversation told in order; it has no steps where the lab does not know it.

        >>> import quality_lab as ql
        >>> told = ql.open_demo().conversation("chat-0005")
        >>> told.answer.to_polars().height > 3
        True
        """
        from quality_lab.lab.views import conversation_view
        from quality_lab.metrics.conversation import conversation

        told = conversation(self.store, conversation_id, filters=filters_of({"tenant": tenant}))
        return conversation_view(told, people=self.people)

    def coverage(self, **filters: Unpack[FilterWords]) -> Answer[Coverage]:
        """Return how much of each tool was reviewed, first where most calls were looked at by nobody.

        >>> import quality_lab as ql
        >>> ql.open_demo().coverage()[0].coverage < 1
        True
        """
        from quality_lab.metrics.coverage import coverage

        return coverage(self.store, filters=self._filters(filters))

    def trend(self, *, every: Every = "day", **filters: Unpack[FilterWords]) -> Answer[Period]:
        """Return calls, errors and reviews of each day or week, in order of time.

        >>> import quality_lab as ql
        >>> [str(row.period) for row in ql.open_demo().trend(every="week")][:2]
        ['2026-05-04', '2026-05-11']
        """
        from quality_lab.metrics.trend import trend

        return trend(self.store, filters=self._filters(filters), every=every)

    def latency(self, **filters: Unpack[FilterWords]) -> Answer[Latency]:
        """Return how long the calls of each tool took, slowest tool first, where the traces say.

        >>> import quality_lab as ql
        >>> len(ql.open_demo().latency(source="rag_reply"))  # upstream never writes it
        0
        """
        from quality_lab.metrics.latency import latency

        return latency(self.store, filters=self._filters(filters))

    def guards(self, **filters: Unpack[FilterWords]) -> Answer[Guard]:
        """Return what guards stopped, by reason and action; guard rows stand in no rate.

        >>> import quality_lab as ql
        >>> ql.open_demo().guards()[0].reason
        'unbacked_payout_code'
        """
        from quality_lab.metrics.guards import guards

        return guards(self.store, filters=self._filters(filters))

    def definitions(self, **filters: Unpack[FilterWords]) -> Answer[Definition]:
        """Return the definitions under which each tool was offered, oldest first, with what changed.

        >>> import quality_lab as ql
        >>> any(row.change for row in ql.open_demo().definitions())
        True
        """
        from quality_lab.metrics.definitions import definitions

        return definitions(self.store, filters=self._filters(filters))

    def compat_summary(self, *, limit: int = 25, **filters: Unpack[FilterWords]) -> dict[str, Any]:
        """Return upstream's feedback summary, key for key; *limit* bounds its `recent` alone.

        >>> import quality_lab as ql
        >>> list(ql.open_demo().compat_summary())
        ['totals', 'byLabel', 'byTool', 'bySource', 'byError', 'recent']

        Raises: UsageError for a filter that upstream does not have.
        """
        from quality_lab.metrics.compat_summary import compat_summary

        return compat_summary(self.store, filters=self._filters(filters), limit=limit)

    def compat_proposals(self, *, limit: int = 100, **filters: Unpack[FilterWords]) -> list[dict[str, Any]]:
        """Return the items of upstream's preview of proposals, key for key, over the newest *limit* labels.

        >>> import quality_lab as ql
        >>> ql.open_demo().compat_proposals()[0]["severity"]
        'high'

        Raises: UsageError for a filter that upstream does not have.
        """
        from quality_lab.proposals import compat_preview

        return compat_preview(self.store, filters=self._filters(filters), limit=limit)

    def summary(self, **filters: Unpack[FilterWords]) -> Summary:
        """Return the lab at a glance: what it holds, and the first rows of each question.

        >>> import quality_lab as ql
        >>> list(ql.open_demo().summary().answers)
        ['labels', 'failing_tools', 'proposals', 'calls', 'coverage', 'trend', 'agreement', 'confusion', 'sequences', \
'guards', 'definitions', 'latency']
        """
        from quality_lab.lab.summary import FIRST, Summary

        return Summary(
            self.store.totals(),
            {
                "labels": self.labels(**filters),
                "failing_tools": self.failing_tools(top=FIRST, **filters),
                "proposals": self.proposals(top=FIRST, **filters),
                "calls": self.calls(limit=FIRST, **filters),
                "coverage": self.coverage(**filters)[:FIRST],
                "trend": self.trend(every="week", **filters),
                "agreement": self.agreement(**filters),
                "confusion": self.confusion(**filters)[:FIRST],
                "sequences": self.sequences(**filters)[:FIRST],
                "guards": self.guards(**filters)[:FIRST],
                "definitions": self.definitions(**filters)[:FIRST],
                "latency": self.latency(**filters)[:FIRST],
            },
        )

    def why_empty(self, **filters: Unpack[FilterWords]) -> str | None:
        """Return why there is nothing to judge, in a sentence; None where calls or labels lie in the window.

        Of reviewers one at least has to be known here, whatever they said and when.

        >>> import quality_lab as ql
        >>> ql.open_demo().why_empty(since="2027-01-01")
        'no call and no label lies in what was asked for (since 2027-01-01)'
        """
        from quality_lab.metrics.call_count import call_count
        from quality_lab.metrics.filters import Filters
        from quality_lab.metrics.label_counts import label_counts
        from quality_lab.records import AuthorKind

        asked_for = filters_of(filters)
        if asked_for.reviewer:
            anything = Filters.of(reviewer=asked_for.reviewer, author_kind=get_args(AuthorKind))
            if not any(row.rows for row in label_counts(self.store, filters=anything)):
                return f"no label by {_listed(asked_for.reviewer)} lies in this lab"
        picked = replace(asked_for, label=(), reviewer=())
        if call_count(self.store, filters=picked):
            return None
        if any(row.rows for row in label_counts(self.store, filters=picked)):
            return None
        if not any(self.store.totals().values()):
            return f"nothing was loaded yet; {self.where()}"
        asked = ", ".join(f"{name} {_listed(value)}" for name, value in filters.items())
        return f"no call and no label lies in what was asked for ({asked or 'everything'})"

    def where(self) -> str:
        """Return a sentence on where this lab looks for its data, and how its home was found.

        >>> import quality_lab as ql
        >>> ql.open("my-project").where().partition("; ")[2]
        'its home is as named'
        """
        return f"the lab is {self.store.database}; its home is {self.home_found}"


def _listed(value: object) -> str:
    if isinstance(value, Iterable) and not isinstance(value, str):
        return " or ".join(str(one) for one in value)
    return str(value)
