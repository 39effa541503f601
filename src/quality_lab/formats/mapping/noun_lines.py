"""The table of a call, or of an answer to one, in a proposed map, each line with what was seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from quality_lab.formats.mapping import field_words as words
from quality_lab.formats.mapping.event_pairs import Event
from quality_lab.formats.mapping.guessing import (
    Kind,
    Test,
    argument_columns,
    failing_words,
    is_count,
    is_descending,
    is_flag,
    is_name,
    is_number,
    is_status,
    is_structure,
    is_time,
    is_tool_name,
    nested_failures,
    other_reading,
    time_form,
    unit_of,
)
from quality_lab.formats.mapping.paths import written_path
from quality_lab.formats.mapping.survey import Field, folded
from quality_lab.formats.toml_reading import quoted

_WEAK_TOOL = frozenset(
    ("name", "step", "stepname", "action", "command", "method", "operation", "endpoint", "capability")
)
_HOLDERS = frozenset(
    (*words.TOOL, "toolcall", "functioncall", "call", "invocation", "toolinvocation", "tooluse")
)
_FAILING_STARTS = (
    "Error:",
    "ERROR:",
    "Error -",
    "Traceback (most recent call last)",
    "Exception:",
    "Failed:",
    "error:",
)


def tool_field(kind: Kind, *, strong: bool = False, lenient: bool = False) -> Field | None:
    """Return the field that names the tool, and take it; None where none does.

    *strong*: weak words do not count; *lenient*: they do, whatever stands beside them.
    """
    sure = [word for word in words.TOOL if word not in _WEAK_TOOL]
    found = kind.best(sure, is_tool_name, deepest=3)
    if found is not None:
        return found
    depth = len(kind.below)
    for one in kind.own():
        above = [folded(key) for key in one.keys[depth:-1]]
        if one.word == "name" and above and above[-1] in _HOLDERS and is_tool_name(one):
            kind.taken.add(one.keys)
            return one
    if strong:
        return None
    has_more = any(
        one.word in (*words.ARGUMENTS[:13], "observation")
        or (one.word in (*words.EXIT_CODE, *words.GOOD_FLAG, *words.LATENCY, *words.ENDED))
        for one in kind.own()
    )
    return (
        kind.best([word for word in words.TOOL if word in _WEAK_TOOL], is_tool_name)
        if has_more or depth or lenient
        else None
    )


def call_lines(
    kind: Kind,
    tool: Field | None,
    look_at: list[str],
    *,
    head: str,
    noun: str,
    event: Event,
    file_lines: list[str],
) -> list[str]:
    """Return the table of a call, or of an answer to one, and those of its errors."""
    lines = ["", f"[{head}{noun}]"]
    if kind.below:
        lines.append(f"each = {quoted(written_path(*kind.below))}")
    if tool is not None:
        seen = len(tool.values)
        lines.append(f"tool = {path_in(kind, tool)}  # {seen:,}{'+' if seen >= 500 else ''} tools seen")
    if noun == "call":
        lines += _arguments(kind, look_at)
    result = kind.best(words.RESULT, lambda one: not is_flag(one) and not is_time(one) and one.filled > 0)
    if result is not None:
        lines.append(f"result = {path_in(kind, result)}")
    lines += _times(kind, look_at, noun=noun, file_lines=file_lines)
    lines += one_line(kind, "call_id", words.CALL_ID, is_name) or _id_beside(kind, tool)
    if noun == "call":
        own = kind.best(
            words.OWN_ID, lambda one: is_name(one) and len(one.values) == min(kind.records, 500), deepest=1
        )
        if own is not None and not kind.below:
            lines.append(f"id = {path_in(kind, own)}  # another in every record")
        lines += _number(kind, "turn", words.TURN) + _number(kind, "cycle", words.CYCLE)
        for key, names in (("model", words.MODEL), ("source", words.SOURCE), ("server", words.SERVER)):
            lines += one_line(kind, key, names, is_name)
    errors = _errors(kind, result, head=f"{head}{noun}", event=event)
    if not errors and not (noun == "call" and event.field is not None and event.calls):
        look_at.append(
            f"nothing says whether a call failed, so that is unknown: add [[{head}{noun}.error]] with path and a test "
            "(equals, nonempty, starts_with) if something does"
        )
    kinds = one_line(kind, "error_kind", words.ERROR_KIND, is_name)
    return lines + kinds + errors


def path_in(kind: Kind, one: Field) -> str:
    """Return the path of a field from its noun, as TOML."""
    return quoted(written_path(*one.keys[len(kind.below) :]))


def one_line(kind: Kind, key: str, names: Iterable[str], test: Test) -> list[str]:
    """Return the line of *key* for the likeliest of the *names*; none where no field fits."""
    found = kind.best(list(names), test)
    return [] if found is None else [f"{key} = {path_in(kind, found)}"]


def _number(kind: Kind, key: str, names: Iterable[str]) -> list[str]:
    found = kind.best(list(names), is_count)
    if found is None:
        return []
    least = min(int(value) for value in found.values if value)
    if least == 0:
        return [f"{key} = {path_in(kind, found)}"]
    return [f"{key} = {{ path = {path_in(kind, found)}, starts_at = 1 }}  # ours begin at 0"]


def _id_beside(kind: Kind, tool: Field | None) -> list[str]:
    """Return the line of the call's id that stands beside the tool's name in an object of their own."""
    own = None if tool is None else kind.fields.get((*tool.keys[:-1], "id"))
    if own is None or len(own.keys) - len(kind.below) < 2 or kind.is_taken(own) or not is_name(own):
        return []
    kind.taken.add(own.keys)
    return [f"call_id = {path_in(kind, own)}"]


def _arguments(kind: Kind, look_at: list[str]) -> list[str]:
    test: Callable[[Field], bool] = is_structure
    found = kind.best(words.ARGUMENTS, test) or kind.best(words.ARGUMENTS[:12], lambda one: one.filled > 0)
    if found is not None:
        return [f"arguments = {path_in(kind, found)}"]
    columns = argument_columns(kind)
    if columns:
        listed = ", ".join(path_in(kind, one) for one in columns)
        return [f"arguments = {{ fields = [{listed}] }}"]
    return ["# arguments: no field holds them, so they count as not captured"]


def _times(kind: Kind, look_at: list[str], *, noun: str, file_lines: list[str]) -> list[str]:
    lines: list[str] = []
    started = kind.best(words.STARTED, is_time) if noun == "call" else None
    ended = kind.best(words.ENDED if noun == "call" else (*words.ENDED, *words.STARTED), is_time)
    latency = kind.best(words.LATENCY, is_number)
    if started is not None:
        lines.append(f"started = {time_line(kind, started, look_at)}")
        if is_descending(started):
            file_lines.append('order = "time"  # the newest records stand first')
    if ended is not None:
        lines.append(f"ended = {time_line(kind, ended, look_at)}")
    if latency is not None:
        lines.append(f"latency = {duration_line(kind, latency, look_at)}")
    return lines


def time_line(kind: Kind, one: Field, look_at: list[str]) -> str:
    """Return what stands behind the key of a time, as TOML."""
    unit, pattern, no_zone = time_form(one) or (None, None, False)
    parts = [f"path = {path_in(kind, one)}"]
    if unit is not None:
        parts.append(f'unit = "{unit}"')
    if pattern is not None:
        parts.append(f"format = {quoted(pattern)}")
        if other_reading(one, pattern):
            look_at.append(f"{one.path} may be day/month or month/day; it is read as {pattern}")
    if no_zone:
        parts.append('zone = "UTC"')
        look_at.append(
            f'{one.path} names no time zone and is read as UTC; write zone = "Europe/Madrid" or the like'
        )
    return parts[0].removeprefix("path = ") if len(parts) == 1 else f"{{ {', '.join(parts)} }}"


def duration_line(kind: Kind, one: Field, look_at: list[str]) -> str:
    """Return what stands behind the key of a duration, as TOML."""
    unit, sure = unit_of(one)
    if not sure:
        look_at.append(f"the unit of {one.path} is a guess from its values: {unit}; s, ms, us, ns or min")
    return f'{{ path = {path_in(kind, one)}, unit = "{unit}" }}'


def _errors(kind: Kind, result: Field | None, *, head: str, event: Event) -> list[str]:
    rules: list[tuple[str, str]] = []
    if event.field is not None and event.failing:
        failing = ", ".join(map(quoted, event.failing))
        rules.append((quoted(event.field.path), f"equals = [{failing}]"))
    for names, wanted in ((words.GOOD_FLAG, "false"), (words.BAD_FLAG, "true")):
        flag = kind.best(names, is_flag)
        if flag is not None:
            rules.append((path_in(kind, flag), f"equals = {wanted}"))
    status = None if event.field is not None and event.failing else kind.best(words.STATUS, is_status)
    if status is not None:
        failing = ", ".join(map(quoted, failing_words(status) or ["error", "failed"]))
        rules.append((path_in(kind, status), f"equals = [{failing}]"))
    code = kind.best(words.EXIT_CODE, is_number)
    if code is not None:
        rules.append((path_in(kind, code), 'not_equals = 0\norigin = "exit_code"'))
    text = kind.best(words.ERROR, lambda one: not is_number(one) or not one.filled)
    if text is not None:
        rules.append((path_in(kind, text), "nonempty = true"))
    for one, how in nested_failures(kind, result):
        test = "nonempty = true" if how == "nonempty" else f"equals = {how}"
        kind.taken.add(one.keys)
        rules.append((path_in(kind, one), f"{test}  # hidden inside"))
    if result is not None and not is_structure(result):
        said = [
            start
            for start in _FAILING_STARTS
            if any(value.lstrip().startswith(start) for value in result.values)
        ]
        if said:
            rules.append((path_in(kind, result), f"starts_with = [{', '.join(map(quoted, said))}]"))
    lines: list[str] = []
    words_at = path_in(kind, text) if text is not None else None
    for path, test in rules:
        lines += ["", f"[[{head}.error]]", f"path = {path}", *test.split("\n")]
        if words_at is not None and "equals" in test:
            lines.append(f"text = {words_at}")
    return lines
