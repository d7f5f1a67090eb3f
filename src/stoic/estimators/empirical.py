"""The empirical mean: what one outlier can carry anywhere. Not private."""

from __future__ import annotations

import numpy as np

from stoic.core import Contamination, Floats, Moment, value

__all__ = ["Mean"]


@value
class Mean:
    """The average.

    >>> Mean().compute(np.array([1.0, 2.0, 6.0]))
    3.0
    """

    @property
    def name(self) -> str:
        """What a release of it is called."""
        return "empirical-mean"

    @staticmethod
    def tuned(n: int, failure: float, moments: Moment, contamination: Contamination) -> Mean:
        """Nothing to tune."""
        return Mean()

    def compute(self, values: Floats) -> float:
        """The average of the values."""
        return float(np.mean(values))
