"""What moments, samples and instances keep, whatever the parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers.policies import generator
from stoic.core import dumps, loads
from stoic.environments import (
    Bernoulli,
    Discrete,
    Gaussian,
    Huber,
    Instance,
    LogNormal,
    Pareto,
    Point,
    Resampled,
    StudentT,
    instances,
    resampled,
)

indices = st.floats(1.05, 20)
widths = st.floats(1e-3, 1e3)
shifts = st.floats(-1e3, 1e3)
chances = st.floats(0, 1)


def weighed(atoms: dict[float, int]) -> Discrete:
    total = sum(atoms.values())
    return Discrete(tuple(atoms), tuple(times / total for times in atoms.values()))


values = st.floats(-1e6, 1e6).map(lambda one: round(one, 3) + 0.0)
discrete = st.builds(weighed, st.dictionaries(values, st.integers(1, 100), min_size=1, max_size=20))
data = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)
laws = (
    st.builds(Pareto, indices, widths, shifts)
    | st.builds(StudentT, indices, shifts, widths)
    | st.builds(LogNormal, st.floats(-5, 5), st.floats(0.01, 1.5))
    | st.builds(Gaussian, shifts, widths)
    | st.builds(Bernoulli, chances)
    | discrete
    | st.builds(Resampled, data.map(tuple))
)
points = st.builds(Point, st.floats())
sources = laws | points
arms = laws | st.builds(Huber, laws, st.floats(0, 0.999), sources)
wholes = st.builds(
    Instance,
    st.lists(arms, min_size=1, max_size=4).map(tuple),
    st.sampled_from(["max", "min"]),
    st.text(),
)
orders = st.floats(0.1, 8)


# --- Moments ------------------------------------------------------------------------------------


@given(law=laws, ks=st.tuples(orders, orders))
def test_the_norm_of_higher_order_is_never_smaller(law: Any, ks: tuple[float, float]) -> None:
    low, high = sorted(ks)
    for moment in (law.raw_moment, law.central_moment):
        assert moment(low) ** (1 / low) <= moment(high) ** (1 / high) * (1 + 1e-6) + 1e-6


@given(law=laws, k=st.floats(1, 8))
def test_raw_and_central_moments_keep_minkowskis_inequality(law: Any, k: float) -> None:
    raw, central = law.raw_moment(k) ** (1 / k), law.central_moment(k) ** (1 / k)
    if math.isinf(raw) or math.isinf(central):
        assert raw == central
    else:
        assert abs(raw - central) <= abs(law.mean) * (1 + 1e-6) + 1e-6


def moved(law: Any, by: float, scale: float) -> Any:
    """The law of ``by + scale X``."""
    if isinstance(law, Pareto):
        return Pareto(law.shape, scale * law.scale, by + scale * law.shift)
    if isinstance(law, StudentT):
        return StudentT(law.df, by + scale * law.loc, scale * law.scale)
    if isinstance(law, Gaussian):
        return Gaussian(by + scale * law.mean, scale * law.sd)
    return Resampled(tuple(by + scale * reward for reward in law.rewards))


@given(
    law=st.builds(Pareto, indices, widths, shifts)
    | st.builds(StudentT, indices, shifts, widths)
    | st.builds(Gaussian, shifts, widths)
    | st.builds(Resampled, data.map(tuple)),
    by=shifts,
    scale=st.floats(0.1, 10),
    k=orders,
)
def test_moments_follow_a_change_of_scale_and_origin(
    law: Any, by: float, scale: float, k: float
) -> None:
    assume(not isinstance(law, (Pareto, StudentT)) or abs(k - law_index(law)) > 1e-3)
    other = moved(law, by, scale)
    assert other.mean == pytest.approx(by + scale * law.mean, rel=1e-9, abs=1e-6)
    ours, theirs = law.central_moment(k), other.central_moment(k)
    assert theirs ** (1 / k) == pytest.approx(scale * ours ** (1 / k), rel=1e-5, abs=1e-5)


def law_index(law: Any) -> float:
    """Where its moments end."""
    return float(law.shape if isinstance(law, Pareto) else law.df)


@given(rewards=data, k=orders)
def test_moments_of_data_are_those_of_the_data(rewards: list[float], k: float) -> None:
    law = resampled(rewards)
    mean = math.fsum(rewards) / len(rewards)
    size = max(map(abs, rewards))
    assert law.mean == pytest.approx(mean, rel=1e-9, abs=1e-9 * size)
    raw = math.fsum(abs(one) ** k for one in rewards) / len(rewards)
    central = math.fsum(abs(one - mean) ** k for one in rewards) / len(rewards)
    assert law.raw_moment(k) == pytest.approx(raw, rel=1e-9, abs=1e-300)
    found = law.central_moment(k) ** (1 / k)
    assert found == pytest.approx(central ** (1 / k), rel=1e-6, abs=1e-6 * size)


# --- Samples ------------------------------------------------------------------------------------


@given(law=laws, sizes=st.tuples(st.integers(0, 50), st.integers(0, 50)), seed=st.integers(0, 99))
def test_two_samples_are_the_parts_of_a_longer_one(
    law: Any, sizes: tuple[int, int], seed: int
) -> None:
    whole = law.sample(sum(sizes), rng=generator(seed))
    rng = generator(seed)
    parts = np.concatenate([law.sample(n, rng=rng) for n in sizes])
    assert parts.tolist() == whole.tolist()


@given(law=laws, seed=st.integers(0, 99))
def test_every_draw_is_finite_and_in_the_range_of_the_law(law: Any, seed: int) -> None:
    drawn = law.sample(100, rng=generator(seed))
    assert np.isfinite(drawn).all()
    if isinstance(law, Pareto):
        least = law.shift + law.scale
        assert (drawn >= least - 1e-12 * abs(least)).all()
    if isinstance(law, LogNormal):
        assert (drawn > 0).all()
    if isinstance(law, Discrete):
        assert set(drawn.tolist()) <= set(law.values)
    if isinstance(law, Resampled):
        assert set(drawn.tolist()) <= set(law.rewards)


# --- Instances ----------------------------------------------------------------------------------


@given(wholes)
def test_any_instance_comes_back_from_json(instance: Instance) -> None:
    text = dumps(instance)
    again = loads(text)
    assert again == instance
    assert dumps(again) == text


@given(wholes)
def test_gaps_are_those_of_the_clean_means(instance: Instance) -> None:
    means = [getattr(arm, "clean", arm).mean for arm in instance.arms]
    best = max(means) if instance.goal == "max" else min(means)
    assert instance.means.tolist() == means
    assert instance.gaps.tolist() == [abs(best - mean) for mean in means]
    assert means[instance.best] == best


@given(arms=st.integers(2, 9), alpha=st.floats(1e-6, 0.999), k=st.floats(1.05, 8), data=st.data())
def test_equalising_contaminants_leave_nothing_to_see(
    arms: int, alpha: float, k: float, data: Any
) -> None:
    changed = data.draw(st.none() | st.integers(1, arms - 1))
    instance = instances.hard_contaminated(arms, alpha=alpha, k=k, changed=changed)
    reference = instances.hard_contaminated(2, alpha=alpha, k=k).arms[0]
    for arm in instance.arms:
        assert observed(arm) == pytest.approx(observed(reference), rel=1e-12, abs=1e-15)


def observed(arm: Any) -> dict[float, float]:
    """The law of what is observed: ``(1 - alpha) r + alpha G``."""
    mixture: dict[float, float] = {}
    for law, weight in ((arm.clean, 1 - arm.alpha), (arm.contaminant, arm.alpha)):
        for at, chance in zip(*law.atoms(), strict=True):
            mixture[float(at)] = mixture.get(float(at), 0.0) + weight * float(chance)
    return mixture
