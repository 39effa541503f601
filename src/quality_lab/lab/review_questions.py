"""Questions about reviewers and what they say together: how far they agree, what they dispute and confuse."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, Unpack

from quality_lab.answers import Answer
from quality_lab.lab.filter_words import FilterWords, filters_of
from quality_lab.people import People, Person, read_people, shown
from quality_lab.store import Store

if TYPE_CHECKING:
    from quality_lab.metrics.agreement import Agreement, AgreementBy
    from quality_lab.metrics.confusion import Confusion
    from quality_lab.metrics.disputes import Dispute
    from quality_lab.metrics.filters import Filters
    from quality_lab.metrics.sequences import CallSequence
    from quality_lab.proposals.themes import Theme

Row = TypeVar("Row")


class ReviewQuestions:
    """What may be asked about the labels of several reviewers, and about the order of calls."""

    store: Store

    @property
    def people(self) -> People:
        """Return what people are called, from `data/people.toml`; a name is shown, an id is what counts.

        >>> import quality_lab as ql
        >>> bool(ql.open("my-project").people)
        False

        Raises: InputError where the file is not what it should be.
        """
        return read_people(self.store.home)

    def agreement(
        self, *, by: AgreementBy | None = None, **filters: Unpack[FilterWords]
    ) -> Answer[Agreement]:
        """Return how far reviewers agree beyond chance: Cohen's kappa and Krippendorff's alpha, and on what.

        The first row is about all five labels, the others about each against the rest; with *by* there is a
        row for each `tool`, version of the labelling `guide`, or `pair` of reviewers. Ids that `data/people.toml`
        gives one name are one reviewer, whose latest label counts.

        >>> import quality_lab as ql
        >>> everything = ql.open_demo().agreement()[0]
        >>> everything.calls, everything.agreed, everything.disputed
        (11, 5, 5)
        """
        from quality_lab.metrics.agreement import agreement

        answer = agreement(self.store, filters=self._filters(filters), by=by, people=self.people)
        return self._groups_named(answer, " and ") if by == "pair" else answer

    def disputes(self, *, settled: bool = False, **filters: Unpack[FilterWords]) -> Answer[Dispute]:
        """Return the calls on which no label has a majority, with who said what; *settled* ones after them.

        Ids that `data/people.toml` gives one name are one reviewer, whose latest label counts.

        >>> import quality_lab as ql
        >>> ql.open_demo().disputes()[0].labels
        ('good_reply', 'bad_args')
        """
        from quality_lab.metrics.disputes import disputes

        found = disputes(self.store, filters=self._filters(filters), settled=settled, people=self.people)
        answer = self._named(found)
        return answer.with_rows(
            replace(
                row,
                says=tuple(
                    Person(said, f"{shown(opinion.reviewer or 'somebody')}: {opinion.label}")
                    for said, opinion in zip(row.says, row.opinions, strict=True)
                ),
            )
            for row in answer
        )

    def confusion(self, *, top: int | None = None, **filters: Unpack[FilterWords]) -> Answer[Confusion]:
        """Return which tool was called in place of which, as reviewers say who name the right one.

        >>> import quality_lab as ql
        >>> [(row.called, row.expected, row.calls) for row in ql.open_demo().confusion()]
        [('get_tour_options', 'get_transfer_options', 1)]
        """
        from quality_lab.metrics.confusion import confusion

        return confusion(self.store, filters=self._filters(filters), top=top)

    def sequences(
        self, *, cycle_limit: int | None = None, **filters: Unpack[FilterWords]
    ) -> Answer[CallSequence]:
        """Return calls that repeat, retry unchanged, go in circles, or write where they should not have.

        *cycle_limit* is how many rounds a turn may have; 4 for upstream's calls, not known for others.

        >>> import quality_lab as ql
        >>> len(ql.open_demo().sequences())  # nobody goes in circles there
        0
        """
        from quality_lab.metrics.sequences import sequences

        return sequences(self.store, filters=self._filters(filters), cycle_limit=cycle_limit)

    def themes(self, *, top: int | None = None, **filters: Unpack[FilterWords]) -> Answer[Theme]:
        """Return what reviewers write beside each label, grouped by theme; it needs the extra `themes`.

        The filters say whose notes: `tool`, `source` and `label` of a proposal give those of its group.

        >>> import quality_lab as ql
        >>> ql.open_demo().themes(label="missing_tool")[0].terms
        ('order', 'payout', 'look')

        Raises: UsageError where the extra is not installed.
        """
        from quality_lab.proposals.themes import themes

        return self._named(themes(self.store, filters=self._filters(filters), top=top))

    def _filters(self, words: FilterWords) -> Filters:
        """Return the filters that *words* mean, a reviewer's name standing for all ids that have it."""
        found = filters_of(words)
        return replace(found, reviewer=tuple(self.people.ids(found.reviewer))) if found.reviewer else found

    def _named(self, answer: Answer[Row]) -> Answer[Row]:
        """Return *answer* with names beside the ids of people in it."""
        people = self.people
        return answer.with_rows(people.named(answer)) if people else answer

    def _groups_named(self, answer: Answer[Row], between: str = "\n") -> Answer[Row]:
        """Return *answer* with names beside the ids in its column `group`, which *between* joins.

        Groups whose names are the same show their ids as well.
        """
        people = self.people
        if not people:
            return answer
        groups: list[str] = [group for row in answer if (group := getattr(row, "group", None)) is not None]
        names = {group: between.join(map(people.name, group.split(between))) for group in groups}
        several = {name for name, count in Counter(names.values()).items() if count > 1}
        persons = {
            group: Person(group, f"{name} ({group})" if name in several else name)
            for group, name in names.items()
        }
        return answer.with_rows(
            replace(row, group=persons.get(row.group))  # type: ignore[type-var,attr-defined]  # rows with a group
            for row in answer
        )
