"""The demo story is what its README and its truth.json say, counted here from the files alone.

The counting below knows the file formats and nothing of the script: a plain reading of JSON, with upstream's
rules for gates and soft errors written out once more.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

DEMO = Path(__file__).resolve().parents[1] / "data" / "demo"
GUARD = "exchange_response_guard"
LABELS = ("good_reply", "wrong_tool", "missing_tool", "bad_args", "other")
TRACE_KEYS = [
    *(
        "id",
        "conversationId",
        "contactId",
        "messageId",
        "outboundQueueId",
        "source",
        "toolName",
        "args",
        "result",
    ),
    *("error", "cycle", "toolCallIndex", "latencyMs", "createdAt"),
]
FEEDBACK_KEYS = [
    *(
        "id",
        "toolCallId",
        "adminId",
        "label",
        "note",
        "feedbackCreatedAt",
        *TRACE_KEYS[1:-1],
        "toolCallCreatedAt",
    ),
]


def make(folder: Path, *options: str) -> Path:
    """Return *folder* after the script has written a story into it, with a Python that knows no package."""
    command = [sys.executable, "-B", "-E", "-S", str(DEMO / "make_story.py"), *options, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def written(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file of a story by its path."""
    within = [*(folder / "exports").iterdir(), *(folder / "journal").iterdir()]
    paths = [folder / "truth.json", folder / "people.toml", *within]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def kind_of_result(row: dict[str, Any]) -> str:
    """Return what became of a call, by upstream's three layers of errors, read off the row alone."""
    result = row["result"] if isinstance(row["result"], dict) else {}
    if row["toolName"] == GUARD:
        return "guard"
    if row["error"]:
        return "errors"
    if (
        result.get("needsVerification") is True
        or result.get("needsOperator") is True
        or result.get("reason") == "action_not_allowed_for_stage"
    ):
        return "gated"
    return "soft_errors" if result.get("error") or result.get("ok") is False else "ok"


def at(text: str) -> int:
    """Return an ISO time as epoch seconds."""
    return int(datetime.fromisoformat(text).timestamp())


@dataclass
class Counted:
    """A story as one reads it who has only its files."""

    folder: Path
    traces: dict[int, dict[str, Any]] = field(default_factory=dict)
    trace_rows: int = 0
    feedback: list[dict[str, Any]] = field(default_factory=list)
    chats: list[dict[str, Any]] = field(default_factory=list)
    broken: set[tuple[str, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        document = json.loads(
            (self.folder / "exports/tool-calls-first-weeks.json").read_text(encoding="utf-8")
        )
        for row in [*document["items"], *self.lines("exports/tool-calls-last-weeks.jsonl", "toolName")]:
            self.trace_rows += 1
            assert self.traces.setdefault(row["id"], row) == row
        self.feedback = self.lines("exports/tool-call-feedback.jsonl", "conversationId")
        self.chats = self.lines("exports/web-chat.jsonl", "messages")
        self.cases = self.lines("exports/tool-call-regression-cases.jsonl", "input")
        self.journal = self.lines("journal/labels.jsonl", "call")
        self.frozen = self.lines("journal/cases.jsonl", "record")
        self.proposals = json.loads(
            (self.folder / "exports/improvement-proposals.json").read_text(encoding="utf-8")
        )["items"]

    def lines(self, path: str, needed: str) -> list[dict[str, Any]]:
        """Return the sound lines of a file and remember which were not."""
        sound = []
        for number, text in enumerate((self.folder / path).read_text(encoding="utf-8").splitlines(), 1):
            try:
                row = json.loads(text)
            except json.JSONDecodeError:
                row = {}
            if needed in row and isinstance(row.get("label", ""), str):
                sound.append(row)
            else:
                self.broken.add((path, number))
        return sound

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [row for row in self.traces.values() if row["toolName"] != GUARD]

    def of(self, tool: str) -> list[dict[str, Any]]:
        return [row for row in self.calls if row["toolName"] == tool]

    def judged(self, rows: list[dict[str, Any]] | None = None) -> Counter[str]:
        """Return how many calls (of *rows*, if given) were judged how, by a majority of the latest labels."""
        wanted = None if rows is None else {row["id"] for row in rows}
        latest: dict[int, dict[int, str]] = defaultdict(dict)
        for row in sorted(self.feedback, key=lambda row: (row["feedbackCreatedAt"], row["id"])):
            if wanted is None or row["toolCallId"] in wanted:
                latest[row["toolCallId"]][row["adminId"]] = row["label"]
        counts: Counter[str] = Counter(reviewed=len(latest))
        for labels in latest.values():
            majority = [label for label, votes in Counter(labels.values()).items() if votes > len(labels) / 2]
            counts[majority[0] if majority else "disputed"] += 1
        return counts


@pytest.fixture(scope="module")
def demo() -> Counted:
    return Counted(DEMO)


@pytest.fixture(scope="module")
def truth() -> dict[str, Any]:
    return json.loads((DEMO / "truth.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Counted:
    """Another month without a plot."""
    return Counted(make(tmp_path_factory.mktemp("quiet"), "--seed", "7", "--no-plot"))


@pytest.fixture(scope="module")
def renamed(tmp_path_factory: pytest.TempPathFactory) -> Counted:
    """Another month with a plot and neutral names."""
    return Counted(make(tmp_path_factory.mktemp("renamed"), "--seed", "7", "--shuffle-names"))


def test_the_script_writes_the_tracked_files_byte_for_byte(tmp_path):
    again = make(tmp_path / "again", "--seed", "2605")

    assert written(again) == written(DEMO)
    assert len(written(DEMO)) == 10


def test_the_truth_is_what_the_trace_lists_hold(demo, truth):
    exchange, kinds = truth["exchange"], Counter(kind_of_result(row) for row in demo.traces.values())

    assert exchange["calls"] == len(demo.calls)
    assert exchange["conversations"] == len({row["conversationId"] for row in demo.traces.values()})
    assert exchange["trace_rows"] == demo.trace_rows
    assert exchange["repeated_rows"] == demo.trace_rows - len(demo.traces)
    assert exchange["guard_rows"] == kinds["guard"]
    assert {kind: exchange[kind] for kind in ("errors", "soft_errors", "gated")} == {
        kind: kinds[kind] for kind in ("errors", "soft_errors", "gated")
    }
    assert exchange["empty_results"] == sum(row["result"] in (None, [], {}, "") for row in demo.calls)
    assert exchange["sources"] == Counter(row["source"] for row in demo.calls)
    assert at(truth["first_call_at"]) == min(row["createdAt"] for row in demo.calls)
    assert at(truth["last_call_at"]) == max(row["createdAt"] for row in demo.calls)
    assert truth["guards"] == Counter(
        row["result"]["reasons"][0] for row in demo.traces.values() if row["toolName"] == GUARD
    )


def test_the_truth_knows_every_tool(demo, truth):
    counted = {}
    for tool in {row["toolName"] for row in demo.calls}:
        kinds = Counter(kind_of_result(row) for row in demo.of(tool))
        counted[tool] = {
            "calls": len(demo.of(tool)),
            "errors": kinds["errors"],
            "soft_errors": kinds["soft_errors"],
            "gated": kinds["gated"],
            "empty_results": sum(row["result"] in (None, [], {}, "") for row in demo.of(tool)),
            "reviewed": demo.judged(demo.of(tool))["reviewed"],
        }

    assert truth["tools"] == counted
    assert len(counted) == 11


def test_the_truth_is_what_the_reviewers_wrote(demo, truth):
    labels, rows = truth["labels"], Counter(row["label"] for row in demo.feedback)

    assert labels["rows"] == len(demo.feedback)
    assert labels["by_label"] == {label: rows[label] for label in LABELS}
    assert labels["by_reviewer"] == Counter(str(row["adminId"]) for row in demo.feedback)
    assert labels["judged"] == {name: demo.judged()[name] for name in ("reviewed", *LABELS, "disputed")}
    assert labels["labelled_guard_rows"] == len(
        {row["toolCallId"] for row in demo.feedback if row["toolName"] == GUARD}
    )
    assert truth["cases"] == Counter(case["status"] for case in demo.cases)
    assert truth["frozen_cases"] == Counter(line["record"]["status"] for line in demo.frozen)
    assert truth["proposals"] == Counter(proposal["status"] for proposal in demo.proposals)
    assert truth["journal"] == {
        "rows": len(demo.journal),
        "calls": len({tuple(row["call"].values()) for row in demo.journal}),
        "by_label": Counter(row["label"] for row in demo.journal),
    }


def test_the_truth_is_what_the_chat_logs_hold(demo, truth):
    tools: dict[str, Counter[str]] = defaultdict(Counter)
    for chat in demo.chats:
        answers = {
            m["tool_call_id"]: json.loads(m["content"]) for m in chat["messages"] if m["role"] == "tool"
        }
        for call in [call for message in chat["messages"] for call in message.get("tool_calls", ())]:
            row = {"toolName": call["function"]["name"], "error": False, "result": answers[call["id"]]}
            tools[row["toolName"]].update(["calls", kind_of_result(row)])
            tools[row["toolName"]]["empty_results"] += row["result"] in (None, [], {}, "")
    chat_truth = truth["chat"]

    assert chat_truth["conversations"] == len({chat["id"] for chat in demo.chats}) == 60
    assert chat_truth["messages"] == sum(len(chat["messages"]) for chat in demo.chats)
    assert chat_truth["calls"] == sum(counts["calls"] for counts in tools.values())
    assert chat_truth["definitions"] == len(
        {json.dumps(tool, sort_keys=True) for chat in demo.chats for tool in chat["tools"]}
    )
    assert chat_truth["tools"] == {
        tool: {kind: counts[kind] for kind in ("calls", "errors", "soft_errors", "gated", "empty_results")}
        for tool, counts in tools.items()
    }


def test_the_plot_is_where_the_truth_says(demo, truth):
    plot = truth["plot_facts"]
    drift, swallowed = plot["args_drift"], plot["swallowed"]
    quotes, lookups = demo.of(drift["tool"]), demo.of(swallowed["tool"])
    early = [row for row in demo.of(plot["early_call"]["tool"]) if kind_of_result(row) == "gated"]
    for when in ("before", "after"):
        made = [row for row in quotes if (row["createdAt"] >= at(drift["since"])) == (when == "after")]
        judged = demo.judged(made)

        assert drift[when]["calls"] == len(made)
        assert drift[when]["target_thb"] == sum(row["args"]["amountMode"] == "target_thb" for row in made)
        assert drift[when]["reviewed"] == judged["reviewed"]
        assert drift[when]["bad_args"] == judged["bad_args"]
        assert drift[when]["disputed"] == judged["disputed"]

    assert plot["early_call"]["gated"] == len(early)
    assert plot["early_call"]["too_early"] == sum(
        row["result"].get("reason") == "action_not_allowed_for_stage" for row in early
    )
    assert plot["no_tool"]["guard_rows"] == truth["guards"][plot["no_tool"]["guard_reason"]]
    missing = [row for row in demo.feedback if row["label"] == "missing_tool"]
    assert plot["no_tool"]["missing_tool_rows"] == len(missing)
    assert plot["no_tool"]["labelled_missing_tool"] == len({row["toolCallId"] for row in missing})
    assert all(any(word in row["note"] for word in plot["no_tool"]["topic"]) for row in missing)
    since = [row for row in lookups if row["createdAt"] >= at(swallowed["since"])]
    assert swallowed["calls_since"] == len(since)
    assert swallowed["empty_since"] == sum(not row["result"] and row["error"] is False for row in since)
    assert plot["failure"]["soft_errors"] == sum(
        kind_of_result(row) == "soft_errors" for row in demo.of(plot["failure"]["tool"])
    )


def test_the_plot_is_strong_enough_to_be_seen(truth):
    drift, plot = truth["plot_facts"]["args_drift"], truth["plot_facts"]

    assert drift["before"]["bad_args"] / drift["before"]["reviewed"] < 0.05
    assert 0.3 < drift["after"]["bad_args"] / drift["after"]["reviewed"] < 0.35
    assert plot["early_call"]["gated"] / plot["early_call"]["calls"] > 0.4
    assert plot["swallowed"]["empty_since"] / plot["swallowed"]["calls_since"] > 0.3
    assert plot["failure"]["soft_errors"] / plot["failure"]["calls"] > 0.35
    assert plot["no_tool"]["guard_rows"] > 10


def test_the_story_has_the_size_that_was_promised(demo, truth):
    days = {datetime.fromtimestamp(row["createdAt"], UTC).date() for row in demo.calls}

    assert 380 <= len(demo.calls) <= 420
    assert len({row["conversationId"] for row in demo.calls}) >= 130
    assert len(days) == 28
    assert 85 <= len(demo.feedback) <= 99
    assert {row["adminId"] for row in demo.feedback} == {3, 5, 8}
    assert len(demo.cases) == 12
    assert [proposal["status"] for proposal in demo.proposals] == ["dismissed", "applied"]
    assert demo.trace_rows not in (100, 200, 500, 1000)


def test_every_row_has_upstreams_keys_in_upstreams_order(demo):
    times = [row["createdAt"] for row in demo.lines("exports/tool-calls-last-weeks.jsonl", "toolName")]
    given = [(row["feedbackCreatedAt"], row["id"]) for row in demo.feedback]

    assert {tuple(row) for row in demo.traces.values()} == {tuple(TRACE_KEYS)}
    assert {tuple(row) for row in demo.feedback} == {tuple(FEEDBACK_KEYS)}
    assert times == sorted(times, reverse=True)
    assert given == sorted(given, reverse=True)
    assert len({row["id"] for row in demo.feedback}) == len(demo.feedback)
    for row in demo.feedback:
        trace = demo.traces[row["toolCallId"]]
        assert {key: row[key] for key in TRACE_KEYS[1:-1]} == {key: trace[key] for key in TRACE_KEYS[1:-1]}
        assert row["feedbackCreatedAt"] > row["toolCallCreatedAt"] == trace["createdAt"]


def test_a_turn_counts_its_calls_from_zero(demo):
    turns: dict[tuple[int, int], list[int]] = defaultdict(list)
    for row in demo.traces.values():
        turns[row["conversationId"], row["createdAt"]].append(row["toolCallIndex"])

    assert all(sorted(indexes) == list(range(len(indexes))) for indexes in turns.values())
    assert max(len(indexes) for indexes in turns.values()) == 3


def test_reviewers_disagree_correct_themselves_and_join_forces(demo):
    by_call: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for row in demo.feedback:
        by_call[row["toolCallId"]].append((row["adminId"], row["label"]))
    several = [given for given in by_call.values() if len(given) > 1]

    assert demo.judged()["disputed"] == 4
    assert sum(len({who for who, _ in given}) == 1 for given in several) == 1
    assert sum(len({label for _, label in given}) == 1 for given in several) >= 4
    assert sum(len({who for who, _ in given}) == 3 for given in several) == 1


def test_notes_are_as_different_as_people_are(demo):
    notes = [row["note"] for row in demo.feedback if row["note"]]

    assert len(set(notes)) > 40
    assert not any("{" in note or "None" in note for note in notes)
    assert any("Monday" in row["note"] for row in demo.feedback if row["note"] and row["adminId"] == 8)


def test_the_broken_lines_are_exactly_those_that_are_named(demo, truth):
    named = {(line["file"], line["line"]) for line in truth["broken_lines"]}

    assert demo.broken == named
    assert len(named) == len(truth["broken_lines"]) == 5


def test_the_fault_of_the_applied_proposal_comes_back(demo):
    applied = next(proposal for proposal in demo.proposals if proposal["status"] == "applied")
    again = [
        row
        for row in demo.feedback
        if (row["toolName"], row["source"], row["label"])
        == (applied["toolName"], applied["source"], applied["label"])
        and row["toolCallCreatedAt"] >= applied["decidedAt"]
    ]

    assert applied["resolution"]["kind"] == "pull_request"
    assert applied["feedbackCount"] == len(applied["examples"]) == 2
    assert applied["lastFeedbackAt"] < applied["createdAt"] < applied["decidedAt"]
    assert len(again) == 14


def test_the_cases_have_upstreams_shape(demo):
    for case in demo.cases:
        call, feedback = case["context"]["toolCall"], case["input"]["feedback"]

        assert case["recordType"] == "tool_call_regression_case"
        assert (case["source"], feedback["label"]) == ("tool_call_feedback", case["label"])
        assert case["label"] in ("wrong_tool", "missing_tool", "bad_args")
        assert case["input"]["toolName"] == case["toolName"]
        assert isinstance(case["input"]["args"], dict)
        assert "result" in call
        assert isinstance(call["error"], bool)
        assert case["toolCallId"] is None or case["toolCallId"] in demo.traces
        assert case["proposalId"] in (None, *(proposal["id"] for proposal in demo.proposals))
        assert 0 < case["createdAt"] <= case["updatedAt"]
    assert len({case["id"] for case in demo.cases}) == 12


@pytest.mark.parametrize("story", ["demo", "quiet", "renamed"])
def test_the_frozen_cases_are_a_car_the_wrong_way_a_good_reply_and_one_from_before(story, request):
    told = request.getfixturevalue(story)
    old, good, swapped = (line["record"] for line in told.frozen)

    for record in (good, swapped):  # each was made of a call that a reviewer looked at
        chat = next(chat for chat in told.chats if chat["messages"][1]["content"] in str(record["input"]))
        place = len(record["input"]["messages"])
        [call] = [
            call["function"]
            for call in chat["messages"][place]["tool_calls"]
            if call["function"]["name"] == record["toolName"]
        ]
        assert json.loads(call["arguments"]) == record["recorded"][0]["args"] == record["input"]["args"]
        label = next(line for line in told.journal if line["call"]["conversation_id"] == chat["id"])
        assert label["call"]["message"] == place
        assert (label["label"], label["note"]) == (
            record["provenance"]["label"],
            record["input"]["feedback"]["note"],
        )
    made, right = (swapped[name][0]["args"] for name in ("recorded", "corrected"))
    assert (made["pickup"], made["dropoff"]) == (right["dropoff"], right["pickup"])
    assert good["expected"]["calls"][0]["args"] == good["recorded"][0]["args"]
    assert old["recorded"][0]["args"]["participants"] == "two"
    assert old["createdAt"] < min(row["createdAt"] for row in told.calls)


def test_every_line_of_the_journal_points_at_a_call_of_the_web_chat(demo):
    calls = {
        ("openai_chat", chat["id"], position, index)
        for chat in demo.chats
        for position, message in enumerate(chat["messages"])
        for index, _ in enumerate(message.get("tool_calls", ()))
    }

    assert all(tuple(row["call"].values()) in calls for row in demo.journal)
    assert len({row["id"] for row in demo.journal}) == len(demo.journal)
    assert {row["author_kind"] for row in demo.journal} == {"HUMAN"}


def test_a_chat_runs_forward_in_time_and_answers_every_call(demo):
    for chat in demo.chats:
        times = [at(message["created_at"]) for message in chat["messages"]]
        called = [call["id"] for message in chat["messages"] for call in message.get("tool_calls", ())]
        answered = [message["tool_call_id"] for message in chat["messages"] if message["role"] == "tool"]

        assert times == sorted(times)
        assert times[0] == at(chat["created_at"])
        assert called == answered
        assert [message["role"] for message in chat["messages"][:2]] == ["system", "user"]


def test_one_definition_changes_in_week_three(demo):
    offered: dict[str, dict[str, str]] = defaultdict(dict)
    for chat in demo.chats:
        for tool in chat["tools"]:
            offered[tool["function"]["name"]].setdefault(json.dumps(tool, sort_keys=True), chat["created_at"])
    changed = {name: list(versions.values()) for name, versions in offered.items() if len(versions) > 1}

    assert len(offered) == 6
    assert list(changed) == ["get_transfer_options"]
    assert "2026-05-20" <= changed["get_transfer_options"][1] < "2026-05-24"


def test_the_readme_says_the_truth(truth):
    readme = (DEMO / "README.md").read_text(encoding="utf-8")
    numbers = re.findall(r"^\| .+ \| (\d+) \| `([a-z_.0-9]+)` \|$", readme, re.MULTILINE)
    tools = re.findall(r"^\| `(\w+)` \|((?: \d+ \|)+)$", readme, re.MULTILINE)
    broken = re.findall(r"^\| `(exports/[\w.-]+)` \| (\d+) \| (.+) \|$", readme, re.MULTILINE)
    for number, path in numbers:
        value: Any = truth
        for key in path.split("."):
            value = value[key]
        assert (path, value) == (path, int(number))
    shown = {tool: [int(cell) for cell in cells.split("|") if cell.strip()] for tool, cells in tools}

    assert len(numbers) > 55
    assert shown == {
        **{tool: list(counts.values()) for tool, counts in truth["tools"].items()},
        **{tool: [counts["calls"], counts["soft_errors"]] for tool, counts in truth["chat"]["tools"].items()},
    }
    assert [(file, int(line), why) for file, line, why in broken] == [
        (line["file"], line["line"], line["why"]) for line in truth["broken_lines"]
    ]


def test_shuffled_names_leave_no_trace_of_the_old_ones(demo, renamed):
    own = {row["toolName"] for row in demo.calls} | {
        tool["function"]["name"] for tool in demo.chats[0]["tools"]
    }
    texts = {name: text.decode() for name, text in written(renamed.folder).items()}

    assert len(own) == 17
    assert {name: old for name, text in texts.items() for old in own if old in text} == {}
    assert {row["toolName"] for row in renamed.calls} < set(re.findall(r"tool_[a-z]+", texts["truth.json"]))
    assert all(proposal["toolName"] in proposal["fingerprint"] for proposal in renamed.proposals)


def test_shuffled_names_tell_the_same_plot(renamed):
    plot = json.loads((renamed.folder / "truth.json").read_text(encoding="utf-8"))["plot_facts"]
    named = {thread: plot[thread]["tool"] for thread in ("args_drift", "early_call", "swallowed", "failure")}

    assert len(set(named.values())) == 4
    assert all(tool.startswith("tool_") and renamed.of(tool) for tool in named.values())
    assert plot["args_drift"]["after"]["bad_args"] == 10
    assert sum(not row["result"] for row in renamed.of(named["swallowed"])) == 13
    assert sum(kind_of_result(row) == "gated" for row in renamed.of(named["early_call"])) == 24
    assert sum(kind_of_result(row) == "soft_errors" for row in renamed.of(named["failure"])) == 15


def test_without_a_plot_nothing_stands_out(quiet):
    tools = {row["toolName"] for row in quiet.calls}
    week_three = at("2026-05-18T00:00:00Z")

    assert 380 <= len(quiet.calls) <= 420
    for tool in tools:
        rows = quiet.of(tool)
        kinds = Counter(kind_of_result(row) for row in rows)
        assert (kinds["errors"] + kinds["soft_errors"]) / len(rows) < 0.1, tool
        assert kinds["gated"] / len(rows) < 0.1, tool
        assert sum(not row["result"] for row in rows) / len(rows) < 0.05, tool
        judged = quiet.judged(rows)
        assert judged["wrong_tool"] + judged["bad_args"] <= 1, tool
    quotes = quiet.of("compute_exchange_quote")
    in_baht = [
        [
            row["args"]["amountMode"] == "target_thb"
            for row in quotes
            if (row["createdAt"] >= week_three) == late
        ]
        for late in (False, True)
    ]
    assert [round(sum(half) / len(half), 1) for half in in_baht] == [0.5, 0.5]


def test_without_a_plot_no_topic_lacks_a_tool_and_no_definition_changes(quiet):
    missing = [row for row in quiet.feedback + quiet.journal if row["label"] == "missing_tool"]
    reasons = Counter(
        row["result"]["reasons"][0] for row in quiet.traces.values() if row["toolName"] == GUARD
    )

    assert len(missing) == 2
    assert not any("status" in row["note"] for row in missing)
    assert max(reasons.values()) == 2
    assert "unbacked_payout_code" not in reasons
    assert len({json.dumps(tool, sort_keys=True) for chat in quiet.chats for tool in chat["tools"]}) == 6
    assert json.loads((quiet.folder / "truth.json").read_text(encoding="utf-8"))["plot_facts"] is None


@pytest.mark.parametrize("seed", range(40, 46))
def test_any_seed_gives_the_same_plot(tmp_path, seed):
    told = Counted(make(tmp_path / "told", "--seed", str(seed)))
    truth = json.loads((told.folder / "truth.json").read_text(encoding="utf-8"))

    assert truth["exchange"]["calls"] == len(told.calls) == 399
    assert len(told.feedback) == 95
    assert truth["plot_facts"]["args_drift"]["after"]["bad_args"] == 10
    assert truth["labels"]["judged"]["disputed"] == told.judged()["disputed"] == 4
