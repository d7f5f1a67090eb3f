"""PRM-S: steps that narrow a known interval of the mean to a certified radius (S for sharp).

Setting: bounded raw or central moments, Huber contamination ``alpha < 1/2``. An interval that is
known to hold the mean is narrowed to a radius by whichever of two mechanisms needs fewer fresh
rewards: a choice among overlapping windows (:class:`stoic.privacy.queries.WindowCounts`) while the
interval is wide, a clipped mean (:class:`stoic.privacy.queries.ClippedMean`) when it is narrow.
Raw moments need no interval: their means are always taken about 0.

Guarantee: each step is epsilon-DP in its own rewards. If the interval holds the mean, the released
value is more than the radius above it with probability at most ``failure``, and the same below.
Numbers: :mod:`stoic.theory.certified`; proofs: ``docs/theory/certified.md``.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from stoic.core import (
    CentralMoment,
    Contamination,
    Moment,
    Privacy,
    PrivacyBudget,
    Query,
    RawMoment,
    value,
)
from stoic.errors import InvalidParameter
from stoic.options import as_budget, as_contamination
from stoic.privacy.queries import ClippedMean, WindowCounts
from stoic.theory import certified

__all__ = ["PRMS", "Step"]


@value
class Step:
    """One mechanism of one size: ``n`` rewards, and the radius that they reach, as rewards count.

    ``known`` is the radius of the interval that it starts from.

    >>> Step(75, 22.4, 50.0, WindowCounts(0.0, 10.0, 10, 11.0, 0.5)).n
    75
    """

    n: int
    radius: float
    known: float
    query: ClippedMean | WindowCounts

    def about(self, centre: float) -> Query:
        """The same mechanism about another centre."""
        if isinstance(self.query, ClippedMean):
            return dataclasses.replace(self.query, centre=centre)
        first = centre - self.known + self.query.step / 2
        return dataclasses.replace(self.query, lo=first)


@value
class PRMS:
    """PRM-S as a value; built by :meth:`build`.

    >>> estimator = PRMS.build(CentralMoment(2, 5.0, (0, 100)), epsilon=0.5, contamination=0.05)
    >>> step = estimator.step(10.0, known=50.0, failure=1e-6)
    >>> step.n, type(step.query).__name__
    (125, 'WindowCounts')
    """

    moments: Moment
    budget: PrivacyBudget
    contamination: Contamination

    name: ClassVar[str] = "prm-s"
    privacy: ClassVar[Privacy] = "central"

    def __post_init__(self) -> None:
        if not isinstance(self.moments, Moment):
            rule = "must be a RawMoment or a CentralMoment"
            raise InvalidParameter("moments", self.moments, rule)
        if self.contamination.alpha >= certified.breakdown:
            rule = f"must be < {certified.breakdown} for PRM-S, whose breakdown point that is"
            raise InvalidParameter("contamination", self.contamination.alpha, rule)

    @classmethod
    def build(
        cls,
        moments: Moment,
        epsilon: PrivacyBudget | float,
        contamination: Contamination | float = 0.0,
    ) -> PRMS:
        """PRM-S.

        >>> PRMS.build(RawMoment(2, 1.0), epsilon=1.0).widest
        1.0
        """
        return cls(moments, as_budget(epsilon), as_contamination(contamination))

    @property
    def epsilon(self) -> float:
        """What one step costs each of its rewards at most."""
        return self.budget.epsilon

    @property
    def widest(self) -> float:
        """The radius about :attr:`Moment.middle` in which every mean lies, as the moments imply."""
        if isinstance(self.moments, RawMoment):
            return self.moments.scale
        return self.moments.half_range * self.moments.scale

    @property
    def floor(self) -> float:
        """The radius that no number of rewards gets below."""
        raw = isinstance(self.moments, RawMoment)
        return certified.floor(self._setting, raw=raw) * self.moments.scale

    def step(self, radius: float, *, known: float, failure: float) -> Step | None:
        """The smallest step from one radius to another, or None where none reaches so far."""
        scale, middle = self.moments.scale, self.moments.middle
        target, start = radius / scale, known / scale
        mean = certified.means(
            target, known=self._centre_off(start), setting=self._setting, failure=failure
        )
        choice = None
        if isinstance(self.moments, CentralMoment):
            choice = certified.windows(target, known=start, setting=self._setting, failure=failure)
        if choice is not None and (mean is None or choice.n <= mean.n):
            step = choice.step * scale
            half_width = choice.half_width * scale
            first = middle - known + step / 2
            query = WindowCounts(first, step, choice.count, half_width, choice.epsilon)
            return Step(choice.n, radius, known, query)
        if mean is None:
            return None
        return Step(
            mean.n, radius, known, ClippedMean(middle, mean.half_width * scale, mean.epsilon)
        )

    def about(self, step: Step, latest: float | None) -> Query:
        """The mechanism of a step, about the latest estimate; if none or raw, about the middle.

        What is proved under a raw moment is proved about 0 alone.

        >>> estimator = PRMS.build(RawMoment(2, 1.0), epsilon=1.0)
        >>> step = estimator.step(0.5, known=1.0, failure=0.01)
        >>> estimator.about(step, 0.3).centre
        0.0
        """
        if latest is None or isinstance(self.moments, RawMoment):
            return step.about(self.moments.middle)
        return step.about(latest)

    def radius(self, step: Step, n: int, *, failure: float) -> float | None:
        """What a step is worth if only ``n`` of its rewards were asked for; None: nothing."""
        if n >= step.n:
            return step.radius
        if isinstance(step.query, WindowCounts):
            return None  # a choice among windows has one size
        scale = self.moments.scale
        planned = certified.Means(step.n, step.query.half_width / scale, step.query.epsilon)
        found = certified.mean_radius(
            n,
            known=self._centre_off(step.known / scale),
            setting=self._setting,
            failure=failure,
            planned=planned,
        )
        return float(found) * scale

    def _centre_off(self, known: float) -> float | None:
        return None if isinstance(self.moments, RawMoment) else known

    @property
    def _setting(self) -> certified.Setting:
        return certified.Setting(self.moments.k, self.contamination.alpha, self.epsilon)
