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

import dataclasses
import itertools
import json
import math
import numbers
from collections.abc import Iterable
from typing import (
    Any,
    Literal,
    Protocol,
    TypeVar,
    cast,
    dataclass_transform,
    get_args,
    runtime_checkable,
)

import numpy as np
from numpy.typing import NDArray

from stoic.errors import InvalidParameter, InvalidState

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

Goal = Literal["max", "min"]
Privacy = Literal["central", "local", "none"]
Floats = NDArray[np.float64]

_Class = TypeVar("_Class", bound=type)
_KINDS: dict[str, type] = {}
_LARGEST = 1e100  # of means and scales


# --- Frozen values and their JSON ---------------------------------------------------------------


@dataclass_transform(frozen_default=True)
def value(cls: _Class) -> _Class:
    """Turn a class into a frozen dataclass with slots that :func:`dumps` and :func:`loads` know.

    The class name is the ``kind`` written to JSON, so it must be unique, and no field may be
    called ``kind``. Reading a value back needs the module that defines it to be imported.

    >>> @value
    ... class Temperature:
    ...     celsius: float
    >>> dumps(Temperature(36.6))
    '{"kind": "Temperature", "celsius": 36.6}'
    """
    made: Any = dataclasses.dataclass(frozen=True, slots=True)(cls)
    if "kind" in made.__slots__:
        raise InvalidParameter("class", made.__qualname__, "no field may be called 'kind'")
    known = _KINDS.get(made.__name__)
    if known is not None and known.__module__ != made.__module__:
        raise InvalidParameter("class", made.__qualname__, "another value type has this name")
    _KINDS[made.__name__] = made
    return cast(_Class, made)


def settle(instance: object, **checked: object) -> None:
    """Store validated fields of a frozen value (only for use in ``__post_init__``).

    >>> @value
    ... class Percentage:
    ...     part: float
    ...
    ...     def __post_init__(self):
    ...         settle(self, part=real("part", self.part, at_least=0, at_most=100))
    >>> Percentage(50).part
    50.0
    """
    for name, field in checked.items():
        object.__setattr__(instance, name, field)


def _to_plain(item: Any) -> Any:
    cls = type(item)
    if _KINDS.get(cls.__name__) is cls:
        fields = {f.name: _to_plain(getattr(item, f.name)) for f in dataclasses.fields(cls)}
        return {"kind": cls.__name__, **fields}
    if isinstance(item, tuple):
        return [_to_plain(part) for part in item]
    if item is None or isinstance(item, (bool, int, float, str)):
        return _finite(item)
    raise InvalidState(f"a {cls.__name__} cannot be stored as JSON")


def _from_plain(item: Any) -> Any:
    if isinstance(item, list):
        return tuple(_from_plain(part) for part in item)
    if isinstance(item, dict):
        kind = item.get("kind")
        cls = _KINDS.get(kind) if isinstance(kind, str) else None
        if cls is None:
            raise InvalidState(f"kind = {kind!r}: not a kind of value that has been defined")
        fields = {name: _from_plain(part) for name, part in item.items() if name != "kind"}
        expected = {f.name for f in dataclasses.fields(cls)}
        if fields.keys() != expected:
            wrong = sorted(fields.keys() ^ expected)
            raise InvalidState(f"kind = {cls.__name__!r}: missing or unknown fields {wrong}")
        try:
            return cls(**fields)
        except Exception as error:  # whatever a constructor says to fields of the wrong types
            raise InvalidState(f"kind = {cls.__name__!r}: {error}") from error
    return _finite(item)


def _finite(item: Any) -> Any:
    if isinstance(item, float) and not math.isfinite(item):
        raise InvalidState("JSON has no NaN and no infinity")
    return item


def dumps(item: object) -> str:
    """JSON text of a value (or a tuple of values). Floats keep every bit, integers every digit.

    >>> dumps(PrivacyBudget(0.5))
    '{"kind": "PrivacyBudget", "epsilon": 0.5}'
    """
    return json.dumps(_to_plain(item))


def loads(text: str) -> Any:
    """The value that :func:`dumps` wrote; anything else is :class:`~stoic.errors.InvalidState`.

    >>> loads('{"kind": "PrivacyBudget", "epsilon": 0.5}')
    PrivacyBudget(epsilon=0.5)
    """
    try:
        return _from_plain(json.loads(text))
    except InvalidState:
        raise
    except (TypeError, ValueError, RecursionError) as error:  # also digits beyond what int() takes
        raise InvalidState(f"not JSON: {error}") from error


# --- Checks -------------------------------------------------------------------------------------


def real(
    name: str,
    number: object,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    at_least: float = -math.inf,
    at_most: float = math.inf,
) -> float:
    """The parameter as a finite float within the stated bounds, or an error that names the rule.

    >>> real("delta", 1, above=0, below=1)
    Traceback (most recent call last):
        ...
    stoic.errors.InvalidParameter: delta = 1: must be a finite number, > 0, < 1
    """
    rules = [
        f"{sign} {bound:g}"
        for sign, bound in ((">", above), (">=", at_least), ("<", below), ("<=", at_most))
        if math.isfinite(bound)
    ]
    rule = "must be a finite number" + "".join(f", {part}" for part in rules)
    try:
        checked = float(_number(number))
    except (TypeError, OverflowError):
        raise InvalidParameter(name, number, rule) from None
    in_bounds = above < checked < below and at_least <= checked <= at_most
    if not (math.isfinite(checked) and in_bounds):
        raise InvalidParameter(name, number, rule)
    return checked


def integer(name: str, number: object, *, at_least: int) -> int:
    """The parameter as an int, or an error that names the rule (5.0 counts; 5.5, True do not).

    >>> integer("arms", 5.0, at_least=1)
    5
    """
    rule = f"must be an integer, >= {at_least}"
    try:
        checked = int(_number(number))
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameter(name, number, rule) from None
    if checked != number or checked < at_least:
        raise InvalidParameter(name, number, rule)
    return checked


def _number(item: object) -> Any:
    """The item if it is a real number of Python or NumPy: no bool, no text, no array."""
    if isinstance(item, bool) or not isinstance(item, numbers.Real):
        raise TypeError
    return item


def choice(name: str, picked: object, allowed: Iterable[str]) -> str:
    """The parameter if it is one of the allowed words, or an error that lists them.

    >>> choice("goal", "max", ("max", "min"))
    'max'
    """
    options = tuple(allowed)
    if not isinstance(picked, str) or picked not in options:
        raise InvalidParameter(name, picked, f"must be one of {', '.join(options)}")
    return picked


# --- Assumptions --------------------------------------------------------------------------------


@value
class RawMoment:
    """``E|X|^k <= bound`` for every arm's clean reward.

    >>> RawMoment(k=2, bound=10_005).scale
    100.024996875781
    """

    k: float
    bound: float

    def __post_init__(self) -> None:
        settle(self, k=real("k", self.k, above=1), bound=real("bound", self.bound, above=0))
        _check_scale(self.k, self.bound)

    @property
    def scale(self) -> float:
        """One natural unit: ``bound**(1/k)``."""
        return math.pow(self.bound, 1 / self.k)

    @property
    def middle(self) -> float:
        """The point about which this assumption is symmetric: 0."""
        return 0.0


@value
class CentralMoment:
    """``E|X - mean|^k <= bound`` for every arm's clean reward, its mean known to lie in a range.

    >>> moments = CentralMoment(k=2, bound=5, mean_range=(0, 100))
    >>> moments.middle, round(moments.half_range, 2)
    (50.0, 22.36)
    """

    k: float
    bound: float
    mean_range: tuple[float, float]

    def __post_init__(self) -> None:
        try:
            lo, hi = self.mean_range
        except (TypeError, ValueError):
            raise InvalidParameter(
                "mean_range", self.mean_range, "must be a pair (lo, hi)"
            ) from None
        lo = real("mean_range[0]", lo, at_least=-_LARGEST)
        hi = real("mean_range[1]", hi, at_most=_LARGEST)
        if not lo < hi:
            raise InvalidParameter("mean_range", (lo, hi), "must be a pair (lo, hi) with lo < hi")
        k, bound = real("k", self.k, above=1), real("bound", self.bound, above=0)
        settle(self, k=k, bound=bound, mean_range=(lo, hi))
        _check_scale(k, bound)

    @property
    def scale(self) -> float:
        """One natural unit: ``bound**(1/k)``."""
        return math.pow(self.bound, 1 / self.k)

    @property
    def middle(self) -> float:
        """The midpoint of the mean range."""
        lo, hi = self.mean_range
        return lo + (hi - lo) / 2

    @property
    def half_range(self) -> float:
        """Half the mean range in natural units (the paper's D)."""
        lo, hi = self.mean_range
        return (hi - lo) / 2 / self.scale

    def as_raw(self) -> RawMoment:
        """The raw moment bound that this implies, for policies that need one.

        Exact at k = 2 (``E X^2 = Var X + mean^2``), Minkowski's inequality elsewhere.

        >>> CentralMoment(k=2, bound=5, mean_range=(0, 100)).as_raw()
        RawMoment(k=2.0, bound=10005.0)
        """
        farthest = max(abs(end) for end in self.mean_range)
        if self.k == 2:
            return RawMoment(2, self.bound + farthest**2)
        try:
            return RawMoment(self.k, (self.scale + farthest) ** self.k)
        except OverflowError:
            rule = f"too far from 0 for a raw moment of order {self.k:g}"
            raise InvalidParameter("mean_range", self.mean_range, rule) from None


Moment = RawMoment | CentralMoment


def _check_scale(k: float, bound: float) -> None:
    # Fixed-point sums divide by multiples of the scale; keep those quotients ordinary floats.
    if not 1 / _LARGEST < math.pow(bound, 1 / k) < _LARGEST:
        raise InvalidParameter("bound", bound, "bound**(1/k) must lie between 1e-100 and 1e100")


@value
class Contamination:
    """Huber contamination: each reward is arbitrary garbage with probability ``alpha``.

    >>> Contamination(0.05).alpha
    0.05
    """

    alpha: float

    def __post_init__(self) -> None:
        settle(self, alpha=real("alpha", self.alpha, at_least=0, below=1))


@value
class PrivacyBudget:
    """Pure differential privacy: what each single reward may cost, over the whole experiment.

    Below 1e-6 the noise of a fixed-point sum would soon outgrow 64 bits; at 1e12 there is none
    left.

    >>> PrivacyBudget(1.0).epsilon
    1.0
    """

    epsilon: float

    def __post_init__(self) -> None:
        settle(self, epsilon=real("epsilon", self.epsilon, at_least=1e-6, at_most=1e12))


# --- Plans and releases -------------------------------------------------------------------------


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
    a plan asks nothing. An arm that is asked something has a slot in every fold.

    >>> Plan(arms=(2, 0), pulls=(3, 2)).deal(0, 5)
    array([0, 1, 0, 1, 0])
    """

    arms: tuple[int, ...]
    pulls: tuple[int, ...]
    queries: tuple[Query, ...] = ()
    shuffle: int | None = None

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
        elif pulls and (
            pulls[0] - pulls[-1] > 1 or any(a < b for a, b in itertools.pairwise(pulls))
        ):
            raise InvalidParameter(
                "pulls", pulls, "must differ by at most one, the larger first (round robin)"
            )

    def _check_queries(self) -> None:
        if self.shuffle is not None:
            raise InvalidParameter("shuffle", self.shuffle, "a shuffled plan asks no queries")
        if len(self.queries) != len(self.arms) or not all(
            isinstance(query, Query) for query in self.queries
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


def choice_of_goal(goal: object) -> Goal:
    """``"max"`` (rewards) or ``"min"`` (costs).

    >>> choice_of_goal("min")
    'min'
    """
    return cast(Goal, choice("goal", goal, get_args(Goal)))
