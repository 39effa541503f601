"""The ways in which Quality Lab itself can fail; each knows the exit code that the command line gives it.

    QualityLabError            exit 1
    ├── NotFine                1   the thing that was checked is not fine
    │   └── NoData             1   a question or a report over an empty window
    ├── UsageError             2   asked in a way that cannot be answered
    │   └── UnknownName        2   a call, case, proposal … was named that is not here
    ├── InputError             3   input that cannot be used at all
    │   ├── UnrecognisedFormat 3   no format knows the file
    │   ├── StoreError         3   the database cannot be opened or is out of date
    │   │   └── StoreBusy      3   another process held it for longer than the wait
    │   └── OutputError        3   an output that cannot be written
    └── ServiceError           4   a service could not be reached, refused, or the budget ended

The world's failures are not here: a bad line is a `Reject`, a tool that raised is an outcome, a case that
went wrong is a `Verdict`.
"""

from __future__ import annotations


class QualityLabError(Exception):
    """Something that Quality Lab was asked to do and could not; the text says what was wanted, what came."""

    exit_code = 1


class NotFine(QualityLabError):
    """The thing that was checked is not fine: failed cases, a passed threshold, a failing notebook cell."""


class NoData(NotFine):
    """Nothing lies in the window that was asked for."""


class UsageError(QualityLabError):
    """Asked in a way that cannot be answered: an unknown figure, a bad date, a parameter nobody declared."""

    exit_code = 2


class UnknownName(UsageError):
    """A call, a case, a proposal, a conversation was named that this lab does not have."""


class InputError(QualityLabError):
    """Input that cannot be used at all."""

    exit_code = 3


class UnrecognisedFormat(InputError):
    """No format recognises the file; the text names the nearest formats and what was missing for each."""


class StoreError(InputError):
    """The database cannot be opened, is damaged, or was made by another version."""


class StoreBusy(StoreError):
    """Another process held the database for longer than we were told to wait."""


class OutputError(InputError):
    """An output file or folder that cannot be written."""


class ServiceError(QualityLabError):
    """A service could not be reached, refused, or the budget ended."""

    exit_code = 4
