"""The worlds behind `toolbox:…`: stand-ins opened by name, and their end state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from quality_lab.errors import UsageError
from quality_lab.toolbox.booking import booking_tools
from quality_lab.toolbox.conversation import Conversation
from quality_lab.toolbox.conversation_tools import BY_CHOICE, conversation_tools
from quality_lab.toolbox.exchange_desk import ExchangeDesk
from quality_lab.toolbox.exchange_samples import sample_desk
from quality_lab.toolbox.exchange_stages import STAGES
from quality_lab.toolbox.exchange_tools import exchange_tools
from quality_lab.toolbox.faq import FaqIndex
from quality_lab.toolbox.hand_clock import Clock, HandClock
from quality_lab.toolbox.office import Office
from quality_lab.toolbox.office_tools import office_tools
from quality_lab.toolloop.contract import Tool


@dataclass(frozen=True, kw_only=True, slots=True)
class StandInTools:
    """The tools of one stand-in for one message: those that are offered, those that can be chosen."""

    offered: tuple[Tool, ...]
    by_choice: tuple[Tool, ...] = ()


class World:
    """Everything that stand-ins keep in memory: one desk, one office, and a conversation for each id.

    A new world with the same seed and clock, and the same calls, ends in the same `state()`. Bring a desk or
    an office of your own, or let the world open one with invented rates when it is first asked for.

    >>> world = World(seed=1)
    >>> [tool.name for tool in world.open("office", conversation="7").offered][:2]
    ['create_crm_lead', 'book_calendar_slot']
    >>> sorted(world.state())
    ['alerts', 'bookings', 'invoices', 'leads']
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        clock: Clock | None = None,
        desk: ExchangeDesk | None = None,
        office: Office | None = None,
        faq: FaqIndex | None = None,
        booking_url: str | None = None,
    ) -> None:
        self.seed = seed
        self.clock: Clock = clock if clock is not None else HandClock()
        self.faq = faq if faq is not None else FaqIndex(())
        self.booking_url = booking_url
        self.conversations: dict[str, Conversation] = {}
        self._desk = desk
        self._office = office
        self._opened: dict[str, None] = {}

    @property
    def desk(self) -> ExchangeDesk:
        """Return the exchange desk, opened when it is first asked for.

        Its leads start verified and in no known stage: a call that was recorded in the middle of a
        conversation is not refused for what was said before it.
        """
        if self._desk is None:
            self._desk = sample_desk(seed=self.seed, clock=self.clock, first_stage=None, verified=True)
        return self._desk

    @property
    def version(self) -> int:
        """Return a number that grows when tools that were resolved before are out of date."""
        return 0 if self._desk is None else self._desk.version

    @property
    def office(self) -> Office:
        """Return the office, opened when it is first asked for."""
        if self._office is None:
            self._office = Office(clock=self.clock)
        return self._office

    def conversation(self, conversation_id: object) -> Conversation:
        """Return the conversation with that id, a new one where there was none."""
        key = str(conversation_id)
        return self.conversations.setdefault(key, Conversation(conversation_id=key))

    def open(
        self,
        name: str,
        *,
        conversation: str,
        message: int | None = None,
        options: Mapping[str, str] | None = None,
    ) -> StandInTools:
        """Return the tools of the stand-in *name* for one message of a conversation.

        Raises:
            UsageError: no stand-in has that name, or it does not take such an option.
        """
        given = dict(options or {})
        if name not in _OPENERS:
            raise UsageError(f"no stand-in is named {name!r}; there are {', '.join(sorted(_OPENERS))}")
        opener, known = _OPENERS[name]
        unknown = sorted(set(given) - set(known))
        if unknown:
            takes = ", ".join(known) or "no options"
            raise UsageError(f"toolbox:{name} does not take {', '.join(unknown)}; it takes {takes}")
        self._opened[name] = None
        return opener(self, conversation, message, given)

    def state(self) -> dict[str, Any]:
        """Return the end state as JSON: of the one stand-in in use, or of each by name where several are."""
        states = {name: self._state_of(name) for name in self._opened if name != "booking"}
        return next(iter(states.values())) if len(states) == 1 else states

    def _state_of(self, name: str) -> dict[str, Any]:
        if name == "exchange":
            return self.desk.state()
        if name == "office":
            return self.office.state()
        told = {key: conversation.state() for key, conversation in sorted(self.conversations.items())}
        return next(iter(told.values())) if len(told) == 1 else told


def _open_booking(
    world: World, conversation: str, message: int | None, given: Mapping[str, str]
) -> StandInTools:
    return StandInTools(offered=tuple(booking_tools(given.get("url", world.booking_url))))


def _open_exchange(
    world: World, conversation: str, message: int | None, given: Mapping[str, str]
) -> StandInTools:
    desk = world.desk
    if "stage" in given and str(conversation) not in desk.leads:
        if given["stage"] not in STAGES:
            raise UsageError(f"no stage is named {given['stage']!r}; there are {', '.join(STAGES)}")
        desk.lead(conversation).stage = given["stage"]
    return StandInTools(offered=tuple(exchange_tools(desk, conversation)))


def _open_conversation(
    world: World, conversation: str, message: int | None, given: Mapping[str, str]
) -> StandInTools:
    also = [name.strip() for name in given.get("also", "").split(",") if name.strip()]
    every = conversation_tools(
        world.conversation(conversation),
        faq=world.faq,
        also=dict.fromkeys([*also, *BY_CHOICE]),
        answering=message,
    )
    chosen = {"faq_lookup", "handoff", *also}
    return StandInTools(
        offered=tuple(tool for tool in every if tool.name in chosen),
        by_choice=tuple(tool for tool in every if tool.name not in chosen),
    )


def _open_office(
    world: World, conversation: str, message: int | None, given: Mapping[str, str]
) -> StandInTools:
    return StandInTools(offered=tuple(office_tools(world.office, conversation)))


_Opener = Callable[[World, str, int | None, Mapping[str, str]], StandInTools]
_OPENERS: dict[str, tuple[_Opener, tuple[str, ...]]] = {
    "booking": (_open_booking, ("url",)),
    "exchange": (_open_exchange, ("stage",)),
    "conversation": (_open_conversation, ("also",)),
    "office": (_open_office, ()),
}
STAND_INS = tuple(_OPENERS)
