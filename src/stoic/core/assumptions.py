"""What is assumed of rewards, and what they may cost: moments, contamination, privacy."""

from __future__ import annotations

import math
from typing import Literal

from stoic.core.checks import real
from stoic.core.values import settle, value
from stoic.errors import InvalidParameter

__all__ = ["CentralMoment", "Contamination", "Moment", "Privacy", "PrivacyBudget", "RawMoment"]

Privacy = Literal["central", "local", "none"]

_LARGEST = 1e100  # of means and scales


@value
class RawMoment:
    """``E|X|^k <= bound`` for every arm's clean reward.

    >>> RawMoment(k=2, bound=10_005).scale
    100.024996875781
    """

    k: float
    bound: float

    def __post_init__(self) -> None:
        settle(self, k=real("k", self.k, above=1), bound=real("bound", self.bound, above=0))
        _check_scale(self.k, self.bound)

    @property
    def scale(self) -> float:
        """One natural unit: ``bound**(1/k)``."""
        return math.pow(self.bound, 1 / self.k)

    @property
    def middle(self) -> float:
        """The point about which this assumption is symmetric: 0."""
        return 0.0


@value
class CentralMoment:
    """``E|X - mean|^k <= bound`` for every arm's clean reward, its mean known to lie in a range.

    >>> moments = CentralMoment(k=2, bound=5, mean_range=(0, 100))
    >>> moments.middle, round(moments.half_range, 2)
    (50.0, 22.36)
    """

    k: float
    bound: float
    mean_range: tuple[float, float]

    def __post_init__(self) -> None:
        try:
            lo, hi = self.mean_range
        except (TypeError, ValueError):
            raise InvalidParameter(
                "mean_range", self.mean_range, "must be a pair (lo, hi)"
            ) from None
        lo = real("mean_range[0]", lo, at_least=-_LARGEST)
        hi = real("mean_range[1]", hi, at_most=_LARGEST)
        if not lo < hi:
            raise InvalidParameter("mean_range", (lo, hi), "must be a pair (lo, hi) with lo < hi")
        k, bound = real("k", self.k, above=1), real("bound", self.bound, above=0)
        settle(self, k=k, bound=bound, mean_range=(lo, hi))
        _check_scale(k, bound)

    @property
    def scale(self) -> float:
        """One natural unit: ``bound**(1/k)``."""
        return math.pow(self.bound, 1 / self.k)

    @property
    def middle(self) -> float:
        """The midpoint of the mean range."""
        lo, hi = self.mean_range
        return lo + (hi - lo) / 2

    @property
    def half_range(self) -> float:
        """Half the mean range in natural units (the paper's D)."""
        lo, hi = self.mean_range
        return (hi - lo) / 2 / self.scale

    def as_raw(self) -> RawMoment:
        """The raw moment bound that this implies, for policies that need one.

        Exact at k = 2 (``E X^2 = Var X + mean^2``), Minkowski's inequality elsewhere.

        >>> CentralMoment(k=2, bound=5, mean_range=(0, 100)).as_raw()
        RawMoment(k=2.0, bound=10005.0)
        """
        farthest = max(abs(end) for end in self.mean_range)
        if self.k == 2:
            return RawMoment(2, self.bound + farthest**2)
        try:
            return RawMoment(self.k, (self.scale + farthest) ** self.k)
        except OverflowError:
            rule = f"too far from 0 for a raw moment of order {self.k:g}"
            raise InvalidParameter("mean_range", self.mean_range, rule) from None


Moment = RawMoment | CentralMoment


def _check_scale(k: float, bound: float) -> None:
    # Fixed-point sums divide by multiples of the scale; keep those quotients ordinary floats.
    if not 1 / _LARGEST < math.pow(bound, 1 / k) < _LARGEST:
        raise InvalidParameter("bound", bound, "bound**(1/k) must lie between 1e-100 and 1e100")


@value
class Contamination:
    """Huber contamination: each reward is arbitrary garbage with probability ``alpha``.

    >>> Contamination(0.05).alpha
    0.05
    """

    alpha: float

    def __post_init__(self) -> None:
        settle(self, alpha=real("alpha", self.alpha, at_least=0, below=1))


@value
class PrivacyBudget:
    """Pure differential privacy: what each single reward may cost, over the whole experiment.

    Below 1e-6 the noise of a fixed-point sum would soon outgrow 64 bits; at 1e12 there is none
    left.

    >>> PrivacyBudget(1.0).epsilon
    1.0
    """

    epsilon: float

    def __post_init__(self) -> None:
        settle(self, epsilon=real("epsilon", self.epsilon, at_least=1e-6, at_most=1e12))
