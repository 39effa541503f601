"""A small office in memory: customer leads, a calendar, invoices and an operator's alarm."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Literal
from zoneinfo import ZoneInfo

from quality_lab.toolbox.exchange_rates import as_decimal, json_number
from quality_lab.toolbox.hand_clock import Clock, HandClock

Severity = Literal["low", "medium", "high"]
Answer = dict[str, Any]

INVOICE_DAYS = 7
_ALTERNATIVES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class OpeningHours:
    """When appointments can be booked, in the office's own time."""

    opens: time = time(10)
    closes: time = time(18)
    weekdays: frozenset[int] = frozenset(range(5))  # Monday is 0
    slot_min: int = 30
    tz: str = "UTC"

    def hold(self, start: datetime, end: datetime) -> bool:
        """Return whether an appointment from *start* to *end* lies within one open day."""
        own, own_end = start.astimezone(ZoneInfo(self.tz)), end.astimezone(ZoneInfo(self.tz))
        one_day = own.date() == own_end.date()
        within = self.opens <= own.time() and own_end.time() <= self.closes
        return one_day and within and own.weekday() in self.weekdays

    def slots(self, first: date) -> Iterable[datetime]:
        """Return the beginnings of all slots from the day *first* on, for two weeks."""
        for day in (first + timedelta(days=offset) for offset in range(14)):
            begin = datetime.combine(day, self.opens, tzinfo=ZoneInfo(self.tz))
            minutes = (self.closes.hour - self.opens.hour) * 60 + self.closes.minute - self.opens.minute
            for offset in range(0, minutes, self.slot_min):
                yield begin + timedelta(minutes=offset)


class Office:
    """An office in memory; the same clock and steps always end in the same `state()`."""

    def __init__(self, *, clock: Clock | None = None, hours: OpeningHours | None = None) -> None:
        self.clock: Clock = clock if clock is not None else HandClock()
        self.hours = hours if hours is not None else OpeningHours()
        self.leads: list[Answer] = []
        self.bookings: list[Answer] = []
        self.invoices: list[Answer] = []
        self.alerts: list[Answer] = []
        self.lock = threading.RLock()

    def create_lead(self, args: dict[str, Any]) -> Answer:
        """Return the new lead; a known phone number or address gives the lead that has it."""
        phone, email = _digits(args.get("phone")), (args.get("email") or "").strip().casefold()
        if not phone and not email:
            return {"error": "A phone number or an e-mail address is needed: ask the customer."}
        for lead in self.leads:
            if (phone and lead["phone"] == phone) or (email and lead["email"] == email):
                return {"leadId": lead["leadId"], "stage": lead["stage"], "idempotent": True}
        lead = {
            "leadId": len(self.leads) + 1,
            "stage": "new",
            "name": args["name"].strip(),
            "phone": phone,
            "email": email,
            "interest": args.get("interest"),
            "createdAt": self.clock(),
        }
        self.leads.append(lead)
        return {"leadId": lead["leadId"], "stage": "new"}

    def book_slot(self, args: dict[str, Any]) -> Answer:
        """Return the booking, or why it cannot be and the next free beginnings."""
        minutes = args.get("durationMin", self.hours.slot_min)
        try:
            start = datetime.fromisoformat(args["start"])
        except ValueError:
            return {"error": f"start is no date and time: {args['start']}. Write it as 2026-06-10T11:00."}
        if start.tzinfo is None:
            start = start.replace(tzinfo=ZoneInfo(self.hours.tz))
        try:
            start, end = start.astimezone(UTC), start.astimezone(UTC) + timedelta(minutes=minutes)
        except OverflowError:
            return {"error": f"start lies outside of the calendar: {args['start']}"}
        for booking in self.bookings:
            if booking["start"] == _iso(start) and booking["attendee"] == args["attendee"]:
                return {**_told(booking), "idempotent": True}
        refusal = self._refusal(start, end)
        if refusal is not None:
            return {"error": refusal, "alternatives": self._alternatives(start, minutes)}
        booking = {
            "bookingId": len(self.bookings) + 1,
            "start": _iso(start),
            "end": _iso(end),
            "title": args["title"],
            "attendee": args["attendee"],
        }
        self.bookings.append(booking)
        return _told(booking)

    def issue_invoice(self, args: dict[str, Any]) -> Answer:
        """Return the invoice with its payment page; each call issues another one."""
        amount = as_decimal(args["amount"])
        if amount is None or not amount.is_finite() or amount <= 0 or amount >= Decimal("1e12"):
            return {"error": f"amount must be above 0 and below 1000000000000, got {args['amount']}"}
        if amount != round(amount, 2):
            return {"error": f"amount has more than two decimal places: {args['amount']}"}
        number = f"INV-{len(self.invoices) + 1:05d}"
        invoice = {
            "invoiceId": number,
            "status": "issued",
            "amount": json_number(amount),
            "currency": args["currency"],
            "description": args["description"],
            "payer": args.get("payer"),
            "paymentUrl": f"https://pay.example.com/{number}",
            "expiresAt": self.clock() + INVOICE_DAYS * 86_400,
        }
        self.invoices.append(invoice)
        return {key: value for key, value in invoice.items() if value is not None}

    def alert(self, args: dict[str, Any], *, conversation: str | None) -> Answer:
        """Return the receipt of an alert to the operator on duty."""
        alert = {
            "alertId": len(self.alerts) + 1,
            "message": args["message"],
            "severity": args.get("severity", "medium"),
            "conversationId": conversation,
            "at": self.clock(),
        }
        self.alerts.append(alert)
        return {"alertId": alert["alertId"], "delivered": True, "severity": alert["severity"]}

    def state(self) -> dict[str, Any]:
        """Return everything that can differ at the end of a run, as JSON."""
        return {
            "leads": [dict(lead) for lead in self.leads],
            "bookings": [dict(booking) for booking in self.bookings],
            "invoices": [dict(invoice) for invoice in self.invoices],
            "alerts": [dict(alert) for alert in self.alerts],
        }

    def _refusal(self, start: datetime, end: datetime) -> str | None:
        if start.timestamp() < self.clock():
            return "That time is past."
        if not self.hours.hold(start, end):
            return "The office is closed then."
        taken = any(
            booking["start"] < _iso(end) and _iso(start) < booking["end"] for booking in self.bookings
        )
        return "That time is taken." if taken else None

    def _alternatives(self, wanted: datetime, minutes: int) -> list[str]:
        now = datetime.fromtimestamp(self.clock(), UTC)
        latest = now + timedelta(days=365)
        first = min(max(wanted, now), latest).astimezone(ZoneInfo(self.hours.tz)).date()
        free = (
            _iso(begin)
            for begin in self.hours.slots(first)
            if self._refusal(begin.astimezone(UTC), begin.astimezone(UTC) + timedelta(minutes=minutes))
            is None
        )
        return [begin for begin, _ in zip(free, range(_ALTERNATIVES), strict=False)]


def _told(booking: Answer) -> Answer:
    return {key: booking[key] for key in ("bookingId", "start", "end", "title")}


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _digits(phone: str | None) -> str:
    return "".join(letter for letter in phone or "" if letter in "+0123456789")
