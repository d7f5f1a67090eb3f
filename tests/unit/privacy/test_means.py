import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from helpers.spy import Spy, exact
from stoic.privacy.queries import GRID, ClippedMean, TruncatedMean

MEANS = [TruncatedMean, ClippedMean]
REWARDS = [1.0, 2.5, -1.0, 7.0, np.inf, -np.inf, np.nan]


def test_a_truncated_mean_counts_all_that_is_far_or_no_number_as_its_centre():
    assert exact(TruncatedMean(0.0, 3.0, 1.0), REWARDS) == pytest.approx(2.5 / 7)
    assert exact(TruncatedMean(1.0, 3.0, 1.0), REWARDS) == pytest.approx((1 + 2.5 - 1 + 4) / 7)


def test_a_clipped_mean_counts_what_is_far_as_the_nearer_end():
    assert exact(ClippedMean(0.0, 3.0, 1.0), REWARDS) == pytest.approx((2.5 + 3 + 3 - 3) / 7)
    assert exact(ClippedMean(1.0, 3.0, 1.0), REWARDS) == pytest.approx(
        (1 + 2.5 - 1 + 4 + 4 - 2 + 1) / 7
    )


@pytest.mark.parametrize("mean", MEANS)
def test_a_missing_reward_counts_as_the_centre(mean):
    mechanism = mean(5.0, 2.0, 1.0)
    assert exact(mechanism, [6.0], n=4) == 5.25
    assert exact(mechanism, [6.0, np.nan, np.nan, np.nan]) == 5.25


@pytest.mark.parametrize("mean", MEANS)
def test_both_ends_of_the_range_still_belong_to_it(mean):
    assert exact(mean(5.0, 2.0, 1.0), [7.0]) == 7.0
    assert exact(mean(5.0, 2.0, 1.0), [3.0]) == 3.0


def test_the_two_means_differ_just_beyond_the_range():
    beyond = math.nextafter(7.0, math.inf)
    assert exact(TruncatedMean(5.0, 2.0, 1.0), [beyond]) == 5.0
    assert exact(ClippedMean(5.0, 2.0, 1.0), [beyond]) == 7.0


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("size", [1, 65_535, 65_536, 65_537, 300_000])
def test_sums_over_many_chunks_are_exact(mean, size):
    mechanism = mean(0.0, 1.0, 1.0)
    assert mechanism.add(0, np.ones(size)) == size * GRID
    assert mechanism.add(0, np.resize([1.0, -1.0], size)) == size % 2 * GRID


@pytest.mark.parametrize("mean", MEANS)
def test_sums_of_counts_outgrow_64_bits_without_harm(mean):
    mechanism = mean(0.0, 1.0, 1.0)
    counts = np.array([2**62, 1])
    assert mechanism.add(0, (np.array([1.0, -1.0]), counts)) == (2**62 - 1) * GRID


@pytest.mark.parametrize("mean", MEANS)
@given(
    centre=st.floats(-1e6, 1e6),
    half_width=st.floats(1e-6, 1e6),
    parts=st.lists(st.floats(-1, 1), min_size=1, max_size=20),
)
def test_the_fixed_point_mean_is_half_a_grid_step_from_the_exact_one(
    mean, centre, half_width, parts
):
    mechanism = mean(centre, half_width, 1.0)
    inside = np.clip(
        centre + half_width * np.array(parts), centre - half_width, centre + half_width
    )
    kept = [x for x in inside.tolist() if abs(x - centre) <= half_width] or [centre]
    truth = Fraction(math.fsum(kept)) / len(kept)
    rounding = 8 * np.spacing(abs(centre) + half_width)  # of the release to a float
    assert abs(exact(mechanism, kept) - float(truth)) <= half_width / (2 * GRID) + rounding


@pytest.mark.parametrize("mean", MEANS)
def test_the_noise_is_asked_for_twice_the_grid(mean):
    spy = Spy()
    release = mean(0.0, 10.0, 0.25).release(3 * GRID, 6, noise=spy)
    assert spy.calls == [([3 * GRID], 2 * GRID, 1, 0.25)]
    assert (release.value, release.n, release.epsilon) == (5.0, 6, 0.25)
