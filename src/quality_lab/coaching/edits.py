"""The edits that a style may have, as a schema for a model and as a reader of what it answered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

HOOK_KINDS = ("social_proof", "scarcity", "authority", "liking", "reciprocity", "commitment")
STAGES = ("opener", "qualify", "pitch", "objection", "close")
_LONGEST_TEXT = 4000  # characters of one edit; a longer one is refused, not cut


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """Something in an answer that is no part of a draft, and why."""

    path: str  # dotted path in the answer
    reason: str


def answer_schema() -> dict[str, Any]:
    """Return the JSON Schema of an answer, strict: everything is named, nothing else is allowed."""
    text, texts = {"type": ["string", "null"]}, _list({"type": "string"})
    hook = _object(kind={"type": "string", "enum": list(HOOK_KINDS)}, text={"type": "string"})
    example = _object(
        user={"type": "string"},
        assistant={"type": "string"},
        stage={"type": ["string", "null"], "enum": [*STAGES, None]},
    )
    edits = _object(
        voice_tone=text,
        voice_forbid_add=texts,
        hooks_add=_list(hook),
        stage_guidance=_object(**dict.fromkeys(STAGES, text)),
        fewshot_add=_list(example),
        skills_attach=texts,
        skills_detach=texts,
    )
    return _object(summary={"type": "string"}, edits=edits, rationale=texts)


def _object(**properties: Any) -> dict[str, Any]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _list(of: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


class EditReader:
    """Reads an answer into a draft, and keeps what is no part of one."""

    def __init__(self, *, skills: Collection[str] | None, tools: Collection[str]) -> None:
        self.refused: list[Refused] = []
        self._skills = skills
        self._tools = frozenset(tools)

    def read(self, told: Mapping[str, Any]) -> tuple[str, dict[str, Any], tuple[str, ...]]:
        """Return summary, edits and rationale."""
        self._others(told, ("summary", "edits", "rationale"), "")
        edits = self._table(told.get("edits"), "edits")
        self._others(edits, (*_EDITS,), "edits.")
        found = {name: read(self, edits.get(name), f"edits.{name}") for name, read in _EDITS.items()}
        summary = self._text(told.get("summary"), "summary") or ""
        rationale = tuple(self._texts(told.get("rationale"), "rationale"))
        return summary, {name: value for name, value in found.items() if value}, rationale

    def _refuse(self, path: str, reason: str) -> None:
        self.refused.append(Refused(path=path, reason=reason))

    def _others(self, table: Mapping[str, Any], known: Collection[str], where: str) -> None:
        for name in table:
            if name not in known:
                self._refuse(f"{where}{name}", "is no part of a style; tools and all else stay as they are")

    def _table(self, value: Any, path: str) -> Mapping[str, Any]:
        if isinstance(value, Mapping):
            return value
        if value is not None:
            self._refuse(path, "wanted an object")
        return {}

    def _text(self, value: Any, path: str) -> str | None:
        if value is None or isinstance(value, str) and not value.strip():
            return None
        if not isinstance(value, str):
            self._refuse(path, "wanted a text")
        elif len(value) > _LONGEST_TEXT:
            self._refuse(path, f"is longer than {_LONGEST_TEXT} characters")
        else:
            return value.strip()
        return None

    def _list(self, value: Any, path: str) -> Sequence[Any]:
        if isinstance(value, list):
            return value
        if value is not None:
            self._refuse(path, "wanted a list")
        return []

    def _texts(self, value: Any, path: str) -> list[str]:
        texts = (self._text(one, f"{path}[{place}]") for place, one in enumerate(self._list(value, path)))
        return list(dict.fromkeys(text for text in texts if text is not None))

    def _hooks(self, value: Any, path: str) -> list[dict[str, str]]:
        found = []
        for place, one in enumerate(self._list(value, path)):
            where = f"{path}[{place}]"
            hook = self._table(one, where)
            self._others(hook, ("kind", "text"), f"{where}.")
            kind, text = hook.get("kind"), self._text(hook.get("text"), f"{where}.text")
            if kind not in HOOK_KINDS:
                self._refuse(f"{where}.kind", f"wanted one of {', '.join(HOOK_KINDS)}")
            elif text is not None:
                found.append({"kind": str(kind), "text": text})
        return found

    def _stages(self, value: Any, path: str) -> dict[str, str]:
        stages = self._table(value, path)
        self._others(stages, STAGES, f"{path}.")
        texts = {stage: self._text(stages.get(stage), f"{path}.{stage}") for stage in STAGES}
        return {stage: text for stage, text in texts.items() if text is not None}

    def _fewshots(self, value: Any, path: str) -> list[dict[str, str]]:
        found = []
        for place, one in enumerate(self._list(value, path)):
            where = f"{path}[{place}]"
            example = self._table(one, where)
            self._others(example, ("user", "assistant", "stage"), f"{where}.")
            said = {name: self._text(example.get(name), f"{where}.{name}") for name in ("user", "assistant")}
            stage = example.get("stage")
            if stage is not None and stage not in STAGES:
                self._refuse(f"{where}.stage", f"wanted one of {', '.join(STAGES)}")
                stage = None
            if None in said.values():
                self._refuse(where, "wanted what the user says and what the assistant answers")
            else:
                found.append(
                    {
                        **{name: text or "" for name, text in said.items()},
                        **({"stage": stage} if stage else {}),
                    }
                )
        return found

    def _attached(self, value: Any, path: str) -> list[str]:
        return [slug for slug in self._no_tools(value, path) if self._fits(slug, path, attached=False)]

    def _detached(self, value: Any, path: str) -> list[str]:
        return [slug for slug in self._no_tools(value, path) if self._fits(slug, path, attached=True)]

    def _no_tools(self, value: Any, path: str) -> list[str]:
        slugs = self._texts(value, path)
        for slug in slugs:
            if slug in self._tools:
                self._refuse(path, f"{slug} is a tool, not a skill")
        return [slug for slug in slugs if slug not in self._tools]

    def _fits(self, slug: str, path: str, *, attached: bool) -> bool:
        if self._skills is None or (slug in self._skills) is attached:
            return True
        self._refuse(path, f"{slug} is {'not attached' if attached else 'attached already'}")
        return False


_EDITS: dict[str, Callable[[EditReader, Any, str], Any]] = {
    "voice_tone": EditReader._text,
    "voice_forbid_add": EditReader._texts,
    "hooks_add": EditReader._hooks,
    "stage_guidance": EditReader._stages,
    "fewshot_add": EditReader._fewshots,
    "skills_attach": EditReader._attached,
    "skills_detach": EditReader._detached,
}
