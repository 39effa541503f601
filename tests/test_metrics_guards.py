"""Guards: reasons and actions, whatever the guard wrote."""

from __future__ import annotations

from datetime import timedelta

import pytest
from lab_builder import MONDAY, LabBuilder

from quality_lab.metrics import guards


@pytest.fixture
def builder(tmp_path):
    return LabBuilder(tmp_path)


def test_each_reason_is_counted_with_its_action(builder):
    builder.guard("unbacked_quote", "rate_negotiation", conversation_id="1")
    builder.guard("unbacked_quote", conversation_id="1", created_at=MONDAY + timedelta(days=1))
    builder.guard("unbacked_quote", action="escalate", conversation_id="2")
    builder.calls(5, is_error=True, error_origin="flag")

    rows = guards(builder.store())

    assert [(row.reason, row.action, row.rows, row.conversations) for row in rows] == [
        ("unbacked_quote", "rewrite", 2, 1),
        ("rate_negotiation", "rewrite", 1, 1),
        ("unbacked_quote", "escalate", 1, 1),
    ]
    assert rows[0].last_at == MONDAY + timedelta(days=1)


@pytest.mark.parametrize(
    "result", [None, "not json", "[]", "{}", '{"reasons":"many","action":5}', '{"reasons":[],"action":null}']
)
def test_a_guard_that_names_nothing_is_still_counted(builder, result):
    builder.guard(result=result)

    assert [(row.reason, row.action, row.rows) for row in guards(builder.store())] == [
        ("not_stated", "not_stated", 1)
    ]


def test_a_lone_surrogate_in_what_the_guard_wrote_does_no_harm(builder):
    builder.guard(result='{"action":"block","reasons":["unbacked_quote"],"originalText":"\\ud83d"}')

    assert guards(builder.store())[0].action == "block"
