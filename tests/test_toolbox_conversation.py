"""The conversation stand-in: FAQ look-up, the changing tools, and the hand-off with its double signal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quality_lab.errors import InputError, UsageError
from quality_lab.toolbox.conversation import Conversation
from quality_lab.toolbox.conversation_tools import conversation_tools
from quality_lab.toolbox.faq import FaqEntry, FaqIndex, read_faq
from quality_lab.toolbox.handoff import finish_turn, follow_up
from quality_lab.toolloop import ToolContext

ALL = (
    "resolve_conversation",
    "update_priority",
    "add_label_to_conversation",
    "add_private_note",
    "add_contact_note",
)
FAQ = [
    FaqEntry(question="What are your opening hours?", answer="Daily from 10 to 20."),
    FaqEntry(question="How long does a payout take?", answer="Fifteen minutes after the payment."),
    FaqEntry(question="Which documents do I need?", answer="A passport, once."),
    FaqEntry(question="Where is the office?", answer="1 Example Road, Bangkok."),
]


def call(conversation: Conversation, name: str, answering: int | None = None, **args: Any) -> Any:
    tools = conversation_tools(conversation, faq=FaqIndex(FAQ), also=ALL, answering=answering)
    tool = next(tool for tool in tools if tool.name == name)
    assert tool.problems(args) == []
    return tool.execute(args, ToolContext())


# ---- the offer ------------------------------------------------------------------------------------------


def test_faq_lookup_and_handoff_are_offered_by_default_and_the_others_by_choice():
    conversation = Conversation()

    default = conversation_tools(conversation, faq=FaqIndex(FAQ))
    chosen = conversation_tools(conversation, also=["add_private_note", "handoff"])

    assert [(tool.name, tool.effect) for tool in default] == [("faq_lookup", "read"), ("handoff", "write")]
    assert [(tool.name, tool.effect) for tool in chosen] == [
        ("handoff", "write"),
        ("add_private_note", "write"),
    ]


def test_a_tool_that_nobody_knows_cannot_be_chosen():
    with pytest.raises(UsageError, match="no conversation tool is named add_lable"):
        conversation_tools(Conversation(), also=["add_lable"])


# ---- the FAQ --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("when do you open", "Daily from 10 to 20."),
        ("how long until I get my payouts", "Fifteen minutes after the payment."),
        ("DOCUMENT needed", "A passport, once."),
        ("office address in bangkok", "1 Example Road, Bangkok."),
    ],
)
def test_the_nearest_question_comes_first_whatever_its_words_endings(query, answer):
    assert FaqIndex(FAQ).nearest(query)[0].entry.answer == answer


def test_a_question_asked_in_its_own_words_is_nearer_than_any_other_and_all_lie_between_0_and_1():
    index = FaqIndex(FAQ)

    for entry in FAQ:
        matches = index.nearest(entry.question, top=4, at_least=0)
        assert matches[0].entry == entry
        assert all(-1e-9 <= match.similarity <= 1 + 1e-9 for match in matches)


def test_equally_near_entries_come_in_the_order_of_the_file():
    twins = [FaqEntry(question="Same?", answer=answer) for answer in ("one", "two", "six")]

    assert [match.entry.answer for match in FaqIndex(twins).nearest("same")] == ["one", "two", "six"]


def test_the_lookup_tells_ranked_answers_or_that_there_is_none():
    found = call(Conversation(), "faq_lookup", query="opening hours?")
    nothing = call(Conversation(), "faq_lookup", query="zzz")

    assert found.startswith("1. Question: What are your opening hours?\n   Answer: Daily from 10 to 20.")
    assert nothing == "No relevant FAQ was found for: zzz"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("faq.json", '[{"question": "Q?", "answer": "A."}]'),
        ("faq.jsonl", '{"question": "Q?", "answer": "A."}\n\n'),
        ("faq.toml", '[[faq]]\nquestion = "Q?"\nanswer = "A."\n'),
    ],
)
def test_a_faq_is_read_from_json_json_lines_or_toml(tmp_path: Path, name, content):
    (tmp_path / name).write_text(content)

    assert read_faq(tmp_path / name) == [FaqEntry(question="Q?", answer="A.")]


@pytest.mark.parametrize(
    "content", ['[{"question": "Q?"}]', '[{"question": 1, "answer": "A."}]', "oops", "[1]"]
)
def test_a_faq_with_anything_else_in_it_is_refused_with_its_path(tmp_path: Path, content):
    path = tmp_path / "faq.json"
    path.write_text(content)

    with pytest.raises(InputError, match=r"faq\.json is no FAQ file"):
        read_faq(path)


# ---- the changing tools ---------------------------------------------------------------------------------


def test_each_tool_changes_its_own_part_of_the_state():
    conversation = Conversation(conversation_id="7")

    told = [
        call(conversation, "update_priority", priority="high"),
        call(conversation, "add_label_to_conversation", label_name="VIP"),
        call(conversation, "add_label_to_conversation", label_name="vip"),
        call(conversation, "add_private_note", note="pays in cash"),
        call(conversation, "add_contact_note", note="speaks Thai"),
        call(conversation, "resolve_conversation", reason="answered"),
    ]

    assert told == [
        "The priority is high.",
        "The label vip is on the conversation.",
        "The label vip is on the conversation.",
        "The private note is written.",
        "The note on the contact is written.",
        "The conversation is resolved.",
    ]
    assert conversation.state() == {
        "conversationId": "7",
        "status": "resolved",
        "priority": "high",
        "labels": ["vip"],
        "privateNotes": ["pays in cash", "answered"],
        "contactNotes": ["speaks Thai"],
        "sent": [],
    }
    assert json.loads(json.dumps(conversation.state())) == conversation.state()


def test_what_cannot_be_done_is_a_sentence_and_changes_nothing():
    conversation = Conversation(failing=frozenset({"priority"}))
    gone = Conversation(deleted=True)
    before = conversation.state()

    told = [
        call(conversation, "add_label_to_conversation", label_name="nope"),
        call(conversation, "add_private_note", note="  "),
        call(conversation, "update_priority", priority="low"),
        call(gone, "resolve_conversation"),
        call(gone, "handoff"),
    ]

    assert told == [
        "Label not found. There are: billing, complaint, vip.",
        "The note is empty.",
        "That could not be saved.",
        "Conversation not found.",
        "Conversation not found.",
    ]
    assert conversation.state() == before


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("handoff", {"reason": "x"}),
        ("resolve_conversation", {}),
        ("update_priority", {"priority": "low"}),
        ("add_label_to_conversation", {"label_name": "vip"}),
        ("add_private_note", {"note": "x"}),
        ("add_contact_note", {"note": "x"}),
    ],
)
def test_no_tool_acts_in_a_draft_or_once_the_customer_has_written_again(name, args):
    drafting, overtaken = Conversation(drafting=True), Conversation(newest_message=5)
    before = drafting.state(), overtaken.state()

    in_draft = call(drafting, name, **args)
    too_late = call(overtaken, name, answering=4, **args)

    assert in_draft == f"Only a draft is wanted: {name} was not run."
    assert too_late == f"The customer has written again: {name} was not run."
    assert (drafting.state(), overtaken.state()) == before


def test_tools_resolved_for_a_message_go_out_of_date_when_the_next_one_comes():
    conversation = Conversation(newest_message=3)
    resolve = conversation_tools(conversation, also=["resolve_conversation"])[-1]
    conversation.newest_message = 4

    told = resolve.execute({}, ToolContext())

    assert told == "The customer has written again: resolve_conversation was not run."


# ---- the hand-off ---------------------------------------------------------------------------------------


def test_a_hand_off_notes_the_reason_opens_the_conversation_and_tells_of_closing_time():
    conversation = Conversation(out_of_office="We are back at ten.")

    told = call(conversation, "handoff", reason="wants a refund")

    assert told == "The conversation was handed over to people: wants a refund."
    assert conversation.state()["status"] == "open"
    assert conversation.state()["privateNotes"] == ["wants a refund"]
    assert conversation.sent == [{"kind": "out_of_office", "text": "We are back at ten."}]


@pytest.mark.parametrize(
    ("called", "pending", "reply", "failed", "expected"),
    [
        # called, and the tool left it pending: it failed
        (True, True, "Bye", False, "classic_handoff"),
        # called and worked
        (True, False, "Bye", False, "closing_message"),
        # the older signal
        (False, True, "conversation_handoff", False, "classic_handoff"),
        # an ordinary reply
        (False, True, "Bye", False, "reply"),
        # the older signal counts only as the whole reply, and only while pending
        (False, True, "conversation_handoff please", False, "reply"),
        (False, False, "conversation_handoff", False, "nothing"),
        # people have it already
        (False, False, "Bye", False, "nothing"),
        # the turn failed
        (False, True, None, True, "classic_handoff"),
        (True, False, None, True, "classic_handoff"),
    ],
)
def test_what_follows_a_turn_is_decided_by_both_signals(called, pending, reply, failed, expected):
    step = follow_up(handoff_called=called, pending=pending, reply=reply, failed=failed)

    assert step == expected


def test_a_hand_off_that_worked_sends_only_the_closing_message():
    conversation = Conversation()
    call(conversation, "handoff")

    step = finish_turn(conversation, "Here is a long goodbye.")

    assert step == "closing_message"
    assert conversation.sent == [{"kind": "closing", "text": "I am handing you over to a colleague."}]


def test_a_hand_off_whose_store_is_down_is_marked_as_called_and_falls_back_to_the_classic_one():
    conversation = Conversation(failing=frozenset({"open"}))
    told = call(conversation, "handoff", reason="angry")
    marked, still = conversation.handoff_called, conversation.status

    step = finish_turn(conversation, "Bye")

    assert (told, marked, still) == ("The hand-off failed.", True, "pending")
    assert (step, conversation.status) == ("classic_handoff", "open")
    assert conversation.sent == [{"kind": "handoff", "text": "I am handing you over to a colleague."}]


def test_a_reply_that_is_the_older_signal_is_never_sent():
    conversation = Conversation(out_of_office="Closed.")

    step = finish_turn(conversation, "conversation_handoff")

    assert (step, conversation.status) == ("classic_handoff", "open")
    assert [message["kind"] for message in conversation.sent] == ["handoff", "out_of_office"]


def test_an_ordinary_reply_is_sent_and_the_conversation_stays_with_the_assistant():
    conversation = Conversation()

    step = finish_turn(conversation, "We open at ten.")

    assert (step, conversation.status) == ("reply", "pending")
    assert conversation.sent == [{"kind": "reply", "text": "We open at ten."}]


def test_a_turn_that_raised_ends_with_people():
    conversation = Conversation()

    step = finish_turn(conversation, None, failed=True)

    assert (step, conversation.status) == ("classic_handoff", "open")


def test_the_mark_of_a_hand_off_lasts_one_turn():
    conversation = Conversation()
    call(conversation, "handoff")
    finish_turn(conversation, None)
    conversation.status = "pending"

    step = finish_turn(conversation, "Hello again.")

    assert step == "reply"


@pytest.mark.parametrize("quiet", [{"drafting": True}, {"deleted": True}, {}])
def test_nothing_is_sent_for_a_draft_a_deleted_conversation_or_an_empty_reply(quiet):
    conversation = Conversation(**quiet)

    step = finish_turn(conversation, "Hello" if quiet else None)

    assert (step, conversation.sent) == ("nothing", [])
