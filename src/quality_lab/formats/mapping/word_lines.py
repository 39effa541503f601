"""The tables of messages and labels in a proposed map."""

from __future__ import annotations

from quality_lab.formats.mapping import field_words as words
from quality_lab.formats.mapping.guessing import Kind, is_label, is_name, is_number, is_time
from quality_lab.formats.mapping.noun_lines import duration_line, one_line, path_in, time_line
from quality_lab.formats.mapping.paths import written_path
from quality_lab.formats.mapping.survey import Field
from quality_lab.formats.toml_reading import quoted


def message_lines(kind: Kind, look_at: list[str], *, head: str, asked: bool) -> list[str]:
    """Return the tables of messages: those of a list, else (where they are *asked* for) what a user said and got."""
    listed = _list_of_messages(kind)
    if listed is not None:
        depth, role, said = listed
        kind.taken.update((role.keys, said.keys))
        lines = ["", f"[[{head}message]]", f"each = {quoted(written_path(*role.keys[:depth]))}"]
        return [
            *lines,
            f"role = {quoted(written_path(*role.keys[depth:]))}",
            f"text = {quoted(written_path(*said.keys[depth:]))}",
        ]
    if not asked:
        return []
    lines = []
    moment = kind.best(words.STARTED, is_time)
    model = kind.best(words.MODEL, is_name)
    latency = kind.best(words.LATENCY, is_number)
    texts: list[tuple[str, Field]] = []
    for who, names in (("user", words.ASKED), ("assistant", words.ANSWERED)):
        found = kind.best(names, lambda one: one.filled > 0 and one.mostly("string") and not is_time(one))
        if found is not None:
            texts.append((who, found))
    for who, found in texts:
        lines += ["", f"[[{head}message]]", f'role = {{ const = "{who}" }}', f"text = {path_in(kind, found)}"]
        if moment is not None and who == "user":
            lines.append(f"at = {time_line(kind, moment, look_at)}")
        if who == "assistant":
            lines += [] if model is None else [f"model = {path_in(kind, model)}"]
            if latency is not None:
                lines.append(f"latency = {duration_line(kind, latency, look_at)}")
    if not texts:
        kind.taken -= {one.keys for one in (moment, model, latency) if one is not None}
    return lines


def label_lines(kind: Kind, look_at: list[str], *, head: str, of_call: bool, alone: bool) -> list[str]:
    """Return the table of labels: on the call of the same record, else on its conversation."""
    below = kind.below
    label = kind.best(words.LABEL, is_label)
    score = kind.best(words.SCORE, is_number)
    if label is None and score is None:
        note = kind.best(("note", "notes", "comment", "comments", "feedback"), is_noted) if alone else None
        if note is None:
            return []
    else:
        note = kind.best(words.NOTE, lambda one: one.filled > 0)
    lines = ["", f"[[{head}{'call.' if of_call else ''}label]]"]
    for key, one in (("label", label), ("score", score), ("note", note)):
        if one is not None:
            lines.append(f"{key} = {path_in(kind, one)}")
    named = score or label
    if named is not None:
        lines.append(f"name = {{ const = {quoted(named.keys[-1])} }}")
    lines += one_line(kind, "author", words.AUTHOR, is_name) + one_line(
        kind, "expected_tool", words.EXPECTED_TOOL, is_name
    )
    lines.append('author_kind = { const = "HUMAN" }  # or LLM, CODE: who judged')
    if not of_call:
        moment = kind.best(words.STARTED, is_time)
        lines += [] if moment is None else [f"at = {time_line(kind, moment, look_at)}"]
        where = f"[[{head}label]]"
        look_at.append(
            f'a label is taken as one on its conversation; under {where}, of = "FORMAT" says whose conversation ids '
            'these are, and call = "PATH" names a call'
        )
    look_at.append(
        "labels are taken as a person's (HUMAN): author_kind says otherwise; [labels.values] maps their words"
    )
    kind.below = below
    return lines


def is_noted(one: Field) -> bool:
    """Say whether a field holds words."""
    return one.filled > 0 and one.mostly("string")


def _list_of_messages(kind: Kind) -> tuple[int, Field, Field] | None:
    """Return how deep a list of messages stands, and the fields of its elements that hold role and text."""
    for keys, role in kind.fields.items():
        if role.word not in words.ROLE or "[]" not in keys or not role.is_short:
            continue
        depth = len(keys) - keys[::-1].index("[]")
        known = {value.casefold() for value in role.values}
        if len(keys) != depth + 1 or not known & {
            "user",
            "assistant",
            "human",
            "bot",
            "agent",
            "system",
            "ai",
        }:
            continue
        for word in words.SAID:
            for other, said in kind.fields.items():
                if other[:depth] == keys[:depth] and len(other) == depth + 1 and said.word == word:
                    return depth, role, said
    return None
