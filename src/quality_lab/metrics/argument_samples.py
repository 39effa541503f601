"""What a tool was called with, to see which arguments are new in every call."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING


@dataclass(frozen=True, kw_only=True, slots=True)
class ArgumentSample:
    """A row of the query."""

    arguments: str  # JSON text
    created_at: datetime | None


def argument_samples(store: Asks, tool: str, *, tenant: str, most: int = 500) -> list[ArgumentSample]:
    """Return the arguments of at most *most* calls of *tool*, the newest first."""
    return put(store, ArgumentSample, "argument_samples", EVERYTHING, tool=tool, tenant=tenant, most=most)
