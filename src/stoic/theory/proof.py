"""Profile ``proof``: the constants of the paper's appendix, made exact, in natural units.

Every function maps public numbers to a public number; ``n`` may be an array. ``failure`` is the
probability ``delta'`` that one estimate may be farther than its radius from the clean mean; ``n``
is the number of rewards that are averaged (a central estimate spends as many again on locating).
Derivations, and where they differ from the print: ``docs/theory/proof-profile.md``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from stoic.core import Floats, real
from stoic.errors import InvalidParameter
from stoic.theory.common import bin_mass, check_share, iota, variance

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
    "raw_radius_closed_form",
    "raw_threshold",
    "share",
]

guaranteed = True

raw_breakdown = 0.5
central_breakdown = 0.133


def share(delta: float, active: int, batch: int) -> float:
    """Failure probability of one estimate: ``delta / (2 |S| tau^2)`` (proof of Theorem 3).

    Over at most ``|S|`` arms and all batches these sum to ``delta pi^2 / 12 < 0.83 delta``.

    >>> share(0.1, active=5, batch=3)
    0.0011111111111111111
    """
    return delta / (2 * active * batch**2)


# --- Raw moments (Theorem 2) --------------------------------------------------------------------


def check_raw(*, epsilon: float, alpha: float) -> None:
    """Refuse settings that the theorem does not cover.

    >>> check_raw(epsilon=1.0, alpha=0.6)
    Traceback (most recent call last):
        ...
    stoic.errors.InvalidParameter: contamination = 0.6: must be <= 0.5 for PRM-R, profile 'proof'
    """
    check_share(alpha)
    if alpha > raw_breakdown:
        rule = f"must be <= {raw_breakdown} for PRM-R, profile 'proof'"
        raise InvalidParameter("contamination", alpha, rule)


def _raw_log(alpha: float, failure: float) -> float:
    return math.log((16 if alpha > 0 else 4) / failure)


def raw_cut(n: ArrayLike, *, epsilon: float, alpha: float, k: float, failure: float) -> Floats:
    """Truncation ``M = min{(n eps / 4L)^(1/k), (8 alpha)^(-1/k)}``.

    >>> round(float(raw_cut(1000, epsilon=1.0, alpha=0.0, k=2, failure=0.04)), 3)
    7.368
    """
    n = np.asarray(n, dtype=np.float64)
    cut: Floats = (n * epsilon / (4 * _raw_log(alpha, failure))) ** (1 / k)
    return cut if alpha == 0 else np.minimum(cut, (8 * alpha) ** (-1 / k))


def raw_radius(n: ArrayLike, *, epsilon: float, alpha: float, k: float, failure: float) -> Floats:
    """``sqrt(2vL/n) + 4ML/(3n) + 2M log(2/delta')/(n eps) + M^(1-k) + 8 alpha M``.

    The sum before the last simplification of the proof of Theorem 2, which needs ``eps <= 3/2``.

    >>> round(float(raw_radius(10_000, epsilon=1.0, alpha=0.0, k=2, failure=0.01)), 3)
    0.122
    """
    n = np.asarray(n, dtype=np.float64)
    log = _raw_log(alpha, failure)
    cut = raw_cut(n, epsilon=epsilon, alpha=alpha, k=k, failure=failure)
    sampling = np.sqrt(2 * variance(cut, k) * log / n) + 4 * cut * log / (3 * n)
    noise = 2 * cut * math.log(2 / failure) / (n * epsilon)
    radius: Floats = sampling + noise + cut ** (1 - k) + 8 * alpha * cut
    return radius


def raw_radius_closed_form(
    n: ArrayLike, *, epsilon: float, alpha: float, k: float, failure: float
) -> Floats:
    """``sqrt(2L/n) + 2 (4L/(n eps))^(1-1/k) + 2 (8 alpha)^(1-1/k)``, as printed in the paper.

    For comparison only: it merges two terms, which needs ``k >= 2`` and ``eps <= 3/2``. At
    ``eps = 10``, ``k = 2`` and without outliers it is 1.61 to 1.67 times too small for the proof.

    >>> round(float(raw_radius_closed_form(10_000, epsilon=1.0, alpha=0.0, k=2, failure=0.01)), 3)
    0.133
    """
    n = np.asarray(n, dtype=np.float64)
    log = _raw_log(alpha, failure)
    private = 2 * (4 * log / (n * epsilon)) ** (1 - 1 / k)
    radius: Floats = np.sqrt(2 * log / n) + private + 2 * (8 * alpha) ** (1 - 1 / k)
    return radius


def raw_threshold(*, epsilon: float, alpha: float, failure: float) -> float:
    """Least ``n`` for which :func:`raw_radius` is proved: ``L / alpha``; none without outliers.

    >>> raw_threshold(epsilon=1.0, alpha=0.1, failure=0.001)
    97.0
    """
    return 1.0 if alpha == 0 else float(math.ceil(_raw_log(alpha, failure) / alpha))


# --- Central moments (Theorem 4) ----------------------------------------------------------------


def check_central(*, epsilon: float, alpha: float, k: float, half_range: float) -> None:
    """Refuse settings that the theorem does not cover.

    >>> check_central(epsilon=0.5, alpha=0.3, k=2, half_range=22.0)
    Traceback (most recent call last):
        ...
    stoic.errors.InvalidParameter: contamination = 0.3: must be < 0.133 for PRM-C, profile 'proof'
    """
    check_share(alpha)
    if alpha >= central_breakdown:
        rule = f"must be < {central_breakdown} for PRM-C, profile 'proof'"
        raise InvalidParameter("contamination", alpha, rule)
    if epsilon > 1:
        raise InvalidParameter("epsilon", epsilon, "must be <= 1 for PRM-C, profile 'proof'")
    width = central_bin_width(alpha=alpha, k=k)
    real("half of mean_range, over bound**(1/k),", half_range, at_least=2 * width)


def central_bin_width(*, alpha: float, k: float) -> float:
    """``r = iota^(1/k)``, or ``10^(1/k)`` without outliers.

    >>> round(central_bin_width(alpha=0.0, k=2), 3), round(central_bin_width(alpha=0.05, k=2), 3)
    (3.162, 2.185)
    """
    return float((10.0 if alpha == 0 else iota(alpha)) ** (1 / k))


def central_cut(n: ArrayLike, *, epsilon: float, alpha: float, k: float, failure: float) -> Floats:
    """``M = 4 min{(n eps / log(1/delta'))^(1/k), alpha^(-1/k)}``.

    At the threshold and beyond ``M >= 4 r``, which the proof needs.

    >>> round(float(central_cut(10_000, epsilon=1.0, alpha=0.05, k=2, failure=0.01)), 3)
    17.889
    """
    n = np.asarray(n, dtype=np.float64)
    cut: Floats = 4 * (n * epsilon / math.log(1 / failure)) ** (1 / k)
    return cut if alpha == 0 else np.minimum(cut, 4 * alpha ** (-1 / k))


def central_radius(
    n: ArrayLike, *, epsilon: float, alpha: float, k: float, failure: float
) -> Floats:
    """Sum of the terms T1 (twice: T2 holds a second one), T2, T3 and the noise.

    ``2 a (M+2r) + sqrt(2vL/n) + 4 (M+2r) L/(3n) + (2/M)^(k-1)
    + 2r (alpha + (2/M)^k + sqrt(L/(2n))) + 2M log(4/delta')/(n eps)``, where
    ``a = alpha + sqrt(2 alpha (1-alpha) L/n) + 2L/(3n)`` bounds the share of outliers.

    >>> round(float(central_radius(1e6, epsilon=1.0, alpha=0.0, k=2, failure=0.01)), 3)
    0.058
    """
    n = np.asarray(n, dtype=np.float64)
    log = math.log(16 / failure)
    width = central_bin_width(alpha=alpha, k=k)
    cut = central_cut(n, epsilon=epsilon, alpha=alpha, k=k, failure=failure)
    reach = cut + 2 * width  # |X - mu| of a reward that is kept, since |J - mu| <= 2r
    outliers = np.zeros_like(n)
    if alpha > 0:
        outliers = alpha + np.sqrt(2 * alpha * (1 - alpha) * log / n) + 2 * log / (3 * n)
    sampling = np.sqrt(2 * variance(reach, k) * log / n) + 4 * reach * log / (3 * n)
    tail = (2 / cut) ** (k - 1)
    shifted = 2 * width * (alpha + (2 / cut) ** k + np.sqrt(log / (2 * n)))
    noise = 2 * cut * math.log(4 / failure) / (n * epsilon)
    radius: Floats = 2 * outliers * reach + sampling + tail + shifted + noise
    return radius


def central_threshold(
    *, epsilon: float, alpha: float, k: float, half_range: float, failure: float
) -> float:
    """Least ``n`` for which :func:`central_radius` is proved.

    Without outliers ``200 log(16 D / delta') / eps``. With them the smallest ``n`` such that
    ``6 C1 + 4 C2 < 1`` (the histogram finds the mean), ``n >= L / alpha^2`` and
    ``n >= iota L / eps``. Since ``4 C2 = 0.996`` by the choice of ``r``, this is about 1e8.

    >>> central_threshold(epsilon=1.0, alpha=0.0, k=2, half_range=22.0, failure=1e-6)
    3936.0
    >>> central_threshold(epsilon=1.0, alpha=0.05, k=2, half_range=22.0, failure=1e-6) > 8e7
    True
    """
    bins_log = math.log(16 * half_range) + math.log(1 / failure)  # the quotient may overflow
    if alpha == 0:
        return float(math.floor(200 * bins_log / epsilon) + 1)
    log = math.log(16 / failure)
    room = (1 - 4 * bin_mass(central_bin_width(alpha=alpha, k=k), alpha, k)) / 6  # C1 < room
    # C1 = max{sqrt(2 log(16D/delta')/n), 4 log(16D/delta')/(n eps)}, strictly below.
    found = math.floor(max(2 * bins_log / room**2, 4 * bins_log / (epsilon * room))) + 1
    return float(max(found, math.ceil(log / alpha**2), math.ceil(iota(alpha) * log / epsilon)))
