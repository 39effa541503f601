"""Secrets, payment data and addresses in text, shown as stand-ins that keep equality.

The same value becomes the same stand-in everywhere in one home (`[card-kdfhabgcme]`), so grouping, comparing and
rules still work; which value it was, nobody can tell without the key in `data/.mask-key`. Shapes are known
ones, and those that have a checksum are checked, so an order number is not taken for a card.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from pathlib import Path

from quality_lab import json_text
from quality_lab.masking.shapes import SHAPES, STAND_IN, Shape

SECRET_NAMES = frozenset(
    (
        "password",
        "passwd",
        "pwd",
        "passphrase",
        "pin",
        "cvv",
        "cvc",
        "cvv2",
        "secret",
        "clientsecret",
        "secretkey",
        "token",
        "accesstoken",
        "refreshtoken",
        "idtoken",
        "authtoken",
        "bearertoken",
        "sessiontoken",
        "apikey",
        "authorization",
        "privatekey",
        "mnemonic",
        "seedphrase",
        "cardnumber",
        "otp",
        "onetimecode",
        "xapikey",
        "cookie",
        "setcookie",
    )
)  # names of members whose whole value is secret, in lower case and without "_" and "-"
_KEY_BYTES = 32
_LETTERS = str.maketrans("0123456789abcdef", "abcdefghijklmnop")  # no digits: a stand-in is no shape itself
_NESTED = 3  # JSON text in a string in JSON text, so many times
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]++', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class Masker:
    """Puts stand-ins in the place of what must not be shown; its key is made when first needed.

    >>> from tempfile import mkdtemp
    >>> masker = Masker(Path(mkdtemp()))
    >>> shown = masker.text("card 4111 1111 1111 1111, order 4111111111111112")
    >>> shown[:11], shown[-24:]
    ('card [card-', ', order 4111111111111112')
    >>> masker.text("4111-1111-1111-1111") == masker.text("4111111111111111")
    True
    """

    def __init__(self, home: Path, *, secret_names: Collection[str] = SECRET_NAMES) -> None:
        """Keep where the key lies; in JSON the values of members with *secret_names* are masked whole."""
        self._path = home / "data" / ".mask-key"
        self._names = frozenset(map(_folded, secret_names))
        spelt = "|".join("[_-]?".join(map(re.escape, name)) for name in sorted(self._names)) or "(?!)"
        self._member = re.compile(
            rf"""((?:\\*"|&quot;|&\#34;))(?i:{spelt})\1\s{{0,20}}:\s{{0,20}}"""
            r"""(?:\1(?P<text>(?:(?!\1)[^<\n])++)|(?P<number>-?[0-9][0-9.eE+-]*+))"""
        )

    def text(self, words: str) -> str:
        """Return *words* with a stand-in for each known shape; all other characters stay what they are.

        A member with a secret name is masked whole even where its JSON is cut, or escaped for HTML.
        """
        return self._masked(self._member.sub(self._member_masked, words), exactly=False)

    def json_text(self, words: str) -> str:
        """Return JSON text whose strings are masked; it parses as before, and every other value is what it was.

        Numbers stay, but under a secret name. JSON that stands in a string is masked as JSON. A text that is
        not JSON is masked as text.

        >>> from tempfile import mkdtemp
        >>> masker = Masker(Path(mkdtemp()))
        >>> masker.json_text('{"n": 4111111111111111, "x": [1.50, null]}')
        '{"n": 4111111111111111, "x": [1.50, null]}'
        >>> '"password":"[secret-' in masker.json_text('{"password":"hunter2"}')
        True
        """
        return self._json(words, _NESTED) or self.text(words)

    def stand_in(self, kind: str, value: str) -> str:
        """Return what is shown in the place of *value*."""
        if STAND_IN.fullmatch(value):
            return value
        told = hmac.new(self._key, f"{kind}:{value}".encode("utf-8", "surrogatepass"), hashlib.sha256)
        return f"[{kind}-{told.hexdigest()[:10].translate(_LETTERS)}]"

    def _masked(self, words: str, *, exactly: bool) -> str:
        for shape in SHAPES:
            if shape.hint is None or shape.hint.search(words):
                words = shape.pattern.sub(self._replacing(shape, exactly=exactly), words)
        return words

    def _member_masked(self, found: re.Match[str]) -> str:
        kind = "text" if found["text"] is not None else "number"
        start, end = (place - found.start() for place in found.span(kind))
        shown = self.stand_in("secret", found[kind])
        quoted = shown if kind == "text" else f"{found[1]}{shown}{found[1]}"
        return f"{found[0][:start]}{quoted}{found[0][end:]}"

    def _replacing(self, shape: Shape, *, exactly: bool) -> Callable[[re.Match[str]], str]:
        def replace(found: re.Match[str]) -> str:
            start, end = found.span("value")
            length = shape.taken(found["value"])
            if not length:
                return found[0]
            value, rest = found["value"][:length], found["value"][length:]
            before, after = found[0][: start - found.start()], found[0][end - found.start() :]
            return (
                f"{before}{self.stand_in(shape.kind, value if exactly else shape.folded(value))}{rest}{after}"
            )

        return replace

    def _json(self, words: str, nested: int) -> str | None:
        """Return the masked JSON text, or None where *words* is not JSON."""
        try:
            json_text.parse(words)
        except (ValueError, RecursionError):
            return None
        return "".join(self._pieces(words, nested))

    def _pieces(self, words: str, nested: int) -> Iterator[str]:
        frames: list[tuple[bool, bool]] = []  # of each open bracket: is it an object, is all in it secret
        is_key = is_secret = False
        done = 0
        for token in _TOKEN.finditer(words):
            yield words[done : token.start()]
            done, piece = token.end(), token[0]
            if piece in "{[":
                frames.append((piece == "{", is_secret))
                is_key = piece == "{"
            elif piece in "}]":
                frames.pop()
                is_secret = bool(frames) and frames[-1][1]
            elif piece == ",":
                is_key, is_secret = frames[-1]
            elif piece == ":":
                is_key = False
            elif is_key:
                name = json.loads(piece)
                is_secret = frames[-1][1] or _folded(name) in self._names
                piece = self._string(piece, name, self._masked(name, exactly=True))
            elif is_secret:
                piece = self._secret(piece)
            elif piece.startswith('"'):
                value = json.loads(piece)
                inner = self._json(value, nested - 1) if nested and value.startswith(("{", "[")) else None
                piece = self._string(piece, value, inner or self.text(value))
            yield piece
        yield words[done:]

    def _secret(self, piece: str) -> str:
        """Return a whole value's stand-in; nothing, true and false stay what they are."""
        value = json.loads(piece) if piece.startswith('"') else piece
        if value in ("", "null", "true", "false"):
            return piece
        return json.dumps(self.stand_in("secret", value))

    @staticmethod
    def _string(piece: str, value: str, masked: str) -> str:
        if masked == value:
            return piece
        return json.dumps(masked, ensure_ascii=bool(_SURROGATE.search(masked)))

    @cached_property
    def _key(self) -> bytes:
        try:
            return self._read_key()
        except OSError:
            pass  # not made yet, or not to be read
        made = secrets.token_hex(_KEY_BYTES)
        draft = self._path.with_name(f"{self._path.name}-{os.getpid()}-{secrets.token_hex(4)}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(made + "\n")
            try:
                os.link(draft, self._path)  # whole or not at all, and never over another's key
            except FileExistsError:
                pass
            finally:
                draft.unlink()
            return self._read_key()
        except OSError:
            return bytes.fromhex(made)  # a home that cannot be written: equal within this run alone

    def _read_key(self) -> bytes:
        return self._path.read_bytes().strip()


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
