"""The non-private estimators in one shape, for comparison with the private ones.

Each statistic has a file of its own. All share one radius, with every constant set to 1 and no
guarantee: ``(L/n)^(1-1/min(k,2)) + alpha^(1-1/k)`` in natural units, ``L = log(1/delta')``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import ClassVar

from stoic.core import Contamination, Moment, Privacy, choice, value
from stoic.errors import InvalidParameter
from stoic.estimators.catoni import CatoniMean
from stoic.estimators.empirical import Mean
from stoic.estimators.estimator import checked, checked_failure
from stoic.estimators.huber import HuberMean
from stoic.estimators.median_of_means import MedianOfMeans
from stoic.estimators.trimmed import TrimmedMean
from stoic.options import as_contamination
from stoic.privacy.queries import Statistic, Unprotected
from stoic.theory import proof

__all__ = ["FACTORIES", "STATISTICS", "Comparison", "Tuning"]

Tuning = Callable[[int, float, Moment, Contamination], Statistic]
"""From n, the failure probability, the moments and the contamination to a tuned statistic."""

STATISTICS: dict[str, Tuning] = {
    "empirical": Mean.tuned,
    "trimmed": TrimmedMean.tuned,
    "median-of-means": MedianOfMeans.tuned,
    "catoni": CatoniMean.tuned,
    "huber": HuberMean.tuned,
}


@value
class Comparison:
    """A non-private estimator as a value; built by :meth:`build`."""

    statistic: str
    moments: Moment
    contamination: Contamination

    privacy: ClassVar[Privacy] = "none"
    epsilon: ClassVar[None] = None
    guaranteed: ClassVar[bool] = False

    def __post_init__(self) -> None:
        choice("statistic", self.statistic, STATISTICS)
        if not isinstance(self.moments, Moment):
            rule = "must be a RawMoment or a CentralMoment"
            raise InvalidParameter("moments", self.moments, rule)

    @classmethod
    def build(
        cls, statistic: str, moments: Moment, contamination: Contamination | float = 0.0
    ) -> Comparison:
        """One of :data:`STATISTICS` as an estimator.

        >>> from stoic import RawMoment
        >>> Comparison.build("catoni", RawMoment(2, 25.0)).query(100, failure=0.01).statistic
        CatoniMean(shrinkage=0.06510494522874917)
        """
        return cls(statistic, moments, as_contamination(contamination))

    @property
    def name(self) -> str:
        """The statistic's name."""
        return self.statistic

    def sample_size(self, batch: int) -> int:
        """Every reward of a batch is used."""
        return batch

    def query(self, n: int, failure: float) -> Unprotected:
        """The statistic, tuned for this ``n``, as it is."""
        tuned = STATISTICS[self.statistic]
        return Unprotected(tuned(*checked(n, failure), self.moments, self.contamination))

    def radius(self, n: int, failure: float) -> float:
        """The shared radius of this module's docstring."""
        n, failure = checked(n, failure)
        sampling = math.pow(-math.log(failure) / n, 1 - 1 / min(self.moments.k, 2.0))
        bias = math.pow(self.contamination.alpha, 1 - 1 / self.moments.k)
        return (sampling + bias) * self.moments.scale

    def threshold(self, failure: float) -> float:
        """None: there is no guarantee to lose."""
        checked_failure(failure)
        return 1.0

    def share(self, delta: float, active: int, batch: int) -> float:
        """The union bound of profile ``proof``."""
        return proof.share(delta, active, batch)


FACTORIES: dict[str, Callable[..., Comparison]] = {
    name: partial(Comparison.build, name) for name in STATISTICS
}
