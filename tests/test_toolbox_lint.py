"""What definitions of tools leave a model to guess: each rule, SARIF, and what an earlier run knew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import run

from quality_lab.toolbox.definitions import parse_definitions
from quality_lab.toolbox.lint import RULES, lint
from quality_lab.toolbox.tool_check import check_definitions

ID = {"type": "string", "description": "As printed on the receipt."}


def tool(name: str = "get_order", description: str = "Tells where an order stands.", **schema: Any) -> Any:
    properties = schema.pop("properties", {"number": ID})
    parameters = {"type": "object", "properties": properties, **schema}
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


def found(*tools: Any) -> list[tuple[str, str, str]]:
    return [(one.tool, one.rule, one.path) for one in lint(parse_definitions(list(tools), where="here"))]


def test_a_tool_that_says_everything_breaks_no_rule() -> None:
    currency = {"type": "string", "enum": ["THB", "USD"], "description": "One of THB, USD."}
    order = {"type": "object", "description": "The order.", "properties": {"number": ID}}

    assert found(tool(properties={"currency": currency, "order": order}, required=["currency"])) == []


@pytest.mark.parametrize(
    ("schema", "rule", "path"),
    [
        ({"properties": {"sum": {"type": "number"}}}, "undescribed_parameter", "sum"),
        ({"properties": {"sum": {"type": "number", "description": " "}}}, "undescribed_parameter", "sum"),
        ({"properties": {"sum": {"description": "In baht."}}}, "untyped_parameter", "sum"),
        ({"properties": {"id": {**ID, "default": "1"}}, "required": ["id"]}, "required_default", "id"),
        ({"properties": {"id": ID}, "required": ["id", "day"]}, "unknown_required", "day"),
        (
            {"properties": {"mode": {"type": "string", "description": "One of fast, slow or exact."}}},
            "values_in_words",
            "mode",
        ),
        (
            {"properties": {"mode": {"type": "string", "description": "Allowed values: `a` | `b`"}}},
            "values_in_words",
            "mode",
        ),
        (
            {"properties": {"filter": {"type": "object", "description": "What to look for."}}},
            "open_object",
            "filter",
        ),
        (
            {
                "properties": {
                    "lines": {
                        "type": "array",
                        "description": "Of the order.",
                        "items": {"type": "object", "properties": {"sku": {"type": "string"}}},
                    }
                }
            },
            "undescribed_parameter",
            "lines[].sku",
        ),
    ],
)
def test_each_rule_on_parameters_finds_its_fault_and_nothing_else(
    schema: dict[str, Any], rule: str, path: str
) -> None:
    assert found(tool(**schema)) == [("get_order", rule, path)]


@pytest.mark.parametrize("said", ["Get order.", "get_order", "Gets orders", "The order"])
def test_a_description_that_only_repeats_the_name_says_nothing(said: str) -> None:
    assert found(tool(description=said)) == [("get_order", "empty_description", "")]


@pytest.mark.parametrize("said", ["Gets an order by its number.", "Order status, for refunds"])
def test_a_description_with_a_word_of_its_own_says_something(said: str) -> None:
    assert found(tool(description=said)) == []


def test_tools_that_could_be_taken_for_one_another_are_named() -> None:
    same = found(tool("find"), tool("search"))
    alike = found(tool("getOrder"), tool("get_order", "Tells of an order what it holds."))
    twice = found(tool(), tool(description="Another of that name."))

    assert same == [("search", "same_description", "")]
    assert alike == [("get_order", "near_name", "")]
    assert twice == [("get_order", "unique_name", "")]


def test_what_could_not_be_offered_at_all_is_an_error_here_too() -> None:
    broken = [tool(""), tool("a b"), tool(description=""), {"name": "x"}]

    rules = {one.rule: one.level for one in lint(parse_definitions([*broken, tool()], where="here"))}

    checked = {problem.rule for check in check_definitions(parse_definitions([*broken, tool()], where="here"))
               for problem in check.problems}  # fmt: skip  # one set
    assert checked <= rules.keys() <= RULES.keys()
    assert rules["name"] == rules["description"] == "error"


@pytest.mark.parametrize(
    "name",
    [
        "docker-buildkite.tools.json",
        "docker-sqlite-mcp-server.tools.json",
        "github-mcp-server.toolsnaps-joined.json",
    ],
)
def test_of_real_lists_every_parameter_without_a_description_is_found(shared: Path, name: str) -> None:
    definitions = parse_definitions(
        json.loads((shared / "traces" / "mcp-tools" / name).read_text("utf-8")), where=name
    )

    bare = [
        (one.name, parameter)
        for one in definitions
        for parameter, schema in one.schema.get("properties", {}).items()
        if not (schema.get("description") or schema.get("title"))
    ]
    told = [
        (one.tool, one.path)
        for one in lint(definitions)
        if one.rule == "undescribed_parameter" and not {".", "["} & set(one.path)
    ]
    assert len(definitions) > 3
    assert sorted(told) == sorted(bare)


# ---- the command ----


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([tool(), tool("pay", "Pays.", properties={"sum": {}})], indent=1))
    return path


def test_findings_are_1_and_none_is_0(file: Path, tmp_path: Path) -> None:
    fine = tmp_path / "fine.json"
    fine.write_text(json.dumps([tool()]))

    told, clean = run("lint-tools", file), run("lint-tools", fine)

    assert told.code == 1
    assert (
        told.out.splitlines()[0]
        == "pay: warning, empty_description: 'Pays.' says no more than the name: say when to call it"
    )
    assert "3 warnings in" in told.err
    assert (clean.code, clean.out) == (0, "Nothing is left to guess.\n")


def test_as_json_each_finding_is_an_object_of_one_list(file: Path) -> None:
    ran = run("lint-tools", file, "--json")

    assert ran.code == 1
    assert [(one["rule"], one["path"], one["level"], one["state"]) for one in ran.document] == [
        ("empty_description", "", "warning", "new"),
        ("undescribed_parameter", "sum", "warning", "new"),
        ("untyped_parameter", "sum", "warning", "new"),
    ]


def test_sarif_names_rule_level_line_and_argument(file: Path, tmp_path: Path) -> None:
    run("lint-tools", file, "--sarif", tmp_path / "out.sarif")

    document = json.loads((tmp_path / "out.sarif").read_text("utf-8"))
    [one] = document["runs"]
    driver = one["tool"]["driver"]
    assert (document["version"], driver["name"]) == ("2.1.0", "quality-lab")
    for result in one["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning")
        assert result["message"]["text"].startswith("pay: ")
        place = result["locations"][0]
        line = place["physicalLocation"]["region"]["startLine"]
        assert '"name": "pay"' in file.read_text().splitlines()[line - 1]
    logical = [
        result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] for result in one["results"]
    ]
    assert logical == ["pay", "pay.sum", "pay.sum"]


def test_what_an_earlier_run_knew_fails_no_more_and_what_is_new_does(file: Path, tmp_path: Path) -> None:
    baseline, now = tmp_path / "before.sarif", tmp_path / "now.sarif"
    run("lint-tools", file, "--sarif", baseline)

    same = run("lint-tools", file, "--baseline", baseline)
    tools = json.loads(file.read_text())
    file.write_text(json.dumps([tool("refund", properties={"why": {"type": "string"}}), *reversed(tools)]))
    more = run("lint-tools", file, "--baseline", baseline, "--sarif", now)

    assert (same.code, same.out) == (0, "")
    assert "3 findings that the baseline knows are left out" in same.err
    assert more.code == 1
    assert [line.partition(":")[0] for line in more.out.splitlines()] == ["refund", "get_order"]
    states = [result["baselineState"] for result in json.loads(now.read_text())["runs"][0]["results"]]
    assert sorted(states) == ["new", "new", "unchanged", "unchanged", "unchanged"]


@pytest.mark.parametrize("content", [None, "", "[]", '{"runs": 1}', '{"runs": [{}]}', "[" * 100_000])
def test_a_baseline_that_is_none_is_3(file: Path, tmp_path: Path, content: str | None) -> None:
    baseline = tmp_path / "baseline.sarif"
    if content is not None:
        baseline.write_text(content)

    ran = run("lint-tools", file, "--baseline", baseline)

    assert (ran.code, ran.out) == (3, "")


def test_a_file_that_is_not_there_or_holds_no_tools_is_3(tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text('{"a": 1}')

    assert run("lint-tools", tmp_path / "missing.json").code == 3
    assert run("lint-tools", tmp_path / "none.json").code == 3


def test_a_hostile_name_acts_on_no_terminal(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([tool("\x1b[2Jx\u202e", "x")]))

    ran = run("lint-tools", path)

    assert ran.code == 1
    assert not [bad for bad in ("\x1b", "\u202e") if bad in ran.out + ran.err]
