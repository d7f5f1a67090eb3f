"""An audit of the live path itself: experiments on two neighbouring inputs, as users play them.

Each experiment asks two rewards of every arm. In the first turn of slots the reward of every arm's
user is changed, which is the only difference between the inputs; those users then ask and tell once
more, as somebody would who wants to be counted twice. All others pay nothing. Arms share no reward,
so every arm is a run of its own, and what is released about it must keep the promise for one
changed reward.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import secrets
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from stoic.core import Goal, Plan, Privacy, PrivacyBudget, integer, settle, value
from stoic.live.opening import Database
from stoic.live.settings import Settings
from stoic.policies import Answers
from stoic.policies.policy import Run, round_robin
from stoic.privacy.audit import Audit, audit_outcomes
from stoic.privacy.queries import ClippedMean

__all__ = ["AuditProbe", "AuditState", "SteppingClock", "audit_live"]

_ARMS = 64
_DAY = 86_400.0


class SteppingClock:
    """A clock for audits and trials: time passes when it is told to.

    >>> clock = SteppingClock()
    >>> before = clock()
    >>> clock.now += 60
    >>> clock() - before
    60.0
    """

    def __init__(self, now: float = 1e9) -> None:
        self.now = now

    def __call__(self) -> float:
        """The time, in seconds."""
        return self.now


@value
class AuditState:
    """Rounds spent."""

    spent: int


@value
class AuditProbe(Run):
    """A policy that releases one mean of two rewards of every arm, and is done."""

    arms: int
    horizon: int
    epsilon: float
    goal: Goal = "max"

    name: ClassVar[str] = "audit"
    privacy: ClassVar[Privacy] = "central"

    def __post_init__(self) -> None:
        Run.__post_init__(self)
        settle(self, epsilon=PrivacyBudget(self.epsilon).epsilon)

    def init(self) -> AuditState:
        """Nothing spent."""
        return AuditState(0)

    def ask(self, state: AuditState, *, rng: np.random.Generator) -> Plan:
        """Two rewards of every arm."""
        if state.spent:
            return Plan((), ())
        query = ClippedMean(centre=0.0, half_width=1.0, epsilon=self.epsilon)
        return round_robin(range(self.arms), 2 * self.arms, rng=rng, query=query)

    def tell(self, state: AuditState, plan: Plan, answers: Answers) -> AuditState:
        """Count the rounds."""
        return dataclasses.replace(state, spent=state.spent + plan.size)

    def recommend(self, state: AuditState) -> int:
        """The first arm: it learns nothing."""
        return 0


def audit_live(
    database: Database,
    clock: SteppingClock,
    *,
    epsilon: float,
    runs: int,
    confidence: float = 0.999,
) -> Audit:
    """Lower bound on the epsilon of the live path, from ``runs`` releases of each input.

    ``clock`` is the one that the database was opened with. The values are judged, and then their
    lowest bits, in which noise of floating point would show.

    >>> import tempfile, stoic
    >>> clock = SteppingClock()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with stoic.live.open(f"sqlite:///{folder}/audit.db", clock=clock) as db:
    ...         found = audit_live(db, clock, epsilon=1.0, runs=200)
    >>> found.epsilon <= 1.0
    True
    """
    runs = integer("runs", runs, at_least=100)
    least, nothing, most = (
        _values(database, clock, epsilon, runs, reward) for reward in (-1.0, 0.0, 1.0)
    )
    each = (1 + confidence) / 2  # two chances of a false alarm share what may go wrong
    found = audit_outcomes(least, most, confidence=each)
    bits = [[_low_bit(one) for one in values] for values in (nothing, most)]
    return max(found, audit_outcomes(*bits, confidence=each), key=lambda audit: audit.epsilon)


def _values(
    database: Database, clock: SteppingClock, epsilon: float, runs: int, reward: float
) -> list[float]:
    values = itertools.chain.from_iterable(
        _play(database, clock, epsilon, reward) for _ in range(math.ceil(runs / _ARMS))
    )
    return list(itertools.islice(values, runs))


def _play(
    database: Database, clock: SteppingClock, epsilon: float, reward: float
) -> Iterator[float]:
    """One experiment: a released value for each of its arms."""
    settings = Settings.build(
        reward_deadline="1h", tick="1h", epoch_deadline=None, reward_default=None
    )
    policy = AuditProbe(_ARMS, 2 * _ARMS, epsilon)
    labels = [f"arm {arm}" for arm in range(_ARMS)]
    exp = database.add(f"audit {secrets.token_hex(8)}", policy, labels, settings)
    for _ in range(2):
        tickets = exp.ask_many(f"person {arm}" for arm in range(_ARMS))
        exp.tell_many(tickets, [reward] * _ARMS)
    others = exp.ask_many(f"other {arm}" for arm in range(_ARMS))
    exp.tell_many(others, [0.0] * _ARMS)
    clock.now += _DAY
    exp.tick()
    yield from (release.value for release in exp.privacy().releases)


def _low_bit(number: float) -> int:
    """The place of the lowest bit that a number needs.

    >>> _low_bit(0.75), _low_bit(6.0)
    (-2, 1)
    """
    odd, denominator = number.as_integer_ratio()
    return (odd & -odd).bit_length() - denominator.bit_length()
