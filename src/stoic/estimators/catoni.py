"""Catoni's M-estimator (2012): a soft truncation that keeps sub-Gaussian tails. Not private."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from stoic.core import Contamination, Floats, Moment, real, settle, value

__all__ = ["CatoniMean"]


@value
class CatoniMean:
    """The root of ``sum psi(s (x - root))``, ``psi(y) = sign(y) log(1 + |y| + y^2/2)``.

    >>> round(CatoniMean(1.0).compute(np.array([0.0, 1.0, 2.0])), 6)
    1.0
    """

    shrinkage: float

    def __post_init__(self) -> None:
        settle(self, shrinkage=real("shrinkage", self.shrinkage, above=0))

    @property
    def name(self) -> str:
        """What a release of it is called."""
        return "catoni-mean"

    @staticmethod
    def tuned(n: int, failure: float, moments: Moment, contamination: Contamination) -> CatoniMean:
        """``s = sqrt(2 log(2/failure) / n)`` over the natural scale."""
        return CatoniMean(math.sqrt(2 * math.log(2 / failure) / n) / moments.scale)

    def compute(self, values: Floats) -> float:
        """The root, which lies between the smallest and the largest value."""
        low, high = float(np.min(values)), float(np.max(values))
        return low if low == high else float(brentq(self._influence, low, high, (values,)))

    def _influence(self, root: float, values: Floats) -> float:
        # Beyond 1e100 the logarithm is as good as constant; the cap keeps the square finite.
        with np.errstate(over="ignore"):
            reach = np.clip(self.shrinkage * (values - root), -1e100, 1e100)
        size = np.abs(reach)
        return float(np.sum(np.sign(reach) * np.log1p(size + size * size / 2)))
