"""Where tools come from: definitions, stand-ins, Python objects, entry points; and references to them."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality_lab.errors import InputError, UsageError
from quality_lab.toolbox.definitions import effect_from_hints, is_definition_only, parse_definitions
from quality_lab.toolbox.exchange_desk import Transfer
from quality_lab.toolbox.references import prompt_of, referenced_tools, scenario, unknown_references
from quality_lab.toolbox.sources import Occasion, tool_source
from quality_lab.toolbox.stand_ins import STAND_INS, World
from quality_lab.toolbox.tool_check import check_definitions, check_references, usable
from quality_lab.toolloop import ScriptedModel, Tool, ToolContext, ToolError, approve_all, call, run_loop

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {"name": "weather", "description": "Tells the weather. Call it for any question on it."}


def opened(name: str, folder: Path, **occasion: Any) -> Any:
    return tool_source(name, folder=folder, environ={}).open(Occasion(**occasion))


# ---- definitions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document",
    [
        [{"type": "function", "function": {**WEATHER, "parameters": SCHEMA}}],
        [{"type": "function", **WEATHER, "parameters": SCHEMA}],
        {"functions": [{**WEATHER, "parameters": SCHEMA}]},
        {"tools": [{**WEATHER, "inputSchema": SCHEMA}]},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{**WEATHER, "inputSchema": SCHEMA}]}},
        [{**WEATHER, "input_schema": SCHEMA}],
        [{**WEATHER, "arguments": [{"name": "city", "type": "string"}]}],
        {**WEATHER, "parameters": SCHEMA},
    ],
)
def test_every_form_of_a_definition_gives_the_same_tool(document):
    (tool,), broken = usable(parse_definitions(document, where="here"))

    assert broken == []
    assert (tool.name, tool.description, tool.schema) == ("weather", WEATHER["description"], SCHEMA)
    assert tool.effect == "irreversible"
    assert is_definition_only(tool)


def test_tools_listed_by_server_keep_their_server():
    document = [{"name": "all", "tools": {"north": {"tools": [WEATHER]}, "south": {"tools": [WEATHER]}}}]

    found = parse_definitions(document, where="here")
    tools, broken = usable(found)

    assert [(each.name, each.server) for each in found] == [("weather", "north"), ("weather", "south")]
    assert [tool.server for tool in tools] == ["north"]
    assert [problem.rule for problem in broken[0].problems] == ["unique_name"]


def test_a_registry_s_arguments_become_a_schema_with_the_optional_ones_left_optional():
    listed = [
        {"name": "city", "type": "string", "desc": "Where"},
        {"name": "days", "type": "array", "items": {"type": "string"}, "desc": "When", "optional": True},
        {"type": "string"},
    ]

    (found,) = parse_definitions([{**WEATHER, "arguments": listed}], where="here")

    assert found.schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where"},
            "days": {"type": "array", "items": {"type": "string"}, "description": "When"},
        },
        "required": ["city"],
    }
    assert [problem.message for problem in found.problems] == ["argument 3 has no name"]


@pytest.mark.parametrize(
    ("hints", "effect"),
    [
        ({"readOnlyHint": True}, "read"),
        ({"readOnlyHint": True, "destructiveHint": True}, "read"),
        ({"readOnlyHint": False, "destructiveHint": False}, "write"),
        ({"destructiveHint": False}, "write"),
        ({"destructiveHint": True}, "irreversible"),
        ({"readOnlyHint": False}, "irreversible"),
        ({"readOnlyHint": "true"}, "irreversible"),
        ({}, "irreversible"),
        (None, "irreversible"),
        ("read", "irreversible"),
    ],
)
def test_an_effect_that_is_not_stated_is_irreversible(hints, effect):
    assert effect_from_hints(hints) == effect


def test_a_tool_that_is_only_defined_says_so_when_it_is_run():
    (tool,), _ = usable(parse_definitions([WEATHER], where="here"))

    with pytest.raises(ToolError, match="only defined here"):
        tool.execute({}, ToolContext())


@pytest.mark.parametrize(
    ("definition", "rules"),
    [
        (WEATHER, []),
        ({**WEATHER, "name": "auth.clear"}, ["name"]),
        ({**WEATHER, "name": "x" * 65}, ["name"]),
        ({"name": "weather", "parameters": SCHEMA}, ["description"]),
        ({**WEATHER, "description": "x" * 1_024}, []),
        ({**WEATHER, "description": "x" * 1_025}, ["description_length"]),
        ({**WEATHER, "parameters": {"type": "dict", "properties": {}}}, ["schema"]),
        ({**WEATHER, "parameters": {"type": "array"}}, ["schema"]),
        ({**WEATHER, "parameters": {"type": "object", "properties": {"a": {"type": "float"}}}}, ["schema"]),
        (
            {**WEATHER, "parameters": {"type": "object", "$ref": "https://schemas.example.com/x"}},
            ["schema"],
        ),
        ({**WEATHER, "parameters": "none"}, ["schema"]),
        (
            {**WEATHER, "parameters": {"type": "object", "properties": {"a b": {"type": "string"}}}},
            ["parameter_name"],
        ),
    ],
)
def test_a_definition_is_checked_by_rule(definition, rules):
    (checked,) = check_definitions(parse_definitions([definition], where="here"))

    assert [problem.rule for problem in checked.problems] == rules
    assert checked.as_json()["ok"] is (rules == [])


@pytest.mark.parametrize(
    "document", [[], {}, {"tools": []}, [{"name": 5}], ["text"], {"title": "x"}, [{"name": "x"}]]
)
def test_what_defines_no_tools_is_refused(document):
    with pytest.raises(InputError, match="no definition"):
        parse_definitions(document, where="here")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["name", "description", "tools", "function", "arguments", "parameters", "result", "type"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_document_gives_definitions_with_checks_or_is_refused_in_words(document):
    try:
        found = parse_definitions(document, where="here")
    except InputError:
        return
    tools, broken = usable(found)

    assert found
    assert len(tools) + len(broken) == len(found)
    assert len({tool.name for tool in tools}) == len(tools)


def test_the_tools_of_real_servers_are_read_checked_and_their_effects_are_those_of_their_hints(shared):
    seen = 0
    for path, count, not_ok in (
        ("docker-buildkite.tools.json", 24, {}),
        ("docker-sqlite-mcp-server.tools.json", 25, {}),
        (
            "github-mcp-server.toolsnaps-joined.json",
            117,
            {"pull_request_review_write": ["description_length"]},
        ),
    ):
        document = json.loads((shared / "traces" / "mcp-tools" / path).read_text())
        listed = document["tools"] if isinstance(document, dict) else document
        hints = [each.get("annotations", {}) for each in listed]
        reads = sum(hint.get("readOnlyHint") is True for hint in hints)
        writes = sum(
            hint.get("readOnlyHint") is not True and hint.get("destructiveHint") is False for hint in hints
        )

        definitions = parse_definitions(document, where=path)
        checks = check_definitions(definitions)
        tools, _ = usable(definitions)

        assert len(definitions) == len(tools) == count
        effects = Counter(tool.effect for tool in tools)
        assert (effects["read"], effects["write"]) == (reads, writes)
        told = {check.tool: [problem.rule for problem in check.problems] for check in checks if not check.ok}
        assert told == not_ok
        seen += len(checks)
    assert seen == 166


def test_an_entry_that_defines_nothing_does_not_hide_the_others():
    checks = check_definitions(parse_definitions([WEATHER, "text", {"title": "x"}], where="here"))

    assert [(check.tool, [problem.rule for problem in check.problems]) for check in checks] == [
        ("weather", []),
        ("entry_2", ["definition"]),
        ("entry_3", ["definition"]),
    ]


# ---- references -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Use [@FAQ](tool://faq_lookup) then [@Hand off](tool://handoff), or [FAQ again](tool://faq_lookup).",
         ["faq_lookup", "handoff"]),
        ("[](tool://handoff)", ["handoff"]),
        ("[@A [b](tool://x)", ["x"]),
        ("[a](tool://)", []),
        ("[a](tool://x/y)", []),
        ("[a](https://example.com) and [b] (tool://x)", []),
        ("[a\nb](tool://my tool)", ["my tool"]),
        ("", []),
    ],
)  # fmt: skip
def test_references_are_drawn_from_a_text_each_once(text, ids):
    assert referenced_tools(text) == ids


def test_references_that_do_not_exist_are_named_all_of_them():
    text = "[@A](tool://a) [@B](tool://b) [@C](tool://c) [@B](tool://b)"

    assert unknown_references(text, ["b"]) == ["a", "c"]
    with pytest.raises(UsageError, match="tools that do not exist: a, c; there are b"):
        scenario(text, [Tool(name="b", description="B.", execute=lambda args, context: None)])
    assert [(check.tool, check.ok) for check in check_references(text, ["b"])] == [
        ("a", False),
        ("b", True),
        ("c", False),
    ]


def test_a_scenario_offers_exactly_the_tools_of_its_text_and_names_them_in_its_prompt():
    world = World()
    every = world.open("conversation", conversation="1")

    made = scenario(
        "When angry, call [@Prio](tool://update_priority), then [@Hand off](tool://handoff).",
        [*every.offered, *every.by_choice],
    )

    assert made.prompt == "When angry, call tool update_priority, then tool handoff."
    assert [tool.name for tool in made.tools] == ["update_priority", "handoff"]
    assert scenario("Just talk.", every.offered).tools == ()


PLAIN = st.text(alphabet="ab )(/:.\n", max_size=8)
LABELLED = st.tuples(
    st.text(alphabet="@ab([ ", max_size=5), st.text(alphabet="abc_[(", min_size=1, max_size=5)
)


@given(st.lists(st.tuples(PLAIN, LABELLED), max_size=5), PLAIN)
def test_each_reference_becomes_a_phrase_and_the_text_between_stays(parts, end):
    text = "".join(f"{plain}[{label}](tool://{name})" for plain, (label, name) in parts) + end

    assert prompt_of(text) == "".join(f"{plain}tool {name}" for plain, (_, name) in parts) + end
    assert referenced_tools(text) == list(dict.fromkeys(name for _, (_, name) in parts))


# ---- stand-ins ------------------------------------------------------------------------------------------


def test_every_stand_in_opens_by_name_and_its_state_is_json():
    world = World(booking_url="https://book.example.com")

    offered = {name: [tool.name for tool in world.open(name, conversation="1").offered] for name in STAND_INS}

    assert offered["booking"] == ["offer_booking_link"]
    assert offered["conversation"] == ["faq_lookup", "handoff"]
    assert (len(offered["exchange"]), len(offered["office"])) == (8, 4)
    assert json.loads(json.dumps(world.state())) == world.state()
    assert sorted(world.state()) == ["conversation", "exchange", "office"]


def test_one_stand_in_alone_gives_its_own_state_and_one_conversation_its_own():
    world = World()

    world.open("conversation", conversation="7")

    assert world.state()["conversationId"] == "7"


def test_options_choose_the_stage_the_link_and_further_tools(tmp_path: Path):
    exchange = opened("toolbox:exchange?stage=payment_verified", tmp_path)
    booking = opened("toolbox:booking?url=https://book.example.com", tmp_path)
    conversation = opened("toolbox:conversation?also=add_private_note,update_priority", tmp_path)

    assert "The lead is in stage payment_verified" in exchange.tools[0].description
    assert booking.tools[0].execute({}, ToolContext()) == {"url": "https://book.example.com"}
    assert [tool.name for tool in conversation.tools] == [
        "faq_lookup",
        "handoff",
        "add_private_note",
        "update_priority",
    ]


def test_without_a_stage_the_exchange_is_not_gated_and_its_client_is_verified(tmp_path: Path):
    tools = opened("toolbox:exchange", tmp_path).tools
    create = next(tool for tool in tools if tool.name == "create_exchange_order")

    assert [tool.gate for tool in tools] == [None] * 8
    assert create.execute({"asset": "USDT", "amount": 10}, ToolContext())["orderId"] == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("toolbox:exchanger", "no stand-in is named 'exchanger'; there are booking, conversation, exchange"),
        ("toolbox:exchange?speed=9", "does not take speed; it takes stage"),
        ("toolbox:exchange?stage=lunch", "no stage is named 'lunch'"),
        ("toolbox:office?x=", "it takes no options"),
        ("toolbox:conversation?also=nope", "no conversation tool is named nope"),
        ("what is this", "wanted is a file, MODULE:NAME, toolbox:NAME, or entry-points"),
        ("entry-points:nope", "no package offers tools as 'nope'"),
    ],
)
def test_a_source_that_is_not_there_is_said_with_those_that_are(tmp_path: Path, name, words):
    with pytest.raises(UsageError, match=words):
        opened(name, tmp_path)


def play(world: World) -> tuple[list[Any], dict[str, Any]]:
    """A whole sale in the real loop: four turns, with the world acting between them."""
    told: list[Any] = []

    def turn(*replies: Any) -> None:
        tools = world.open("exchange", conversation="c").offered
        model = ScriptedModel(*replies, "done")
        result = asyncio.run(
            run_loop(
                model, [{"role": "user", "content": "go"}], tools=tools, approve=approve_all, max_cycles=4
            )
        )
        told.extend(outcome.result for outcome in result.calls)

    turn(
        call("compute_exchange_quote", {"asset": "USDT", "amount": 1000}),
        call("create_exchange_order", {"payoutMethod": "office_cash"}),
    )
    turn(
        call("create_exchange_order", {"asset": "USDT", "amount": 1000, "payoutMethod": "office_cash"}),
        call("fetch_exchange_requisites"),
    )
    world.desk.transfer_arrives(
        "0xfeed", Transfer(to_address=told[-1]["address"], from_address="Tclient", amount=Decimal(1000))
    )
    turn([call("verify_exchange_payment", {"proof": "0xfeed"})])
    world.desk.add_payout_code(1, "4711", expires_at=world.clock() + 600)
    turn(
        call("issue_exchange_payout", {"payoutMethod": "office_cash", "location": "Bangkok"}),
        call("issue_exchange_payout", {"payoutMethod": "office_cash", "location": "Bangkok"}),
    )
    return told, world.state()


def test_a_whole_sale_runs_through_the_loop_to_the_same_end_every_time():
    told, state = play(World(seed=5))
    told_again, state_again = play(World(seed=5))

    assert told[0] == {
        "direction": "USDT->THB",
        "asset": "USDT",
        "quoteAsset": "THB",
        "network": "TRC20",
        "amountMode": "source_amount",
        "amountFrom": 1000,
        "rate": 32.6,
        "amountToThb": 32600,
        "display": "1000 USDT = 32600 THB",
    }
    assert told[1] == {"error": "asset and amount missing: ask the client."}  # no funnel collected them
    assert told[2]["orderId"] == 1
    assert told[4]["ok"] is True
    assert told[5]["payoutCode"] == "4711"
    assert (state["orders"][0]["status"], state["leads"]["c"]["stage"]) == ("payout", "payout_or_completion")
    assert (told, state) == (told_again, state_again)


# ---- Python and entry points ----------------------------------------------------------------------------

MODULE = '''
from quality_lab.toolloop import Tool, tool

@tool(effect="read")
def first(args, context):
    """Reads. Call it first."""
    return 1

second = Tool(name="second", description="Acts. Call it next.", execute=lambda args, context: 2)
BOTH = [first, second]

def for_tenant(occasion):
    return BOTH if occasion.tenant == "acme" else first

class Box:
    inner = BOTH

WRONG = {"first": first}
MIXED = [first, "second"]
NOTHING = 5

def without_an_argument():
    return BOTH

def lazily(occasion):
    yield first
    raise KeyError("second")
'''


@pytest.fixture
def module(tmp_path: Path) -> Path:
    (tmp_path / "tools_of_this_test.py").write_text(MODULE)
    return tmp_path


@pytest.mark.parametrize(
    ("attribute", "tenant", "names"),
    [
        ("first", "default", ["first"]),
        ("BOTH", "default", ["first", "second"]),
        ("for_tenant", "default", ["first"]),
        ("for_tenant", "acme", ["first", "second"]),
        ("Box.inner", "default", ["first", "second"]),
    ],
)
def test_a_python_name_gives_a_tool_several_or_those_of_the_occasion(module: Path, attribute, tenant, names):
    tools = opened(f"tools_of_this_test:{attribute}", module, tenant=tenant).tools

    assert [tool.name for tool in tools] == names
    assert [tool.effect for tool in tools] == ["read", "irreversible"][: len(names)]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tools_of_this_test:WRONG", "is dict; wanted is a Tool, several"),
        ("tools_of_this_test:NOTHING", "is int; wanted is a Tool"),
        ("tools_of_this_test:MIXED", "holds str beside tools"),
        ("tools_of_this_test:absent", "cannot be imported"),
        ("no_such_module_here:TOOLS", "cannot be imported: No module named"),
        ("broken_tools_of_this_test:TOOLS", "cannot be imported"),
        ("raising_tools_of_this_test:TOOLS", "cannot be imported: RuntimeError: no server"),
        (
            "tools_of_this_test:without_an_argument",
            "makes no tools: TypeError: .*takes 0 positional arguments",
        ),
        ("tools_of_this_test:lazily", "makes no tools: KeyError: 'second'"),
    ],
)
def test_a_python_name_that_gives_no_tools_is_refused(module: Path, name, words):
    (module / "broken_tools_of_this_test.py").write_text("def (")
    (module / "raising_tools_of_this_test.py").write_text("raise RuntimeError('no server')")

    with pytest.raises(InputError, match=words):
        opened(name, module)


def test_installed_packages_offer_tools_as_entry_points(module: Path, monkeypatch):
    info = module / "tools_of_this_test-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tools-of-this-test\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[quality_lab.tools]\nours = tools_of_this_test:BOTH\nbroken = tools_of_this_test:absent\n"
    )
    monkeypatch.syspath_prepend(str(module))

    ours = opened("entry-points:ours", module).tools

    assert [tool.name for tool in ours] == ["first", "second"]
    with pytest.raises(InputError, match="entry point broken cannot be imported"):
        opened("entry-points", module)
    with pytest.raises(UsageError, match="there are broken, ours"):
        opened("entry-points:other", module)
