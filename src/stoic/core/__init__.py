"""The value types that every other module speaks in: assumptions, plans and releases.

All of them are frozen, validated when built, and go to JSON and back without loss:

>>> moments = CentralMoment(k=2, bound=5, mean_range=(0, 100))
>>> loads(dumps(moments)) == moments
True

Units. A moment bound ``u`` on the k-th moment sets the natural scale ``u**(1/k)``; the theory
works in multiples of it, and these types know how to convert. Scales, means and epsilon are kept
within wide fixed ranges, so that no release can overflow later.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stoic.core.assumptions import (
    CentralMoment,
    Contamination,
    Moment,
    Privacy,
    PrivacyBudget,
    RawMoment,
)
from stoic.core.checks import Goal, choice, choice_of_goal, integer, real
from stoic.core.plans import Plan, Query, Release
from stoic.core.values import dumps, loads, settle, value

__all__ = [
    "CentralMoment",
    "Contamination",
    "Floats",
    "Goal",
    "Moment",
    "Plan",
    "Privacy",
    "PrivacyBudget",
    "Query",
    "RawMoment",
    "Release",
    "choice",
    "choice_of_goal",
    "dumps",
    "integer",
    "loads",
    "real",
    "settle",
    "value",
]

Floats = NDArray[np.float64]
