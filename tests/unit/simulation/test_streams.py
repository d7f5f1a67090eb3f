"""Streams: each has its own address, and pays the same however it is asked."""

from __future__ import annotations

import itertools
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

import stoic
from helpers.arms import ENVIRONMENTS, environment, three_arms
from helpers.policies import generator
from stoic.environments import Bernoulli, Discrete, Gaussian, Huber, Pareto, Point
from stoic.privacy.queries import Block
from stoic.simulation import RewardStream, Streams

NAN = Huber(Gaussian(5.0, 1.0), 0.2, Point("nan"))


def stream(arm: object, seed: int = 1) -> RewardStream:
    return RewardStream(arm, *(generator(seed, purpose) for purpose in range(3)))


def paid(blocks: list[Block]) -> NDArray[np.float64]:
    """The rewards of the blocks, in ascending order."""
    parts = [np.repeat(*one) if isinstance(one, tuple) else one for one in blocks]
    return np.sort(np.concatenate([np.zeros(0), *parts]))


# --- Addresses ----------------------------------------------------------------------------------


def first_of(streams: Streams, replication: int) -> list[int]:
    purposes = (streams.labels, streams.play, streams.noise)
    return [int(purpose(replication).integers(2**62)) for purpose in purposes]


def test_every_address_has_a_stream_of_its_own() -> None:
    instances = [stoic.instances.paper("pareto", alpha=alpha) for alpha in (0.0, 0.1)]
    made = [Streams(one, seed=seed) for one in instances for seed in (0, 1)]
    integers = [
        one
        for streams in made
        for replication in range(3)
        for one in first_of(streams, replication)
    ]
    rewards = [
        float(streams.rewards(replication, arm).array(1)[0] - streams.instance.arms[arm].mean)
        for streams in made
        for replication in range(3)
        for arm in range(5)
    ]
    assert len(set(integers)) == len(integers) == 36
    assert len(set(rewards)) == len(rewards) == 60


def test_clean_rewards_garbage_and_its_places_are_drawn_apart() -> None:
    # The clean rewards are those of an arm without contamination, whatever the garbage is.
    pure = stream(NAN.clean).array(1000)
    for contaminant in (Point("nan"), Gaussian(0.0, 1.0), Pareto(1.1)):
        dirty = paid(list(stream(Huber(NAN.clean, 0.2, contaminant)).take(1000)))
        assert np.isin(pure[:700], dirty).all()
    # The places of outliers do not depend on the clean law.
    places = [
        np.flatnonzero(np.isnan(stream(Huber(law, 0.2, Point("nan"))).array(500)))
        for law in (Gaussian(0.0, 1.0), Pareto(2.5))
    ]
    np.testing.assert_array_equal(*places)


def test_the_streams_are_the_same_in_another_process() -> None:
    code = """
import stoic
streams = stoic.simulation.Streams(stoic.instances.paper("pareto", alpha=0.05), seed=4)
print(streams.play(2).integers(2**62), streams.rewards(2, 1).array(50).sum().hex())
"""
    seen = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    streams = Streams(stoic.instances.paper("pareto", alpha=0.05), seed=4)
    here = f"{streams.play(2).integers(2**62)} {streams.rewards(2, 1).array(50).sum().hex()}\n"
    assert seen.stdout == here
    again = pickle.loads(pickle.dumps(streams))
    assert again.play(2).integers(2**62) == streams.play(2).integers(2**62)


# --- Rewards ------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ENVIRONMENTS)
def test_the_jth_reward_is_the_same_however_many_are_asked_for(
    where: str, tmp_path: object
) -> None:
    instance = environment(where, tmp_path)
    for arm in instance.arms:
        whole = stream(arm).array(3000)
        pieces = stream(arm)
        sizes = [1, 2, 3, 1, 0, 993, 1, 1999]
        np.testing.assert_array_equal(np.concatenate([pieces.array(n) for n in sizes]), whole)
        assert pieces.drawn == sum(sizes) == 3000


@pytest.mark.parametrize(
    "arm", [three_arms().arms[0], three_arms().arms[1], Gaussian(0.0, 1.0), NAN], ids=repr
)
def test_blocks_hold_the_rewards_that_come_one_by_one(arm: object) -> None:
    sizes = [1, 7, 1000, 16_384, 40_000, 3]
    one, other = stream(arm), stream(arm)
    for n in sizes:
        blocks = list(one.take(n))
        assert all(block.size <= 16_384 for block in blocks)
        np.testing.assert_array_equal(paid(blocks), np.sort(other.array(n)))
    assert one.drawn == other.drawn == sum(sizes)


def test_few_values_are_counted_once_there_are_many_rewards() -> None:
    arm = Huber(Bernoulli(0.25), 0.1, Discrete((-1.0, 7.0), (0.5, 0.5)))
    n = 10**7
    blocks = list(stream(arm).take(n))
    assert len(blocks) == 2
    rewards = {float(v): int(times) for block in blocks for v, times in zip(*block, strict=True)}
    assert sum(rewards.values()) == n
    for reward, share in {0.0: 0.9 * 0.75, 1.0: 0.9 * 0.25, -1.0: 0.05, 7.0: 0.05}.items():
        assert abs(rewards[reward] - n * share) < 8 * math.sqrt(n * share * (1 - share))


def test_counting_few_values_costs_nothing_however_many() -> None:
    (block,) = stream(Bernoulli(0.25)).take(10**15)
    assert block[1].sum() == 10**15


def test_short_samples_of_few_values_come_one_by_one() -> None:
    arm = Bernoulli(0.25)
    (block,) = stream(arm).take(1000)
    np.testing.assert_array_equal(block, stream(arm).array(1000))


def test_nothing_asked_for_is_nothing_drawn() -> None:
    for arm in (NAN, NAN.clean, Bernoulli(0.5)):
        asked = stream(arm)
        assert list(asked.take(0)) == []
        assert asked.array(0).size == asked.drawn == 0


@pytest.mark.parametrize("alpha", [1e-300, 1e-9, 0.3, 1 - 2**-53])
def test_outliers_of_any_share_have_their_places(alpha: float) -> None:
    rewards = stream(Huber(Gaussian(0.0, 1.0), alpha, Point("nan"))).array(5000)
    found = int(np.isnan(rewards).sum())
    assert abs(found - 5000 * alpha) <= 8 * math.sqrt(5000 * alpha * (1 - alpha)) + 1e-6


def test_outliers_stay_where_they_are_however_the_rewards_are_batched() -> None:
    sizes = (5, 300, 1, 2000)
    whole, batches = np.isnan(stream(NAN).array(sum(sizes))), stream(NAN)
    ends = itertools.accumulate(sizes, initial=0)
    for n, (start, stop) in zip(sizes, itertools.pairwise(ends), strict=True):
        outliers = np.isnan(paid(list(batches.take(n)))).sum()
        assert outliers == whole[start:stop].sum()
