"""How close a private mean comes: radius, threshold, bias floor, breakdown point, sample size.

One value answers for one assumption, budget and profile, in the units of the rewards:

>>> from stoic.core import RawMoment
>>> mean = Accuracy(RawMoment(2, 25.0), epsilon=1.0, contamination=0.001)
>>> mean.estimator, mean.breakdown, mean.threshold(failure=0.01)
('prm-r', 0.5, 7378.0)
>>> mean.radius([10_000, 1_000_000], failure=0.01).round(2)
array([1.2 , 0.91])

For natural units take a bound of 1. Derivations: ``docs/theory/proof-profile.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from stoic.core import CentralMoment, Floats, Moment, choice, real, settle
from stoic.errors import InvalidParameter
from stoic.options import as_budget, as_contamination
from stoic.theory.profiles import PROFILES, Profile

__all__ = ["Accuracy", "breakdown", "sample_complexity"]

_MOST = 2**53  # larger counts are not exact as floats
_FOREVER = 1e300


def breakdown(estimator: str, profile: str = "proof") -> float:
    """The share of outliers that the profile's formulas end at.

    ``prm-r`` under ``proof`` still takes 0.5 itself; all others end before their number.

    >>> breakdown("prm-r"), breakdown("prm-c"), breakdown("prm-c", "unit")
    (0.5, 0.133, 0.249)
    """
    constants = PROFILES[choice("profile", profile, PROFILES)]
    central = choice("estimator", estimator, ("prm-r", "prm-c")) == "prm-c"
    return constants.central_breakdown if central else constants.raw_breakdown


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What a profile says of PRM-R (raw moments) or PRM-C (central moments).

    ``n`` counts the rewards that are averaged; PRM-C takes a batch of ``2 n``. ``failure`` is the
    probability ``delta'`` that one estimate may be off by more than its radius.

    >>> from stoic.core import CentralMoment
    >>> mean = Accuracy(CentralMoment(2, 5.0, (0, 100)), epsilon=0.5)
    >>> mean.threshold(failure=1e-6)
    7879.0
    >>> Accuracy(CentralMoment(2, 5.0, (0, 100)), epsilon=0.5, contamination=0.2)
    Traceback (most recent call last):
        ...
    stoic.errors.InvalidParameter: contamination = 0.2: must be < 0.133 for PRM-C, profile 'proof'
    """

    moments: Moment
    epsilon: float
    contamination: float = 0.0
    profile: str = "proof"

    def __post_init__(self) -> None:
        if not isinstance(self.moments, Moment):
            rule = "must be a RawMoment or a CentralMoment"
            raise InvalidParameter("moments", self.moments, rule)
        choice("profile", self.profile, PROFILES)
        settle(
            self,
            epsilon=as_budget(self.epsilon).epsilon,
            contamination=as_contamination(self.contamination).alpha,
        )
        if isinstance(self.moments, CentralMoment):
            self._constants.check_central(half_range=self.moments.half_range, **self._setting)
        else:
            self._constants.check_raw(epsilon=self.epsilon, alpha=self.contamination)

    @property
    def estimator(self) -> str:
        """``prm-r`` or ``prm-c``, as the moments say."""
        return "prm-c" if isinstance(self.moments, CentralMoment) else "prm-r"

    @property
    def guaranteed(self) -> bool:
        """Whether the radius is a theorem."""
        return self._constants.guaranteed

    @property
    def breakdown(self) -> float:
        """See :func:`breakdown`."""
        return breakdown(self.estimator, self.profile)

    @property
    def floor(self) -> float:
        """What is left of the radius when ``n`` grows for ever: the bias that outliers can cause.

        Elimination is sure to tell two arms apart only if their gap is above ``4 * floor``.
        """
        return float(self.radius(_FOREVER, failure=0.5)) if self.contamination > 0 else 0.0

    @property
    def largest_gap(self) -> float:
        """How far apart two means can be at all: ``2 u^(1/k)``, or the length of the range."""
        if isinstance(self.moments, CentralMoment):
            lo, hi = self.moments.mean_range
            return hi - lo
        return 2 * self.moments.scale

    def sample_size(self, batch: int) -> int:
        """The ``n`` of a batch of so many rewards."""
        return batch // 2 if isinstance(self.moments, CentralMoment) else batch

    def share(self, delta: float, active: int, batch: int) -> float:
        """The ``failure`` of one of ``active`` estimates in batch ``batch``; ``delta`` in all."""
        return self._constants.share(delta, active, batch)

    def radius(self, n: ArrayLike, failure: float) -> Floats:
        """``beta``: the clean mean is at most so far away, with probability ``1 - failure``.

        Proved for ``n >= threshold(failure)``, if :attr:`guaranteed`.
        """
        central = isinstance(self.moments, CentralMoment)
        beta = self._constants.central_radius if central else self._constants.raw_radius
        found: Floats = self.moments.scale * beta(n, failure=failure, **self._setting)
        return found

    def threshold(self, failure: float) -> float:
        """Least ``n`` for which the radius holds."""
        if isinstance(self.moments, CentralMoment):
            half_range = self.moments.half_range
            return self._constants.central_threshold(
                half_range=half_range, failure=failure, **self._setting
            )
        return self._constants.raw_threshold(
            epsilon=self.epsilon, alpha=self.contamination, failure=failure
        )

    def rewards_needed(self, error: float, failure: float) -> int:
        """The smallest ``n`` that is past the threshold and whose radius is at most ``error``.

        The radius falls with ``n`` for ``k >= 2`` and wherever there are no outliers. For
        ``k < 2`` with outliers it may rise a little in between, and the ``n`` found is one where it
        comes down to ``error``, perhaps not the first.

        >>> from stoic.core import RawMoment
        >>> mean = Accuracy(RawMoment(2, 1.0), epsilon=1.0)
        >>> mean.rewards_needed(0.1, failure=0.01)
        14771
        >>> bool(mean.radius(14_770, 0.01) > 0.1 >= mean.radius(14_771, 0.01))
        True
        """
        error = real("error", error, above=self.floor)
        most = _MOST
        least = self.threshold(failure)
        if least > most or self.radius(most, failure) > error:
            raise InvalidParameter("error", error, f"needs more than {most} rewards")
        low, high = math.ceil(least), most
        while low < high:  # the radius at high is small enough, and below low it is not
            middle = (low + high) // 2
            if self.radius(middle, failure) <= error:
                high = middle
            else:
                low = middle + 1
        return high

    @property
    def _constants(self) -> Profile:
        return PROFILES[self.profile]

    @property
    def _setting(self) -> dict[str, float]:
        return {"epsilon": self.epsilon, "alpha": self.contamination, "k": self.moments.k}


def sample_complexity(
    error: float, *, moments: Moment, epsilon: float, failure: float
) -> dict[str, float]:
    """The paper's rate, all constants 1: how the terms of ``n`` grow, not how large they are.

    ``log(1/delta)/eta^2``, ``log(1/delta)/(eps eta^(k/(k-1)))`` and, for central moments,
    ``log(D/delta)/eps`` to locate the mean (Theorem 2, Corollary 1), with ``eta`` the error in
    natural units. Without outliers; with them, ``error`` is what comes on top of the bias floor.

    >>> from stoic.core import RawMoment
    >>> terms = sample_complexity(0.1, moments=RawMoment(2, 1.0), epsilon=0.5, failure=0.01)
    >>> {name: round(term) for name, term in terms.items()}
    {'sampling': 461, 'privacy': 921}
    """
    eta = real("error", error, above=0) / moments.scale
    failure = real("failure", failure, above=0, below=1)
    epsilon, k = as_budget(epsilon).epsilon, moments.k
    log = math.log(1 / failure)
    terms = {"sampling": log / eta**2, "privacy": log / (epsilon * np.power(eta, k / (k - 1)))}
    if isinstance(moments, CentralMoment):
        terms["locating"] = max(0.0, math.log(moments.half_range / failure)) / epsilon
    return {name: float(term) for name, term in terms.items()}
