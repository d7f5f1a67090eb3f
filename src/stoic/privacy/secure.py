"""Noise for real people: OpenDP's exact integer samplers, seeded by the operating system.

Floating-point noise leaks the true value through its low bits; these mechanisms take and give
integers and sample their laws exactly (``docs/theory/privacy.md``). No seed can be given.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stoic.errors import MissingExtra

__all__ = ["SecureNoise"]

_LARGEST = 2**63 - 1
_LOCK = threading.Lock()  # one for all instances, since they share the measurements below


class SecureNoise:
    """Discrete Laplace and report-noisy-max from OpenDP (``pip install 'stoic-bandits[secure]'``).

    >>> noise = SecureNoise()
    >>> noise.private
    True
    >>> isinstance(noise.laplace(1000, sensitivity=2, epsilon=0.5), int)
    True
    """

    private = True

    def __init__(self) -> None:
        _opendp()  # a missing extra is reported here, not in the first release

    def laplace(self, exact: int, *, sensitivity: int, epsilon: float) -> int:
        """``exact`` plus discrete Laplace noise, both clamped to 64 bits."""
        # Clamping into 64 bits maps neighbours to neighbours no farther apart: still private.
        clamped = max(-_LARGEST, min(_LARGEST, exact))
        with _LOCK:
            return int(_laplace(sensitivity, epsilon)(clamped))

    def laplace_vector(
        self, exact: NDArray[np.int64], *, sensitivity: int, epsilon: float
    ) -> NDArray[np.int64]:
        """The same for every entry."""
        with _LOCK:
            return np.array(_laplace_vector(sensitivity, epsilon)(exact.tolist()), dtype=np.int64)

    def noisy_max(self, scores: NDArray[np.int64], *, sensitivity: int, epsilon: float) -> int:
        """Index of the largest noisy score; the noisy scores themselves never leave OpenDP."""
        with _LOCK:
            return int(_noisy_max(sensitivity, epsilon)(scores.tolist()))


@cache
def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError:
        raise MissingExtra("opendp", extra="secure") from None
    dp.enable_features("contrib")
    return dp


def _calibrated(
    make: Callable[[float], Any], scale: float, sensitivity: int, epsilon: float
) -> Any:
    """The measurement of smallest scale, from ``scale`` up, whose proved loss is within epsilon.

    ``sensitivity / epsilon`` rounds to nearest, so the loss can come out one ulp too large.
    """
    measurement = make(scale)
    while measurement.map(sensitivity) > epsilon:
        scale = math.nextafter(scale, math.inf)
        measurement = make(scale)
    return measurement


@cache
def _laplace(sensitivity: int, epsilon: float) -> Any:
    dp = _opendp()
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
    return _calibrated(
        lambda scale: dp.m.make_laplace(*space, scale=scale),
        sensitivity / epsilon,
        sensitivity,
        epsilon,
    )


@cache
def _laplace_vector(sensitivity: int, epsilon: float) -> Any:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return _calibrated(
        lambda scale: dp.m.make_laplace(*space, scale=scale),
        sensitivity / epsilon,
        sensitivity,
        epsilon,
    )


@cache
def _noisy_max(sensitivity: int, epsilon: float) -> Any:
    dp = _opendp()
    # The metric is not monotone: one reward may raise some window counts and lower others.
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    return _calibrated(
        lambda scale: dp.m.make_noisy_max(*space, dp.max_divergence(), scale=scale),
        2 * sensitivity / epsilon,
        sensitivity,
        epsilon,
    )
