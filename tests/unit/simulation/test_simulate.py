"""What a simulation takes and refuses, and what it gives back."""

from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pytest

import stoic
from helpers.arms import three_arms
from helpers.policies import one_of
from stoic.environments import Gaussian, Instance
from stoic.errors import InvalidParameter
from stoic.simulation import Result, check_fit, checkpoint_rounds, compare

POLICY = one_of("prae-r", horizon=500)


def run(**changed: object) -> Result:
    return stoic.simulate(POLICY, three_arms(), **{"replications": 3, "seed": 1, **changed})


# --- The call -----------------------------------------------------------------------------------


def test_the_signature_and_its_defaults() -> None:
    parameters = inspect.signature(stoic.simulate).parameters
    empty = inspect.Parameter.empty
    assert {name: one.default for name, one in parameters.items()} == {
        "policy": empty,
        "instance": empty,
        "replications": empty,
        "seed": empty,
        "jobs": 1,
        "horizon": None,
        "checkpoints": 0,
    }
    named = [name for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY]
    assert named == ["replications", "seed", "jobs", "horizon", "checkpoints"]


def test_the_horizon_is_the_policys_and_no_other() -> None:
    np.testing.assert_array_equal(run(horizon=500).pulls, run().pulls)
    for wrong in (499, 501, 0):
        with pytest.raises(InvalidParameter) as refused:
            run(horizon=wrong)
        assert (refused.value.parameter, refused.value.value) == ("horizon", wrong)
        assert "500" in str(refused.value)


def test_a_policy_made_for_another_instance_is_refused() -> None:
    instance = three_arms()
    two = Instance(instance.arms[:2])
    costs = dataclasses.replace(instance, goal="min")
    check_fit(POLICY, instance)
    for other, parameter in ((two, "arms"), (costs, "goal")):
        for refuse in (
            lambda other=other: check_fit(POLICY, other),
            lambda other=other: stoic.simulate(POLICY, other, replications=1, seed=1),
        ):
            with pytest.raises(InvalidParameter) as refused:
                refuse()
            assert refused.value.parameter == parameter


@pytest.mark.parametrize(
    ("parameter", "wrong"),
    [
        ("replications", 0),
        ("replications", -1),
        ("replications", 2.5),
        ("replications", []),
        ("replications", [1, 1]),
        ("replications", [0, -1]),
        ("replications", [0.5]),
        ("seed", -1),
        ("seed", 1.5),
        ("seed", None),
        ("jobs", 0),
        ("jobs", -1),
        ("jobs", 1.5),
        ("checkpoints", -1),
        ("checkpoints", [0, 1]),
        ("checkpoints", [1, 501]),
        ("checkpoints", [0.5]),
        ("checkpoints", 2.0),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(parameter: str, wrong: object) -> None:
    with pytest.raises(InvalidParameter) as refused:
        run(**{parameter: wrong})
    assert refused.value.parameter == parameter


def test_checkpoints_are_rounds_or_how_many() -> None:
    assert checkpoint_rounds(0, 10).tolist() == []
    assert checkpoint_rounds(1, 10).tolist() == [10]
    assert checkpoint_rounds(5, 10).tolist() == [2, 4, 6, 8, 10]
    assert checkpoint_rounds(100, 10).tolist() == list(range(1, 11))
    assert checkpoint_rounds([10, 3, 3], 10).tolist() == [3, 10]
    assert checkpoint_rounds(np.array([1, 10**9]), 10**9).tolist() == [1, 10**9]
    spaced = checkpoint_rounds(200, 10**9)
    assert spaced.tolist() == [i * 5_000_000 for i in range(1, 201)]
    assert run(checkpoints=[]).regret.shape == run().regret.shape == (3, 0)


def test_the_instances_of_the_paper_are_a_call_away() -> None:
    instance = stoic.instances.paper("student-t", alpha=0.05)
    policy = one_of("prae-c", arms=5, horizon=1000, moments=instance.central(2))
    assert stoic.simulate(policy, instance, replications=2, seed=1).pulls.shape == (2, 5)


# --- What comes back ----------------------------------------------------------------------------


def test_a_result_has_a_row_for_each_replication() -> None:
    result = run(replications=[4, 0, 9], checkpoints=7)
    shapes = {
        "final_regret": (3,),
        "pulls": (3, 3),
        "best_kept": (3,),
        "eliminated_at": (3, 3),
        "draws": (3,),
        "recommended": (3,),
        "replications": (3,),
        "regret": (3, 7),
        "checkpoints": (7,),
    }
    assert {name: getattr(result, name).shape for name in shapes} == shapes
    integers = ("pulls", "eliminated_at", "draws", "recommended", "replications", "checkpoints")
    assert {getattr(result, name).dtype.name for name in integers} == {"int64"}
    assert result.best_kept.dtype == np.bool_
    assert result.final_regret.dtype == result.regret.dtype == np.float64
    assert result.replications.tolist() == [4, 0, 9]
    assert (result.policy, result.instance, result.seed) == (POLICY, three_arms(), 1)


def test_pulls_regret_and_eliminations_belong_together() -> None:
    result = run(replications=50, checkpoints=500)
    gaps = result.instance.gaps
    assert (result.pulls.sum(axis=1) == 500).all()
    assert result.final_regret == pytest.approx(result.pulls @ gaps)
    for row, gone in zip(result.regret, result.eliminated_at, strict=True):
        steps = np.diff(row, prepend=0.0)
        for gap, left in zip(gaps, gone, strict=True):
            if left >= 0:  # never played again
                assert not np.isclose(steps[left:], gap).any()
    assert (result.eliminated_at >= 0).any()
    assert (result.draws <= 500).all()


def fabricated(eliminated_at: list[list[int]], gaps: tuple[float, ...], **rows: object) -> Result:
    instance = Instance(tuple(Gaussian(-gap, 1.0) for gap in gaps))
    n = len(eliminated_at)
    given = {
        "regret": np.zeros((n, 0)),
        "checkpoints": np.zeros(0, dtype=np.int64),
        "final_regret": np.zeros(n),
        **rows,
    }
    zeros = np.zeros(n, dtype=np.int64)
    return Result(
        POLICY,
        instance,
        1,
        replications=np.arange(n),
        pulls=np.zeros((n, len(gaps)), dtype=np.int64),
        eliminated_at=np.array(eliminated_at),
        recommended=zeros,
        draws=zeros,
        **given,
    )


def test_the_best_arm_is_kept_unless_it_left() -> None:
    result = fabricated([[-1, -1], [-1, 7], [7, -1], [3, 0]], gaps=(0.0, 1.0))
    assert result.best_kept.tolist() == [True, True, False, False]
    # Of several best arms, any will do.
    tied = fabricated([[-1, 5, -1], [5, -1, 5], [5, 5, -1]], gaps=(0.0, 0.0, 2.0))
    assert tied.best_kept.tolist() == [True, True, False]


def test_mean_standard_error_and_quantiles_are_those_of_the_replications() -> None:
    regret = np.array([1.0, 2.0, 4.0, 9.0])
    result = fabricated([[-1, -1]] * 4, gaps=(0.0, 1.0), final_regret=regret)
    assert result.mean == 4.0
    assert result.standard_error == pytest.approx(np.sqrt((9 + 4 + 0 + 25) / 3 / 4))
    assert result.quantiles([0, 0.5, 1]).tolist() == [1.0, 3.0, 9.0]
    assert result.quantiles().tolist() == np.quantile(regret, [0.05, 0.5, 0.95]).tolist()
    assert result.quantiles(0.5) == 3.0


def test_the_curve_is_mean_and_standard_error_at_the_checkpoints() -> None:
    rows = np.array([[1.0, 2.0], [3.0, 8.0]])
    result = fabricated([[-1, -1]] * 2, gaps=(0.0, 1.0), regret=rows, checkpoints=np.array([5, 10]))
    curve = result.curve()
    assert curve.rounds.tolist() == [5, 10]
    assert curve.mean.tolist() == [2.0, 5.0]
    assert curve.standard_error == pytest.approx([1.0, 3.0])


def test_one_replication_has_no_standard_error_and_says_so() -> None:
    result = run(replications=1, checkpoints=3)
    assert np.isnan(result.standard_error)
    assert np.isnan(result.curve().standard_error).tolist() == [True] * 3
    assert result.mean == result.final_regret[0]


# --- Comparisons --------------------------------------------------------------------------------


def pair(one: list[float], other: list[float]) -> tuple[Result, Result]:
    arms = [[-1, -1]] * len(one)
    made = [fabricated(arms, gaps=(0.0, 1.0), final_regret=np.array(rows)) for rows in (one, other)]
    return made[0], made[1]


def test_differences_are_paired() -> None:
    found = compare(*pair([1.0, 2.0, 6.0], [0.0, 3.0, 3.0]))
    assert found.difference == pytest.approx(1.0)
    assert found.standard_error == pytest.approx(np.std([1, -1, 3], ddof=1) / np.sqrt(3))
    apart = np.var([1, 2, 6]) + np.var([0, 3, 3])
    assert found.variance_reduction == pytest.approx(apart / np.var([1, -1, 3]))


def test_the_variance_reduction_of_the_extremes() -> None:
    assert compare(*pair([1.0, 2.0], [3.0, 4.0])).variance_reduction == np.inf
    assert np.isnan(compare(*pair([1.0, 1.0], [3.0, 3.0])).variance_reduction)
    assert compare(*pair([1.0, 2.0], [2.0, 1.0])).variance_reduction == pytest.approx(0.5)


@pytest.mark.parametrize("changed", [{"seed": 2}, {"replications": [1, 2, 0]}, {"replications": 2}])
def test_results_that_did_not_meet_the_same_rewards_are_not_compared(
    changed: dict[str, object],
) -> None:
    with pytest.raises(InvalidParameter):
        compare(run(), run(**changed))


def test_results_on_other_instances_are_not_compared() -> None:
    clean = Instance(tuple(arm.clean for arm in three_arms().arms))
    other = stoic.simulate(POLICY, clean, replications=3, seed=1)
    with pytest.raises(InvalidParameter, match="instance"):
        compare(run(), other)
