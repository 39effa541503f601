"""Quality Lab: what an agent's tool calls get wrong, how sure that is, and whether a change held.

>>> import quality_lab as ql
>>> lab = ql.open_demo()  # or ql.open(), on your own home
>>> lab.failing_tools(top=3)[0].tool_name
'verify_exchange_payment'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quality_lab.answers import Answer as Answer
    from quality_lab.answers import CallView as CallView
    from quality_lab.answers import ConversationView as ConversationView
    from quality_lab.errors import InputError as InputError
    from quality_lab.errors import NoData as NoData
    from quality_lab.errors import QualityLabError as QualityLabError
    from quality_lab.errors import StoreBusy as StoreBusy
    from quality_lab.errors import UsageError as UsageError
    from quality_lab.lab import Lab as Lab
    from quality_lab.lab import open_demo as open_demo
    from quality_lab.lab import open_lab as open  # noqa: A004  # the name that analysts type after `ql.`

# Importing stays light: each name is looked up in its room when it is first used (PEP 562).
_ROOMS = {
    "Answer": ("quality_lab.answers", "Answer"),
    "CallView": ("quality_lab.answers", "CallView"),
    "ConversationView": ("quality_lab.answers", "ConversationView"),
    "InputError": ("quality_lab.errors", "InputError"),
    "Lab": ("quality_lab.lab", "Lab"),
    "NoData": ("quality_lab.errors", "NoData"),
    "QualityLabError": ("quality_lab.errors", "QualityLabError"),
    "StoreBusy": ("quality_lab.errors", "StoreBusy"),
    "UsageError": ("quality_lab.errors", "UsageError"),
    "open": ("quality_lab.lab", "open_lab"),
    "open_demo": ("quality_lab.lab", "open_demo"),
}

__all__ = [
    "Answer",
    "CallView",
    "ConversationView",
    "InputError",
    "Lab",
    "NoData",
    "QualityLabError",
    "StoreBusy",
    "UsageError",
    "open",
    "open_demo",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("quality-lab")
    if name not in _ROOMS:
        raise AttributeError(f"module 'quality_lab' has no attribute {name!r}; it has {', '.join(__all__)}")
    from importlib import import_module

    room, attribute = _ROOMS[name]
    found = getattr(import_module(room), attribute)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
