"""What a question gives back: rows that show themselves, and turn into pandas, polars, Arrow and records."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quality_lab.answers.answer import Answer as Answer
    from quality_lab.answers.exchange import CallView as CallView
    from quality_lab.answers.exchange import ConversationView as ConversationView
    from quality_lab.answers.exchange import Step as Step
    from quality_lab.answers.harmless import visible as visible

__all__ = ["Answer", "CallView", "ConversationView", "Step", "visible"]

# Looked up when first used: the command line needs `visible` alone before it knows the verb.
_FOUND_IN = {
    "Answer": "answer",
    "CallView": "exchange",
    "ConversationView": "exchange",
    "Step": "exchange",
    "visible": "harmless",
}


def __getattr__(name: str) -> object:
    if name in _FOUND_IN:
        from importlib import import_module

        return getattr(import_module(f"quality_lab.answers.{_FOUND_IN[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
