import numpy as np
import pytest

import stoic
from helpers.spy import Spy
from stoic.core import Query, dumps, loads
from stoic.errors import InvalidParameter
from stoic.privacy.queries import (
    GRID,
    ClippedMean,
    Histogram,
    RecentredMean,
    TruncatedMean,
    Unprotected,
    WindowCounts,
    answer,
    fold_sizes,
    tame,
)

BINS = Histogram(lo=0.0, width=2.0, bins=50, epsilon=0.5)
CHAIN = RecentredMean(BINS, half_width=8.0)
QUERIES = [
    CHAIN,
    BINS,
    TruncatedMean(0.0, 1.0, 0.5),
    ClippedMean(0.0, 1.0, 0.5),
    WindowCounts(0.0, 1.0, 9, 1.0, 0.5),
]


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
def test_every_query_keeps_the_protocol_and_goes_to_json_and_back(query):
    assert isinstance(query, Query)
    assert loads(dumps(query)) == query


def test_folds_share_out_all_positions():
    assert [fold_sizes(n, 2) for n in range(4)] == [(0, 0), (1, 0), (1, 1), (2, 1)]
    assert fold_sizes(7, 1) == (7,)


def test_the_first_fold_locates_and_the_second_is_averaged_about_its_release():
    spy = Spy()
    located, mean = answer(CHAIN, [[np.full(3, 21.0)], [np.full(3, 23.0)]], [3, 3], noise=spy)
    assert (located.mechanism, located.value, located.epsilon) == ("histogram", 20.0, 0.5)
    assert (mean.mechanism, mean.value, mean.epsilon) == ("truncated-mean", 23.0, 0.5)


def test_no_reward_of_one_fold_reaches_the_total_of_the_other():
    folds = [[np.full(3, 21.0)], [np.full(3, 23.0)]]
    spy = Spy()
    answer(CHAIN, folds, [3, 3], noise=spy)
    for fold, unmoved in ((0, 1), (1, 0)):
        changed = [list(blocks) for blocks in folds]
        changed[fold] = [np.array([21.5, 21.0, 21.0])]  # another value; the same bin in fold 0
        other = Spy()
        answer(CHAIN, changed, [3, 3], noise=other)
        assert np.array_equal(spy.calls[unmoved][0], other.calls[unmoved][0])
    assert spy.calls[1][0] == [3 * 3 * GRID // 8]


def test_blocks_of_a_fold_are_added_up():
    halves = [[np.array([1.0, 2.0]), np.array([6.0])]]
    (release,) = answer(TruncatedMean(0.0, 8.0, 0.5), halves, [3], noise=Spy())
    assert release.value == 3.0


def test_an_empty_fold_still_has_a_release():
    releases = answer(CHAIN, [[], []], [4, 4], noise=Spy())
    assert [release.value for release in releases] == [0.0, 0.0]
    assert [release.n for release in releases] == [4, 4]


@pytest.mark.parametrize("sizes", [(3,), (3, 0), (3, -1), (3, 2**62 + 1), (1, 2, 3)], ids=str)
def test_sizes_that_are_not_one_number_of_slots_for_each_fold_are_refused(sizes):
    with pytest.raises(InvalidParameter, match="sizes"):
        answer(CHAIN, [[], []], sizes, noise=Spy())


def test_numpy_integers_are_sizes_too():
    # NumPy would refuse to divide sums beyond 64 bits.
    blocks = [[(np.array([1.0]), np.array([2**62]))]]
    (release,) = answer(TruncatedMean(0.0, 1.0, 0.5), blocks, [np.int64(2**62)], noise=Spy())
    assert release.value == 1.0


def test_only_a_histogram_locates():
    with pytest.raises(InvalidParameter, match="locate"):
        RecentredMean(TruncatedMean(0.0, 1.0, 0.5), 8.0)
    with pytest.raises(InvalidParameter, match="half_width"):
        RecentredMean(BINS, -8.0)


def test_every_centre_that_may_be_released_is_one_that_the_mean_accepts():
    for lo, width, bins in ((-1e200, 1e200, 3), (1e200, 5e-324, 10**6), (-1e200, 1e-200, 2)):
        chain = RecentredMean(Histogram(lo, width, bins, 0.5), 1.0)
        for rewards in ([-np.inf], [np.inf], [np.nan]):
            releases = answer(chain, [[np.array(rewards)]] * 2, [1, 1], noise=Spy())
            assert chain.mechanism(1, releases).centre == releases[0].value


# --- Openly not private -------------------------------------------------------------------------


class Everything:
    """A statistic that remembers what it saw."""

    name = "everything"

    def compute(self, values):
        self.seen = values
        return 0.0


def seen(blocks, n):
    statistic = Everything()
    unused = stoic.SimulatedNoise(np.random.Generator(np.random.SFC64(1)))
    (release,) = answer(Unprotected(statistic), [blocks], [n], noise=unused)
    assert release.epsilon is None
    return statistic.seen


def test_a_statistic_sees_sorted_rewards_and_zeros_for_the_missing():
    assert seen([np.array([3.0, -1.0]), np.array([2.0])], 5).tolist() == [-1.0, 0.0, 0.0, 2.0, 3.0]


def test_a_statistic_sees_garbage_tamed():
    garbage = np.array([np.nan, np.inf, -np.inf, 1e101])
    assert tame(garbage).tolist() == [0.0, 1e100, -1e100, 1e100]
    assert seen([garbage], 4).tolist() == [-1e100, 0.0, 1e100, 1e100]


def test_a_statistic_sees_the_same_bits_whatever_the_order():
    zeros = np.array([0.0, -0.0, -0.0, 0.0, -1.0])
    one, other = seen([zeros], 5), seen([zeros[::-1]], 5)
    assert one.tobytes() == other.tobytes()


def test_counts_are_repeated_for_a_statistic():
    assert seen([(np.array([2.0, 1.0]), np.array([2, 1]))], 3).tolist() == [1.0, 2.0, 2.0]


def test_later_changes_of_an_array_do_not_reach_a_statistic():
    rewards = np.array([1.0])
    statistic = Unprotected(Everything())
    total = statistic.add(statistic.empty(), rewards)
    rewards[0] = 9.0
    assert statistic.merge(total, ())[0].tolist() == [1.0]
