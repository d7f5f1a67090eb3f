"""Both sources of noise follow their stated laws, and one 30 % too small or too large is seen.

Every judgement here raises a false alarm with probability 1e-9 at most (see helpers.goodness); the
draws of SecureNoise are fresh in every run.
"""

import itertools

import numpy as np
import pytest
from numpy.polynomial import Polynomial

import stoic
from helpers.goodness import fits, same_law

pytestmark = pytest.mark.statistical

ALARM = 1e-9
RUNS = 20_000
CELLS = 12

SOURCES = {
    "simulated": lambda: stoic.SimulatedNoise(np.random.Generator(np.random.SFC64(7))),
    "secure": stoic.SecureNoise,
}
# Small scales are visibly discrete; that of a fixed-point sum is continuous for all practical uses.
SCALES = [(2, 0.5), (1, 1.0), (2**31, 0.5)]
SCORES = np.array([0, 4, 7, 7, 9])


@pytest.fixture(params=SOURCES)
def noise(request):
    return SOURCES[request.param]()


# --- Discrete Laplace ---------------------------------------------------------------------------


def below(edge, scale):
    """``P(X < edge)`` for ``P(X = x)`` proportional to ``exp(-|x| / scale)``."""
    tail = np.exp(-np.abs(np.where(edge > 0, edge, 1 - edge)) / scale) / (1 + np.exp(-1 / scale))
    return np.where(edge > 0, 1 - tail, tail)


def edges(scale):
    """Integers that cut the law into cells of roughly the same probability."""
    halves = np.linspace(0, 1, CELLS // 2 + 1)[1:-1]
    ends = np.ceil(-scale * np.log1p(-halves)).astype(np.int64)
    return np.unique([*(1 - ends), 0, 1, *ends])


def cells(draws, scale):
    return np.bincount(np.searchsorted(edges(scale), draws, side="right"), minlength=CELLS)


def laplace_law(scale, wrong=1.0):
    """What the cells of ``scale`` hold under a scale that is wrong by a factor."""
    law = np.diff([0, *below(edges(scale), wrong * scale), 1])
    return np.pad(law, (0, max(0, CELLS - law.size)))


def vector_of(noise, sensitivity, epsilon):
    return noise.laplace_vector(np.zeros(RUNS, np.int64), sensitivity=sensitivity, epsilon=epsilon)


def singles_of(noise, sensitivity, epsilon):
    draw = (noise.laplace(0, sensitivity=sensitivity, epsilon=epsilon) for _ in range(RUNS))
    return np.fromiter(draw, np.int64, RUNS)


@pytest.mark.parametrize("draws_of", [singles_of, vector_of])
@pytest.mark.parametrize(("sensitivity", "epsilon"), SCALES)
def test_laplace_noise_has_the_stated_scale(noise, draws_of, sensitivity, epsilon):
    scale = sensitivity / epsilon
    counts = cells(draws_of(noise, sensitivity, epsilon), scale)
    assert fits(counts, laplace_law(scale), alarm=ALARM)
    assert not fits(counts, laplace_law(scale, wrong=0.7), alarm=ALARM)
    assert not fits(counts, laplace_law(scale, wrong=1.3), alarm=ALARM)


def test_both_sources_draw_the_same_laplace_noise():
    one, other = (cells(vector_of(make(), 2, 0.5), scale=4) for make in SOURCES.values())
    assert same_law(one, other, alarm=ALARM)
    for wrong in (0.7, 1.3):
        off = cells(vector_of(SOURCES["secure"](), 2, 0.5 / wrong), scale=4)
        assert not same_law(one, off, alarm=ALARM)


def test_laplace_noise_is_added_to_the_exact_value(noise):
    counts = cells(
        noise.laplace_vector(np.full(RUNS, 10**12), sensitivity=2, epsilon=0.5) - 10**12, scale=4
    )
    assert fits(counts, laplace_law(4), alarm=ALARM)
    assert not fits(counts, np.roll(laplace_law(4), 1), alarm=ALARM)


def test_the_noise_of_neighbouring_entries_is_independent(noise):
    signs = np.sign(vector_of(noise, 2, 0.5)).reshape(-1, 2)
    table = np.bincount((signs + 1) @ [3, 1], minlength=9)
    zero = 1 - 2 * below(np.array(0), 4.0)
    sign_law = np.array([(1 - zero) / 2, zero, (1 - zero) / 2])
    assert fits(table, np.outer(sign_law, sign_law).ravel(), alarm=ALARM)
    echo = np.bincount((signs[:, [0, 0]] + 1) @ [3, 1], minlength=9)
    assert not fits(echo, np.outer(sign_law, sign_law).ravel(), alarm=ALARM)


# --- Noisy maximum ------------------------------------------------------------------------------


def noisy_max_law(scores, scale):
    """Exact law of the index of the largest score plus exponential noise.

    A score that is ``d`` behind wins at a height ``y`` above the best score with the density of
    ``exp(-(d + y) / scale)``, if all others stay below: ``p int_0^1 prod(1 - p_j t) dt`` with
    ``p = exp(-d / scale)`` and ``t = exp(-y / scale)``.
    """
    odds = np.exp((scores - scores.max()) / scale)
    law = []
    for place, p in enumerate(odds):
        others = Polynomial([1.0])
        for q in np.delete(odds, place):
            others *= Polynomial([1.0, -q])
        law.append(p * others.integ()(1.0))
    return np.array(law)


def winners(noise, epsilon, sensitivity=1):
    draw = (noise.noisy_max(SCORES, sensitivity=sensitivity, epsilon=epsilon) for _ in range(RUNS))
    return np.bincount(np.fromiter(draw, np.int64, RUNS), minlength=SCORES.size)


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1, 1.0), (1, 0.4), (3, 1.0)])
def test_the_noisy_maximum_has_the_stated_scale(noise, sensitivity, epsilon):
    scale = 2 * sensitivity / epsilon
    counts = winners(noise, epsilon, sensitivity)
    assert fits(counts, noisy_max_law(SCORES, scale), alarm=ALARM)
    assert not fits(counts, noisy_max_law(SCORES, 0.7 * scale), alarm=ALARM)
    assert not fits(counts, noisy_max_law(SCORES, 1.3 * scale), alarm=ALARM)


def test_both_sources_find_the_same_maxima():
    one, other = (winners(make(), 1.0) for make in SOURCES.values())
    assert same_law(one, other, alarm=ALARM)
    for wrong in (0.7, 1.3):
        assert not same_law(one, winners(SOURCES["secure"](), 1.0 / wrong), alarm=ALARM)


@pytest.mark.parametrize("scale", [0.5, 2.0, 40.0])
def test_the_law_of_the_noisy_maximum_is_private(scale):
    # The formula above against the definition: all neighbours of the scores, exactly.
    for change in itertools.product((-1, 0, 1), repeat=SCORES.size):
        ratio = noisy_max_law(SCORES, scale) / noisy_max_law(SCORES + np.array(change), scale)
        assert np.abs(np.log(ratio)).max() <= 2 / scale + 1e-9
    assert noisy_max_law(SCORES, scale).sum() == pytest.approx(1)
