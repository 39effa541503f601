"""Templates: notebooks with one cell of parameters, found by name, and the values that may be given."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from quality_lab.errors import UsageError
from quality_lab.reports.light_imports import no_iri_grammar

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as the template's own cell declares it."""

    name: str
    default: Any  # as a Python value; the text itself where it is no literal
    help: str  # the comment beside it


@dataclass(frozen=True, slots=True)
class Template:
    """A notebook that can be run as a report."""

    name: str
    path: Path

    def parameters(self) -> dict[str, Parameter]:
        """Return its parameters by name, in the order of its cell.

        Raises: UsageError if the notebook cannot be read.
        """
        with no_iri_grammar():
            from papermill import inspect_notebook
            from papermill.exceptions import PapermillException
        try:
            declared = inspect_notebook(literal(self.path))
        except (OSError, ValueError, KeyError, AttributeError, PapermillException) as error:
            raise UsageError(f"{self.path} cannot be read as a notebook: {error}") from error
        return {name: _parameter(said) for name, said in declared.items()}


def typed_values(
    report: str, declared: Mapping[str, Parameter], given: Mapping[str, object]
) -> dict[str, Any]:
    """Return *given*, each value of the type of its default: `007` stays text where the default is text.

    Raises: UsageError for a name that is not declared and for a value that does not fit.
    """
    unknown = [name for name in given if name not in declared]
    if unknown:
        known = ", ".join(declared) or "none at all"
        raise UsageError(f"report {report} has no parameter {', '.join(unknown)}; it has {known}")
    return {name: _typed(declared[name], value, report) for name, value in given.items()}


def find_template(home: Path, name: str) -> Template:
    """Return the template of that name: the home's own before the shipped one.

    Raises: UsageError, naming those that exist.
    """
    known = {template.name: template for template in templates(home)}
    if name not in known:
        raise UsageError(f"there is no report {name!r}; there are {', '.join(known) or 'none'}")
    return known[name]


def templates(home: Path) -> list[Template]:
    """Return every template that can be run here, by name."""
    found: dict[str, Template] = {}
    for folder in (home / "notebooks", _shipped()):
        for path in sorted(folder.glob("*.ipynb")) if folder.is_dir() else []:
            if _NAME.fullmatch(path.stem):
                found.setdefault(path.stem, Template(path.stem, path))
    return sorted(found.values(), key=lambda template: template.name)


def literal(path: Path) -> str:
    """Return a path in which papermill finds no braces to fill in."""
    return str(path).replace("{", "{{").replace("}", "}}")


def _shipped() -> Path:
    """Return the folder of our own templates: in the wheel inside the package, in a checkout at its top."""
    package = Path(str(files("quality_lab")))
    inside = package / "notebooks"
    return inside if inside.is_dir() else package.parent.parent / "notebooks"


def _parameter(said: Mapping[str, Any]) -> Parameter:
    written = str(said["default"])
    try:
        default = ast.literal_eval(written)
    except (ValueError, SyntaxError):
        default = written
    return Parameter(name=str(said["name"]), default=default, help=str(said["help"] or ""))


def _typed(parameter: Parameter, value: object, report: str) -> Any:
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (tuple, set, frozenset)):
        return list(value)
    if not isinstance(value, str) or isinstance(parameter.default, str) or parameter.default is None:
        return value
    try:
        return _parsed(parameter.default, value)
    except ValueError:
        kind = {
            bool: "yes or no",
            int: "a whole number",
            float: "a number",
            list: "a list",
            dict: "a JSON object",
        }
        wanted = kind.get(type(parameter.default), type(parameter.default).__name__)
        raise UsageError(f"{parameter.name} of report {report} is {wanted}; got {value!r}") from None


def _parsed(default: object, text: str) -> Any:
    """Return *text* as a value of the type of *default*. Raises: ValueError."""
    if isinstance(default, bool):
        if text.casefold() not in _TRUE + _FALSE:
            raise ValueError(text)
        return text.casefold() in _TRUE
    if isinstance(default, (int, float)):
        return type(default)(text)
    if isinstance(default, (list, tuple)):
        found = json.loads(text) if text.lstrip().startswith("[") else [text]
        if not isinstance(found, list):
            raise ValueError(text)
        return found
    if isinstance(default, dict):
        found = json.loads(text)
        if not isinstance(found, dict):
            raise ValueError(text)
        return found
    return text
