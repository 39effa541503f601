"""Opening a queue: whoever sits down goes on with the queue that waits, and draws one only where none does."""

from __future__ import annotations

from pathlib import Path

from test_queue_drawn import a_lab


def drawn_queues(lab) -> int:
    return len(lab.queues())


def test_a_reviewer_goes_on_with_the_coachs_queue_and_nothing_is_drawn(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    coachs = lab.queue(size=10, seed=7, reviewers=["dana", "lee"], overlap=0.2, author="coach")[0].queue

    opened = lab.open_queue(reviewer="lee", size=20)

    assert {call.queue for call in opened} == {coachs}
    assert opened.notes[-1] == "opened, not drawn anew: lee has 6 calls left in it"
    assert drawn_queues(lab) == 1


def test_where_no_queue_is_one_is_drawn_and_opened_from_then_on(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)

    first = lab.open_queue(reviewer="sam", size=5, seed=3)
    again = lab.open_queue(reviewer="lee", size=20)

    assert len(first) == 5
    assert [call.call_uid for call in again] == [call.call_uid for call in first]
    assert [(row.author, row.seed) for row in lab.queues()] == [("sam", 3)]


def test_who_is_not_asked_gets_a_queue_and_hears_of_the_open_one_which_its_reviewers_still_find(
    tmp_path: Path,
) -> None:
    lab = a_lab(tmp_path)
    coachs = lab.queue(size=10, seed=7, reviewers=["dana", "lee"], author="coach")[0].queue

    sams = lab.open_queue(reviewer="sam", size=5)

    assert sams[0].queue != coachs
    assert (
        sams.notes[-1] == f"drawn now, as no open queue asks sam; open for others: {coachs[:8]} (dana, lee)"
    )
    assert lab.open_queue(reviewer="dana")[0].queue == coachs  # though sam's is newer and asks anybody
    assert drawn_queues(lab) == 2


def test_who_is_done_with_the_newest_goes_on_with_the_one_before_and_then_draws(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    older = lab.queue(size=4, seed=1, reviewers=["dana"], author="coach")
    newer = lab.queue(size=4, seed=2, strategy="random", reviewers=["dana", "lee"], author="coach")

    def label_all(calls) -> None:
        for call in calls:
            if not call.reviewers or "dana" in call.reviewers:
                lab.label(call.call_uid, "good_reply", reviewer="dana")

    label_all(newer)
    opened = lab.open_queue(reviewer="dana")
    label_all(older)
    drawn = lab.open_queue(reviewer="dana", size=5)

    assert {call.queue for call in opened} == {older[0].queue}
    assert drawn[0].queue not in {older[0].queue, newer[0].queue}
    assert len(drawn) == 5


def test_two_ids_of_one_name_are_asked_as_one(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    (lab.home / "data" / "people.toml").write_text('3 = "Dana"\n"dana@example.com" = "Dana"\n')
    coachs = lab.queue(size=4, seed=7, reviewers=["3", "lee"], author="coach")[0].queue

    assert lab.open_queue(reviewer="dana@example.com")[0].queue == coachs


def test_a_seed_or_tools_that_are_named_mean_a_queue_of_their_own(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    plain = lab.queue(size=4, seed=7, author="coach")[0].queue

    seeded = lab.open_queue(reviewer="dana", size=4, seed=8)[0].queue
    of_tool = lab.open_queue(reviewer="dana", size=2, tool=["hand_over"])
    again = lab.open_queue(reviewer="lee", size=4, tool=["hand_over"])

    assert plain != seeded
    assert {call.tool_name for call in of_tool} == {"hand_over"}
    assert {call.queue for call in again} == {of_tool[0].queue}
    assert lab.open_queue(reviewer="lee", seed=7)[0].queue == plain
