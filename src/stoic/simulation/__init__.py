"""Simulations: any policy on any instance, at about the speed of the random numbers.

>>> import stoic
>>> instance = stoic.instances.paper("pareto", alpha=0.05)
>>> policy = stoic.policies.create(
...     "dprse", arms=5, horizon=50_000, epsilon=1.0, moments=instance.raw(2), profile="unit"
... )
>>> result = stoic.simulate(policy, instance, replications=30, seed=1)
>>> result.final_regret.shape, bool(result.best_kept.all())
((30,), True)
"""

from __future__ import annotations

from stoic.simulation.engine import Replication, replicate
from stoic.simulation.results import Comparison, Curve, Result, compare
from stoic.simulation.simulate import check_fit, checkpoint_rounds, simulate
from stoic.simulation.streams import RewardStream, Streams
from stoic.simulation.workers import Workers, as_completed

__all__ = [
    "Comparison",
    "Curve",
    "Replication",
    "Result",
    "RewardStream",
    "Streams",
    "Workers",
    "as_completed",
    "check_fit",
    "checkpoint_rounds",
    "compare",
    "replicate",
    "simulate",
]
