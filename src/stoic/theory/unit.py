"""Profile ``unit``: every constant of the paper's O, Omega and Theta set to 1. No guarantee.

Probably the setting behind the paper's figure, which does not state its constants. ``failure`` is
the run's ``delta``, the same for every estimate. Same functions as :mod:`stoic.theory.proof`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from stoic.core import Floats
from stoic.errors import InvalidParameter
from stoic.theory.common import check_share, iota

__all__ = [
    "central_bin_width",
    "central_breakdown",
    "central_cut",
    "central_radius",
    "central_threshold",
    "check_central",
    "check_raw",
    "guaranteed",
    "raw_breakdown",
    "raw_cut",
    "raw_radius",
    "raw_threshold",
    "share",
]

guaranteed = False

raw_breakdown = central_breakdown = 0.249


def share(delta: float, active: int, batch: int) -> float:
    """The run's ``delta`` itself: no union bound.

    >>> share(0.1, active=5, batch=3)
    0.1
    """
    return delta


def check_raw(*, epsilon: float, alpha: float) -> None:
    """Refuse ``alpha >= 0.249``.

    >>> check_raw(epsilon=1.0, alpha=0.2)
    """
    check_share(alpha)
    if alpha >= raw_breakdown:
        rule = f"must be < {raw_breakdown} for profile 'unit'"
        raise InvalidParameter("contamination", alpha, rule)


def raw_cut(n: ArrayLike, *, epsilon: float, alpha: float, k: float, failure: float) -> Floats:
    """``M = min{(n eps / L)^(1/k), alpha^(-1/k)}``, ``L = log(1/delta)``.

    >>> round(float(raw_cut(1000, epsilon=1.0, alpha=0.05, k=2, failure=1e-5)), 3)
    4.472
    """
    n = np.asarray(n, dtype=np.float64)
    cut: Floats = (n * epsilon / math.log(1 / failure)) ** (1 / k)
    return cut if alpha == 0 else np.minimum(cut, alpha ** (-1 / k))


def raw_radius(n: ArrayLike, *, epsilon: float, alpha: float, k: float, failure: float) -> Floats:
    """``sqrt(L/n) + (L/(n eps))^(1-1/k) + alpha^(1-1/k)``.

    >>> round(float(raw_radius(10_000, epsilon=0.5, alpha=0.05, k=2, failure=1e-5)), 3)
    0.306
    """
    n = np.asarray(n, dtype=np.float64)
    log = math.log(1 / failure)
    radius: Floats = np.sqrt(log / n) + (log / (n * epsilon)) ** (1 - 1 / k) + alpha ** (1 - 1 / k)
    return radius


def raw_threshold(*, epsilon: float, alpha: float, failure: float) -> float:
    """``L / alpha``; none without outliers.

    >>> raw_threshold(epsilon=0.5, alpha=0.05, failure=1e-5)
    231.0
    """
    return 1.0 if alpha == 0 else float(math.ceil(math.log(1 / failure) / alpha))


def check_central(*, epsilon: float, alpha: float, k: float, half_range: float) -> None:
    """Refuse ``alpha >= 0.249``.

    >>> check_central(epsilon=10.0, alpha=0.2, k=2, half_range=22.0)
    """
    check_raw(epsilon=epsilon, alpha=alpha)


def central_bin_width(*, alpha: float, k: float) -> float:
    """``r = iota^(1/k)``.

    >>> round(central_bin_width(alpha=0.05, k=2), 3)
    2.185
    """
    return float(iota(alpha) ** (1 / k))


central_cut = raw_cut
central_radius = raw_radius


def central_threshold(
    *, epsilon: float, alpha: float, k: float, half_range: float, failure: float
) -> float:
    """``max{iota L / eps, log(D/delta) / eps, L / alpha}``.

    >>> central_threshold(epsilon=0.5, alpha=0.05, k=2, half_range=22.4, failure=1e-5)
    231.0
    """
    log = math.log(1 / failure)
    located = max(iota(alpha) * log, math.log(half_range) + log) / epsilon
    return max(
        float(math.ceil(located)), raw_threshold(epsilon=epsilon, alpha=alpha, failure=failure)
    )
