"""Ids of traces and spans in one spelling: lower-case hex, whatever the exporter made of them."""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache

_TRACE, _SPAN = 32, 16  # hex digits
_HEX = re.compile(r"[0-9a-fA-F]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def trace_id_of(text: str) -> str:
    """Return the id of a trace in hex; what is no such id (`live-trace-1`) stays as it is.

    >>> trace_id_of("0x8BF2B34DEF8E3DD58B5D1A3F0AD0C1E2"), trace_id_of("i/KzTe+OPdWLXRo/CtDB4g==")
    ('8bf2b34def8e3dd58b5d1a3f0ad0c1e2', '8bf2b34def8e3dd58b5d1a3f0ad0c1e2')
    """
    return _hex(text.replace("-", "") if _UUID.fullmatch(text) else text, _TRACE)


def span_id_of(text: str) -> str:
    """Return the id of a span in hex.

    >>> span_id_of("C6idvH2Q3VI="), span_id_of("0xba89dbc7d90dd52"), span_id_of("step 1")
    ('0ba89dbc7d90dd52', '0ba89dbc7d90dd52', 'step 1')
    """
    return _hex(text, _SPAN)


@lru_cache(maxsize=4096)
def _hex(text: str, digits: int) -> str:
    if len(text) == digits and _HEX.fullmatch(text):
        return text.lower()
    text = text.strip()
    if text[:2] in ("0x", "0X") and _HEX.fullmatch(text, 2):
        return text[2:].lower().rjust(digits, "0")  # a number printed as hex has lost its leading noughts
    if _HEX.fullmatch(text):
        # Jaeger writes traces of 64 bits as they were, and older ones without their leading noughts
        return text.lower().rjust(digits, "0") if 12 < len(text) < digits else text.lower()
    size = digits // 2
    if len(text) == (size + 2) // 3 * 4 and text.endswith("="):
        try:
            decoded = base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
        except (binascii.Error, ValueError):
            return text
        return decoded.hex() if len(decoded) == size else text
    return text
