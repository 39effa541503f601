"""One GET with bounded patience: what comes back, or an error that says what went wrong without the token."""

from __future__ import annotations

from quality_lab.quality_api.address import endpoint
from quality_lab.quality_api.session import Patience, Session


def fetch_regression_cases(
    base: str, *, token: str, status: str, limit: int, patience: Patience | None = None
) -> bytes:
    """Return the export of regression cases as it came: JSONL, the newest *limit* of that *status*.

    Raises:
        ApiError: no answer, or another status than 200 to 299.
        UsageError: *base* or *token* cannot be put into a request.
    """
    url = endpoint(base, "tool-call-regression-cases/export.jsonl", {"status": status, "limit": limit})
    return fetch(url, token=token, patience=patience)


def fetch(url: str, *, token: str, patience: Patience | None = None) -> bytes:
    """Return the body of what a GET of *url* answers, after redirects; another origin does not get the token.

    Where asking again may help it is asked again, after as long as the server says (Retry-After).

    Raises:
        ApiError: no answer in time, or another status than 200 to 299.
        UsageError: *token* cannot stand in a header, or the environment's proxy cannot be used.
    """
    with Session(url, token=token, patience=patience) as session:
        return session.ask(url)
