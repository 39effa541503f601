"""The shapes that `masking` knows: how each is found, checked, and folded so that two spellings are one value.

Every pattern begins where nothing of its kind stands before it and repeats possessively, so that a text of a
megabyte that almost matches costs one walk.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

STAND_IN = re.compile(r"\[[a-z]+-[a-p]{10}\]")


def _whole(value: str) -> int:
    return len(value)


def _as_it_is(value: str) -> str:
    return value


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of value that is not shown."""

    kind: str  # as its stand-in says
    pattern: re.Pattern[str]  # with a group `value`
    taken: Callable[[str], int] = _whole  # how many of the characters found are the value; 0: none
    folded: Callable[[str], str] = _as_it_is  # equal for two spellings of one value
    hint: re.Pattern[str] | None = None  # something without which the pattern cannot be there


def _digits(value: str) -> str:
    return re.sub(r"[^0-9]", "", value)


def _plain(value: str) -> str:
    return re.sub(r"[ -]", "", value).upper()


# What the number of a card begins with, and how long it may be then.
_CARD = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|"
    r"3(?:0[0-5]|[68]\d)\d{11,16}|35(?:2[89]|[3-8]\d)\d{12,15}|6(?:011|4[4-9]\d|5\d\d)\d{12,15}|"
    r"62\d{14,17}|220[0-4]\d{12,15}|(?:50|5[6-9]|6[0-9])\d{10,17}"
)


def _card(value: str) -> int:
    digits = _digits(value)
    if not _CARD.fullmatch(digits):
        return 0
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (1 + place % 2)
        total += doubled - 9 * (doubled > 9)
    return len(value) if total % 10 == 0 and len(set(digits)) > 1 else 0


_IBAN_LENGTHS = {
    country: length
    for length, countries in (
        (15, "NO"),
        (16, "BE"),
        (18, "DK FI FO GL NL SD"),
        (19, "MK SI"),
        (20, "AT BA EE KZ LT LU XK"),
        (21, "CH HR LI LV"),
        (22, "BG BH CR DE GB GE IE ME RS VA"),
        (23, "AE GI IL IQ TL"),
        (24, "AD CZ ES MD PK RO SA SE SK TN VG"),
        (25, "LY PT ST"),
        (26, "IS TR"),
        (27, "FR GR IT MC MR SM"),
        (28, "AL AZ BY CY DO GT HU LB PL SV"),
        (29, "BR EG PS QA UA"),
        (30, "JO KW MU"),
        (31, "MT SC"),
        (32, "LC"),
        (33, "RU"),
    )
    for country in countries.split()
}


def _iban(value: str) -> int:
    """Return the length of the IBAN with which *value* begins: as long as its country says, its sum right."""
    wanted = _IBAN_LENGTHS.get(value[:2].upper(), 0)
    places = [place for place, character in enumerate(value) if character.isalnum()]
    if not wanted or len(places) < wanted:
        return 0
    length = places[wanted - 1] + 1
    if value[length : length + 1].isalnum():
        return 0
    code = _plain(value[:length])
    number = "".join(str(int(character, 36)) for character in code[4:] + code[:4])
    return length if int(number) % 97 == 1 else 0


_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def _base58(value: str) -> int:
    """Return the length of *value* if it is an address whose checksum is right, or a public key of 32 bytes."""
    number = 0
    for character in value:
        number = number * 58 + _BASE58.index(character)
    size = (number.bit_length() + 7) // 8 + len(value) - len(value.lstrip("1"))
    if size == 25:
        content = number.to_bytes(25, "big")
        again = hashlib.sha256(hashlib.sha256(content[:21]).digest()).digest()
        return len(value) if again[:4] == content[21:] else 0
    mixed = value.lower() != value != value.upper() and any(character.isdigit() for character in value)
    return len(value) if size == 32 and len(value) >= 43 and mixed else 0


def _phone(value: str) -> int:
    return len(value) if 9 <= len(_digits(value)) <= 15 else 0


def _telephone(value: str) -> str:
    return _digits(value).removeprefix("00")


_TOKEN = r"[A-Za-z0-9_-]"
_VENDORS = (
    r"(?:sk|pk|rk)[-_]" + _TOKEN + r"{16,}+|gh[opsur]_[A-Za-z0-9]{30,}+|github_pat_\w{30,}+|"
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}+|A(?:KIA|SIA)[0-9A-Z]{16}(?!" + _TOKEN + r")|AIza" + _TOKEN + r"{35}|"
    r"glpat-" + _TOKEN + r"{20,}+|hf_[A-Za-z0-9]{30,}+|npm_[A-Za-z0-9]{36}|whsec_[A-Za-z0-9+/=]{20,}+|"
    r"SG\." + _TOKEN + r"{16,}+\." + _TOKEN + r"{16,}+|ya29\." + _TOKEN + r"{20,}+|"
    r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|dop_v1_[0-9a-f]{64}|\d{8,10}:AA" + _TOKEN + r"{33}"
)
_NAMED = (
    r"(?i:api[ _-]?key|access[ _-]?key|secret|passw(?:or)?d|passphrase|pwd|(?:access[ _-]?|auth[ _-]?)?token)"
)

SHAPES = (
    Shape(
        "secret",
        re.compile(
            r"(?P<value>-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*+(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?)"
        ),
        hint=re.compile("PRIVATE KEY"),
    ),
    Shape(
        "secret",
        re.compile(rf"(?<!{_TOKEN})(?P<value>eyJ{_TOKEN}{{5,}}+\.{_TOKEN}{{5,}}+\.{_TOKEN}*+)"),
        hint=re.compile("eyJ"),
    ),
    Shape("secret", re.compile(rf"(?<!{_TOKEN})(?P<value>{_VENDORS})")),
    Shape(
        "secret",
        re.compile(
            r"\b(?i:bearer|basic)\s{1,3}(?P<value>(?=[A-Za-z._~+/=-]{0,99}+[0-9])[A-Za-z0-9._~+/=-]{12,}+)"
        ),
        hint=re.compile("(?i)bearer|basic"),
    ),
    Shape(
        "secret",
        re.compile(
            rf"\b{_NAMED}\b[\"']?\s{{0,3}}[=:]\s{{0,3}}[\"']?"
            r"(?P<value>(?=[^\s,;&\"'<>\\\[0-9]{0,99}+[0-9])[^\s,;&\"'<>\\\[\]]{6,}+)"
        ),
        hint=re.compile("[=:]"),
    ),
    Shape(
        "secret",
        re.compile(r"(?<=://)(?P<value>[^/\s:@\[]{1,100}:[^/\s@\[]{1,100})(?=@)"),
        hint=re.compile("://"),
    ),
    Shape(
        "email",
        re.compile(
            r"(?<![\w.%+-])(?P<value>[\w.%+-]++@[^\W_](?:[\w-]{0,62}[^\W_])?(?:\.[^\W_](?:[\w-]{0,62}[^\W_])?)++)"
        ),
        folded=str.casefold,
        hint=re.compile("@"),
    ),
    Shape(
        "wallet",
        re.compile(r"(?<![0-9A-Za-z])(?P<value>0x[0-9a-fA-F]{40})(?![0-9A-Za-z])"),
        folded=str.lower,
        hint=re.compile("0x"),
    ),
    Shape(
        "wallet",
        re.compile(r"(?<![0-9A-Za-z])(?P<value>(?i:(?:bc1|tb1|ltc1)[ac-hj-np-z02-9]{11,87}))(?![0-9A-Za-z])"),
        folded=str.lower,
        hint=re.compile("(?i)(?:bc|tb|ltc)1"),
    ),
    Shape("wallet", re.compile(rf"(?<!{_TOKEN})(?P<value>[EUk0]Q{_TOKEN}{{46}})(?!{_TOKEN})")),
    Shape(
        "wallet", re.compile(r"(?<![0-9A-Za-z])(?P<value>[48][0-9AB][1-9A-HJ-NP-Za-km-z]{93})(?![0-9A-Za-z])")
    ),
    Shape(
        "wallet",
        re.compile(r"(?<![0-9A-Za-z])(?P<value>[1-9A-HJ-NP-Za-km-z]{26,44})(?![0-9A-Za-z])"),
        _base58,
    ),
    Shape(
        "iban",
        re.compile(
            r"(?<![0-9A-Za-z])(?P<value>[A-Z]{2}\d\d(?:[ ]?[A-Z0-9]){11,30}+|[a-z]{2}\d\d[a-z0-9]{11,30}+)"
        ),
        _iban,
        _plain,
    ),
    Shape(
        "card",
        re.compile(r"(?<![\w.+-])(?P<value>\d(?:[ -]?\d){11,18})(?![ -]?\d)(?![A-Za-z_]|[.,]\d)", re.ASCII),
        _card,
        _digits,
    ),
    Shape(
        "phone",
        re.compile(
            r"(?<![\w+])(?P<value>(?:\+|00)[1-9](?:[ .()/-]{0,2}\d){7,14}+|\+\d[ -]?\(\d{2,4}\)(?:[ -]?\d){5,9}+|"
            r"\(\d{3}\) ?\d{3}[ .-]\d{4}|[2-9]\d\d([.-])\d{3}\2\d{4}|"
            r"8[ -]?\(?9\d\d\)?[ -]?\d{3}[ -]?\d\d[ -]?\d\d|0[1-9]\d?[ -]\d{3}[ -]?\d{3,4})(?![\w]|[.,]\d)",
            re.ASCII,
        ),
        _phone,
        _telephone,
    ),
)  # in this order: what is longer and surer first
