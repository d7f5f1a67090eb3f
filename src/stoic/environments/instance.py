"""A bandit instance: its arms, and whether rewards or costs are drawn.

>>> from stoic.environments import Gaussian
>>> instance = Instance((Gaussian(mean=1.0, sd=2.0), Gaussian(mean=0.0, sd=1.0)))
>>> instance.size, instance.best, instance.gaps
(2, 0, array([0., 1.]))
>>> instance.central(k=2)
CentralMoment(k=2.0, bound=4.0, mean_range=(0.0, 1.0))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from stoic.core import CentralMoment, Floats, Goal, RawMoment, choice_of_goal, real, settle, value
from stoic.environments.contamination import Arm, Huber, Source, clean
from stoic.environments.law import Law
from stoic.errors import InvalidParameter

__all__ = ["Instance"]


@value
class Instance:
    """The arms of a bandit. Means, gaps and moments are those of the clean rewards.

    >>> costs = Instance((Gaussian(mean=1.0, sd=1.0), Gaussian(mean=4.0, sd=1.0)), goal="min")
    >>> costs.best, costs.gaps
    (0, array([0., 3.]))
    """

    arms: tuple[Arm, ...]
    goal: Goal = "max"
    name: str = "instance"

    def __post_init__(self) -> None:
        arms = tuple(self.arms)
        if not arms:
            raise InvalidParameter("arms", arms, "must be at least one")
        for arm in arms:
            if not isinstance(arm, Arm):
                raise InvalidParameter("arms", arm, "must have a mean and a sample method each")
            real("mean", arm.mean)
        if not isinstance(self.name, str):
            raise InvalidParameter("name", self.name, "must be text")
        settle(self, arms=arms, goal=choice_of_goal(self.goal))

    @property
    def size(self) -> int:
        """The number of arms."""
        return len(self.arms)

    @property
    def means(self) -> Floats:
        """The clean mean of each arm."""
        return np.array([arm.mean for arm in self.arms], dtype=np.float64)

    @property
    def best(self) -> int:
        """The index of the best arm: of the first one, if several are."""
        return int(self.gaps.argmin())

    @property
    def gaps(self) -> Floats:
        """What a pull of each arm costs, compared with the best: never negative."""
        means = self.means
        gaps: Floats = means.max() - means if self.goal == "max" else means - means.min()
        return gaps

    def raw(self, k: float) -> RawMoment:
        """The tightest raw moment bound of order ``k`` that holds for every arm.

        >>> Instance((Gaussian(mean=0.0, sd=1.0), Gaussian(mean=3.0, sd=1.0))).raw(k=2)
        RawMoment(k=2.0, bound=10.0)
        """
        return RawMoment(k, self._largest_moment(k, lambda law: law.raw_moment(k)))

    def central(self, k: float, mean_range: tuple[float, float] | None = None) -> CentralMoment:
        """The tightest central moment bound of order ``k``.

        ``mean_range`` is what is known of the means beforehand: from the least to the greatest,
        unless given.

        >>> Instance((Gaussian(mean=0.0, sd=1.0),)).central(k=2, mean_range=(-5, 5))
        CentralMoment(k=2.0, bound=1.0, mean_range=(-5.0, 5.0))
        """
        bound = self._largest_moment(k, lambda law: law.central_moment(k))
        lo, hi = float(self.means.min()), float(self.means.max())
        moment = CentralMoment(k, bound, (lo, hi) if mean_range is None else mean_range)
        if lo < moment.mean_range[0] or moment.mean_range[1] < hi:
            rule = f"must contain every arm's mean, from {lo:g} to {hi:g}"
            raise InvalidParameter("mean_range", moment.mean_range, rule)
        return moment

    def _largest_moment(self, k: float, moment: Callable[[Law], float]) -> float:
        largest = 0.0
        for index, arm in enumerate(self.arms):
            law = clean(arm)
            if not isinstance(law, Law):
                raise InvalidParameter("arms", arm, "must be laws, which know their moments")
            largest = max(largest, moment(law))
            if not math.isfinite(largest):
                rule = f"must be an order at which the moments are finite; not so for arm {index}"
                raise InvalidParameter("k", k, rule)
        return largest

    def contaminated(self, alpha: float, contaminant: Source | Sequence[Source]) -> Instance:
        """The same arms under Huber contamination, by one contaminant or by one for each arm.

        >>> pure = Instance((Gaussian(mean=0.0, sd=1.0), Gaussian(mean=3.0, sd=1.0)))
        >>> dirty = pure.contaminated(0.05, Gaussian(mean=0.0, sd=50.0))
        >>> dirty.arms[1].alpha, bool(np.all(dirty.means == pure.means))
        (0.05, True)
        """
        each = (contaminant,) * self.size if isinstance(contaminant, Source) else contaminant
        if len(each) != self.size:
            rule = f"must be one, or one for each of the {self.size} arms"
            raise InvalidParameter("contaminant", each, rule)
        arms = []
        for arm, one in zip(self.arms, each, strict=True):
            if not isinstance(arm, Law):
                raise InvalidParameter("arms", arm, "must be clean laws to be contaminated")
            arms.append(Huber(arm, alpha, one))
        return Instance(tuple(arms), self.goal, self.name)
