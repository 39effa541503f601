"""Tools over a `Conversation`: look up the FAQ and hand off by default, further ones by choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from quality_lab.errors import UsageError
from quality_lab.toolbox.conversation import Conversation, Step, StepFailed
from quality_lab.toolbox.faq import FaqIndex
from quality_lab.toolbox.handoff import hand_off
from quality_lab.toolbox.shapes import Shape, arguments, one_of, text
from quality_lab.toolloop.contract import Effect, Tool, ToolContext

Work = Callable[[Conversation, dict[str, Any]], str]

BY_CHOICE = (
    "resolve_conversation",
    "update_priority",
    "add_label_to_conversation",
    "add_private_note",
    "add_contact_note",
)


def conversation_tools(
    conversation: Conversation,
    *,
    faq: FaqIndex | None = None,
    also: Iterable[str] = (),
    answering: int | None = None,
) -> list[Tool]:
    """Return `faq_lookup` (where there is a *faq*), `handoff`, and those named in *also*.

    *answering* is the number of the customer's message that this turn answers: when a newer one has arrived,
    or when only a draft is wanted, the tools that change something say so in a sentence and do nothing.

    Raises:
        UsageError: *also* names a tool that is not here.
    """
    by_choice = list(also)
    unknown = [name for name in by_choice if name not in _CHANGING]
    if unknown:
        known = ", ".join(_CHANGING)
        raise UsageError(f"no conversation tool is named {', '.join(unknown)}; there are {known}")
    tools = [_faq_lookup(faq)] if faq is not None else []
    newest = conversation.newest_message if answering is None else answering
    for name in dict.fromkeys(["handoff", *by_choice]):
        description, parameters, work = _CHANGING[name]
        execute = _careful(conversation, newest, name, work)
        tools.append(_tool(name, description, parameters, "write", execute))
    return tools


def _tool(name: str, description: str, parameters: Shape, effect: Effect, execute: Any) -> Tool:
    return Tool(
        name=name,
        description=description,
        parameters=parameters,
        execute=execute,
        effect=effect,
        server="toolbox:conversation",
        inline=True,
    )


def _faq_lookup(faq: FaqIndex) -> Tool:
    def execute(args: dict[str, Any], context: ToolContext) -> str:
        matches = faq.nearest(args["query"])
        if not matches:
            return f"No relevant FAQ was found for: {args['query']}"
        told = [
            f"{place}. Question: {match.entry.question}\n   Answer: {match.entry.answer}"
            for place, match in enumerate(matches, 1)
        ]
        return "\n".join(told)

    return _tool(
        "faq_lookup",
        "Searches the questions and answers on file. Call it before answering any question on facts.",
        arguments({"query": text("What to look for, in the customer's words")}, required=["query"]),
        "read",
        execute,
    )


def _careful(conversation: Conversation, newest: int, name: str, work: Work) -> Any:
    """Return *work* behind the rules of all changing tools: not in a draft, not once out of date."""

    def execute(args: dict[str, Any], context: ToolContext) -> str:
        if conversation.drafting:
            told = f"Only a draft is wanted: {name} was not run."
        elif conversation.newest_message > newest:
            told = f"The customer has written again: {name} was not run."
        else:
            told = work(conversation, args)
        if name == "handoff":
            conversation.handoff_called = True
        return told

    return execute


def _changing(step: Step, change: Callable[[Conversation, dict[str, Any]], str]) -> Work:
    def work(conversation: Conversation, args: dict[str, Any]) -> str:
        if conversation.deleted:
            return "Conversation not found."
        try:
            conversation.take(step)
        except StepFailed:
            return "That could not be saved."
        return change(conversation, args)

    return work


def _resolve(conversation: Conversation, args: dict[str, Any]) -> str:
    if conversation.status == "resolved":
        return "The conversation is resolved already."
    if args.get("reason"):
        conversation.private_notes.append(args["reason"])
    conversation.status = "resolved"
    return "The conversation is resolved."


def _set_priority(conversation: Conversation, args: dict[str, Any]) -> str:
    conversation.priority = args["priority"]
    return f"The priority is {conversation.priority}."


def _add_label(conversation: Conversation, args: dict[str, Any]) -> str:
    label = args["label_name"].strip().casefold()
    if label not in conversation.known_labels:
        return f"Label not found. There are: {', '.join(conversation.known_labels) or 'none'}."
    if label not in conversation.labels:
        conversation.labels.append(label)
    return f"The label {label} is on the conversation."


def _add_private_note(conversation: Conversation, args: dict[str, Any]) -> str:
    return _note(conversation.private_notes, args["note"], "The private note is written.")


def _add_contact_note(conversation: Conversation, args: dict[str, Any]) -> str:
    return _note(conversation.contact_notes, args["note"], "The note on the contact is written.")


def _note(notes: list[str], note: str, told: str) -> str:
    if not note.strip():
        return "The note is empty."
    notes.append(note.strip())
    return told


_CHANGING: dict[str, tuple[str, Shape, Work]] = {
    "handoff": (
        "Hands the conversation over to people. Call it when the customer asks for one or you cannot help.",
        arguments({"reason": text("Why, for the colleague who takes over")}),
        lambda conversation, args: hand_off(conversation, args.get("reason")),
    ),
    "resolve_conversation": (
        "Closes the conversation. Call it when the customer's matter is settled and nothing is open.",
        arguments({"reason": text("What settled it")}),
        _changing("resolve", _resolve),
    ),
    "update_priority": (
        "Sets the conversation's priority. Call it when the matter is more or less urgent than that.",
        arguments({"priority": one_of("low", "medium", "high", "urgent")}, required=["priority"]),
        _changing("priority", _set_priority),
    ),
    "add_label_to_conversation": (
        "Puts one of the account's labels on the conversation. Call it when a label fits the matter.",
        arguments({"label_name": text("An existing label")}, required=["label_name"]),
        _changing("label", _add_label),
    ),
    "add_private_note": (
        "Writes a note that only colleagues see. Call it to leave them what the customer need not read.",
        arguments({"note": text()}, required=["note"]),
        _changing("note", _add_private_note),
    ),
    "add_contact_note": (
        "Writes a note on the contact, for every later conversation. Call it for lasting facts about them.",
        arguments({"note": text()}, required=["note"]),
        _changing("contact_note", _add_contact_note),
    ),
}
