"""Findings on tools as SARIF 2.1.0, and an earlier run in that form as what was known before."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from quality_lab.errors import InputError, OutputError
from quality_lab.toolbox.lint import RULES, Finding

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_FINGERPRINT = "qualityLabTool/v1"  # of `partialFingerprints`; another way to make them gets another number


def sarif(
    findings: Sequence[Finding], *, file: Path, known: Collection[str] | None = None, version: str
) -> dict[str, Any]:
    """Return *findings* on *file* as a SARIF document; *known* are fingerprints of an earlier run.

    Lines are those on which a tool's name stands, 1 where it is not found.
    """
    rules = [rule for rule in RULES if any(one.rule == rule for one in findings)]
    lines = _lines_of_names(file)
    results = [_result(one, rules, lines, file=file, known=known) for one in findings]
    driver = {
        "name": "quality-lab",
        "version": version,
        "rules": [{"id": rule, "shortDescription": {"text": RULES[rule]}} for rule in rules],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def write_sarif(document: dict[str, Any], path: Path) -> None:
    """Write a document. Raises: OutputError."""
    try:
        path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except (OSError, UnicodeEncodeError) as error:
        raise OutputError(f"wanted to write {path}, got: {error}") from error


def known_before(path: Path) -> frozenset[str]:
    """Return the fingerprints of the findings in a SARIF document that `sarif` made.

    Raises: InputError where it cannot be read, or is none.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        results = [result for run in document["runs"] for result in run["results"]]
        prints = (result.get("partialFingerprints", {}).get(_FINGERPRINT) for result in results)
        return frozenset(each for each in prints if isinstance(each, str))
    except OSError as error:
        raise InputError(f"wanted to read the baseline {path}, got: {error.strerror or error}") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(f"wanted a SARIF document that lint-tools wrote in {path}, got: {error}") from error


def _result(
    one: Finding, rules: Sequence[str], lines: dict[str, int], *, file: Path, known: Collection[str] | None
) -> dict[str, Any]:
    name = f"{one.server}/{one.tool}" if one.server else one.tool
    place = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(file.as_posix())},
            "region": {"startLine": lines.get(one.tool, 1)},
        },
        "logicalLocations": [
            {"name": one.tool, "fullyQualifiedName": f"{name}.{one.path}".rstrip("."), "kind": "function"}
        ],
    }
    result = {
        "ruleId": one.rule,
        "ruleIndex": rules.index(one.rule),
        "level": one.level,
        "message": {"text": f"{one.tool}: {one.message}"},
        "locations": [place],
        "partialFingerprints": {_FINGERPRINT: one.fingerprint},
    }
    if known is not None:
        result["baselineState"] = "unchanged" if one.fingerprint in known else "new"
    return result


def _lines_of_names(file: Path) -> dict[str, int]:
    """Return for each name that the text of *file* gives something the first line on which it does."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    found: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        for name in re.findall(r'"?(?:name|slug)"?\s*[:=]\s*"((?:[^"\\]|\\.)*)"', line):
            found.setdefault(name, number)
    return found
