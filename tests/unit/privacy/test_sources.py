"""The two sources of noise, apart from their laws (tests/statistical/test_noise.py)."""

import sys
import threading
import time

import numpy as np
import pytest

import stoic
from stoic.errors import MissingExtra
from stoic.privacy import secure

MAKERS = [secure._laplace, secure._laplace_vector, secure._noisy_max]


def simulated(seed=1):
    return stoic.SimulatedNoise(np.random.Generator(np.random.SFC64(seed)))


@pytest.fixture(params=[simulated, stoic.SecureNoise], ids=["simulated", "secure"])
def noise(request):
    return request.param()


# --- Both ---------------------------------------------------------------------------------------


def test_only_secure_noise_claims_to_protect():
    assert stoic.SecureNoise().private
    assert not simulated().private


def test_integers_come_back(noise):
    assert type(noise.laplace(10**15, sensitivity=2**31, epsilon=1.0)) is int
    assert type(noise.noisy_max(np.array([3, 9]), sensitivity=1, epsilon=1.0)) is int
    vector = noise.laplace_vector(np.array([3, 9, -4]), sensitivity=2, epsilon=1.0)
    assert vector.dtype == np.int64
    assert vector.shape == (3,)


def test_at_the_largest_epsilon_there_is_no_noise_left(noise):
    exact = np.array([-5, 0, 2**62])
    assert noise.laplace(7, sensitivity=2**31, epsilon=1e12) == 7
    assert noise.laplace_vector(exact, sensitivity=2, epsilon=1e12).tolist() == exact.tolist()
    assert noise.noisy_max(exact, sensitivity=1, epsilon=1e12) == 2


def test_at_the_smallest_epsilon_noise_of_a_fixed_point_sum_fits_into_64_bits(noise):
    # Its scale is 2^31 / 1e-6, about 2^51; exp(-64) of the draws would pass 2^57.
    draws = [noise.laplace(0, sensitivity=2**31, epsilon=1e-6) for _ in range(500)]
    assert max(map(abs, draws)) < 2**57
    assert len({draw > 0 for draw in draws}) == 2
    counts = np.array([2**62, -(2**62), 0])
    noisy = noise.laplace_vector(counts, sensitivity=2, epsilon=1e-6)
    assert np.abs(noisy - counts).max() < 2**28


def test_one_score_alone_always_wins(noise):
    assert noise.noisy_max(np.array([-7]), sensitivity=1, epsilon=1e-6) == 0


# --- Simulated ----------------------------------------------------------------------------------


def test_simulated_noise_is_that_of_its_generator():
    one, same, other = simulated(3), simulated(3), simulated(4)
    draws = [
        [noise.laplace(0, sensitivity=2**31, epsilon=1.0) for _ in range(5)]
        for noise in (one, same, other)
    ]
    assert draws[0] == draws[1] != draws[2]


def test_simulated_noise_on_sums_beyond_64_bits_is_added_exactly():
    zero, huge = (simulated().laplace(exact, sensitivity=2, epsilon=1.0) for exact in (0, 2**90))
    assert huge - zero == 2**90


# --- Secure -------------------------------------------------------------------------------------


def test_secure_noise_clamps_to_64_bits():
    noise = stoic.SecureNoise()
    for exact in (2**63, 2**90, -(2**63) - 1, -(2**90)):
        found = noise.laplace(exact, sensitivity=2**31, epsilon=1e12)
        assert found == np.sign(exact) * (2**63 - 1)
    for _ in range(20):  # noise beyond the end stays at the end
        assert -(2**63) <= noise.laplace(2**90, sensitivity=2**31, epsilon=1e-6) < 2**63


def test_secure_noise_draws_anew_every_time():
    draws = {stoic.SecureNoise().laplace(0, sensitivity=2**31, epsilon=1e-6) for _ in range(50)}
    assert len(draws) == 50  # two alike: once in 1e12 runs


def epsilons():
    rng = np.random.Generator(np.random.SFC64(5))
    return [*10 ** rng.uniform(-6, 12, 600), *rng.uniform(0.01, 3, 600), 0.1, 0.2, 0.3, 1e-6, 1e12]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("sensitivity", [1, 2, 2**31])
def test_the_loss_that_opendp_proves_never_exceeds_epsilon_and_hardly_falls_short(
    make, sensitivity
):
    for epsilon in epsilons():
        loss = make.__wrapped__(sensitivity, epsilon).map(sensitivity)
        assert epsilon * (1 - 1e-12) <= loss <= epsilon


def test_without_calibration_the_loss_does_exceed_epsilon():
    exceeded = 0
    for epsilon in epsilons():
        scale = 2**31 / epsilon
        space = secure._opendp().atom_domain(T="i64"), secure._opendp().absolute_distance(T="i64")
        loss = secure._opendp().m.make_laplace(*space, scale=scale).map(2**31)
        assert loss <= np.nextafter(epsilon, np.inf)
        exceeded += loss > epsilon
    assert exceeded > 100


def test_a_changed_score_is_paid_for_in_both_directions():
    # Window counts may go up and down at once: at scale 1 / epsilon the loss would be twice as big.
    dp = secure._opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    assert dp.m.make_noisy_max(*space, dp.max_divergence(), scale=1.0).map(1) == 2.0
    assert secure._noisy_max(1, 1.0).map(1) == 1.0


def test_one_measurement_runs_at_a_time(monkeypatch):
    inside, most = [], []

    def slow(*_):
        def measurement(exact):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.001)
            inside.pop()
            return exact

        return measurement

    for name in ("_laplace", "_laplace_vector", "_noisy_max"):
        monkeypatch.setattr(secure, name, slow)
    calls = [
        lambda: stoic.SecureNoise().laplace(1, sensitivity=1, epsilon=1.0),
        lambda: stoic.SecureNoise().laplace_vector(np.array([1]), sensitivity=1, epsilon=1.0),
    ] * 8
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 16
    assert set(most) == {1}


def test_without_opendp_the_error_names_the_pip_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    monkeypatch.setattr(secure, "_opendp", secure._opendp.__wrapped__)
    with pytest.raises(MissingExtra, match=r"pip install 'stoic-bandits\[secure\]'"):
        stoic.SecureNoise()


def test_no_seed_can_be_given():
    with pytest.raises(TypeError):
        stoic.SecureNoise(1)
