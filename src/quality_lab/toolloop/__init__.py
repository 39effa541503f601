"""The tool loop: what a tool promises, how a model is asked, and the loop between them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .anthropic import AnthropicStyle
    from .calling import Approve, PendingCall, approve_all
    from .contract import Effect, Tool, ToolContext, ToolError, tool
    from .loop import LoopHook, run_loop
    from .models import Model, ModelError, OpenAICompatible
    from .record import LoopResult, ModelReply, ModelTurn, RequestedCall, ToolOutcome
    from .schema import ToolContractError
    from .scripted import RecordedModel, ScriptedModel, call
    from .telemetry import OpenTelemetryHook
    from .trace import chat_line, trace_lines

_HOMES = {
    "anthropic": ("AnthropicStyle",),
    "calling": ("Approve", "PendingCall", "approve_all"),
    "contract": ("Effect", "Tool", "ToolContext", "ToolError", "tool"),
    "loop": ("LoopHook", "run_loop"),
    "models": ("Model", "ModelError", "OpenAICompatible"),
    "record": ("LoopResult", "ModelReply", "ModelTurn", "RequestedCall", "ToolOutcome"),
    "schema": ("ToolContractError",),
    "scripted": ("RecordedModel", "ScriptedModel", "call"),
    "telemetry": ("OpenTelemetryHook",),
    "trace": ("chat_line", "trace_lines"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AnthropicStyle",
    "Approve",
    "Effect",
    "LoopHook",
    "LoopResult",
    "Model",
    "ModelError",
    "ModelReply",
    "ModelTurn",
    "OpenAICompatible",
    "OpenTelemetryHook",
    "PendingCall",
    "RecordedModel",
    "RequestedCall",
    "ScriptedModel",
    "Tool",
    "ToolContext",
    "ToolContractError",
    "ToolError",
    "ToolOutcome",
    "approve_all",
    "call",
    "chat_line",
    "run_loop",
    "tool",
    "trace_lines",
]


def __getattr__(name: str) -> Any:
    """Return a public name from the module that holds it, loaded when it is first asked for."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
