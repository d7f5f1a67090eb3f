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
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy import stats

from stoic.core import integer, real

__all__ = ["Audit", "audit", "epsilon_lower_bound"]

Outcome = Hashable
Event = Callable[[Outcome], bool]

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
    p = 0.0 if hits == 0 else float(stats.beta.ppf(miss, hits, runs - hits + 1))
    q = (
        1.0
        if other_hits == runs
        else float(stats.beta.isf(miss, other_hits + 1, runs - other_hits))
    )
    return max(0.0, math.log(p / q)) if p > 0 else 0.0


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
    confidence = real("confidence", confidence, above=0.5, below=1)
    explored = runs // 10
    judged = runs - explored
    name, event, flipped = _choose(
        [one() for _ in range(explored)], [other() for _ in range(explored)], confidence
    )
    hits = _count(event, (one() for _ in range(judged)))
    other_hits = _count(event, (other() for _ in range(judged)))
    pair = (other_hits, hits) if flipped else (hits, other_hits)
    return Audit(
        epsilon_lower_bound(*pair, judged, confidence=confidence),
        name,
        (hits / judged, other_hits / judged),
        judged,
        confidence,
    )


def _count(event: Event, outcomes: Iterable[Outcome]) -> int:
    return sum(map(event, outcomes))


def _choose(
    one: Sequence[Outcome], other: Sequence[Outcome], confidence: float
) -> tuple[str, Event, bool]:
    """The event and direction with the largest lower bound on the exploring runs."""

    def rank(candidate: tuple[str, Event, bool]) -> tuple[float, float]:
        _, event, flipped = candidate
        hits, other_hits = _count(event, one), _count(event, other)
        pair = (other_hits, hits) if flipped else (hits, other_hits)
        # Add-one smoothing ranks the events where every honest bound is still 0.
        smooth = math.log((pair[0] + 1) / (pair[1] + 1))
        return epsilon_lower_bound(*pair, len(one), confidence=confidence), smooth

    events = _candidates(one, other)
    return max(((*named, flipped) for named in events for flipped in (False, True)), key=rank)


def _candidates(one: Sequence[Outcome], other: Sequence[Outcome]) -> Iterable[tuple[str, Event]]:
    counts, other_counts = Counter(one), Counter(other)
    seen = sorted(
        counts.keys() | other_counts.keys(),
        key=lambda outcome: ((counts[outcome] + 1) / (other_counts[outcome] + 1), repr(outcome)),
    )
    numeric = all(isinstance(outcome, Real) for outcome in seen)
    if numeric and len(seen) > _MOST_CATEGORIES:
        pooled = np.array([*one, *other], dtype=np.float64)
        for threshold in np.unique(np.quantile(pooled, np.linspace(0, 1, _THRESHOLDS + 1))):
            yield f"outcome >= {threshold:.6g}", _at_least(float(threshold))
            yield f"outcome < {threshold:.6g}", _less(float(threshold))
        return
    # By Neyman and Pearson the best events are the most one-sided outcomes, taken together.
    for ranked, side in ((seen[::-1], "one"), (seen, "other")):
        for size in sorted({*range(1, min(len(ranked), _THRESHOLDS) + 1), len(ranked)}):
            members = frozenset(ranked[:size])
            yield f"the {size} outcomes most typical of the {side} input", members.__contains__


def _at_least(threshold: float) -> Event:
    return lambda outcome: outcome >= threshold  # type: ignore[operator]


def _less(threshold: float) -> Event:
    return lambda outcome: outcome < threshold  # type: ignore[operator]
