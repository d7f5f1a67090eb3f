"""The trimmed mean: drop the largest and the smallest, average the rest. Not private."""

from __future__ import annotations

import math

import numpy as np

from stoic.core import Contamination, Floats, Moment, real, settle, value

__all__ = ["TrimmedMean"]


@value
class TrimmedMean:
    """Mean without the ``fraction`` of values at either end.

    >>> TrimmedMean(0.25).compute(np.array([0.0, 1.0, 3.0, 1e9]))
    2.0
    """

    fraction: float

    def __post_init__(self) -> None:
        settle(self, fraction=real("fraction", self.fraction, at_least=0, below=0.5))

    @property
    def name(self) -> str:
        """What a release of it is called."""
        return "trimmed-mean"

    @staticmethod
    def tuned(n: int, failure: float, moments: Moment, contamination: Contamination) -> TrimmedMean:
        """Trim ``alpha + log(1/failure)/n``: outliers at one end, and what chance adds."""
        return TrimmedMean(min(contamination.alpha - math.log(failure) / n, 0.499))

    def compute(self, values: Floats) -> float:
        """The average of the middle values; they come sorted."""
        drop = min(math.floor(self.fraction * values.size), (values.size - 1) // 2)
        return float(np.mean(values[drop : values.size - drop]))
