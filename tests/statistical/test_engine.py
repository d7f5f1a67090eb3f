"""The engine plays as a naive loop does, on rewards of its own; and what it draws has its law.

Every judgement raises a false alarm with probability 1e-9 at most, all of this file together with
2e-8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import stoic
from helpers.attack import Weakened
from helpers.goodness import fits
from helpers.policies import generator, one_of
from helpers.rounds import play_rounds
from stoic.environments import Gaussian, Huber, Instance, Pareto, Point, StudentT
from stoic.policies import UCB1, Policy
from stoic.simulation import RewardStream, compare, engine, streams

pytestmark = pytest.mark.statistical

ALARM = 1e-9
GARBAGE = Gaussian(-5.0, 1.0)


def two_arms(gap: float) -> Instance:
    arms = (StudentT(2.5, 0.0), StudentT(2.5, gap))
    return Instance(arms).contaminated(0.2, GARBAGE)


def without_garbage(instance: Instance) -> Instance:
    return Instance(tuple(arm.clean for arm in instance.arms))


def private(name: str, horizon: int) -> Policy:
    return one_of(name, arms=2, horizon=horizon, contamination=0.2, epsilon=0.5, delta=0.5)


def naive_regret(policy: Policy, instance: Instance, runs: int) -> NDArray[np.float64]:
    """Final regret of naive runs; each draws its rewards and its noise anew."""
    final = []
    for seed in np.random.SeedSequence(99).spawn(runs):
        public, secret, nature = map(generator_of, seed.spawn(3))

        def pay(
            arm: int, n: int, folds: int, nature: np.random.Generator = nature
        ) -> Sequence[float]:
            return instance.arms[arm].sample(n, rng=nature).tolist()

        run = play_rounds(
            policy,
            instance,
            order=public.permutation(instance.size).tolist(),
            pay=pay,
            rng=public,
            noise=stoic.SimulatedNoise(secret),
        )
        final.append(run.regret[-1])
    return np.array(final)


def generator_of(seed: np.random.SeedSequence) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def regret(policy: Policy, instance: Instance, runs: int) -> NDArray[np.float64]:
    return stoic.simulate(policy, instance, replications=runs, seed=1).final_regret


def same(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Two samples of one law; wrongly False with probability ``ALARM`` at most, ties or not."""
    return bool(stats.ks_2samp(one, other, method="exact").pvalue > ALARM)


# --- Final regret -------------------------------------------------------------------------------


def test_regret_has_the_law_of_naive_runs_and_shows_wrong_noise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy, instance, runs = private("prae-r", 150), two_arms(0.5), 3000
    naive = naive_regret(policy, instance, runs)
    assert same(naive, regret(policy, instance, runs))
    honest = stoic.SimulatedNoise
    for factor in (0.7, 1.3):
        monkeypatch.setattr(
            engine, "SimulatedNoise", lambda rng, factor=factor: Weakened(honest(rng), factor)
        )
        assert not same(naive, regret(policy, instance, runs))


@pytest.mark.parametrize(
    ("policy", "runs"),
    [(private("prae-c", 300), 1200), (one_of("ucb1", arms=2, horizon=30), 500)],
    ids=["prae-c", "ucb1"],
)
def test_regret_has_the_law_of_naive_runs_and_shows_forgotten_garbage(
    policy: Policy, runs: int
) -> None:
    instance = two_arms(2.0)
    naive = naive_regret(policy, instance, runs)
    assert same(naive, regret(policy, instance, runs))
    assert not same(naive, regret(policy, without_garbage(instance), runs))


def test_regret_has_the_law_of_naive_runs_and_shows_rewards_of_the_wrong_arm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy, instance, runs = (
        one_of("successive-elimination", arms=2, horizon=80),
        two_arms(3.0),
        600,
    )
    naive = naive_regret(policy, instance, runs)
    assert same(naive, regret(policy, instance, runs))
    honest = streams.Streams.rewards
    monkeypatch.setattr(
        streams.Streams,
        "rewards",
        lambda self, replication, arm: honest(self, replication, 1 - arm),
    )
    assert not same(naive, regret(policy, instance, runs))


# --- Rewards ------------------------------------------------------------------------------------

CELLS = 20
N = 400_000


def stream(arm: object) -> RewardStream:
    return RewardStream(arm, *(generator(7, purpose) for purpose in range(3)))


def cells(rewards: NDArray[np.float64], law: stats.rv_continuous) -> NDArray[np.int64]:
    """How many rewards lie between the law's quantiles, and how many are no numbers."""
    numbers = law.cdf(rewards[~np.isnan(rewards)])
    inside = np.histogram(numbers, np.linspace(0, 1, CELLS + 1))[0]
    return np.append(inside, np.isnan(rewards).sum())


@pytest.mark.parametrize(
    ("clean", "law"),
    [
        (StudentT(2.5, 3.0), stats.t(2.5, loc=3.0)),
        (Pareto(2.5, 1.5, -1.0), stats.pareto(2.5, scale=1.5, loc=-1.0)),
    ],
    ids=["student-t", "pareto"],
)
@pytest.mark.parametrize("one_by_one", [True, False], ids=["one-by-one", "blocks"])
def test_rewards_have_the_law_of_the_arm_and_outliers_their_share(
    clean: object, law: stats.rv_continuous, one_by_one: bool
) -> None:
    source = stream(Huber(clean, 0.05, Point("nan")))
    sizes = np.full(200, N // 200)
    blocks = [source.array(n) if one_by_one else np.concatenate([*source.take(n)]) for n in sizes]
    counts = cells(np.concatenate(blocks), law)

    def expected(alpha: float) -> NDArray[np.float64]:
        return np.append(np.full(CELLS, (1 - alpha) / CELLS), alpha)

    assert fits(counts, expected(0.05), alarm=ALARM)
    assert not fits(counts, expected(0.05 * 0.7), alarm=ALARM)
    assert not fits(counts, expected(0.05 * 1.3), alarm=ALARM)
    scaled = cells(3 + (np.concatenate(blocks) - 3) * 1.3, law)
    assert not fits(scaled, expected(0.05), alarm=ALARM)


@pytest.mark.parametrize("alpha", [0.02, 0.3, 0.7])
def test_the_number_of_outliers_in_a_batch_is_binomial(alpha: float) -> None:
    # Also across batches: the places that one batch leaves over are used by the next.
    size, batches = 50, 20_000
    source = stream(Huber(Gaussian(0.0, 1.0), alpha, Point("nan")))
    found = np.array(
        [sum(np.isnan(block).sum() for block in source.take(size)) for _ in range(batches)]
    )
    counts = np.bincount(found, minlength=size + 1)
    law = [stats.binom.pmf(np.arange(size + 1), size, alpha * by) for by in (1.0, 0.7, 1.3)]
    assert fits(counts, law[0], alarm=ALARM)
    assert not fits(counts, law[1], alarm=ALARM)
    assert not fits(counts, law[2], alarm=ALARM)
    # Neighbouring batches know nothing of each other.
    pairs = np.corrcoef(found[:-1], found[1:])[0, 1]
    assert abs(pairs) < 6.2 / math.sqrt(batches)
    assert abs(np.corrcoef(found[:-1], found[1:] + found[:-1])[0, 1]) > 6.2 / math.sqrt(batches)


# --- Common random numbers ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "gain"),
    [
        (
            one_of("prae-r", arms=2, horizon=600, delta=0.5, epsilon=5.0),
            one_of("prae-r", arms=2, horizon=600, delta=0.5, epsilon=4.0),
            4.0,
        ),
        (UCB1(2, 600, "max", 1.0), UCB1(2, 600, "max", 0.7), 1.1),
    ],
    ids=["prae-r", "ucb1"],
)
def test_policies_meet_common_random_numbers_and_the_gain_is_reported(
    one: Policy, other: Policy, gain: float
) -> None:
    instance, runs = Instance((Gaussian(0.0, 1.0), Gaussian(0.5, 1.0))), 500
    mine = stoic.simulate(one, instance, replications=runs, seed=1)
    theirs = stoic.simulate(other, instance, replications=runs, seed=1)
    strangers = stoic.simulate(other, instance, replications=runs, seed=2)
    common = stats.spearmanr(mine.final_regret, theirs.final_regret)
    assert common.statistic > 0
    assert common.pvalue < ALARM
    assert stats.spearmanr(mine.final_regret, strangers.final_regret).pvalue > ALARM
    # What is reported is what independent rewards would have cost.
    reported = compare(mine, theirs).variance_reduction
    apart, together = (
        np.var(mine.final_regret - result.final_regret) for result in (strangers, theirs)
    )
    assert reported > gain
    assert apart / together == pytest.approx(reported, rel=0.3)
