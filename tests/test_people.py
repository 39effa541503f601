"""People: names are shown, ids count."""

from __future__ import annotations

import copy
import json

import pytest
from command_line import run
from lab_builder import LabBuilder

import quality_lab as ql
from quality_lab.people import NOBODY, Person, read_people, shown

NAMES = '[people]\n3 = "Dana"\n"dana@example.com" = "Dana"\n5 = "Tomas <b>"\n'


@pytest.fixture
def home(tmp_path):
    """A disputed call by 3, 5 and a reviewer without a name."""
    builder = LabBuilder(tmp_path)
    call, other = builder.calls(2)
    builder.label(call, "bad_args", "3", note="in THB")
    builder.label(call, "good_reply", "5")
    builder.label(other, "bad_args", "dana@example.com")
    builder.label(other, "bad_args", "zoe")
    builder.store()
    (tmp_path / "data" / "people.toml").write_text(NAMES, encoding="utf-8")
    return tmp_path


def test_a_person_is_equal_to_the_id_and_shown_by_name():
    dana = Person("3", "Dana")

    assert (dana == "3", hash(dana) == hash("3"), f"{dana}", json.dumps(dana)) == (True, True, "3", '"3"')
    assert (shown(dana), shown("5"), shown(copy.deepcopy(dana))) == ("Dana", "5", "Dana")


def test_a_home_without_the_file_has_no_names(tmp_path):
    assert read_people(tmp_path) == NOBODY
    assert NOBODY.person("3") == "3"


@pytest.mark.parametrize("text", [NAMES, NAMES.replace("[people]\n", "")])
def test_ids_stand_in_a_table_or_at_the_top(home, text):
    (home / "data" / "people.toml").write_text(text.replace('"Dana"', '" Dana "'), encoding="utf-8")

    assert dict(read_people(home).names) == {"3": "Dana", "dana@example.com": "Dana", "5": "Tomas <b>"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("3 = Dana", "wanted TOML"),
        ("3 = 4", "3: wanted a name in quotes, got 4"),
        ('[people]\n3 = " "', "3: wanted a name in quotes, got ' '"),
        ('people = "Dana"', "people: wanted a table of names by id, got 'Dana'"),
        ('[people.3]\nname = "Dana"', "3: wanted a name in quotes, got {'name': 'Dana'}"),
    ],
)
def test_a_file_with_something_else_in_it_is_3_and_says_where(home, text, said):
    (home / "data" / "people.toml").write_text(text, encoding="utf-8")
    ran = run("disputes", "--home", home)

    assert (ran.code, ran.out) == (3, "")
    assert "people.toml" in ran.err
    assert said in ran.err


def test_a_file_that_is_no_text_is_3(home):
    (home / "data" / "people.toml").write_bytes(b"\xff\xfe\x00")

    assert run("labels", "--by", "reviewer", "--home", home).code == 3


def test_tables_show_names_and_documents_hold_ids(home, tmp_path):
    by_reviewer = run("labels", "--by", "reviewer", "--home", home)
    as_json = run("labels", "--by", "reviewer", "--home", home, "--json").document
    disputes = run("disputes", "--home", home)

    assert "Tomas <b>" in by_reviewer.out
    assert {row["group"] for row in as_json} == {"3", "5", "dana@example.com", "zoe"}
    assert "Dana: bad_args" in disputes.out
    assert run("disputes", "--home", home, "--json").document[0]["says"] == ["3: bad_args", "5: good_reply"]
    assert "3 and 5" not in run("agreement", "--by", "pair", "--home", home).out
    assert "Dana and Tomas" in run("agreement", "--by", "pair", "--home", home).out


def test_two_ids_of_one_name_are_counted_apart_and_agree_as_one_person(home):
    lab = ql.open(home)

    assert [row.group for row in lab.labels(by="reviewer", label="bad_args") if row.rows] == [
        "3",
        "dana@example.com",
        "zoe",
    ]
    assert {(row.group, shown(row.group)) for row in lab.agreement(by="pair")} == {
        ("3 and 5", "Dana and Tomas <b>"),
        ("3 and zoe", "Dana and zoe"),
    }


def test_two_reviewers_of_one_name_show_their_ids_where_both_are_listed(home):
    lab = ql.open(home)

    assert {shown(row.group) for row in lab.labels(by="reviewer")} == {
        "Dana (3)",
        "Dana (dana@example.com)",
        "Tomas <b>",
        "zoe",
    }


def test_a_reviewer_is_picked_by_name_or_by_id(home):
    def rows(reviewer: str) -> int:
        document = run(
            "labels", "--reviewer", reviewer, "--label", "bad_args", "--home", home, "--json"
        ).document
        return document[0]["rows"]

    assert (rows("Dana"), rows("3"), rows("zoe"), rows("nobody")) == (2, 1, 1, 0)


def test_calls_conversations_and_proposals_know_the_name_beside_the_id(home):
    lab = ql.open(home)
    reviews = [review for call in lab.calls() for review in call.reviews]
    told = lab.conversation(lab.disputes()[0].conversation_id)
    one = lab.call(lab.disputes()[0].call_uid)

    assert {(review.reviewer, shown(review.reviewer)) for review in reviews} >= {
        ("3", "Dana"),
        ("zoe", "zoe"),
    }
    assert "label by Dana: bad_args" in repr(told)
    assert "label by Dana" in one._repr_html_()
    assert [row.who for row in told.answer if row.kind == "label"] == ["3", "5"]
    assert {shown(example.reviewer) for example in lab.proposals()[0].examples} == {"Dana"}


def test_a_name_is_shown_as_text_on_a_page(home):
    page = ql.open(home).labels(by="reviewer")._repr_html_()

    assert "Tomas &lt;b&gt;" in page
    assert "<b>" not in page


def test_a_report_calls_reviewers_by_name(home):
    from quality_lab.reports.quality import quality_page

    page = quality_page(ql.open(home))

    assert "Dana: " in page.disputes()._repr_html_()
    assert "Tomas &lt;b&gt;: " in page.disputes()._repr_html_()
    shown = "".join(getattr(part, "_repr_html_", str)() for part in page.labels().parts)
    assert "<td>Dana (3)</td>" in shown  # two ids of one name are told apart where each has a row
    assert "<td>Dana (dana@example.com)</td>" in shown
    assert "<td>Tomas &lt;b&gt;</td>" in shown
    assert "by 3 people" in page.head()._repr_html_()
    assert page.window.facts.authors is not None
    assert sorted(page.window.facts.authors) == ["3", "5", "dana@example.com", "zoe"]


def test_decisions_are_told_by_name(home):
    lab = ql.open(home)
    worst = lab.proposals()[0].id
    lab.decide(worst, "accept", owner="5", reviewer="3")

    decided = run("proposals", "show", worst, "--home", home)

    assert "Dana" in decided.out
    assert "Tomas <b>" in decided.out
    assert [(line.author, line.owner) for line in lab.decisions(worst)] == [("3", "5")]
