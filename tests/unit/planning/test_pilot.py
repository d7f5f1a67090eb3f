"""Pilots: what they suggest of laws that are known, and when they warn."""

import numpy as np
import pytest

from helpers.policies import generator
from stoic.errors import InvalidParameter
from stoic.planning import read_pilot


def written(tmp_path, arms):
    file = tmp_path / "pilot.csv"
    lines = [f"{name},{reward}" for name, rewards in arms.items() for reward in rewards.tolist()]
    file.write_text("\n".join(["arm,reward", *lines]))
    return file


def test_a_pilot_suggests_what_holds(tmp_path):
    rng = generator(1)
    file = written(tmp_path, {"A": rng.normal(20, 3, 3000), "B": rng.normal(24, 2, 3000)})
    pilot = read_pilot(file, arm="arm")
    assert (pilot.arms, pilot.rewards) == (2, 6000)
    assert pilot.bound[0] == pytest.approx(9, rel=0.1)
    assert 9 < pilot.bound[1] < 11
    low, high = pilot.mean_range
    assert low < 20 < 24 < high
    assert pilot.alpha[0] == 0
    assert pilot.alpha[1] < 0.001
    assert pilot.moments.bound == pilot.bound[1]
    assert len(pilot.warnings) == 1  # that it was read without privacy


def test_outliers_are_counted_and_kept_out_of_the_bound(tmp_path):
    rng = generator(2)
    clean, garbage = rng.normal(20, 3, 4750), rng.normal(500, 5, 250)
    pilot = read_pilot(written(tmp_path, {"A": np.append(clean, garbage)}), arm="arm")
    assert pilot.alpha[0] == pytest.approx(0.05, abs=0.001)
    assert 0.05 < pilot.alpha[1] < 0.06
    assert pilot.bound[1] < 12


@pytest.mark.parametrize(("df", "warned"), [(1.2, True), (30, False)])
def test_it_warns_where_the_moment_may_not_exist(tmp_path, df, warned):
    file = tmp_path / "pilot.npy"
    np.save(file, generator(3).standard_t(df, 20_000))
    pilot = read_pilot(file, k=2)
    assert (pilot.tail_index[1] <= 2) is warned
    assert any("may not exist" in warning for warning in pilot.warnings) is warned


def test_hills_estimate_is_that_of_a_pareto_law(tmp_path):
    file = tmp_path / "pilot.npy"
    np.save(file, 1 + generator(4).pareto(1.5, 50_000))
    estimate, low = read_pilot(file).tail_index
    assert low < 1.5
    assert estimate == pytest.approx(1.5, rel=0.15)


def test_the_suggestions_do_not_depend_on_the_hour(tmp_path):
    file = written(tmp_path, {"A": generator(5).normal(0, 1, 200)})
    assert read_pilot(file, arm="arm") == read_pilot(file, arm="arm")


def test_data_of_one_value_are_a_pilot_too(tmp_path):
    pilot = read_pilot(written(tmp_path, {"A": np.zeros(100), "B": np.ones(100)}), arm="arm")
    assert pilot.bound[0] < 1e-300
    assert pilot.tail_index[0] == np.inf
    assert pilot.mean_range[0] < 0 < 1 < pilot.mean_range[1]


def test_too_small_a_pilot_is_refused(tmp_path):
    with pytest.raises(InvalidParameter, match="at least 50 rewards of each arm; 'B' has 49"):
        read_pilot(written(tmp_path, {"A": np.zeros(50), "B": np.zeros(49)}), arm="arm")
