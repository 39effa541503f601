"""Regression cases checked as the upstream runner checks them: records, three report files, streams.

    arguments.py    the command line, flag for flag
    parsing.py      bytes into lines, lines into JSON values
    validation.py   what makes a record a case
    checking.py     lines into results and their report
    report_*.py     the report as JSON, JUnit, Markdown and plain text
    outputs.py      the report files

What stands here judges records alone; it calls no tool and no model.
"""

from __future__ import annotations

from pathlib import Path

from quality_lab.regressions.arguments import ApiSource, ArgumentError, FileSource, Settings, parse_arguments
from quality_lab.regressions.checking import check_cases, report_on
from quality_lab.regressions.results import Failure, Report, Result, Summary

WORKFLOW = Path(__file__).with_name("tool-regressions.yml")  # a GitHub workflow to copy into a repository

__all__ = [
    "WORKFLOW",
    "ApiSource",
    "ArgumentError",
    "Failure",
    "FileSource",
    "Report",
    "Result",
    "Settings",
    "Summary",
    "check_cases",
    "parse_arguments",
    "report_on",
]
