"""Bounds, rates, radii and thresholds: pure functions of public numbers.

>>> import stoic
>>> mean = stoic.theory.Accuracy(stoic.RawMoment(2, 1.0), epsilon=1.0)
>>> mean.rewards_needed(error=0.1, failure=0.01)
14771
>>> stoic.theory.regret_bound(mean, gaps=[0.0, 0.5], horizon=10**6).pulls
(1000000, 131070)
"""

from __future__ import annotations

from stoic.theory.accuracy import Accuracy, breakdown, sample_complexity
from stoic.theory.profiles import PROFILES
from stoic.theory.rates import lower_bound, upper_bound
from stoic.theory.regret import (
    RegretBound,
    earliest_removal,
    explicit_pull_bound,
    first_judged,
    pull_bound,
    regret_bound,
)
from stoic.theory.tables import table

__all__ = [
    "PROFILES",
    "Accuracy",
    "RegretBound",
    "breakdown",
    "earliest_removal",
    "explicit_pull_bound",
    "first_judged",
    "lower_bound",
    "pull_bound",
    "regret_bound",
    "sample_complexity",
    "table",
    "upper_bound",
]
