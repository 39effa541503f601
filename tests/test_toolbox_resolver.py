"""The resolver: configuration by tenant, one answer a message, files that change; and `quality-lab tools`."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from quality_lab.cli.tools import tools as tools_command
from quality_lab.errors import InputError, UsageError
from quality_lab.toolbox.booking import set_booking_url
from quality_lab.toolbox.exchange_rates import Rate
from quality_lab.toolbox.resolver import ToolResolver, tools_from
from quality_lab.toolbox.sources import Occasion
from quality_lab.toolbox.stand_ins import World
from quality_lab.toolloop import ToolContext

HTTP = """
[[tool]]
title = "Track a parcel"
description = "Tells where a parcel is.\\nCall it when asked."
endpoint_url = "https://api.example.com/parcels/{{ number }}"
effect = "read"
[[tool.param]]
name = "number"
type = "string"
description = "Number on the receipt"
required = true

[[tool]]
slug = "ping"
title = "Ping"
endpoint_url = "https://api.example.com/ping"
enabled = false

[[tool]]
slug = "inside"
title = "Inside"
endpoint_url = "https://localhost/"
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path


def configure(home: Path, text: str) -> None:
    (home / "data" / "tools.toml").write_text(text)


def resolver(home: Path, **environ: str) -> ToolResolver:
    return ToolResolver(home, environ=environ)


def names(found: Any) -> list[str]:
    return [tool.name for tool in found.tools]


# ---- configuration --------------------------------------------------------------------------------------


def test_without_a_configuration_the_stand_ins_are_offered_and_booking_once_its_link_is_set(home: Path):
    before = names(resolver(home).resolve())
    set_booking_url(home, "https://book.example.com")
    after = names(resolver(home).resolve())

    assert (before[0], len(before)) == ("compute_exchange_quote", 14)
    assert after == ["offer_booking_link", *before]


def test_each_tenant_has_its_own_sources_flags_and_faq(home: Path):
    (home / "data" / "web.toml").write_text(HTTP)
    (home / "data" / "faq.json").write_text('[{"question": "Open?", "answer": "At ten."}]')
    configure(
        home,
        """
        [tenant.default]
        sources = ["toolbox:office"]
        [tenant.acme]
        sources = ["web.toml", "toolbox:conversation"]
        faq = "faq.json"
        [tenant.acme.enabled]
        handoff = false
        ping = true
        add_private_note = true
        """,
    )

    default, acme = resolver(home).resolve(), resolver(home).resolve(tenant="acme")

    assert len(names(default)) == 4
    assert names(acme) == ["custom_track_a_parcel", "ping", "faq_lookup", "add_private_note"]
    assert "At ten." in acme.tools[2].execute({"query": "open"}, ToolContext())
    assert [(each.tool.name, each.enabled) for each in acme.known if not each.enabled] == [("handoff", False)]
    assert [(check.tool, check.problems[0].rule) for check in acme.left_out] == [
        ("inside", "disallowed_hostname")
    ]


def test_custom_tools_are_listed_in_the_system_prompt_one_a_line(home: Path):
    (home / "data" / "web.toml").write_text(HTTP)
    configure(home, '[tenant.default]\nsources = ["web.toml", "toolbox:office"]')

    found = resolver(home).resolve()

    assert found.prompt == (
        "Custom tools that you may call:\n"
        "- custom_track_a_parcel: Tells where a parcel is. Call it when asked."
    )
    assert resolver(home).resolve().tools[0].server == "http"


def test_the_first_tool_of_a_name_stays_and_a_flag_for_nothing_is_said(home: Path):
    configure(
        home,
        '[tenant.default]\nsources = ["toolbox:office", "toolbox:office"]\nenabled = {alert_oprator = false}',
    )

    found = resolver(home).resolve()

    assert len(found.tools) == 4
    assert [(check.tool, check.problems[0].rule) for check in found.left_out] == [
        ("create_crm_lead", "unique_name"),
        ("book_calendar_slot", "unique_name"),
        ("issue_payment_invoice", "unique_name"),
        ("alert_operator", "unique_name"),
        ("alert_oprator", "unknown_tool"),
    ]


def test_a_tenant_has_fifteen_http_tools_over_all_its_catalogues(home: Path):
    for part in "ab":
        tools = [
            {"slug": f"{part}{n}", "title": "T", "endpoint_url": "https://x.example.com/"} for n in range(10)
        ]
        (home / "data" / f"{part}.json").write_text(json.dumps({"tool": tools}))
    configure(home, '[tenant.default]\nsources = ["a.json", "b.json"]')

    found = resolver(home).resolve()

    assert len(found.tools) == 15
    assert [check.tool for check in found.left_out] == ["b5", "b6", "b7", "b8", "b9"]
    assert {check.problems[0].rule for check in found.left_out} == {"too_many"}


def test_the_application_s_own_hosts_are_refused_to_its_http_tools(home: Path):
    (home / "data" / "web.toml").write_text(HTTP)
    configure(home, '[tenant.default]\nsources = ["web.toml"]\nown_hosts = ["api.example.com"]')

    found = resolver(home).resolve()

    assert found.tools == ()
    assert [check.problems[0].rule for check in found.left_out] == [
        "own_host",
        "own_host",
        "disallowed_hostname",
    ]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("[tenant", InputError, "tools.toml cannot be read"),
        ("[tenant.default]\nsource = []", InputError, "unknown field"),
        ("[tenant.default]\nenabled = {x = 1}", InputError, "cannot be read"),
        ('[tenant.default]\nsources = ["gone.json"]', InputError, "gone.json cannot be read"),
        ('[tenant.default]\nsources = ["toolbox:x"]', UsageError, "no stand-in is named 'x'"),
        ('[tenant.default]\nfaq = "gone.json"', InputError, "gone.json is no FAQ file"),
        ("[tenant.acme]", UsageError, "has no tenant default; it has acme"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_said_with_its_file(home: Path, text, error, words):
    configure(home, text)

    with pytest.raises(error, match=words):
        resolver(home).resolve()


def test_files_lie_beside_the_configuration_and_modules_in_the_home(home: Path):
    (home / "tools_beside_data.py").write_text(
        "from quality_lab.toolloop import Tool\n"
        "OURS = Tool(name='ours', description='Ours.', execute=lambda args, context: 1)\n"
    )
    configure(home, "[tenant.default]\nsources = ['tools_beside_data:OURS']")

    assert names(resolver(home).resolve()) == ["ours"]


# ---- once a message, until something changes -------------------------------------------------------------


def test_the_same_message_is_answered_with_the_very_same_tools_and_the_next_with_new_ones(home: Path):
    resolving = resolver(home)

    first = resolving.resolve(conversation="c", message=1)
    again = resolving.resolve(conversation="c", message=1)
    other = resolving.resolve(conversation="d", message=1)
    following = resolving.resolve(conversation="c", message=2)

    assert again is first
    assert other is not first
    assert following is not first


def test_the_stage_in_the_first_description_is_that_at_the_start_of_the_turn(home: Path):
    configure(home, '[tenant.default]\nsources = ["toolbox:exchange?stage=exchange_request"]')
    resolving = resolver(home)
    first = resolving.resolve(message=1).tools[0]
    first.execute({"asset": "USDT", "amount": 5}, ToolContext())

    same_turn = resolving.resolve(message=1).tools[0]
    next_turn = resolving.resolve(message=2).tools[0]

    assert same_turn is first
    assert "in stage exchange_request" in first.description
    assert "in stage quote_calculated" in next_turn.description


def change(path: Path, text: str) -> None:
    """Write another text of the same length at the same second, as an editor may."""
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))


def test_a_file_that_changes_appears_or_goes_ends_what_was_kept(home: Path):
    web = home / "data" / "web.toml"
    web.write_text(HTTP)
    configure(home, '[tenant.default]\nsources = ["web.toml", "toolbox:booking"]')
    resolving = resolver(home)
    seen = [names(resolving.resolve())]

    change(web, HTTP.replace("enabled = false", "enabled = true "))
    seen.append(names(resolving.resolve()))
    set_booking_url(home, "https://book.example.com")
    seen.append(names(resolving.resolve()))
    configure(home, '[tenant.default]\nsources = ["toolbox:booking"]')
    seen.append(names(resolving.resolve()))

    assert seen == [
        ["custom_track_a_parcel"],
        ["custom_track_a_parcel", "ping"],
        ["custom_track_a_parcel", "ping", "offer_booking_link"],
        ["offer_booking_link"],
    ]


def test_the_exchange_tools_go_when_the_last_rate_is_switched_off(home: Path):
    configure(home, '[tenant.default]\nsources = ["toolbox:exchange"]')
    resolving = resolver(home)
    before = resolving.resolve(message=1)
    desk = resolving.world().desk
    for asset in list(desk.rates):
        desk.set_rate(Rate(asset=asset, thb=Decimal(1), active=False))

    after = resolving.resolve(message=1)

    assert (len(before.tools), len(after.tools)) == (8, 0)


def test_a_thousand_conversations_are_kept_and_no_more(home: Path):
    configure(home, '[tenant.default]\nsources = ["toolbox:booking"]')
    resolving = resolver(home)
    first = resolving.resolve(conversation="first", message=1)
    for number in range(1_000):
        resolving.resolve(conversation=str(number), message=1)

    assert resolving.resolve(conversation="999", message=1) is resolving.resolve(
        conversation="999", message=1
    )
    assert resolving.resolve(conversation="first", message=1) is not first


def test_the_environment_s_booking_link_stands_above_the_file_and_is_checked(home: Path):
    set_booking_url(home, "https://file.example.com")
    set_booking_url(home, "https://acme.example.com", "acme")
    configure(
        home, "[tenant.default]\nsources = ['toolbox:booking']\n[tenant.acme]\nsources = ['toolbox:booking']"
    )
    resolving = resolver(home, QUALITY_LAB_BOOKING_URL="https://env.example.com")

    default, acme = resolving.resolve(), resolving.resolve(tenant="acme")

    assert default.tools[0].execute({}, ToolContext()) == {"url": "https://env.example.com"}
    assert acme.tools[0].execute({}, ToolContext()) == {"url": "https://acme.example.com"}
    with pytest.raises(UsageError, match="url must use http or https"):
        resolver(home, QUALITY_LAB_BOOKING_URL="ftp://x").resolve()


def test_a_scenario_may_reference_what_is_offered_by_choice_but_not_what_is_switched_off(home: Path):
    configure(
        home, "[tenant.default]\nsources = ['toolbox:conversation']\nenabled = {update_priority = false}"
    )
    found = resolver(home).resolve()

    made = found.scenario("Note it: [@Note](tool://add_private_note).")

    assert [tool.name for tool in made.tools] == ["add_private_note"]
    with pytest.raises(UsageError, match="do not exist: update_priority"):
        found.scenario("[@Prio](tool://update_priority)")


def test_each_run_of_a_case_takes_a_world_of_its_own(tmp_path: Path):
    def run(amount: int) -> dict[str, Any]:
        occasion = Occasion(conversation="case-1", world=World(seed=2))
        found = tools_from("toolbox:exchange", folder=tmp_path, environ={}, occasion=occasion)
        create = next(tool for tool in found.tools if tool.name == "create_exchange_order")
        create.execute({"asset": "USDT", "amount": amount}, ToolContext())
        return found.world.state()

    assert run(10) == run(10)
    assert run(10)["orders"][0]["amountToThb"] == 326
    assert run(10) != run(11)


# ---- the command line -----------------------------------------------------------------------------------


def typed(*words: str, home: Path) -> Result:
    place = () if "check" in words[:1] and not words[1].endswith(".md") else ("--home", str(home))
    return CliRunner().invoke(tools_command, [*words, *place], standalone_mode=False)


def test_tools_list_shows_every_tool_with_source_effect_and_state(home: Path):
    (home / "data" / "web.toml").write_text(HTTP)
    configure(home, "[tenant.default]\nsources = ['web.toml', 'toolbox:conversation']")

    table = typed("list", home=home)
    document = json.loads(typed("list", "--json", home=home).stdout)

    assert [line.split() for line in table.stdout.splitlines()[:4]] == [
        ["tool", "effect", "state", "source"],
        ["custom_track_a_parcel", "read", "offered", "web.toml"],
        ["ping", "irreversible", "off", "web.toml"],
        ["faq_lookup", "read", "offered", "toolbox:conversation"],
    ]
    assert "inside is left out: the endpoint cannot use a disallowed hostname" in table.stderr
    assert [(row["tool"], row["enabled"], row["offered"]) for row in document[:2] + document[-1:]] == [
        ("custom_track_a_parcel", True, True),
        ("ping", False, False),
        ("add_contact_note", True, False),
    ]
    assert all(row["digest"].startswith("sha256:") for row in document)


def test_tools_show_prints_what_a_model_sees_and_an_unknown_name_is_wrong_usage(home: Path):
    shown = json.loads(typed("show", "handoff", "--json", home=home).stdout)
    text = typed("show", "handoff", home=home).stdout
    unknown = typed("show", "hand_off", home=home)

    assert shown["definition"]["function"]["name"] == "handoff"
    assert (shown["tool"], shown["effect"]) == ("handoff", "write")
    assert "Hands the conversation over to people." in text
    assert isinstance(unknown.exception, UsageError)
    assert "there is no tool hand_off" in str(unknown.exception)


def test_tools_list_and_show_take_another_source(home: Path):
    listed = json.loads(typed("list", "--from", "toolbox:office", "--json", home=home).stdout)
    shown = typed("show", "alert_operator", "--from", "toolbox:office", home=home)

    assert [row["tool"] for row in listed][-1] == "alert_operator"
    assert shown.exit_code == 0


def test_tools_check_tells_every_tool_and_ends_with_1_where_one_is_not_ok(home: Path):
    path = home / "web.toml"
    path.write_text(HTTP)

    checked = typed("check", str(path), "--json", home=home)
    text = typed("check", str(path), home=home)

    told = json.loads(checked.stdout)
    assert [(row["tool"], row["ok"], [problem["rule"] for problem in row["problems"]]) for row in told] == [
        ("custom_track_a_parcel", True, []),
        ("ping", True, []),
        ("inside", False, ["disallowed_hostname"]),
    ]
    assert set(told[2]["problems"][0]) == {"rule", "message"}
    assert (checked.return_value, text.return_value) == (1, 1)
    assert text.stdout.splitlines()[-1] == "2 of 3 tools are fine"
    assert "inside: disallowed_hostname: " in text.stdout


@pytest.mark.parametrize("source", ["toolbox:exchange", "toolbox:office", "toolbox:conversation"])
def test_the_toolbox_s_own_tools_pass_the_check(home: Path, source):
    checked = typed("check", source, "--json", home=home)

    assert checked.return_value == 0
    assert all(row["ok"] for row in json.loads(checked.stdout))


def test_tools_check_of_an_instruction_text_names_the_references_that_do_not_exist(home: Path):
    text = home / "refund.md"
    text.write_text(
        "Call [@FAQ](tool://faq_lookup), [@Note](tool://add_private_note), [@Pay](tool://pay_back)."
    )

    checked = typed("check", str(text), "--json", home=home)

    told = json.loads(checked.stdout)
    assert [(row["tool"], row["ok"]) for row in told] == [
        ("faq_lookup", True),
        ("add_private_note", True),
        ("pay_back", False),
    ]
    assert told[2]["problems"][0]["rule"] == "unknown_reference"
    assert checked.return_value == 1


@pytest.mark.parametrize("name", ["gone.json", "gone.md"])
def test_tools_check_of_a_file_that_is_not_there_is_input_that_cannot_be_used(home: Path, name):
    checked = typed("check", str(home / name), home=home)

    assert isinstance(checked.exception, InputError)
    assert checked.exception.exit_code == 3
    assert name in str(checked.exception)


def test_tools_booking_sets_gets_and_deletes_the_link(home: Path):
    empty = json.loads(typed("booking", "get", "--json", home=home).stdout)
    done = json.loads(typed("booking", "set", "https://book.example.com", "--json", home=home).stdout)
    kept = typed("booking", "get", home=home).stdout
    acme = json.loads(typed("booking", "get", "--tenant", "acme", "--json", home=home).stdout)
    deleted = json.loads(typed("booking", "delete", "--json", home=home).stdout)
    refused = typed("booking", "set", "ftp://x", home=home)

    assert empty == acme == deleted == {"enabled": False, "url": None}
    assert done == {"enabled": True, "url": "https://book.example.com"}
    assert kept == "https://book.example.com\n"
    assert isinstance(refused.exception, UsageError)
    assert refused.exception.exit_code == 2


def test_hostile_text_in_a_tool_cannot_act_on_the_terminal(home: Path):
    path = home / "tools.json"
    path.write_text(json.dumps([{"name": "a\x1b[2J", "description": "x"}]))

    checked = typed("check", str(path), home=home)

    assert "\x1b" not in checked.stdout
    assert checked.return_value == 1
