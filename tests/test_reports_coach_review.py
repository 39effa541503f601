"""A review meeting: its agenda before, its minutes after, and everything in between out of the journal."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from lab_builder import MONDAY, LabBuilder

from quality_lab.errors import UnknownName, UsageError
from quality_lab.lab import Lab, open_lab
from quality_lab.reports.coach_review.page import CoachReviewPage, coach_review_page

WEEK = timedelta(weeks=1)
AS_OF = MONDAY + 6 * WEEK  # Monday 13 July
PARTS = ("head", "decisions", "groups", "disputes", "unseen", "after")
HOSTILE = "<script>document.title='ran'</script><img src=x onerror=alert(1)> \x1b[31m\u202e | `# x`"
CARD = "4111 1111 1111 1111"
DANA = "dana@example.com"


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def page_of(lab: Lab, **given: Any) -> CoachReviewPage:
    return coach_review_page(lab, **{"as_of": AS_OF} | given)


def lab_of(home: Path) -> Lab:
    """A lab of six weeks: a fault that was fixed and came back, one that nobody has seen before, one in work."""
    builder = LabBuilder(home)
    for number, call in enumerate(builder.calls(12, "quote", created_at=MONDAY)):
        builder.label(call, "bad_args" if number < 6 else "good_reply")
    for number, call in enumerate(builder.calls(12, "quote", created_at=AS_OF - WEEK)):
        builder.label(call, "bad_args" if number < 3 else "good_reply", note=f"again {number}")
    for call in builder.calls(2, "book", created_at=AS_OF - WEEK):
        builder.label(call, "wrong_tool", note="not asked for")
    builder.label(builder.call("pay", created_at=MONDAY, conversation_id="p"), "missing_tool")
    builder.label(builder.call("pay", created_at=AS_OF - WEEK, conversation_id="p2"), "missing_tool")
    disputed = builder.call("look_up", created_at=AS_OF - WEEK, conversation_id="d")
    builder.label(disputed, "bad_args", "anna", note="wrong day")
    builder.label(disputed, "good_reply", "ben")
    builder.calls(40, "refund", created_at=AS_OF - WEEK, is_error=True, error_origin="flag")
    builder.store()
    lab = open_lab(home)
    quote = "schema_fix:rag_reply:quote:bad_args"
    lab.decide(
        quote, "apply", kind="pull_request", ref="PR-7", url="https://example.com/7", owner="tomas", due="2026-06-20",
        expect="from 50 % to under 10 %", effective_at=MONDAY + WEEK, reviewer=DANA,
    )  # fmt: skip
    lab.decide(
        "tool_candidate:rag_reply:pay:missing_tool", "accept", owner="kim", due="2026-07-01", reviewer=DANA
    )
    return lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return lab_of(tmp_path_factory.mktemp("coach"))


@pytest.fixture(scope="module")
def page(lab: Lab) -> CoachReviewPage:
    return page_of(lab)


def test_the_agenda_goes_from_last_times_decisions_to_what_nobody_has_seen(page: CoachReviewPage) -> None:
    assert [(point.kind, point.tool_name) for point in page.points] == [
        ("came_back", "quote"),
        ("in_work", "pay"),
        ("new_group", "book"),
        ("disputes", None),
        ("unreviewed", "refund"),
    ]
    head = words(page.head().html)
    assert "It came back: bad_args on quote , applied, on 3 calls made since." in head
    assert "In work: missing_tool on pay , due 1 July 2026." in head
    assert "Reviewers disagree on 1 call." in head
    assert "Nobody has reviewed 40 of the 40 calls of refund ." in head


def test_a_decision_stands_with_who_sees_to_it_what_was_expected_and_what_became_of_it(
    page: CoachReviewPage,
) -> None:
    quote, pay = re.findall(r"<article.*?</article>", page.decisions().html, re.DOTALL)

    told = words(quote)
    assert "it came back applied not enough data yet bad_args on quote" in told
    assert "in effect since 8 June: PR-7 . tomas saw to it." in told
    assert 'href="https://example.com/7"' in quote
    assert "Expected: from 50 % to under 10 %" in told
    # three of twelve reviewed calls since, six of twelve before
    assert re.search(r"25 % \(.*?\) of 12 reviewed calls made since 8 June were judged bad_args", told)
    assert re.search(r"Before 12 12 50 % .* Since 12 12 25 %", told)
    assert "It came back on 3 calls made since then. Examples" in told
    assert "Nothing was changed yet." in words(pay)
    assert "kim sees to it by 1 July (overdue) ." in words(pay)  # it is 13 July


def test_groups_that_came_back_stand_first_then_new_ones_then_those_in_work(page: CoachReviewPage) -> None:
    cards = re.findall(r"<article.*?</article>", page.groups().html, re.DOTALL)

    assert [(one.standing, one.proposal.tool_name) for one in page.facts.groups] == [
        ("came back", "quote"),
        ("new", "book"),
        ("in work", "pay"),
    ]  # look_up is disputed, and stands there
    assert [re.search(r"on (\w+) ,", words(card))[1] for card in cards] == ["quote", "book", "pay"]
    assert cards[0].count('class="exchange"') == 3
    assert "2 more examples" in words(cards[0])
    assert "new wrong_tool on book" in words(cards[1])
    assert "reviewer anna: wrong_tool not asked for" in words(cards[1])
    assert "kim sees to it by 1 July (overdue) ." in words(cards[2])


def test_a_group_is_open_not_new_where_the_window_holds_all_that_is_known(lab: Lab) -> None:
    page = page_of(lab, since="2026-05-01")

    assert {(one.standing, one.proposal.tool_name) for one in page.facts.groups} >= {("open", "book")}
    assert page.facts.new == 0


def test_a_dispute_is_told_as_the_exchange_it_was(page: CoachReviewPage) -> None:
    told = words(page.disputes().html)

    assert "conversation d call look_up" in told
    assert "reviewer anna: bad_args wrong day reviewer ben: good_reply" in told


def test_what_nobody_has_reviewed_is_told_with_its_failures(page: CoachReviewPage) -> None:
    assert "refund 40 0 0 % 40 of 40" in words(page.unseen().html)


def test_where_there_is_nothing_each_part_says_so(tmp_path: Path) -> None:
    builder = LabBuilder(tmp_path / "home")
    builder.label(builder.call(), "good_reply")
    builder.store()
    page = page_of(open_lab(builder.home))

    said = [words(getattr(page, part)().html) for part in PARTS]

    assert "There is nothing on the agenda." in said[0]
    assert "No decision waits to be followed up." in said[1]
    assert "No label on a call of this window asks for a change." in said[2]
    assert "No call was reviewed by two people, so nobody could disagree." in said[3]
    assert "Every call was reviewed." in said[4]
    assert len(page.slides().slides) == 2


def test_over_a_window_without_calls_nobody_is_said_to_have_reviewed_every_one(lab: Lab) -> None:
    page = page_of(lab, since="2030-01-01")

    said = words(page.unseen().html) + words(page.slides().slides[-1])

    assert said.count("There was no call in this window, so there is none to review.") == 2
    assert "Every call" not in said


def test_people_go_by_their_names(tmp_path: Path) -> None:
    lab = lab_of(tmp_path / "home")
    (lab.home / "data" / "people.toml").write_text(
        '[people]\nanna = "Anna"\ntomas = "Tomas"\n', encoding="utf-8"
    )
    page = page_of(lab)

    assert "Tomas saw to it." in words(page.decisions().html)
    assert "reviewer Anna: bad_args wrong day" in words(page.disputes().html)


def test_who_said_what_is_no_trace_content_and_not_masked_in_agenda_page_or_minutes(tmp_path: Path) -> None:
    builder = LabBuilder(tmp_path / "home")
    call = builder.call("quote", arguments=json.dumps({"to": "lee@example.com"}))
    builder.label(call, "bad_args", "lee@example.com", note="ask lee@example.com")
    builder.label(call, "good_reply", "kim@example.com")
    builder.store()
    people = '[people]\n"lee@example.com" = "Lee"\n'
    (builder.home / "data" / "people.toml").write_text(people, encoding="utf-8")
    lab = open_lab(builder.home)
    ran = run("--home", lab.home, "report", "coach-review", "--as-of", AS_OF.isoformat(), "--json")
    assert ran.code == 0, ran.err
    lab.adjudicate(
        lab.meeting().disputed[0], "bad_args", note="as lee@example.com says", reviewer="lee@example.com"
    )
    lab.decide(lab.proposals()[0].id, "accept", owner="lee@example.com", reviewer="kim@example.com")

    closed = lab.close_meeting()

    (dispute,) = lab.meeting().agenda["disputes"]
    assert [one["author"] for one in dispute["labels"]] == ["kim@example.com", "lee@example.com"]
    assert closed.minutes.settled[0].before == ("kim: good_reply", "Lee: bad_args")
    assert closed.minutes.decisions[0].owner == "Lee"
    markdown = closed.markdown.read_text(encoding="utf-8")
    assert "kim: good\\_reply; Lee: bad\\_args" in markdown
    report = (closed.folder / "report.html").read_text(encoding="utf-8")
    assert "Lee: <strong>bad_args" in report
    assert "lee@example.com" not in report + markdown  # what was written about it stays masked
    assert "lee@example.com" not in json.dumps({**lab.meeting().agenda, "disputes": []})


def test_hostile_text_and_secrets_do_nothing_on_the_page(tmp_path: Path) -> None:
    builder = LabBuilder(tmp_path / "home")
    for call in builder.calls(3, HOSTILE, arguments=json.dumps({"card": CARD})):
        builder.label(call, "bad_args", HOSTILE, note=HOSTILE)
    builder.store()
    lab = open_lab(builder.home)
    lab.decide(lab.proposals()[0].id, "accept", owner=HOSTILE, note=HOSTILE, expect=HOSTILE, reviewer=HOSTILE)
    page = page_of(lab)

    shown = "".join(getattr(page, part)().html for part in PARTS) + "".join(page.slides().slides)

    assert not re.search(r"<script|<img|\x1b|\u202e", shown)
    assert "&lt;script&gt;document.title=&#x27;ran&#x27;&lt;/script&gt;" in shown
    assert CARD not in shown


# ---- before, in and after: one lab through a meeting ----


@pytest.fixture(scope="module")
def met(tmp_path_factory: pytest.TempPathFactory) -> tuple[Lab, Path]:
    """The same lab with its report run, and a meeting held."""
    lab = lab_of(tmp_path_factory.mktemp("met"))
    ran = run("--home", lab.home, "report", "coach-review", "--as-of", AS_OF.isoformat(), "--json")
    assert ran.code == 0, ran.err
    folder = Path(ran.document["folder"])
    agenda = lab.meeting()
    calls = lab.calls(tool="refund")
    for number in range(4):
        lab.label(
            calls[number].call_uid, "other", note=f"{CARD} {HOSTILE}" if number == 0 else None, reviewer=DANA
        )
    wrong = lab.label(calls[9].call_uid, "good_reply", reviewer="kim@example.com")
    lab.undo(wrong.line["id"], reviewer="kim@example.com")
    lab.adjudicate(agenda.disputed[0], "bad_args", note="The day was named.", reviewer=DANA)
    lab.decide("routing_prompt_fix:rag_reply:book:wrong_tool", "accept", owner="tomas", due="2026-08-01",
               expect="under 5 % by 1 September", note="ask first", reviewer=DANA)  # fmt: skip
    lab.decide("schema_fix:rag_reply:quote:bad_args", "reopen", reviewer="kim@example.com")
    lab.freeze(lab.calls(tool="book")[0].call_uid, reviewer=DANA)
    return lab, folder


def test_the_report_leaves_a_frozen_agenda_and_slides_beside_its_page(met: tuple[Lab, Path]) -> None:
    _, folder = met
    agenda = json.loads((folder / "agenda.json").read_text(encoding="utf-8"))
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))

    assert {path.name for path in folder.iterdir()} >= {
        *("agenda.json", "report.html", "report.ipynb", "slides.html", "summary.json", "summary.md"),
    }
    prepared, generated = (
        datetime.fromisoformat(one) for one in (agenda["prepared_at"], summary["generated_at"])
    )
    assert timedelta() <= prepared - generated < timedelta(seconds=1)
    assert datetime.fromisoformat(agenda["as_of"]) == AS_OF
    assert [(one["state"], one["recurred"], one["verdict"]) for one in agenda["decisions"]] == [
        ("applied", True, "inconclusive"),
        ("accepted", False, None),
    ]
    assert [(one["standing"], one["tool_name"], one["owner"]) for one in agenda["groups"]] == [
        ("came back", "quote", "tomas"),
        ("new", "book", None),
        ("in work", "pay", "kim"),
    ]
    assert [len(one["examples"]) for one in agenda["groups"]] == [3, 2, 1]
    assert [(one["author"], one["label"]) for one in agenda["disputes"][0]["labels"]] == [
        ("anna", "bad_args"),
        ("ben", "good_reply"),
    ]
    assert agenda["unreviewed"][0]["tool_name"] == "refund"
    figures = summary["figures"]
    assert (figures["decisions_recurred"], figures["groups_new"], figures["disputes"]) == (1, 1, 1)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "vnd.quality-lab" not in page
    assert "What became of decisions" in page


def test_the_minutes_are_what_the_journal_holds_since_the_agenda(met: tuple[Lab, Path]) -> None:
    lab, folder = met

    minutes = lab.close_meeting(folder).minutes

    assert [(one.tool_name, one.label, one.by) for one in minutes.labels] == [("refund", "other", "dana")] * 4
    (settled,) = minutes.settled
    assert (settled.tool_name, settled.label, settled.note) == ("look_up", "bad_args", "The day was named.")
    assert settled.before == ("anna: bad_args", "ben: good_reply")
    book, quote = minutes.decisions
    assert (book.title, book.state, book.by) == ("Say when book is the wrong choice", "accepted", "dana")
    assert (book.owner, book.due, book.expectation, book.note) == (
        *("tomas", "2026-08-01", "under 5 % by 1 September"),
        "ask first",
    )
    assert (quote.title, quote.state, quote.by) == (
        *("Make the arguments of quote harder to get wrong", "reopened"),
        "kim",
    )
    assert [(one.action, one.by) for one in minutes.cases] == [("freeze", "dana")]
    assert minutes.undecided == ("Find out what is missing where pay was called",)
    assert (minutes.unsettled, minutes.taken_back, minutes.people) == (0, 1, ("dana", "kim"))
    assert minutes.counts() == "4 labels, 1 dispute settled, 2 decisions, 1 case"


def test_the_minutes_are_written_as_markdown_html_and_json_and_hold_no_secret(met: tuple[Lab, Path]) -> None:
    lab, folder = met
    closed = lab.close_meeting(folder)

    markdown = closed.markdown.read_text(encoding="utf-8")
    html = closed.html.read_text(encoding="utf-8")
    document = json.loads((folder / "minutes.json").read_text(encoding="utf-8"))

    assert (
        "| look\\_up in d | anna: bad\\_args; ben: good\\_reply | bad\\_args, says dana | The day was named. |"
        in markdown
    )
    assert "tomas by 1 August 2026" in markdown
    assert "&lt;script&gt;" in markdown
    assert not re.search(r"<script|<img|\x1b|\u202e", markdown + html)
    assert all(CARD not in text for text in (markdown, html, json.dumps(document)))
    assert CARD in lab.close_meeting(folder, mask=False).markdown.read_text(encoding="utf-8")
    assert (closed.git, closed.minutes.no_git is not None) == (None, True)  # no work tree is around it
    assert str(closed.minutes.no_git) in unescape(html)
    assert len(document["labels"]) == 4
    assert "Keep it" in closed._repr_html_()


def test_the_git_command_is_one_that_a_shell_takes_and_is_never_run(
    met: tuple[Lab, Path], tmp_path: Path
) -> None:
    lab, folder = met
    home = tmp_path / "home"
    shutil.copytree(lab.home, home)
    own = open_lab(home)

    def git(*given: str) -> str:
        who = ("-c", "user.name=Dana", "-c", "user.email=dana@example.com")
        done = subprocess.run(["git", *who, *given], cwd=home, capture_output=True, text=True, check=True)
        return done.stdout

    git("init", "-q")
    git("config", "user.name", "Dana")
    git("config", "user.email", "dana@example.com")
    closed = own.close_meeting(home / "reports" / folder.name)
    assert "data/journal" not in git("ls-files")
    assert closed.git is not None
    assert closed.git in unescape(closed.html.read_text(encoding="utf-8"))
    subprocess.run(["sh", "-c", closed.git], cwd=home, capture_output=True, check=True)

    assert git("log", "-1", "--format=%s").strip() == (
        f"Review of {closed.minutes.title.partition(', ')[2]}: 4 labels, 1 dispute settled, 2 decisions, 1 case"
    )
    assert set(git("ls-files").split()) == {
        f"data/journal/{shelf}.jsonl" for shelf in ("cases", "decisions", "labels", "retractions")
    }


def test_no_git_command_is_shown_where_it_would_do_nothing_and_the_reason_is(tmp_path: Path) -> None:
    (tmp_path / "agenda.json").write_text('{"prepared_at": "2026-07-13T08:00:00Z"}', encoding="utf-8")
    home = tmp_path / "ignored" / "home"
    own = open_lab(home)

    def closed() -> tuple[str | None, str]:
        done = own.close_meeting(tmp_path)
        assert ("git add" in done.markdown.read_text(encoding="utf-8")) == (done.git is not None)
        return done.git, done.minutes.no_git or ""

    home.mkdir(parents=True)
    assert closed() == (None, "The journal has no line of this meeting, so there is nothing to keep.")
    own.journal.append("labels", {"call": {"call_uid": "0" * 32}, "label": "other"}, author="dana")
    outside = closed()
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text("ignored/\n", encoding="utf-8")
    refused = run("--home", home, "report", "close", tmp_path)
    ignored = closed()
    (tmp_path / ".gitignore").write_text("", encoding="utf-8")

    assert (outside[0], "is in no git work tree" in outside[1]) == (None, True)
    assert (ignored[0], "git ignores data/journal here" in ignored[1], "ignored/" in ignored[1]) == (
        *(None, True),
        True,
    )
    assert (refused.code, "git add" in refused.err, "git ignores data/journal" in refused.err) == (
        0,
        False,
        True,
    )
    assert str(closed()[0]).startswith("git add data/journal && git commit")


def test_the_command_closes_the_newest_meeting_or_the_one_that_is_named(met: tuple[Lab, Path]) -> None:
    lab, folder = met

    newest = run("--home", lab.home, "report", "close")
    named = run("--home", lab.home, "report", "close", folder.name, "--json")
    unknown = run("--home", lab.home, "report", "close", "nothing-here")

    assert (newest.code, newest.out.strip()) == (0, str(folder / "minutes.html"))
    assert "4 labels, 1 dispute settled, 2 decisions, 1 case." in newest.err
    assert "is in no git work tree" in newest.err
    assert (named.code, len(named.document["decisions"]), named.document["folder"]) == (0, 2, str(folder))
    assert (unknown.code, "there is no agenda in" in unknown.err) == (2, True)


def test_the_next_review_knows_the_last_and_what_was_decided_in_it(met: tuple[Lab, Path]) -> None:
    lab, _ = met
    page = page_of(lab)

    assert page.facts.last_prepared_at is not None
    assert "The review before this one was prepared on" in words(page.head().html)
    standings = {one.proposal.tool_name: one.standing for one in page.facts.groups}
    # quote was reopened and stood on the last agenda, so it is no news; look_up was settled since, and is
    assert standings == {"quote": "open", "book": "in work", "pay": "in work", "look_up": "new"}


def test_a_meeting_in_which_nothing_was_said_says_so_and_is_not_fine(lab: Lab, tmp_path: Path) -> None:
    agenda = {"prepared_at": "2099-01-01T00:00:00Z", "tz": "Asia/Bangkok"}
    (tmp_path / "agenda.json").write_text(json.dumps(agenda), encoding="utf-8")

    ran = run("--home", lab.home, "report", "close", tmp_path)
    allowed = run("--home", lab.home, "report", "close", tmp_path, "--allow-empty")

    assert (ran.code, "no_data" in ran.err, allowed.code) == (1, True, 0)
    assert "Nothing was said since the agenda was prepared" in (tmp_path / "minutes.md").read_text(
        encoding="utf-8"
    )


def test_a_folder_without_an_agenda_is_refused(lab: Lab, tmp_path: Path) -> None:
    with pytest.raises(
        UnknownName, match=r"there is no agenda in .*; `quality-lab report coach-review` prepares one"
    ):
        lab.close_meeting(tmp_path)
    (tmp_path / "agenda.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(UsageError, match="wanted the agenda of a meeting"):
        lab.meeting(tmp_path)


def test_a_line_is_of_the_meeting_from_the_agenda_on_to_its_close(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "agenda.json").write_text(
        json.dumps({"prepared_at": "2026-07-13T08:00:00Z", "tz": "Asia/Bangkok"}), encoding="utf-8"
    )
    own = open_lab(tmp_path / "home")
    for minute, label in ((-1, "good_reply"), (0, "bad_args"), (60, "other"), (61, "wrong_tool")):
        own.journal.append(
            "labels",
            {"call": {"call_uid": str(minute % 9) * 32}, "label": label},
            author="dana",
            now=AS_OF + timedelta(minutes=minute),
        )

    closed = own.close_meeting(tmp_path, now=datetime(2026, 7, 13, 9, tzinfo=UTC))

    assert [(one.label, one.tool_name) for one in closed.minutes.labels] == [
        ("bad_args", None),
        ("other", None),
    ]
    assert "closed 16:00 Asia/Bangkok" in closed.markdown.read_text(encoding="utf-8")
    assert closed.minutes.title == "Coach review, 13 July 2026"


def test_a_review_over_an_empty_window_is_written_and_not_fine(lab: Lab, tmp_path: Path) -> None:
    ran = run(
        "--home", lab.home, "report", "coach-review", "--since", "2030-01-01", "--out", tmp_path, "--json"
    )

    assert (ran.code, "no_data" in ran.err) == (1, True)
    assert (Path(ran.document["folder"]) / "agenda.json").is_file()


def shelved(home: Path, name: str, *, hour: int, calls: int = 9, problem: str | None = None) -> Path:
    """A run that lies on the shelf with an agenda of nothing, finished at that hour."""
    folder = home / "reports" / name
    folder.mkdir(parents=True)
    at = f"2026-07-13T{hour:02}:00:00+00:00"
    summary = {
        **{"report": "coach-review", "generated_at": at, "ok": problem is None, "problem": problem},
        "figures": {"calls_in_window": calls},
    }
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    agenda = {"prepared_at": at, "tz": "UTC", "groups": [], "disputes": []}
    (folder / "agenda.json").write_text(json.dumps(agenda), encoding="utf-8")
    return folder


def test_agendas_of_empty_and_failed_runs_are_passed_over_and_named(tmp_path: Path) -> None:
    lab = open_lab(tmp_path)
    shelved(tmp_path, "4-empty", hour=11, calls=0, problem="no_data: coach-review found no call")
    shelved(tmp_path, "3-failed", hour=10, problem="report coach-review failed in its cell 4: ValueError")
    with pytest.raises(
        UnknownName, match=r"no agenda .* 4-empty is passed over: no call in its window; 3-fail"
    ):
        lab.meeting()
    taken = shelved(tmp_path, "2-full", hour=9, problem="threshold passed: groups is 4: > 3")
    shelved(tmp_path, "1-older", hour=8)

    ran = run("--home", tmp_path, "report", "close", "--allow-empty")

    assert ran.out.strip() == str(taken / "minutes.html")
    assert (
        "Taken is 2-full; newer ones are empty or failed (4-empty: no call in its window; 3-failed:"
        in ran.err
    )
    assert lab.meeting().folder == taken
    assert "Taken is 2-full" in str(lab.meeting())
    assert lab.meeting(tmp_path / "reports" / "4-empty").notice is None


def test_minutes_of_an_empty_agenda_claim_nothing_of_what_reviewers_had_said(tmp_path: Path) -> None:
    lab = open_lab(tmp_path)
    folder = shelved(tmp_path, "empty", hour=1, calls=0)
    settles = {"call": {"call_uid": "0" * 32}, "label": "other", "adjudication": True}
    lab.journal.append("labels", settles, author="dana")

    closed = lab.close_meeting(folder)

    for text in (closed.markdown.read_text("utf-8"), closed.html.read_text("utf-8")):
        assert "Reviewers said" not in text
        assert "says dana" in text


def test_of_two_labels_by_one_person_on_one_call_the_minutes_have_the_last(tmp_path: Path) -> None:
    lab = open_lab(tmp_path)
    folder = shelved(tmp_path, "full", hour=1)
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data" / "people.toml").write_text(
        '[people]\n3 = "Dana"\n"d@example.com" = "Dana"\n', "utf-8"
    )
    said = [
        ("a", "other", "3"),
        ("a", "bad_args", "ben"),
        ("b", "other", "3"),
        ("a", "wrong_tool", "d@example.com"),
    ]
    for number, (call, label, author) in enumerate(said):
        line = {"call": {"call_uid": call * 32}, "label": label}
        lab.journal.append("labels", line, author=author, now=AS_OF + timedelta(hours=9, minutes=number))

    closed = lab.close_meeting(folder)

    assert [((one.call_uid or "")[0], one.label, one.by) for one in closed.minutes.labels] == [
        ("a", "bad_args", "ben"),
        ("b", "other", "Dana"),
        ("a", "wrong_tool", "Dana"),
    ]
    assert closed.minutes.counts().startswith("3 labels, ")
    assert "1 label corrected later; the last one stands here." in closed.markdown.read_text("utf-8")


@pytest.mark.slow
def test_hostile_text_runs_nothing_in_report_slides_or_minutes(tmp_path: Path, chromium: str) -> None:
    from playwright.sync_api import sync_playwright

    builder = LabBuilder(tmp_path / "home")
    for call in builder.calls(12, HOSTILE, arguments=json.dumps({"a": HOSTILE}), source=HOSTILE):
        builder.label(call, "bad_args", HOSTILE, note=HOSTILE)
        builder.label(call, "good_reply", "ben", note=HOSTILE)
    builder.label(builder.call(HOSTILE, source=HOSTILE, conversation_id=HOSTILE), "wrong_tool", HOSTILE)
    builder.store()
    lab = open_lab(builder.home)
    for one in lab.proposals():
        said = {"owner": HOSTILE, "note": HOSTILE, "expect": HOSTILE}
        lab.decide(one.id, "apply", kind="other", ref=HOSTILE, effective_at=MONDAY, reviewer=HOSTILE, **said)
    ran = run("--home", lab.home, "report", "coach-review", "-p", f"title={HOSTILE}", "--json")
    assert ran.code == 0, ran.err
    lab.label(lab.calls()[0].call_uid, "other", note=HOSTILE, reviewer=HOSTILE)
    lab.adjudicate(lab.meeting().disputed[0], "bad_args", note=HOSTILE, reviewer=HOSTILE)
    lab.decide(lab.proposals()[0].id, "close", note=HOSTILE, reviewer=HOSTILE)
    folder = lab.close_meeting().folder

    said_, asked, titles = [], [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.on("console", lambda line: said_.append(line.text))
        page.on("pageerror", lambda error: said_.append(str(error)))
        page.on("dialog", lambda dialog: (said_.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: asked.append(request.url))
        pages = [folder / name for name in ("report.html", "slides.html", "minutes.html")]
        for place in [*pages, folder.parent / "index.html"]:
            page.goto(place.as_uri())
            page.keyboard.press("ArrowRight")
            page.wait_for_timeout(200)
            titles.append(page.title())
            assert "document.title='ran'" in page.inner_text("body") or place.name == "index.html"
        browser.close()

    assert said_ == []
    assert [url for url in asked if not url.startswith(folder.parent.as_uri())] == []
    assert "ran" not in titles
