"""A draft: edits of one style, what they rest on, and what was left out of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quality_lab.answers.harmless import visible
from quality_lab.coaching.edits import Refused
from quality_lab.errors import OutputError
from quality_lab.js_text import well_formed

NOTHING = "Nothing to coach on: no reviewer has confirmed a fault on a call of this style."
_WORDS = {
    "voice_tone": "Voice",
    "voice_forbid_add": "Never say",
    "hooks_add": "Hooks to add",
    "stage_guidance": "Guidance by stage",
    "fewshot_add": "Examples to add",
    "skills_attach": "Skills to attach",
    "skills_detach": "Skills to detach",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class CoachDraft:
    """Edits of one style as a model drafted them, and what they rest on."""

    style: str
    model: str | None  # None: no model was asked
    summary: str
    edits: Mapping[str, Any]  # only what is proposed, in upstream's shape
    rationale: tuple[str, ...]
    signals: tuple[Mapping[str, Any], ...]  # what it rests on, as the model was shown it
    refused: tuple[Refused, ...] = ()
    problem: str | None = None  # why the answer is no draft; `raw_output` holds it
    raw_output: str | None = None
    prompt_digest: str | None = None  # sha256 of all that the model was told
    input_tokens: int | None = None
    output_tokens: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the draft as one JSON object; its status is that of a coach proposal nobody has applied."""
        return {
            "styleSlug": self.style,
            "status": "pending",
            "summary": self.summary,
            "edits": dict(self.edits),
            "rationale": list(self.rationale),
            "refused": [{"path": one.path, "reason": one.reason} for one in self.refused],
            "problem": self.problem,
            "rawOutput": self.raw_output,
            "rests_on": {
                "sampleSize": len(self.signals),
                "signals": [dict(signal) for signal in self.signals],
                "model": self.model,
                "prompt_digest": self.prompt_digest,
                "input_tokens": self.input_tokens,
                "output_tokens": self.output_tokens,
            },
        }

    def write(self, path: Path | str) -> Path:
        """Return the file that now holds the draft as JSON.

        Raises: OutputError where it cannot be written.
        """
        text = json.dumps(self.as_json(), ensure_ascii=False, indent=2)
        try:
            Path(path).write_text(well_formed(text) + "\n", encoding="utf-8")
        except OSError as problem:
            raise OutputError(f"cannot write {path}: {problem.strerror or problem}") from problem
        return Path(path)

    def __repr__(self) -> str:
        """Return the draft as a page of text; control characters show as their escapes."""
        return visible("\n".join(_page(self)), keep="\n")


def nothing_to_coach_on(style: str) -> CoachDraft:
    """Return the draft that proposes nothing, because there is nothing to rest on."""
    return CoachDraft(style=style, model=None, summary=NOTHING, edits={}, rationale=(), signals=())


def _page(draft: CoachDraft) -> Iterator[str]:
    """Yield the lines of a draft."""
    yield f"Draft for the style {draft.style}; nothing is applied"
    if draft.problem is not None:
        yield f"No draft: {draft.problem}"
    yield from ("", draft.summary) if draft.summary else ()
    for name, words in _WORDS.items():
        if name in draft.edits:
            yield from ("", f"{words}:", *_lines(draft.edits[name]))
    if draft.rationale:
        yield from ("", "Why:", *(f"- {reason}" for reason in draft.rationale))
    if draft.refused:
        yield from ("", "Left out of the answer:", *(f"- {one.path} {one.reason}" for one in draft.refused))
    if draft.signals:
        count = len(draft.signals)
        yield ""
        yield f"Rests on {count} {'label' if count == 1 else 'labels'}, drafted by {draft.model}:"
        for signal in draft.signals:
            note = f": {signal['note']}" if signal.get("note") else ""
            yield f"- {signal.get('call_uid')}  {signal.get('label')} on {signal.get('tool_name')}{note}"


def _lines(edit: Any) -> Iterator[str]:
    if isinstance(edit, str):
        yield f"- {edit}"
    elif isinstance(edit, Mapping):
        yield from (f"- {name}: {text}" for name, text in edit.items())
    else:
        for one in edit:
            yield (
                f"- {one}" if isinstance(one, str) else f"- {'; '.join(f'{k}: {v}' for k, v in one.items())}"
            )
