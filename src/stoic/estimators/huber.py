"""Huber's M-estimator (1964): squares near the centre, absolute values beyond. Not private."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from stoic.core import Contamination, Floats, Moment, real, settle, value

__all__ = ["HuberMean"]


@value
class HuberMean:
    """The root of ``sum clip(x - root, -threshold, threshold)``.

    >>> round(HuberMean(1.0).compute(np.array([0.0, 1.0, 2.0, 1e9])), 6)
    1.5
    """

    threshold: float

    def __post_init__(self) -> None:
        settle(self, threshold=real("threshold", self.threshold, above=0))

    @property
    def name(self) -> str:
        """What a release of it is called."""
        return "huber-mean"

    @staticmethod
    def tuned(n: int, failure: float, moments: Moment, contamination: Contamination) -> HuberMean:
        """``min{sqrt(n / log(1/failure)), alpha^(-1/k)}`` natural units."""
        clean = math.sqrt(n / math.log(1 / failure))
        alpha = contamination.alpha
        reach = clean if alpha == 0 else min(clean, alpha ** (-1 / moments.k))
        return HuberMean(reach * moments.scale)

    def compute(self, values: Floats) -> float:
        """The root, which lies between the smallest and the largest value."""
        low, high = float(np.min(values)), float(np.max(values))
        return low if low == high else float(brentq(self._influence, low, high, (values,)))

    def _influence(self, root: float, values: Floats) -> float:
        with np.errstate(over="ignore"):
            return float(np.sum(np.clip(values - root, -self.threshold, self.threshold)))
