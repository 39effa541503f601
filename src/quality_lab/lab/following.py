"""What a lab says of decisions after they were taken: whether the fault came back, and what they brought about."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from quality_lab.answers import Answer
from quality_lab.errors import NoData, UsageError
from quality_lab.lab.deciding import Deciding

if TYPE_CHECKING:
    from quality_lab.lab.export import Exported
    from quality_lab.proposals import Effect, Followed


class Following(Deciding):
    """The part of a lab that follows decisions up. It is computed from calls; nothing is stored."""

    def effect(
        self,
        proposal_id: str,
        *,
        since: datetime | str | None = None,
        tz: str = "UTC",
        as_of: datetime | str | None = None,
    ) -> Answer[Effect]:
        """Return what became of the decision that stands on a proposal: one row with a verdict and its figures.

        The rate among reviewed calls made before the change and since then, each with its interval, against the
        expectation that was written down ("bad_args on pay from 18 % to under 5 % by 1 March"): verified,
        not_verified, or inconclusive with how many reviewed calls would tell. `proposals.expectations` has the
        grammar; without a limit that can be read the two rates are compared with each other. Before is whatever
        was made before the change, or from *since* on.

        >>> import quality_lab as ql
        >>> found = ql.open_demo().effect("12")[0]
        >>> found.verdict, found.reviewed_before, found.reviewed_since
        ('inconclusive', 15, 42)

        Raises: UnknownName where there is no such proposal, NoData where nothing was decided that could have an effect.
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
        row = effect(self.store, change, filters=Filters.of(since=since, tz=tz, as_of=as_of))
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

    def export_proposals(
        self, path: Path | str, *, compat: bool = False, tenant: str | None = None
    ) -> Exported:
        """Return what was written to *path* ("-" is standard output): proposals, a JSON object a line.

        With *compat* the lines are upstream's tracked proposals, key for key: as they came, and what was decided
        here since as upstream would hold it (accepted is pending, closed is applied). Without it they are all
        proposals as the lab sees them, worst first, each with its decisions and their effect.

        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> import quality_lab as ql
        >>> ql.open_demo().export_proposals(Path(mkdtemp()) / "proposals.jsonl", compat=True).rows
        2

        Raises: UsageError where several tenants have proposals and none is named, OutputError.
        """
        from quality_lab.lab.export import Exported, write_lines

        if compat:
            lines, held = self._upstream_lines(tenant)
            rows = write_lines(lines, path)
        else:
            rows = held = write_lines(self._own_lines(tenant), path)
        return Exported(path=None if str(path) == "-" else Path(path), rows=rows, left_out=held - rows)

    def _upstream_lines(self, tenant: str | None) -> tuple[Iterator[str], int]:
        """Return the records of one tenant, and how many there would be if upstream could hold each."""
        from quality_lab.proposals import decision_story, upstream_proposals
        from quality_lab.proposals.upstream_record import tracked_records

        if not self.store.exists():
            return iter(()), 0
        tracked = [(one.tenant, one.fingerprint) for one in tracked_records(self.store)]
        decided = set(decision_story(self.store)) - set(tracked)
        known = sorted({owner for owner, _ in (*tracked, *decided)})
        if tenant is None and len(known) > 1:
            raise UsageError(
                f"a line cannot say whose it is, and there are {', '.join(known)}: name one with --tenant"
            )
        owner = tenant or (known[0] if known else "")
        held = sum(whose == owner for whose, _ in (*tracked, *decided))
        return upstream_proposals(self.store, tenant=owner), held

    def _own_lines(self, tenant: str | None) -> Iterator[str]:
        from quality_lab.json_text import compact
        from quality_lab.metrics.filters import Filters
        from quality_lab.proposals import DecisionLine, decision_story, followed, proposals

        if not self.store.exists():
            return
        groups = proposals(self.store, filters=Filters.of(tenant=tenant), top=None)
        story = decision_story(self.store)
        effects = {
            (row["tenant"], row["fingerprint"]): row["effect"] for row in followed(self.store).records()
        }
        for one, record in zip(groups, groups.records(), strict=True):
            group = one.tenant, one.fingerprint
            told = Answer(story.get(group, []), DecisionLine, title="").records()
            yield compact({**record, "decisions": told, "effect": effects.get(group)})
