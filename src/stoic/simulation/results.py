"""What a simulation found, one row for each replication."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stoic.core import Floats
from stoic.environments import Instance
from stoic.errors import InvalidParameter
from stoic.policies import Policy
from stoic.simulation.engine import Replication

__all__ = ["Comparison", "Curve", "Result", "compare"]


@dataclass(frozen=True, eq=False, slots=True)
class Curve:
    """Cumulative regret over time: mean and standard error over the replications."""

    rounds: NDArray[np.int64]
    mean: Floats
    standard_error: Floats


@dataclass(frozen=True, eq=False, slots=True)
class Result:
    """Replications of one policy on one instance; arms are numbered as in the instance.

    ``final_regret``, ``best_kept`` (whether the best arm was in play at the end), ``recommended``
    and ``draws`` (rewards really drawn: what no decision needed was never drawn) have an entry for
    each replication, ``pulls`` and ``eliminated_at`` (after which round, or -1 for never) an entry
    for each arm, too, and ``regret`` one for each of the ``checkpoints``.
    """

    policy: Policy
    instance: Instance
    seed: int
    replications: NDArray[np.int64]
    checkpoints: NDArray[np.int64]
    regret: Floats
    final_regret: Floats
    pulls: NDArray[np.int64]
    eliminated_at: NDArray[np.int64]
    recommended: NDArray[np.int64]
    draws: NDArray[np.int64]

    @classmethod
    def gather(
        cls,
        policy: Policy,
        instance: Instance,
        *,
        seed: int,
        replications: Sequence[int],
        checkpoints: NDArray[np.int64],
        played: Sequence[Replication],
    ) -> Result:
        """The rows of all replications, in order."""
        return cls(
            policy,
            instance,
            seed,
            np.asarray(replications, dtype=np.int64),
            checkpoints,
            regret=np.array([one.regret for one in played]),
            final_regret=np.array([one.final_regret for one in played]),
            pulls=np.array([one.pulls for one in played]),
            eliminated_at=np.array([one.left_at for one in played]),
            recommended=np.array([one.recommended for one in played]),
            draws=np.array([one.draws for one in played]),
        )

    @property
    def best_kept(self) -> NDArray[np.bool_]:
        """Whether the best arm (any of them, if several are) was never eliminated."""
        best = np.asarray(self.instance.gaps) == 0
        return np.asarray(np.any(self.eliminated_at[:, best] < 0, axis=1))

    @property
    def mean(self) -> float:
        """Mean final regret."""
        return float(np.mean(self.final_regret))

    @property
    def standard_error(self) -> float:
        """Standard error of :attr:`mean`; NaN for a single replication."""
        return float(_standard_error(self.final_regret))

    def quantiles(self, at: ArrayLike = (0.05, 0.5, 0.95)) -> Floats:
        """Quantiles of the final regret over the replications."""
        return np.asarray(np.quantile(self.final_regret, np.asarray(at, dtype=np.float64)))

    def curve(self) -> Curve:
        """Mean regret at the checkpoints, exact in every replication."""
        return Curve(self.checkpoints, np.mean(self.regret, axis=0), _standard_error(self.regret))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Mean difference in final regret of two policies that met the same rewards.

    ``variance_reduction`` is how many times larger the variance of the difference would be with
    independent rewards: what the common random numbers bought.
    """

    difference: float
    standard_error: float
    variance_reduction: float


def compare(one: Result, other: Result) -> Comparison:
    """Paired difference ``one - other``, replication by replication.

    Both must have met the same rewards: same instance, seed and replications.

    >>> import stoic
    >>> instance = stoic.instances.paper("pareto", alpha=0.05)
    >>> moments = instance.central(2, mean_range=(0, 100))
    >>> settings = {"arms": 5, "horizon": 5_000, "moments": moments}
    >>> ucb1 = stoic.policies.create("ucb1", **settings)
    >>> robust = stoic.policies.create("elimination", **settings, contamination=0.05)
    >>> results = [
    ...     stoic.simulate(policy, instance, replications=20, seed=1) for policy in (ucb1, robust)
    ... ]
    >>> found = compare(*results)
    >>> abs(found.difference - (results[0].mean - results[1].mean)) < 1e-6
    True
    """
    _check_pair(one, other)
    difference = one.final_regret - other.final_regret
    apart = np.var(one.final_regret) + np.var(other.final_regret)
    together = np.var(difference)
    return Comparison(
        float(np.mean(difference)),
        float(_standard_error(difference)),
        float(apart / together) if together > 0 else float("inf" if apart > 0 else "nan"),
    )


def _check_pair(one: Result, other: Result) -> None:
    rule = "must be that of both results"
    if one.instance != other.instance:
        raise InvalidParameter("instance", other.instance.name, rule)
    if one.seed != other.seed:
        raise InvalidParameter("seed", other.seed, rule)
    if not np.array_equal(one.replications, other.replications):
        raise InvalidParameter("replications", other.replications.tolist(), rule)


def _standard_error(rows: Floats) -> Floats:
    if len(rows) < 2:
        return np.full(rows.shape[1:], np.nan)
    return np.asarray(np.std(rows, axis=0, ddof=1) / np.sqrt(len(rows)))
