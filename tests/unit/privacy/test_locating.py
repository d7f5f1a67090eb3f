import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from helpers.spy import exact
from stoic.privacy.queries import Histogram, WindowCounts

BINS = Histogram(lo=0.0, width=2.0, bins=3, epsilon=1.0)
WINDOWS = WindowCounts(lo=0.0, step=1.0, windows=5, half_width=1.0, epsilon=1.0)


def counts(windows, rewards):
    return np.cumsum(windows.add(windows.empty(), np.array(rewards)))[: windows.windows].tolist()


def test_bins_hold_their_left_end_and_not_their_right_one():
    edges = [0.0, 2.0, 4.0, np.nextafter(2.0, 0), np.nextafter(4.0, 0)]
    assert BINS.add(BINS.empty(), np.array(edges)).tolist() == [2, 2, 1]


def test_edge_bins_take_all_that_lies_beyond_them():
    beyond = np.array([-0.1, -1e308, -np.inf, 6.0, 1e308, np.inf])
    assert BINS.add(BINS.empty(), beyond).tolist() == [3, 0, 3]


def test_nan_is_in_no_bin():
    assert BINS.add(BINS.empty(), np.array([np.nan, 3.0, np.nan])).tolist() == [0, 1, 0]


def test_the_left_end_of_the_fullest_bin_is_released():
    assert exact(BINS, [1.0, 3.0, 3.5, 5.0]) == 2.0
    assert exact(BINS, [1.0, 5.0, np.inf]) == 4.0


def test_windows_hold_both_of_their_ends():
    assert counts(WINDOWS, [2.0]) == [0, 1, 1, 1, 0]
    assert counts(WINDOWS, [np.nextafter(2.0, 3)]) == [0, 0, 1, 1, 0]


def test_windows_hold_nothing_beyond_the_last_and_nothing_infinite():
    assert counts(WINDOWS, [-1.0, 5.0]) == [1, 0, 0, 0, 1]
    assert counts(WINDOWS, [-1.1, 5.1, np.inf, -np.inf, np.nan, 1e308]) == [0] * 5


def test_the_centre_of_the_fullest_window_is_released():
    assert exact(WINDOWS, [1.9, 2.1, 3.0, -50.0]) == 2.0
    assert exact(WINDOWS, [3.9, 4.1, 4.2]) == 4.0


@given(
    rewards=st.lists(st.integers(-40, 200), max_size=20),
    half_width=st.integers(0, 40),
    step=st.integers(1, 20),
)
def test_counts_of_windows_are_what_counting_one_by_one_gives(rewards, half_width, step):
    windows = WindowCounts(lo=0.0, step=step, windows=9, half_width=half_width, epsilon=1.0)
    found = [sum(abs(x - j * step) <= half_width for x in rewards) for j in range(9)]
    assert counts(windows, np.array(rewards, dtype=np.float64)) == found


@pytest.mark.parametrize("mechanism", [BINS, WINDOWS])
def test_counts_reach_2_to_the_62_exactly(mechanism):
    total = mechanism.add(mechanism.empty(), (np.array([3.0, 2.5]), np.array([2**61, 2**61 - 1])))
    assert total.max() == 2**62 - 1 if mechanism is BINS else np.cumsum(total).max() == 2**62 - 1
