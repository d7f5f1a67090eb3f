"""One of each policy, an agent that plays it, and rewards that belong to slots.

The reward of a slot is a formula, so it is the same however and whenever it is asked for and told.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import stoic
from stoic import options
from stoic.policies import POLICIES, Policy

__all__ = ["NAMES", "agent_of", "generator", "one_of", "play_out", "rewards_of"]

NAMES = tuple(POLICIES)

_GIVEN = {
    "moments": stoic.CentralMoment(2, 1, (-3, 3)),
    "epsilon": 1.0,
    "profile": "unit",
    "delta": 0.1,
    "best": 1,
}
_MEANS = np.array([0.0, 2.0, -2.0])


def generator(*seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(seed))


def one_of(name: str, *, arms: int = 3, horizon: int = 2000, **changes: Any) -> Policy:
    """The policy of that name, with whatever it needs of a common setting."""
    takes = options.of(POLICIES[name])
    given = {option: value for option, value in _GIVEN.items() if option in takes}
    if name == "prae-s":
        given["profile"] = "certified"  # it has no other
    return stoic.policies.create(name, arms=arms, horizon=horizon, **{**given, **changes})


def agent_of(policy: Policy, seed: int = 1) -> stoic.Agent:
    noise = stoic.SimulatedNoise(generator(seed, 1))
    return stoic.Agent(policy, noise=noise, rng=generator(seed, 2))


def rewards_of(tickets: stoic.Tickets) -> NDArray[np.float64]:
    """What the users of these tickets pay: the arm's mean, and a wave over the slots."""
    return _MEANS[tickets.arms] + np.sin(7.0 * tickets.phases + 13.0 * tickets.slots)


def play_out(agent: stoic.Agent) -> stoic.Agent:
    """Play to the horizon, the rest of each batch in one block, every reward at once."""
    while agent.open_slots:
        block = agent.ask_many(agent.open_slots)
        agent.tell_many(block, rewards_of(block))
    return agent
