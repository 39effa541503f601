"""Where only labelled calls are known, so that no rate can be had."""

from __future__ import annotations

from dataclasses import dataclass

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters


@dataclass(frozen=True, kw_only=True, slots=True)
class Untraced:
    """A tool within a tenant and source of which no trace export is here."""

    tool_name: str
    tenant: str
    source: str | None


def untraced(store: Asks, *, filters: Filters = EVERYTHING) -> list[Untraced]:
    """Return the picked tools by tenant and source of which no trace export is here, by tenant, source and
    name.
    """
    rows = put(store, Untraced, "untraced", filters)
    return sorted(rows, key=lambda row: (row.tenant, row.source or "", row.tool_name))


def no_trace_notes(rows: list[Untraced]) -> list[str]:
    """Return a sentence that names the tenants and sources of *rows*, or none where there are none."""
    pairs = sorted({(row.tenant, row.source or "no source") for row in rows})
    if not pairs:
        return []
    named = ", ".join(f"{source} (tenant {tenant})" for tenant, source in pairs)
    return [f"no_trace_export: only labelled calls are here of {named}, so nothing there has a rate"]
