"""A queue on a real store: who is drawn, with what probability, what the journal keeps of it, and undoing it."""

from __future__ import annotations

import atexit
import json
import shutil
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from test_store_loading import trace, write

from quality_lab.errors import NoData, UsageError
from quality_lab.lab import Lab, open_lab
from quality_lab.sampling import draw_number

CALLS = 60
ERRORS = range(1, 7)  # the calls that failed


def a_call(number: int) -> dict[str, object]:
    """Return a trace in a conversation of its own; the first six failed, three are of a seldom called tool."""
    failed = number in ERRORS
    tool = "hand_over" if number in (21, 22, 23) else "compute_exchange_quote"
    return trace(number, conversationId=number, error=failed, toolName=tool)


@cache
def _loaded() -> Path:
    """Return a home with the calls, loaded once for all tests of a process."""
    folder = Path(mkdtemp(prefix="ql-queue-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    open_lab(folder / "home").load(write(folder / "traces.jsonl", *map(a_call, range(1, CALLS + 1))))
    return folder / "home"


def a_lab(folder: Path) -> Lab:
    """Return a lab of its own with the calls."""
    shutil.copytree(_loaded(), folder / "home")
    return open_lab(folder / "home")


def test_every_call_has_the_probability_of_its_stratum_and_they_sum_to_the_size(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)

    drawn = lab.queue(size=15, seed=7, strategy="errors", author="dana")

    # floor 3: ceil(3·6/60) = 1 of the errors and ceil(3·54/60) = 3 of the rest; the other 11 to errors first
    assert Counter(call.stratum for call in drawn) == {"error": 6, "rest": 9}
    assert {(call.stratum, call.probability) for call in drawn} == {("error", 1.0), ("rest", 9 / 54)}
    assert 6 * 1.0 + 54 * (9 / 54) == len(drawn) == 15


def test_the_calls_with_the_least_random_numbers_are_drawn(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    every = sorted((call.call_uid for call in lab.calls()), key=lambda uid: draw_number(7, uid))

    drawn = lab.queue(size=10, seed=7, strategy="random", author="dana")

    assert [call.call_uid for call in drawn] == every[:10]


def test_a_seed_draws_the_same_calls_in_whatever_order_files_were_loaded(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    forward = a_lab(tmp_path / "a")
    backward = open_lab(tmp_path / "b" / "home")
    for part in (range(60, 30, -1), range(30, 0, -1)):
        backward.load(write(tmp_path / "b" / f"{part[0]}.jsonl", *map(a_call, part)))

    ones, others = (
        lab.queue(size=20, seed=3, reviewers=["dana", "lee"], overlap=0.5, author="dana")
        for lab in (forward, backward)
    )

    assert [(call.call_uid, call.reviewers) for call in ones] == [
        (call.call_uid, call.reviewers) for call in others
    ]
    assert {call.call_uid for call in ones} != {
        call.call_uid for call in forward.queue(size=20, seed=4, author="dana")
    }


def test_calls_that_somebody_labelled_are_not_drawn_and_counted_beside_the_frame(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    for call in lab.calls()[:2]:
        lab.label(call.call_uid, "good_reply", reviewer="lee")

    drawn = lab.queue(size=60, seed=1, strategy="errors", author="dana")

    assert len(drawn) == 58
    assert {call.probability for call in drawn} == {1.0}
    [head] = [line for line in lab.journal.lines("queues") if line["record_type"] == "queue"]
    assert sum(cell["calls"] for cell in head["frame"] if cell["stratum"] == "reviewed") == 2


def test_labels_that_a_colleague_wrote_into_the_journal_count_before_the_draw(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    labelled = [call.call_uid for call in lab.calls()[:50]]
    entries = [{"record_type": "label", "call": {"call_uid": uid}, "label": "good_reply"} for uid in labelled]
    lab.journal.extend("labels", entries, author="lee")

    drawn = lab.queue(size=60, seed=1, strategy="random", author="dana")

    assert len(drawn) == 10
    assert not {call.call_uid for call in drawn} & set(labelled)


def test_a_lab_without_calls_has_no_queue_and_stays_empty(tmp_path: Path) -> None:
    lab = open_lab(tmp_path / "home")

    with pytest.raises(NoData, match="no call is eligible"):
        lab.queue(size=5, author="dana")
    assert not lab.store.exists()


def test_a_cell_that_is_run_again_draws_nothing_anew(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)

    first, again = (lab.queue(size=10, seed=7, reviewers=["dana"], author="dana") for _ in range(2))
    other = lab.queue(size=10, seed=8, reviewers=["dana"], author="dana")

    assert again[0].queue == first[0].queue
    assert other[0].queue != first[0].queue
    assert [row.id for row in lab.queues()] == [other[0].queue, first[0].queue]


def test_a_queue_that_is_taken_back_is_gone_with_its_calls_and_stays_in_the_journal(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    drawn = lab.queue(size=10, seed=7, author="dana")

    lab.undo(reviewer="dana")

    assert len(lab.queues()) == 0
    assert lab.sql("select count(*) as n from queue_calls")["n"][0] == 0
    assert sum(line.get("queue") == drawn[0].queue for line in lab.journal.lines("queues")) == 10
    with pytest.raises(NoData, match="no queue"):
        lab.queue()


def test_a_queue_comes_out_of_the_journal_as_it_was_drawn_when_the_lab_is_made_anew(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    drawn = lab.queue(
        size=12, seed=7, reviewers=["dana", "lee"], overlap=0.25, since="2020-01-01", author="lee"
    )
    line = lab.queues().records()

    lab.load(rebuild=True)

    assert lab.queue().records() == drawn.records()
    assert lab.queues().records() == line
    assert line[0]["filters"] == {"since": "2020-01-01T00:00:00Z"}


def test_lines_of_queues_come_in_in_any_order_twice_and_taken_back(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    gone, stays = (lab.queue(size=5, seed=seed, author="dana")[0].queue for seed in (1, 2))
    lab.undo(gone, reviewer="dana")
    kept = lab.home / "data/journal"
    lines = (kept / "queues.jsonl").read_text("utf-8").splitlines()
    files = [
        write(tmp_path / "first.jsonl", *map(json.loads, lines[:9])),
        write(tmp_path / "second.jsonl", *map(json.loads, lines[3:])),  # a merge left some lines twice
        kept / "retractions.jsonl",
    ]

    tables = []
    for place, order in enumerate((files, files[::-1], files[1:] + files[:1])):
        other = open_lab(tmp_path / f"other-{place}")
        for file in order:
            other.load(file)
        tables.append(
            [other.sql(f"select * from {table} order by key").rows() for table in ("queues", "queue_calls")]
        )

    assert [row[0] for row in tables[0][0]] == [stays]
    assert len(tables[0][1]) == 5
    assert all(found == tables[0] for found in tables)


def test_a_forgotten_call_leaves_its_queue_and_the_others_stay(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    drawn = lab.queue(size=10, seed=7, author="dana")

    lab.forget(conversation=drawn[3].conversation_id)

    left = lab.queue()
    assert [call.call_uid for call in left] == [call.call_uid for call in drawn if call.position != 4]
    assert any("1 of the 10 calls that were drawn" in note for note in left.notes)
    text = (lab.home / "data/journal/queues.jsonl").read_text("utf-8")
    assert drawn[3].call_uid not in text
    assert len(text.splitlines()) == 10


def test_a_queue_of_one_tenant_goes_with_the_tenant(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    lab.load(write(tmp_path / "acme.jsonl", *map(a_call, range(1, 21))), tenant="acme")
    theirs = lab.queue(size=10, seed=1, tenant="acme", author="dana")
    both = lab.queue(size=79, seed=1, strategy="random", author="dana")

    lab.forget(tenant="acme")

    assert len(theirs) == 10
    assert [row.id for row in lab.queues()] == [both[0].queue]
    left = lab.queue()
    assert 59 <= len(left) <= 60
    assert {call.outcome for call in left} == {"ok", "error"}
    assert "acme" not in (lab.home / "data/journal/queues.jsonl").read_text("utf-8")


def test_a_call_is_done_when_as_many_people_as_were_asked_have_labelled_it(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    first, *_ = lab.queue(size=4, seed=7, reviewers=["dana", "lee"], overlap=1.0, author="dana")

    lab.label(first.call_uid, "good_reply", reviewer="dana")
    half = lab.queue()[0]
    lab.label(first.call_uid, "bad_args", reviewer="lee")
    whole = lab.queue()[0]

    assert (half.done_by, half.waiting_for, half.done) == (("dana",), ("lee",), False)
    assert (whole.done_by, whole.waiting_for, whole.done) == (("dana", "lee"), (), True)
    assert [call.position for call in lab.queue(left=True)] == [2, 3, 4]
    assert [(row.reviewer, row.asked, row.done, row.left) for row in lab.queue_progress()] == [
        ("dana", 4, 1, 3),
        ("lee", 4, 1, 3),
    ]


def test_a_person_who_is_asked_by_one_name_and_labels_under_another_is_one_person(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    (lab.home / "data/people.toml").write_text('[people]\n3 = "Dana"\n"dana@example.com" = "Dana"\n', "utf-8")
    first, *_ = lab.queue(size=4, seed=7, reviewers=["Dana", "lee"], overlap=1.0, author="3")

    lab.label(first.call_uid, "good_reply", reviewer="dana@example.com")
    lab.label(first.call_uid, "good_reply", reviewer="3")

    answer = lab.queue()
    assert (answer[0].done, answer[0].waiting_for) == (False, ("lee",))
    assert [(row.reviewer, row.asked, row.left) for row in lab.queue_progress()] == [
        ("3", 4, 3),
        ("lee", 4, 4),
    ]
    assert "Dana: 1 of 4 done, 3 left" in answer.notes
    assert answer.notes[0].startswith("drawn by Dana: ")


def test_a_disputed_call_comes_first_and_waits_for_a_word_after_the_draw(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    uid = next(call.call_uid for call in lab.calls() if call.outcome == "ok")
    lab.label(uid, "good_reply", reviewer="dana")
    lab.label(uid, "bad_args", reviewer="lee")

    drawn = lab.queue(
        size=10, seed=7, strategy="disputed", reviewers=["priya", "sam"], overlap=1.0, author="dana"
    )

    [disputed] = [call for call in drawn if call.stratum == "disputed"]
    assert (disputed.call_uid, disputed.done, disputed.waiting_for) == (uid, False, ("priya", "sam"))
    assert lab.queues()[0].reviewed == 0
    lab.adjudicate(uid, "bad_args", reviewer="tomas")
    assert [call.done for call in lab.queue() if call.call_uid == uid] == [True]
    assert lab.queues()[0].reviewed == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"size": 0}, "at least one call"),
        ({"size": 1, "strategy": "errors"}, "at least 2 calls"),
        ({"size": 5, "strategy": "easy"}, "wanted a strategy"),
        ({"size": 5, "overlap": 0.5, "reviewers": ["dana"]}, "two reviewers"),
        ({"size": 5, "overlap": 1.5, "reviewers": ["dana", "lee"]}, "from 0 to 1"),
        ({"size": 5, "conversation": "c-1"}, "not by conversation"),
        ({"seed": 5}, "drawn with a size"),
    ],
)
def test_a_queue_that_cannot_be_is_refused_and_nothing_is_written(tmp_path: Path, words, said) -> None:
    lab = a_lab(tmp_path)

    with pytest.raises(UsageError, match=said):
        lab.queue(author="dana", **words)
    assert not (lab.home / "data/journal/queues.jsonl").exists()


def test_a_line_of_a_queue_that_is_not_whole_is_a_reject_with_its_field(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    lab.queue(size=3, seed=7, strategy="random", author="dana")
    path = lab.home / "data/journal/queues.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    lines[0]["strata"][0]["calls"] = "many"
    lines[1]["probability"] = 1.5
    lines[2]["call_uid"] = "no uid"
    lines.append({**lines[0], "id": "a", "strata": [], "filters": {"sauce": ["rag_reply"]}})
    lines.append({**lines[0], "id": "b", "strata": [], "filters": {"since": "yesterday"}})
    lines.append({**lines[0], "id": "c", "strata": [], "strategy": "easy"})
    other = open_lab(tmp_path / "other")

    report = other.load(write(tmp_path / "queues.jsonl", *lines))

    assert report.files[0].rejected == 6
    assert [row.path for row in other.rejects()] == [
        *("strata[0].calls", "probability", "call_uid"),
        *("filters", "filters.since", "strategy"),
    ]


def test_the_open_queue_is_the_newest_that_waits_and_others_that_wait_are_named(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    first, second, third = (
        lab.queue(size=2, seed=seed, strategy="random", reviewers=["dana"], author="dana")
        for seed in (1, 2, 3)
    )

    def label(calls) -> None:
        for call in calls:
            lab.label(call.call_uid, "good_reply", reviewer="dana")

    newest = lab.queue()
    label(third)
    before = lab.queue()
    progress = [(row.done, row.left) for row in lab.queue_progress()]
    label(second)
    label(first)
    none_waits = lab.queue()

    assert newest[0].queue == third[0].queue
    assert newest.notes[-1] == f"2 more wait: {second[0].queue[:8]}, {first[0].queue[:8]}"
    assert before[0].queue == second[0].queue
    assert before.notes[-1] == f"1 more waits: {first[0].queue[:8]}"
    assert progress == [(0, 2)]
    assert none_waits[0].queue == third[0].queue
    assert "wait" not in none_waits.notes[-1]


def test_a_queue_of_which_a_second_word_is_wanted_waits(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    both = lab.queue(size=2, seed=1, reviewers=["dana", "lee"], overlap=1, strategy="random", author="dana")
    newer = lab.queue(size=2, seed=2, reviewers=["dana"], strategy="random", author="dana")
    for call in [*both, *newer]:
        lab.label(call.call_uid, "good_reply", reviewer="dana")

    assert lab.queue()[0].queue == both[0].queue


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_disputed_call_goes_to_who_did_not_speak_of_it_by_any_id(tmp_path: Path, seed: int) -> None:
    lab = a_lab(tmp_path)
    people = lab.home / "data" / "people.toml"
    people.write_text('[people]\n"dana@example.com" = "dana"\n', encoding="utf-8")
    disputed = lab.calls()[0].call_uid
    lab.label(disputed, "bad_args", reviewer="dana@example.com")
    lab.label(disputed, "good_reply", reviewer="kim")

    drawn = lab.queue(size=10, seed=seed, reviewers=["dana", "lee"], author="dana")

    (call,) = (call for call in drawn if call.stratum == "disputed")
    assert call.reviewers == ("lee",)
    assert sorted(Counter(name for one in drawn for name in one.reviewers).values()) == [5, 5]
    assert not any("disputed call is asked" in note for note in drawn.notes)


def test_where_all_who_are_named_spoke_of_a_disputed_call_one_is_asked_all_the_same_and_it_is_said(
    tmp_path: Path,
) -> None:
    lab = a_lab(tmp_path)
    disputed = lab.calls()[0].call_uid
    lab.label(disputed, "bad_args", reviewer="dana")
    lab.label(disputed, "good_reply", reviewer="lee")

    drawn = lab.queue(size=10, seed=1, reviewers=["dana", "lee"], author="dana")
    for name in ("dana", "lee"):
        lab.label(disputed, "other", reviewer=name)
    later = lab.queue(drawn[0].queue)

    said = "1 disputed call is asked of somebody who spoke of the dispute before: nobody else is named"
    assert [len(call.reviewers) for call in drawn if call.stratum == "disputed"] == [1]
    assert (drawn.notes[-1], later.notes[-1]) == (said, said)
