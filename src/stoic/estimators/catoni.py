"""Catoni's M-estimator (2012): a soft truncation that keeps sub-Gaussian tails. Not private."""

from __future__ import annotations

import math

import numpy as np

from stoic.core import Contamination, Floats, Moment, real, settle, value
from stoic.estimators.crossing import crossing

__all__ = ["CatoniMean"]

_FAR = 1e100  # the logarithm is as good as constant beyond, and squares stay finite


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
        """``s = (2 log(2/failure) / n)^(1/min(k,2))`` over the natural scale."""
        share = 2 * (math.log(2) - math.log(failure)) / n
        return CatoniMean(math.pow(share, 1 / min(moments.k, 2.0)) / moments.scale)

    def compute(self, values: Floats) -> float:
        """The root, searched from the median."""
        return crossing(
            lambda root: self._influence(values, root), float(np.median(values)), 1 / self.shrinkage
        )

    def _influence(self, values: Floats, root: float) -> float:
        reach = np.clip(self.shrinkage * (values - root), -_FAR, _FAR)
        size = np.abs(reach)
        return float(np.sum(np.sign(reach) * np.log1p(size + size * size / 2)))
