"""What a lab says of decisions after they were taken: whether the fault came back, and what they brought about."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from quality_lab.answers import Answer
from quality_lab.errors import NoData
from quality_lab.lab.deciding import Deciding

if TYPE_CHECKING:
    from quality_lab.proposals import Effect, Followed


class Following(Deciding):
    """The part of a lab that follows decisions up. It is computed from calls; nothing is stored."""

    def effect(
        self, proposal_id: str, *, tz: str = "UTC", as_of: datetime | str | None = None
    ) -> Answer[Effect]:
        """Return what became of the decision that stands on a proposal: one row with a verdict and its figures.

        The rate among reviewed calls made before the change and since then, each with its interval, against the
        expectation that was written down ("bad_args on pay from 18 % to under 5 % by 1 March"): verified,
        not_verified, or inconclusive with how many reviewed calls would tell. `proposals.expectations` has the
        grammar; without a limit that can be read the two rates are compared with each other.

        >>> import quality_lab as ql
        >>> found = ql.open_demo().effect("12")[0]
        >>> found.verdict, found.reviewed_before, found.reviewed_since
        ('inconclusive', 15, 42)

        Raises: NoData where there is no such proposal, or nothing was decided that could have an effect.
        """
        from quality_lab.metrics.filters import Filters
        from quality_lab.proposals import Effect, change_of, decision_story, effect

        (one,) = self.proposal(proposal_id)
        lines = decision_story(self.store).get((one.tenant, one.fingerprint), [])
        change = change_of(
            lines, tenant=one.tenant, tool_name=one.tool_name, source=one.source, label=one.label
        )
        if change is None:
            raise NoData(f"no_data: proposal {one.id} is {one.state}: nothing was changed yet")
        row = effect(self.store, change, filters=Filters.of(tz=tz, as_of=as_of))
        return Answer([row], Effect, title=f"Effect: {one.title}")

    def followed(self, *, tz: str = "UTC", as_of: datetime | str | None = None) -> Answer[Followed]:
        """Return every proposal on which a decision stands, with recurrence and effect, decided last first.

        >>> import quality_lab as ql
        >>> [(row.tool_name, row.state, row.recurred) for row in ql.open_demo().followed()]
        [('check_exchange_verification', 'dismissed', False), ('compute_exchange_quote', 'applied', True)]
        """
        from quality_lab.metrics.filters import Filters
        from quality_lab.proposals import Followed, followed

        if not self.store.exists():
            return Answer([], Followed, title="What became of decisions")
        return followed(self.store, filters=Filters.of(tz=tz, as_of=as_of))
