"""What OTLP wraps round spans: resources, and in them the scopes that instrumented something."""

from __future__ import annotations

import msgspec

from quality_lab.formats.json_pieces import Pieces, quoted
from quality_lab.formats.validation import Refused, refusal

SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans")


class Scope(msgspec.Struct):
    """Spans of one instrumentation."""

    scope: msgspec.Raw = msgspec.Raw()
    instrumentationLibrary: msgspec.Raw = msgspec.Raw()
    instrumentation_library: msgspec.Raw = msgspec.Raw()
    spans: list[msgspec.Raw] | None = None


class Resource(msgspec.Struct):
    """Spans of one resource. Their texts are slices of the document's, which is not copied for each level."""

    resource: msgspec.Raw = msgspec.Raw()
    scopeSpans: list[Scope] | None = None
    scope_spans: list[Scope] | None = None
    instrumentationLibrarySpans: list[Scope] | None = None
    instrumentation_library_spans: list[Scope] | None = None


_resource = msgspec.json.Decoder(Resource)
_resources = msgspec.json.Decoder(list[Resource] | None)


def resources_in(raw: bytes, path: str) -> list[Resource]:
    """Return the resources of the list that stands at *path*.

    Raises:
        Refused: it is no such list.
    """
    try:
        return _resources.decode(raw) or []
    except msgspec.ValidationError as problem:
        raise Refused(*refusal(problem, below=path)) from None


def resource_in(members: Pieces, path: str) -> Resource:
    """Return the one resource that an object at *path* is.

    Raises:
        Refused: it is no such object.
    """
    fields = (quoted(name) + b":" + members[name] for name in ("resource", *SCOPES) if name in members)
    try:
        return _resource.decode(b"{" + b",".join(fields) + b"}")
    except msgspec.ValidationError as problem:
        raise Refused(*refusal(problem, below=path)) from None
