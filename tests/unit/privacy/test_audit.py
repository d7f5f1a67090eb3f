import itertools
import math

import numpy as np
import pytest
from scipy import stats

from stoic.errors import InvalidParameter
from stoic.privacy.audit import audit, audit_outcomes, epsilon_lower_bound


def of(*shares, runs=1000):
    """Outcomes 0, 1, ... with these shares, evenly mixed."""
    counts = np.cumsum(shares) * runs
    outcomes = np.searchsorted(counts, np.arange(runs), side="right")
    return outcomes[np.random.Generator(np.random.SFC64(1)).permutation(runs)]


@pytest.mark.parametrize("hits", [0, 1, 40, 99, 100])
@pytest.mark.parametrize("others", [0, 1, 40, 99, 100])
def test_the_bound_is_that_of_two_clopper_pearson_limits(hits, others):
    p = stats.binomtest(hits, 100).proportion_ci(0.99).low
    q = stats.binomtest(others, 100).proportion_ci(0.99).high
    expected = max(0.0, math.log(p / q)) if p > 0 else 0.0
    found = epsilon_lower_bound(hits, others, 100, confidence=0.99)
    assert found == pytest.approx(expected, abs=1e-9)


def test_equal_outcomes_give_no_bound():
    found = audit_outcomes(of(0.5, 0.5), of(0.5, 0.5))
    assert found.epsilon == 0.0
    assert found.judged == 900


def test_both_directions_are_tried():
    for one, other in itertools.permutations([of(0.9, 0.1), of(0.1, 0.9)]):
        found = audit_outcomes(one, other, confidence=0.99)
        assert 1.7 < found.epsilon < math.log(9)
        assert max(found.frequencies) > 0.8


def test_outcomes_that_one_input_never_has_are_found():
    found = audit_outcomes(of(0.9, 0.1), of(1.0), confidence=0.99)
    assert found.epsilon > 2
    assert found.frequencies[1] == 0


def test_many_numbers_are_judged_by_thresholds():
    rng = np.random.Generator(np.random.SFC64(2))
    one, other = rng.laplace(0, 1, 20_000), rng.laplace(1, 1, 20_000)
    for pair in ((one, other), (other, one), (-one, -other)):
        found = audit_outcomes(*pair)
        assert found.event.startswith("outcome ")
        assert 0.85 < found.epsilon < 1


def test_sequences_of_arms_are_judged_one_by_one_and_together():
    rng = np.random.Generator(np.random.SFC64(3))

    def sequences(p):
        return [tuple(row) for row in (rng.random((4000, 3)) < p).tolist()]

    found = audit_outcomes(sequences(0.5), sequences(0.25))
    assert "most typical" in found.event
    assert 0.5 < found.epsilon < 3 * math.log(2)


def test_only_the_first_tenth_decides_which_event_is_judged():
    rng = np.random.Generator(np.random.SFC64(4))
    one, other = rng.integers(0, 5, 1000), rng.integers(0, 5, 1000)
    event = audit_outcomes(one, other).event
    one[100:], other[100:] = 0, 4
    assert audit_outcomes(one, other).event == event


def test_what_the_first_tenth_shows_is_not_judged():
    one, other = np.repeat([0, 1], [100, 900]), np.repeat([2, 1], [100, 900])
    found = audit_outcomes(one, other)
    assert found.epsilon == 0.0
    assert found.frequencies in ((0.0, 0.0), (1.0, 1.0))


def test_outcomes_never_seen_before_belong_to_no_event():
    # The first tenth knows one outcome only; all of the rest are new.
    one, other = np.repeat([0, 1], [100, 900]), np.repeat([0, 2], [100, 900])
    assert audit_outcomes(one, other).frequencies == (0.0, 0.0)


def test_callables_are_run_as_often_as_asked():
    calls = []
    found = audit(lambda: calls.append(0) or 0, lambda: calls.append(1) or 1, runs=200)
    assert calls == [0] * 200 + [1] * 200
    assert found.judged == 180
    assert found.epsilon > 3


@pytest.mark.parametrize(("one", "other"), [(99, 99), (200, 300)])
def test_too_few_and_unequal_runs_are_refused(one, other):
    with pytest.raises(InvalidParameter, match="runs"):
        audit_outcomes(np.zeros(one), np.zeros(other))


@pytest.mark.parametrize("confidence", [0.5, 1.0])
def test_a_confidence_that_means_nothing_is_refused(confidence):
    with pytest.raises(InvalidParameter, match="confidence"):
        audit_outcomes(np.zeros(100), np.zeros(100), confidence=confidence)
