"""Rates from the sums that a query brought home."""

from __future__ import annotations

from quality_lab.intervals import Rate, Sums, rate


def rate_of(row: object, name: str) -> Rate | None:
    """Return the rate whose sums stand in the columns `<name>_n`, `_y`, `_conversations`, `_yy`, `_ym` and
    `_mm`.
    """

    def column(suffix: str) -> int:
        return int(getattr(row, f"{name}_{suffix}"))

    return rate(
        Sums(
            n=column("n"),
            y=column("y"),
            conversations=column("conversations"),
            yy=column("yy"),
            ym=column("ym"),
            mm=column("mm"),
        )
    )
