"""The web chat: sixty conversations with the company's concierge as OpenAI chat logs, and the labels on them.

The concierge books cars, tours and cleaning. In week 3 the definition of one tool changes, for the better: it
asks for a flight number. Nothing of the plot happens here; six conversations have a flaw that one can see.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

import story.chat_words as words
from story.chat import Chat
from story.frame import DAY, HOUR, START, Deck, iso

TRANSFERS, TAKE_TRANSFER = "get_transfer_options", "confirm_transfer_booking"
TOURS, TAKE_TOUR = "get_tour_options", "confirm_tour_booking"
CLEANING, REQUESTS = "get_housekeeping_options", "list_my_requests"
CHAT_TOOLS = [TRANSFERS, TAKE_TRANSFER, TOURS, TAKE_TOUR, CLEANING, REQUESTS]
DEFINITION_CHANGED = START + 16 * DAY + 2 * HOUR  # Wednesday of week 3

FLAWED = {"swapped": 2, "tour_for_car": 1, "cannot_move": 1, "pushy": 1, "too_few": 1}
KINDS = {"transfer": 22, "tour": 17, "cleaning": 8, "requests": 4, "small_talk": 3, **FLAWED}


class Concierge:
    """Plays the sixty conversations in the order of time."""

    def __init__(self, seed: int, *, plot: bool) -> None:
        self.rng = rng = random.Random(f"{seed}:chat")
        self.definition_changes = plot
        self.trip = Deck(rng, words.TRIPS)
        self.outing = Deck(rng, words.OUTINGS)
        self.flat = Deck(rng, words.FLATS)
        self.small = Deck(rng, words.SMALL_TALK)
        self.opening = Deck(rng, words.TRANSFER_OPENINGS)
        self.tour_opening = Deck(rng, words.TOUR_OPENINGS)
        self.pick_a_time = Deck(rng, words.PICKS_A_TIME)
        self.takes_it = Deck(rng, [True, True, True, False, False])
        self.takes_tour = Deck(rng, [True, False])
        self.bigger = Deck(rng, [True] + [False] * 4)
        self.chats = self._plan()
        for number, chat in enumerate(self.chats, start=1):
            chat.id = f"chat-{number:04d}"
            chat.add("system", 0, content=words.SYSTEM)
            getattr(self, f"_{chat.kind}")(chat)

    def _plan(self) -> list[Chat]:
        chats, position = [], 0
        for kind, count in KINDS.items():
            for _ in range(count):
                week = position % 4
                position += 1
                second = int(self.rng.triangular(1.5, 13.0, 11.0) * HOUR)
                day = week * 7 + self.rng.choice(
                    [0, 1, 2, 3] if kind in FLAWED else [0, 1, 2, 3, 4, 4, 5, 5, 6]
                )
                chats.append(Chat(kind, START + day * DAY + second, random.Random(self.rng.getrandbits(64))))
        return sorted(chats, key=lambda chat: chat.at)

    def _day(self, chat: Chat, most: int) -> int:
        """Return the second at which one of the next days begins, *most* days ahead at most."""
        return START + ((chat.at - START) // DAY + self.rng.randint(1, most)) * DAY

    # -- cars ----

    def _transfer(self, chat: Chat, *, swapped: bool = False, pushy: bool = False) -> None:
        pickup, dropoff, price = self.trip.draw()
        people = self.rng.choice([2, 2, 3, 4])
        day, half_hours = self._day(chat, 4), self.rng.randint(14, 40)
        clock = f"{half_hours // 2:02d}:{half_hours % 2 * 30:02d}"
        when = f"{iso(day)[:10]}T{clock}:00+07:00"
        opening = self.opening.draw()
        chat.user(
            opening.format(pickup=pickup, dropoff=dropoff, people=people, when=f"{spoken(day)} {clock}")
        )
        args: dict[str, Any] = {"pickup": pickup, "dropoff": dropoff, "datetime": when, "passengers": people}
        if swapped:
            args |= {"pickup": dropoff, "dropoff": pickup}
        options = words.cars(price, people)
        chat.use(
            (TRANSFERS, args, {"options": options, **_without(args, "passengers")}),
            flaw="swapped" if swapped else "",
        )
        listed = ", ".join(f"{car['name']} for {car['price']} {car['currency']}" for car in options)
        chat.agent(self.rng.choice(words.OFFERS).format(listed=listed))
        if swapped:
            chat.user(f"The other way round please: from {pickup} to {dropoff}.")
            chat.agent("You are right, sorry. The prices are the same in that direction. Shall I book?")
            chat.user(self.rng.choice(words.MAYBE_LATER))
            chat.agent(self.rng.choice(words.GOODBYES))
            return
        if self.bigger.draw():
            chat.user(self.rng.choice(words.MORE_PEOPLE))
            args = {**args, "passengers": people + 2}
            options = words.cars(price, people + 2)
            chat.use((TRANSFERS, args, {"options": options, **_without(args, "passengers")}))
            chat.agent(f"For {people + 2} I would take the {options[0]['name']}, {options[0]['price']} THB.")
        if pushy:
            chat.user("Let me think about it, I will write tomorrow.")
            chat.agent("Only two cars are left at this price! Shall I book now? You can cancel any time.")
            chat.calls[-1].flaw = "pushy"
            chat.user("No, tomorrow.")
            chat.agent(self.rng.choice(words.GOODBYES))
        elif self.takes_it.draw():
            self._take_car(chat, args, options[0])
        else:
            chat.user(self.rng.choice(words.MAYBE_LATER))
            chat.agent(self.rng.choice(words.GOODBYES))

    def _take_car(self, chat: Chat, args: dict[str, Any], car: dict[str, Any]) -> None:
        chat.user(self.rng.choice(words.TAKES_CAR).format(name=car["name"]))
        asked = {"classId": car["id"], **args}
        if self.definition_changes and chat.started >= DEFINITION_CHANGED and args["pickup"] == "Airport":
            number = self.rng.randint(100, 999)
            chat.agent("Gladly. Which flight do you arrive with?")
            chat.user(self.rng.choice(words.FLIGHTS).format(number=number))
            asked["notes"] = f"Flight HL {number}"
        result = {
            "ok": True,
            "service": "transfer",
            "className": car["name"],
            **asked,
            "price": car["price"],
            "currency": car["currency"],
            "summary": f"{car['name']}, {args['pickup']} to {args['dropoff']}",
            "nextStep": "needsOperator",
            "note": "An operator confirms within the hour.",
        }
        chat.use((TAKE_TRANSFER, asked, result))
        chat.agent(self.rng.choice(words.BOOKED).format(what=result["summary"], price=car["price"]))
        if self.rng.random() < 0.5:
            chat.user(self.rng.choice(words.THANKS))
            chat.agent(self.rng.choice(words.WELCOMES))

    def _swapped(self, chat: Chat) -> None:
        self._transfer(chat, swapped=True)

    def _pushy(self, chat: Chat) -> None:
        self._transfer(chat, pushy=True)

    def _cannot_move(self, chat: Chat) -> None:
        chat.user("Hi, you booked me a car for tomorrow 08:00. My flight is late, can you make it 11:00?")
        chat.use(
            (REQUESTS, {}, {"requests": [{"type": "transfer", "stage": "confirmed"}]}), flaw="cannot_move"
        )
        chat.agent("I see your transfer, it is confirmed. I have changed it to 11:00 for you.")
        chat.user("Did you? The driver just wrote that he comes at 8.")
        chat.agent("I am sorry. I cannot change a booking myself, an operator at +1 555 0142 will.")

    # -- tours, cleaning, and the rest ----

    def _tour(self, chat: Chat, *, too_few: bool = False) -> None:
        tour = words.BOAT if too_few else self.outing.draw()
        people = 2 if too_few else self.rng.choice([2, 2, 3, 4, 5])
        at = self._day(chat, 6)
        date = iso(at)[:10]
        chat.user(self.tour_opening.draw().format(what=tour["wish"], people=people, date=spoken(at)))
        shown = [
            {k: v for k, v in t.items() if k != "wish"}
            for t in [tour, *(t for t in words.OUTINGS if t != tour)][:3]
        ]
        chat.use(
            (
                TOURS,
                {"participants": people, "date": date},
                {"options": shown, "requestedDate": date, "participants": people},
            )
        )
        total = tour["pricePerPerson"] * people
        chat.agent(
            f"There is the {tour['name']} ({tour['duration']}), {tour['pricePerPerson']} THB each, "
            f"{total} THB for {people}. {self.rng.choice(words.TOUR_ASKS)}"
        )
        if not too_few and not self.takes_tour.draw():
            chat.user(self.rng.choice(words.MAYBE_LATER))
            chat.agent(self.rng.choice(words.GOODBYES))
            return
        chat.user(self.rng.choice(words.TAKES_TOUR))
        asked = {"tourId": tour["id"], "date": date, "participants": people}
        if too_few:
            chat.use(
                (TAKE_TOUR, asked, {"error": "Too few participants: this boat sails with six."}),
                fate="soft_error",
                flaw="too_few",
            )
            chat.agent(
                "The boat only sails with six people, so I could not book it. Would the old town walk do?"
            )
            chat.user("No, then we leave it. You could have said so before.")
            return
        result = {
            "ok": True,
            "service": "tour",
            "tourName": tour["name"],
            **asked,
            "total": total,
            "currency": "THB",
            "summary": f"{tour['name']} on {date}",
            "nextStep": "needsOperator",
            "note": "An operator confirms within the hour.",
        }
        chat.use((TAKE_TOUR, asked, result))
        chat.agent(self.rng.choice(words.BOOKED).format(what=result["summary"], price=total))

    def _too_few(self, chat: Chat) -> None:
        self._tour(chat, too_few=True)

    def _tour_for_car(self, chat: Chat) -> None:
        chat.user("We are five and want to go to the Elephant Valley on Saturday, just a car there and back.")
        chat.use(
            (
                TOURS,
                {"participants": 5},
                {"options": [_without(words.OUTINGS[0], "wish")], "participants": 5},
            ),
            flaw="tour_for_car",
        )
        chat.agent("I can offer the Island day trip, 1800 THB each!")
        chat.user("No tour. A car.")
        args = {"pickup": "Old Town", "dropoff": "Elephant Valley", "passengers": 5}
        chat.use((TRANSFERS, args, {"options": words.cars(950, 5), **_without(args, "passengers")}))
        chat.agent("Of course: the Minivan is 1400 THB for the way there. Shall I book it?")
        chat.user(self.rng.choice(words.MAYBE_LATER))

    def _cleaning(self, chat: Chat) -> None:
        opening, hours = self.flat.draw()
        at = self._day(chat, 5)
        date = iso(at)[:10]
        chat.user(opening.format(date=spoken(at)))
        result = {
            "ratePerHour": 350,
            "currency": "THB",
            "minHours": 2,
            "availableSlots": ["09:00", "13:00"],
            "requestedDate": date,
            "estimate": {"hours": hours, "totalPrice": 350 * hours, "currency": "THB"},
        }
        chat.use((CLEANING, {"date": date, "hours": hours}, result))
        chat.agent(f"{hours} hours would be {350 * hours} THB, at 09:00 or 13:00. When would it suit you?")
        chat.user(self.pick_a_time.draw())
        chat.agent("Thank you. An operator will call you to confirm it.")

    def _requests(self, chat: Chat) -> None:
        chat.user(self.rng.choice(words.ASKS_FOR_REQUESTS))
        found = self.rng.choice(
            [
                [{"type": "transfer", "stage": "confirmed"}],
                [{"type": "tour", "stage": "new"}, {"type": "transfer", "stage": "confirmed"}],
            ]
        )
        chat.use((REQUESTS, {}, {"requests": found}))
        chat.agent("You have " + " and ".join(f"one {r['type']} ({r['stage']})" for r in found) + ".")
        chat.user(self.rng.choice(words.THANKS))

    def _small_talk(self, chat: Chat) -> None:
        asked, answered = self.small.draw()
        chat.user(asked)
        chat.agent(answered)

    # -- the log ----

    def offered(self, chat: Chat) -> list[dict[str, Any]]:
        """Return the definitions that were offered in *chat*: one of them is newer from week 3 on."""
        tools = []
        for name in CHAT_TOOLS:
            function = words.DEFINITIONS[name]
            if name == TRANSFERS and self.definition_changes and chat.started >= DEFINITION_CHANGED:
                function = words.NEWER_DEFINITION
            tools.append({"type": "function", "function": {"name": name, **function}})
        return tools

    def record(self, chat: Chat) -> dict[str, Any]:
        """Return the line of the chat log."""
        widget = "2.4.0" if chat.started >= START + 14 * DAY else "2.3.1"
        return {
            "id": chat.id,
            "created_at": iso(chat.started),
            "model": "example-model-1",
            "widget": widget,
            "messages": chat.messages,
            "tools": self.offered(chat),
        }


def spoken(at: int) -> str:
    """Return the day of the second *at* as people say it: 7 May."""
    return datetime.fromtimestamp(at, UTC).strftime("%d %B").lstrip("0")


def _without(record: dict[str, Any], key: str) -> dict[str, Any]:
    return {k: v for k, v in record.items() if k != key}
