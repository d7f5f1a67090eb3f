from dataclasses import dataclass

import numpy as np
import pytest

import stoic
from helpers.play import play
from stoic.environments.finite import Bernoulli, Discrete


@dataclass
class Recording:
    """An arm that can be sampled only, and remembers what was asked of it."""

    mean: float
    drawn: int = 0

    def sample(self, n, *, rng):
        self.drawn += n
        return np.full(n, self.mean)


def run(policy, arms, seed=1, **options):
    rng = np.random.Generator(np.random.SFC64(seed))
    noise = stoic.SimulatedNoise(np.random.Generator(np.random.SFC64([seed, 1])))
    return play(policy, arms, rng=rng, noise=noise, **options)


def policy(name="prae-r", arms=2, horizon=20_000, k=2.0, **options):
    moments = stoic.RawMoment(k, 1.0)
    return stoic.policies.create(
        name, arms=arms, horizon=horizon, moments=moments, epsilon=1.0, **options
    )


def test_it_plays_to_the_horizon_and_removes_the_bad_arm():
    trace = run(policy(), [Bernoulli(0.9), Bernoulli(0.1)])
    assert trace.totals.sum() == 20_000
    assert trace.surviving == (0,)
    assert trace.states[-1].spent == 20_000
    assert trace.regret == pytest.approx(0.8 * trace.totals[1])
    assert trace.regrets[-1] == pytest.approx(trace.regret)
    assert len(trace.plans) == len(trace.answers) == len(trace.states) == len(trace.pulls)


def test_costs_count_from_the_cheapest_arm():
    trace = run(policy(goal="min"), [Bernoulli(0.9), Bernoulli(0.1)])
    assert trace.surviving == (1,)
    assert trace.gaps == pytest.approx([0.8, 0.0])


def test_arms_that_can_only_be_sampled_and_means_that_are_given():
    arms = [Recording(0.5), Recording(-0.5)]
    trace = run(policy(), arms, means=(3.0, 1.0))
    asked = sum(
        pulls * bool(plan.queries)
        for plan in trace.plans
        for arm, pulls in zip(plan.arms, plan.pulls, strict=True)
    )
    assert 0 < arms[0].drawn + arms[1].drawn == asked < 20_000
    assert trace.gaps.tolist() == [0.0, 2.0]


def test_the_releases_are_those_of_the_arm_they_belong_to():
    constants = [Discrete((c,), (1.0,)) for c in (0.6, 0.0, -0.6)]
    trace = run(policy(arms=3, horizon=10**6), constants)
    plan, answers = trace.plans[12], trace.answers[12]
    assert set(answers) == set(plan.arms)
    for arm, (release,) in answers.items():
        assert release.n == plan.pulls[plan.arms.index(arm)]
        assert release.value == pytest.approx(0.6 - 0.6 * arm, abs=0.05)


def test_the_same_seed_gives_the_same_run():
    arms = [Bernoulli(0.6), Bernoulli(0.5)]
    first, again, other = (run(policy(), arms, seed=seed) for seed in (1, 1, 2))
    assert first.states == again.states
    assert first.states != other.states


def test_every_fold_has_its_share_of_the_batch():
    policy = stoic.policies.create(
        "prae-c", arms=2, horizon=200_000, epsilon=1.0, moments=stoic.CentralMoment(2, 1, (-9, 9))
    )
    trace = run(policy, [Bernoulli(0.9), Bernoulli(0.1)])
    asked = [answers for answers in trace.answers if answers]
    assert asked
    for answers in asked:
        for releases in answers.values():
            assert [one.mechanism for one in releases] == ["histogram", "truncated-mean"]
            assert releases[0].n == releases[1].n
