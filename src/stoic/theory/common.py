"""Pieces that several bounds share, in natural units."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from stoic.core import Floats, integer, real
from stoic.errors import InvalidParameter

__all__ = ["bin_mass", "check_share", "checked_run", "iota", "variance"]

_LEAST = 1e-100  # below, thresholds in 1 / alpha^2 leave the range of floats


def check_share(alpha: float) -> None:
    """Refuse shares of outliers that are neither 0 nor an ordinary number.

    >>> check_share(1e-200)
    Traceback (most recent call last):
        ...
    stoic.errors.InvalidParameter: contamination = 1e-200: must be 0, or at least 1e-100
    """
    if 0 < alpha < _LEAST:
        raise InvalidParameter("contamination", alpha, f"must be 0, or at least {_LEAST:g}")


def checked_run(arms: int, horizon: int, delta: float | None) -> tuple[int, int, float]:
    """How many arms and rounds, and the failure probability: ``1 / horizon`` unless given.

    >>> checked_run(5, 1000, None)
    (5, 1000, 0.001)
    """
    arms = integer("arms", arms, at_least=2)
    horizon = integer("horizon", horizon, at_least=arms)
    return arms, horizon, 1 / horizon if delta is None else real("delta", delta, above=0, below=1)


def iota(alpha: float) -> float:
    """``(1 - alpha) / (0.249 - alpha)``, for ``alpha < 0.249`` (proof of Theorem 4, case II).

    >>> round(iota(0.05), 3)
    4.774
    """
    return (1 - alpha) / (0.249 - alpha)


def bin_mass(width: float, alpha: float, k: float) -> float:
    """``C2 = alpha + (1 - alpha) r^(-k)``: at most this much lies ``r`` or more from the mean.

    >>> bin_mass(2.0, alpha=0.0, k=2)
    0.25
    """
    return float(alpha + (1 - alpha) * width ** (-k))


def variance(reach: ArrayLike, k: float) -> Floats:
    """Bound on ``E Y^2`` for ``|Y| <= reach`` with ``E|Y|^k <= 1``.

    1 for ``k >= 2`` (Jensen); for ``k < 2``, ``E Y^2 <= reach^(2-k) E|Y|^k``.

    >>> float(variance(4.0, 1.5)), float(variance(4.0, 3))
    (2.0, 1.0)
    """
    reach = np.asarray(reach, dtype=np.float64)
    bound: Floats = reach ** max(2 - k, 0.0)
    return bound
