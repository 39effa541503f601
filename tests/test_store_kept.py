"""Answers that a load keeps: the same rows as live ones, gone as soon as the lab changes."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import timedelta

import pytest
from lab_builder import MONDAY, LabBuilder

from quality_lab.labels import FIVE
from quality_lab.metrics import failing_tools, label_counts
from quality_lab.proposals import heavy_questions, proposals
from quality_lab.store import Store, kept
from quality_lab.store.kept import KeptQuestion


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch):
    monkeypatch.setattr(kept, "_FEW", 2)


def questions() -> list[KeptQuestion]:
    return [KeptQuestion(sql=sql, parameters=parameters) for sql, parameters in heavy_questions()]


def kept_tables(store: Store) -> set[str]:
    @dataclass(frozen=True)
    class Table:
        table_name: str

    rows = store.ask(Table, "select table_name from duckdb_tables() where starts_with(table_name, 'kept_')")
    return {row.table_name for row in rows}


@pytest.fixture
def builder(tmp_path):
    chance = random.Random(5)
    builder = LabBuilder(tmp_path / "live")
    for number in range(150):
        call = builder.call(
            chance.choice("abc"),
            conversation_id=f"c{chance.randrange(30)}",
            source=chance.choice(["rag_reply", "llm_reply", None]),
            arguments=f'{{"n":{number}}}',
            result=chance.choice(['{"ok":true}', '{"ok":false}', "[]"]),
            created_at=MONDAY + timedelta(hours=number),
        )
        for reviewer in chance.sample(["anna", "bob", "cleo"], chance.choice([0, 1, 2, 3])):
            builder.label(call, chance.choice(FIVE), reviewer, note=chance.choice([None, "n is wrong"]))
    return builder


def test_what_was_kept_is_what_would_be_computed(builder, tmp_path):
    live = builder.store()
    keeping = Store(tmp_path / "kept", kept=questions)
    keeping.write_records(builder.records)

    assert kept_tables(live) == set()
    assert kept_tables(keeping) == {one.table for one in questions()}
    for question in (failing_tools, label_counts, proposals):
        assert question(keeping).records() == question(live).records()
        assert question(keeping).notes == question(live).notes


def test_a_change_lets_go_of_what_was_kept_and_keeps_it_anew(builder, tmp_path):
    store = Store(tmp_path / "kept", kept=questions)
    store.write_records(builder.records)
    before = {row.label: row.rows for row in label_counts(store)}

    call = builder.call("a")
    label = builder.label(call, "bad_args")
    store.write_records([call, label, *builder.calls(20)], origin="more")

    after = {row.label: row.rows for row in label_counts(store)}
    assert after["bad_args"] == before["bad_args"] + 1
    assert len(kept_tables(store)) == len(questions())


def test_after_a_small_change_answers_are_computed_when_asked(builder, tmp_path):
    store = Store(tmp_path / "kept", kept=questions)
    store.write_records(builder.records)
    label = builder.label(
        builder.records[0], "bad_args", "dora"
    )  # one of several hundred rows: less than 1 %

    store.write_records([label], origin="a click")

    assert kept_tables(store) == set()
    assert {row.label: row.rows for row in label_counts(store)}["bad_args"] == sum(
        getattr(record, "label", None) == "bad_args" for record in builder.records
    )


def test_a_store_that_keeps_nothing_lets_go_of_what_another_kept(builder, tmp_path):
    Store(tmp_path / "kept", kept=questions).write_records(builder.records)
    plain = Store(tmp_path / "kept")

    plain.write_records(builder.calls(30), origin="more")

    assert kept_tables(plain) == set()


def test_another_text_or_other_parameters_are_another_question():
    one = KeptQuestion(sql="select 1 as n", parameters={"a": [1]})

    assert one.table == KeptQuestion(sql="select 1 as n", parameters={"a": [1]}).table
    assert one.table != KeptQuestion(sql="select 2 as n", parameters={"a": [1]}).table
    assert one.table != KeptQuestion(sql="select 1 as n", parameters={"a": [2]}).table


def test_questions_asked_together_share_one_connection(builder):
    store = builder.store()

    with store.together(), store.question() as first, store.question() as second:
        shared = first is second
    with store.question() as later:
        fresh = later is not first

    assert shared
    assert fresh


def test_a_lab_of_few_calls_keeps_nothing(builder, tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "_FEW", len(builder.records) + 1)
    store = Store(tmp_path / "few", kept=questions)
    store.write_records(builder.records)

    assert kept_tables(store) == set()
    assert failing_tools(store).records() == failing_tools(builder.store()).records()
