"""What is true in the story, counted row by row while it is written, from what it knows about each row."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from story.chat import Chat
from story.frame import CALENDAR_MOVED, GUARD, PAYMENT, QUOTE, RELEASE, REQUISITES, SLOTS, Call, iso
from story.reviews import Label

LABELS = ["good_reply", "wrong_tool", "missing_tool", "bad_args", "other"]


def judged(given: list[tuple[int, str, str]]) -> str:
    """Return the label that over half of the reviewers gave last, "disputed" where there is none."""
    latest = {reviewer: label for _, reviewer, label in sorted(given)}
    label, votes = Counter(latest.values()).most_common(1)[0]
    return label if votes * 2 > len(latest) else "disputed"


class Truth:
    """The counts; `document()` is what stands in truth.json."""

    def __init__(self, seed: int, *, plot: bool) -> None:
        self.seed, self.plot = seed, plot
        self.calls: dict[int, Call] = {}
        self.rows: Counter[str] = Counter()
        self.tools: dict[str, Counter[str]] = defaultdict(Counter)
        self.guards: Counter[str] = Counter()
        self.labels: list[Label] = []
        self.statuses: dict[str, Counter[str]] = defaultdict(Counter)
        self.chats: list[Chat] = []
        self.chat_tools: dict[str, Counter[str]] = defaultdict(Counter)
        self.definitions: set[str] = set()
        self.journal: list[dict[str, Any]] = []
        self.broken_lines: list[dict[str, Any]] = []

    def trace(self, call: Call) -> None:
        self.rows["trace_rows"] += 1
        if call.id in self.calls:
            self.rows["repeated_rows"] += 1
            return
        self.calls[call.id] = call
        if call.tool == GUARD:
            self.guards[call.result["reasons"][0]] += 1
        else:
            self._count(self.tools[call.tool], call.fate, empty=call.empty)

    def label(self, label: Label) -> None:
        self.labels.append(label)

    def status(self, what: str, record: dict[str, Any]) -> None:
        self.statuses[what][record["status"]] += 1

    def chat(self, chat: Chat, definitions: list[str]) -> None:
        self.chats.append(chat)
        self.definitions |= set(definitions)
        for call in chat.calls:
            self._count(self.chat_tools[call.tool], call.fate, empty=False)

    def journal_line(self, line: dict[str, Any]) -> None:
        self.journal.append(line)

    def broken(self, path: str, line: int, why: str) -> None:
        self.broken_lines.append({"file": path, "line": line, "why": why})

    @staticmethod
    def _count(tool: Counter[str], fate: str, *, empty: bool) -> None:
        tool["calls"] += 1
        tool["errors"] += fate == "error"
        tool["soft_errors"] += fate == "soft_error"
        tool["gated"] += fate == "gated"
        tool["empty_results"] += empty

    def _judged(self, **of: Any) -> dict[str, int]:
        """Return how the reviewed calls of a *tool* were judged, of those made since and until an instant."""
        given: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
        for x in self.labels:
            if of.get("tool", x.call.tool) == x.call.tool and of.get("since", 0) <= x.call.at < of.get(
                "until", 2**40
            ):
                given[x.call.id].append((x.at, str(x.reviewer), x.label))
        counts = Counter(judged(labels) for labels in given.values())
        return {"reviewed": len(given), **{label: counts[label] for label in [*LABELS, "disputed"]}}

    def document(self) -> dict[str, Any]:
        """Return all counts, and where the plot lies if there is one."""
        calls = [call for call in self.calls.values() if call.tool != GUARD]
        talks = {call.conversation.id for call in self.calls.values()}
        times = [call.at for call in calls]
        given = Counter(x.label for x in self.labels)
        every = {label: given[label] for label in LABELS}
        return {
            "seed": self.seed,
            "plot": self.plot,
            "first_call_at": iso(min(times)),
            "last_call_at": iso(max(times)),
            "exchange": {
                "calls": len(calls),
                "conversations": len(talks),
                "guard_rows": sum(self.guards.values()),
                "trace_rows": self.rows["trace_rows"],
                "repeated_rows": self.rows["repeated_rows"],
                "errors": sum(c["errors"] for c in self.tools.values()),
                "soft_errors": sum(c["soft_errors"] for c in self.tools.values()),
                "gated": sum(c["gated"] for c in self.tools.values()),
                "empty_results": sum(c["empty_results"] for c in self.tools.values()),
                "sources": dict(sorted(Counter(c.conversation.source for c in calls).items())),
            },
            "tools": {
                tool: {**counts, **{"reviewed": self._judged(tool=tool)["reviewed"]}}
                for tool, counts in sorted(self.tools.items())
            },
            "guards": dict(sorted(self.guards.items())),
            "labels": {
                "rows": len(self.labels),
                "by_label": every,
                "by_reviewer": {
                    str(k): v for k, v in sorted(Counter(x.reviewer for x in self.labels).items())
                },
                "labelled_guard_rows": len({x.call.id for x in self.labels if x.call.tool == GUARD}),
                "judged": self._judged(),
            },
            "cases": dict(sorted(self.statuses["cases"].items())),
            "frozen_cases": dict(sorted(self.statuses["frozen_cases"].items())),
            "proposals": dict(sorted(self.statuses["proposals"].items())),
            "chat": {
                "conversations": len(self.chats),
                "messages": sum(len(c.messages) for c in self.chats),
                "calls": sum(len(c.calls) for c in self.chats),
                "definitions": len(self.definitions),
                "tools": {tool: dict(counts) for tool, counts in sorted(self.chat_tools.items())},
            },
            "journal": {
                "rows": len(self.journal),
                "calls": len({str(line["call"]) for line in self.journal}),
                "by_label": dict(sorted(Counter(line["label"] for line in self.journal).items())),
            },
            "broken_lines": self.broken_lines,
            "plot_facts": self._plot_facts() if self.plot else None,
        }

    def _plot_facts(self) -> dict[str, Any]:
        quotes = [call for call in self.calls.values() if call.tool == QUOTE]
        lookups = [call for call in self.calls.values() if call.tool == SLOTS and call.at >= CALENDAR_MOVED]
        stretches = {
            "before": [c for c in quotes if c.at < RELEASE],
            "after": [c for c in quotes if c.at >= RELEASE],
        }
        windows = {
            "before": self._judged(tool=QUOTE, until=RELEASE),
            "after": self._judged(tool=QUOTE, since=RELEASE),
        }
        return {
            "args_drift": {
                "tool": QUOTE,
                "argument": "amountMode",
                "since": iso(RELEASE),
                **{
                    when: {
                        "calls": len(made),
                        "target_thb": sum(c.args["amountMode"] == "target_thb" for c in made),
                        "baht_read_as_other": sum(c.flaw == "baht" for c in made),
                        "reviewed": windows[when]["reviewed"],
                        "bad_args": windows[when]["bad_args"],
                        "disputed": windows[when]["disputed"],
                    }
                    for when, made in stretches.items()
                },
            },
            "early_call": {
                "tool": REQUISITES,
                "calls": self.tools[REQUISITES]["calls"],
                "gated": self.tools[REQUISITES]["gated"],
                "too_early": sum(c.flaw == "early" for c in self.calls.values()),
            },
            "no_tool": {
                "topic": ["payout", "status"],
                "guard_reason": "unbacked_payout_code",
                "guard_rows": self.guards["unbacked_payout_code"],
                "missing_tool_rows": sum(x.label == "missing_tool" for x in self.labels),
                "labelled_missing_tool": len({x.call.id for x in self.labels if x.label == "missing_tool"}),
            },
            "swallowed": {
                "tool": SLOTS,
                "since": iso(CALENDAR_MOVED),
                "calls_since": len(lookups),
                "empty_since": sum(c.empty for c in lookups),
            },
            "failure": {
                "tool": PAYMENT,
                "calls": self.tools[PAYMENT]["calls"],
                "soft_errors": self.tools[PAYMENT]["soft_errors"],
            },
        }
