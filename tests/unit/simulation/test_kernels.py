"""Compiled rounds are the policy's own rounds."""

from __future__ import annotations

import builtins
import dataclasses
import math
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

import stoic
from helpers.arms import three_arms
from helpers.policies import one_of
from helpers.rounds import shared_rounds
from stoic.environments import Bernoulli, Discrete, Gaussian, Instance, Point
from stoic.policies import UCB1
from stoic.policies.ucb1 import UCB1State
from stoic.simulation import engine, kernels, replicate, streams
from stoic.simulation.kernels import fast_forward

GARBAGE = [Point("nan"), Point("inf"), Point("-inf")]
INSTANCES = {
    "clean": Instance((Gaussian(0.0, 1.0), Gaussian(0.4, 1.0))),
    "nan": three_arms(),
    "garbage": Instance((Gaussian(0.0, 1.0),) * 3).contaminated(0.02, GARBAGE),
    "coins": Instance((Bernoulli(0.2), Bernoulli(0.25), Bernoulli(0.3))),
    "ties": Instance((Discrete((1.0,), (1.0,)),) * 4),
    "costs": Instance((Gaussian(0.0, 1.0), Gaussian(0.4, 1.0)), goal="min"),
    "many": Instance(tuple(Gaussian(i / 50, 1.0) for i in range(50))),
}


@pytest.fixture
def no_numba(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if numba were not installed."""
    original = builtins.__import__

    def without(name: str, *rest: object, **named: object) -> object:
        if name == "numba":
            raise ImportError(name)
        return original(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    kernels._compiled.cache_clear()
    yield
    kernels._compiled.cache_clear()


def ucb1(instance: Instance, horizon: int, scale: float = 1.0) -> UCB1:
    return UCB1(instance.size, horizon, instance.goal, scale)


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_every_round_is_the_reference_policys(name: str, scale: float) -> None:
    instance = INSTANCES[name]
    horizon = 1200
    # Distinct gaps, so that the regret of a round says which arm was played.
    marked = np.arange(instance.size) + 1.0
    played = _arms_by_round(instance, horizon, scale, marked)
    naive = shared_rounds(ucb1(instance, horizon, scale), instance, seed=1, replication=2)
    np.testing.assert_array_equal(played, naive.arms)


def _arms_by_round(
    instance: Instance, horizon: int, scale: float, marked: NDArray[np.float64]
) -> NDArray[np.int64]:
    marking = _Marked(instance, marked)
    result = replicate(
        ucb1(instance, horizon, scale),
        marking,
        replication=2,
        checkpoints=np.arange(1, horizon + 1),
    )
    marks = np.diff(result.regret, prepend=0.0)
    return np.searchsorted(marked, marks)


class _Marked(streams.Streams):
    """The streams of an instance whose gaps are said to be others."""

    def __init__(self, instance: Instance, gaps: NDArray[np.float64]) -> None:
        super().__init__(instance, seed=1)
        marked = dataclasses.make_dataclass("Marked", ["arms", "size", "gaps"])
        self.instance = marked(instance.arms, instance.size, gaps)


@pytest.mark.parametrize("name", INSTANCES)
def test_without_numba_the_numbers_are_the_same(
    name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance, options = INSTANCES[name], {"replications": 2, "seed": 5, "checkpoints": 37}
    compiled = stoic.simulate(ucb1(instance, 800), instance, **options)
    assert kernels._compiled(kernels._ucb1_rounds) is not kernels._ucb1_rounds
    request.getfixturevalue("no_numba")
    plain = stoic.simulate(ucb1(instance, 800), instance, **options)
    assert kernels._compiled(kernels._ucb1_rounds) is kernels._ucb1_rounds
    monkeypatch.setattr(engine, "fast_forward", lambda policy, state, books: state)
    by_phases = stoic.simulate(ucb1(instance, 800), instance, **options)
    for other in (plain, by_phases):
        for field in ("final_regret", "pulls", "eliminated_at", "recommended", "draws"):
            np.testing.assert_array_equal(getattr(other, field), getattr(compiled, field))
        np.testing.assert_allclose(other.regret, compiled.regret, rtol=1e-12, atol=1e-12)


def test_compiled_and_interpreted_rounds_agree_bit_by_bit() -> None:
    compiled = kernels._compiled(kernels._ucb1_rounds)
    rng = np.random.Generator(np.random.SFC64(1))
    for arms in (2, 3, 10):
        books = [_kernel_state(arms, np.random.Generator(np.random.SFC64(arms))) for _ in "ab"]
        scale, horizon = float(rng.exponential()), 500
        ends = [
            rounds(*book[:4], -1, scale, arms, horizon, *book[4:])
            for rounds, book in zip((compiled, kernels._ucb1_rounds), books, strict=True)
        ]
        assert ends[0] == ends[1] > arms
        for one, other in zip(*books, strict=True):
            np.testing.assert_array_equal(one, other)


def _kernel_state(arms: int, rng: np.random.Generator) -> tuple[NDArray[np.generic], ...]:
    ahead = rng.normal(size=(arms, 100))
    left, pulls = np.full(arms, 100), np.ones(arms, dtype=np.int64)
    checkpoints = np.array([arms + 1, 50, 90, 400])
    return ahead, left, pulls, rng.normal(size=arms), checkpoints, np.zeros((4, arms), np.int64)


def test_the_kernel_follows_the_papers_index() -> None:
    """Auer, Cesa-Bianchi, Fischer 2002, worked by hand: two arms of constant rewards."""
    instance = Instance((Discrete((1.0,), (1.0,)), Discrete((0.0,), (1.0,))))
    pulls = [1, 1]
    for spent in range(2, 300):
        index = [
            mean + math.sqrt(2 * math.log(spent) / n)
            for mean, n in zip((1.0, 0.0), pulls, strict=True)
        ]
        pulls[index.index(max(index))] += 1
    result = stoic.simulate(ucb1(instance, 300), instance, replications=3, seed=1)
    assert result.pulls.tolist() == [pulls] * 3


def test_only_policies_with_a_kernel_are_taken_out_of_the_phases_hands() -> None:
    policy = one_of("prae-r")
    state = policy.init()
    assert fast_forward(policy, state, None) is state
    # UCB1 itself deals the first pull of every arm.
    fresh = UCB1State((1, 0), (0.0, 0.0))
    assert fast_forward(UCB1(2, 10, "max", 1.0), fresh, None) is fresh


def test_where_machine_code_cannot_be_stored_it_is_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import numba

    calls = []

    def njit(**options: bool) -> object:
        calls.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return lambda rounds: rounds

    monkeypatch.setattr(numba, "njit", njit)
    kernels._compiled.cache_clear()
    try:
        assert kernels._compiled(kernels._ucb1_rounds) is kernels._ucb1_rounds
    finally:
        kernels._compiled.cache_clear()
    assert calls == [{"nogil": True, "cache": True}, {"nogil": True}]
