"""The outcomes of many calls at once: `outcomes.outcome_of`, asked once for every combination that differs."""

from __future__ import annotations

from typing import Any, Final, get_args

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType
from numpy.typing import NDArray

from quality_lab.formats.columns import Batch, Choices, Flags, Texts, texts
from quality_lab.outcomes import OutcomeOverrides, fields_looked_at, is_empty, outcome_of
from quality_lab.records import Outcome, ToolCall

_OUTCOMES: Final[tuple[str, ...]] = get_args(Outcome)
_BRIEF = 64  # bytes; a longer result is not empty
_MOST_DECIDED = 50_000  # combinations that are remembered


class BulkOutcomes:
    """Outcomes by the rule and the *overrides* of one load."""

    def __init__(self, overrides: OutcomeOverrides) -> None:
        """Keep the rule; nothing is known yet."""
        self._overrides = overrides
        self._names = fields_looked_at(overrides)
        attributes = {f"field_{place}": name for place, name in enumerate(self._names)}
        looked_at = msgspec.defstruct(
            "LookedAt",
            [(attribute, msgspec.Raw | UnsetType, UNSET) for attribute in attributes],
            rename=attributes,
            gc=False,
        )
        self._decode = msgspec.json.Decoder(looked_at).decode
        self._none = looked_at()
        self._decided: dict[tuple[Any, ...], int] = {}
        self._verdicts: list[tuple[Outcome, str | None]] = []

    def of(self, batch: Batch) -> tuple[Choices, Texts, Flags]:
        """Return outcome, gate reason and emptiness of the result of each call."""
        results, actors = batch.calls["result"], batch.calls["actor"]
        errors, origins = batch.calls["is_error"], batch.calls["error_origin"]
        assert isinstance(results, Texts)  # what a batch of calls has there
        assert isinstance(actors, Choices)
        assert isinstance(errors, Flags)
        assert isinstance(origins, Choices)
        starts = np.cumsum(results.lengths) - results.lengths
        objects = np.frombuffer(results.utf8, np.uint8)[starts] == ord("{")
        if objects.all():
            found = list(map(self._decode, batch.results))
        else:
            pairs = zip(batch.results, objects.tolist(), strict=True)
            found = [self._decode(text) if is_object else self._none for text, is_object in pairs]
        facts: list[tuple[Any, ...]] = list(
            zip(
                batch.tool_names,
                map(actors.words.__getitem__, actors.chosen.tolist()),
                errors.values.tolist(),
                [origins.words[place] if place >= 0 else None for place in origins.chosen.tolist()],
                strict=True,
            )
        )
        if len(self._decided) > _MOST_DECIDED:
            self._decided.clear()
        none = self._none
        for at in [at for at, looked_at in enumerate(found) if looked_at != none]:
            values = msgspec.structs.astuple(found[at])
            facts[at] += tuple([None if value is UNSET else bytes(value) for value in values])
        verdicts = list(map(self._decided.get, facts))
        if None in verdicts:
            verdicts = [
                self._decided[fact] if fact in self._decided else self._decide(fact) for fact in facts
            ]
        return (*self._shown(np.array(verdicts, np.int64)), Flags(_emptiness(batch.results, results.lengths)))

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
        if verdict not in self._verdicts:
            self._verdicts.append(verdict)
        self._decided[combination] = place = self._verdicts.index(verdict)
        return place

    def _shown(self, verdicts: NDArray[np.int64]) -> tuple[Choices, Texts]:
        outcomes = np.array([_OUTCOMES.index(outcome) for outcome, _ in self._verdicts], np.int8)
        gated = np.array([reason is not None for _, reason in self._verdicts], np.bool_)[verdicts]
        reasons = [reason or "" for _, reason in self._verdicts]
        shown = texts([reasons[place] for place in verdicts]) if gated.any() else texts([""] * len(verdicts))
        return Choices(_OUTCOMES, outcomes[verdicts]), shown._replace(known=gated)


def _emptiness(results: list[Any], lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
    empty = np.zeros(len(results), np.bool_)
    for place in np.flatnonzero(lengths <= _BRIEF).tolist():
        empty[place] = is_empty(str(results[place], "utf-8"))
    return empty
