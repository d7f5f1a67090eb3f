"""Radii and thresholds in the rewards' own units: units do not matter, and more of a thing helps.

The estimators' radii are held to what ``docs/theory/proof-profile.md`` says of the formulas; where
that is not everywhere, the strategies stay within.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import stoic
from helpers.policies import generator
from stoic.core import CentralMoment, Moment, RawMoment
from stoic.estimators import PRMC, PRMR, estimate
from stoic.theory import Accuracy

BUILDS = {"prm-r": PRMR.build, "prm-c": PRMC.build}
each_estimator = pytest.mark.parametrize("name", BUILDS)
each_profile = pytest.mark.parametrize("profile", ["proof", "unit"])

sizes = st.integers(2, 10**7)
more_times = st.integers(2, 100)
budgets = st.floats(1e-3, 0.8)
few = st.one_of(st.just(0.0), st.floats(1e-4, 0.13))
failures = st.floats(1e-12, 0.05)
orders = st.floats(2, 8)
scales = st.floats(1e-6, 1e6)
shifts = st.floats(-1e6, 1e6)


def assumed(name: str, k: float, scale: float = 1.0, shift: float = 0.0) -> Moment:
    """Natural units, then ``scale * reward + shift`` (raw moments stay about 0)."""
    if name == "prm-r":
        return RawMoment(k, scale**k)
    return CentralMoment(k, scale**k, (shift - 20 * scale, shift + 20 * scale))


def made(name: str, profile: str, k: float, epsilon: float, alpha: float, **moved: float) -> Any:
    return BUILDS[name](assumed(name, k, **moved), epsilon, alpha, profile)


def falls(before: float, after: float) -> None:
    assert after <= before * (1 + 1e-9)


# --- Units --------------------------------------------------------------------------------------


@each_estimator
@each_profile
@given(n=sizes, epsilon=budgets, alpha=few, failure=failures, k=orders, scale=scales, shift=shifts)
def test_radii_follow_the_scale_and_not_the_origin(
    name: str,
    profile: str,
    n: int,
    epsilon: float,
    alpha: float,
    failure: float,
    k: float,
    scale: float,
    shift: float,
) -> None:
    assume(scale > 1e-6 * abs(shift))  # else the moved range has lost its digits
    natural = made(name, profile, k, epsilon, alpha)
    moved = made(name, profile, k, epsilon, alpha, scale=scale, shift=shift)
    assert moved.radius(n, failure) == pytest.approx(scale * natural.radius(n, failure), rel=1e-9)
    assert moved.threshold(failure) == pytest.approx(natural.threshold(failure), rel=1e-9, abs=1)
    mean, other = (
        Accuracy(moments, epsilon, alpha, profile)
        for moments in (assumed(name, k), assumed(name, k, scale, shift))
    )
    assert other.floor == pytest.approx(scale * mean.floor, rel=1e-9)
    assert other.largest_gap == pytest.approx(scale * mean.largest_gap, rel=1e-6)


@each_estimator
@given(scale=scales, sign=st.sampled_from([1, -1]), seed=st.integers(0, 99))
def test_estimates_follow_the_scale(name: str, scale: float, sign: int, seed: int) -> None:
    rewards = generator(seed).standard_t(3, 512) * 0.5
    values = []
    for by in (1.0, scale):
        estimator = made(name, "unit", 2.0, 0.8, 0.05, scale=by)
        noise = stoic.SimulatedNoise(generator(seed, 1))
        values.append(estimate(estimator, by * rewards, failure=0.05, noise=noise).value / by)
    assert values[0] == pytest.approx(values[1], abs=1e-6)


@given(scale=scales, shift=shifts, seed=st.integers(0, 99))
def test_central_estimates_follow_the_origin_too(scale: float, shift: float, seed: int) -> None:
    assume(scale > 1e-6 * abs(shift))
    rewards = generator(seed).standard_t(3, 512) * 0.5
    found = []
    for by, to in ((1.0, 0.0), (scale, shift)):
        estimator = made("prm-c", "unit", 2.0, 0.8, 0.05, scale=by, shift=to)
        noise = stoic.SimulatedNoise(generator(seed, 1))
        moved = estimate(estimator, by * rewards + to, failure=0.05, noise=noise)
        found.append((moved.value - to) / by)
    assert found[0] == pytest.approx(found[1], abs=1e-3)


def test_raw_estimates_do_not_follow_the_origin() -> None:
    # Else the laws above would be empty.
    rewards = generator(1).standard_normal(512)
    estimator = made("prm-r", "unit", 2.0, 0.8, 0.05)
    low, high = (
        estimate(
            estimator, rewards + to, failure=0.05, noise=stoic.SimulatedNoise(generator(2))
        ).value
        for to in (0.0, 100.0)
    )
    assert abs(high - low) < 50


# --- More helps ---------------------------------------------------------------------------------


@each_estimator
@each_profile
@given(n=sizes, times=more_times, epsilon=budgets, alpha=few, failure=failures, k=orders)
def test_more_rewards_give_a_smaller_radius(
    name: str,
    profile: str,
    n: int,
    times: int,
    epsilon: float,
    alpha: float,
    failure: float,
    k: float,
) -> None:
    estimator = made(name, profile, k, epsilon, alpha)
    falls(estimator.radius(n, failure), estimator.radius(min(n * times, 10**7), failure))


@each_estimator
@each_profile
@given(n=sizes, budget=st.tuples(budgets, budgets), alpha=few, failure=failures, k=orders)
def test_a_larger_budget_gives_a_smaller_radius(
    name: str,
    profile: str,
    n: int,
    budget: tuple[float, float],
    alpha: float,
    failure: float,
    k: float,
) -> None:
    less, more = (made(name, profile, k, epsilon, alpha) for epsilon in sorted(budget))
    capped = n * min(budget) * alpha >= math.log(1 / failure)
    if name == "prm-r" or profile == "unit" or alpha == 0 or capped:
        falls(less.radius(n, failure), more.radius(n, failure))
    assert more.threshold(failure) <= less.threshold(failure)


@each_estimator
@each_profile
@given(
    times=st.floats(1, 100), epsilon=budgets, alphas=st.tuples(few, few), failure=failures, k=orders
)
def test_more_outliers_give_a_larger_radius(
    name: str,
    profile: str,
    times: float,
    epsilon: float,
    alphas: tuple[float, float],
    failure: float,
    k: float,
) -> None:
    low, high = sorted(alphas)
    n = 1000
    if name == "prm-c" and profile == "proof":  # there it takes many rewards, and some outliers
        low, high = max(low, 1e-4), max(high, 1e-4)
        n = 100 * (math.log(16 / failure) + math.log(4 / failure) / epsilon) / low
    few_outliers, many = (made(name, profile, k, epsilon, alpha) for alpha in (low, high))
    n = int(n * times)
    falls(many.radius(n, failure), few_outliers.radius(n, failure))


@each_estimator
@each_profile
@given(n=sizes, epsilon=budgets, alpha=few, pair=st.tuples(failures, failures), k=st.floats(2, 2.5))
def test_more_certainty_needs_a_larger_radius_and_more_rewards(
    name: str,
    profile: str,
    n: int,
    epsilon: float,
    alpha: float,
    pair: tuple[float, float],
    k: float,
) -> None:
    rare, often = sorted(pair)
    estimator = made(name, profile, k, epsilon, alpha)
    uncapped = n * epsilon * alpha < math.log(1 / rare)
    if name == "prm-r" or profile == "unit" or alpha == 0 or not uncapped:
        falls(estimator.radius(n, rare), estimator.radius(n, often))
    assert estimator.threshold(often) <= estimator.threshold(rare)


@each_profile
@given(n=sizes, epsilon=budgets, alpha=few, failure=failures)
def test_what_is_shown_is_never_less_than_the_formula(
    profile: str, n: int, epsilon: float, alpha: float, failure: float
) -> None:
    """The estimators' radii have half a step of the fixed-point grid on top, and no more."""
    for name in BUILDS:
        estimator = made(name, profile, 2.0, epsilon, alpha)
        formula = float(Accuracy(assumed(name, 2.0), epsilon, alpha, profile).radius(n, failure))
        step = estimator.query(n, failure).half_width / 2**30
        shown = estimator.radius(n, failure)
        assert formula <= shown <= (formula + step) * (1 + 1e-12)
