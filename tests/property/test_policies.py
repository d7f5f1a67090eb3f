"""Units do not matter: whole policies follow a change of scale, and of origin where they can."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers.policies import agent_of, one_of, rewards_of
from stoic.core import CentralMoment, Moment, RawMoment, loads
from stoic.policies import Policy

RAW, CENTRAL = RawMoment(2, 5), CentralMoment(3, 1, (-3, 3))

BOUND_TO_THE_ORIGIN = [
    ("prae-r", {"contamination": 0.05, "first_phase": "explore"}),
    ("prae-r", {"profile": "proof"}),
    ("dprse", {}),
    ("dprse", {"profile": "proof", "horizon": 100_000}),
]
FREE = [
    ("prae-c", {}),
    ("prae-c", {"contamination": 0.05, "first_phase": "greedy"}),
    ("elimination", {}),
    ("elimination", {"statistic": "catoni"}),
    ("successive-elimination", {"horizon": 300}),
    ("ucb1", {"horizon": 100}),
]

scales = st.floats(1e-3, 1e3)
shifts = st.floats(-1e3, 1e3)


def moved(moments: Moment, scale: float, shift: float) -> Moment:
    """What the moments say of ``scale * reward + shift``."""
    bound = moments.bound * scale**moments.k
    if isinstance(moments, RawMoment):
        return RawMoment(moments.k, bound)
    lo, hi = moments.mean_range
    return CentralMoment(moments.k, bound, (scale * lo + shift, scale * hi + shift))


def played(policy: Policy, scale: float = 1.0, shift: float = 0.0) -> list[Any]:
    """What the agent shows after each batch when the rewards are moved."""
    agent = agent_of(policy)
    shown = []
    while agent.open_slots:
        block = agent.ask_many(agent.open_slots)
        agent.tell_many(block, scale * rewards_of(block) + shift)
        shown.append(loads(agent.state))
    return shown


def assert_moved(before: list[Any], after: list[Any], scale: float, shift: float) -> None:
    assert [one.plan.arms for one in before] == [one.plan.arms for one in after]
    assert [one.plan.pulls for one in before] == [one.plan.pulls for one in after]
    for one, other in zip(before, after, strict=True):
        known = [found for found in getattr(one.state, "estimates", ()) if found is not None]
        moved_too = [found for found in getattr(other.state, "estimates", ()) if found is not None]
        expected = [scale * found + shift for found in known]
        assert moved_too == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("name", "options"), BOUND_TO_THE_ORIGIN)
@settings(max_examples=10)
@given(scale=scales)
def test_a_policy_with_raw_moments_follows_a_change_of_scale(
    name: str, options: dict[str, Any], scale: float
) -> None:
    before = played(one_of(name, moments=RAW, **options))
    policy = one_of(name, moments=moved(RAW, scale, 0.0), **options)
    assert_moved(before, played(policy, scale), scale, 0.0)


@pytest.mark.parametrize(("name", "options"), FREE)
@settings(max_examples=10)
@given(scale=scales, shift=shifts)
def test_a_policy_with_central_moments_follows_a_change_of_scale_and_origin(
    name: str, options: dict[str, Any], scale: float, shift: float
) -> None:
    before = played(one_of(name, moments=CENTRAL, **options))
    policy = one_of(name, moments=moved(CENTRAL, scale, shift), **options)
    assert_moved(before, played(policy, scale, shift), scale, shift)


@given(scale=scales)
@settings(max_examples=10)
def test_a_policy_that_is_not_told_of_the_change_decides_otherwise(scale: float) -> None:
    # Else the laws above would be empty.
    assume(not 0.2 < scale < 5)
    policy = one_of("prae-r", moments=RAW)
    with pytest.raises(AssertionError):
        assert_moved(played(policy), played(policy, scale), scale, 0.0)
