"""Upstream's summary, key for key, worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from lab_builder import LabBuilder

from quality_lab.errors import UsageError
from quality_lab.metrics import Filters, compat_summary

AT = 1781000000


@pytest.fixture
def builder(tmp_path):
    return LabBuilder(tmp_path)


def at(seconds: int) -> datetime:
    return datetime.fromtimestamp(AT + seconds, tz=UTC)


def story(builder):
    """Three calls and six labels, one of them not upstream's: two quotes and an info."""
    numbers = {"conversation_id": "977", "created_at": at(0), "cycle": 0, "call_index": 0}
    fine = builder.call(
        "quote", key="31", arguments='{"a":1.10}', result='{"n":5}', contact_id="650", **numbers
    )
    failed = builder.call("quote", key="32", is_error=True, error_origin="flag", **numbers)
    info = builder.call("info", key="33", source="llm_reply", latency_ms=12.0, **numbers)
    builder.label(fine, "good_reply", "3", key="1", created_at=at(10), note="nice")
    builder.label(fine, "bad_args", "3", key="2", created_at=at(20))
    builder.label(failed, "bad_args", None, key="3", created_at=at(30))
    builder.label(failed, "wrong_tool", "4", key="10", created_at=at(30))
    builder.label(info, "missing_tool", "4", key="4", created_at=at(5))
    builder.label(info, None, "4", key="5", label_raw="???", created_at=at(99))
    builder.label(info, "other", "anna", key="j1", key_space="journal", created_at=at(99))
    return builder.store()


def test_every_block_counts_labels_as_upstream_does(builder):
    found = compat_summary(story(builder), limit=2)

    def block(total, good, wrong, missing, bad, errors, last) -> dict:
        return {
            "total": total,
            "goodReply": good,
            "wrongTool": wrong,
            "missingTool": missing,
            "badArgs": bad,
            "other": 0,
            "errorCount": errors,
            "lastFeedbackAt": last,
        }

    assert list(found) == ["totals", "byLabel", "byTool", "bySource", "byError", "recent"]
    assert found["totals"] == block(5, 1, 1, 1, 2, 2, AT + 30)
    assert found["byLabel"] == [
        {"label": "good_reply", "total": 1, "lastFeedbackAt": AT + 10},
        {"label": "wrong_tool", "total": 1, "lastFeedbackAt": AT + 30},
        {"label": "missing_tool", "total": 1, "lastFeedbackAt": AT + 5},
        {"label": "bad_args", "total": 2, "lastFeedbackAt": AT + 30},
        {"label": "other", "total": 0, "lastFeedbackAt": None},
    ]
    assert found["byTool"] == [
        {"toolName": "quote"} | block(4, 1, 1, 0, 2, 2, AT + 30),
        {"toolName": "info"} | block(1, 0, 0, 1, 0, 0, AT + 5),
    ]
    assert found["bySource"] == [
        {"source": "rag_reply"} | block(4, 1, 1, 0, 2, 2, AT + 30),
        {"source": "llm_reply"} | block(1, 0, 0, 1, 0, 0, AT + 5),
    ]
    assert found["byError"] == [
        {"error": False, "total": 3, "lastFeedbackAt": AT + 20},
        {"error": True, "total": 2, "lastFeedbackAt": AT + 30},
    ]
    assert [one["feedback"]["id"] for one in found["recent"]] == [10, 3]
    assert list(found["byTool"][0]) == ["toolName", *block(0, 0, 0, 0, 0, 0, 0)]


def test_recent_holds_joined_examples(builder):
    recent = compat_summary(story(builder), filters=Filters.of(label="good_reply"))["recent"]

    assert recent == [
        {
            "feedback": {
                "id": 1,
                "toolCallId": 31,
                "adminId": 3,
                "label": "good_reply",
                "note": "nice",
                "createdAt": AT + 10,
            },
            "toolCall": {
                "id": 31,
                "conversationId": 977,
                "contactId": 650,
                "messageId": None,
                "outboundQueueId": None,
                "source": "rag_reply",
                "toolName": "quote",
                "args": {"a": 1.1},
                "result": {"n": 5},
                "error": False,
                "cycle": 0,
                "toolCallIndex": 0,
                "latencyMs": None,
                "createdAt": AT,
            },
        }
    ]


def test_filters_apply_to_every_block(builder):
    store = story(builder)

    failed = compat_summary(store, filters=Filters.of(error=True))
    of_info = compat_summary(store, filters=Filters.of(tool="info"))

    assert (failed["totals"]["total"], [row["error"] for row in failed["byError"]]) == (2, [True])
    assert [row["source"] for row in of_info["bySource"]] == ["llm_reply"]
    assert of_info["recent"][0]["toolCall"]["latencyMs"] == 12


def test_an_empty_lab_has_the_five_labels_and_nothing_else(builder):
    found = compat_summary(builder.store())

    assert found["totals"]["total"] == 0
    assert found["totals"]["lastFeedbackAt"] is None
    assert len(found["byLabel"]) == 5
    assert (found["byTool"], found["bySource"], found["byError"], found["recent"]) == ([], [], [], [])


def test_at_most_twenty_five_tools_are_listed(builder):
    for number in range(30):
        builder.label(builder.call(f"t{number:02}"), "other")

    assert len(compat_summary(builder.store())["byTool"]) == 25


@pytest.mark.parametrize(
    "wrong",
    [{"limit": 0}, {"limit": 201}, {"filters": Filters.of(model="m")}, {"filters": Filters.of(since="7d")}],
)
def test_what_upstream_does_not_know_is_refused(builder, wrong):
    with pytest.raises(UsageError):
        compat_summary(builder.store(), **wrong)


def test_a_fraction_that_no_float_holds_keeps_its_digits(builder):
    long = "1.2345678901234567890123"
    builder.label(
        builder.call(arguments=f'{{"rate":{long},"half":0.5,"big":12345678901234567890123}}'), "other"
    )

    arguments = compat_summary(builder.store())["recent"][0]["toolCall"]["args"]

    assert str(arguments["rate"]) == long
    assert (arguments["half"], arguments["big"]) == (0.5, 12345678901234567890123)
    assert isinstance(arguments["half"], float)
