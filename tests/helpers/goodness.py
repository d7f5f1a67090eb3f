"""Whether observed counts fit a law, with a false alarm that is proved and not only asymptotic.

Method of types: among ``n`` draws in ``k`` cells there are ``C(n+k-1, k-1)`` possible counts, and
counts whose relative entropy to the law is ``D`` come up with probability ``exp(-n D)`` at most. So
``2 n D``, the G statistic, exceeds ``2 (log C(n+k-1, k-1) + log(1/alarm))`` with probability
``alarm`` at most, for every law and every n.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

__all__ = ["fits", "same_law"]


def fits(counts: ArrayLike, law: ArrayLike, *, alarm: float) -> bool:
    """Whether the counts fit the law; wrongly False with probability ``alarm`` at most."""
    observed = np.asarray(counts, dtype=np.float64)
    return _g(observed, np.asarray(law, dtype=np.float64)) <= _limit(observed, alarm)


def same_law(counts: ArrayLike, others: ArrayLike, *, alarm: float) -> bool:
    """Whether both fit one law, whatever it is; wrongly False with ``alarm`` at most.

    The pooled frequencies fit both samples together better than their true law does.
    """
    one, other = np.asarray(counts, dtype=np.float64), np.asarray(others, dtype=np.float64)
    pooled = (one + other) / (one.sum() + other.sum())
    return _g(one, pooled) + _g(other, pooled) <= _limit(one, alarm / 2) + _limit(other, alarm / 2)


def _g(counts: np.ndarray, law: np.ndarray) -> float:
    return 2 * float(special.rel_entr(counts, counts.sum() * law).sum())


def _limit(counts: np.ndarray, alarm: float) -> float:
    n, k = counts.sum(), counts.size
    types = special.gammaln(n + k) - special.gammaln(n + 1) - special.gammaln(k)
    return 2 * (float(types) + math.log(1 / alarm))
