"""What is said in the web chat, what the concierge's tools offer, what reviewers wrote. All invented."""

from __future__ import annotations

from typing import Any

SYSTEM = "You are the concierge of Harbour Lane Exchange. Book cars, tours and cleaning. Be brief and kind."

TRIPS = [  # from, to, price of the smallest car
    ("Airport", "Old Town", 900),
    ("Airport", "Lantern Beach", 750),
    ("Old Town", "Airport", 900),
    ("Lantern Beach", "Ferry Pier", 600),
    ("Ferry Pier", "Old Town", 400),
    ("Harbour Lane", "Airport", 850),
    ("Airport", "Hill View Villas", 1100),
    ("Hill View Villas", "Elephant Valley", 1300),
    ("Old Town", "Lantern Beach", 500),
]
TRANSFER_OPENINGS = [
    "Hi! Could you get us a car from {pickup} to {dropoff} on {when}? We are {people}.",
    "How much is a ride {pickup} - {dropoff}, {when}, {people} people?",
    "good morning, need transfer {pickup} to {dropoff} {when} for {people} thank you",
    "Hello, {people} of us have to be picked up at {pickup} on {when} and go to {dropoff}. What is there?",
    "Is there a car on {when} from {pickup}? We want to go to {dropoff}, {people} persons plus bags",
    "my parents arrive {when}. {pickup} to {dropoff}, {people} seats please, they are old so nothing high",
    "Car to {dropoff} please! From {pickup}, {when}, for {people}.",
    "What does it cost from {pickup} to {dropoff}? {when}. {people} pax",
    "We land late, can a driver wait? {pickup} to {dropoff}, {when}, {people} people and a surfboard",
    "Hey, it's me again. Same as last time, {pickup} to {dropoff}, but on {when} and for {people}",
]
OFFERS = [
    "I have {listed}. Which one suits you?",
    "You can choose: {listed}.",
    "For that trip there is {listed}. Shall I book one?",
    "Happy to help! {listed}. All with a driver who speaks English.",
]
MORE_PEOPLE = [
    "Oh, two friends join us. Is there something bigger?",
    "Sorry I forgot the kids, we are two more.",
    "And with two more people?",
]
TAKES_CAR = [
    "The {name} please.",
    "ok take {name}",
    "{name}, and can he wait ten minutes?",
    "Let's do the {name}!",
    "{name} is fine. Cash to the driver?",
]
MAYBE_LATER = [
    "Thanks, I will ask my wife and come back.",
    "Hmm, a bit more than I thought. Maybe later.",
    "ok let me think",
    "Thank you, we may take the bus then.",
    "Good to know, I'll write tonight.",
]
GOODBYES = [
    "Of course, just write here when you know.",
    "No hurry. Have a good day!",
    "Sure, I am here every day until nine.",
]
FLIGHTS = ["It is HL {number}.", "HL{number} I think", "flight HL {number}, from the capital"]
BOOKED = [
    "Noted: {what}, {price} THB. An operator confirms within the hour.",
    "Thank you! {what} for {price} THB is with our operator now.",
    "Done from my side: {what}. {price} THB, you will get a confirmation shortly.",
]
THANKS = ["Great, thank you!", "perfect thx", "Thank you, very kind.", "ok 👍", "Merci beaucoup !"]
WELCOMES = ["You are welcome!", "Have a good trip.", "With pleasure."]
TOUR_OPENINGS = [
    "We are {people} and would like {what} around {date}. Any idea?",
    "Do you have {what}? {people} people, {date}",
    "hi, looking for {what} on {date} for {people}",
    "Our last free day is {date}. What about {what} for the {people} of us?",
    "Can I book {what} with you? {date}, {people} adults.",
    "my kids want {what}. we would be {people}, on {date}",
]
TOUR_ASKS = ["Shall I book it?", "Would you like to join?", "It starts at eight. Is that all right?"]
TAKES_TOUR = ["Yes please!", "Sounds good, book it.", "ok for us", "Perfect, we take it."]
OUTINGS: list[dict[str, Any]] = [
    {
        "id": "island-day",
        "name": "Island day trip",
        "duration": "8 h",
        "pricePerPerson": 1800,
        "currency": "THB",
        "wish": "a day at the islands",
    },
    {
        "id": "old-town-walk",
        "name": "Old town walk",
        "duration": "3 h",
        "pricePerPerson": 650,
        "currency": "THB",
        "wish": "a walk with some food",
    },
    {
        "id": "valley",
        "name": "Elephant Valley visit",
        "duration": "5 h",
        "pricePerPerson": 2400,
        "currency": "THB",
        "wish": "something with elephants, but no riding",
    },
    {
        "id": "cooking",
        "name": "Cooking morning",
        "duration": "4 h",
        "pricePerPerson": 1500,
        "currency": "THB",
        "wish": "a cooking class",
    },
]
BOAT: dict[str, Any] = {
    "id": "sunset-boat",
    "name": "Sunset boat",
    "duration": "4 h",
    "pricePerPerson": 1900,
    "currency": "THB",
    "minParticipants": 6,
    "wish": "the sunset boat",
}
_CARS = [("sedan", "Sedan", 3, 1.0), ("minivan", "Minivan", 7, 1.5), ("van-lux", "Comfort van", 8, 2.2)]


def cars(price: int, people: int) -> list[dict[str, Any]]:
    """Return the cars in which *people* find room, for a trip that costs *price* with the smallest."""
    return [
        {
            "id": car,
            "name": name,
            "capacity": seats,
            "price": round(price * factor / 50) * 50,
            "currency": "THB",
        }
        for car, name, seats, factor in _CARS
        if seats >= people
    ]


FLATS = [
    ("We leave on {date} and the flat should be cleaned, three hours or so?", 3),
    ("How much for cleaning on {date}? It's one bedroom, 2 hours I guess", 2),
    ("cleaning lady {date} please 4 hours big house", 4),
    ("Could somebody clean the apartment on {date}? Two hours are enough, we are tidy people.", 2),
]
PICKS_A_TIME = [
    "13:00 please",
    "The early one, 9.",
    "either is fine",
    "Hm, is the afternoon possible? Then 13:00.",
]
ASKS_FOR_REQUESTS = [
    "What did I book with you so far?",
    "is my booking ok?",
    "Can you see what I have ordered?",
]
SMALL_TALK = [
    ("Do you speak French?", "Oui, un peu ! English is safer. How can I help?"),
    ("Are you a real person?", "I am an assistant. For a person please call +1 555 0142."),
    (
        "Is it raining on the islands now?",
        "I cannot see the weather, sorry. Mornings are usually dry in May.",
    ),
]


def _schema(required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 1}
DEFINITIONS: dict[str, dict[str, Any]] = {
    "get_transfer_options": {
        "description": "Cars for a trip, with prices. Use before confirm_transfer_booking.",
        "parameters": _schema([], pickup=_TEXT, dropoff=_TEXT, datetime=_TEXT, passengers=_COUNT),
    },
    "confirm_transfer_booking": {
        "description": "Ask an operator to book the car that the guest chose.",
        "parameters": _schema(
            ["classId", "pickup", "dropoff", "datetime"],
            classId=_TEXT,
            pickup=_TEXT,
            dropoff=_TEXT,
            datetime=_TEXT,
            passengers=_COUNT,
            notes=_TEXT,
        ),
    },
    "get_tour_options": {
        "description": "Tours with prices, for a number of people and a date.",
        "parameters": _schema([], participants=_COUNT, date=_TEXT),
    },
    "confirm_tour_booking": {
        "description": "Ask an operator to book the tour that the guest chose.",
        "parameters": _schema(
            ["tourId", "date", "participants"], tourId=_TEXT, date=_TEXT, participants=_COUNT
        ),
    },
    "get_housekeeping_options": {
        "description": "Price and free times of the cleaning service.",
        "parameters": _schema([], date=_TEXT, hours={"type": "number", "exclusiveMinimum": 0}),
    },
    "list_my_requests": {"description": "What this guest has asked for so far.", "parameters": _schema([])},
}
NEWER_DEFINITION: dict[str, Any] = {
    "description": "Cars for a trip, with prices. Use before confirm_transfer_booking. "
    "For a pick-up at the airport ask for the flight number first and put it into the notes of the booking.",
    "parameters": _schema(
        ["pickup", "dropoff"],
        pickup=_TEXT,
        dropoff=_TEXT,
        datetime={"type": "string", "description": "ISO 8601, with the zone"},
        passengers=_COUNT,
    ),
}

# Who says what about which flaw: the reviewer and the label. The guide knows no "too_pushy".
VERDICTS: dict[str, list[tuple[int, str]]] = {
    "swapped": [(5, "bad_args")],
    "tour_for_car": [(3, "wrong_tool"), (8, "good_reply")],
    "cannot_move": [(3, "missing_tool")],
    "pushy": [(8, "too_pushy")],
    "too_few": [(5, "other"), (3, "other")],
}
EXPECTED = {("tour_for_car", "wrong_tool"): "get_transfer_options"}  # the tool that the reviewer names
NOTES: dict[str, list[str | None]] = {
    "swapped": [
        "Pick-up and drop-off are swapped.",
        "Direction is the wrong way round, guest had to correct it.",
    ],
    "tour_for_car": ["Guest asked for a car, got tours."],
    "tour_for_car_good": ["It found the right one in the end."],
    "cannot_move": ["Nothing here can change a booking, and the agent said it had."],
    "pushy": ['"Only two cars left" is made up.'],
    "too_few": [
        "minParticipants was in the list, it should have said so.",
        "Offered a boat that does not sail for two.",
    ],
    "good": [
        None,
        None,
        None,
        "Nice and short.",
        "ok",
        "Exactly what they asked for.",
        None,
        "Good, answered the question and nothing else.",
        None,
    ],
}
