"""Every error that Stoic raises on purpose.

::

    StoicError
    ├── InvalidParameter      (also a ValueError)   a parameter breaks a stated rule
    ├── InvalidState          (also a ValueError)   stored JSON cannot be read back
    ├── InvalidStudy          (also a ValueError)   a study breaks a rule; names file, line and key
    ├── UnusableResults       (also a RuntimeError) results cannot be read, written or continued
    ├── LostWorkers           (also a RuntimeError) the processes that do the work cannot be had
    ├── InvalidReward         (also a TypeError)    a reward is not a number (and is not shown)
    ├── PrivacyViolation      (also a RuntimeError) a release would spend a reward twice or too much
    ├── UnknownTicket         (also a LookupError)  a ticket that this experiment never issued
    ├── UnknownExperiment     (also a LookupError)  no experiment of that name in this database
    ├── StoreUnavailable      (also a RuntimeError) the database is busy, full or out of reach
    └── MissingExtra          (also an ImportError) a package is missing; names its pip command

No message ever contains a reward.
"""

from __future__ import annotations

__all__ = [
    "InvalidParameter",
    "InvalidReward",
    "InvalidState",
    "InvalidStudy",
    "LostWorkers",
    "MissingExtra",
    "PrivacyViolation",
    "StoicError",
    "StoreUnavailable",
    "UnknownExperiment",
    "UnknownTicket",
    "UnusableResults",
]


class StoicError(Exception):
    """The root of every error below: ``except stoic.errors.StoicError`` catches them all."""


class InvalidParameter(StoicError, ValueError):
    """A parameter breaks a rule.

    >>> raise InvalidParameter("epsilon", -1.0, "must be > 0")
    Traceback (most recent call last):
        ...
    stoic.errors.InvalidParameter: epsilon = -1.0: must be > 0
    """

    def __init__(self, parameter: str, value: object, rule: str) -> None:
        super().__init__(f"{parameter} = {value!r}: {rule}")
        self.parameter = parameter
        self.value = value
        self.rule = rule


class InvalidState(StoicError, ValueError):
    """Stored JSON is not what this version of Stoic wrote."""


class InvalidStudy(StoicError, ValueError):
    """A study breaks a rule. The message begins with its file and line, and names the key."""


class UnusableResults(StoicError, RuntimeError):
    """The results of a study are not there, belong to another study, or cannot be written."""


class LostWorkers(StoicError, RuntimeError):
    """Worker processes, or a Dask scheduler, cannot be reached or have died."""


class InvalidReward(StoicError, TypeError):
    """A reward is not a real number. NaN and infinities are numbers, and have a stated meaning."""


class PrivacyViolation(StoicError, RuntimeError):
    """The ledger refused a release that would charge a reward twice or beyond its budget."""


class UnknownTicket(StoicError, LookupError):
    """The ticket was never issued by this agent or experiment."""


class UnknownExperiment(StoicError, LookupError):
    """The database holds no experiment of that name."""


class StoreUnavailable(StoicError, RuntimeError):
    """The database could not be read or written. Nothing was changed; what was asked for may be
    asked again.
    """


class MissingExtra(StoicError, ImportError):
    """An optional dependency is not installed.

    >>> raise MissingExtra("opendp", extra="secure")
    Traceback (most recent call last):
        ...
    stoic.errors.MissingExtra: opendp is not installed: pip install 'stoic-bandits[secure]'
    """

    def __init__(self, package: str, *, extra: str) -> None:
        super().__init__(f"{package} is not installed: pip install 'stoic-bandits[{extra}]'")
        self.package = package
        self.extra = extra
