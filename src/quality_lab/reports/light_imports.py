"""Imports without what reports never use: nbformat, and so papermill and plotly, would compile a grammar.

jsonschema, which nbformat brings, builds a parser of international addresses as soon as it is imported, if
some other package happens to have installed the means. That takes longer than all else that a report imports.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_iri_grammar() -> Iterator[None]:
    """Keep jsonschema from finding that grammar while it is imported: no notebook holds such an address."""
    name = "rfc3987_syntax"
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # None makes an import fail
    try:
        yield
    finally:
        sys.modules.pop(name, None)


def load_plotly() -> None:
    """Import plotly's figures and the way they show themselves, which looks for nbformat."""
    with no_iri_grammar():
        import plotly.graph_objects
        import plotly.io
        import plotly.io._renderers  # noqa: F401  as above
