"""Rewards that wait in a database for their release: as one integer each, bounded on arrival.

The mechanism of a first fold is known when a reward arrives. What is kept is then what the
mechanism makes of it (grid steps, a bin, a run of windows) and nothing else. The mechanism of a
later fold depends on a release that is still to come; there the reward itself is kept, clipped to
the range beyond which no release could tell it apart (``reach``). Either way the total is the one
that the mechanism would have made of the reward as it came, bit for bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stoic.core import Floats, Query, Release
from stoic.errors import InvalidParameter
from stoic.privacy.mechanism import Mechanism, numbers

__all__ = ["add_kept", "keep"]


def keep(query: Query, fold: int, rewards: Floats) -> NDArray[np.int64]:
    """What is to be kept of rewards for one fold of a query, until it is released.

    >>> from stoic.privacy.queries import TruncatedMean
    >>> keep(TruncatedMean(centre=0, half_width=2, epsilon=1), 0, np.array([1.0, 1e9, np.nan]))
    array([536870912,         0,         0])
    """
    values, _ = numbers(rewards)
    if fold == 0:
        mechanism: Mechanism[Any] = query.mechanism(0, ())
        return mechanism.keep(values)
    reach = getattr(query, "reach", None)
    if reach is None:
        raise InvalidParameter("query", query, "must say how far its later folds reach")
    lo, hi = reach(fold)
    clipped = np.where(np.isnan(values), np.nan, np.clip(values, lo, hi))  # one NaN for all
    return clipped.astype(np.float64).view(np.int64)


def add_kept(
    query: Query, fold: int, earlier: tuple[Release, ...], total: Any, kept: NDArray[np.int64]
) -> Any:
    """The total of a fold with what :func:`keep` made of more rewards.

    >>> from stoic.privacy.queries import TruncatedMean
    >>> query = TruncatedMean(centre=0, half_width=2, epsilon=1)
    >>> rewards = np.array([1.0, np.inf, -0.3])
    >>> add_kept(query, 0, (), 0, keep(query, 0, rewards)) == query.add(0, rewards)
    True
    """
    mechanism: Mechanism[Any] = query.mechanism(fold, earlier)
    kept = np.ascontiguousarray(kept, dtype=np.int64)
    if fold == 0:
        return mechanism.add_kept(total, kept)
    return mechanism.add(total, kept.view(np.float64))
