"""The JSON codec loses nothing and takes nothing else; checks keep to their bounds."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.policies import NAMES, one_of
from stoic.core import (
    CentralMoment,
    Contamination,
    Plan,
    PrivacyBudget,
    RawMoment,
    Release,
    dumps,
    integer,
    loads,
    real,
    value,
)
from stoic.errors import InvalidParameter, InvalidState
from stoic.privacy.queries import TruncatedMean


@value
class Box:
    inside: Any


scales = st.floats(1e-50, 1e50)
orders = st.floats(1.01, 10)
raws = st.builds(RawMoment, orders, scales)
centrals = st.builds(
    lambda k, bound, lo, length: CentralMoment(k, bound, (lo, lo + length)),
    orders,
    scales,
    st.floats(-1e6, 1e6),
    st.floats(1, 1e6),
)
budgets = st.builds(PrivacyBudget, st.floats(1e-6, 1e12))
releases = st.builds(
    Release, st.text(), st.floats(-1e300, 1e300), st.integers(1, 2**70), st.none() | st.just(0.1)
)
plans = st.builds(
    lambda arms, more, shuffle: (
        Plan(tuple(arms), (more + 1,) * len(arms), (TruncatedMean(0.1, 3, 1),) * len(arms))
        if shuffle is None
        else Plan(tuple(arms), tuple(range(len(arms))), shuffle=shuffle)
    ),
    st.lists(st.integers(0, 2**60), unique=True, max_size=5),
    st.integers(0, 2**60),
    st.none() | st.integers(0, 2**63),
)
policies = st.sampled_from([one_of(name) for name in NAMES])
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | raws
    | centrals
    | st.builds(Contamination, st.floats(0, 0.999))
    | budgets
    | releases
    | plans
    | policies
)
items = st.recursive(
    leaves, lambda inner: st.lists(inner).map(tuple) | st.builds(Box, inner), max_leaves=8
)
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["kind", "epsilon", "k"]) | st.text(), inner)
        | st.builds(lambda part: {"kind": "PrivacyBudget", "epsilon": part}, inner)
    ),
    max_leaves=8,
)


@st.composite
def damaged(draw: Any) -> str:
    """The JSON of a policy with a piece of it replaced."""
    text = dumps(draw(policies))
    start = draw(st.integers(0, len(text)))
    stop = draw(st.integers(start, len(text)))
    return text[:start] + draw(st.text(max_size=3)) + text[stop:]


def bits(item: Any) -> Any:
    """The item with every float replaced by its bits, every tuple and value by its parts."""
    if isinstance(item, float):
        return struct.pack(">d", item)
    if isinstance(item, tuple):
        return type(item), [bits(part) for part in item]
    if hasattr(item, "__slots__"):
        return type(item), [bits(getattr(item, name)) for name in item.__slots__]
    return type(item), item


@given(items)
def test_any_value_comes_back_bit_for_bit(item: Any) -> None:
    assert bits(loads(dumps(item))) == bits(item)


def test_bits_tell_apart_what_equality_does_not() -> None:
    assert bits(0.0) != bits(-0.0)
    assert bits(1) != bits(True)
    assert bits((Box(1.0),)) != bits((Box(1),))


@given(st.text() | st.binary() | junk.map(json.dumps) | damaged())
def test_other_text_is_an_invalid_state_or_another_value(text: str) -> None:
    try:
        item = loads(text)
    except InvalidState:
        return
    assert bits(loads(dumps(item))) == bits(item)


@pytest.mark.parametrize(
    "item", [math.nan, math.inf, (1, -math.inf), [1], {"a": 1}, {1}, 1j, object(), Box([1])]
)
def test_what_json_cannot_carry_is_refused(item: object) -> None:
    with pytest.raises(InvalidState):
        dumps(item)


# --- Checks -------------------------------------------------------------------------------------


anything = st.floats() | st.integers() | st.text() | st.none() | st.booleans()


def is_number(item: Any) -> bool:
    return isinstance(item, (int, float)) and not isinstance(item, bool) and math.isfinite(item)


def accepted(check: Any, item: Any, **bounds: float) -> Any:
    try:
        return check("x", item, **bounds)
    except InvalidParameter:
        return None


@given(anything)
def test_real_takes_finite_numbers_within_its_bounds_and_nothing_else(item: Any) -> None:
    expected = float(item) if is_number(item) and -1 < item <= 5 else None
    assert bits(accepted(real, item, above=-1, at_most=5)) == bits(expected)


@given(anything)
def test_integer_takes_whole_numbers_within_its_bounds_and_nothing_else(item: Any) -> None:
    expected = int(item) if is_number(item) and item == int(item) >= -3 else None
    assert bits(accepted(integer, item, at_least=-3)) == bits(expected)


# --- Plans --------------------------------------------------------------------------------------


@given(st.integers(1, 9), st.integers(0, 200), st.none() | st.integers(0, 99), st.data())
def test_a_plan_deals_each_arm_its_pulls_in_pieces_as_in_one_go(
    arms: int, size: int, shuffle: int | None, data: Any
) -> None:
    each, longer = divmod(size, arms)
    pulls = tuple(each + (place < longer) for place in range(arms))
    plan = Plan(tuple(range(arms)), pulls, shuffle=shuffle)
    cut = data.draw(st.integers(0, size))
    dealt = plan.deal(0, size).tolist()
    assert plan.deal(0, cut).tolist() + plan.deal(cut, size).tolist() == dealt
    assert tuple(dealt.count(place) for place in range(arms)) == pulls


@given(centrals)
def test_a_central_bound_implies_its_raw_bound(moments: CentralMoment) -> None:
    # mean + scale and mean - scale, half of the time each: the central bound is attained.
    raw = moments.as_raw()
    assert raw.k == moments.k
    for mean in moments.mean_range:
        ends = (mean - moments.scale, mean + moments.scale)
        assert sum(abs(end) ** raw.k for end in ends) / 2 <= raw.bound * (1 + 1e-9)
