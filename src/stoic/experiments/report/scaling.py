"""How regret grows with a swept quantity: its points, the lines through them, the lower bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stoic.experiments.outcome import Outcome
from stoic.experiments.points import Sweep
from stoic.experiments.report.bounds import LOWER, lower
from stoic.experiments.report.rows import Panel, Row

__all__ = ["Growth", "growths", "slope"]

_QUANTITIES = {
    "horizon": "Rounds T",
    "arms": "Arms K",
    "epsilon": "1/ε",
    "alpha": "Share of outliers",
    "k": "Moment order k",
}


@dataclass(frozen=True, eq=False, slots=True)
class Growth:
    """A sweep as far as it has been played.

    ``points`` are rows of ``policy, at, mean, low, high``, ``fits`` of ``policy, at, value``,
    ``references`` of ``reference, at, value``, and ``slopes`` of ``policy, slope, error, bound``,
    where ``bound`` is the slope of the lower bound.
    """

    label: str
    quantity: str
    points: list[Row]
    fits: list[Row]
    references: list[Row]
    slopes: list[Row]

    @property
    def drawing(self) -> dict[str, Any]:
        """What a chart shows besides the points."""
        remarks = [
            {"policy": row["policy"], "text": f"{row['policy']}: slope {_slope(row)}"}
            for row in self.slopes
        ]
        bound = next((row["bound"] for row in self.slopes), None)
        words = [] if bound is None else [{"text": f"{LOWER}: slope {bound:.2f}"}]
        return {
            "quantity": self.quantity,
            "fits": self.fits,
            "references": self.references,
            "remarks": [*words, *remarks],
        }


def growths(outcome: Outcome, panels: Sequence[Panel]) -> list[Growth]:
    """The sweeps of a study, in its order."""
    known = {panel.label: panel for panel in panels}
    return [
        _growth(sweep, [known[label] for label in sweep.panels]) for sweep in outcome.study.sweeps
    ]


def slope(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float, float] | None:
    """The least-squares line through the logarithms: its slope, the slope's standard error, and
    the logarithm of its value at ``x = 1``. None below three points, or where a value is not above
    0 and so has no logarithm.

    >>> [round(part, 3) for part in slope([1, 10, 100], [5, 50, 500])]
    [1.0, 0.0, 1.609]
    """
    if len(xs) < 3 or min(ys) <= 0:
        return None
    x, y = np.log(xs), np.log(ys)
    across = x - x.mean()
    square = float(across @ across)
    found = float(across @ y) / square
    left = y - y.mean() - found * across
    error = math.sqrt(float(left @ left) / (len(xs) - 2) / square)
    return found, error, float(y.mean() - found * x.mean())


def _growth(sweep: Sweep, panels: Sequence[Panel]) -> Growth:
    inverse = sweep.key == "epsilon"
    places = [1 / value if inverse else float(value) for value in sweep.values]
    points: list[Row] = []
    references: list[Row] = []
    for at, panel in zip(places, panels, strict=True):
        points += [{**row, "at": at} for row in panel.final_means()]
        bound = lower(panel)
        if bound is not None:
            references.append({"reference": LOWER, "at": at, "value": bound})
    least = slope([row["at"] for row in references], [row["value"] for row in references])
    fits: list[Row] = []
    slopes: list[Row] = []
    for policy in dict.fromkeys(row["policy"] for row in points):
        own = [row for row in points if row["policy"] == policy]
        found = slope([row["at"] for row in own], [row["mean"] for row in own])
        if found is None:
            continue
        steepness, error, start = found
        bound = None if least is None else least[0]
        slopes.append({"policy": policy, "slope": steepness, "error": error, "bound": bound})
        ends = (min(row["at"] for row in own), max(row["at"] for row in own))
        fits += [
            {"policy": policy, "at": at, "value": math.exp(start + steepness * math.log(at))}
            for at in ends
        ]
    quantity = _QUANTITIES.get(sweep.key, sweep.key)
    return Growth(sweep.label, quantity, points, fits, references, slopes)


def _slope(row: Row) -> str:
    return f"{row['slope']:.2f} ± {row['error']:.2f}"
