"""What a push did, line by line, and what the journal remembers of earlier ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from quality_lab.answers import visible
from quality_lab.errors import ServiceError
from quality_lab.json_text import compact

Done = Literal["sent", "there_already", "pushed_before", "to_send", "not_sent"]
_WORDS: Mapping[Done, str] = {
    "sent": "sent",
    "there_already": "there already",
    "pushed_before": "pushed before",
    "to_send": "would be sent",
    "not_sent": "not sent",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class PushedLabel:
    """What became of a label of the journal."""

    line: str  # id of the journal line
    tool_call_id: str | None  # upstream's id of the call
    label: str | None
    note: str | None  # as it is sent: secrets and payment data are stand-ins
    done: Done
    feedback_id: int | None = None  # under which upstream has it
    reason: str | None = None  # why it was not sent
    refused: bool = False  # it could go, and upstream would not have it, or the push stopped before it


@dataclass(frozen=True, kw_only=True, slots=True)
class PushedDecision:
    """What became of the decision that stands about a proposal."""

    line: str  # id of the journal line
    fingerprint: str
    proposal_id: int | None  # upstream's
    body: Mapping[str, Any] | None  # as it is sent
    done: Done
    reason: str | None = None
    refused: bool = False  # as of a label


@dataclass(kw_only=True, slots=True, repr=False)
class Pushed:
    """A whole push, or with *dry_run* what one would do. It shows itself in words."""

    api: str  # where to, without user and password
    tenant: str
    dry_run: bool = False
    labels: list[PushedLabel] = field(default_factory=list)
    decisions: list[PushedDecision] = field(default_factory=list)
    notice: str | None = None

    def counts(self, of: Sequence[PushedLabel] | Sequence[PushedDecision]) -> dict[Done, int]:
        """Return how many of them were sent, and so on."""
        found = Counter(one.done for one in of)
        return {done: found[done] for done in _WORDS}

    @property
    def noted(self) -> int:
        """Return how many lines it brought into the journal, at most."""
        labels = sum(one.done in ("sent", "there_already") for one in self.labels)
        decisions = sum(one.done in ("sent", "there_already") for one in self.decisions)
        return 0 if self.dry_run else labels + decisions

    @property
    def not_sent(self) -> dict[str, int]:
        """Return why lines were not sent, and how many for each reason."""
        return dict(Counter(one.reason or "" for one in self._every if one.done == "not_sent"))

    @property
    def _every(self) -> list[PushedLabel | PushedDecision]:
        return [*self.labels, *self.decisions]

    def exit_code(self) -> int:
        """Return 1 where something that could go did not go, as upstream refused it; else 0."""
        return int(any(one.refused for one in self._every))

    def to_json(self) -> dict[str, Any]:
        """Return the document of `push --json`."""
        return {
            "api": self.api,
            "tenant": self.tenant,
            "dry_run": self.dry_run,
            "labels": [asdict(one) for one in self.labels],
            "decisions": [asdict(one) for one in self.decisions],
            "counts": {"labels": self.counts(self.labels), "decisions": self.counts(self.decisions)},
            "not_sent": self.not_sent,
        }

    def __repr__(self) -> str:
        """Return what a person needs to know of the push, as lines."""
        told = [
            f"{noun}: {self._told(of) or 'none in the journal'}"
            for noun, of in (("labels", self.labels), ("decisions", self.decisions))
        ]
        if self.dry_run:
            told += [
                f"  {one.label} on call {one.tool_call_id}" + (f": {one.note}" if one.note else "")
                for one in self.labels
                if one.done == "to_send"
            ]
            told += [
                f"  proposal {one.proposal_id}: {compact(dict(one.body or {}))}"
                for one in self.decisions
                if one.done == "to_send"
            ]
        told += [f"  not sent, {count:,}: {reason}" for reason, count in self.not_sent.items()]
        return "\n".join(map(visible, told))

    def _told(self, of: Sequence[PushedLabel] | Sequence[PushedDecision]) -> str:
        return ", ".join(f"{count:,} {_WORDS[done]}" for done, count in self.counts(of).items() if count)


def stopped_by(error: ServiceError) -> str:
    """Return the reason of whatever waits for the next push, as *error* ended this one."""
    return f"the push stopped: {str(error).splitlines()[0]}"


class PushStopped(ServiceError):
    """The API failed on the way; what was sent by then is in *pushed*, and in the journal."""

    def __init__(self, error: ServiceError, pushed: Pushed) -> None:
        super().__init__(
            f"the push stopped; what it had sent is in the journal, the rest waits for the next. {error}"
        )
        self.pushed = pushed


@dataclass(frozen=True, kw_only=True, slots=True)
class Notes:
    """What the journal says was pushed to one API."""

    labels: Mapping[str, int]  # journal line → id upstream
    on_calls: Mapping[str, Mapping[int, str | None]]  # upstream's call → its labels from here → author
    decisions: frozenset[str]  # journal lines
    sent: Mapping[tuple[str, str], Any]  # tenant and fingerprint → what was sent last

    @classmethod
    def of(cls, notes: Iterable[Mapping[str, Any]], authors: Mapping[str, str | None], *, api: str) -> Notes:
        """Return what the lines *notes* say; *authors* are those of the lines that were pushed."""
        labels: dict[str, int] = {}
        on_calls: dict[str, dict[int, str | None]] = {}
        decisions: set[str] = set()
        sent: dict[tuple[str, str], Any] = {}
        for note in notes:
            if note.get("api") != api:
                continue
            line, call = str(note.get("pushes")), note.get("call")
            if isinstance(call, Mapping) and isinstance(note.get("feedback_id"), int):
                labels[line] = note["feedback_id"]
                known = on_calls.setdefault(str(call.get("tool_call_id")), {})
                known[note["feedback_id"]] = authors.get(line)
            elif "fingerprint" in note:
                decisions.add(line)
                sent[str(note.get("tenant", "default")), str(note["fingerprint"])] = note.get("sent")
        return cls(labels=labels, on_calls=on_calls, decisions=frozenset(decisions), sent=sent)
