"""What may run in a re-run: nothing that lasts. Each tool here writes down that it ran."""

from __future__ import annotations

from typing import Any

import pytest
from replaying import Saying, case, definition, rerun, then

from quality_lab.toolloop import Tool, call


class Witness:
    """Tools that note each time they are really run."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def tool(self, name: str, effect: Any = None, **more: Any) -> Tool:
        def execute(args: dict[str, Any], context: Any) -> Any:
            self.ran.append(name)
            return {"ok": True, "from": "the real one"}

        promises = {} if effect is None else {"effect": effect}
        return Tool(name=name, description=f"Does {name}.", execute=execute, **promises, **more)


@pytest.fixture
def witness() -> Witness:
    return Witness()


def ordering(name: str, **more: Any) -> Any:
    expected = {"behavior": "Does it.", "calls": [{"tool": name}]}
    return case(toolName=name, expected=expected, recorded=[], input={"tools": []}, **more)


@pytest.mark.parametrize("effect", ["irreversible", None])
@pytest.mark.parametrize("allow_live", [False, True])
@pytest.mark.parametrize("inline", [False, True])
def test_what_cannot_be_undone_is_never_run_and_what_is_not_stated_is_irreversible(
    witness: Witness, effect: Any, allow_live: bool, inline: bool
) -> None:
    tool = witness.tool("pay", effect, inline=inline)
    model = Saying(then(call("pay"), "done"))

    [outcome] = rerun(ordering("pay"), model=model, tools=[tool], allow_live=allow_live)

    assert witness.ran == []
    assert (outcome.verdict, outcome.reason.split(":")[0]) == ("INCONCLUSIVE", "refused")
    [evidence] = outcome.trials[0].evidence
    assert (evidence.grade, evidence.refused) == ("unavailable", True)
    assert "pay cannot be undone" in outcome.trials[0].notes[0]
    assert "is not carried out here" in model.asked[1]["messages"][-1]["content"]


@pytest.mark.parametrize("allow_live", [False, True])
def test_a_write_that_is_not_on_the_tape_is_unavailable_and_not_run(
    witness: Witness, allow_live: bool
) -> None:
    model = Saying(then([call("book")], [call("look")], "done"))
    expected = {"behavior": "Looks.", "calls": [{"tool": "look"}]}
    asked = case(expected=expected, recorded=[], input={"tools": []})
    tools = [witness.tool("book", "write"), witness.tool("look", "read")]

    [outcome] = rerun(asked, model=model, tools=tools, allow_live=allow_live)

    assert "book" not in witness.ran
    assert outcome.verdict == "INCONCLUSIVE"  # what decides came after it
    assert outcome.reason.startswith("after_unavailable")
    assert outcome.trials[0].evidence[0].grade == "unavailable"
    assert outcome.trials[0].notes == ("no recorded result for book",) or not allow_live


def test_a_call_in_the_cycle_of_the_unavailable_result_still_stands(witness: Witness) -> None:
    model = Saying(then([call("book", {"day": "fri"})], "done"))
    expected = {"behavior": "Books.", "calls": [{"tool": "book", "args": {"day": "fri"}}]}
    asked = case(expected=expected, recorded=[], input={"tools": []})

    [outcome] = rerun(asked, model=model, tools=[witness.tool("book", "write")])

    assert (witness.ran, outcome.verdict) == ([], "PASS")


def test_a_read_runs_for_real_only_where_that_is_allowed(witness: Witness) -> None:
    tool = witness.tool("look", "read")

    [kept_in] = rerun(ordering("look"), model=Saying(then(call("look"), "done")), tools=[tool])
    before = list(witness.ran)
    [let_out] = rerun(
        ordering("look"), model=Saying(then(call("look"), "done")), tools=[tool], allow_live=True
    )

    assert (before, witness.ran) == ([], ["look"])
    assert [each.trials[0].evidence[0].grade for each in (kept_in, let_out)] == ["unavailable", "live"]


def test_a_tool_on_the_tape_is_answered_from_it_and_not_run(witness: Witness) -> None:
    tape = [{"tool": "pay", "args": {}, "result": {"paid": 1.10}}]
    model = Saying(then(call("pay"), "done"))

    [outcome] = rerun(ordering("pay", tape=tape), model=model, tools=[witness.tool("pay")])

    assert witness.ran == []
    assert (outcome.verdict, outcome.trials[0].evidence[0].grade) == ("PASS", "edited")
    assert model.asked[1]["messages"][-1]["content"] == '{"paid":1.1}'


def test_recorded_decisions_run_nothing_either(witness: Witness) -> None:
    recorded = [{"tool": name, "args": {}, "error": False} for name in ("pay", "book", "look")]
    asked = case(toolName="pay", recorded=recorded, input={"tools": [], "args": {}})
    tools = [witness.tool("pay"), witness.tool("book", "write"), witness.tool("look", "read")]

    rerun(asked, tools=tools)

    assert witness.ran == []


def test_hints_of_mcp_are_heeded_and_their_absence_is_irreversible() -> None:
    definitions = [
        definition("look", annotations={"readOnlyHint": True}),
        definition("book", annotations={"destructiveHint": False}),
        definition("pay"),
    ]
    model = Saying(then([call("look"), call("book"), call("pay")], "done"))

    [outcome] = rerun(case(recorded=[], input={"tools": definitions}), model=model)

    assert [each.refused for each in outcome.trials[0].evidence] == [False, False, True]


def test_stand_ins_run_in_memory_and_their_end_state_is_judged() -> None:
    expected = {"behavior": "Books.", "end_state": {"leads": {"$any": True}}}
    model = Saying(then("done"))

    [outcome] = rerun(
        case(expected=expected, recorded=[], input={"tools": []}), model=model, tools="toolbox:office"
    )

    assert outcome.verdict == "PASS"
    assert len(model.asked[0]["tools"]) > 3


def test_a_stand_in_s_call_is_simulated_and_starts_from_a_new_world_each_time() -> None:
    expected = {"behavior": "One lead.", "calls": [{"tool": "create_crm_lead", "must_succeed": False}]}
    model = Saying(then(call("create_crm_lead", {"name": "Ada", "contact": "ada@example.com"}), "done"))
    asked = case(expected=expected, recorded=[], input={"tools": []})

    [outcome] = rerun(asked, model=model, tools="toolbox:office", trials=2)

    told = [trial.evidence[0] for trial in outcome.trials]
    assert outcome.verdict == "PASS"
    assert all(each.grade in ("simulated", None) for each in told)
    answers = [asked["messages"][-1]["content"] for asked in model.asked if len(asked["messages"]) > 1]
    assert len(set(answers)) == 1
