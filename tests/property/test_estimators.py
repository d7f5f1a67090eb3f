"""Estimates follow shifts and scales, forget the order, and radii move the right way.

Estimates are compared without noise, to within the rounding of the fixed-point sum.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers.policies import generator
from helpers.spy import Spy
from stoic.core import CentralMoment, RawMoment
from stoic.estimators import ESTIMATORS, STATISTICS, create, estimate
from stoic.privacy.queries import GRID

# Multiples of 1/1024: shifting them by whole numbers and scaling by powers of two is exact.
finite = st.integers(-(2**24), 2**24).map(lambda number: number / 1024)
rows = st.lists(finite, min_size=2, max_size=40).map(np.array)
garbage = st.sampled_from([math.nan, math.inf, -math.inf, 1e300])
dirty = st.lists(finite | garbage, min_size=2, max_size=40).map(np.array)
scales = st.integers(-10, 10).map(lambda power: 2.0**power)
shifts = st.integers(-(2**20), 2**20)
orders = st.floats(1.5, 6)
failures = st.floats(1e-9, 0.4)
profiles = st.sampled_from(["proof", "unit"])

PRIVATE = ["prm-r", "prm-c"]


def value_of(estimator: Any, rewards: Any, failure: float) -> float:
    return estimate(estimator, rewards, failure=failure, noise=Spy()).value


# --- Shift and scale ----------------------------------------------------------------------------


@given(rewards=dirty, scale=scales, k=orders, failure=failures, profile=profiles)
def test_prm_r_follows_a_change_of_scale(
    rewards: Any, scale: float, k: float, failure: float, profile: str
) -> None:
    one, other = (
        create("prm-r", moments=RawMoment(k, unit**k), epsilon=1.0, profile=profile)
        for unit in (8.0, 8.0 * scale)
    )
    cut = one.query(rewards.size, failure).half_width
    assume((np.abs(np.abs(rewards) - cut) > 1e-9 * cut).all())
    found, scaled = value_of(one, rewards, failure), value_of(other, scale * rewards, failure)
    assert scaled == pytest.approx(scale * found, rel=1e-9, abs=2 * scale * cut / GRID)
    assert value_of(one, -rewards, failure) == -found
    radii = [each.radius(rewards.size, failure) for each in (one, other)]
    assert radii[1] == pytest.approx(scale * radii[0], rel=1e-9)


@given(
    rewards=dirty,
    by=shifts,
    scale=scales,
    failure=failures,
    profile=profiles,
    alpha=st.sampled_from([0.0, 0.05]),
)
def test_prm_c_follows_a_change_of_origin_and_scale(
    rewards: Any, by: int, scale: float, failure: float, profile: str, alpha: float
) -> None:
    options = {"epsilon": 1.0, "contamination": alpha, "profile": profile}
    one = create("prm-c", moments=CentralMoment(2, 9, (-100, 200)), **options)
    moved = CentralMoment(2, 9 * scale**2, (scale * (by - 100), scale * (by + 200)))
    other = create("prm-c", moments=moved, **options)
    found = value_of(one, rewards, failure)
    elsewhere = value_of(other, scale * (rewards + by), failure)
    n = rewards.size // 2
    grid = one.query(n, failure).half_width / GRID
    expected = pytest.approx(scale * (found + by), rel=1e-12, abs=2 * scale * grid)
    assert elsewhere == expected
    radii = [each.radius(n, failure) for each in (one, other)]
    assert radii[1] == pytest.approx(scale * radii[0], rel=1e-12)
    assert one.threshold(failure) == other.threshold(failure)


@pytest.mark.parametrize("name", STATISTICS)
@given(rewards=rows, by=shifts, scale=scales, k=orders, failure=failures)
def test_statistics_follow_a_change_of_origin_and_scale(
    name: str, rewards: Any, by: int, scale: float, k: float, failure: float
) -> None:
    one, other = (create(name, moments=RawMoment(k, unit**k)) for unit in (8.0, 8.0 * scale))
    found = value_of(one, rewards, failure)
    elsewhere = value_of(other, scale * (rewards + by), failure)
    size = scale * max(np.abs(rewards).max(), abs(by), 1.0)
    assert elsewhere == pytest.approx(scale * (found + by), rel=1e-6, abs=1e-6 * size)
    assert rewards.min() - 1e-6 * size / scale <= found <= rewards.max() + 1e-6 * size / scale


# --- Order --------------------------------------------------------------------------------------


def built(name: str, profile: str) -> Any:
    options = {"epsilon": 1.0, "profile": profile} if name in PRIVATE else {}
    return create(name, moments=CentralMoment(2, 9, (-100, 200)), **options)


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name != "prm-c"])
@given(rewards=dirty, failure=failures, profile=profiles, seed=st.integers(0, 999))
def test_the_order_of_rewards_does_not_matter(
    name: str, rewards: Any, failure: float, profile: str, seed: int
) -> None:
    estimator = built(name, profile)
    shuffled = generator(seed).permutation(rewards)
    assert value_of(estimator, shuffled, failure) == value_of(estimator, rewards, failure)


@given(rewards=dirty, failure=failures, profile=profiles, seed=st.integers(0, 999))
def test_the_order_within_a_fold_of_prm_c_does_not_matter(
    rewards: Any, failure: float, profile: str, seed: int
) -> None:
    estimator, rng = built("prm-c", profile), generator(seed)
    shuffled = rewards.copy()
    for fold in (0, 1):
        shuffled[fold::2] = rng.permutation(rewards[fold::2])
    assert value_of(estimator, shuffled, failure) == value_of(estimator, rewards, failure)


def test_the_fold_of_a_reward_does_matter() -> None:
    rewards = np.array([50.0, 0.0] * 10)
    one, other = (value_of(built("prm-c", "unit"), each, 0.1) for each in (rewards, rewards[::-1]))
    assert abs(one - other) > 10


# --- Radii --------------------------------------------------------------------------------------

sizes = st.integers(1, 10**7)
budgets = st.floats(1e-3, 1)
factors = st.floats(1, 1e3)
shares = st.floats(1e-4, 0.13)
strong = st.floats(2, 6)  # orders
both = pytest.mark.parametrize("name", PRIVATE)


def radius(
    name: str, profile: str, n: int, *, epsilon: float, alpha: float, k: float, failure: float
) -> float:
    moments = RawMoment(k, 3.0) if name == "prm-r" else CentralMoment(k, 3.0, (-1e3, 1e3))
    options = {"epsilon": epsilon, "contamination": alpha, "profile": profile}
    return float(create(name, moments=moments, **options).radius(n, failure))


def falls(before: float, after: float) -> None:
    assert after <= before * (1 + 1e-9)


@both
@given(
    profile=profiles,
    n=sizes,
    factor=st.integers(1, 1000),
    epsilon=budgets,
    alpha=st.just(0.0) | shares,
    k=strong,
    failure=failures,
)
def test_more_rewards_make_a_radius_smaller(
    name: str,
    profile: str,
    n: int,
    factor: int,
    epsilon: float,
    alpha: float,
    k: float,
    failure: float,
) -> None:
    setting = {"epsilon": epsilon, "alpha": alpha, "k": k, "failure": failure}
    falls(radius(name, profile, n, **setting), radius(name, profile, n * factor, **setting))


@both
@given(profile=profiles, n=sizes, factor=factors, epsilon=budgets, k=strong, failure=failures)
def test_a_larger_budget_makes_a_radius_smaller(
    name: str, profile: str, n: int, factor: float, epsilon: float, k: float, failure: float
) -> None:
    # With outliers the proof's raw radius has an exception, which its own tests show.
    more, failure = min(1.0, epsilon * factor), min(failure, 0.25)
    for alpha in (0.0, 0.05) if profile == "unit" else (0.0,):
        setting = {"alpha": alpha, "k": k, "failure": failure}
        falls(
            radius(name, profile, n, epsilon=epsilon, **setting),
            radius(name, profile, n, epsilon=more, **setting),
        )


@both
@given(
    profile=profiles,
    factor=factors,
    epsilon=budgets,
    alphas=st.tuples(shares, shares),
    k=strong,
    failure=failures,
)
def test_more_outliers_make_a_radius_larger(
    name: str,
    profile: str,
    factor: float,
    epsilon: float,
    alphas: tuple[float, float],
    k: float,
    failure: float,
) -> None:
    # From some n on: before, a smaller cut may be worth more than the outliers that it keeps out.
    less, more = sorted(alphas)
    many = factor * 100 * (math.log(16 / failure) + math.log(4 / failure) / epsilon) / less
    setting = {"epsilon": epsilon, "k": k, "failure": failure}
    found = [radius(name, profile, math.ceil(many), alpha=one, **setting) for one in (less, more)]
    falls(found[1], found[0])


@both
@given(profile=profiles, n=sizes, factor=factors, epsilon=budgets, k=strong, failure=failures)
def test_more_confidence_makes_a_radius_larger(
    name: str, profile: str, n: int, factor: float, epsilon: float, k: float, failure: float
) -> None:
    more = min(16 ** (-1 / (k - 1)), failure * factor)
    assume(failure < more)
    for alpha in (0.0, 0.05) if profile == "unit" else (0.0,):
        setting = {"epsilon": epsilon, "alpha": alpha, "k": k}
        falls(
            radius(name, profile, n, failure=failure, **setting),
            radius(name, profile, n, failure=more, **setting),
        )


@both
@given(profile=profiles, epsilon=budgets, factor=factors, alpha=shares, failure=failures)
def test_thresholds_fall_with_the_budget_and_rise_with_confidence(
    name: str, profile: str, epsilon: float, factor: float, alpha: float, failure: float
) -> None:
    moments = CentralMoment(2, 3.0, (-1e3, 1e3))
    options = {"moments": moments, "contamination": alpha, "profile": profile}
    one = create(name, epsilon=epsilon, **options)
    other = create(name, epsilon=min(1.0, epsilon * factor), **options)
    falls(one.threshold(failure), other.threshold(failure))
    falls(one.threshold(failure), one.threshold(min(0.9, failure * factor)))


@pytest.mark.parametrize("name", STATISTICS)
@given(
    n=sizes,
    factor=st.integers(1, 1000),
    alphas=st.tuples(shares, shares),
    k=orders,
    failure=failures,
    more=factors,
)
def test_radii_of_statistics_move_the_right_way(
    name: str,
    n: int,
    factor: int,
    alphas: tuple[float, float],
    k: float,
    failure: float,
    more: float,
) -> None:
    low, high = sorted(alphas)
    one, other = (create(name, moments=RawMoment(k, 3.0), contamination=a) for a in (low, high))
    falls(one.radius(n, failure), one.radius(n * factor, failure))
    falls(one.radius(n, failure), one.radius(n, min(0.99, failure * more)))
    falls(other.radius(n, failure), one.radius(n, failure))
