"""What every policy must keep, whichever it is."""

from __future__ import annotations

import base64
import dataclasses
import json
import pickle

import numpy as np
import pytest

import stoic
from helpers.play import Trace, play
from helpers.policies import NAMES, agent_of, generator, one_of, play_out
from stoic.core import Plan, Release, dumps, loads
from stoic.environments import Discrete
from stoic.policies import Policy

ARMS = [Discrete((level - 0.5, level, level + 0.5), (0.3, 0.4, 0.3)) for level in (0.0, 2.0, -2.0)]
FIRST_PHASES = ("batch", "round", "greedy", "explore")


def trace_of(policy: Policy, arms: list[Discrete] = ARMS) -> Trace:
    return play(policy, arms, rng=generator(1), noise=stoic.SimulatedNoise(generator(2)))


def play_stream() -> np.random.Generator:
    """The public randomness of :func:`trace_of`, from the start."""
    return generator(1).spawn(2)[0]


def private(name: str) -> bool:
    return one_of(name).privacy != "none"


# --- What it says of itself ---------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is(name: str) -> None:
    for goal in ("max", "min"):
        policy = one_of(name, goal=goal)
        assert (policy.name, policy.arms, policy.horizon, policy.goal) == (name, 3, 2000, goal)
        assert policy.privacy in ("central", "none")
        assert policy.epsilon is None or policy.privacy != "none"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "wrong",
    [{"arms": 1}, {"arms": 2.5}, {"arms": "3"}, {"horizon": 2}, {"goal": "best"}, {"colour": 1}],
    ids=str,
)
def test_every_policy_refuses_a_wrong_setting(name: str, wrong: dict[str, object]) -> None:
    ((parameter, given),) = wrong.items()
    with pytest.raises(stoic.errors.InvalidParameter) as refused:
        one_of(name, **wrong)  # type: ignore[arg-type]
    assert (refused.value.parameter, refused.value.value) == (parameter, given)


@pytest.mark.parametrize("name", NAMES)
def test_policies_and_states_are_frozen_values_that_survive_json_and_pickle(name: str) -> None:
    policy = one_of(name)
    trace = trace_of(policy)
    for item in (policy, policy.init(), *trace.states[:50], *trace.plans[:50]):
        for copy in (loads(dumps(item)), pickle.loads(pickle.dumps(item))):
            assert copy == item
            assert repr(copy) == repr(item)
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.arms = 4  # type: ignore[misc]


# --- Plans --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("horizon", [3, 4, 17, 100, 2001])
def test_it_plays_exactly_to_the_horizon_and_then_plans_nothing(name: str, horizon: int) -> None:
    policy = one_of(name, horizon=horizon)
    trace = trace_of(policy)
    assert trace.totals.sum() == horizon
    assert all(plan.size for plan in trace.plans)
    assert policy.ask(trace.states[-1], rng=generator(1)) == Plan((), ())


@pytest.mark.parametrize("name", NAMES)
def test_ask_depends_on_the_state_and_the_stream_alone(name: str) -> None:
    policy = one_of(name)
    for state in (policy.init(), *trace_of(policy).states[:50]):
        before = dumps(state)
        assert policy.ask(state, rng=generator(5)) == policy.ask(state, rng=generator(5))
        assert dumps(state) == before


@pytest.mark.parametrize("name", [name for name in NAMES if name != "oracle"])
def test_any_arm_may_come_first(name: str) -> None:
    # A fixed order flatters a policy that never finishes its first batch.
    policy = one_of(name)
    plans = [policy.ask(policy.init(), rng=generator(seed)) for seed in range(60)]
    assert {plan.arms[plan.deal(0, 1)[0]] for plan in plans} == {0, 1, 2}


@pytest.mark.parametrize("name", NAMES)
def test_pulls_of_one_plan_differ_by_at_most_one(name: str) -> None:
    for plan in trace_of(one_of(name)).plans:
        assert max(plan.pulls) - min(plan.pulls) <= 1
        dealt = plan.deal(0, min(plan.size, 50)).tolist()
        assert dealt == [slot % len(plan.arms) for slot in range(len(dealt))]


# --- Privacy ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in NAMES if private(name)])
def test_a_private_policy_asks_private_queries_within_its_epsilon(name: str) -> None:
    policy = one_of(name)
    for plan in trace_of(policy).plans:
        for query in plan.queries:
            epsilon = query.mechanism(0, ()).epsilon
            assert epsilon is not None
            assert policy.epsilon is not None
            assert epsilon <= policy.epsilon


CANARY = 0.123456789123


def canary_states(name: str) -> tuple[list[str], list[str]]:
    """States and checkpoints of an agent that is told nothing but the canary."""
    agent = agent_of(one_of(name, horizon=300))
    states, checkpoints = [agent.state], []
    while agent.open_slots:
        agent.tell(agent.ask(), CANARY)
        states.append(agent.state)
        checkpoints.append(json.loads(agent.checkpoint())["rewards"])
    return states, checkpoints


@pytest.mark.parametrize("name", NAMES)
def test_only_a_policy_that_is_not_private_keeps_rewards_in_its_state(name: str) -> None:
    states, checkpoints = canary_states(name)
    assert any(str(CANARY) in state for state in states) == (not private(name))
    asks = name not in ("uniform", "oracle")
    one_at_a_time = name == "ucb1"  # each batch is over with its only reward
    held = any(np.float64(CANARY).tobytes() in base64.b64decode(text) for text in checkpoints)
    assert held == (asks and not one_at_a_time)


@pytest.mark.parametrize("name", NAMES)
def test_the_agents_state_says_whether_it_is_protected(name: str) -> None:
    agent = stoic.Agent(one_of(name), noise=stoic.SecureNoise(), rng=generator(1))
    assert json.loads(agent.state)["protected"] == agent.private == private(name)
    assert not agent_of(one_of(name)).private


# --- Drivers ------------------------------------------------------------------------------------


def negated(release: Release) -> Release:
    return dataclasses.replace(release, value=-release.value)


def mirrored(plan: Plan) -> Plan:
    """The same plan about the negated centres, for queries that follow the estimates."""
    queries = [
        dataclasses.replace(query, centre=-query.centre) if hasattr(query, "centre") else query
        for query in plan.queries
    ]
    return dataclasses.replace(plan, queries=tuple(queries))


@pytest.mark.parametrize("name", NAMES)
def test_costs_are_negated_rewards(name: str) -> None:
    rewarding, saving = one_of(name, goal="max"), one_of(name, goal="min")
    trace = trace_of(rewarding)
    state, rng = saving.init(), play_stream()
    for plan, answers, after in zip(trace.plans, trace.answers, trace.states, strict=True):
        assert saving.ask(state, rng=rng) == mirrored(plan)
        costs = {arm: tuple(map(negated, releases)) for arm, releases in answers.items()}
        state = saving.tell(state, mirrored(plan), costs)
        assert saving.recommend(state) == rewarding.recommend(after)
    assert getattr(state, "active", None) == getattr(trace.states[-1], "active", None)


@pytest.mark.parametrize("name", NAMES)
def test_the_better_of_two_very_different_arms_is_found(name: str) -> None:
    for goal, best in (("max", 1), ("min", 2)):
        policy = one_of(name, goal=goal, **({"best": best} if name == "oracle" else {}))
        agent = play_out(agent_of(policy))
        assert agent.recommend() == (0 if name == "uniform" else best)


@pytest.mark.parametrize("name", NAMES)
def test_the_agent_plays_as_the_smallest_driver_does(name: str) -> None:
    policy = one_of(name)
    levels = np.array([0.25, 2.0, -2.0])
    trace = trace_of(policy, [Discrete((level,), (1.0,)) for level in levels])
    agent = stoic.Agent(policy, noise=stoic.SimulatedNoise(generator(2)), rng=play_stream())
    while agent.open_slots:
        block = agent.ask_many(agent.open_slots)
        agent.tell_many(block, levels[block.arms])
    assert loads(agent.state).state == trace.states[-1]


@pytest.mark.parametrize("first_phase", FIRST_PHASES)
@pytest.mark.parametrize("name", ["prae-r", "prae-c"])
def test_every_first_phase_keeps_the_contract_too(name: str, first_phase: str) -> None:
    policy = one_of(name, contamination=0.05, first_phase=first_phase, horizon=1500)
    trace = trace_of(policy)
    assert trace.totals.sum() == 1500
    assert policy.ask(trace.states[-1], rng=generator(1)) == Plan((), ())
    for state, plan in zip(trace.states, trace.plans, strict=True):
        assert loads(dumps(state)) == state
        assert loads(dumps(plan)) == plan
    early = [policy.ask(policy.init(), rng=generator(seed)) for seed in range(60)]
    assert {plan.arms[plan.deal(0, 1)[0]] for plan in early} == {0, 1, 2}
