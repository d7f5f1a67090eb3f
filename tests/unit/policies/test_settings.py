"""Settings that mean nothing are refused by name when a policy is built; odd rewards are taken."""

from __future__ import annotations

import math
from typing import Any

import pytest

import stoic
from helpers.policies import NAMES, agent_of, generator, one_of, play_out
from stoic.errors import InvalidParameter, StoicError

PAPERS = ("prae-r", "prae-c", "dprse")
GIVEN = {
    "arms": 3,
    "horizon": 1000,
    "epsilon": 0.5,
    "moments": stoic.CentralMoment(2, 1, (-20, 20)),
}


def made(name: str, **changes: Any) -> Any:
    return stoic.policies.create(name, **{**GIVEN, **changes})


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1", None, True, 1e-7])
@pytest.mark.parametrize("name", PAPERS)
def test_a_budget_is_a_positive_number(name: str, epsilon: Any) -> None:
    with pytest.raises(InvalidParameter) as refused:
        made(name, epsilon=epsilon)
    assert refused.value.parameter == "epsilon"


@pytest.mark.parametrize(
    ("parameter", "build"),
    [
        ("k", lambda: stoic.RawMoment(1, 1)),
        ("k", lambda: stoic.CentralMoment(0.5, 1, (0, 1))),
        ("bound", lambda: stoic.RawMoment(2, 0)),
        ("mean_range", lambda: stoic.CentralMoment(2, 1, (3, 3))),
        ("mean_range", lambda: stoic.CentralMoment(2, 1, (3, 2))),
    ],
)
def test_moments_that_mean_nothing_are_refused(parameter: str, build: Any) -> None:
    with pytest.raises(InvalidParameter) as refused:
        made("prae-c", moments=build())
    assert refused.value.parameter == parameter


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("prae-c", {"contamination": 0.3}, "contamination = 0.3: must be < 0.133 for PRM-C"),
        ("prae-c", {"contamination": 0.133}, "contamination = 0.133: must be < 0.133 for PRM-C"),
        ("prae-r", {"contamination": 0.6}, "contamination = 0.6: must be <= 0.5 for PRM-R"),
        (
            "prae-r",
            {"contamination": 1.0},
            "contamination = 1.0: must be a finite number, >= 0, < 1",
        ),
        (
            "prae-r",
            {"contamination": -0.1},
            "contamination = -0.1: must be a finite number, >= 0, < 1",
        ),
        (
            "prae-c",
            {"contamination": 0.249, "profile": "unit"},
            "contamination = 0.249: must be < 0.249 for profile 'unit'",
        ),
        (
            "prae-r",
            {"contamination": 0.3, "profile": "unit"},
            "contamination = 0.3: must be < 0.249 for profile 'unit'",
        ),
        ("prae-c", {"epsilon": 1.5}, "epsilon = 1.5: must be <= 1 for PRM-C"),
        ("prae-c", {"moments": stoic.CentralMoment(2, 1, (-6, 6))}, "mean_range"),
        ("prae-c", {"moments": stoic.RawMoment(2, 1)}, "must be a CentralMoment for PRM-C"),
        ("prae-r", {"moments": 2}, "moments = 2: must be a RawMoment"),
        ("prae-r", {"profile": "sharp"}, "profile = 'sharp': must be one of proof, unit"),
        ("prae-r", {"delta": 0}, "delta = 0"),
        ("prae-r", {"delta": 1}, "delta = 1"),
        ("prae-r", {"statistic": "catoni"}, "statistic = 'catoni': not an option"),
        ("prae-x", {}, "policy = 'prae-x': must be one of prae-r, prae-c"),
    ],
    ids=lambda item: item if isinstance(item, str) else "",
)
def test_what_a_policy_cannot_keep_is_refused(
    name: str, wrong: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidParameter) as refused:
        made(name, **wrong)
    assert message in str(refused.value)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({"arms": 1}, "arms = 1: must be an integer, >= 2"),
        ({"arms": 0}, "arms = 0: must be an integer, >= 2"),
        ({"arms": 3, "horizon": 2}, "horizon = 2: must be at least arms = 3"),
        ({"horizon": 0}, "horizon = 0"),
        ({"horizon": -5}, "horizon = -5"),
        ({"horizon": 1e3 + 0.5}, "horizon = 1000.5"),
    ],
    ids=str,
)
def test_one_arm_is_no_choice_and_every_arm_needs_a_round(
    name: str, wrong: dict[str, Any], rule: str
) -> None:
    with pytest.raises(InvalidParameter) as refused:
        one_of(name, **wrong)
    assert rule in str(refused.value)


@pytest.mark.parametrize("name", NAMES)
def test_a_round_for_each_arm_is_enough(name: str) -> None:
    agent = play_out(agent_of(one_of(name, arms=3, horizon=3)))
    assert agent.open_slots == 0
    assert 0 <= agent.recommend() < 3


@pytest.mark.parametrize("reward", [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324])
@pytest.mark.parametrize("name", NAMES)
def test_a_whole_run_of_garbage_raises_nothing_and_stays_finite(name: str, reward: float) -> None:
    agent = agent_of(one_of(name, horizon=200))
    for user in range(200):
        agent.tell(agent.ask(), reward if user % 2 else 1.0)
        assert "NaN" not in agent.state
        assert "Infinity" not in agent.state
    assert agent.open_slots == 0


@pytest.mark.parametrize("name", PAPERS)
def test_a_reward_that_is_no_number_counts_as_the_centre(name: str) -> None:
    """For raw moments that is 0; the histogram of a central one counts it nowhere."""
    states = []
    for odd in (math.nan, 0.0):
        agent = agent_of(one_of(name, horizon=300, moments=stoic.CentralMoment(2, 1, (-3, 3))))
        while agent.open_slots:
            block = agent.ask_many(agent.open_slots)
            rewards = [odd if slot % 5 == 0 else 0.5 for slot in block.slots.tolist()]
            agent.tell_many(block, rewards)
        states.append(agent.state)
    assert (states[0] == states[1]) == (name != "prae-c")


def test_refusals_are_of_one_family_and_never_show_more_than_the_setting() -> None:
    with pytest.raises(StoicError):
        made("prae-r", epsilon=-3)
    with pytest.raises(ValueError, match="epsilon = -3"):
        made("prae-r", epsilon=-3)
    assert stoic.policies.create("prae-r", **GIVEN).init() == made("prae-r").init()
    assert made("prae-r").ask(made("prae-r").init(), rng=generator(1)).queries
