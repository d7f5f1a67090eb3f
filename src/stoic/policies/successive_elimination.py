"""Successive elimination (Even-Dar, Mannor, Mansour 2006): neither private nor robust.

Setting: ``scale``-sub-Gaussian rewards. In every round each active arm is pulled once; after ``n``
rounds, means over *all* rewards so far have radius ``scale sqrt(2 log(4 K n^2 / delta) / n)``, and
arms with ``max - mean > 2 radius`` leave. Here ``scale`` is ``bound^(1/k)`` of the moments: a
reference, not a recommendation for heavy tails.
"""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from stoic.core import Goal, Moment, Plan, Privacy, real, settle, value
from stoic.estimators.empirical import Mean
from stoic.policies.policy import Answers, Run, checked_delta, natural_scale, round_robin, survivors
from stoic.privacy.queries import Unprotected

__all__ = ["SuccessiveElimination", "SuccessiveEliminationState"]


@value
class SuccessiveEliminationState:
    """Rounds so far, arms in play, pulls spent, sums of rewards. Not private: it holds rewards."""

    rounds: int
    active: tuple[int, ...]
    spent: int
    sums: tuple[float, ...]


@value
class SuccessiveElimination(Run):
    """Successive elimination as a value; built by :meth:`build`."""

    arms: int
    horizon: int
    goal: Goal
    scale: float
    delta: float

    name: ClassVar[str] = "successive-elimination"
    privacy: ClassVar[Privacy] = "none"
    epsilon: ClassVar[None] = None

    def __post_init__(self) -> None:
        Run.__post_init__(self)
        settle(
            self,
            scale=real("scale", self.scale, above=0),
            delta=real("delta", self.delta, above=0, below=1),
        )

    @classmethod
    def build(
        cls,
        arms: int,
        horizon: int,
        moments: Moment,
        delta: float | None = None,
        goal: Goal = "max",
    ) -> SuccessiveElimination:
        """Successive elimination with the natural scale of the moments.

        >>> from stoic import RawMoment
        >>> policy = SuccessiveElimination.build(5, 1000, RawMoment(2, 1.0))
        >>> round(policy.radius(100), 3)
        0.618
        """
        return cls(arms, horizon, goal, natural_scale(moments), checked_delta(delta, horizon))

    def init(self) -> SuccessiveEliminationState:
        """All arms active, nothing pulled."""
        return SuccessiveEliminationState(0, tuple(range(self.arms)), 0, (0.0,) * self.arms)

    def ask(self, state: SuccessiveEliminationState, *, rng: np.random.Generator) -> Plan:
        """One pull of every active arm, or what is left."""
        left = self.horizon - state.spent
        if left == 0:
            return Plan((), ())
        if len(state.active) == 1 or len(state.active) > left:
            return round_robin(state.active, left, rng=rng)
        return round_robin(state.active, len(state.active), rng=rng, query=Unprotected(Mean()))

    def tell(
        self, state: SuccessiveEliminationState, plan: Plan, answers: Answers
    ) -> SuccessiveEliminationState:
        """Add the rewards; drop every arm two radii behind the best."""
        spent = state.spent + plan.size
        if not answers:
            return dataclasses.replace(state, spent=spent)
        sums, rounds = list(state.sums), state.rounds + 1
        for arm, (release,) in answers.items():
            sums[arm] += release.value
        means = {arm: sums[arm] / rounds for arm in state.active}
        active = survivors(state.active, means, sign=self.sign, width=2 * self.radius(rounds))
        return SuccessiveEliminationState(rounds, active, spent, tuple(sums))

    def recommend(self, state: SuccessiveEliminationState) -> int:
        """The active arm with the best mean."""
        return max(state.active, key=lambda arm: self.sign * state.sums[arm])

    def radius(self, rounds: int) -> float:
        """``scale sqrt(2 log(4 K n^2 / delta) / n)``."""
        log = math.log(4 * self.arms * rounds**2 / self.delta)
        return self.scale * math.sqrt(2 * log / rounds)
