"""Ready tools: stand-ins with their world in memory, tools over HTTP, and the catalogues they come from."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .booking import booking_tools, delete_booking_url, get_booking_url, set_booking_url
    from .conversation import Conversation
    from .conversation_tools import conversation_tools
    from .definitions import is_definition_only
    from .exchange_desk import ExchangeDesk, PaymentSource, Transfer, Verification
    from .exchange_rates import Rate
    from .exchange_samples import sample_desk
    from .exchange_tools import exchange_tools
    from .faq import FaqIndex, read_faq
    from .guarded_http import Network
    from .hand_clock import HandClock
    from .handoff import finish_turn, follow_up
    from .http_catalogue import add_http_tool
    from .http_tools import http_tool
    from .office import Office
    from .office_tools import office_tools
    from .references import scenario
    from .resolver import ToolResolver, ToolSet, tools_from
    from .sources import Occasion
    from .stand_ins import World

_HOMES = {
    "booking": ("booking_tools", "delete_booking_url", "get_booking_url", "set_booking_url"),
    "conversation": ("Conversation",),
    "conversation_tools": ("conversation_tools",),
    "definitions": ("is_definition_only",),
    "exchange_desk": ("ExchangeDesk", "PaymentSource", "Transfer", "Verification"),
    "exchange_rates": ("Rate",),
    "exchange_samples": ("sample_desk",),
    "exchange_tools": ("exchange_tools",),
    "faq": ("FaqIndex", "read_faq"),
    "guarded_http": ("Network",),
    "hand_clock": ("HandClock",),
    "handoff": ("finish_turn", "follow_up"),
    "http_catalogue": ("add_http_tool",),
    "http_tools": ("http_tool",),
    "office": ("Office",),
    "office_tools": ("office_tools",),
    "references": ("scenario",),
    "resolver": ("ToolResolver", "ToolSet", "tools_from"),
    "sources": ("Occasion",),
    "stand_ins": ("World",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Conversation",
    "ExchangeDesk",
    "FaqIndex",
    "HandClock",
    "Network",
    "Occasion",
    "Office",
    "PaymentSource",
    "Rate",
    "ToolResolver",
    "ToolSet",
    "Transfer",
    "Verification",
    "World",
    "add_http_tool",
    "booking_tools",
    "conversation_tools",
    "delete_booking_url",
    "exchange_tools",
    "finish_turn",
    "follow_up",
    "get_booking_url",
    "http_tool",
    "is_definition_only",
    "office_tools",
    "read_faq",
    "sample_desk",
    "scenario",
    "set_booking_url",
    "tools_from",
]


def __getattr__(name: str) -> Any:
    """Return a public name from the module that holds it, loaded when it is first asked for."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
