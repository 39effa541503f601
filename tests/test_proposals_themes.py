"""Themes of notes: what is put together, what is not, and what it takes."""

from __future__ import annotations

import sys
from datetime import timedelta
from time import process_time

import pytest
from command_line import run
from lab_builder import MONDAY, LabBuilder

from quality_lab.metrics import Filters
from quality_lab.proposals import themes as room
from quality_lab.proposals.themes import ALONE, themes

CURRENCY = ["Wrong currency, wants baht", "currency again: baht, not dollars", "The currency was baht"]
DATES = ["Pick-up date is in the past", "the date lies in the past", "Date in the past, once more"]


@pytest.fixture
def builder(tmp_path):
    return LabBuilder(tmp_path)


def note(
    builder: LabBuilder, notes: list[str | None], label: str = "bad_args", tool_name: str = "quote", **given
) -> None:
    for place, (call, text) in enumerate(zip(builder.calls(len(notes), tool_name), notes, strict=True)):
        builder.label(call, label, **{"note": text, "created_at": MONDAY + timedelta(hours=place)} | given)


def told(answer) -> dict[str, tuple[str, int, int]]:
    return {row.theme: (row.label, row.calls, row.noted_calls) for row in answer}


def test_notes_that_share_their_telling_words_are_one_theme_named_by_them(builder):
    note(builder, [*CURRENCY, *DATES, "Why?", None, "  "])

    first, second, alone = themes(builder.store())

    assert {first.terms[:2], second.terms[:2]} == {("baht", "currency"), ("date", "past")}
    assert (first.calls, second.calls, first.noted_calls) == (3, 3, 7)
    assert {frozenset(first.notes), frozenset(second.notes)} == {frozenset(CURRENCY), frozenset(DATES)}
    assert (alone.theme, alone.calls, alone.notes) == (ALONE, 1, ("Why?",))


def test_a_note_that_is_written_again_counts_its_calls_and_is_shown_once(builder):
    note(builder, ["Wrong  currency", "wrong currency", "WRONG CURRENCY", "currency, then"])
    note(builder, ["Wrong currency"], tool_name="pay")

    (row,) = themes(builder.store())

    assert (row.calls, row.conversations, row.tools) == (5, 5, ("quote", "pay"))
    assert [example.note for example in row.examples] == ["currency, then", "WRONG CURRENCY"]
    assert row.last_at == MONDAY + timedelta(hours=3)


def test_labels_keep_their_themes_apart_and_filters_pick_the_group(builder):
    note(builder, CURRENCY)
    note(builder, CURRENCY, "wrong_tool", "pay", source="llm_reply")
    store = builder.store()

    def labels(**filters) -> set[str]:
        return {row.label for row in themes(store, filters=Filters.of(**filters))}

    assert labels() == {"bad_args", "wrong_tool"}
    assert labels(label="bad_args") == labels(tool="quote") == {"bad_args"}
    assert labels(until="2026-06-01") == set()


def test_a_label_that_was_replaced_or_settled_otherwise_speaks_no_more(builder):
    note(builder, CURRENCY)
    call = builder.call()
    builder.label(call, "bad_args", note="currency")
    builder.label(call, "good_reply", "boss", adjudication=True)

    assert [(row.label, row.calls) for row in themes(builder.store())] == [("bad_args", 3)]


def test_numbers_and_common_words_are_no_theme(builder):
    note(builder, ["20000 and 4711", "it was 20000", "what is 4711"])

    assert told(themes(builder.store())) == {ALONE: ("bad_args", 3, 3)}


def test_the_order_of_notes_changes_nothing(builder, tmp_path):
    note(builder, [*CURRENCY, *DATES])
    other = LabBuilder(tmp_path / "other")
    note(other, [*DATES, *CURRENCY][::-1])

    assert told(themes(builder.store())) == told(themes(other.store()))


def test_accents_and_case_part_no_words(builder):
    note(builder, ["Wrong café", "the CAFE again"])

    assert [row.terms[0] for row in themes(builder.store())] == ["cafe"]


def test_words_of_other_scripts_are_words(builder):
    note(builder, ["неверная валюта", "валюта неверная, баты", "дата в прошлом"])

    assert told(themes(builder.store())) == {
        "валюта, неверная, баты": ("bad_args", 2, 3),
        ALONE: ("bad_args", 1, 3),
    }


def test_of_too_many_notes_the_newest_are_grouped_and_it_says_so(builder, monkeypatch):
    monkeypatch.setattr(room, "MOST_NOTES", 3)
    note(builder, [*DATES, *CURRENCY])

    answer = themes(builder.store())

    assert [row.terms[:2] for row in answer] == [("baht", "currency")]
    assert answer.notes == ("too_many: of 6 notes beside bad_args the newest 3 were grouped",)


def test_without_notes_there_are_no_themes_and_it_says_so(builder):
    note(builder, [None])

    answer = themes(builder.store())

    assert (len(answer), answer.notes) == (0, ("no label that was asked for has a note",))


def test_on_the_command_line_they_are_a_question_as_any_other(builder):
    note(builder, [*CURRENCY, "\x1b[2J currency baht <b>"])
    builder.store()

    ran = run("themes", "--home", builder.home, "--json", "--label", "bad_args")
    table = run("themes", "--home", builder.home)

    assert ran.document[0]["calls"] == 4
    assert {"label", "theme", "calls", "terms", "examples"} <= set(ran.document[0])
    assert "baht, currency" in table.out
    assert "\x1b" not in ran.out + table.out
    assert run("themes", "--home", builder.home, "--since", "2030-01-01").code == 1


@pytest.mark.parametrize("module", ["sklearn", "sklearn.cluster"])
def test_without_the_extra_it_is_wrong_usage_and_says_how_to_get_it(builder, monkeypatch, module):
    note(builder, CURRENCY)
    builder.store()
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "sklearn.cluster", raising=False) if module == "sklearn" else None

    ran = run("themes", "--home", builder.home)

    assert (ran.code, ran.out) == (2, "")
    assert "themes need scikit-learn: pip install 'quality-lab[themes]'" in ran.err


def test_to_name_many_themes_takes_little_beside_finding_them(monkeypatch):
    """Each of 300 notes has words of its own, so there are as many themes to be named."""
    vectors, cluster = room._sklearn()
    spent = []

    class Timed(cluster):  # type: ignore[misc, valid-type]  # scikit-learn has no types
        def fit_predict(self, weights):
            began = process_time()
            found = super().fit_predict(weights)
            spent.append(process_time() - began)
            return found

    monkeypatch.setattr(room, "_sklearn", lambda: (vectors, Timed))
    notes = sorted(" ".join(f"w{'x' * place}y{word}z" for word in "abcde") for place in range(300))
    list(room._clusters(notes[:9]))  # what is imported late is imported now

    began = process_time()
    found = list(room._clusters(notes))
    took = process_time() - began

    assert len(found) == 300
    assert took < 8 * spent[-1]
