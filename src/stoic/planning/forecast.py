"""What PRAE-S will need: users per arm, regret, epochs, and the gaps that it can tell apart.

Two kinds of number are kept apart. **Typical** ones follow the policy along the path on which every
release equals the mean. **Certified** ones hold with probability ``1 - 2 delta`` whatever the
releases are; their derivation is (R1) and (R2) of ``docs/theory/certified.md``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from stoic.core import Contamination, Goal, Moment, PrivacyBudget, Release, real
from stoic.policies import PRAES
from stoic.policies.policy import Answers
from stoic.policies.prae_s import last_radius, possible_steps
from stoic.theory import certified

__all__ = ["Forecast", "Path", "forecast_of", "plan", "varied"]

_SHRINK = 2 ** (-1 / 8)  # a radius shrinks by this factor at least, in every epoch
_FINER = 0.8  # the step between gaps in the search for the one that costs most
_FINEST = 1e-4  # of the range: smaller gaps are not looked for


@dataclass(frozen=True, slots=True)
class Path:
    """What it takes to tell one arm from all others, each a gap behind.

    ``users`` per arm that leaves, ``epochs``, ``regret`` up to then; ``separated`` is False where
    the policy commits itself, or the horizon ends, with several arms in play.
    """

    users: int
    epochs: int
    regret: float
    separated: bool


@dataclass(frozen=True, slots=True)
class Forecast:
    """A plan of an experiment with PRAE-S. Gaps, radii and regret are in the rewards' own units.

    - ``first``: users per arm before anything can be decided; None if the horizon cannot pay them.
    - ``smallest_sure``: every larger gap is sure to be found, given enough users.
    - ``smallest_ever``: no smaller gap can be told from outliers, however many users there are.
    - ``smallest_in_time``: the smallest gap that is typically found within this horizon.
    - ``typical``, ``most_users``: for ``gap``, on the typical path and at most; None without a gap,
      and where no bound below the horizon holds.
    - ``regret_at_most``: certified, for ``gap`` or, without one, for the worst of all gaps.
    """

    policy: PRAES
    gap: float | None
    first: int | None
    smallest_sure: float
    smallest_ever: float
    smallest_in_time: float | None
    typical: Path | None
    most_users: int | None
    regret_at_most: float
    feasible: bool
    why: str
    remedies: tuple[str, ...]


def plan(
    *,
    arms: int,
    horizon: int,
    epsilon: PrivacyBudget | float,
    moments: Moment,
    contamination: Contamination | float = 0.0,
    delta: float | None = None,
    gap: float | None = None,
    goal: Goal = "max",
) -> Forecast:
    """Plan an experiment with PRAE-S: the arguments of :func:`stoic.policies.create`, and a gap.

    ``gap`` is the difference in means that is worth finding; all arms but the best are taken to be
    that far behind.

    >>> from stoic import CentralMoment
    >>> moments = CentralMoment(2, 5, (0, 100))
    >>> found = plan(arms=2, horizon=1000, epsilon=1.0, moments=moments, gap=50)
    >>> found.feasible, found.typical
    (True, Path(users=24, epochs=1, regret=1200.0, separated=True))
    """
    policy = PRAES.build(arms, horizon, moments, epsilon, contamination, delta=delta, goal=goal)
    return forecast_of(policy, gap)


def forecast_of(policy: PRAES, gap: float | None = None) -> Forecast:
    """The forecast of a policy that is there already.

    >>> from stoic import CentralMoment
    >>> policy = PRAES.build(3, 10_000, CentralMoment(2, 1, (0, 1)), 1.0, contamination=0.2)
    >>> forecast_of(policy, gap=0.2).why
    'PRAE-S cannot tell a gap of 0.2 from outliers'
    """
    largest = 2 * policy.estimator.widest
    if gap is not None:
        gap = real("gap", gap, above=0, at_most=largest)
    step = policy.next_step(policy.init())
    typical = None if gap is None else typical_path(policy, gap)
    most = None if gap is None else most_users(policy, gap)
    why = _why_not(policy, gap, typical)
    return Forecast(
        policy=policy,
        gap=gap,
        first=None if step is None else step.n,
        smallest_sure=4 * last_radius(policy.estimator),
        smallest_ever=2 * policy.estimator.floor,
        smallest_in_time=_smallest_in_time(policy),
        typical=typical,
        most_users=most,
        regret_at_most=_worst_regret(policy) if gap is None else _regret(policy, gap, most),
        feasible=not why,
        why=why,
        remedies=_remedies(policy, gap) if why else (),
    )


def varied(
    policy: PRAES,
    *,
    horizon: float | None = None,
    epsilon: float | None = None,
    alpha: float | None = None,
    moments: Moment | None = None,
) -> PRAES:
    """The same policy but for what is given.

    >>> from stoic import RawMoment
    >>> policy = PRAES.build(2, 1000, RawMoment(2, 1), 1.0)
    >>> varied(policy, alpha=0.1).estimator.contamination, varied(policy, epsilon=2).epsilon
    (Contamination(alpha=0.1), 2.0)
    """
    own = policy.estimator
    return dataclasses.replace(
        policy,
        horizon=policy.horizon if horizon is None else int(horizon),
        estimator=dataclasses.replace(
            own,
            budget=own.budget if epsilon is None else PrivacyBudget(epsilon),
            contamination=own.contamination if alpha is None else Contamination(alpha),
            moments=own.moments if moments is None else moments,
        ),
    )


def typical_path(policy: PRAES, gap: float) -> Path:
    """The path on which every release equals the mean."""
    middle = policy.estimator.moments.middle
    best = middle + policy.sign * gap / 2
    means = (best, *[best - policy.sign * gap] * (policy.arms - 1))
    state, rng, users = policy.init(), np.random.Generator(np.random.SFC64(0)), 0
    while (step := policy.next_step(state)) is not None:
        answers: Answers = {
            arm: (Release("mean", means[arm], n=step.n, epsilon=step.query.epsilon),)
            for arm in state.active
        }
        state = policy.tell(state, policy.ask(state, rng=rng), answers)
        users += step.n
    separated = len(state.active) == 1
    return Path(users, state.epoch - 1, users * gap * (policy.arms - 1), separated)


def most_users(policy: PRAES, gap: float) -> int | None:
    """``N_a`` of (R2): users of an arm with that gap, at most; None where no bound is proved."""
    if gap / 8 <= policy.nearest:
        return None
    users = _most_from(policy, policy.estimator.widest, gap)
    return int(users) if users * policy.arms <= policy.horizon / 2 else None


@lru_cache(maxsize=4096)
def _most_from(policy: PRAES, known: float, gap: float) -> float:
    """The dearest of all sequences of steps from that radius on, while the arm can be in play."""
    # The first radius aimed at may be less than a notch away, all others are a notch apart.
    epoch = 1 + math.ceil(math.log(known / policy.estimator.widest) / math.log(_SHRINK) - 1e-9)
    failure = certified.share(policy.delta, epoch) / policy.arms
    surer = 1.0
    if epoch > 1:  # it may come as early as the second, for two arms
        surer = math.log(2 * failure) / math.log(certified.share(policy.delta, 2))
    return max(
        (
            step.n + (_most_from(policy, step.radius, gap) if step.radius >= gap / 4 else 0)
            for step in possible_steps(policy.estimator, known, failure, surer)
        ),
        default=math.inf,
    )


def _regret(policy: PRAES, gap: float, most: int | None) -> float:
    """Of all arms but one a gap behind: never more than playing them to the end."""
    if most is None:
        return gap * policy.horizon
    return min(gap * (policy.arms - 1) * most, gap * policy.horizon)


def _worst_regret(policy: PRAES) -> float:
    """The largest regret over all gaps, whether they are the same for all arms or not.

    Users of an arm grow as its gap falls, so those of the smaller of two gaps will do for all
    between. Arms with gaps for which no bound is proved cost their gap in each round at most.
    """
    largest = 2 * policy.estimator.widest
    gap, dearest = largest, 0.0
    while (users := most_users(policy, gap * _FINER)) is not None:
        dearest = max(dearest, gap * users)
        gap *= _FINER
    hidden = max(dearest, gap * policy.horizon)
    return min((policy.arms - 2) * dearest + hidden, largest * policy.horizon)


def _smallest_in_time(policy: PRAES) -> float | None:
    """By bisection: whether a gap is found hardly ever turns back as gaps grow."""
    low, high = _FINEST * policy.estimator.widest, 2 * policy.estimator.widest
    if not typical_path(policy, high).separated:
        return None
    while high / low > 1.02:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if typical_path(policy, middle).separated else (middle, high)
    return high


def _why_not(policy: PRAES, gap: float | None, typical: Path | None) -> str:
    step = policy.next_step(policy.init())
    if gap is not None and gap <= 2 * policy.estimator.floor:
        return f"PRAE-S cannot tell a gap of {gap:g} from outliers"
    if step is None:
        endless = varied(policy, horizon=10**15)
        step = endless.next_step(endless.init())
        if step is None and policy.nearest < policy.estimator.widest:
            return "not even 10^15 rounds would pay for a first decision"
        if step is None:
            return "PRAE-S cannot tell any gap within the range of the means from outliers"
        return (
            f"{policy.horizon:,} rounds are too few: the first decision takes {step.n:,} users of "
            f"each of {policy.arms} arms"
        )
    if typical is not None and not typical.separated:
        return f"{policy.horizon:,} rounds are too few to find a gap of {gap:g}"
    return ""


def _remedies(policy: PRAES, gap: float | None) -> tuple[str, ...]:
    """What, changed alone, would make it feasible."""
    own, largest = policy.estimator, 2 * policy.estimator.widest
    wanted = largest if gap is None else gap
    changes: tuple[tuple[float, float, Callable[[float], Path], str], ...] = (
        (
            policy.horizon,
            1e12,
            lambda value: typical_path(varied(policy, horizon=value), wanted),
            "at least {:,.0f} rounds",
        ),
        (
            own.epsilon,
            100.0,
            lambda value: typical_path(varied(policy, epsilon=value), wanted),
            "an epsilon of at least {:.3g}",
        ),
        (
            own.contamination.alpha,
            0.0,
            lambda value: typical_path(varied(policy, alpha=value), wanted),
            "at most {:.3g} outliers",
        ),
        (wanted, largest, lambda value: typical_path(policy, value), "gaps of at least {:.4g}"),
    )
    return tuple(
        says.format(_edge(start, end, path))
        for start, end, path, says in changes
        if start != end and path(end).separated
    )


def _edge(bad: float, good: float, path: Callable[[float], Path]) -> float:
    """The value nearest to ``bad`` that works, to one percent, by bisection of the logarithm."""
    floor = 1e-9  # a share of outliers may go down to 0
    while max(good, floor) / max(bad, floor) > 1.01 or max(bad, floor) / max(good, floor) > 1.01:
        middle = math.sqrt(max(bad, floor) * max(good, floor))
        bad, good = (bad, middle) if path(middle).separated else (middle, good)
    return good
