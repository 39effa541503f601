"""What tau2-bench's evaluators say of a run: scores of programs and of a model, none of them on a call."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from quality_lab.formats.chat import Setting
from quality_lab.formats.json_pieces import Pieces, is_nothing, list_in, object_in, string_in, word
from quality_lab.records import AuthorKind, Feedback

_AUTHOR = "tau2_bench"


def scores(reward_info: msgspec.Raw, ended: str | None, setting: Setting) -> Iterator[Feedback]:
    """Yield the reward of a run, each check behind it, and why the run *ended*.

    An action that was checked names the tool and the arguments that were expected.
    """
    info = object_in(bytes(reward_info)) or {}
    if not is_nothing(info.get("reward")):
        yield _score("reward", info["reward"], setting)
    db_check = object_in(info.get("db_check")) or {}
    if not is_nothing(db_check.get("db_match")):
        yield _score("db_match", db_check["db_match"], setting)
    for place, check in enumerate(_checks(info, "action_checks")):
        action = object_in(check.get("action")) or {}
        arguments = action.get("arguments")
        yield _score(
            "action_check",
            check.get("action_match", b"null"),
            setting,
            key=f"action_check/{word(action, 'action_id') or place}/{place}",
            expected_tool=string_in(action.get("name")),
            expected_arguments=None if is_nothing(arguments) else (arguments or b"").decode(),
        )
    for name, text, kind in (
        ("env_assertions", "func_name", "CODE"),
        ("communicate_checks", "info", "CODE"),
        ("nl_assertions", "nl_assertion", "LLM"),
    ):
        for place, check in enumerate(_checks(info, name)):
            held = object_in(check.get("env_assertion")) or check
            words = [string_in(held.get(text)), string_in(check.get("justification"))]
            yield _score(
                name.removesuffix("s"),
                check.get("met", b"null"),
                setting,
                key=f"{name}/{place}",
                author_kind="LLM" if kind == "LLM" else "CODE",
                note=": ".join(filter(None, words)) or None,
            )
    if ended is not None:
        yield _score("termination_reason", msgspec.json.encode(ended), setting)


def _checks(info: Pieces, name: str) -> Iterator[Pieces]:
    for one in list_in(info.get(name)) or ():
        yield object_in(one) or {}


def _score(
    name: str,
    value: bytes,
    setting: Setting,
    *,
    key: str | None = None,
    author_kind: AuthorKind = "CODE",
    note: str | None = None,
    expected_tool: str | None = None,
    expected_arguments: str | None = None,
) -> Feedback:
    return Feedback(
        key_space=setting.key_space,
        key=f"{setting.conversation_id}/{key or name}",
        target_level="conversation",
        target_key_space=setting.key_space,
        conversation_id=setting.conversation_id,
        name=name,
        score=value.decode(),
        author_kind=author_kind,
        author=_AUTHOR,
        note=note,
        expected_tool=expected_tool,
        expected_arguments=expected_arguments,
        source=setting.source,
    )
