import dataclasses
import math

import numpy as np
import pytest

from helpers.refusals import refused
from stoic.core import (
    CentralMoment,
    Contamination,
    Plan,
    PrivacyBudget,
    RawMoment,
    Release,
    choice,
    choice_of_goal,
    dumps,
    integer,
    loads,
    real,
    settle,
    value,
)
from stoic.errors import InvalidParameter, InvalidState
from stoic.privacy.queries import Histogram, RecentredMean, TruncatedMean

MEAN = TruncatedMean(0, 1, 1)
PAIR = RecentredMean(Histogram(0, 1, 3, 1), 8)


# --- Assumptions --------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 1.0, 0.5, -2, math.nan, math.inf, "2", None, True, 2j, [2]])
def test_moments_need_an_order_above_one(k):
    assert refused("k", RawMoment, k, 1)
    assert refused("k", CentralMoment, k, 1, (0, 1))


@pytest.mark.parametrize("bound", [0, -1, math.nan, math.inf, "1", None, 1e250])
def test_moments_need_a_positive_bound_of_ordinary_size(bound):
    assert refused("bound", RawMoment, 2, bound)
    assert refused("bound", CentralMoment, 2, bound, (0, 1))


@pytest.mark.parametrize(
    ("mean_range", "parameter"),
    [
        ((1, 1), "mean_range"),
        ((2, 1), "mean_range"),
        (3, "mean_range"),
        ((1, 2, 3), "mean_range"),
        (None, "mean_range"),
        ((0, math.inf), "mean_range[1]"),
        ((math.nan, 1), "mean_range[0]"),
        (("a", 1), "mean_range[0]"),
        ("ab", "mean_range[0]"),
    ],
)
def test_means_need_a_proper_range(mean_range, parameter):
    assert refused(parameter, CentralMoment, 2, 1, mean_range)


@pytest.mark.parametrize("alpha", [-0.1, 1, 1.5, math.nan, "0.1", None])
def test_contamination_is_a_share_below_one(alpha):
    assert refused("alpha", Contamination, alpha)


@pytest.mark.parametrize("epsilon", [0, -1, 1e-7, 1e13, math.nan, math.inf, "1", None])
def test_a_budget_is_positive_and_neither_tiny_nor_huge(epsilon):
    assert refused("epsilon", PrivacyBudget, epsilon)


def test_numpy_numbers_become_plain_ones():
    moments = CentralMoment(np.int64(2), np.float32(5), np.array([0, 100]))
    assert moments == CentralMoment(2, 5, (0, 100))
    assert type(moments.k) is type(moments.bound) is type(moments.mean_range[0]) is float
    assert type(Plan(np.array([1, 0]), np.array([2, 2])).arms[0]) is int


def test_natural_units():
    assert RawMoment(3, 8).scale == pytest.approx(2)
    moments = CentralMoment(2, 25, (-10, 30))
    assert (moments.scale, moments.middle, moments.half_range) == (5, 10, 4)
    assert RawMoment(2, 1).middle == 0


def test_a_central_bound_becomes_a_raw_one():
    assert CentralMoment(2, 5, (-100, 3)).as_raw() == RawMoment(2, 10_005)
    assert CentralMoment(3, 8, (0, 10)).as_raw().bound == pytest.approx(12**3)
    assert refused("mean_range", CentralMoment(9, 1, (0, 1e90)).as_raw)


def test_values_are_frozen_and_hashable():
    budget = PrivacyBudget(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        budget.epsilon = 2
    assert {budget, PrivacyBudget(1.0)} == {budget}


# --- Plans and releases -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "arms", "pulls", "options"),
    [
        ("arms", (0, 0), (1, 1), {}),
        ("arms", (0, 1), (1,), {}),
        ("arms", (-1,), (1,), {}),
        ("arms", (0.5,), (1,), {}),
        ("arms", 3, (1,), {}),
        ("pulls", (0,), 1, {}),
        ("pulls", (0,), (-1,), {}),
        ("pulls", (0, 1), (3, 1), {}),
        ("pulls", (0, 1), (1, 2), {}),
        ("shuffle", (0,), (1,), {"shuffle": -1}),
        ("shuffle", (0,), (1,), {"shuffle": 1, "queries": (MEAN,)}),
        ("pulls", (0, 1), (60_000, 5_537), {"shuffle": 1}),
        ("queries", (0, 1), (1, 1), {"queries": (MEAN,)}),
        ("queries", (0,), (1,), {"queries": ("mean",)}),
        ("queries", (0,), (1,), {"queries": 3}),
        ("pulls", (0,), (0,), {"queries": (MEAN,)}),
        ("pulls", (0, 1), (2, 1), {"queries": (PAIR, PAIR)}),
    ],
)
def test_a_plan_that_cannot_be_dealt_is_refused(parameter, arms, pulls, options):
    assert refused(parameter, Plan, arms, pulls, **options)


def test_a_plan_deals_round_robin_in_the_order_of_its_arms():
    plan = Plan((4, 1, 3), (2, 2, 1))
    assert plan.size == 5
    assert [plan.arms[place] for place in plan.deal(0, 5)] == [4, 1, 3, 4, 1]
    assert plan.deal(2, 2).size == 0


def test_a_shuffled_plan_deals_its_pulls_in_an_order_of_its_seed():
    plan = Plan((0, 1), (30, 10), shuffle=1)
    assert np.bincount(plan.deal(0, 40)).tolist() == [30, 10]
    assert plan.deal(0, 40).tolist() == Plan((0, 1), (30, 10), shuffle=1).deal(0, 40).tolist()
    assert plan.deal(0, 40).tolist() != Plan((0, 1), (30, 10), shuffle=2).deal(0, 40).tolist()
    assert Plan((0, 1), (60_000, 5_536), shuffle=1).size == Plan.MOST_SHUFFLED


@pytest.mark.parametrize(("start", "stop"), [(-1, 2), (3, 2), (0, 6)])
def test_a_plan_deals_its_own_slots_only(start, stop):
    assert refused("start, stop", Plan((0,), (5,)).deal, start, stop)


def test_a_release_is_a_finite_number_from_at_least_one_reward():
    assert refused("value", Release, "mean", math.nan, 1, 1.0)
    assert refused("n", Release, "mean", 0.0, 0, 1.0)
    assert refused("epsilon", Release, "mean", 0.0, 1, -1.0)
    assert Release("mean", 0, n=1, epsilon=None).epsilon is None


# --- Checks -------------------------------------------------------------------------------------


def test_a_refusal_names_parameter_value_and_every_rule():
    with pytest.raises(InvalidParameter) as caught:
        real("share", 7, above=0, at_most=1)
    assert str(caught.value) == "share = 7: must be a finite number, > 0, <= 1"
    assert (caught.value.parameter, caught.value.value) == ("share", 7)


def test_numbers_too_large_for_a_float_are_refused():
    assert refused("x", real, "x", 10**400)
    assert integer("x", 10**400, at_least=0) == 10**400


def test_choices_are_words_from_a_list():
    assert choice("colour", "red", iter(["red", "blue"])) == "red"
    assert refused("colour", choice, "colour", "green", ["red", "blue"])
    assert refused("colour", choice, "colour", ["red"], ["red", "blue"])
    assert choice_of_goal("max") == "max"
    assert refused("goal", choice_of_goal, "maximise")


# --- JSON ---------------------------------------------------------------------------------------


@value
class Crate:
    weight: float

    def __post_init__(self):
        settle(self, weight=real("weight", self.weight, above=0))


def test_json_names_the_kind_and_keeps_every_bit():
    assert dumps(Crate(0.1 + 0.2)) == '{"kind": "Crate", "weight": 0.30000000000000004}'
    assert dumps((1, (None, "a"))) == '[1, [null, "a"]]'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("NaN", "NaN"),
        ("[1e999]", "infinity"),
        ("{}", "kind = None"),
        ('{"kind": "Nothing"}', "kind = 'Nothing'"),
        ('{"kind": ["Crate"], "weight": 1}', "kind = "),
        ('{"kind": "Crate"}', "weight"),
        ('{"kind": "Crate", "weight": 1, "colour": 2}', "colour"),
        ('{"kind": "Crate", "weight": -1}', "must be a finite number, > 0"),
        ('{"kind": "Crate", "weight": null}', "weight = None"),
        ("[" * 100_000, "not JSON"),
        ("9" * 5000, "not JSON"),
        (None, "not JSON"),
    ],
)
def test_other_text_is_an_invalid_state_that_says_why(text, reason):
    with pytest.raises(InvalidState, match=reason):
        loads(text)


def test_what_json_has_no_words_for_is_refused():
    for item in (10**5000, [1], {"a": 1}, math.nan, object()):
        with pytest.raises(InvalidState):
            dumps(item)


def test_names_of_value_types_are_not_taken_twice():
    with pytest.raises(InvalidParameter, match="another value type has this name"):
        value(type("Plan", (), {"__module__": "elsewhere", "__annotations__": {}}))
    with pytest.raises(InvalidParameter, match="'kind'"):
        value(type("Odd", (), {"__annotations__": {"kind": str}}))
