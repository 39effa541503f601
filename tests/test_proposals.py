"""Proposals: grouped as upstream groups, rated over what was reviewed, and honest about what came back."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from lab_builder import MONDAY, LabBuilder

from quality_lab.intervals import Sums, rate
from quality_lab.metrics import Filters
from quality_lab.proposals import proposals
from quality_lab.proposals.argument_paths import clues
from quality_lab.proposals.error_words import error_words, signature_of
from quality_lab.proposals.evidence import Evidence

ERROR = {"is_error": True, "error_origin": "flag"}
QUOTE = "schema_fix:rag_reply:compute_exchange_quote:bad_args"


@pytest.fixture
def builder(tmp_path):
    return LabBuilder(tmp_path)


def reviewed(builder, bad: int, good: int, label: str = "bad_args", **given) -> None:
    for call in builder.calls(bad, **given):
        builder.label(call, label)
    for call in builder.calls(good, **given):
        builder.label(call, "good_reply")


def test_a_group_has_its_rate_over_the_reviewed_calls_of_its_tool_and_source(builder):
    reviewed(builder, bad=6, good=27)
    builder.calls(50)  # nobody looked at these
    reviewed(builder, bad=0, good=10, source="llm_reply")
    reviewed(builder, bad=0, good=10, tool_name="other_tool")

    answer = proposals(builder.store())

    (one,) = answer
    expected = rate(Sums(n=33, y=6, conversations=33, yy=6, ym=6, mm=33))
    assert expected is not None
    assert (one.fingerprint, one.kind, one.label, one.tool_name, one.source) == (
        QUOTE,
        "schema_fix",
        "bad_args",
        "compute_exchange_quote",
        "rag_reply",
    )
    assert (one.feedback_count, one.calls, one.reviewed, one.error_count) == (6, 6, 33, 0)
    assert (one.rate, one.low, one.high) == (expected.value, expected.low, expected.high)
    assert one.calls_per_week == 83
    assert one.impact == pytest.approx(83 * expected.low)
    assert (one.state, one.recurred, one.flags) == ("pending", False, ())


def test_label_tool_and_source_make_a_group_and_error_texts_do_not(builder):
    for label in ("bad_args", "wrong_tool", "missing_tool", "other", "good_reply"):
        for tool in ("a", "b"):
            for source in ("rag_reply", None):
                for error in ("no such order 17", "time-out"):
                    call = builder.call(tool, source=source, result=json.dumps({"error": error}), **ERROR)
                    builder.label(call, label)

    answer = proposals(builder.store(), top=None)

    assert {(row.label, row.tool_name, row.source) for row in answer} == {
        (label, tool, source)
        for label in ("bad_args", "wrong_tool", "missing_tool")
        for tool in ("a", "b")
        for source in ("rag_reply", None)
    }
    assert {(row.feedback_count, row.error_count) for row in answer} == {(2, 2)}
    assert {one.signature for one in answer[0].signatures} == {"no such order <n>", "time-out"}
    assert {row.fingerprint for row in answer if row.source is None} >= {"schema_fix::a:bad_args"}


@pytest.mark.parametrize(
    ("bad", "good", "made", "severity"),
    [
        (8, 22, 30, "high"),  # 27 %, at least 13 %
        (3, 37, 40, "low"),  # 7.5 %, at least 2.6 % of 40 calls a week
        (4, 36, 40, "medium"),  # 10 %, at least 3.9 %
        (3, 37, 200, "medium"),  # at least 2.6 % of 200 calls a week: 5
        (3, 37, 900, "high"),  # at least 2.6 % of 900 calls a week: 23
    ],
)
def test_severity_comes_from_the_lower_bound_or_the_calls_a_week_that_it_means(
    builder, bad, good, made, severity
):
    reviewed(builder, bad=bad, good=good)
    builder.calls(made - bad - good)

    assert proposals(builder.store())[0].severity == severity


@pytest.mark.parametrize(
    ("given", "errors", "severity"),
    [(5, 0, "high"), (3, 3, "high"), (2, 0, "medium"), (1, 1, "medium"), (1, 0, "low")],
)
def test_without_a_trace_export_upstreams_rule_stands_in_and_says_so(builder, given, errors, severity):
    for number in range(given):
        kind = ERROR if number < errors else {}
        builder.label(builder.call(seen_in="feedback", conversation_id=str(number), **kind), "bad_args")

    answer = proposals(builder.store())

    (one,) = answer
    assert (one.severity, one.rate, one.low, one.impact, one.calls) == (severity, None, None, None, given)
    assert one.flags == ("no_trace_export", "severity_by_counts")
    assert answer.notes[0].startswith("no_trace_export: ")
    assert one.summary.endswith("without a trace export nobody can say how often that is.")


def test_labels_on_a_guards_rows_are_a_group_without_a_rate(builder):
    builder.calls(3)
    builder.label(builder.guard("unbacked_quote"), "missing_tool")

    answer = proposals(builder.store())

    (one,) = answer
    assert (one.tool_name, one.rate, one.flags) == (
        "exchange_response_guard",
        None,
        ("guard_rows", "severity_by_counts"),
    )
    assert answer.notes == ()


def test_a_disputed_call_is_labelled_and_reviewed_but_not_judged_so(builder):
    disputed, clear = builder.calls(2)
    builder.label(disputed, "bad_args", "anna")
    builder.label(disputed, "good_reply", "bob")
    builder.label(clear, "bad_args", "anna")

    (one,) = proposals(builder.store())

    assert (one.feedback_count, one.calls, one.reviewed, one.rate) == (2, 1, 2, 0.5)


def test_the_window_bounds_labels_and_what_they_are_shares_of(builder):
    for week, label in enumerate(("bad_args", "good_reply")):
        for call in builder.calls(4, created_at=MONDAY + timedelta(days=7 * week)):
            builder.label(call, label)
    store = builder.store()

    (first,) = proposals(store, filters=Filters.of(until="2026-06-08"))
    later = proposals(store, filters=Filters.of(since="2026-06-08"))

    assert (first.reviewed, first.rate, first.calls_per_week) == (4, 1.0, 4)
    assert len(later) == 0


def test_the_worst_comes_first_and_the_rest_is_counted(builder):
    reviewed(builder, bad=1, good=60, tool_name="mild")
    reviewed(builder, bad=20, good=20, tool_name="bad")
    reviewed(builder, bad=30, good=10, tool_name="worse")
    store = builder.store()

    answer = proposals(store, top=2)

    assert [row.tool_name for row in answer] == ["worse", "bad"]
    assert answer.more == 1
    assert [row.severity for row in proposals(store)] == ["high", "high", "low"]


def test_a_fault_has_recurred_where_a_call_was_made_at_or_after_the_decision(builder):
    decided_at = MONDAY + timedelta(days=2)
    builder.tracked(QUOTE, "applied", decided_at=decided_at)
    builder.label(builder.call(created_at=MONDAY), "bad_args", created_at=MONDAY + timedelta(days=5))
    builder.label(builder.call(created_at=decided_at), "bad_args")
    builder.label(builder.call(created_at=None), "bad_args")

    (one,) = proposals(builder.store())

    assert (one.state, one.recurred, one.decided_at) == ("applied", True, decided_at)
    assert (one.calls_since_decision, one.undated_calls) == (1, 1)
    assert one.rationale[0] == "It was decided on 2026-06-03, and such calls were made after that."


@pytest.mark.parametrize(
    ("label", "made"),
    [("good_reply", timedelta(days=3)), ("wrong_tool", timedelta(days=3)), ("bad_args", timedelta())],
)
def test_praise_other_labels_and_calls_made_before_are_no_recurrence(builder, label, made):
    builder.tracked(QUOTE, "dismissed", decided_at=MONDAY + timedelta(days=2))
    builder.label(builder.call(created_at=MONDAY), "bad_args")
    builder.label(builder.call(created_at=MONDAY + made), label, created_at=MONDAY + timedelta(days=9))

    found = {row.fingerprint: row for row in proposals(builder.store())}

    assert (found[QUOTE].state, found[QUOTE].recurred) == ("dismissed", False)


def test_a_label_that_its_reviewer_took_back_is_no_recurrence(builder):
    builder.tracked(QUOTE, "applied", decided_at=MONDAY + timedelta(days=2))
    builder.label(builder.call(created_at=MONDAY), "bad_args")
    late = builder.call(created_at=MONDAY + timedelta(days=3))
    builder.label(late, "bad_args", created_at=MONDAY + timedelta(days=4))
    builder.label(late, "good_reply", created_at=MONDAY + timedelta(days=5))

    assert not proposals(builder.store())[0].recurred


def test_whether_a_fault_came_back_does_not_depend_on_the_window(builder):
    builder.tracked(QUOTE, "applied", decided_at=MONDAY)
    builder.label(builder.call(created_at=MONDAY + timedelta(days=1)), "bad_args")
    old = builder.call(created_at=MONDAY - timedelta(days=30))
    builder.label(old, "bad_args")

    (one,) = proposals(builder.store(), filters=Filters.of(until="2026-05-20"))

    assert (one.feedback_count, one.recurred) == (1, True)


def test_the_tracked_record_that_was_updated_last_is_the_state(builder):
    builder.tracked(QUOTE, "applied", decided_at=MONDAY, updated_at=MONDAY)
    builder.tracked(QUOTE, "pending", updated_at=MONDAY + timedelta(days=1))
    builder.tracked(QUOTE, None, updated_at=MONDAY + timedelta(days=2))  # a preview decides nothing
    builder.label(builder.call(created_at=MONDAY + timedelta(days=3)), "bad_args")

    (one,) = proposals(builder.store())

    assert (one.state, one.recurred) == ("pending", False)


def test_an_example_shows_what_its_call_was_given_whenever_that_was(builder):
    times = {"old": MONDAY - timedelta(days=90), "new": MONDAY, "undated": None}
    for name, created_at in times.items():
        call = builder.call(arguments=f'{{"of":"{name}"}}', created_at=created_at, conversation_id=name)
        builder.label(call, "bad_args")

    store = builder.store()

    for filters in (Filters(), Filters(source=("rag_reply",))):
        (one,) = proposals(store, filters=filters)
        assert {example.arguments for example in one.examples} == {f'{{"of":"{name}"}}' for name in times}
    (one,) = proposals(store, filters=Filters(since="2026-06-01", time="call"))
    assert [example.arguments for example in one.examples] == ['{"of":"new"}']


def test_examples_show_noted_calls_first_and_no_call_twice(builder):
    noted, debated, plain = builder.calls(3, arguments='{"amount":5}')
    builder.label(noted, "bad_args", note="THB, not USDT")
    builder.label(debated, "bad_args", "anna", created_at=MONDAY + timedelta(hours=3))
    builder.label(debated, "bad_args", "bob", created_at=MONDAY + timedelta(hours=4))
    builder.label(plain, "bad_args", created_at=MONDAY + timedelta(hours=5))

    (one,) = proposals(builder.store())

    assert [example.note for example in one.examples] == ["THB, not USDT", None, None]
    assert len({example.call_uid for example in one.examples}) == 3
    assert one.examples[0].arguments == '{"amount":5}'
    assert (one.examples[0].reviewer, one.examples[0].conversation_id) == ("anna", noted.conversation_id)


def test_a_proposal_says_in_words_what_its_numbers_say(builder):
    reviewed(builder, bad=6, good=27)

    (one,) = proposals(builder.store())

    assert one.title == "Make the arguments of compute_exchange_quote harder to get wrong"
    assert one.summary == (
        "6 of 33 reviewed calls of compute_exchange_quote in rag_reply were judged bad_args: "
        "18 % (8.3 % to 35 %); it is called 33 times a week."
    )
    assert one.rationale[0] == "6 labels bad_args on 6 calls; 0 of them on a call that failed."
    assert len(one.action_items) == 3


def test_the_argument_that_reviewers_name_is_a_sub_row_and_the_place_to_start(builder):
    for number in range(5):
        call = builder.call(
            arguments='{"asset":"USDT","amountMode":"source_amount"}', conversation_id=f"b{number}"
        )
        builder.label(call, "bad_args", note="amountMode is the wrong way round" if number < 2 else None)
    reviewed(builder, bad=0, good=8, arguments='{"asset":"USDT","amountMode":"target_thb"}')

    (one,) = proposals(builder.store())

    assert [(sign.signature, sign.calls, sign.of, sign.kind, sign.detail) for sign in one.signatures] == [
        ("$.amountMode", 5, 5, "argument", 'often "source_amount"')
    ]
    assert one.action_items[0] == "Start with $.amountMode: 5 of 5 calls point there."


def test_the_tool_that_reviewers_name_is_a_sub_row(builder):
    for call in builder.calls(3):
        builder.label(call, "wrong_tool", expected_tool="get_rates")

    (one,) = proposals(builder.store())

    assert [(sign.signature, sign.calls, sign.kind) for sign in one.signatures] == [
        ("get_rates", 3, "expected_tool")
    ]


# ---- which arguments ----


def piece(uid: str, arguments: object, **given) -> Evidence:
    values = dict.fromkeys(Evidence.__dataclass_fields__)
    values |= {"call_uid": uid, "label": "bad_args", "arguments": json.dumps(arguments)}
    return Evidence(**values | given)


def found(bad: list[Evidence], rest: list[Evidence] = ()) -> set[tuple[str, str, str | None]]:
    return {(clue.call_uid, clue.path, clue.detail) for clue in clues(bad, list(rest))}


GOOD = [piece(f"g{number}", {"amount": number, "asset": "USDT"}, label="good_reply") for number in range(10)]


def test_expected_arguments_say_exactly_what_was_wrong():
    bad = piece(
        "b",
        {"amount": 5, "asset": "THB", "extra": 1},
        expected_arguments='{"amount":5,"asset":"USDT","net":"x"}',
    )

    assert found([bad], GOOD) == {
        ("b", "$.asset", "other value expected"),
        ("b", "$.extra", "not wanted"),
        ("b", "$.net", "missing"),
    }


@pytest.mark.parametrize(
    ("note", "paths"),
    [
        ("amountMode wrong", {"$.amountMode"}),
        ("the amount mode is wrong", {"$.amountMode"}),
        ("should be target_thb here", {"$.amountMode"}),
        ("The amount is wrong", {"$.amount"}),
        ("quoted as source_amount", {"$.amountMode"}),
        ("dramatically amounting", set()),
    ],
)
def test_a_note_names_an_argument_by_its_name_or_by_a_value_spelt_like_code(note, paths):
    bad = piece("b", {"amount": 5, "amountMode": "source_amount"}, note=note)
    rest = [piece("g", {"amount": 5, "amountMode": "target_thb"}, label="good_reply")]

    assert {path for _, path, _ in found([bad], rest)} == paths


def test_what_others_usually_give_and_this_call_does_not_stands_out():
    assert found([piece("b", {"asset": "USDT"})], GOOD) == {("b", "$.amount", "missing")}
    assert found([piece("b", {"amount": "5", "asset": "USDT"})], GOOD) == {
        ("b", "$.amount", "text, elsewhere number")
    }
    assert found([piece("b", {"amount": 5, "asset": "USDT", "odd": 1})], GOOD) == {
        ("b", "$.odd", "elsewhere left out")
    }
    assert found([piece("b", {"amount": 5, "asset": "USDT"})], GOOD) == set()


def test_a_value_that_bad_calls_share_and_others_rarely_have_stands_out():
    bad = [piece(f"b{number}", {"amount": number, "asset": "THB"}) for number in range(3)]

    assert found(bad, GOOD) == {(f"b{number}", "$.asset", 'often "THB"') for number in range(3)}


@pytest.mark.parametrize("usual", range(16, 60))
def test_a_label_on_one_call_more_takes_the_cause_that_reviewers_named_from_no_call(usual):
    bad = [
        piece(f"b{number}", {"mode": "source"}, note="the mode is wrong" if number < 4 else "again")
        for number in range(13)
    ]
    rest = [piece(f"g{number}", {"mode": "source"}, label="good_reply") for number in range(usual)]
    rest += [piece(f"t{number}", {"mode": "target"}, label="good_reply") for number in range(4)]

    assert {uid for uid, path, _ in found(bad, rest) if path == "$.mode"} == {one.call_uid for one in bad}


def test_a_value_that_every_other_call_has_is_no_cause_where_nobody_named_it():
    bad = [
        piece(f"b{number}", {"mode": "source"}, note="the mode is wrong" if number < 4 else "again")
        for number in range(13)
    ]
    rest = [piece(f"g{number}", {"mode": "source"}, label="good_reply") for number in range(20)]

    assert {uid for uid, _, _ in found(bad, rest)} == {f"b{number}" for number in range(4)}


def test_a_handful_of_other_calls_makes_nothing_usual():
    assert found([piece("b", {})], GOOD[:4]) == set()


@pytest.mark.parametrize("arguments", ["not json", "[]", "null", '"text"', None, '{"a":' * 5000])
def test_arguments_that_are_no_object_have_no_paths(arguments):
    bad = Evidence(
        **{**dict.fromkeys(Evidence.__dataclass_fields__), "call_uid": "b", "arguments": arguments}
    )

    assert all(detail == "missing" for _, _, detail in found([bad], GOOD))


# ---- error texts ----


@pytest.mark.parametrize(
    ("text", "signature"),
    [
        ("Flight HAT123 not found", "Flight <id> not found"),
        ("user_4711 has 3 orders, 2.50 USD", "<id> has <n> orders, <n> USD"),
        ("can't book at 2026-06-01T08:00:00Z", "can't book at <time>"),
        ("'name' is required, \"age\" too", "<text> is required, <text> too"),
        ("see https://example.com/a?b=1  or ask ann@example.com", "see <url> or ask <address>"),
        ("id 0b8e4a52-6a4b-4c29-9d3c-1d2e3f405162", "id <id>"),
        ("x" * 200, "x" * 119 + "…"),
    ],
)
def test_what_changes_from_call_to_call_is_taken_out_of_an_error(text, signature):
    assert signature_of(text) == signature


@pytest.mark.parametrize(
    ("error_text", "result", "words"),
    [
        ("boom", '{"error":"other"}', "boom"),
        (None, '{"error":"no rate"}', "no rate"),
        (None, '{"error":{"message":"nested"}}', "nested"),
        (None, '{"ok":false,"reason":"not confirmed"}', "not confirmed"),
        (None, '"Error: plain"', "Error: plain"),
        (None, "not json", None),
        (None, '{"ok":false}', None),
        (None, None, None),
    ],
)
def test_the_words_of_an_error_come_from_the_format_or_from_the_result(error_text, result, words):
    assert error_words(error_text, result) == words


@pytest.mark.parametrize("made_at", [MONDAY - timedelta(days=900), None], ids=["long ago", "undated"])
def test_a_filtered_proposal_shows_calls_however_old_they_are(builder, made_at):
    reviewed(builder, bad=30, good=5)
    old = builder.call(created_at=made_at, arguments='{"amount": 1}', result='{"error": "no such rate"}')
    builder.label(old, "bad_args", note="in baht", created_at=MONDAY + timedelta(days=1))

    filtered = proposals(builder.store(), filters=Filters.of(source="rag_reply"))

    (one,) = filtered
    [shown] = [example for example in one.examples if example.note == "in baht"]
    assert (shown.arguments, shown.result) == ('{"amount": 1}', '{"error": "no such rate"}')
    assert len(one.examples) == 5
