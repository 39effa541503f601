"""What the people of the story say: reviewers' notes, guarded replies, and the company's own facts.

Everybody and everything here is invented: addresses are at example.com, telephone numbers begin with +1 555.
"""

from __future__ import annotations

COMPANY = "Harbour Lane Exchange"

REVIEWERS = {3: "dana@example.com", 5: "tomas@example.com", 8: "priya@example.com"}
NAMES = {3: "Dana", 5: "Tomas", 8: "Priya"}

PAYERS = [
    "Mila Example",
    "Jonas Sample",
    "Odile Testwell",
    "Ravi Placeholder",
    "Greta Mockford",
    "Sam Fixture",
]
BANKS = ["Example Bank", "Sample Savings", "First Invented Bank"]
OFFICES = ["Harbour Lane 12, ground floor", "Old Pier Market, stall 40"]

# {asset} and {amount} are those of the call. Each list belongs to one judgement about one kind of call.
NOTES: dict[str, list[str | None]] = {
    "quote_good": [
        *[None] * 13,
        "Right mode, right amount.",
        "ok",
        "Checked against the board, rate is fine.",
        "Good. Short and to the point.",
        "Clean quote, client said thanks and came back the next day.",
        "Fine, though two sentences would have been enough.",
        "Amount and asset as the client wrote them.",
        "Correct. Nothing to add.",
        "Good, and quick.",
        "Rate of the day, and it said until when it holds. That is how I want it.",
        "fine",
    ],
    "quote_baht_first": [
        "They wrote baht. amountMode must be target_thb then.",
        "Mode is wrong: {amount} baht is what the client wants to get, not what they pay.",
        "{amount} {asset}? They asked for {amount} baht.",
    ],
    "quote_baht": [
        "Client named {amount} baht. The agent quoted {amount} {asset}.",
        "Mode is wrong: the person wants to RECEIVE {amount} THB, this treats it as what they pay.",
        "amountMode should be target_thb here.",
        "Baht again read as {asset}. Second one I see today.",
        '"I need {amount} baht in hand" became source_amount. The total is absurd and nobody stopped it.',
        "Quoted {amount} {asset} to somebody who asked for {amount} baht. They left.",
        "source_amount for a baht amount, see the client's first line",
        "wrong amountMode",
        "The number is right, the direction is not. Should have been target_thb.",
        "Client corrected the agent twice, it still sends source_amount.",
        "This used to work! Same question two weeks ago was quoted correctly.",
        "baht amount passed as {asset}",
        "Should be what they get, not what they pay",
        "Same again: {amount} in baht, quoted as {amount} {asset}. Did something change on Monday?",
        "The client even wrote THB. Still source_amount.",
        "again",
    ],
    "quote_baht_lenient": [
        "The client did not complain, so I would let it pass.",
        "Ambiguous message, could be read either way.",
        "They sorted it out in the next message. Fine by me.",
    ],
    "quote_other": [
        "Quote is right, tone is cold. We do greet people.",
        "Right numbers, but it answered in English to a client who wrote in French.",
        "Correct, yet it pushed the office visit twice.",
    ],
    "payment_other": [
        "Refused, then accepted a little later with nothing changed. What does this check look at?",
        "Tool says no, the money is there, I looked. Not the model's fault.",
        "The client had to ask for the same check twice before it went through.",
    ],
    "payment_refused": ["Refusing was right, the client sent an old receipt. The wording was rude."],
    "payment_good": [None, "Paid and confirmed, as it should be.", "ok", None],
    "slots_other": [
        "Came back empty. I looked into the calendar: four free slots that day.",
        "The agent said we are full. We were not, the answer was simply empty.",
        "Empty answer, no error, and a client sent away. Third time this week.",
    ],
    "slots_bad_args": ["The client wrote the day after. It looked up the day before."],
    "slots_good": [None, "Offered three times, client took the first.", None, "good"],
    "requisites_early": [
        "Asked for the payment details before the client was verified. Of course it was refused.",
        "No order yet. Why does it fetch the wallet at this point?",
    ],
    "requisites_good": [None, "Details after the order, correct.", None, "fine"],
    "order_good": [None, "All fields as agreed.", "ok"],
    "verification_wrong": [
        "Verified last week in another conversation. No need to look it up again.",
        "Second look-up for this client, one is enough.",
    ],
    "verification_good": [None, "fine, cheap to check", "Compliance wants it, so good."],
    "no_status": [
        "Client asks where the payout is. There is no tool that can look up the status of an order.",
        "Payout status again. It reads out opening hours because that is all it has.",
        'We need an order status lookup. The agent promised "within the hour" out of thin air.',
        '"Where is my money?" and no way to see the payout status, so it made something up.',
        "Third client this week who wants the status of a payout. Missing tool, not a missing skill.",
        "No status tool: it should hand over to an operator instead of guessing when the payout comes.",
        "Order paid yesterday, client asks for the payout status, agent answers with our address.",
    ],
    "no_status_verified": [
        "Asked for the payout status, looked up the verification, because nothing can look up an order.",
    ],
    "no_status_guard": [
        "Guard was right: the payout code was invented. There is no payout status lookup behind it.",
        "Agent made up a payout code because it cannot look up the order status.",
        "Good that this was stopped. Give it a status tool.",
    ],
    "no_status_other": ["A person should answer this one, tool or no tool."],
    "guard_other": ["The guard is too strict here.", "Rewrite reads better than the original, fine."],
    "info_good": [None, "Hours and address, correct.", "ok", None, "Right answer, short."],
    "no_receipt": ["Client wants a printed receipt for the visa office. We have nothing for that."],
}

CRYPTO_REFUSALS = [
    {"ok": False, "reason": "not confirmed on chain yet"},
    {"ok": False, "error": "no transaction hash in the proof"},
    {"ok": False, "reason": "amount differs from the order"},
]
BANK_REFUSALS = [
    {"ok": False, "reason": "no such transfer in the list of the bank"},
    {"ok": False, "reason": "amount differs from the order"},
]

PAYOUT_CLAIMS = [
    "Your payout is ready, the code is {code}. You can collect it at any machine.",
    "Good news, the transfer was sent an hour ago! Code: {code}.",
    "I can see your order, it is being paid out now. Use code {code} please.",
    "It is on its way. Should you need it, the cash code is {code}.",
    "Your order was completed this morning, here is the code again: {code}",
]
QUOTE_CLAIMS = [
    "For that sum you would get about 41,000 baht today.",
    "Our rate is 33.10, so roughly 66,200 baht.",
]
REQUISITES_CLAIM = "Please send it to the same wallet as last time."
HAGGLING = [
    "For you I can do 33.40, just do not tell anybody.",
    "If you change more than 2,000 I will match the airport's rate.",
]
GUARD_FIXES = {
    "rate_negotiation": "Do not negotiate the rate.",
    "unbacked_quote": "Quote only what the quote tool returned.",
    "unbacked_requisites": "Give payment details only from the tool.",
    "unbacked_payout_code": "Give no payout code without the tool.",
}
OPERATOR_WILL_CONFIRM = "An operator will confirm this for you in a moment."

BUSINESS_FACTS = [
    {"workingHours": "Every day 9:00 to 21:00", "officeAddress": OFFICES[0]},
    {"workingHours": "Every day 9:00 to 21:00", "operatorContact": "+1 555 0142"},
    {
        "officeAddresses": OFFICES,
        "payoutMethods": "office, cash machine without card, courier, bank transfer",
    },
    {"kycPolicy": "Passport photo and one selfie, once a year"},
    {"payoutMethods": "office, cash machine without card, courier, bank transfer"},
]

ACTION_ITEMS = {
    "schema_fix": [
        "Review which arguments are required and which values they may take.",
        "Keep one of the examples as a regression case.",
        "Show a valid call in the prompt.",
    ],
    "routing_prompt_fix": [
        "Write down when to use the tool and when not.",
        "Add an example of a message that must not lead to it.",
        "Run the self-play once more.",
    ],
    "tool_candidate": [
        "Find out whether the tool stood in for one that is missing.",
        "Draft a contract for it, or an answer that says there is none.",
        "Keep a routing case once that is decided.",
    ],
}
