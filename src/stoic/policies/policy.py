"""What every policy provides: data and pure functions.

A policy is a frozen value (its configuration). It thinks only between phases::

    state = policy.init()
    plan = policy.ask(state, rng=rng)            # which arms, how many rewards, which queries
    state = policy.tell(state, plan, answers)    # the releases, never a reward

``rng`` is public randomness (whose turn it is, ties); privacy noise is added before ``tell`` sees
anything. The driver keeps a plan before dealing it and never asks twice for one phase. An empty
plan means that the horizon is spent.

**Invariant of the private policies:** the state holds only releases and counters, never a reward.
It may be stored, logged and shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from stoic.core import (
    Goal,
    Moment,
    Plan,
    Privacy,
    Query,
    Release,
    choice_of_goal,
    integer,
    real,
    settle,
)
from stoic.errors import InvalidParameter

__all__ = [
    "Answers",
    "Policy",
    "Run",
    "checked_delta",
    "leader",
    "natural_scale",
    "round_robin",
    "stretched",
    "survivors",
]

Answers = Mapping[int, tuple[Release, ...]]
"""For each arm that was asked about: its releases, one for each fold."""


class Policy(Protocol):
    """A bandit policy for ``arms`` arms and ``horizon`` rounds."""

    @property
    def name(self) -> str:
        """Under which it is known to :func:`stoic.policies.create`."""
        ...

    @property
    def arms(self) -> int:
        """How many arms there are, numbered from 0."""
        ...

    @property
    def horizon(self) -> int:
        """How many rounds it plans."""
        ...

    @property
    def goal(self) -> Goal:
        """``max`` for rewards, ``min`` for costs."""
        ...

    @property
    def privacy(self) -> Privacy:
        """``central`` (the sequence of arms is epsilon-DP) or ``none``."""
        ...

    @property
    def epsilon(self) -> float | None:
        """What the whole run costs each reward; None when not private."""
        ...

    def init(self) -> Any:
        """The state before the first phase: a frozen value."""
        ...

    def ask(self, state: Any, *, rng: np.random.Generator) -> Plan:
        """The next phase; an empty plan when the horizon is spent."""
        ...

    def tell(self, state: Any, plan: Plan, answers: Answers) -> Any:
        """The state after a phase, from what was released about it."""
        ...

    def recommend(self, state: Any) -> int:
        """The arm that the releases so far speak for."""
        ...


class Run:
    """Base of all configurations: arms, horizon and goal, checked."""

    __slots__ = ()
    arms: int
    horizon: int
    goal: Goal

    def __post_init__(self) -> None:
        arms = integer("arms", self.arms, at_least=2)
        horizon = integer("horizon", self.horizon, at_least=1)
        if horizon < arms:
            raise InvalidParameter("horizon", horizon, f"must be at least arms = {arms}")
        settle(self, arms=arms, horizon=horizon, goal=choice_of_goal(self.goal))

    @property
    def sign(self) -> int:
        """1 for rewards, -1 for costs: ``sign * mean`` is what to maximise."""
        return 1 if self.goal == "max" else -1


def checked_delta(delta: float | None, horizon: object) -> float:
    """The failure probability of a run; ``1 / horizon`` unless given.

    >>> checked_delta(None, 1000)
    0.001
    """
    if delta is None:
        return 1 / integer("horizon", horizon, at_least=2)
    return real("delta", delta, above=0, below=1)


def natural_scale(moments: Moment) -> float:
    """``bound^(1/k)``, for policies that need a scale and nothing else of the moments.

    >>> from stoic import CentralMoment
    >>> natural_scale(CentralMoment(2, 25, (0, 1)))
    5.0
    """
    if not isinstance(moments, Moment):
        raise InvalidParameter("moments", moments, "must be a RawMoment or a CentralMoment")
    return moments.scale


def round_robin(
    arms: Sequence[int], pulls: int, *, rng: np.random.Generator, query: Query | None = None
) -> Plan:
    """``pulls`` in all, dealt in turn in a fresh random order; the same query to every arm.

    With a fixed order and arms listed best first, an algorithm that never finishes its first batch
    would look as if it had no regret.

    >>> round_robin([4], 3, rng=np.random.Generator(np.random.SFC64(1)))
    Plan(arms=(4,), pulls=(3,), queries=(), shuffle=None)
    """
    order = tuple(int(arm) for arm in rng.permutation(np.asarray(arms, dtype=np.int64)))
    each, longer = divmod(pulls, len(order))
    counts = tuple(each + (place < longer) for place in range(len(order)))
    return Plan(order, counts, () if query is None else (query,) * len(order))


def leader(arms: Sequence[int], estimates: Sequence[float | None], sign: int) -> int:
    """The arm with the best estimate; arms without one come last, ties go to the first.

    >>> leader((0, 2, 3), (1.0, 9.0, None, 4.0), sign=1)
    3
    """

    def merit(arm: int) -> float:
        found = estimates[arm]
        return -np.inf if found is None else sign * found

    return max(arms, key=merit)


def stretched(radius: float, planned: int, issued: int) -> float:
    """A radius for ``planned`` rewards, where only ``issued`` were: ``planned / issued`` times it.

    Every term of such a radius is a constant (the bias of the truncation, which stays the planned
    one) or falls like ``1/sqrt(n)`` or ``1/n``, so none grows by more than that factor.

    >>> stretched(0.5, planned=100, issued=50)
    1.0
    """
    return radius * (planned / issued)


def survivors(
    active: Sequence[int], estimates: Mapping[int, float], *, sign: int, width: float
) -> tuple[int, ...]:
    """The active arms that are at most ``width`` behind the best estimate.

    >>> survivors((0, 1, 2), {0: 5.0, 1: 3.0, 2: 0.0}, sign=1, width=2.0)
    (0, 1)
    """
    best = max(sign * estimates[arm] for arm in active)
    return tuple(arm for arm in active if best - sign * estimates[arm] <= width)
