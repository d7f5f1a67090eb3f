"""Where a decreasing function crosses zero: the last step of the M-estimators."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq

__all__ = ["crossing"]

_FINE = 1e-12


def crossing(function: Callable[[float], float], start: float, step: float) -> float:
    """The zero of a non-increasing function, searched outward from ``start``.

    ``step`` is the function's natural unit: the first stride, and the measure of precision. Strides
    double, so a zero 1e100 units away costs some hundred evaluations, and one nearby a few. All
    is relative to ``start`` and ``step``, so the answer moves and scales with the data.

    >>> round(crossing(lambda x: 5.0 - x, start=1.0, step=0.5), 9)
    5.0
    """
    found = function(start)
    if found == 0:
        return start
    stride = math.copysign(step, found)
    near, far = start, start + stride
    while function(far) * found > 0:
        stride *= 2
        near, far = far, start + stride
    # Terminates by halving alone, whatever the function; 100 steps are not always enough for that.
    return float(brentq(function, near, far, xtol=_FINE * step, maxiter=10_000))
