"""What `--compat` allows: upstream's documents know upstream's filters only."""

from __future__ import annotations

from typing import Any

import click

UPSTREAM_FILTERS = ("tool", "source", "label", "error")


def upstream_filters(filters: dict[str, Any]) -> dict[str, Any]:
    """Return *filters*, if upstream has them all.

    Raises: click.UsageError naming those that it does not have.
    """
    strange = [f"--{name.replace('_', '-')}" for name in filters if name not in UPSTREAM_FILTERS]
    if strange:
        known = ", ".join(f"--{name}" for name in UPSTREAM_FILTERS)
        raise click.UsageError(f"--compat knows only upstream's filters ({known}); came {', '.join(strange)}")
    return filters
