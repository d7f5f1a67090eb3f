"""However rewards arrive, an agent reaches the same state."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stoic
from helpers.policies import generator, one_of, play_out, rewards_of
from stoic.policies import Policy

POLICIES = {
    "prae-r": one_of("prae-r", horizon=400),
    "prae-c": one_of("prae-c", horizon=400),
    "prae-c, any arm each round": one_of(
        "prae-c", horizon=400, contamination=0.1, first_phase="round"
    ),
    "prae-r, greedy at first": one_of(
        "prae-r", horizon=400, contamination=0.1, first_phase="greedy"
    ),
    "dprse": one_of("dprse", horizon=1000),
    "elimination": one_of("elimination", horizon=400),
    "successive-elimination": one_of("successive-elimination", horizon=40),
    "ucb1": one_of("ucb1", horizon=20),
    "uniform": one_of("uniform", horizon=50),
}

each_policy = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)

WAYS = ("ask", "ask many", "tell", "tell many", "tell again", "restart", "start over")
scripts = st.lists(st.tuples(st.sampled_from(WAYS), st.integers(0, 2**32)), max_size=40)


class Crowd:
    """Users who come and pay in any order, some late, some twice; and an agent that may restart."""

    def __init__(self, policy: Policy) -> None:
        self.streams = {
            "noise": stoic.SimulatedNoise(generator(1, 1)),
            "rng": generator(1, 2),
        }
        self.agent = stoic.Agent(policy, **self.streams)
        self.waiting: list[stoic.Ticket] = []
        self.paid: list[stoic.Ticket] = []

    def do(self, way: str, number: int) -> None:
        if way == "ask":
            self.waiting.append(self.agent.ask())
        elif way == "ask many":
            self.waiting += self.agent.ask_many(number % 150)
        elif way == "tell" and self.waiting:
            ticket = self.waiting.pop(number % len(self.waiting))
            self.agent.tell(ticket, reward_of(ticket))
            self.paid.append(ticket)
        elif way == "tell many" and self.waiting:
            generator(number).shuffle(self.waiting)
            block = block_of(self.waiting[number % 50 :])
            self.agent.tell_many(block, rewards_of(block))
            self.paid += block
            del self.waiting[number % 50 :]
        elif way == "tell again" and self.paid:
            again = block_of(self.paid[number % len(self.paid) :])
            self.agent.tell_many(again, np.full(len(again), np.nan))
            self.agent.tell(self.paid[0], np.nan)
        elif way == "restart":
            self.agent = stoic.Agent.from_checkpoint(self.agent.checkpoint(), **self.streams)
        elif way == "start over":
            self.agent = stoic.Agent.from_state(self.agent.state, **self.streams)
            for ticket in self.waiting[:3] + self.paid[:3]:
                with pytest.raises(stoic.errors.UnknownTicket):
                    self.agent.tell(ticket, 0.0)
            self.waiting, self.paid = [], []

    def finish(self) -> stoic.Agent:
        while self.waiting or self.agent.open_slots:
            for ticket in self.waiting:
                self.agent.tell(ticket, reward_of(ticket))
            self.waiting = list(self.agent.ask_many(self.agent.open_slots))
        return self.agent


def reward_of(ticket: stoic.Ticket) -> float:
    return float(rewards_of(block_of([ticket]))[0])


def block_of(tickets: list[stoic.Ticket]) -> stoic.Tickets:
    numbers = np.array([ticket[:3] for ticket in tickets], dtype=np.int64).reshape(-1, 3)
    dealings = {ticket.dealing for ticket in tickets} or {0}
    return stoic.Tickets(*numbers.T, dealing=dealings.pop())


@cache
def prompt(policy: Policy) -> str:
    """The state at the horizon when everybody pays at once."""
    return play_out(Crowd(policy).agent).state


@each_policy
@settings(max_examples=30)
@given(script=scripts)
def test_any_interleaving_of_the_same_rewards_reaches_the_same_state(
    policy: Policy, script: list[tuple[str, int]]
) -> None:
    crowd = Crowd(policy)
    for way, number in script:
        crowd.do(way, number)
    assert crowd.finish().state == prompt(policy)


@each_policy
def test_another_reward_reaches_another_state(policy: Policy) -> None:
    # Else the law above would be empty.
    crowd = Crowd(policy)
    while crowd.agent.open_slots:
        block = crowd.agent.ask_many(crowd.agent.open_slots)
        crowd.agent.tell_many(block, rewards_of(block) + 1)
    told = policy.name != "uniform"
    assert (crowd.agent.state != prompt(policy)) == told


@each_policy
@settings(max_examples=30)
@given(script=scripts)
def test_a_rebuilt_agent_is_the_same_to_everybody(
    policy: Policy, script: list[tuple[str, int]]
) -> None:
    crowd = Crowd(policy)
    for way, number in script:
        crowd.do(way, number)
    agent = crowd.agent
    rebuilt = stoic.Agent.from_checkpoint(agent.checkpoint(), **crowd.streams)
    over = stoic.Agent.from_state(agent.state, **crowd.streams)
    assert rebuilt.checkpoint() == agent.checkpoint()
    assert rebuilt.state == over.state == agent.state
    assert rebuilt.open_slots == agent.open_slots
    assert rebuilt.recommend() == over.recommend() == agent.recommend()
    plan = json.loads(agent.state)["plan"]
    assert over.open_slots == sum(plan["pulls"])


@each_policy
@given(lost=st.sets(st.integers(0, 399)))
@settings(max_examples=20)
def test_rewards_that_never_come_count_as_the_default(policy: Policy, lost: set[int]) -> None:
    closed, told = Crowd(policy).agent, Crowd(policy).agent
    while closed.open_slots:
        block = closed.ask_many(closed.open_slots)
        came = np.array([slot not in lost for slot in block.slots], dtype=np.bool_)
        closed.tell_many(block[came], rewards_of(block)[came])
        closed.close(default=0.5)
        block = told.ask_many(told.open_slots)
        told.tell_many(block, np.where(came, rewards_of(block), 0.5))
    assert closed.state == told.state
