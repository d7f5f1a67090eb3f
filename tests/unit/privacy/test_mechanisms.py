"""What every mechanism keeps, for any rewards at all."""

import functools
import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import stoic
from helpers.spy import Spy
from stoic.errors import InvalidParameter, InvalidReward
from stoic.privacy.queries import ClippedMean, Histogram, TruncatedMean, WindowCounts

MECHANISMS = [
    TruncatedMean(centre=0.5, half_width=2.0, epsilon=1.0),
    ClippedMean(centre=0.5, half_width=2.0, epsilon=1.0),
    Histogram(lo=-2.0, width=0.75, bins=6, epsilon=1.0),
    WindowCounts(lo=-2.0, step=0.3, windows=15, half_width=0.7, epsilon=1.0),
]
HUGE = [  # at the ends of what may be configured
    mechanism
    for epsilon, size, centre in itertools.product((1e-6, 1e12), (1e-200, 1e198), (-1e200, 1e199))
    for mechanism in (
        TruncatedMean(centre, size, epsilon),
        ClippedMean(centre, size, epsilon),
        Histogram(centre, size, 3, epsilon),
        WindowCounts(centre, size, 3, 10 * size, epsilon),
    )
]
NOISES = {
    "simulated": stoic.SimulatedNoise(np.random.Generator(np.random.SFC64(1))),
    "secure": stoic.SecureNoise(),
}

near = st.floats(-4.0, 4.0)
anything = st.floats() | near  # NaN, infinities, subnormals; and many inside the range
each_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)


def total_of(mechanism, blocks):
    return functools.reduce(mechanism.add, blocks, mechanism.empty())


def released(mechanism, rewards):
    """What the noise was asked to protect."""
    spy = Spy()
    mechanism.release(mechanism.add(mechanism.empty(), np.array(rewards)), 9, noise=spy)
    return spy


# --- Sensitivity --------------------------------------------------------------------------------


@each_mechanism
@given(rewards=st.lists(anything, min_size=1, max_size=5), other=anything)
def test_changing_one_reward_moves_the_total_by_the_sensitivity_at_most(mechanism, rewards, other):
    one, neighbour = released(mechanism, rewards), released(mechanism, [other, *rewards[1:]])
    assert one.distance(neighbour) <= 1


@pytest.mark.parametrize(
    ("mechanism", "low", "high", "moved"),
    [
        (TruncatedMean(0.5, 2.0, epsilon=1.0), -1.5, 2.5, 1),
        (TruncatedMean(0.5, 2.0, epsilon=1.0), -1.5, np.nan, 0.5),
        (TruncatedMean(0.5, 2.0, epsilon=1.0), -np.inf, np.inf, 0),
        (ClippedMean(0.5, 2.0, epsilon=1.0), -1.5, 2.5, 1),
        (ClippedMean(0.5, 2.0, epsilon=1.0), -np.inf, np.inf, 1),
        (ClippedMean(0.5, 2.0, epsilon=1.0), np.nan, np.inf, 0.5),
        (Histogram(0.0, 1.0, 4, epsilon=1.0), 0.5, 1.5, 1),
        (Histogram(0.0, 1.0, 4, epsilon=1.0), -np.inf, np.inf, 1),
        (Histogram(0.0, 1.0, 4, epsilon=1.0), np.nan, 0.5, 0.5),
        (WindowCounts(0.0, 0.5, 9, 1.0, epsilon=1.0), 0.5, 2.5, 1),
        (WindowCounts(0.0, 0.5, 9, 1.0, epsilon=1.0), np.nan, 0.5, 1),
        (WindowCounts(0.0, 0.5, 9, 1.0, epsilon=1.0), -np.inf, np.nan, 0),
    ],
)
def test_the_sensitivity_is_attained_and_not_more(mechanism, low, high, moved):
    assert released(mechanism, [low]).distance(released(mechanism, [high])) == moved


@each_mechanism
def test_the_noise_is_asked_for_the_promised_epsilon(mechanism):
    ((_, _, _, epsilon),) = released(mechanism, [1.0]).calls
    assert epsilon == mechanism.epsilon == 1.0


# --- Order and splits ---------------------------------------------------------------------------


@each_mechanism
@given(rewards=st.lists(anything, max_size=12), data=st.data())
def test_any_order_and_any_split_give_the_same_total_bit_for_bit(mechanism, rewards, data):
    whole = mechanism.add(mechanism.empty(), np.array(rewards, dtype=np.float64))
    mixed = np.array(data.draw(st.permutations(rewards)), dtype=np.float64)
    cuts = sorted(data.draw(st.lists(st.integers(0, mixed.size), max_size=4)))
    blocks = np.split(mixed, cuts)
    assert np.array_equal(total_of(mechanism, blocks), whole)
    parts = [mechanism.add(mechanism.empty(), block) for block in blocks]
    left = functools.reduce(mechanism.merge, parts)
    right = functools.reduce(lambda later, part: mechanism.merge(part, later), parts[::-1])
    assert np.array_equal(left, whole)
    assert np.array_equal(right, whole)
    assert np.array_equal(mechanism.merge(left, mechanism.empty()), whole)


@each_mechanism
@given(table=st.lists(st.tuples(anything, st.integers(0, 5)), max_size=8))
def test_values_with_counts_are_the_same_as_the_values_repeated(mechanism, table):
    values = np.array([value for value, _ in table], dtype=np.float64)
    counts = np.array([times for _, times in table], dtype=np.int64)
    counted = mechanism.add(mechanism.empty(), (values, counts))
    assert np.array_equal(counted, mechanism.add(mechanism.empty(), np.repeat(values, counts)))


@each_mechanism
def test_adding_leaves_rewards_and_earlier_totals_as_they_were(mechanism):
    rewards = np.array([1.0, np.nan, -np.inf, 0.3])
    kept = rewards.copy()
    before = mechanism.add(mechanism.empty(), rewards)
    copy = np.copy(before)
    mechanism.merge(mechanism.add(before, rewards), before)
    assert np.array_equal(rewards, kept, equal_nan=True)
    assert np.array_equal(before, copy)


# --- Nothing raises -----------------------------------------------------------------------------

SIGNALLING = np.array([0x7FF0000000000001], dtype=np.uint64).view(np.float64)
BLOCKS = {
    "float64": np.array([np.nan, np.inf, -np.inf, 1.8e308, -1.8e308, 5e-324, -5e-324, -0.0]),
    "signalling NaN": SIGNALLING,
    "float32": np.array([np.nan, np.inf, 3.4e38, 1e-45], dtype=np.float32),
    "float16": np.array([np.nan, -np.inf, 65504], dtype=np.float16),
    "long double": np.array(
        [np.finfo(np.longdouble).max, np.finfo(np.longdouble).tiny, np.nan], dtype=np.longdouble
    ),
    "int64": np.array([-(2**63), 2**63 - 1]),
    "uint64": np.array([2**64 - 1], dtype=np.uint64),
    "other byte order": np.array([1.0, np.nan], dtype=">f8"),
    "nobody": np.array([]),
    "a number": np.array(3.0),
    "two axes": np.array([[1.0, np.nan], [np.inf, 2.0]]),
    "every other": np.array([1.0, np.nan, np.inf])[::2],
}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("block", BLOCKS)
def test_no_block_of_numbers_raises_or_warns(block, noise):
    rewards = BLOCKS[block]
    counts = np.full(rewards.size, 10**18)
    for mechanism in MECHANISMS + HUGE:
        total = mechanism.add(mechanism.empty(), rewards)
        total = mechanism.add(total, (rewards.ravel(), counts))
        assert np.isfinite(mechanism.release(total, 2**62, noise=NOISES[noise]).value)


@each_mechanism
@given(rewards=st.lists(st.floats(), min_size=1, max_size=5))
def test_every_release_is_finite(mechanism, rewards):
    total = mechanism.add(mechanism.empty(), np.array(rewards))
    assert np.isfinite(mechanism.release(total, 1, noise=NOISES["simulated"]).value)


@each_mechanism
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble, np.int8, np.uint32])
def test_other_types_of_numbers_count_as_their_float64(mechanism, kind):
    rewards = np.array([0, 1, 2, 3], dtype=kind)
    same = mechanism.add(mechanism.empty(), rewards.astype(np.float64))
    assert np.array_equal(mechanism.add(mechanism.empty(), rewards), same)


# --- What is refused ----------------------------------------------------------------------------


@each_mechanism
@pytest.mark.parametrize(
    "block", [["31337"], [31337j], [True], [None, 31337.0], [31337 * 10**70]], ids=str
)
def test_what_is_not_a_block_of_numbers_is_refused_without_showing_it(mechanism, block):
    with pytest.raises(InvalidReward, match="a block holds real numbers") as caught:
        mechanism.add(mechanism.empty(), np.array(block))
    assert "31337" not in str(caught.value)


@each_mechanism
@pytest.mark.parametrize(
    "counts",
    [
        np.array([1, -1]),
        np.array([1]),
        np.array([0.5, 0.5]),
        np.array([1, 2**62 + 1]),
        np.array([1, 2**64 - 1], dtype=np.uint64),  # would be -1 in 64 bits with a sign
    ],
    ids=str,
)
def test_counts_that_do_not_fit_are_refused(mechanism, counts):
    with pytest.raises(InvalidParameter, match="counts"):
        mechanism.add(mechanism.empty(), (np.array([0.31337, 1.0]), counts))


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (TruncatedMean, {"centre": np.nan, "half_width": 1, "epsilon": 1}),
        (TruncatedMean, {"centre": 0, "half_width": 0, "epsilon": 1}),
        (ClippedMean, {"centre": 0, "half_width": np.inf, "epsilon": 1}),
        (ClippedMean, {"centre": 1e201, "half_width": 1, "epsilon": 1}),
        (ClippedMean, {"centre": 0, "half_width": 1, "epsilon": 1e-7}),
        (Histogram, {"lo": 0, "width": 0, "bins": 3, "epsilon": 1}),
        (Histogram, {"lo": 0, "width": 1, "bins": 0, "epsilon": 1}),
        (Histogram, {"lo": 0, "width": 1e199, "bins": 12, "epsilon": 1}),
        (WindowCounts, {"lo": 0, "step": 1, "windows": 2**53 + 1, "half_width": 1, "epsilon": 1}),
        (WindowCounts, {"lo": 0, "step": 1, "windows": 3, "half_width": -1, "epsilon": 1}),
    ],
)
def test_settings_that_could_overflow_a_release_are_refused_when_built(kind, fields):
    with pytest.raises(InvalidParameter):
        kind(**fields)
