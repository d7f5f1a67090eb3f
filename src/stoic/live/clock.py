"""Durations as people write them, and the clock: whole milliseconds everywhere."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable

from stoic.core import real
from stoic.errors import InvalidParameter

__all__ = ["Clock", "Duration", "duration", "milliseconds"]

Clock = Callable[[], float]
"""Seconds since 1970, as :func:`time.time` gives them."""

Duration = str | float | datetime.timedelta

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_WRITTEN = re.compile(r"(\d+(?:\.\d+)?) ?(ms|s|m|h|d|w)")
_LONGEST = 100 * 366 * _UNITS["d"]


def duration(name: str, given: Duration) -> int:
    """A duration in milliseconds, from ``"7d"``, ``"90m"``, seconds or a timedelta.

    >>> duration("tick", "1.5h") == duration("tick", 5400)
    True
    >>> duration("tick", "soon")
    Traceback (most recent call last):
        ...
    stoic.errors.InvalidParameter: tick = 'soon': must be like '250ms', '10s', '5m', '1h' or '7d'
    """
    if isinstance(given, str):
        found = _WRITTEN.fullmatch(given.strip())
        if found is None:
            raise InvalidParameter(name, given, "must be like '250ms', '10s', '5m', '1h' or '7d'")
        length = float(found[1]) * _UNITS[found[2]]
    elif isinstance(given, datetime.timedelta):
        length = given.total_seconds() * 1000
    else:
        length = real(name, given, at_least=0) * 1000
    if not 1 <= length <= _LONGEST:
        raise InvalidParameter(name, given, "must be at least a millisecond, at most a century")
    return round(length)


def milliseconds(clock: Clock) -> int:
    """What the clock says.

    >>> milliseconds(lambda: 1.25)
    1250
    """
    return int(clock() * 1000)
