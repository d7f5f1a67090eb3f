"""Mean estimators: two private ones, and openly non-private ones for comparison.

>>> import numpy as np, stoic
>>> estimator = stoic.estimators.create(
...     "prm-r", epsilon=1.0, moments=stoic.RawMoment(2, 25.0), contamination=0.05
... )
>>> rng = np.random.Generator(np.random.SFC64(1))
>>> rewards = 3 + rng.standard_normal(10_000)
>>> noise = stoic.SimulatedNoise(rng)
>>> found = stoic.estimators.estimate(estimator, rewards, failure=0.05, noise=noise)
>>> abs(found.value - 3.0) < found.radius
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stoic.estimators.comparison import FACTORIES, STATISTICS, Comparison
from stoic.estimators.estimator import Estimate, Estimator, estimate
from stoic.estimators.prm_c import PRMC
from stoic.estimators.prm_r import PRMR
from stoic.options import make

__all__ = [
    "ESTIMATORS",
    "PRMC",
    "PRMR",
    "STATISTICS",
    "Comparison",
    "Estimate",
    "Estimator",
    "create",
    "estimate",
]

ESTIMATORS: dict[str, Callable[..., Estimator]] = {
    "prm-r": PRMR.build,
    "prm-c": PRMC.build,
    **FACTORIES,
}


def create(name: str, **options: Any) -> Estimator:
    """An estimator by name: ``prm-r``, ``prm-c`` (private) or one of :data:`STATISTICS` (not).

    >>> from stoic import CentralMoment
    >>> create("prm-c", moments=CentralMoment(2, 5, (0, 100)), epsilon=0.5).privacy
    'central'
    >>> create("catoni", moments=CentralMoment(2, 5, (0, 100))).privacy
    'none'
    """
    return make("estimator", name, ESTIMATORS, options)
