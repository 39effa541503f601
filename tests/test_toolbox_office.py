"""The office stand-in (leads, calendar, invoices, alerts) and the booking link."""

from __future__ import annotations

import stat
from datetime import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality_lab.errors import InputError, UsageError
from quality_lab.toolbox.booking import (
    booking_file,
    booking_tools,
    check_booking_url,
    delete_booking_url,
    get_booking_url,
    set_booking_url,
)
from quality_lab.toolbox.hand_clock import STORY_BEGINS, HandClock
from quality_lab.toolbox.office import Office, OpeningHours
from quality_lab.toolbox.office_tools import office_tools
from quality_lab.toolloop import ToolContext

MEET = {"title": "Viewing", "attendee": "Mia Example"}


def call(office: Office, called: str, /, **args: Any) -> Any:
    tool = next(tool for tool in office_tools(office, 12) if tool.name == called)
    assert tool.problems(args) == []
    return tool.execute(args, ToolContext())


def test_the_four_tools_state_their_effects():
    assert [(tool.name, tool.effect) for tool in office_tools(Office())] == [
        ("create_crm_lead", "write"),
        ("book_calendar_slot", "write"),
        ("issue_payment_invoice", "irreversible"),
        ("alert_operator", "irreversible"),
    ]


def test_a_lead_needs_a_way_to_reach_it_and_is_made_once_per_phone_or_address():
    office = Office()

    told = [
        call(office, "create_crm_lead", name="Mia"),
        call(office, "create_crm_lead", name="Mia", phone="+1 555 0100"),
        call(office, "create_crm_lead", name="M. Example", phone="+1-555-0100", email="Mia@example.com"),
        call(office, "create_crm_lead", name="Tom", email="tom@example.com"),
        call(office, "create_crm_lead", name="Tom", email="TOM@example.com"),
    ]

    assert "phone number or an e-mail address" in told[0]["error"]
    assert told[1:] == [
        {"leadId": 1, "stage": "new"},
        {"leadId": 1, "stage": "new", "idempotent": True},
        {"leadId": 2, "stage": "new"},
        {"leadId": 2, "stage": "new", "idempotent": True},
    ]
    assert [lead["name"] for lead in office.state()["leads"]] == ["Mia", "Tom"]


def test_a_slot_is_booked_in_the_office_s_own_time_and_told_in_utc():
    office = Office(hours=OpeningHours(tz="Asia/Bangkok"))  # UTC+7

    booked = call(office, "book_calendar_slot", start="2026-06-10T11:00", durationMin=45, **MEET)

    assert booked == {
        "bookingId": 1,
        "start": "2026-06-10T04:00:00Z",
        "end": "2026-06-10T04:45:00Z",
        "title": "Viewing",
    }


def test_the_same_booking_again_is_idempotent_and_another_person_gets_the_next_free_times():
    office = Office()
    call(office, "book_calendar_slot", start="2026-06-10T10:00Z", durationMin=60, **MEET)

    again = call(office, "book_calendar_slot", start="2026-06-10T12:00+02:00", durationMin=60, **MEET)
    other = call(office, "book_calendar_slot", start="2026-06-10T10:30Z", title="Viewing", attendee="Tom")
    beside = call(office, "book_calendar_slot", start="2026-06-10T11:00Z", title="Viewing", attendee="Tom")

    assert (again["bookingId"], again["idempotent"]) == (1, True)
    assert other == {
        "error": "That time is taken.",
        "alternatives": ["2026-06-10T11:00:00Z", "2026-06-10T11:30:00Z", "2026-06-10T12:00:00Z"],
    }
    assert beside["bookingId"] == 2


@pytest.mark.parametrize(
    ("start", "error", "first"),
    [
        # now is Tuesday 9 June 2026, 10:13:20 UTC
        ("2026-06-09T10:00Z", "That time is past.", "2026-06-09T10:30:00Z"),
        ("2026-06-09T17:45Z", "The office is closed then.", "2026-06-09T10:30:00Z"),
        ("2026-06-13T11:00Z", "The office is closed then.", "2026-06-15T10:00:00Z"),  # a Saturday
        ("9999-12-31T23:59Z", "start lies outside of the calendar: 9999-12-31T23:59Z", None),
        ("tomorrow", "start is no date and time: tomorrow. Write it as 2026-06-10T11:00.", None),
    ],
)
def test_a_time_that_cannot_be_is_refused_with_the_next_that_can(start, error, first):
    office = Office()

    told = call(office, "book_calendar_slot", start=start, **MEET)

    assert told["error"] == error
    assert told.get("alternatives", [None])[0] == first
    assert office.state()["bookings"] == []


@given(
    st.lists(
        st.tuples(st.integers(0, 5 * 24 * 4), st.integers(5, 120), st.sampled_from(["Mia", "Tom", "Lea"])),
        max_size=12,
    )
)
def test_no_two_bookings_ever_overlap_and_every_alternative_can_be_booked(wishes):
    office = Office(hours=OpeningHours(opens=time(9), closes=time(17)))

    for quarter, minutes, attendee in wishes:
        start = f"2026-06-{10 + quarter // 96:02d}T{quarter % 96 // 4:02d}:{quarter % 4 * 15:02d}Z"
        args = {"durationMin": minutes, "title": "t", "attendee": attendee}
        told = call(office, "book_calendar_slot", start=start, **args)
        for free in told.get("alternatives", [])[:1]:
            assert "bookingId" in call(office, "book_calendar_slot", start=free, **args)

    spans = sorted((booking["start"], booking["end"]) for booking in office.state()["bookings"])
    assert all(earlier[1] <= later[0] for earlier, later in zip(spans, spans[1:], strict=False))


def test_an_invoice_keeps_the_amount_to_the_cent_and_each_call_issues_another():
    office = Office()
    bill = {"amount": 1250.1, "currency": "THB", "description": "Deposit"}

    first = call(office, "issue_payment_invoice", **bill)
    second = call(office, "issue_payment_invoice", **bill)
    refused = call(office, "issue_payment_invoice", **{**bill, "amount": 0.001})

    assert first == {
        "invoiceId": "INV-00001",
        "status": "issued",
        "amount": 1250.1,
        "currency": "THB",
        "description": "Deposit",
        "paymentUrl": "https://pay.example.com/INV-00001",
        "expiresAt": STORY_BEGINS + 7 * 24 * 3600,
    }
    assert second["invoiceId"] == "INV-00002"
    assert refused == {"error": "amount has more than two decimal places: 0.001"}
    assert len(office.state()["invoices"]) == 2


def test_an_alert_reaches_the_operator_with_the_conversation_it_came_from():
    office = Office(clock=HandClock(1_781_000_777))

    told = call(office, "alert_operator", message="The client threatens to complain")

    assert told == {"alertId": 1, "delivered": True, "severity": "medium"}
    assert office.state()["alerts"] == [
        {
            "alertId": 1,
            "message": "The client threatens to complain",
            "severity": "medium",
            "conversationId": "12",
            "at": 1_781_000_777,
        }
    ]


# ---- the booking link -----------------------------------------------------------------------------------


def test_the_booking_tool_is_offered_only_while_a_link_is_set(tmp_path: Path):
    before = booking_tools(get_booking_url(tmp_path))
    set_booking_url(tmp_path, " https://book.example.com/me?x=1 ")
    while_set = booking_tools(get_booking_url(tmp_path))
    removed = delete_booking_url(tmp_path), delete_booking_url(tmp_path)

    assert before == []
    assert [(tool.name, tool.effect) for tool in while_set] == [("offer_booking_link", "read")]
    assert while_set[0].execute({}, ToolContext()) == {"url": "https://book.example.com/me?x=1"}
    assert removed == (True, False)
    assert get_booking_url(tmp_path) is None


def test_the_link_lies_in_a_file_that_only_its_owner_can_read_one_per_tenant(tmp_path: Path):
    set_booking_url(tmp_path, "https://old.example.com")
    set_booking_url(tmp_path, "https://book.example.com")
    set_booking_url(tmp_path, "https://other.example.com", "acme")

    path = booking_file(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert sorted(file.name for file in path.parent.iterdir()) == ["booking-acme.url", "booking-default.url"]
    assert get_booking_url(tmp_path) == "https://book.example.com"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "url required"),
        ("  ", "url required"),
        ("ftp://example.com", "url must use http or https"),
        ("javascript:alert(1)", "url must use http or https"),
        ("example.com/x", "invalid url format"),
        ("https://", "invalid url format"),
        ("https://exa mple.com", "invalid url format"),
        ("https://example.com:99999", "invalid url format"),
        ("https://[::1", "invalid url format"),
        ("https://example.com/<script>", "invalid url format"),
    ],
)
def test_a_booking_link_is_refused_in_production_s_words(url, message):
    with pytest.raises(UsageError, match=f"^{message}$"):
        check_booking_url(url)


@pytest.mark.parametrize("tenant", ["../x", "", "a/b", ".hidden", "x" * 65])
def test_a_tenant_cannot_lead_out_of_the_folder(tmp_path: Path, tenant):
    with pytest.raises(UsageError, match="a tenant is named by"):
        booking_file(tmp_path, tenant)


def test_a_link_that_cannot_be_read_is_said_with_its_path(tmp_path: Path):
    booking_file(tmp_path).mkdir(parents=True)

    with pytest.raises(InputError, match=r"booking-default\.url cannot be read"):
        get_booking_url(tmp_path)
