"""Planning an experiment before it runs: how many users, for which gaps, at which price.

>>> import stoic
>>> forecast = stoic.plan(
...     arms=5, horizon=100_000, epsilon=0.5, contamination=0.05,
...     moments=stoic.CentralMoment(2, 5, (0, 100)), gap=25,
... )
>>> forecast.first, forecast.typical.users
(81, 235)
"""

from __future__ import annotations

from stoic.planning.forecast import Forecast, Path, forecast_of, plan
from stoic.planning.pilot import Pilot, read_pilot
from stoic.planning.what_if import Cost, Grid, costs, what_if
from stoic.planning.words import describe

__all__ = [
    "Cost",
    "Forecast",
    "Grid",
    "Path",
    "Pilot",
    "costs",
    "describe",
    "forecast_of",
    "plan",
    "read_pilot",
    "what_if",
]
