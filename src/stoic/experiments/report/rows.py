"""From the results of a study to the plain rows of its charts and tables."""

from __future__ import annotations

import dataclasses
import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from stoic.experiments.outcome import Outcome
from stoic.experiments.storage import COLUMNS
from stoic.simulation import Result, compare
from stoic.theory import PROFILES

__all__ = ["CONFIDENCE", "DAGGER", "Panel", "Played", "Row", "labels_of", "panels_of", "spread"]

Row = dict[str, Any]

CONFIDENCE = 0.95
DAGGER = "†"

_UNPROVED = tuple(name for name, profile in PROFILES.items() if not profile.guaranteed)

_POINTS = (400, 16_000)  # of a curve, more than a chart has pixels; and of all curves together
_DOTS = (500, 10_000)  # of the final regrets of a cell, and of all


@dataclass(frozen=True, eq=False, slots=True)
class Played:
    """What is there of a cell, under the label that the report gives to its policy."""

    label: str
    result: Result


@dataclass(frozen=True, eq=False, slots=True)
class Panel:
    """The cells of a panel that have results, and how many points of each the report shows."""

    label: str
    played: tuple[Played, ...]
    points: int
    dots: int

    def curves(self) -> list[Row]:
        """``policy, round, mean, low, high``."""
        rows = []
        for one in self.played:
            curve = one.result.curve()
            reach = _quantile(one.result) * curve.standard_error
            for at in spread(len(curve.rounds), self.points):
                rows.append(
                    {
                        "policy": one.label,
                        "round": int(curve.rounds[at]),
                        **_interval(float(curve.mean[at]), float(reach[at]), "mean"),
                    }
                )
        return rows

    def arms_left(self) -> list[Row]:
        """``policy, round, arms``: the mean number of arms in play after that round."""
        rows = []
        for one in self.played:
            gone = one.result.eliminated_at
            rounds = one.result.checkpoints[spread(len(one.result.checkpoints), self.points)]
            for at in (0, *rounds.tolist()):
                arms = np.count_nonzero((gone < 0) | (gone > at), axis=1)
                rows.append({"policy": one.label, "round": at, "arms": float(arms.mean())})
        return rows

    def final_regrets(self) -> list[Row]:
        """``policy, regret``; of many replications, evenly many of every size."""
        rows = []
        for one in self.played:
            regret = one.result.final_regret
            if regret.size > self.dots:
                regret = np.sort(regret)[spread(regret.size, self.dots)]
            rows += [{"policy": one.label, "regret": float(value)} for value in regret]
        return rows

    def final_means(self) -> list[Row]:
        """``policy, mean, low, high`` of the final regret."""
        rows = []
        for one in self.played:
            reach = _quantile(one.result) * one.result.standard_error
            rows.append({"policy": one.label, **_interval(one.result.mean, reach, "mean")})
        return rows

    def means(self) -> list[Row]:
        """A row of numbers for each policy."""
        rows = []
        for one in self.played:
            result = one.result
            low, median, high = result.quantiles((0.05, 0.5, 0.95))
            left = np.count_nonzero(result.eliminated_at < 0, axis=1)
            rows.append(
                {
                    "policy": one.label,
                    "mean": result.mean,
                    "error": result.standard_error,
                    "low": float(low),
                    "median": float(median),
                    "high": float(high),
                    "best_kept": int(np.count_nonzero(result.best_kept)),
                    "replications": len(result.replications),
                    "arms": float(left.mean()),
                }
            )
        return rows

    def pairs(self) -> list[Row]:
        """Paired differences of all pairs: ``pair, difference, error, low, high, reduction``."""
        rows = []
        for one, other in itertools.combinations(self.played, 2):
            pair = _shared(one.result, other.result)
            if pair is None:
                continue
            found = compare(*pair)
            reach = _quantile(pair[0]) * found.standard_error
            rows.append(
                {
                    "pair": f"{one.label} minus {other.label}",
                    "error": found.standard_error,
                    "reduction": found.variance_reduction,
                    **_interval(found.difference, reach, "difference"),
                }
            )
        return rows


def panels_of(outcome: Outcome) -> list[Panel]:
    """The panels of a study, in its order, with what is finished of each."""
    labels = labels_of(outcome)
    panels: dict[str, list[Played]] = {}
    for cell in outcome.cells:
        played = panels.setdefault(cell.panel, [])
        if cell.result is not None:
            played.append(Played(labels[cell.policy], cell.result))
    points, dots = (
        min(most, max(20, total // len(outcome.cells))) for most, total in (_POINTS, _DOTS)
    )
    return [Panel(label, tuple(played), points, dots) for label, played in panels.items()]


def labels_of(outcome: Outcome) -> dict[str, str]:
    """What the report calls each policy: with a dagger where the profile has no guarantee."""
    unproved = {cell.policy for cell in outcome.cells if cell.settings.get("profile") in _UNPROVED}
    return {
        policy: f"{policy} {DAGGER}" if policy in unproved else policy
        for policy in outcome.study.policies
    }


def _quantile(result: Result) -> float:
    """Student's quantile for two-sided intervals of a mean over the replications."""
    freedom = max(len(result.replications) - 1, 1)
    return float(special.stdtrit(freedom, (1 + CONFIDENCE) / 2))


def _shared(one: Result, other: Result) -> tuple[Result, Result] | None:
    """Both results, with the replications alone that both have."""
    common = np.intersect1d(one.replications, other.replications)
    if common.size == 0:
        return None
    return _only(one, common), _only(other, common)


def _only(result: Result, replications: NDArray[np.int64]) -> Result:
    if np.array_equal(result.replications, replications):
        return result
    kept = np.isin(result.replications, replications)
    rows = {name: getattr(result, name)[kept] for name in COLUMNS}
    return dataclasses.replace(result, **rows)


def _interval(middle: float, reach: float, name: str) -> Row:
    """A single replication has no interval."""
    if math.isnan(reach):
        return {name: middle, "low": None, "high": None}
    return {name: middle, "low": middle - reach, "high": middle + reach}


def spread(count: int, most: int) -> NDArray[np.int64]:
    """At most so many of ``count`` places, evenly, the last one among them."""
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    return np.unique(np.linspace(count - 1, 0, min(count, most)).round().astype(np.int64))
