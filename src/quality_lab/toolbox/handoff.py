"""The hand-off and its double signal: the tool that was called, or a reply of `conversation_handoff`."""

from __future__ import annotations

from typing import Literal

from quality_lab.toolbox.conversation import Conversation, StepFailed

OLDER_SIGNAL = "conversation_handoff"

FollowUp = Literal["classic_handoff", "closing_message", "reply", "nothing"]


def hand_off(conversation: Conversation, reason: str | None) -> str:
    """Return a sentence on the hand-off: the reason is noted, then the conversation is opened to people."""
    if conversation.deleted:
        return "Conversation not found."
    try:
        if reason:
            conversation.take("note")
            conversation.private_notes.append(reason)
        conversation.open_to_people()
    except StepFailed:
        return "The hand-off failed."
    return f"The conversation was handed over to people{f': {reason}' if reason else ''}."


def follow_up(*, handoff_called: bool, pending: bool, reply: str | None, failed: bool = False) -> FollowUp:
    """Return what has to follow a turn.

    A turn that *failed* and a hand-off whose tool left the conversation pending both fall back to the classic
    hand-off; a hand-off that worked asks only for the closing message; a reply that is the older signal means
    the classic one; any other reply is sent. Where people have the conversation already, nothing follows.

    >>> follow_up(handoff_called=True, pending=False, reply="Somebody will be with you.")
    'closing_message'
    """
    if failed or (handoff_called and pending):
        return "classic_handoff"
    if handoff_called:
        return "closing_message"
    if not pending:
        return "nothing"
    return "classic_handoff" if reply == OLDER_SIGNAL else "reply"


def finish_turn(conversation: Conversation, reply: str | None, *, failed: bool = False) -> FollowUp:
    """Do what follows a turn and return which it was; a draft is shown to its author and changes nothing."""
    called, conversation.handoff_called = conversation.handoff_called, False
    if conversation.drafting or conversation.deleted:
        return "nothing"
    step = follow_up(
        handoff_called=called, pending=conversation.status == "pending", reply=reply, failed=failed
    )
    if step == "reply" and not reply:
        return "nothing"
    if step == "classic_handoff":
        conversation.failing -= {"open"}  # people open it by another way than the tool's
        conversation.send("handoff", conversation.handoff_message)
        conversation.open_to_people()
    elif step == "closing_message":
        conversation.send("closing", conversation.handoff_message)
    elif step == "reply":
        conversation.send("reply", str(reply))
    return step
