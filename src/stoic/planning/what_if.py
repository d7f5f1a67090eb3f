"""What other budgets and other shares of outliers would take, and which assumption costs most."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stoic.core import CentralMoment
from stoic.planning.forecast import Forecast, typical_path, varied
from stoic.policies import PRAES

__all__ = ["Cost", "Grid", "costs", "what_if"]

_EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
_ALPHAS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
_ENDLESS = 10**12


@dataclass(frozen=True, slots=True)
class Grid:
    """Users per arm for each epsilon (rows) and share of outliers; None where it cannot be done.

    Without a gap: users before anything can be decided.
    """

    epsilons: tuple[float, ...]
    alphas: tuple[float, ...]
    users: tuple[tuple[int | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Cost:
    """By what factor users per arm would fall if one assumption were as good as can be."""

    assumption: str
    factor: float


def what_if(
    forecast: Forecast,
    *,
    epsilons: Sequence[float] = _EPSILONS,
    alphas: Sequence[float] = _ALPHAS,
) -> Grid:
    """The same experiment under other budgets and other shares of outliers, horizon aside.

    >>> import stoic
    >>> moments = stoic.CentralMoment(2, 5, (0, 100))
    >>> found = stoic.plan(arms=2, horizon=1000, epsilon=1.0, moments=moments, gap=20)
    >>> what_if(found, epsilons=[0.5], alphas=[0.1]).users  # and those that it was planned with
    ((228, 187), (71, 102))
    """
    policy = forecast.policy
    own = policy.estimator
    rows = tuple(sorted({*epsilons, own.epsilon}))
    columns = tuple(sorted({*alphas, own.contamination.alpha}))
    users = tuple(
        tuple(
            _users(varied(policy, epsilon=epsilon, alpha=alpha), forecast.gap) for alpha in columns
        )
        for epsilon in rows
    )
    return Grid(rows, columns, users)


def costs(forecast: Forecast) -> tuple[Cost, ...]:
    """What each assumption costs, the dearest first; empty where nothing can be done.

    Privacy is compared with a budget of 100, outliers with none, the moment bound with a quarter
    of it, the range of the means with a tenth, ``delta`` with ten times as much.

    >>> import stoic
    >>> moments = stoic.CentralMoment(2, 5, (0, 100))
    >>> found = stoic.plan(arms=2, horizon=1000, epsilon=0.1, moments=moments, gap=20)
    >>> costs(found)[0].assumption
    'privacy'
    """
    policy, gap = forecast.policy, forecast.gap
    users = _users(policy, gap)
    if users is None:
        return ()
    moments = policy.estimator.moments
    tamer = dataclasses.replace(moments, bound=moments.bound / 4)
    easier: dict[str, Callable[[], PRAES]] = {
        "privacy": lambda: varied(policy, epsilon=100.0),
        "outliers": lambda: varied(policy, alpha=0.0),
        "heavy tails": lambda: varied(policy, moments=tamer),
        "certainty": lambda: dataclasses.replace(policy, delta=min(10 * policy.delta, 0.5)),
    }
    if isinstance(moments, CentralMoment):
        middle, reach = moments.middle, max(policy.estimator.widest / 10, (gap or 0) / 2)
        narrow = dataclasses.replace(moments, mean_range=(middle - reach, middle + reach))
        easier["wide range of means"] = lambda: varied(policy, moments=narrow)
    found = []
    for assumption, make in easier.items():
        fewer = _users(make(), gap)
        if fewer is not None:
            found.append(Cost(assumption, users / fewer))
    return tuple(sorted(found, key=lambda cost: -cost.factor))


def _users(policy: PRAES, gap: float | None) -> int | None:
    """Users per arm, however long the horizon."""
    endless = varied(policy, horizon=_ENDLESS)
    if gap is None:
        step = endless.next_step(endless.init())
        return None if step is None else step.n
    if gap > 2 * policy.estimator.widest:
        return None
    path = typical_path(endless, gap)
    return path.users if path.separated else None
