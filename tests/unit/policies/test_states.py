"""A private policy's state holds only releases and counters, and says nothing of any reward."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import stoic
from helpers.play import play
from helpers.policies import NAMES, agent_of, generator, one_of
from helpers.spy import Spy
from stoic.core import dumps
from stoic.environments import Discrete

PRIVATE = [name for name in NAMES if one_of(name).privacy != "none"]
PAPERS = [
    ("prae-r", {}),
    ("prae-c", {}),
    ("prae-r", {"contamination": 0.05, "first_phase": "greedy"}),
    ("prae-c", {"contamination": 0.05, "first_phase": "explore"}),
    ("prae-r", {"contamination": 0.05, "first_phase": "round"}),
    ("dprse", {}),
]


def leaves(item: Any) -> Iterator[Any]:
    """Every number, word and None of parsed JSON."""
    if isinstance(item, dict):
        item = list(item.values())
    if isinstance(item, list):
        for part in item:
            yield from leaves(part)
    else:
        yield item


# --- Canaries -----------------------------------------------------------------------------------


def shown_of(name: str, **options: Any) -> tuple[str, list[float]]:
    """All that an agent ever shows while every user pays an amount of their own, and the amounts.

    No noise is added: what protects a reward here is that it is nowhere by itself.
    """
    policy = one_of(name, horizon=400, **options)
    agent = stoic.Agent(policy, noise=Spy(), rng=generator(2))
    shown, paid, rng = [agent.state], [], generator(4)
    while agent.open_slots:
        block = agent.ask_many(agent.open_slots)
        rewards = rng.uniform(-1, 1, len(block))
        agent.tell_many(block, rewards)
        paid += rewards.tolist()
        shown.append(agent.state)
    return "".join(shown), paid


def seen(shown: str, paid: list[float]) -> list[float]:
    """The rewards of which ten digits in a row are shown."""
    return [reward for reward in paid if repr(abs(reward))[2:12] in shown]


@pytest.mark.parametrize("name", PRIVATE)
def test_no_reward_is_in_the_state_of_a_private_policy(name: str) -> None:
    shown, paid = shown_of(name)
    assert len(paid) == 400
    assert not seen(shown, paid)


@pytest.mark.parametrize("name", ["ucb1", "successive-elimination"])
def test_a_policy_that_keeps_rewards_is_caught(name: str) -> None:
    assert seen(*shown_of(name))


@pytest.mark.parametrize("name", PRIVATE)
def test_a_far_reward_is_not_in_the_state_either(name: str) -> None:
    agent = agent_of(one_of(name, horizon=400))
    while agent.open_slots:
        block = agent.ask_many(agent.open_slots)
        agent.tell_many(block, np.full(len(block), 9.87654321e17))
        assert "98765432" not in agent.state


# --- Walk ---------------------------------------------------------------------------------------


def strangers(state: Any, policy: Any, released: set[float]) -> list[Any]:
    """What is in a state and is neither a release, nor a counter, nor the public radius."""
    found = []
    for leaf in leaves(list(json.loads(dumps(state)).values())):
        counter = isinstance(leaf, int) and 0 <= leaf <= policy.horizon
        release = isinstance(leaf, float) and leaf in released
        if not (counter or release or leaf is None or leaf == type(state).__name__):
            found.append(leaf)
    return found


def radii(policy: Any, state: Any) -> set[float]:
    """The radii that the policy could have judged by: functions of public numbers."""
    if policy.name == "dprse":
        return set()
    estimator = policy.estimator
    sizes = [estimator.sample_size(2**tau) for tau in range(1, state.batch + 1)]
    shares = {
        estimator.share(policy.delta, active, tau)
        for active in range(1, policy.arms + 1)
        for tau in range(1, state.batch + 1)
    }
    return {estimator.radius(n, share) for n in sizes for share in shares if n}


@pytest.mark.parametrize(("name", "options"), PAPERS)
@pytest.mark.parametrize("goal", ["max", "min"])
def test_a_state_is_made_of_releases_and_counters(
    name: str, options: dict[str, Any], goal: str
) -> None:
    policy = one_of(name, horizon=3000, goal=goal, **options)
    arms = [Discrete((mean - 0.5, mean + 0.5), (0.5, 0.5)) for mean in (0.0, 2.0, -2.0)]
    noise = stoic.SimulatedNoise(generator(2))
    trace = play(policy, arms, rng=generator(1), noise=noise)
    released: set[float] = set()
    for state, answers in zip(trace.states, trace.answers, strict=True):
        released |= {one.value for releases in answers.values() for one in releases}
        assert not strangers(state, policy, released | radii(policy, state))
    assert released or "round" in options.values()


def test_a_stranger_in_a_state_is_seen() -> None:
    policy = one_of("prae-r")
    for change in ({"estimates": (0.25, None, None)}, {"radius": 0.5}, {"spent": 10**9}):
        state = dataclasses.replace(policy.init(), **change)
        assert strangers(state, policy, set())
        assert not strangers(state, one_of("prae-r", horizon=10**9), {0.25, 0.5})


@pytest.mark.parametrize(("name", "options"), PAPERS)
def test_the_next_state_follows_from_the_releases_whatever_the_rewards_were(
    name: str, options: dict[str, Any]
) -> None:
    policy = one_of(name, horizon=3000, **options)
    arms = [Discrete((mean,), (1.0,)) for mean in (0.0, 2.0, -2.0)]
    trace = play(policy, arms, rng=generator(1), noise=stoic.SimulatedNoise(generator(2)))
    state = policy.init()
    for plan, answers, after in zip(trace.plans, trace.answers, trace.states, strict=True):
        assert math.isfinite(sum(one.value for kept in answers.values() for one in kept))
        state = policy.tell(state, plan, answers)
        assert state == after
