"""The outcomes of many calls at once: `outcomes.outcome_of`, asked once for every combination that differs."""

from __future__ import annotations

from itertools import compress
from typing import Any, Final, get_args

import msgspec
import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from quality_lab.formats.columns import Batch, Choices, Flags, Texts, starts_of
from quality_lab.outcomes import OutcomeOverrides, fields_looked_at, is_empty, outcome_of
from quality_lab.records import Outcome, ToolCall
from quality_lab.store.call_outcomes import parser_of

_OUTCOMES: Final[tuple[str, ...]] = get_args(Outcome)
_BRIEFEST, _BRIEF = 4, 64  # bytes; a longer result is not empty, one in between only with a blank inside
_MOST_DECIDED = 50_000  # combinations that are remembered


class BulkOutcomes:
    """Outcomes by the rule and the *overrides* of one load."""

    def __init__(self, overrides: OutcomeOverrides) -> None:
        """Keep the rule; nothing is known yet."""
        self._overrides = overrides
        self._names = fields_looked_at(overrides)
        self._decode, self._none = parser_of(self._names)
        self._decided: dict[tuple[Any, ...], int] = {}
        self._places: dict[tuple[Outcome, str | None], int] = {}  # of each verdict, from 1 on

    def of(self, batch: Batch) -> tuple[Choices, Choices, Flags]:
        """Return outcome, gate reason and emptiness of the result of each call."""
        results = batch.calls["result"]
        assert isinstance(results, Texts)  # what a batch of calls has there
        facts, chosen = _facts(batch)
        usual = np.array([self._decided.get(fact) or self._decide(fact) for fact in facts], np.int64)
        verdicts = usual[chosen]
        objects = np.frombuffer(results.utf8, np.uint8)[starts_of(results)] == ord("{")
        texts_of_objects = results.parts if objects.all() else compress(results.parts, objects.tolist())
        none = self._none
        found = list(map(self._decode, texts_of_objects))
        odd = [place for place, looked_at in enumerate(found) if looked_at != none]
        if odd:
            if len(self._decided) > _MOST_DECIDED:
                self._decided.clear()
            places = np.flatnonzero(objects)[odd]
            for place, at, fact in zip(odd, places.tolist(), chosen[places].tolist(), strict=True):
                values = msgspec.structs.astuple(found[place])
                known = (*facts[fact], *[None if value is UNSET else bytes(value) for value in values])
                verdicts[at] = self._decided.get(known) or self._decide(known)
        return (*self._shown(verdicts), Flags(_emptiness(results)))

    def _decide(self, combination: tuple[Any, ...]) -> int:
        tool_name, actor, is_error, error_origin, *values = combination
        held = [
            f"{msgspec.json.encode(name).decode()}:{text.decode()}"
            for name, text in zip(
                self._names, values, strict=False
            )  # no values where none of them stands there
            if text is not None
        ]
        call = ToolCall(
            key_space="",
            key="",
            conversation_id="",
            tool_name=tool_name,
            result="{" + ",".join(held) + "}",
            is_error=is_error,
            error_origin=error_origin,
            actor=actor,
        )
        verdict = outcome_of(call, overrides=self._overrides)
        self._decided[combination] = place = self._places.setdefault(verdict, len(self._places) + 1)
        return place

    def _shown(self, verdicts: NDArray[np.int64]) -> tuple[Choices, Choices]:
        outcomes = [0, *(_OUTCOMES.index(outcome) for outcome, _ in self._places)]
        reasons = tuple(sorted({reason for _, reason in self._places if reason is not None}))
        given = [-1, *(-1 if reason is None else reasons.index(reason) for _, reason in self._places)]
        return (
            Choices(_OUTCOMES, np.array(outcomes, np.int8)[verdicts]),
            Choices(reasons, np.array(given, np.int32)[verdicts]),
        )


def _facts(batch: Batch) -> tuple[list[tuple[Any, ...]], NDArray[np.int64]]:
    """Return every combination of what is known of a call besides its result, and which one each call has."""
    tools, actors = batch.calls["tool_name"], batch.calls["actor"]
    errors, origins = batch.calls["is_error"], batch.calls["error_origin"]
    assert isinstance(tools, Choices)  # what a batch of calls has there
    assert isinstance(actors, Choices)
    assert isinstance(errors, Flags)
    assert isinstance(origins, Choices)
    origin_words = (*origins.words, None)  # what -1 finds
    code = tools.chosen.astype(np.int64) * len(actors.words) + actors.chosen
    code = (code * 2 + errors.values) * len(origin_words) + origins.chosen % len(origin_words)
    used = np.flatnonzero(np.bincount(code))
    place_of = np.zeros(int(used[-1]) + 1, np.int64)
    place_of[used] = np.arange(len(used))
    chosen = place_of[code]
    facts: list[tuple[Any, ...]] = []
    for one in used.tolist():
        rest, origin = divmod(one, len(origin_words))
        rest, is_error = divmod(rest, 2)
        tool, actor = divmod(rest, len(actors.words))
        facts.append((tools.words[tool], actors.words[actor], bool(is_error), origin_words[origin]))
    return facts, chosen


def _emptiness(results: Texts) -> NDArray[np.bool_]:
    """Return which results are empty: they are brief, and nothing but a blank follows what opens them."""
    empty = np.zeros(len(results.lengths), np.bool_)
    starts = starts_of(results)
    brief = np.flatnonzero(results.lengths <= _BRIEF)
    second = np.frombuffer(results.utf8, np.uint8)[np.minimum(starts[brief] + 1, len(results.utf8) - 1)]
    for place in brief[(results.lengths[brief] <= _BRIEFEST) | (second <= ord(" "))].tolist():
        empty[place] = is_empty(str(results.parts[place], "utf-8"))
    return empty
