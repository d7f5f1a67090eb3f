"""Many replications of one policy on one instance."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stoic.core import integer
from stoic.environments import Instance
from stoic.errors import InvalidParameter
from stoic.policies import Policy
from stoic.simulation.engine import Replication, replicate
from stoic.simulation.results import Result
from stoic.simulation.streams import Streams
from stoic.simulation.workers import Workers, as_completed

__all__ = ["check_fit", "checkpoint_rounds", "simulate"]

_TASKS_PER_WORKER = 8  # fine enough to keep all of them busy to the end
_UNKNOWN = 4  # workers, for what we know of a cluster


def simulate(
    policy: Policy,
    instance: Instance,
    *,
    replications: int | Sequence[int],
    seed: int,
    jobs: Workers = 1,
    horizon: int | None = None,
    checkpoints: int | ArrayLike = 0,
) -> Result:
    """Play a policy on an instance, again and again, and return what came of it.

    ``replications`` is how many, or the numbers of those wanted; each is the same whoever runs it
    and whatever else is run. ``jobs`` is the number of processes, or the address of a Dask
    scheduler. ``checkpoints`` says at which rounds :meth:`Result.curve` is wanted: how many, evenly
    spaced up to the horizon, or which. ``horizon`` is the policy's; it may be given as a check.

    Rewards are never all in memory: it takes replications times checkpoints, whatever the horizon.
    Statistics without privacy, such as a median, are the exception: they need a batch of an arm.

    >>> import stoic
    >>> instance = stoic.instances.paper("student-t", alpha=0.05)
    >>> policy = stoic.policies.create(
    ...     "prae-r", arms=5, horizon=20_000, epsilon=1.0, moments=instance.raw(2), profile="unit"
    ... )
    >>> result = stoic.simulate(policy, instance, replications=10, seed=1, checkpoints=4)
    >>> result.checkpoints, result.pulls.sum(axis=1)[:3]
    (array([ 5000, 10000, 15000, 20000]), array([20000, 20000, 20000]))
    """
    check_fit(policy, instance, horizon)
    wanted = _numbers(replications)
    rounds = checkpoint_rounds(checkpoints, policy.horizon)
    seed = integer("seed", seed, at_least=0)
    workers = jobs if isinstance(jobs, str) else integer("jobs", jobs, at_least=1)
    play = functools.partial(_play, policy, Streams(instance, seed=seed), rounds)
    tasks = _TASKS_PER_WORKER * (workers if isinstance(workers, int) else _UNKNOWN)
    parts = [part.tolist() for part in np.array_split(wanted, min(tasks, len(wanted)))]
    done = dict(as_completed(play, parts, workers))
    played = [one for index in range(len(parts)) for one in done[index]]
    return Result.gather(
        policy, instance, seed=seed, replications=wanted, checkpoints=rounds, played=played
    )


def _play(
    policy: Policy, streams: Streams, checkpoints: NDArray[np.int64], replications: Sequence[int]
) -> list[Replication]:
    return [
        replicate(policy, streams, replication=number, checkpoints=checkpoints)
        for number in replications
    ]


def check_fit(policy: Policy, instance: Instance, horizon: int | None = None) -> None:
    """Refuse a policy that was made for another instance, or another horizon."""
    if policy.arms != instance.size:
        raise InvalidParameter("arms", policy.arms, f"the instance has {instance.size}")
    if policy.goal != instance.goal:
        raise InvalidParameter("goal", policy.goal, f"the instance's is {instance.goal!r}")
    if horizon is not None and horizon != policy.horizon:
        raise InvalidParameter("horizon", horizon, f"the policy's is {policy.horizon}")


def checkpoint_rounds(checkpoints: int | ArrayLike, horizon: int) -> NDArray[np.int64]:
    """The rounds at which regret is wanted, in order.

    >>> checkpoint_rounds(3, 10)
    array([ 3,  7, 10])
    """
    if isinstance(checkpoints, (int, np.integer)):
        count = integer("checkpoints", checkpoints, at_least=0)
        spaced = np.arange(1, count + 1) * (horizon / max(count, 1))
        return np.unique(np.rint(spaced).astype(np.int64).clip(1, horizon))
    rounds = np.unique(np.asarray(checkpoints))
    if not rounds.size:
        return rounds.astype(np.int64)
    if rounds.dtype.kind not in "iu" or not 1 <= rounds[0] <= rounds[-1] <= horizon:
        rule = f"must be rounds (integers) from 1 to the horizon, {horizon}"
        raise InvalidParameter("checkpoints", checkpoints, rule)
    return rounds.astype(np.int64)


def _numbers(replications: int | Sequence[int]) -> list[int]:
    if not isinstance(replications, Iterable):
        return list(range(integer("replications", replications, at_least=1)))
    numbers = [integer("replications", one, at_least=0) for one in replications]
    if not numbers or len(set(numbers)) != len(numbers):
        raise InvalidParameter("replications", replications, "must be distinct, and at least one")
    return numbers
