"""The desk at which calls are labelled: messages of a browser in, journal lines and state out."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from lab_builder import LabBuilder

import quality_lab as ql
from quality_lab.errors import UsageError
from quality_lab.jupyter import review
from quality_lab.jupyter.call_card import call_card
from quality_lab.jupyter.review_desk import ReviewDesk

DANA, KIM = "dana@example.com", "kim@example.com"


@pytest.fixture
def builder(tmp_path) -> LabBuilder:
    return LabBuilder(tmp_path)


class Browser:
    """What a page says to a desk, and what it gets."""

    def __init__(self, desk: ReviewDesk) -> None:
        self.desk = desk
        self._ids: Iterator[int] = itertools.count()

    def ask(self, what: str, **more: Any) -> dict[str, Any]:
        return self.desk.reply({"id": str(next(self._ids)), "ask": what, **more})

    def labels(self) -> list[str | None]:
        return [item["label"] for item in self.desk.state()["items"]]


def lab_of(builder: LabBuilder, calls: int = 3) -> tuple[ql.Lab, list[str]]:
    """Return a lab with some calls, and their uids in the order in which they were made."""
    for number in range(calls):
        builder.call(conversation_id=f"c{number}", arguments=f'{{"number":{number}}}')
    builder.store()
    lab = ql.open(builder.home)
    rows = sorted(lab.calls(), key=lambda row: row.conversation_id)
    return lab, [row.call_uid for row in rows]


def written(lab: ql.Lab, shelf: str = "labels") -> list[dict[str, Any]]:
    return list(lab.journal.lines(shelf))


def test_a_label_is_one_line_of_the_journal_and_stands_in_the_lab_when_the_reply_comes(builder):
    lab, (first, *_) = lab_of(builder)
    browser = Browser(ReviewDesk(lab, [first], reviewer=DANA, guide_version="2026-05"))

    reply = browser.ask(
        "label",
        uid=first,
        label="bad_args",
        note=" amount is in baht ",
        expected_tool="",
        expected_arguments='{"amount": 10.00000000000000000001}',
    )

    (line,) = written(lab)
    assert reply["ok"]
    assert reply["voices"]["own"]["label"] == "bad_args"
    assert (line["label"], line["note"], line["author"]) == ("bad_args", "amount is in baht", DANA)
    assert line["guide_version"] == "2026-05"
    assert line["expected_arguments"] == '{"amount": 10.00000000000000000001}'
    assert "expected_tool" not in line
    assert [row.labels for row in lab.calls(label="bad_args")] == [("bad_args",)]


def test_a_question_that_is_put_twice_writes_one_line(builder):
    lab, (first, *_) = lab_of(builder)
    desk = ReviewDesk(lab, [first], reviewer=DANA)
    asked = {"id": "a7", "ask": "label", "uid": first, "label": "other"}

    replies = [desk.reply(asked), desk.reply(asked)]

    assert replies[0] == replies[1]
    assert len(written(lab)) == 1


def test_what_could_not_be_written_is_told_and_goes_well_the_next_time_it_is_put(builder):
    lab, (first, *_) = lab_of(builder)
    desk = ReviewDesk(lab, [first], reviewer=DANA)
    asked = {"id": "a7", "ask": "label", "uid": first, "label": "other"}
    in_the_way = lab.journal.folder
    in_the_way.write_text("a file where the folder should be")

    refused = desk.reply(asked)
    in_the_way.unlink()
    taken = desk.reply(asked)

    assert (refused["ok"], refused["refused"]) == (False, False)
    assert "labels.jsonl cannot be written" in refused["error"]
    assert taken["ok"]
    assert len(written(lab)) == 1
    assert desk.state()["items"][0]["label"] == "other"


def test_arguments_that_are_no_json_object_are_refused_for_what_they_say(builder):
    lab, (first, *_) = lab_of(builder)
    browser = Browser(ReviewDesk(lab, [first], reviewer=DANA))

    reply = browser.ask("label", uid=first, label="bad_args", expected_arguments="[1]")

    assert (reply["ok"], reply["refused"]) == (False, True)
    assert "wanted a JSON object" in reply["error"]
    assert written(lab) == []


@pytest.mark.parametrize("asked", [{"uid": "elsewhere"}, {}, {"uid": ["a"]}])
def test_a_call_that_is_not_in_the_queue_is_refused(builder, asked):
    lab, (first, *_) = lab_of(builder)
    browser = Browser(ReviewDesk(lab, [first], reviewer=DANA))

    reply = browser.ask("label", label="other", **asked)

    assert "wanted a call of this queue" in reply["error"]
    assert written(lab) == []


def test_undo_takes_back_what_was_said_last_wherever_that_was(builder):
    lab, (first, second, _) = lab_of(builder)
    browser = Browser(ReviewDesk(lab, [first, second], reviewer=DANA))
    browser.ask("label", uid=first, label="other")
    browser.ask("label", uid=second, label="bad_args")

    one = browser.ask("undo", uid=first)
    after_one = browser.labels()
    two = browser.ask("undo", uid=first)

    assert (one["uid"], two["uid"]) == (second, first)
    assert after_one == ["other", None]
    assert browser.labels() == [None, None]
    assert len(written(lab)) == 2
    assert len(written(lab, "retractions")) == 2


def test_undo_uncovers_the_label_that_was_given_before(builder):
    lab, (first, *_) = lab_of(builder)
    browser = Browser(ReviewDesk(lab, [first], reviewer=DANA))
    browser.ask("label", uid=first, label="other", note="hm")
    browser.ask("label", uid=first, label="bad_args")

    reply = browser.ask("undo", uid=first)

    assert (reply["voices"]["own"]["label"], reply["voices"]["own"]["note"]) == ("other", "hm")


def test_a_desk_that_is_opened_again_knows_what_was_said_and_can_take_it_back(builder):
    lab, (first, second, _) = lab_of(builder)
    Browser(ReviewDesk(lab, [first], reviewer=DANA)).ask("label", uid=first, label="other", note="hm")
    again = Browser(ReviewDesk(lab, [first, second], reviewer=DANA))
    before = again.labels()

    refused = again.ask("undo", uid=second)
    taken = again.ask("undo", uid=first)

    assert before == ["other", None]
    assert refused["error"] == "there is nothing of yours to take back on this call"
    assert taken["ok"]
    assert again.labels() == [None, None]


def test_what_was_taken_back_on_the_command_line_is_not_taken_back_twice(builder):
    lab, (first, *_) = lab_of(builder)
    browser = Browser(ReviewDesk(lab, [first], reviewer=DANA))
    browser.ask("label", uid=first, label="other")
    lab.undo(reviewer=DANA)

    once, twice = browser.ask("undo", uid=first), browser.ask("undo", uid=first)

    assert "was taken back already" in once["error"]
    assert twice["error"] == "there is nothing of yours to take back on this call"
    assert len(written(lab, "retractions")) == 1


def test_review_is_blind_until_one_has_said_something_oneself(builder):
    lab, (first, *_) = lab_of(builder)
    lab.label(first, "good_reply", note="fine by me", reviewer=KIM)
    browser = Browser(ReviewDesk(lab, [first], reviewer=DANA))

    before = json.dumps(
        [browser.ask("card", uid=first), browser.ask("voices", uid=first), browser.desk.state()]
    )
    said = browser.ask("label", uid=first, label="bad_args")
    gone = browser.ask("undo", uid=first)

    assert KIM not in before
    assert "fine by me" not in before
    assert [(one["who"], one["label"]) for one in said["voices"]["others"]] == [(KIM, "good_reply")]
    assert said["voices"]["disputed"]
    assert gone["voices"]["others"] is None


def test_settling_wins_and_needs_ones_own_label_first(builder):
    lab, (first, *_) = lab_of(builder)
    lab.label(first, "good_reply", reviewer=KIM)
    browser = Browser(ReviewDesk(lab, [first], reviewer=DANA))

    refused = browser.ask("adjudicate", uid=first, label="bad_args")
    browser.ask("label", uid=first, label="other")
    settled = browser.ask("adjudicate", uid=first, label="bad_args", note="we agreed")

    assert refused["refused"]
    assert settled["voices"]["settled"]["note"] == "we agreed"
    assert settled["voices"]["own"]["label"] == "other"
    assert (settled["voices"]["label"], settled["voices"]["disputed"]) == ("bad_args", False)
    assert [line.get("adjudication") for line in written(lab)] == [None, None, True]
    assert [row.labels for row in lab.calls(label="bad_args")] == [("bad_args",)]


def test_an_open_review_shows_what_others_said_and_settles_at_once(builder):
    lab, (first, *_) = lab_of(builder)
    lab.label(first, "good_reply", reviewer=KIM)
    browser = Browser(ReviewDesk(lab, [first], reviewer=DANA, blind=False))

    shown = browser.ask("voices", uid=first)
    settled = browser.ask("adjudicate", uid=first, label="bad_args")

    assert [one["who"] for one in shown["voices"]["others"]] == [KIM]
    assert settled["voices"]["label"] == "bad_args"


def test_anothers_label_shows_on_the_next_ping_even_if_nobody_loaded_it(builder):
    lab, (first, *_) = lab_of(builder)
    browser = Browser(ReviewDesk(lab, [first], reviewer=DANA))
    browser.ask("label", uid=first, label="bad_args")
    browser.ask("ping", uid=first)
    quiet = browser.ask("ping", uid=first)
    lab.journal.append(  # as git brings it
        "labels", {"label": "other", "author_kind": "HUMAN", "call": {"call_uid": first}}, author=KIM
    )

    news = browser.ask("ping", uid=first)

    assert "voices" not in quiet
    assert [(one["who"], one["label"]) for one in news["voices"]["others"]] == [(KIM, "other")]
    assert browser.desk.state()["items"][0]["disputed"]


HOLDER = (
    "import sys, time, duckdb; held = duckdb.connect(sys.argv[1]); print('held', flush=True); time.sleep(60)"
)


@contextmanager
def held(lab: ql.Lab) -> Iterator[int]:
    """Let another process hold the database meanwhile; yield its number."""
    holding = [sys.executable, "-c", HOLDER, str(lab.store.database)]
    with subprocess.Popen(holding, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield holder.pid
        holder.kill()


def test_what_is_said_while_another_process_holds_the_database_is_written_and_the_lab_knows_it_later(builder):
    for one in (builder, LabBuilder(builder.home, tenant="north")):
        one.call()
        one.store()
    lab = ql.open(builder.home)
    uids = {row.tenant: row.call_uid for row in lab.calls()}
    browser = Browser(ReviewDesk(lab, uids.values(), reviewer=DANA))
    asked = {"id": "a7", "ask": "label", "uid": uids["north"], "label": "bad_args", "note": "hm"}

    with held(lab):
        said = browser.desk.reply(asked)
        settled = browser.ask("adjudicate", uid=uids["north"], label="other")
        undone = browser.ask("undo", uid=uids["north"])
        again = browser.desk.reply(asked)
    before = len(lab.calls(label="bad_args"))
    pinged = browser.ask("ping", uid=uids["north"])

    later = "the lab knows it with the next load"
    assert [reply.get("notice") for reply in (said, settled, undone)] == [later] * 3
    assert (said["voices"]["own"]["label"], said["voices"]["own"]["note"]) == ("bad_args", "hm")
    assert (settled["voices"]["settled"]["label"], undone["voices"]["settled"]) == ("other", None)
    assert again == said
    assert [(line.get("tenant"), line["label"]) for line in written(lab)] == [
        ("north", "bad_args"),
        ("north", "other"),
    ]
    assert pinged["voices"]["own"]["label"] == "bad_args"
    assert before == 0
    assert [(row.tenant, row.labels) for row in lab.calls(label="bad_args")] == [("north", ("bad_args",))]


def test_a_card_tells_the_story_around_its_call_and_nobodys_label(builder):
    given, came = (
        '{"amount":1.50,"id":12345678901234567890123}',
        '[{"name":"Sedan","seats":3,"price":{"THB":600,"EUR":15.20}}]',
    )
    call = builder.call(message_position=2, arguments=given, result=came)
    builder.message("user", "15000 baht, please", position=1)
    builder.message("assistant", "Here you are.", position=3)
    builder.label(call, "bad_args", KIM, note="no")
    builder.store()
    lab = ql.open(builder.home)

    card = call_card(lab, lab.calls()[0].call_uid)

    assert [(step["kind"], step["chosen"]) for step in card["story"]] == [
        ("said", False),
        ("called", True),
        ("said", False),
    ]
    assert card["story"][0]["text"] == "15000 baht, please"
    assert card["arguments"]["text"] == '{"amount": 1.50, "id": 12345678901234567890123}'
    assert max(map(len, card["result"]["text"].splitlines())) < 50  # half a page
    assert json.loads(card["editable"]) == {"amount": 1.5, "id": 12345678901234567890123}
    assert KIM not in json.dumps(card)


def test_a_long_conversation_comes_in_part_and_whole_when_asked_for(builder):
    builder.call(message_position=50)
    for position in (*range(50), *range(51, 80)):
        builder.message("user", f"line {position}", position=position)
    builder.store()
    lab = ql.open(builder.home)
    uid = lab.calls()[0].call_uid

    part, whole = call_card(lab, uid), call_card(lab, uid, whole=True)

    assert (part["before"], len(part["story"]), part["after"]) == (20, 30 + 1 + 12, 17)
    assert [step["chosen"] for step in part["story"]].index(True) == 30
    assert (whole["before"], len(whole["story"]), whole["after"]) == (0, 80, 0)


def test_text_that_moves_cursors_or_turns_lines_round_is_shown_as_its_escapes(builder):
    hostile = "\x1b[31m \u202e"
    builder.call(hostile, message_position=2, arguments=json.dumps({"to": hostile}))
    builder.message("user", hostile, position=1)
    builder.store()
    lab = ql.open(builder.home)

    card = call_card(lab, lab.calls()[0].call_uid)

    assert not {"\x1b", "\u202e"} & set(json.dumps(card, ensure_ascii=False))
    assert json.loads(card["editable"]) == {"to": hostile}


def test_a_queue_may_be_any_rows_that_name_calls_or_their_uids(builder):
    lab, (first, second, third) = lab_of(builder)

    widget = review(lab, [*lab.calls(conversation="c0"), second, third, first], reviewer=DANA)

    assert [item["uid"] for item in widget.state["items"]] == [first, second, third]
    assert widget.said == f"A review of 3 calls by {DANA}."


def test_rows_without_a_call_are_refused_and_an_empty_queue_is_none(tmp_path):
    lab = ql.open(tmp_path)

    with pytest.raises(UsageError, match="wanted rows with a call_uid"):
        review(lab, [object()], reviewer=DANA)
    assert review(lab, lab.calls(), reviewer=DANA).state["items"] == []


def test_a_widget_replies_even_where_its_desk_fails_and_keeps_no_trace_text_in_its_state(builder):
    builder.call("secret_tool", arguments='{"word":"plum"}')
    builder.store()
    lab = ql.open(builder.home)
    widget = review(lab, lab.calls(), reviewer=DANA)
    sent: list[dict[str, Any]] = []
    widget.send = sent.append  # type: ignore[method-assign]  # the wire, seen from the kernel

    widget._asked(widget, {"id": "1", "ask": "card", "uid": lab.calls()[0].call_uid}, [])
    widget.desk = None  # type: ignore[assignment]  # a fault of ours
    with pytest.raises(AttributeError):
        widget._asked(widget, {"id": "2", "ask": "ping"}, [])

    assert [(reply["id"], reply["ok"]) for reply in sent] == [("1", True), ("2", False)]
    assert "plum" in json.dumps(sent)
    assert "plum" not in json.dumps(widget.get_state(), default=str)


def queued(lab: ql.Lab, **more: Any) -> Any:
    return lab.queue(size=4, seed=3, author="lee@example.com", **more)


def test_of_a_shared_queue_a_reviewer_sees_the_calls_that_are_asked_of_this_person(builder):
    lab, _ = lab_of(builder, calls=4)
    queue = queued(lab, reviewers=[DANA, KIM])
    (lab.home / "data" / "people.toml").write_text(f'[people]\n"{DANA}" = "Dana"\n7 = "Dana"\n')

    dana, again, lee = (review(lab, queue, reviewer=name) for name in (DANA, "7", "lee@example.com"))

    asked = [row.call_uid for row in queue if DANA in row.reviewers]
    assert 0 < len(asked) < 4
    assert [item["uid"] for item in dana.state["items"]] == asked
    assert again.state["items"] == dana.state["items"]  # another id of the same person
    assert lee.state["items"] == []
    assert (
        dana.aside
        == f"Others are asked about {4 - len(asked)} more call{'s' * (len(asked) < 3)} of the queue."
    )


def test_a_review_opens_at_the_first_call_without_a_label_of_ones_own(builder):
    lab, uids = lab_of(builder)
    lab.label(uids[0], "other", reviewer=DANA)
    lab.label(uids[1], "other", reviewer=KIM)

    widget = review(lab, uids, reviewer=DANA)

    assert widget.place == 1


def test_a_dispute_that_a_queue_asks_about_again_is_labelled_afresh_and_blind(builder):
    call = builder.call(conversation_id="c1")
    builder.label(call, "bad_args", DANA)
    builder.label(call, "good_reply", KIM)
    builder.call(conversation_id="c2")
    builder.store()
    lab = ql.open(builder.home)
    uid = lab.disputes()[0].call_uid
    widget = review(lab, queued(lab, strategy="disputed"), reviewer=DANA)
    browser = Browser(widget.desk)
    before = browser.ask("voices", uid=uid)["voices"]

    said = browser.ask("label", uid=uid, label="good_reply")["voices"]
    later = review(lab, queued(lab, strategy="disputed"), reviewer=DANA).desk.state()["items"]

    assert (before["own"], before["others"]) == (None, None)
    assert (said["own"]["label"], [one["who"] for one in said["others"]]) == ("good_reply", [KIM])
    assert [item["label"] for item in later if item["uid"] == uid] == ["good_reply"]


def test_reviewers_show_under_the_names_that_people_toml_gives_them(builder):
    lab, (first, *_) = lab_of(builder)
    lab.label(first, "good_reply", reviewer="7")
    (lab.home / "data" / "people.toml").write_text('[people]\n7 = "Kim"\n')
    browser = Browser(ReviewDesk(lab, [first], reviewer=DANA))

    said = browser.ask("label", uid=first, label="bad_args")

    assert [one["who"] for one in said["voices"]["others"]] == ["Kim"]


def test_a_label_given_in_sight_of_others_is_noted_as_such_and_counts(builder):
    lab, (first, second, third) = lab_of(builder)
    for uid in (first, second):
        lab.label(uid, "good_reply", reviewer=KIM)
    blind = Browser(ReviewDesk(lab, [first, third], reviewer=DANA))
    seeing = Browser(ReviewDesk(lab, [second], reviewer=DANA, blind=False))

    blind.ask("label", uid=first, label="good_reply")
    blind.ask("label", uid=first, label="bad_args")  # after one's own, Kim's is in sight
    blind.ask("label", uid=third, label="other")
    blind.ask("label", uid=third, label="bad_args")  # nobody else has spoken
    seeing.ask("label", uid=second, label="bad_args")

    danas = [line for line in written(lab) if line["author"] == DANA]
    assert [line.get("blind") for line in danas] == [None, False, None, None, False]
    assert len(lab.rejects()) == 0
    assert len(lab.calls(label="disputed")) == 2


@pytest.mark.slow
def test_the_notebook_draws_one_queue_however_often_it_runs(repository, tmp_path):
    story = repository / "data" / "demo"
    (tmp_path / "data").mkdir()
    lab = ql.open(tmp_path)
    lab.load(story / "exports", story / "journal")

    runs = [lab.report("review", run_name=name, parameters={"reviewer": DANA}) for name in ("one", "two")]

    assert [run.summary["problem"] for run in runs] == [None, None]
    assert len(lab.queues()) == 1
    assert "A review of 20 calls by" in runs[0].html.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_notebook_opens_the_queue_that_the_coach_drew(repository, tmp_path):
    story = repository / "data" / "demo"
    (tmp_path / "data").mkdir()
    lab = ql.open(tmp_path)
    lab.load(story / "exports", story / "journal")
    lab.queue(size=40, reviewers=[DANA, KIM], overlap=0.2, author="coach")

    run = lab.report("review", run_name="danas", parameters={"reviewer": DANA})

    assert run.summary["problem"] is None
    assert len(lab.queues()) == 1
    assert "A review of 24 calls by" in run.html.read_text(encoding="utf-8")


def test_what_a_kernel_wrote_and_could_not_load_any_more_is_there_when_the_review_opens(builder):
    lab, (first, *_) = lab_of(builder)
    line = {"record_type": "label", "label": "other", "author_kind": "HUMAN", "call": {"call_uid": first}}
    lab.journal.append("labels", line, author=DANA)

    browser = Browser(ReviewDesk(lab, [first], reviewer=DANA))

    assert browser.labels() == ["other"]
    assert browser.ask("undo", uid=first)["ok"]
