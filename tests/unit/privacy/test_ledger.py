import itertools

import pytest

import stoic
from stoic.core import Release, dumps, loads
from stoic.errors import InvalidParameter, PrivacyViolation
from stoic.privacy import Charge, Ledger

BUDGET = stoic.PrivacyBudget(0.5)


def release(epsilon=0.5, mechanism="truncated-mean"):
    return Release(mechanism, 3.0, n=64, epsilon=epsilon)


def test_a_new_ledger_has_spent_nothing():
    assert Ledger(BUDGET).spent == 0.0
    assert Ledger(BUDGET).charges == ()


def test_disjoint_groups_cost_the_largest_charge_and_not_the_sum():
    ledger = Ledger(BUDGET)
    for place, group in enumerate(itertools.product((1, 2, 3), (0, 1), (0, 1))):
        ledger.charge(*group, release(epsilon=0.5 if place == 4 else 0.25))
    assert ledger.spent == 0.5
    assert len(ledger.charges) == 12


def test_charges_are_kept_in_order_with_all_that_was_spent():
    ledger = Ledger(BUDGET)
    ledger.charge(2, 1, 0, release(mechanism="histogram"))
    ledger.charge(1, 1, 1, release(epsilon=0.1))
    assert ledger.charges == (
        Charge(2, 1, 0, "histogram", 64, 0.5),
        Charge(1, 1, 1, "truncated-mean", 64, 0.1),
    )


@pytest.mark.parametrize("epsilon", [0.5, 0.1])
def test_a_group_is_never_spent_twice_not_even_within_the_budget(epsilon):
    ledger = Ledger(BUDGET)
    ledger.charge(1, 0, 0, release(0.1))
    with pytest.raises(PrivacyViolation, match=r"batch 1, arm 0, fold 0.*already spent"):
        ledger.charge(1, 0, 0, release(epsilon))
    assert len(ledger.charges) == 1


def test_a_charge_beyond_the_budget_is_refused_and_leaves_no_trace():
    ledger = Ledger(BUDGET)
    with pytest.raises(PrivacyViolation, match=r"0\.6 exceeds the budget 0\.5"):
        ledger.charge(1, 0, 0, release(0.6))
    assert ledger.charges == ()
    ledger.charge(1, 0, 0, release(0.5))


def test_what_is_not_private_cannot_be_charged():
    with pytest.raises(PrivacyViolation, match="median is not private"):
        Ledger(BUDGET).charge(1, 0, 0, release(None, "median"))


def test_a_ledger_that_is_read_back_still_refuses_what_was_spent():
    first = Ledger(BUDGET)
    first.charge(1, 0, 0, release())
    again = Ledger(BUDGET, loads(dumps(first.charges)))
    assert again.charges == first.charges
    with pytest.raises(PrivacyViolation):
        again.charge(1, 0, 0, release())
    again.charge(1, 0, 1, release())


def test_stored_charges_that_break_the_rules_are_refused():
    charge = Charge(1, 0, 0, "histogram", 64, 0.5)
    with pytest.raises(PrivacyViolation):
        Ledger(BUDGET, (charge, charge))
    with pytest.raises(PrivacyViolation):
        Ledger(stoic.PrivacyBudget(0.4), (charge,))


@pytest.mark.parametrize(
    "field", [{"batch": -1}, {"arm": 0.5}, {"fold": -1}, {"n": 0}, {"epsilon": 0.0}], ids=str
)
def test_charges_are_checked(field):
    good = dict(batch=1, arm=0, fold=0, mechanism="histogram", n=64, epsilon=0.5)
    with pytest.raises(InvalidParameter, match=next(iter(field))):
        Charge(**good | field)
