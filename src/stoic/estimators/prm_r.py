"""PRM-R: the private and robust mean for bounded raw moments (paper, Algorithm 2 and Theorem 2).

Setting: ``E|X|^k <= u``, Huber contamination ``alpha``, ``n`` fresh rewards. Rewards beyond ``M``
count as 0, and the mean gets Laplace noise of scale ``2M / (n eps)``::

    mean(x 1{|x| <= M}) + Lap(2M / (n eps))

Guarantee: epsilon-DP (:class:`stoic.privacy.queries.TruncatedMean`: the sensitivity ``2M/n`` is
exact), and under profile ``proof`` an error of
``O(sqrt(log(1/delta)/n) + (log(1/delta)/(n eps))^(1-1/k) + alpha^(1-1/k))`` with probability
``1 - delta``.
"""

from __future__ import annotations

from typing import ClassVar

from stoic.core import CentralMoment, Contamination, Moment, PrivacyBudget, RawMoment, choice, value
from stoic.errors import InvalidParameter
from stoic.estimators.estimator import checked_failure
from stoic.estimators.profiled import Profiled
from stoic.options import as_budget, as_contamination
from stoic.privacy.queries import TruncatedMean
from stoic.theory.profiles import PROFILES

__all__ = ["PRMR"]


@value
class PRMR(Profiled):
    """PRM-R as a value; built by :meth:`build`."""

    moments: RawMoment
    budget: PrivacyBudget
    contamination: Contamination
    profile: str

    name: ClassVar[str] = "prm-r"

    def __post_init__(self) -> None:
        choice("profile", self.profile, PROFILES)
        if not isinstance(self.moments, RawMoment):
            raise InvalidParameter("moments", self.moments, "must be a RawMoment for PRM-R")
        self._constants.check_raw(epsilon=self.epsilon, alpha=self.contamination.alpha)

    @classmethod
    def build(
        cls,
        moments: Moment,
        epsilon: PrivacyBudget | float,
        contamination: Contamination | float = 0.0,
        profile: str = "proof",
    ) -> PRMR:
        """PRM-R. A central moment bound is turned into the raw one that it implies.

        >>> estimator = PRMR.build(RawMoment(2, 25.0), epsilon=1.0, contamination=0.05)
        >>> estimator.threshold(failure=0.01)
        148.0
        >>> round(estimator.radius(10_000, failure=0.01), 3)
        6.533
        """
        raw = moments.as_raw() if isinstance(moments, CentralMoment) else moments
        return cls(raw, as_budget(epsilon), as_contamination(contamination), profile)

    def sample_size(self, batch: int) -> int:
        """Every reward of a batch is averaged."""
        return batch

    def query(self, n: int, failure: float) -> TruncatedMean:
        """The truncated mean about 0."""
        return TruncatedMean(0.0, self._half_width(n, failure), self.epsilon)

    def threshold(self, failure: float) -> float:
        """Least ``n`` for which the radius holds."""
        return self._constants.raw_threshold(
            epsilon=self.epsilon,
            alpha=self.contamination.alpha,
            failure=checked_failure(failure),
        )

    def _cut(self, n: int, failure: float) -> float:
        return float(self._constants.raw_cut(n, failure=failure, **self._setting))

    def _beta(self, n: int, failure: float) -> float:
        return float(self._constants.raw_radius(n, failure=failure, **self._setting))
