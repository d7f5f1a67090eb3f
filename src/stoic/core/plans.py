"""What passes between a policy and whoever plays it: plans, queries and releases."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from stoic.core.assumptions import PrivacyBudget
from stoic.core.checks import integer, real
from stoic.core.values import settle, value
from stoic.errors import InvalidParameter

__all__ = ["Plan", "Query", "Release"]


@value
class Release:
    """One number that left the private side: what, from how many rewards, at which epsilon.

    ``epsilon`` is None for the openly non-private statistics.

    >>> Release("truncated-mean", 12.5, n=64, epsilon=0.5).value
    12.5
    """

    mechanism: str
    value: float
    n: int
    epsilon: float | None

    def __post_init__(self) -> None:
        epsilon = None if self.epsilon is None else PrivacyBudget(self.epsilon).epsilon
        settle(
            self,
            value=real("value", self.value),
            n=integer("n", self.n, at_least=1),
            epsilon=epsilon,
        )


@runtime_checkable
class Query(Protocol):
    """What a plan asks of one arm's rewards: a chain of mechanisms over disjoint folds.

    Position ``i`` of the arm's batch belongs to fold ``i % folds``. The mechanism of a later fold
    may depend on the releases of the earlier ones (:mod:`stoic.privacy.queries`).
    """

    @property
    def folds(self) -> int:
        """Into how many folds the arm's batch is split, and how many releases come back."""
        ...

    def mechanism(self, fold: int, earlier: tuple[Release, ...]) -> Any:
        """What reads this fold, given the releases of the earlier folds."""
        ...


@value
class Plan:
    """One phase: which arms, how many fresh rewards of each, and what is asked of them.

    Slots are dealt round robin in the order of ``arms``, so ``pulls`` may differ by at most one,
    the larger first. A ``shuffle`` seed (public) deals any ``pulls`` in random order instead; such
    a plan asks nothing, and has at most ``MOST_SHUFFLED`` slots because its order is kept in
    memory. An arm that is asked something has a slot in every fold.

    >>> Plan(arms=(2, 0), pulls=(3, 2)).deal(0, 5)
    array([0, 1, 0, 1, 0])
    """

    arms: tuple[int, ...]
    pulls: tuple[int, ...]
    queries: tuple[Query, ...] = ()
    shuffle: int | None = None

    MOST_SHUFFLED: ClassVar[int] = 65_536

    def __post_init__(self) -> None:
        arms, pulls = _integers("arms", self.arms), _integers("pulls", self.pulls)
        queries = _tuple("queries", self.queries)
        settle(self, arms=arms, pulls=pulls, queries=queries)
        if len(set(arms)) != len(arms) or len(pulls) != len(arms):
            raise InvalidParameter("arms", arms, "must be distinct, with one entry of pulls each")
        if queries:
            self._check_queries()
        if self.shuffle is not None:
            settle(self, shuffle=integer("shuffle", self.shuffle, at_least=0))
            if self.size > self.MOST_SHUFFLED:
                rule = f"must be at most {self.MOST_SHUFFLED} in all when shuffled"
                raise InvalidParameter("pulls", pulls, rule)
        elif pulls and (
            pulls[0] - pulls[-1] > 1 or any(a < b for a, b in itertools.pairwise(pulls))
        ):
            raise InvalidParameter(
                "pulls", pulls, "must differ by at most one, the larger first (round robin)"
            )

    def _check_queries(self) -> None:
        if self.shuffle is not None:
            raise InvalidParameter("shuffle", self.shuffle, "a shuffled plan asks no queries")
        distinct = {id(query): query for query in self.queries}.values()  # mostly one for all arms
        if len(self.queries) != len(self.arms) or not all(
            isinstance(query, Query) for query in distinct
        ):
            raise InvalidParameter("queries", self.queries, "must be none, or one for each arm")
        if any(n < query.folds for n, query in zip(self.pulls, self.queries, strict=True)):
            raise InvalidParameter(
                "pulls", self.pulls, "must be at least the number of folds of each query"
            )

    @property
    def size(self) -> int:
        """How many slots the phase has."""
        return sum(self.pulls)

    def deal(self, start: int, stop: int) -> NDArray[np.int64]:
        """Which arm (as an index into ``arms``) each slot from ``start`` to ``stop`` gets."""
        if not 0 <= start <= stop <= self.size:
            rule = f"must be two of the plan's slots 0 to {self.size}, in order"
            raise InvalidParameter("start, stop", (start, stop), rule)
        if self.shuffle is None:
            return np.arange(start, stop) % len(self.arms)
        rng = np.random.Generator(np.random.SFC64(self.shuffle))
        return rng.permuted(np.repeat(np.arange(len(self.arms)), self.pulls))[start:stop]


def _tuple(name: str, items: object) -> tuple[Any, ...]:
    if not isinstance(items, Iterable):
        raise InvalidParameter(name, items, "must be a sequence")
    return tuple(items)


def _integers(name: str, items: object) -> tuple[int, ...]:
    return tuple(integer(name, item, at_least=0) for item in _tuple(name, items))
