"""UCB1 (Auer, Cesa-Bianchi, Fischer 2002): the classic, neither private nor robust.

Setting: rewards within an interval of length ``scale``. Each arm once; then always the arm with the
largest ``mean + scale sqrt(2 log t / pulls)``. Here ``scale`` is ``bound^(1/k)`` of the moments,
for lack of an interval: a reference, not a recommendation for heavy tails.
"""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from stoic.core import Goal, Moment, Plan, Privacy, real, settle, value
from stoic.estimators.empirical import Mean
from stoic.policies.policy import Answers, Run, natural_scale
from stoic.privacy.queries import Unprotected

__all__ = ["UCB1", "UCB1State"]


@value
class UCB1State:
    """Pulls and sums of rewards so far, arm by arm. Not private: it holds rewards."""

    pulls: tuple[int, ...]
    sums: tuple[float, ...]


@value
class UCB1(Run):
    """UCB1 as a value; built by :meth:`build`."""

    arms: int
    horizon: int
    goal: Goal
    scale: float

    name: ClassVar[str] = "ucb1"
    privacy: ClassVar[Privacy] = "none"
    epsilon: ClassVar[None] = None

    def __post_init__(self) -> None:
        Run.__post_init__(self)
        settle(self, scale=real("scale", self.scale, above=0))

    @classmethod
    def build(cls, arms: int, horizon: int, moments: Moment, goal: Goal = "max") -> UCB1:
        """UCB1 with the natural scale of the moments.

        >>> from stoic import RawMoment
        >>> UCB1.build(5, 1000, RawMoment(2, 1.0)).privacy
        'none'
        """
        return cls(arms, horizon, goal, natural_scale(moments))

    def init(self) -> UCB1State:
        """Nothing pulled."""
        return UCB1State((0,) * self.arms, (0.0,) * self.arms)

    def ask(self, state: UCB1State, *, rng: np.random.Generator) -> Plan:
        """One pull: of a random arm that has none, else of the arm with the largest index."""
        if sum(state.pulls) == self.horizon:
            return Plan((), ())
        fresh = [arm for arm, count in enumerate(state.pulls) if count == 0]
        arm = int(rng.choice(fresh)) if fresh else int(np.argmax(self.index(state)))
        return Plan((arm,), (1,), (Unprotected(Mean()),))

    def tell(self, state: UCB1State, plan: Plan, answers: Answers) -> UCB1State:
        """Add the reward."""
        (arm,) = plan.arms
        pulls, sums = list(state.pulls), list(state.sums)
        pulls[arm] += 1
        sums[arm] += answers[arm][0].value
        return dataclasses.replace(state, pulls=tuple(pulls), sums=tuple(sums))

    def recommend(self, state: UCB1State) -> int:
        """The arm with the best mean."""
        means = [
            self.sign * total / count if count else -math.inf
            for total, count in zip(state.sums, state.pulls, strict=True)
        ]
        return int(np.argmax(means))

    def index(self, state: UCB1State) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """``mean + scale sqrt(2 log t / pulls)``, with costs negated."""
        pulls = np.array(state.pulls, dtype=np.float64)
        width = self.scale * np.sqrt(2 * math.log(pulls.sum()) / pulls)
        return np.asarray(self.sign * np.array(state.sums) / pulls + width)
