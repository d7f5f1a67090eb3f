"""Regret for given gaps: bounds that are theorems, with all their constants.

Every arm's pulls are bounded on the event that each estimate is within its radius, and regret by
what the pulls add up to. Derivations: ``docs/theory/bounds.md``. How regret grows in general:
:mod:`stoic.theory.rates`. Everything is in the units of the rewards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, SupportsFloat

from stoic.core import RawMoment, real
from stoic.errors import InvalidParameter
from stoic.options import as_budget, as_contamination
from stoic.theory import proof
from stoic.theory.common import checked_run

__all__ = [
    "Concentration",
    "RegretBound",
    "earliest_removal",
    "explicit_pull_bound",
    "first_judged",
    "pull_bound",
    "regret_bound",
]


class Concentration(Protocol):
    """What elimination needs to know of a mean estimator.

    :class:`stoic.theory.Accuracy` has it, and so has every estimator of a policy.
    """

    @property
    def guaranteed(self) -> bool:
        """Whether the radius is a theorem."""
        ...

    def sample_size(self, batch: int) -> int:
        """The ``n`` of a batch of so many rewards."""
        ...

    def share(self, delta: float, active: int, batch: int) -> float:
        """The ``failure`` of one of ``active`` estimates in batch ``batch``."""
        ...

    def threshold(self, failure: float) -> float:
        """Least ``n`` for which the radius holds."""
        ...

    def radius(self, n: int, failure: float) -> SupportsFloat:
        """How far the estimate may be from the clean mean."""
        ...


def first_judged(
    estimator: Concentration, *, arms: int, horizon: int, delta: float | None = None
) -> int:
    """The number ``tau`` of the first batch past the threshold, by which arms can be judged.

    >>> from stoic.theory import Accuracy
    >>> mean = Accuracy(RawMoment(2, 1.0), epsilon=0.5, contamination=0.05)
    >>> first_judged(mean, arms=5, horizon=100_000)
    9
    """
    arms, horizon, delta = checked_run(arms, horizon, delta)
    batch = 1
    while not _judged(estimator, batch, arms, delta):
        batch += 1
    return batch


def earliest_removal(
    estimator: Concentration, *, arms: int, horizon: int, delta: float | None = None
) -> int:
    """The first round after which an arm can be removed at all. It may lie beyond the horizon.

    All batches below the threshold, and the first one past it from every arm.

    >>> from stoic.core import CentralMoment
    >>> from stoic.theory import Accuracy
    >>> mean = Accuracy(CentralMoment(2, 5.0, (0, 100)), epsilon=0.5, contamination=0.05)
    >>> earliest_removal(mean, arms=5, horizon=100_000) > 10**9
    True
    """
    size = 1 << first_judged(estimator, arms=arms, horizon=horizon, delta=delta)
    return size - 2 + arms * size


def pull_bound(
    estimator: Concentration,
    gap: float,
    *,
    arms: int,
    horizon: int,
    delta: float | None = None,
) -> int:
    """How often an arm that is ``gap`` worse than the best is pulled at most, on the good event.

    ``2^(tau+1) - 2``, where ``tau`` is the first batch past the threshold with ``4 beta < gap``:
    there the arm is sure to leave, if it still is in play. The whole horizon if there is no such
    batch. The good event, on which every estimate is within its radius, has probability at least
    ``1 - 0.83 delta``.

    >>> from stoic.theory import Accuracy
    >>> mean = Accuracy(RawMoment(2, 1.0), epsilon=1.0)
    >>> pull_bound(mean, 0.5, arms=2, horizon=10**6), pull_bound(mean, 0.05, arms=2, horizon=10**6)
    (131070, 1000000)
    """
    arms, horizon, delta = checked_run(arms, horizon, delta)
    resolved = _resolved(estimator, arms, horizon, delta)
    return _pulls(resolved, real("gap", gap, above=0), horizon)


def _judged(estimator: Concentration, batch: int, arms: int, delta: float) -> bool:
    """Whether a batch of all arms is past the threshold, which is least for few active arms."""
    failure = estimator.share(delta, arms, batch)
    return estimator.sample_size(2**batch) >= estimator.threshold(failure)


def _resolved(
    estimator: Concentration, arms: int, horizon: int, delta: float
) -> list[tuple[int, float]]:
    """For each batch past the threshold: pulls of an arm up to its end, and the gap it resolves."""
    if not estimator.guaranteed:
        raise InvalidParameter("estimator", estimator, "must have a guarantee: profile 'proof'")
    found = []
    for batch in range(1, horizon.bit_length()):
        if _judged(estimator, batch, arms, delta):
            n = estimator.sample_size(2**batch)
            # Whatever arms are left: the radius need not be monotone in its failure probability.
            radius = max(
                float(estimator.radius(n, estimator.share(delta, active, batch)))
                for active in range(2, arms + 1)
            )
            found.append((2 ** (batch + 1) - 2, 4 * radius))
    return found


def _pulls(resolved: list[tuple[int, float]], gap: float, horizon: int) -> int:
    return min([horizon, *(most for most, width in resolved if width < gap)])


def explicit_pull_bound(
    gap: float,
    *,
    arms: int,
    horizon: int,
    epsilon: float,
    moments: RawMoment,
    contamination: float = 0.0,
    delta: float | None = None,
) -> float:
    """``4 max{512 l / gap^2, (4 l / eps) (32 / gap)^(k/(k-1)), l / alpha}`` for PRAE-R, ``proof``.

    ``l = log(32 K log2(T)^2 / delta)``, the gap in natural units. Holds on the good event for
    ``k >= 2``, ``eps <= 3/2`` and ``gap > 16 (8 alpha)^(1-1/k)``; infinite for smaller gaps.
    Without outliers 128 stands for 512, 16 for the second 32, 8 for the 32 in ``l``, and the last
    term is gone. :func:`pull_bound` is sharper and needs none of this, but is not a formula.

    >>> moments = RawMoment(2, 1.0)
    >>> round(explicit_pull_bound(0.5, arms=2, horizon=10**6, epsilon=1.0, moments=moments))
    369831
    """
    arms, horizon, delta = checked_run(arms, horizon, delta)
    epsilon, alpha = as_budget(epsilon).epsilon, as_contamination(contamination).alpha
    k = real("k", moments.k, at_least=2)
    real("epsilon", epsilon, at_most=1.5)
    proof.check_raw(epsilon=epsilon, alpha=alpha)
    gap = real("gap", gap, above=0) / moments.scale
    if gap <= 16 * (8 * alpha) ** (1 - 1 / k):
        return math.inf
    squared, private, logs = (512, 32, 32) if alpha > 0 else (128, 16, 8)
    log = math.log(logs * arms * math.log2(horizon) ** 2 / delta)
    terms = [squared * log / gap**2, 4 * log / epsilon * (private / gap) ** (k / (k - 1))]
    if alpha > 0:
        terms.append(log / alpha)
    return 4 * max(float(term) for term in terms)


@dataclass(frozen=True, slots=True)
class RegretBound:
    """What the pulls of the arms add up to."""

    pulls: tuple[int, ...]
    """Of each arm, at most, on the good event; the horizon for the best."""
    on_good_event: float
    """Regret with probability at least ``1 - 0.83 delta``."""
    expected: float
    """Expected regret: the failure probability times the worst regret on top."""


def regret_bound(
    estimator: Concentration,
    gaps: Sequence[float],
    *,
    horizon: int,
    delta: float | None = None,
) -> RegretBound:
    """The regret of elimination on an instance with these gaps (0 for the best arm).

    Every arm is pulled at most :func:`pull_bound` times, and all together ``horizon`` times: the
    worst that fits both is to spend the rounds on the largest gaps first.

    >>> from stoic.theory import Accuracy
    >>> mean = Accuracy(RawMoment(2, 1.0), epsilon=1.0)
    >>> bound = regret_bound(mean, [0.0, 0.5, 1.0], horizon=10**6)
    >>> bound.pulls, bound.on_good_event
    ((1000000, 131070, 32766), 98301.0)
    """
    arms, horizon, delta = checked_run(len(gaps), horizon, delta)
    gaps = [real("gaps", gap, at_least=0) for gap in gaps]
    if min(gaps) > 0:
        raise InvalidParameter("gaps", gaps, "must contain a best arm, with gap 0")
    resolved = _resolved(estimator, arms, horizon, delta)
    most = tuple(_pulls(resolved, gap, horizon) for gap in gaps)
    left, regret = horizon, 0.0
    for gap, count in sorted(zip(gaps, most, strict=True), reverse=True):
        spent = min(count, left)
        left, regret = left - spent, regret + spent * gap
    failing = math.pi**2 / 12 * delta  # the sum of all shares of delta
    return RegretBound(most, regret, regret + failing * horizon * max(gaps))
