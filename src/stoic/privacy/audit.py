"""An empirical lower bound on epsilon: run a mechanism on two neighbouring inputs and compare.

If a mechanism is epsilon-DP then ``P(E | one) <= exp(epsilon) P(E | other)`` for every event E.
The event is chosen on a tenth of the runs and judged on the rest, so the choice costs nothing.
Clopper-Pearson limits on both probabilities then bound epsilon from below with the stated
confidence. A bound above the promised epsilon is a proof of a broken promise (up to that
confidence); a bound below it proves nothing, but a bug by a factor of two is seen in some tens of
thousands of runs at epsilon = 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from stoic.core import Floats, integer, real
from stoic.errors import InvalidParameter

__all__ = ["Audit", "audit", "audit_outcomes", "epsilon_lower_bound", "runs_needed"]

Outcome = Hashable

_MOST_CATEGORIES = 64  # more distinct numbers than this are judged by thresholds
_THRESHOLDS = 60


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found.

    ``epsilon`` is the lower bound; ``event`` says which outcomes gave it, ``frequencies`` how often
    they came up on the two inputs among ``judged`` runs each.
    """

    epsilon: float
    event: str
    frequencies: tuple[float, float]
    judged: int
    confidence: float


def epsilon_lower_bound(hits: int, other_hits: int, runs: int, *, confidence: float) -> float:
    """Clopper-Pearson lower bound on ``log(p / q)`` from hits in ``runs`` runs of each input.

    >>> round(epsilon_lower_bound(5000, 1839, 10_000, confidence=0.999), 2)
    0.9
    """
    miss = (1 - confidence) / 2
    if hits == 0 or other_hits == runs:
        return 0.0
    p = special.betaincinv(hits, runs - hits + 1, miss)
    q = special.betainccinv(other_hits + 1, runs - other_hits, miss)
    return max(0.0, math.log(p / q))


def audit(
    one: Callable[[], Outcome],
    other: Callable[[], Outcome],
    *,
    runs: int,
    confidence: float = 0.999,
) -> Audit:
    """Lower bound on the epsilon of a mechanism from its outcomes on two neighbouring inputs.

    ``one`` and ``other`` run it once each and return a number or any hashable outcome (an arm
    sequence, say).

    >>> from stoic import SimulatedNoise
    >>> noise = SimulatedNoise(np.random.Generator(np.random.SFC64(1)))
    >>> leaky = lambda total: noise.laplace(total, sensitivity=1, epsilon=1.0)
    >>> audit(lambda: leaky(-1), lambda: leaky(1), runs=20_000).epsilon > 1.5  # truly 2
    True
    """
    runs = integer("runs", runs, at_least=100)
    outcomes, others = ([run() for _ in range(runs)] for run in (one, other))
    return audit_outcomes(outcomes, others, confidence=confidence)


def audit_outcomes(
    one: Sequence[Outcome] | NDArray[Any],
    other: Sequence[Outcome] | NDArray[Any],
    *,
    confidence: float = 0.999,
) -> Audit:
    """The same from outcomes that are already there: as many independent runs of each input.

    >>> rng = np.random.Generator(np.random.SFC64(1))
    >>> one, other = rng.laplace(0, 1, 20_000), rng.laplace(2, 1, 20_000)  # epsilon is 2
    >>> audit_outcomes(one, other).epsilon > 1.5
    True
    """
    confidence = real("confidence", confidence, above=0.5, below=1)
    runs = len(one)
    if len(other) != runs or runs < 100:
        rule = "must be the same for both inputs, at least 100"
        raise InvalidParameter("runs", (runs, len(other)), rule)
    explored = runs // 10
    judged = runs - explored
    scores, other_scores, events = _scored(_listed(one), _listed(other), explored)

    def rank(event: _Event) -> tuple[float, float]:
        hits, other_hits = event.pair(scores[:explored], other_scores[:explored])
        # Add-one smoothing ranks the events where every honest bound is still 0.
        smooth = math.log((hits + 1) / (other_hits + 1))
        return epsilon_lower_bound(hits, other_hits, explored, confidence=confidence), smooth

    event = max(events, key=rank)
    hits, other_hits = event.pair(scores[explored:], other_scores[explored:])
    bound = epsilon_lower_bound(hits, other_hits, judged, confidence=confidence)
    if event.flipped:
        hits, other_hits = other_hits, hits
    return Audit(bound, event.name, (hits / judged, other_hits / judged), judged, confidence)


def runs_needed(epsilon: float, *, confidence: float = 0.999) -> int:
    """Runs of each input that show a loss of twice ``epsilon`` to be more than ``epsilon``.

    For Laplace noise of half the scale that it should have: twice the runs in which the expected
    frequencies would show it.

    >>> runs_needed(1.0), runs_needed(0.1)
    (508, 11888)
    """
    epsilon = real("epsilon", epsilon, above=0)
    judged = 90
    while True:
        # The best event lies beyond one of the two inputs' own values.
        hits, other_hits = judged / 2, judged * math.exp(-2 * epsilon) / 2
        seen = epsilon_lower_bound(
            math.floor(hits), math.ceil(other_hits), judged, confidence=confidence
        )
        if seen > epsilon or judged > 2**60:
            return 2 * math.ceil(judged / 0.9)
        judged = math.ceil(judged * 1.05)


@dataclass(frozen=True, slots=True)
class _Event:
    """Outcomes whose score is at least (or below) a threshold, and which input they speak for."""

    name: str
    threshold: float
    above: bool
    flipped: bool

    def pair(self, scores: Floats, other_scores: Floats) -> tuple[int, int]:
        """Hits on the input that makes the event likelier, and on the other one."""
        hits, other_hits = self._hits(scores), self._hits(other_scores)
        return (other_hits, hits) if self.flipped else (hits, other_hits)

    def _hits(self, scores: Floats) -> int:
        inside = scores >= self.threshold if self.above else scores < self.threshold
        return int(np.count_nonzero(inside))


def _listed(outcomes: Sequence[Outcome] | NDArray[Any]) -> list[Outcome]:
    return outcomes.tolist() if isinstance(outcomes, np.ndarray) else list(outcomes)


def _scored(
    one: list[Outcome], other: list[Outcome], explored: int
) -> tuple[Floats, Floats, list[_Event]]:
    """Every outcome as a number, and the events to choose from; only exploring runs decide."""
    counts, other_counts = Counter(one[:explored]), Counter(other[:explored])
    seen = counts.keys() | other_counts.keys()
    if len(seen) > _MOST_CATEGORIES and all(isinstance(outcome, Real) for outcome in seen):
        scores, other_scores = np.array(one, np.float64), np.array(other, np.float64)
        pooled = np.concatenate([scores[:explored], other_scores[:explored]])
        return scores, other_scores, list(_by_threshold(pooled))
    # By Neyman and Pearson the best events are the most one-sided outcomes, taken together.
    ranked = sorted(
        seen,
        key=lambda outcome: ((counts[outcome] + 1) / (other_counts[outcome] + 1), repr(outcome)),
    )
    places = {outcome: place for place, outcome in enumerate(ranked)}
    scores, other_scores = (
        np.array([places.get(outcome, math.nan) for outcome in outcomes], np.float64)
        for outcomes in (one, other)
    )
    return scores, other_scores, list(_by_rank(len(ranked)))


def _by_threshold(pooled: Floats) -> Iterator[_Event]:
    for threshold in np.unique(np.quantile(pooled, np.linspace(0, 1, _THRESHOLDS + 1))).tolist():
        for flipped in (False, True):
            yield _Event(f"outcome >= {threshold:.6g}", threshold, True, flipped)
            yield _Event(f"outcome < {threshold:.6g}", threshold, False, flipped)


def _by_rank(outcomes: int) -> Iterator[_Event]:
    for size in sorted({*range(1, min(outcomes, _THRESHOLDS) + 1), outcomes}):
        name = f"the {size} outcomes most typical of the "
        yield _Event(f"{name}one input", outcomes - size, above=True, flipped=False)
        yield _Event(f"{name}other input", size, above=False, flipped=True)
