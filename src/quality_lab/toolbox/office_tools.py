"""Four tools over an `Office`: create a lead, book a slot, issue an invoice, alert an operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quality_lab.toolbox.office import Office
from quality_lab.toolbox.shapes import Shape, arguments, one_of, positive, text
from quality_lab.toolloop.contract import Effect, Tool, ToolContext

Work = Callable[[Office, dict[str, Any], str | None], dict[str, Any]]

_TOOLS: tuple[tuple[str, str, Shape, Effect, Work], ...] = (
    (
        "create_crm_lead",
        "Creates a lead for the sales team. Call it once the customer left a name and a way to reach them.",
        arguments(
            {
                "name": text(),
                "phone": text("With the country code"),
                "email": text(),
                "interest": text("What the customer wants, in a few words"),
            },
            required=["name"],
        ),
        "write",
        lambda office, args, conversation: office.create_lead(args),
    ),
    (
        "book_calendar_slot",
        "Books an appointment. Call it when the customer has agreed to a day and a time.",
        arguments(
            {
                "start": text("Beginning as ISO 8601, for example 2026-06-10T11:00"),
                "durationMin": {"type": "integer", "minimum": 5, "maximum": 480},
                "title": text("What the appointment is about"),
                "attendee": text("Name of the customer"),
            },
            required=["start", "title", "attendee"],
        ),
        "write",
        lambda office, args, conversation: office.book_slot(args),
    ),
    (
        "issue_payment_invoice",
        "Issues an invoice with a payment page. Call it only when the customer agreed to amount and purpose.",
        arguments(
            {
                "amount": positive("In the currency's main unit"),
                "currency": one_of("THB", "USD", "EUR", "RUB"),
                "description": text("What is paid for"),
                "payer": text("Name of the payer"),
            },
            required=["amount", "currency", "description"],
        ),
        "irreversible",
        lambda office, args, conversation: office.issue_invoice(args),
    ),
    (
        "alert_operator",
        "Alerts the operator on duty. Call it when something cannot wait: a risk, a failed payment.",
        arguments(
            {"message": text("What happened"), "severity": one_of("low", "medium", "high")},
            required=["message"],
        ),
        "irreversible",
        lambda office, args, conversation: office.alert(args, conversation=conversation),
    ),
)


def office_tools(office: Office, conversation_id: object = None) -> list[Tool]:
    """Return the four tools for one conversation."""
    conversation = None if conversation_id is None else str(conversation_id)
    return [
        Tool(
            name=name,
            description=description,
            parameters=parameters,
            execute=_execute(office, conversation, work),
            effect=effect,
            server="toolbox:office",
            inline=True,
        )
        for name, description, parameters, effect, work in _TOOLS
    ]


def _execute(
    office: Office, conversation: str | None, work: Work
) -> Callable[[dict[str, Any], ToolContext], dict[str, Any]]:
    def execute(args: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        with office.lock:
            return work(office, args, conversation)

    return execute
