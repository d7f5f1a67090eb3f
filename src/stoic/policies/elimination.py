"""The meta-algorithm: batched elimination over any mean estimator (paper, Algorithm 1).

Setting: K arms, T rounds, an estimator with radius ``beta`` and threshold. Batch ``tau`` has size
``B = 2^tau``. While the estimator's ``n`` is below its threshold nothing can be decided, and one
batch is spent on the **first phase**. From then on every active arm gets ``B`` fresh rewards and an
estimate from that batch only ("forgetting", so that each reward is in one release); every arm with
``max - estimate > 2 beta`` leaves. The last arm is played for ever. Rewards of a batch that the
horizon cuts short are never used.

Guarantee (with a guaranteed profile): the sequence of arms is epsilon-DP; with probability at least
``1 - delta`` the best arm is never removed, and the regret is that of Theorems 3, 5 and 6
(:mod:`stoic.theory.rates`). PRAE-R uses PRM-R, PRAE-C uses PRM-C.
"""

from __future__ import annotations

import dataclasses
from typing import Literal, get_args

import numpy as np

from stoic.core import (
    CentralMoment,
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
from stoic.estimators import PRMC, PRMR, Comparison, Estimator
from stoic.policies.policy import (
    Answers,
    Run,
    checked_delta,
    leader,
    round_robin,
    stretched,
    survivors,
)

__all__ = ["Elimination", "EliminationState"]

FirstPhase = Literal["batch", "round", "greedy", "explore"]

_EXPLORATION = 0.1


@value
class EliminationState:
    """Releases and counters: the number of the batch that comes next, the arms still in play,
    rounds spent, each arm's latest estimate, the latest radius that arms were judged by.
    """

    batch: int
    active: tuple[int, ...]
    spent: int
    estimates: tuple[float | None, ...]
    radius: float | None


@value
class Elimination(Run):
    """The meta-algorithm as a value; built by :meth:`raw`, :meth:`central` or :meth:`comparing`.

    >>> moments = CentralMoment(2, 5, (0, 100))
    >>> policy = Elimination.central(5, 100_000, moments, epsilon=0.5, profile="unit")
    >>> policy.epsilon, policy.threshold(policy.init())
    (0.5, 93.0)
    """

    arms: int
    horizon: int
    goal: Goal
    estimator: Estimator
    delta: float
    first_phase: str

    def __post_init__(self) -> None:
        Run.__post_init__(self)
        settle(self, delta=real("delta", self.delta, above=0, below=1))
        choice("first_phase", self.first_phase, get_args(FirstPhase))

    @property
    def name(self) -> str:
        """PRAE-R, PRAE-C or ``elimination`` with another estimator."""
        known = {"prm-r": "prae-r", "prm-c": "prae-c"}
        return known.get(self.estimator.name, "elimination")

    @property
    def privacy(self) -> Privacy:
        """The estimator's."""
        return self.estimator.privacy

    @property
    def epsilon(self) -> float | None:
        """The estimator's: each reward is in one estimate."""
        return self.estimator.epsilon

    @classmethod
    def raw(
        cls,
        arms: int,
        horizon: int,
        moments: Moment,
        epsilon: PrivacyBudget | float,
        contamination: Contamination | float = 0.0,
        profile: str = "proof",
        delta: float | None = None,
        first_phase: FirstPhase = "batch",
        goal: Goal = "max",
    ) -> Elimination:
        """PRAE-R: over PRM-R, for bounded raw moments.

        >>> from stoic import RawMoment
        >>> Elimination.raw(5, 100_000, RawMoment(2, 10_005), epsilon=0.5).name
        'prae-r'
        """
        estimator = PRMR.build(moments, epsilon, contamination, profile)
        return cls(arms, horizon, goal, estimator, checked_delta(delta, horizon), first_phase)

    @classmethod
    def central(
        cls,
        arms: int,
        horizon: int,
        moments: CentralMoment,
        epsilon: PrivacyBudget | float,
        contamination: Contamination | float = 0.0,
        profile: str = "proof",
        delta: float | None = None,
        first_phase: FirstPhase = "batch",
        goal: Goal = "max",
    ) -> Elimination:
        """PRAE-C: over PRM-C, for bounded central moments.

        >>> Elimination.central(5, 100_000, CentralMoment(2, 5, (0, 100)), epsilon=0.5).name
        'prae-c'
        """
        estimator = PRMC.build(moments, epsilon, contamination, profile)
        return cls(arms, horizon, goal, estimator, checked_delta(delta, horizon), first_phase)

    @classmethod
    def comparing(
        cls,
        arms: int,
        horizon: int,
        moments: Moment,
        statistic: str = "median-of-means",
        contamination: Contamination | float = 0.0,
        delta: float | None = None,
        goal: Goal = "max",
    ) -> Elimination:
        """Over a non-private estimator, for comparison.

        >>> from stoic import RawMoment
        >>> Elimination.comparing(5, 1000, RawMoment(2, 10_005), statistic="catoni").privacy
        'none'
        """
        estimator = Comparison.build(statistic, moments, contamination)
        return cls(arms, horizon, goal, estimator, checked_delta(delta, horizon), "batch")

    def init(self) -> EliminationState:
        """All arms active, nothing estimated."""
        return EliminationState(
            batch=1,
            active=tuple(range(self.arms)),
            spent=0,
            estimates=(None,) * self.arms,
            radius=None,
        )

    def ask(self, state: EliminationState, *, rng: np.random.Generator) -> Plan:
        """Batch ``tau``: of every active arm, of one arm in the first phase, or what is left."""
        left = self.horizon - state.spent
        size = 2**state.batch
        if left == 0:
            return Plan((), ())
        n = self.estimator.sample_size(size)
        if n < self.threshold(state):
            return self._first_phase(state, left, rng)
        if len(state.active) == 1 or size * len(state.active) > left:
            return round_robin(state.active, left, rng=rng)
        query = self.estimator.query(n, self._failure(state))
        return round_robin(state.active, size * len(state.active), rng=rng, query=query)

    def tell(self, state: EliminationState, plan: Plan, answers: Answers) -> EliminationState:
        """Take in the estimates; past the threshold, drop every arm ``2 beta`` behind the best."""
        n = self.estimator.sample_size(2**state.batch)
        decisive = n >= self.threshold(state)
        spent = state.spent + plan.size
        over = decisive or spent >= _first_rounds(state.batch)
        found = {arm: releases[-1].value for arm, releases in answers.items()}
        # A batch may be closed before all of it was dealt: what counts is what was.
        issued = min((releases[-1].n for releases in answers.values()), default=n)
        after = dataclasses.replace(
            state,
            batch=state.batch + over,
            spent=spent,
            estimates=tuple(found.get(arm, old) for arm, old in enumerate(state.estimates)),
        )
        if not answers or issued < self.threshold(state):
            return after
        radius = stretched(self.estimator.radius(n, self._failure(state)), n, issued)
        active = survivors(state.active, found, sign=self.sign, width=2 * radius)
        return dataclasses.replace(after, active=active, radius=radius)

    def recommend(self, state: EliminationState) -> int:
        """The active arm with the best latest estimate."""
        return leader(state.active, state.estimates, self.sign)

    def threshold(self, state: EliminationState) -> float:
        """The ``n`` that the coming batch needs for its estimates to count.

        It grows with ``log tau`` while ``n`` doubles: once past it, there is no falling back.
        """
        return self.estimator.threshold(self._failure(state))

    def _failure(self, state: EliminationState) -> float:
        """``delta_tau``: what one estimate of the coming batch may fail with."""
        return self.estimator.share(self.delta, len(state.active), state.batch)

    def _first_phase(self, state: EliminationState, left: int, rng: np.random.Generator) -> Plan:
        """One batch before anything can be decided (paper, Remark 3), or a piece of it."""
        if self.first_phase == "round":
            # The order is random and kept in memory, so a long batch comes in pieces.
            rest = _first_rounds(state.batch) - state.spent
            size = min(rest, left, Plan.MOST_SHUFFLED)
            pulls = rng.multinomial(size, np.full(self.arms, 1 / self.arms)).tolist()
            return Plan(tuple(range(self.arms)), tuple(pulls), shuffle=int(rng.integers(2**63)))
        size = 2**state.batch
        if self.first_phase == "batch":
            return Plan((int(rng.integers(self.arms)),), (min(size, left),))
        unknown = [arm for arm, found in enumerate(state.estimates) if found is None]
        if unknown:
            arm = int(rng.choice(unknown))
        elif self.first_phase == "explore" and rng.random() < _EXPLORATION:
            arm = int(rng.integers(self.arms))
        else:
            arm = leader(range(self.arms), state.estimates, self.sign)
        if size > left:
            return Plan((arm,), (left,))
        n = self.estimator.sample_size(size)
        return Plan((arm,), (size,), (self.estimator.query(n, self._failure(state)),))


def _first_rounds(batch: int) -> int:
    """Rounds spent once batch ``tau`` of the first phase is over: ``2 + 4 + ... + 2^tau``."""
    return (2 << batch) - 2
