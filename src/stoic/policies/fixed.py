"""Two policies that learn nothing: uniform play and the oracle. Private, since they never look.

Uniform play has the regret of a plain A/B test, ``T`` times the mean gap; the oracle plays the arm
that it was told is best and has none. Every policy worth having lies between them.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from stoic.core import Goal, Plan, Privacy, integer, settle, value
from stoic.errors import InvalidParameter
from stoic.policies.policy import Answers, Run, round_robin

__all__ = ["FixedState", "Oracle", "Uniform"]


@value
class FixedState:
    """Rounds spent."""

    spent: int


class _Fixed(Run):
    """One phase, no queries."""

    __slots__ = ()
    privacy: ClassVar[Privacy] = "central"
    epsilon: ClassVar[None] = None

    def init(self) -> FixedState:
        """Nothing pulled."""
        return FixedState(0)

    def tell(self, state: FixedState, plan: Plan, answers: Answers) -> FixedState:
        """Count the rounds."""
        return dataclasses.replace(state, spent=state.spent + plan.size)


@value
class Uniform(_Fixed):
    """All arms in turn.

    >>> plan = Uniform(3, 7).ask(FixedState(0), rng=np.random.Generator(np.random.SFC64(1)))
    >>> sorted(plan.pulls)
    [2, 2, 3]
    """

    arms: int
    horizon: int
    goal: Goal = "max"

    name: ClassVar[str] = "uniform"

    def ask(self, state: FixedState, *, rng: np.random.Generator) -> Plan:
        """All rounds at once, in turn."""
        left = self.horizon - state.spent
        return round_robin(range(self.arms), left, rng=rng) if left else Plan((), ())

    def recommend(self, state: FixedState) -> int:
        """The first arm: it learns nothing."""
        return 0


@value
class Oracle(_Fixed):
    """The best arm, always.

    >>> Oracle(3, 7, best=2).recommend(FixedState(0))
    2
    """

    arms: int
    horizon: int
    best: int
    goal: Goal = "max"

    name: ClassVar[str] = "oracle"

    def __post_init__(self) -> None:
        Run.__post_init__(self)
        settle(self, best=integer("best", self.best, at_least=0))
        if self.best >= self.arms:
            raise InvalidParameter("best", self.best, f"must be less than arms = {self.arms}")

    def ask(self, state: FixedState, *, rng: np.random.Generator) -> Plan:
        """All rounds at once, of the best arm."""
        left = self.horizon - state.spent
        return Plan((self.best,), (left,)) if left else Plan((), ())

    def recommend(self, state: FixedState) -> int:
        """The arm that it was told."""
        return self.best
