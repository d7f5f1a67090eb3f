"""Huber's M-estimator (1964): squares near the centre, absolute values beyond. Not private."""

from __future__ import annotations

import math

import numpy as np

from stoic.core import Contamination, Floats, Moment, real, settle, value
from stoic.estimators.crossing import crossing

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
        """``min{(n / log(1/failure))^(1/min(k,2)), alpha^(-1/k)}`` natural units."""
        clean = math.pow(-n / math.log(failure), 1 / min(moments.k, 2.0))
        alpha = contamination.alpha
        reach = clean if alpha == 0 else min(clean, alpha ** (-1 / moments.k))
        return HuberMean(reach * moments.scale)

    def compute(self, values: Floats) -> float:
        """The root, searched from the median: where there are many, the one next to it."""
        return crossing(
            lambda root: self._influence(values, root), float(np.median(values)), self.threshold
        )

    def _influence(self, values: Floats, root: float) -> float:
        # Values come sorted. What is beyond the threshold is counted, so that it cancels exactly.
        start = int(np.searchsorted(values, root - self.threshold))
        stop = int(np.searchsorted(values, root + self.threshold, side="right"))
        beyond = (values.size - stop) - start
        return self.threshold * beyond + float(np.sum(values[start:stop] - root))
