"""What the theory says beside what was measured: lines to compare with, and rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from stoic.core import CentralMoment, Moment
from stoic.errors import InvalidParameter
from stoic.experiments.build import share
from stoic.experiments.report.rows import Panel, Played, Row, spread
from stoic.policies import Elimination
from stoic.simulation import Result
from stoic.theory import earliest_removal, lower_bound, regret_bound, upper_bound

__all__ = ["LOWER", "PROVED", "UNIFORM", "lower", "references", "theory"]

UNIFORM = "All arms in turn"
LOWER = "Lower-bound rate"
PROVED = "Proved for"


def references(panel: Panel) -> list[Row]:
    """Lines to compare with: ``reference, round, value``."""
    if not panel.played or not panel.played[0].result.checkpoints.size:
        return []
    first = panel.played[0].result
    rounds = first.checkpoints[spread(len(first.checkpoints), panel.points)].tolist()
    slope = float(first.instance.gaps.mean())
    lines = {UNIFORM: [slope * at for at in rounds]}
    for one in panel.played:
        for name, values in _lines(one, rounds):
            known = lines.get(name, values)  # the lower line holds for both
            lines[name] = [min(pair) for pair in zip(known, values, strict=True)]
    return [
        {"reference": name, "round": at, "value": value}
        for name, values in lines.items()
        for at, value in zip(rounds, values, strict=True)
    ]


def lower(panel: Panel) -> float | None:
    """The largest term of the lower bound at the horizon, and of several policies' the least."""
    found = [
        max(lower_bound(horizon=one.result.policy.horizon, **setting).values())
        for one in panel.played
        if (setting := _setting(one.result)) is not None
    ]
    return min(found, default=None)


def theory(panel: Panel) -> list[Row]:
    """A row for each policy to which a bound applies.

    ``policy, sampling, privacy, contamination`` (the terms of the lower bound), ``upper`` (the sum
    of the terms of the upper bound), ``earliest`` (round before which no arm leaves), ``proved``
    (regret, with all constants) and ``mean``. None where the theory says nothing.
    """
    rows = []
    for one in panel.played:
        setting = _setting(one.result)
        if setting is not None:
            horizon = one.result.policy.horizon
            rows.append(
                {
                    "policy": one.label,
                    **lower_bound(horizon=horizon, **setting),
                    "upper": _upper(one.result, setting),
                    "earliest": _earliest(one.result),
                    "proved": _proved(one.result, horizon),
                    "mean": one.result.mean,
                }
            )
    return rows


def _lines(one: Played, rounds: Sequence[int]) -> Iterator[tuple[str, list[float]]]:
    result = one.result
    setting = _setting(result)
    if setting is not None:
        kind = "central" if isinstance(setting["moments"], CentralMoment) else "raw"
        rates = [lower_bound(horizon=max(at, setting["arms"]), **setting) for at in rounds]
        yield f"{LOWER}, {kind} moments", [max(terms.values()) for terms in rates]
    proved = [_proved(result, at) for at in rounds]
    last = proved[-1]
    if last is not None and last < 0.999 * rounds[-1] * float(result.instance.gaps.max()):
        yield f"{PROVED} {one.label}", [value for value in proved if value is not None]


def _setting(result: Result) -> dict[str, Any] | None:
    """What the rates are functions of, for a private policy with a moment bound."""
    moments, epsilon = _moments(result), result.policy.epsilon
    if moments is None or epsilon is None:
        return None
    return {
        "arms": result.policy.arms,
        "epsilon": epsilon,
        "moments": moments,
        "contamination": share(result.instance),
    }


def _moments(result: Result) -> Moment | None:
    """Of the estimator, or of a policy that has none."""
    found: Moment | None = getattr(
        getattr(result.policy, "estimator", result.policy), "moments", None
    )
    return found


def _upper(result: Result, setting: dict[str, Any]) -> float | None:
    """The theorems are about PRAE-R and PRAE-C, and not about every setting."""
    if result.policy.name not in ("prae-r", "prae-c"):
        return None
    try:
        terms = upper_bound(horizon=result.policy.horizon, **setting)
    except InvalidParameter:
        return None
    return sum(terms.values())


def _earliest(result: Result) -> int | None:
    policy = result.policy
    if not isinstance(policy, Elimination):
        return None
    return earliest_removal(
        policy.estimator, arms=policy.arms, horizon=policy.horizon, delta=policy.delta
    )


def _proved(result: Result, rounds: int) -> float | None:
    """The regret after so many rounds, if the radius is a theorem and covers these outliers."""
    policy = result.policy
    if not isinstance(policy, Elimination) or not policy.estimator.guaranteed:
        return None
    assumed = getattr(policy.estimator, "contamination", None)
    if assumed is None or assumed.alpha < share(result.instance):
        return None
    return regret_bound(
        policy.estimator,
        result.instance.gaps.tolist(),
        horizon=max(rounds, policy.arms),
        delta=policy.delta,
    ).on_good_event
