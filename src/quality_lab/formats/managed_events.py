"""The events of Managed Agents as they lie in a line: one, a page of them, or what a client recorded."""

from __future__ import annotations

from collections.abc import Iterator

from quality_lab.formats.json_pieces import Pieces, alike, list_in, object_in, string_in


def events_in(text: bytes, session_id: str | None) -> Iterator[tuple[Pieces, str | None]]:
    """Yield the events in a line with the session that the line names."""
    listed = list_in(text)
    if listed is not None:
        for one in listed:
            session_id = session_id or _named(string_in(one))
            yield from events_in(one, session_id)
        return
    event = object_in(text)
    if event is None:
        return
    for name in ("events", "data"):
        inner = list_in(event.get(name))
        if inner is not None:
            for one in inner:
                yield from events_in(one, session_id)
            return
    if "type" in event:
        yield event, session_id


def _named(text: str | None) -> str | None:
    return text if text is not None and text.startswith(("sesn_", "session_")) else None


def same(left: bytes, right: bytes) -> bool:
    """Say whether two JSON texts hold the same value."""
    return left == right or alike(left) == alike(right)
