"""PRAE-S: elimination with certified radii (S for sharp).

Setting: K arms, T rounds, bounded raw or central moments, Huber contamination ``alpha < 1/2``. An
interval that holds the mean is known for every arm: first the range of the means, later the latest
release and its radius. Each epoch narrows the intervals of all arms in play to a smaller radius
``beta``, from fresh rewards, by the cheapest step of PRM-S (:mod:`stoic.estimators.prm_s`); then
every arm with ``max - estimate > 2 beta`` leaves. There is no first phase: the first epoch has the
size that it needs. The step is the cheapest for the largest gap ``G`` that may still be there: from
a known radius ``R`` to ``r`` it is priced at ``n(r) (1 + 8 (r/G)^2) max(1, log 2 / log(R/r))``, for
its users, for what it is likely to leave undecided, and for how slowly it narrows.

Near the radius that no number of rewards gets below, or when half of the rounds left would not pay
for the next epoch, it commits to the best released estimate.

Guarantee: the sequence of arms is epsilon-DP, whatever the rewards are: each reward is in one
release, and sizes, centres and widths are functions of earlier releases. With probability at least
``1 - delta`` the best arm is never removed. Proofs: ``docs/theory/certified.md``.
"""

from __future__ import annotations

import dataclasses
import math
from functools import lru_cache
from typing import ClassVar

import numpy as np

from stoic.core import (
    Contamination,
    Goal,
    Moment,
    Plan,
    Privacy,
    PrivacyBudget,
    choice,
    real,
    settle,
    value,
)
from stoic.estimators.prm_s import PRMS, Step
from stoic.policies.policy import Answers, Run, checked_delta, leader, round_robin, survivors
from stoic.privacy.queries import WindowCounts
from stoic.theory import certified

__all__ = ["PRAES", "PRAESState", "last_radius", "possible_steps"]

_AHEAD = 8.0  # weight of what a large radius leaves undecided
_GAP = 1.25  # smaller gaps, in radii, are noise
_NEAR = 1.25  # times the floor: nearer is not worth its price
_PAID = 0.5  # of the rounds left, at most, for one epoch
_ANY = 0.01  # failure probability, where none matters
_NOTCHES = 8  # radii per factor of two: few different ones, so that their steps are found once


@value
class PRAESState:
    """Releases and counters: the epoch that comes next, the arms in play, rounds spent, each arm's
    latest estimate, the radius of those in play, and whether the policy has committed itself.
    """

    epoch: int
    active: tuple[int, ...]
    spent: int
    estimates: tuple[float | None, ...]
    radius: float
    committed: bool


@value
class PRAES(Run):
    """PRAE-S as a value; built by :meth:`build`."""

    arms: int
    horizon: int
    goal: Goal
    estimator: PRMS
    delta: float

    name: ClassVar[str] = "prae-s"
    privacy: ClassVar[Privacy] = "central"

    def __post_init__(self) -> None:
        Run.__post_init__(self)
        settle(self, delta=real("delta", self.delta, above=0, below=1))

    @property
    def epsilon(self) -> float:
        """Each reward is in one release, of at most this epsilon."""
        return self.estimator.epsilon

    @classmethod
    def build(
        cls,
        arms: int,
        horizon: int,
        moments: Moment,
        epsilon: PrivacyBudget | float,
        contamination: Contamination | float = 0.0,
        profile: str = "certified",
        delta: float | None = None,
        goal: Goal = "max",
    ) -> PRAES:
        """PRAE-S: our own, for raw or central moments; proved, at hundreds of users.

        >>> from stoic import CentralMoment
        >>> policy = PRAES.build(5, 100_000, CentralMoment(2, 5, (0, 100)), epsilon=0.5)
        >>> policy.next_step(policy.init()).n
        71
        """
        choice("profile", profile, ("certified",))
        estimator = PRMS.build(moments, epsilon, contamination)
        return cls(arms, horizon, goal, estimator, checked_delta(delta, horizon))

    @property
    def interval_delta(self) -> float:
        """With which probability any ``estimate ± radius`` misses its mean, to either side.

        ``delta`` is enough for the best arm to stay, since that needs one side of each.
        """
        return min(1.0, 2 * self.delta)

    @property
    def nearest(self) -> float:
        """The radius below which it does not aim, as outliers would make it too dear."""
        return _NEAR * self.estimator.floor

    def init(self) -> PRAESState:
        """All arms in play; of their means the range is known."""
        return PRAESState(
            epoch=1,
            active=tuple(range(self.arms)),
            spent=0,
            estimates=(None,) * self.arms,
            radius=self.estimator.widest,
            committed=False,
        )

    def ask(self, state: PRAESState, *, rng: np.random.Generator) -> Plan:
        """The next epoch; once there is none, all that is left for the best arm."""
        left = self.horizon - state.spent
        if left == 0:
            return Plan((), ())
        step = self.next_step(state)
        if step is None:
            known = any(state.estimates[arm] is not None for arm in state.active)
            arms = (self.recommend(state),) if known else state.active
            return round_robin(arms, left, rng=rng)
        plan = round_robin(state.active, step.n * len(state.active), rng=rng)
        queries = tuple(self.estimator.about(step, state.estimates[arm]) for arm in plan.arms)
        return dataclasses.replace(plan, queries=queries)

    def tell(self, state: PRAESState, plan: Plan, answers: Answers) -> PRAESState:
        """Take in the estimates, and drop every arm ``2 beta`` behind the best."""
        spent = state.spent + plan.size
        step = self.next_step(state)
        if step is None:
            return dataclasses.replace(state, spent=spent, committed=True)
        after = dataclasses.replace(state, epoch=state.epoch + 1, spent=spent)
        n = min((answers[arm][0].n if arm in answers else 0) for arm in state.active)
        radius = self.estimator.radius(step, n, failure=self._failure(state)) if n else None
        if radius is None or radius >= state.radius:
            return after
        found = {arm: self._within_range(answers[arm][0].value) for arm in state.active}
        return dataclasses.replace(
            after,
            active=survivors(state.active, found, sign=self.sign, width=2 * radius),
            estimates=tuple(found.get(arm, old) for arm, old in enumerate(state.estimates)),
            radius=radius,
        )

    def recommend(self, state: PRAESState) -> int:
        """The arm in play with the best latest estimate."""
        return leader(state.active, state.estimates, self.sign)

    def next_step(self, state: PRAESState) -> Step | None:
        """What the next epoch asks of every arm in play; None when there is nothing left to ask."""
        if len(state.active) == 1 or state.committed:
            return None
        left = self.horizon - state.spent
        unknown = any(state.estimates[arm] is None for arm in state.active)
        most = left if unknown else _PAID * left
        step = _aim(self.estimator, state.radius, self._largest_gap(state), self._failure(state))
        return step if step is not None and step.n * len(state.active) <= most else None

    def _largest_gap(self, state: PRAESState) -> float:
        """The largest gap that the releases leave likely among the arms in play."""
        found = [estimate for arm in state.active if (estimate := state.estimates[arm]) is not None]
        if len(found) < len(state.active):
            return 2 * state.radius
        return max(max(found) - min(found), _GAP * state.radius)

    def _failure(self, state: PRAESState) -> float:
        """What one arm's estimate may fail with, to either side, in the coming epoch."""
        return certified.share(self.delta, state.epoch) / len(state.active)

    def _within_range(self, estimate: float) -> float:
        """The nearest number that can be a mean: never farther from the mean than before."""
        middle, widest = self.estimator.moments.middle, self.estimator.widest
        return min(max(estimate, middle - widest), middle + widest)


def possible_steps(estimator: PRMS, known: float, failure: float, surer: float = 1.0) -> list[Step]:
    """All steps that an epoch may take, whatever was released: (R2) of ``certified.md``.

    Empty where half the radius is out of reach, or nearer than is worth its price. ``surer`` is by
    what factor ``log(1/(2 failure))`` may be larger here than where the epoch chose its step.

    >>> from stoic import CentralMoment
    >>> estimator = PRMS.build(CentralMoment(2, 5, (0, 100)), epsilon=0.5)
    >>> [step.n for step in possible_steps(estimator, known=50.0, failure=1e-6)][:3]
    [134, 119, 107]
    """
    steps = _steps(estimator, known / 32, known, failure)
    halving = [step for step in steps if step.radius <= known / 2]
    if not halving or halving[-1].radius < _NEAR * estimator.floor:
        return []
    most = _price(halving[-1], _GAP * known)
    # No size grows by more than that factor, and that of a mean by no less; they are rounded up.
    most += surer * _price(halving[-1], _GAP * known) / halving[-1].n
    most *= surer if isinstance(halving[-1].query, WindowCounts) else 1
    return [step for step in steps if (step.n - 1) * _slowness(step) <= most]


def last_radius(estimator: PRMS) -> float:
    """The largest radius, of those aimed at, where epochs end for want of a smaller one.

    Whether there is a step does not depend on how sure it must be, only how large it is.

    >>> from stoic import CentralMoment
    >>> estimator = PRMS.build(CentralMoment(2, 1, (0, 100)), 0.5, contamination=0.05)
    >>> last_radius(estimator) / estimator.floor < 1.25 * 2 ** (1 / 8)
    True
    """
    notch, lowest = 2 ** (1 / _NOTCHES), _NEAR * estimator.floor
    if lowest == 0:
        return 0.0
    unit = estimator.moments.scale
    radius = unit * 2 ** (math.ceil(_NOTCHES * math.log2(lowest / unit)) / _NOTCHES)
    while radius < estimator.widest and not _steps(estimator, lowest, radius * notch, _ANY):
        radius *= notch
    return radius


@lru_cache(maxsize=4096)
def _aim(estimator: PRMS, known: float, gap: float, failure: float) -> Step | None:
    """The best step from a known radius, for the largest ``gap`` that may still be there."""
    steps = _steps(estimator, max(gap / 20, _NEAR * estimator.floor), known, failure)
    return min(steps, key=lambda step: _price(step, gap), default=None)


def _price(step: Step, gap: float) -> float:
    """What a step costs, and what it is likely to leave undecided."""
    return step.n * _slowness(step) * (1 + _AHEAD * (step.radius / gap) ** 2)


def _slowness(step: Step) -> float:
    """How many such steps halve the radius; 1 if one does."""
    return max(1.0, math.log(2) / math.log(step.known / step.radius))


def _steps(estimator: PRMS, low: float, known: float, failure: float) -> list[Step]:
    """The steps to all radii from a limit up that are powers of ``2^(1/8)`` natural units."""
    unit = estimator.moments.scale
    first, last = (_NOTCHES * math.log2(end / unit) for end in (low, known))
    notches = range(math.ceil(first), math.ceil(last - 1e-6))  # below the known one
    steps = [_step(estimator, unit * 2.0 ** (at / _NOTCHES), known, failure) for at in notches]
    return [step for step in steps if step is not None]


@lru_cache(maxsize=65_536)
def _step(estimator: PRMS, radius: float, known: float, failure: float) -> Step | None:
    return estimator.step(radius, known=known, failure=failure)
