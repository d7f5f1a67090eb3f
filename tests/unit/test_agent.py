import base64
import copy
import json
import math
import pickle
from decimal import Decimal
from typing import ClassVar

import numpy as np
import pytest

import stoic
from helpers.policies import agent_of, generator, one_of, play_out
from helpers.spy import Spy
from stoic.core import Plan, loads, value
from stoic.errors import (
    InvalidParameter,
    InvalidReward,
    InvalidState,
    PrivacyViolation,
    UnknownTicket,
)
from stoic.estimators.empirical import Mean
from stoic.policies.fixed import FixedState
from stoic.policies.policy import Run
from stoic.privacy.queries import Unprotected


def agent(name="prae-r", **options):
    return agent_of(one_of(name, **options))


def last_batch(found):
    """The agent with every slot of its open batch dealt, and their tickets."""
    return found, list(found.ask_many(found.open_slots))


# --- Tickets ------------------------------------------------------------------------------------


def test_users_are_dealt_the_arms_of_the_plan_in_turn():
    found = agent()
    tickets = [found.ask() for _ in range(6)]
    assert [ticket.slot for ticket in tickets] == [0, 1, 2, 3, 4, 5]
    assert sorted(ticket.arm for ticket in tickets[:3]) == [0, 1, 2]
    assert [one.arm for one in tickets[:3]] == [one.arm for one in tickets[3:]]
    assert all(type(number) is int for ticket in tickets for number in ticket)


def test_a_shuffled_plan_deals_plain_integers_too():
    found = agent(contamination=0.1, first_phase="round")
    assert json.loads(found.state)["plan"]["shuffle"] is not None
    assert all(type(number) is int for _ in range(20) for number in found.ask())


def test_a_ticket_survives_json():
    found, tickets = last_batch(agent())
    for ticket in tickets:
        found.tell(stoic.Ticket(*json.loads(json.dumps(ticket))), 1.0)
    assert found.ask().phase == 2
    assert max(tickets[0]) < 2**53


def test_asks_beyond_the_batch_get_the_best_arm_so_far_and_count_for_nothing():
    found = play_out(agent("prae-c", horizon=60))
    beyond = found.ask()
    assert (beyond.arm, beyond.slot) == (found.recommend(), -1)
    found, tickets = last_batch(agent())
    assert found.open_slots == 0
    before = found.checkpoint()
    found.tell(found.ask(), 1.0)
    more = found.ask_many(3)
    assert more.slots.tolist() == [-1, -1, -1]
    found.tell_many(more, [1.0, 2.0, 3.0])
    assert found.checkpoint() == before
    found.tell(tickets[0], 1.0)
    assert found.checkpoint() != before


def test_the_first_reward_of_a_ticket_counts():
    once, twice = agent(), agent()
    for found in (once, twice):
        for ticket in last_batch(found)[1]:
            found.tell(ticket, 0.25)
            if found is twice:
                found.tell(ticket, 99.0)
                found.tell(ticket, math.nan)
    assert once.state == twice.state
    assert once.ask().phase == 2


def test_the_first_reward_of_a_slot_in_a_block_counts():
    found = agent()
    block = found.ask_many(found.open_slots)
    doubled = block[np.concatenate([[0, 0], np.arange(1, len(block))])]
    found.tell_many(doubled, np.concatenate([[0.25, 99.0], np.full(len(block) - 1, 0.25)]))
    other = agent()
    other.tell_many(other.ask_many(other.open_slots), np.full(len(block), 0.25))
    assert found.state == other.state


def test_late_rewards_are_taken_without_a_word():
    found, tickets = last_batch(agent())
    block = found.ask_many(0)
    found.close()
    before = found.checkpoint()
    for ticket in tickets:
        found.tell(ticket, 1.0)
    found.tell_many(block, [])
    assert found.checkpoint() == before


@pytest.mark.parametrize(
    "change",
    [
        {"dealing": 1},
        {"phase": 2},
        {"phase": 0},
        {"phase": -1},
        {"slot": 2},
        {"slot": -2},
        {"slot": 10**9},
    ],
    ids=str,
)
def test_tickets_that_were_never_issued_are_unknown(change):
    found = agent()
    block = found.ask_many(2)
    forged = next(iter(block))._replace(**change)
    with pytest.raises(UnknownTicket):
        found.tell(forged, 1.0)
    columns = (np.append(one, more) for one, more in zip(block_of(block), forged[:3], strict=True))
    with pytest.raises(UnknownTicket):
        found.tell_many(stoic.Tickets(*columns, dealing=forged.dealing), [1.0, 2.0, 3.0])
    assert told(found) == [False, False]  # a block with a stranger in it is not taken at all


def block_of(tickets):
    return tickets.arms, tickets.phases, tickets.slots


def told(found):
    kept = json.loads(found.checkpoint())["told"]
    return np.frombuffer(base64.b64decode(kept), dtype=np.bool_).tolist()


@pytest.mark.parametrize("ticket", [None, 3, "abc", (1, 2, 3), 0.5, (1, 1, 1, 1, 1)])
def test_what_is_no_ticket_is_unknown(ticket):
    with pytest.raises(UnknownTicket, match="four integers"):
        agent().tell(ticket, 1.0)


def test_tickets_of_another_agent_are_unknown():
    one, other = agent(), agent()
    with pytest.raises(UnknownTicket):
        other.tell(one.ask(), 1.0)


# --- Rewards ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reward", ["12345.6", None, [12345.6], True, np.True_, 12345.6j, Decimal("12345.6"), b"12345"]
)
def test_what_is_no_number_is_refused_and_not_shown(reward):
    found = agent()
    ticket, block = found.ask(), found.ask_many(1)
    for tell in (
        lambda: found.tell(ticket, reward),
        lambda: found.tell_many(block, [reward]),
        lambda: found.close(default=reward),
    ):
        with pytest.raises((InvalidReward, InvalidParameter)) as refused:
            tell()
        assert "12345" not in str(refused.value)
    assert told(found) == [False, False]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_block_needs_a_reward_for_each_ticket(count):
    found = agent()
    with pytest.raises(InvalidParameter, match=r"one number for each of 2 tickets") as refused:
        found.tell_many(found.ask_many(2), np.full(count, 12345.6))
    assert "12345" not in str(refused.value)


def test_swapped_arguments_do_not_show_the_rewards():
    found = agent()
    block = found.ask_many(2)
    with pytest.raises(InvalidParameter) as refused:
        found.tell_many([12345.6, 12345.6], block)
    assert "12345" not in str(refused.value)


def test_every_real_number_is_a_reward():
    rewards = [math.nan, math.inf, -math.inf, 0, -3, 2**70, 10**400, -(10**400), 1e308]
    rewards += [np.float32(0.5), np.int8(-3), np.uint64(7), np.longdouble(2)]
    single, block = agent(), agent()
    for reward in rewards:
        single.tell(single.ask(), reward)
        block.tell_many(block.ask_many(1), [reward])
    for found in (single, block):
        found.close()
        play_out(found)
    assert single.state == block.state


def test_two_agents_told_the_same_in_other_types_agree():
    one, other = agent(), agent()
    for found, kind in ((one, float), (other, np.float32)):
        block = found.ask_many(found.open_slots)
        found.tell_many(block, np.asarray(np.arange(len(block)) % 4, dtype=kind))
    assert one.state == other.state


# --- Closing ------------------------------------------------------------------------------------


def test_closing_gives_up_on_the_missing_and_opens_the_next_batch():
    found, tickets = last_batch(agent())
    found.tell(tickets[0], 1.0)
    found.close()
    assert found.ask().phase == 2


def test_a_batch_with_slots_left_waits_for_them_after_closing():
    found = agent()
    first = found.ask()
    found.close(default=0.5)
    assert (found.open_slots, told(found)) == (5, [True])
    found.tell(first, 99.0)  # too late
    for ticket in last_batch(found)[1]:
        assert ticket.phase == 1
        found.tell(ticket, 0.5)
    other = agent()
    other.tell_many(other.ask_many(6), np.full(6, 0.5))
    assert found.state == other.state


def test_closing_with_nothing_missing_changes_nothing():
    for name in ("prae-r", "uniform"):
        found = agent(name)
        before = found.checkpoint()
        found.close()
        assert found.checkpoint() == before
    found = play_out(agent(horizon=60))
    before = found.checkpoint()
    found.close()
    assert found.checkpoint() == before


# --- Phases that ask for nothing ----------------------------------------------------------------


def test_rewards_that_nothing_is_asked_of_are_not_kept():
    found = agent("uniform", horizon=50)
    for _ in range(20):
        found.tell(found.ask(), 0.123)
    kept = json.loads(found.checkpoint())
    assert (kept["issued"], kept["told"], kept["rewards"]) == (20, "", "")


def test_such_a_phase_ends_with_its_last_slot():
    found = agent(contamination=0.1, first_phase="batch")
    assert found.open_slots == 2
    found.ask()
    found.ask()
    assert (found.open_slots, found.ask().phase) == (4, 2)


def test_a_block_may_span_several_of_them():
    found = agent(contamination=0.1, first_phase="batch", horizon=1000)
    block = found.ask_many(9)
    assert block.phases.tolist() == [1, 1, 2, 2, 2, 2, 3, 3, 3]
    assert block.slots.tolist() == [0, 1, 0, 1, 2, 3, 0, 1, 2]
    found.tell_many(block, np.zeros(9))


# --- Blocks -------------------------------------------------------------------------------------


def test_a_block_is_a_sequence_of_tickets():
    block = agent().ask_many(6)
    tickets = list(block)
    assert len(block) == len(tickets) == 6
    assert tickets == [ticket for part in (block[:2], block[2:]) for ticket in part]
    assert list(block[block.arms == 1]) == [ticket for ticket in tickets if ticket.arm == 1]
    assert all(type(number) is int for ticket in tickets for number in ticket)


@pytest.mark.parametrize("n", [-1, 2.5, "3", None, math.nan])
def test_a_block_needs_a_number_of_users(n):
    with pytest.raises(InvalidParameter, match="n = "):
        agent().ask_many(n)


def test_an_empty_block_is_nothing():
    found = agent()
    block = found.ask_many(0)
    found.tell_many(block, [])
    assert (len(block), found.open_slots) == (0, 6)


# --- Releases -----------------------------------------------------------------------------------


def silent(policy):
    """An agent whose releases have no noise, so that they show which rewards they are of."""
    return stoic.Agent(policy, noise=Spy(), rng=generator(1))


def test_every_arm_is_judged_by_its_own_rewards():
    found = silent(one_of("prae-r"))
    block = found.ask_many(found.open_slots)
    found.tell_many(block, 0.25 * block.arms)
    assert loads(found.state).state.estimates == pytest.approx((0.0, 0.25, 0.5), abs=1e-8)


def test_even_positions_locate_and_odd_ones_are_averaged():
    found = silent(one_of("prae-c", first_phase="greedy"))
    block = found.ask_many(found.open_slots)  # one arm, two rewards
    found.tell_many(block, [0.9, -0.7])
    (arm,) = set(block.arms.tolist())
    assert loads(found.state).state.estimates[arm] == pytest.approx(-0.7, abs=1e-8)
    block = found.ask_many(found.open_slots)
    found.tell_many(block, [0.9, -0.7, 0.9, -0.5])
    (arm,) = set(block.arms.tolist())
    assert loads(found.state).state.estimates[arm] == pytest.approx(-0.6, abs=1e-8)


def test_the_recommendation_follows_the_latest_releases():
    found = silent(one_of("prae-r", epsilon=5.0))
    for best in (2, 0, 1):
        found.recommend()
        block = found.ask_many(found.open_slots)
        found.tell_many(block, np.where(block.arms == best, 0.2, 0.0))
        assert found.recommend() == best


# --- Privacy ------------------------------------------------------------------------------------


def test_every_release_is_charged_once_at_epsilon():
    found = play_out(agent("prae-c", epsilon=0.5))
    charges = loads(found.state).charges
    assert charges == found.ledger.charges
    assert len({(one.batch, one.arm, one.fold) for one in charges}) == len(charges) >= 6
    assert {one.fold for one in charges} == {0, 1}
    assert {one.epsilon for one in charges} == {found.ledger.spent} == {0.5}


def test_a_policy_that_is_not_private_has_no_ledger():
    assert play_out(agent("ucb1", horizon=20)).ledger is None


@value
class Leaky(Run):
    """Calls itself private, and asks for the rewards as they are."""

    arms: int
    horizon: int
    goal: str
    epsilon: float | None

    name: ClassVar = "leaky"
    privacy: ClassVar = "central"

    def init(self):
        return FixedState(0)

    def ask(self, state, *, rng):
        return Plan((0,), (1,), (Unprotected(Mean()),))

    def recommend(self, state):
        return 0


@pytest.mark.parametrize("epsilon", [None, 1.0])
def test_a_private_policy_may_not_ask_for_rewards_as_they_are(epsilon):
    found = agent_of(Leaky(2, 10, "max", epsilon))
    with pytest.raises(PrivacyViolation) as refused:
        found.tell(found.ask(), 12345.6)
    assert "12345" not in str(refused.value)
    assert "12345" not in found.state


def test_no_reward_is_in_what_an_agent_prints():
    found = agent()
    ticket = found.ask()
    found.tell(ticket, 12345.6)
    assert repr(found) == "<Agent prae-r: phase 1, 1 of 6 slots dealt>"
    kept = loads(found.checkpoint())
    assert kept.rewards
    assert kept.rewards not in repr(kept)


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_an_agent_is_not_duplicated(duplicate):
    with pytest.raises(PrivacyViolation, match="released twice"):
        duplicate(agent())


def test_simulated_noise_is_never_forgotten():
    policy, rng = one_of("prae-r"), generator(1)
    real, simulated = stoic.SecureNoise(), stoic.SimulatedNoise(rng)
    found = stoic.Agent(policy, noise=real, rng=rng)
    assert found.private
    assert stoic.Agent.from_state(found.state, noise=real, rng=rng).private
    once = stoic.Agent.from_state(found.state, noise=simulated, rng=rng)
    assert not once.private
    assert not stoic.Agent.from_checkpoint(once.checkpoint(), noise=real, rng=rng).private


@pytest.mark.parametrize(
    ("parameter", "given"), [("noise", None), ("noise", 1), ("rng", None), ("rng", 1)]
)
def test_noise_and_play_need_their_sources(parameter, given):
    sources = {"noise": stoic.SecureNoise(), "rng": generator(1), parameter: given}
    found = agent()
    for build in (
        lambda: stoic.Agent(one_of("prae-r"), **sources),
        lambda: stoic.Agent.from_state(found.state, **sources),
        lambda: stoic.Agent.from_checkpoint(found.checkpoint(), **sources),
    ):
        with pytest.raises(InvalidParameter, match=f"{parameter} = "):
            build()


# --- Keeping ------------------------------------------------------------------------------------


def again(text, read=stoic.Agent.from_state):
    return read(text, noise=stoic.SimulatedNoise(generator(1, 1)), rng=generator(1, 2))


def test_an_agent_can_be_kept_before_the_first_ask_and_after_the_horizon():
    for found in (agent(), play_out(agent())):
        assert again(found.state).state == found.state
        kept = found.checkpoint()
        assert again(kept, stoic.Agent.from_checkpoint).checkpoint() == kept
    assert again(found.state).open_slots == 0
    assert again(found.state).ask().slot == -1


def test_a_state_deals_the_open_batch_again_and_a_checkpoint_goes_on():
    found = agent()
    first = found.ask()
    found.tell(first, 1.0)
    over, on = again(found.state), again(found.checkpoint(), stoic.Agent.from_checkpoint)
    assert (over.open_slots, on.open_slots) == (6, 5)
    assert over.ask().arm == first.arm
    with pytest.raises(UnknownTicket):
        over.tell(first, 1.0)
    on.tell(first, 99.0)
    assert on.checkpoint() == found.checkpoint()


def test_a_checkpoint_says_that_it_is_private():
    assert json.loads(agent().checkpoint())["notice"].startswith("private: holds rewards")
    assert "notice" not in json.loads(agent().state)


def damage(text, *path, to):
    kept = json.loads(text)
    *way, last = path
    place = kept
    for step in way:
        place = place[step]
    place[last] = to
    return json.dumps(kept)


@pytest.mark.parametrize(
    ("path", "to"),
    [
        (("policy",), None),
        (("policy",), 3),
        (("state",), None),
        (("state",), {"kind": "FixedState", "spent": 0}),
        (("plan",), None),
        (("plan", "arms"), [7, 8, 9]),
        (("phase",), 0),
        (("charges",), [1]),
        (("charges",), None),
        (("protected",), 1),
    ],
)
def test_a_state_whose_parts_do_not_fit_is_refused(path, to):
    with pytest.raises(InvalidState):
        again(damage(agent().state, *path, to=to))


@pytest.mark.parametrize(
    ("field", "to"),
    [
        ("issued", 5),
        ("issued", 7),
        ("issued", -1),
        ("issued", None),
        ("dealing", "x"),
        ("told", "AQEBAQ=="),
        ("told", "?"),
        ("rewards", ""),
        ("rewards", "AAAA"),
        ("rewards", None),
        ("public", None),
    ],
)
def test_a_checkpoint_whose_parts_do_not_fit_is_refused(field, to):
    found, tickets = last_batch(agent())
    found.tell(tickets[0], 12345.6)
    secret = json.loads(found.checkpoint())["rewards"]
    with pytest.raises(InvalidState) as refused:
        again(damage(found.checkpoint(), field, to=to), stoic.Agent.from_checkpoint)
    assert secret not in str(refused.value)


def test_a_checkpoint_with_more_slots_dealt_than_there_are_is_refused():
    found = agent("uniform", horizon=50)
    found.ask()
    with pytest.raises(InvalidState, match="belong together"):
        again(damage(found.checkpoint(), "issued", to=51), stoic.Agent.from_checkpoint)


def test_state_and_checkpoint_are_not_mistaken_for_each_other():
    found = agent()
    with pytest.raises(InvalidState, match="holds a AgentState, not an AgentCheckpoint"):
        again(found.state, stoic.Agent.from_checkpoint)
    with pytest.raises(InvalidState, match="AgentCheckpoint"):
        again(found.checkpoint())
    with pytest.raises(InvalidState, match="not JSON"):
        again("nonsense")


# --- Memory -------------------------------------------------------------------------------------


def test_a_long_batch_takes_memory_as_it_is_dealt():
    found = agent("successive-elimination", arms=2, horizon=10**12)
    assert found.open_slots == 2
    found = agent("uniform", horizon=10**12)
    block = found.ask_many(10)
    found.tell_many(block, np.ones(10))
    assert found.open_slots == 10**12 - 10
    found = agent("dprse", horizon=10**12, epsilon=1e-6)
    assert found.open_slots > 10**6
    found.tell(found.ask(), 1.0)
    assert len(found.checkpoint()) < 3000


def test_a_random_first_phase_is_dealt_in_pieces():
    wide = stoic.CentralMoment(2, 1, (-6, 6))
    setting = {"contamination": 0.1, "first_phase": "round", "profile": "proof"}
    found = agent("prae-c", moments=wide, horizon=10**9, **setting)
    sizes = []
    while sum(sizes) < 2**19 - 2:
        sizes.append(found.open_slots)
        found.ask_many(found.open_slots)
    assert sizes == [2**tau for tau in range(1, 17)] + [2**16] * 6
