"""The tool loop: what a tool promises, how a model is asked, and the loop that lets the one call the other."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .contract import Effect, Tool, ToolContext, ToolError, tool
    from .schema import ToolContractError

_HOMES = {
    "Effect": "contract",
    "Tool": "contract",
    "ToolContext": "contract",
    "ToolContractError": "schema",
    "ToolError": "contract",
    "tool": "contract",
}

__all__ = ["Effect", "Tool", "ToolContext", "ToolContractError", "ToolError", "tool"]


def __getattr__(name: str) -> Any:
    """Return a public name from the module that holds it, loaded when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
