"""PRM-C: the private and robust mean for bounded central moments (paper, Algorithm 3, Theorem 4).

Setting: ``E|X - mu|^k <= u`` with ``mu`` in a known interval, Huber contamination ``alpha``, ``2n``
fresh rewards. The even positions find a centre ``J``, the left end of the bin of width ``r`` with
the largest noisy count; the odd positions are averaged about it::

    J + mean((x - J) 1{|x - J| <= M}) + Lap(2M / (n eps))

Guarantee: epsilon-DP, since the two folds are disjoint
(:class:`stoic.privacy.queries.RecentredMean`), and under profile ``proof`` an error of
``O(sqrt(log(1/delta)/n) + (log(1/delta)/(n eps))^(1-1/k) + alpha^(1-1/k))`` with probability
``1 - delta`` once ``n`` reaches the threshold, for ``alpha < 0.133`` and ``eps <= 1``.
"""

from __future__ import annotations

import math
from typing import ClassVar

from stoic.core import CentralMoment, Contamination, PrivacyBudget, choice, value
from stoic.errors import InvalidParameter
from stoic.estimators.estimator import checked_failure
from stoic.estimators.profiled import Profiled
from stoic.options import as_budget, as_contamination
from stoic.privacy.queries import Histogram, RecentredMean
from stoic.theory.profiles import PROFILES

__all__ = ["PRMC"]

_MOST_BINS = 10_000_000


@value
class PRMC(Profiled):
    """PRM-C as a value; built by :meth:`build`."""

    moments: CentralMoment
    budget: PrivacyBudget
    contamination: Contamination
    profile: str

    name: ClassVar[str] = "prm-c"

    def __post_init__(self) -> None:
        choice("profile", self.profile, PROFILES)
        if not isinstance(self.moments, CentralMoment):
            raise InvalidParameter("moments", self.moments, "must be a CentralMoment for PRM-C")
        self._constants.check_central(half_range=self.moments.half_range, **self._setting)
        if self._histogram.bins > _MOST_BINS:
            rule = f"must span at most {_MOST_BINS} bins of width {self._histogram.width:g}"
            raise InvalidParameter("mean_range", self.moments.mean_range, rule)

    @classmethod
    def build(
        cls,
        moments: CentralMoment,
        epsilon: PrivacyBudget | float,
        contamination: Contamination | float = 0.0,
        profile: str = "proof",
    ) -> PRMC:
        """PRM-C.

        >>> moments = CentralMoment(2, 5.0, (0, 100))
        >>> estimator = PRMC.build(moments, epsilon=0.5, profile="unit")
        >>> estimator.threshold(failure=1e-5)
        93.0
        >>> round(estimator.radius(10_000, failure=1e-5), 3)
        0.183
        """
        return cls(moments, as_budget(epsilon), as_contamination(contamination), profile)

    def sample_size(self, batch: int) -> int:
        """Half of a batch is averaged, the other half locates."""
        return batch // 2

    def query(self, n: int, failure: float) -> RecentredMean:
        """The histogram on the even positions, the truncated mean on the odd ones."""
        return RecentredMean(self._histogram, self._half_width(n, failure))

    def threshold(self, failure: float) -> float:
        """Least ``n`` (rewards in each fold) for which the radius holds."""
        return self._constants.central_threshold(
            half_range=self.moments.half_range, failure=checked_failure(failure), **self._setting
        )

    @property
    def _histogram(self) -> Histogram:
        # floor(range / r) + 1 half-open bins cover the whole closed range, its upper end included.
        lo, hi = self.moments.mean_range
        width = self.moments.scale * self._constants.central_bin_width(
            alpha=self.contamination.alpha, k=self.moments.k
        )
        return Histogram(lo, width, math.floor((hi - lo) / width) + 1, self.epsilon)

    def _cut(self, n: int, failure: float) -> float:
        return float(self._constants.central_cut(n, failure=failure, **self._setting))

    def _beta(self, n: int, failure: float) -> float:
        return float(self._constants.central_radius(n, failure=failure, **self._setting))
