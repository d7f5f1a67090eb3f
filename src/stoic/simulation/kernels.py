"""Compiled rounds for policies that decide anew in every round.

A phase of such a policy is one pull; the phase-by-phase engine would spend its time between the
rounds. The kernels here play the very same rounds (tests compare them step by step with ``ask`` and
``tell``), from the same reward streams. numba (``pip install 'stoic-bandits[fast]'``) compiles
them; without it Python runs them as they are, with the same result.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from stoic.core import Floats
from stoic.policies import UCB1, Policy
from stoic.policies.ucb1 import UCB1State
from stoic.privacy.queries import tame
from stoic.simulation.streams import RewardStream

__all__ = ["Books", "fast_forward"]

_FIRST = 64  # rewards of one arm that are drawn ahead: few at first, then as many as were used,
_MOST = 16_384  # up to this,
_ROOM = 2**22  # or what is left for one arm of a memory for so many

Kernel = Callable[..., int]


class Books(Protocol):
    """What a kernel needs of the replication that it plays on."""

    rounds: int
    checkpoints: NDArray[np.int64]

    def rewards(self, arm: int) -> RewardStream:
        """What the policy's arm pays."""
        ...

    def note_rounds(self, pulls: NDArray[np.int64], snapshots: NDArray[np.int64]) -> None:
        """Write down the new pulls of each arm, and how they stood at each checkpoint passed."""
        ...


def fast_forward(policy: Policy, state: Any, books: Books) -> Any:
    """The state at the horizon if a kernel can play from here on, else the state as it is."""
    if isinstance(policy, UCB1) and min(state.pulls) > 0 and books.rounds < policy.horizon:
        return _play_ucb1(policy, state, books, _compiled(_ucb1_rounds))
    return state


def _play_ucb1(policy: UCB1, state: UCB1State, books: Books, kernel: Kernel) -> UCB1State:
    streams = [books.rewards(arm) for arm in range(policy.arms)]
    ahead = np.empty((policy.arms, max(_FIRST, min(_MOST, _ROOM // policy.arms))))
    left = np.zeros(policy.arms, dtype=np.int64)  # of the rewards drawn ahead
    pulls, sums = np.array(state.pulls), np.array(state.sums)
    coming = books.checkpoints[books.checkpoints > books.rounds]
    snapshots = np.zeros((coming.size, policy.arms), dtype=np.int64)
    spent = books.rounds
    while spent < policy.horizon:
        for arm in np.flatnonzero(left == 0):
            wanted = min(max(_FIRST, int(pulls[arm])), ahead.shape[1], policy.horizon - spent)
            # The kernel reads from the right, so that what is left says where it stands.
            ahead[arm, :wanted] = tame(streams[arm].array(wanted))[::-1]
            left[arm] = wanted
        spent = kernel(
            ahead,
            left,
            pulls,
            sums,
            policy.sign,
            policy.scale,
            spent,
            policy.horizon,
            coming,
            snapshots,
        )
    for stream, unused in zip(streams, left.tolist(), strict=True):
        stream.drawn -= unused
    before = np.array(state.pulls)
    books.note_rounds(pulls - before, snapshots - before)
    return dataclasses.replace(state, pulls=tuple(pulls.tolist()), sums=tuple(sums.tolist()))


def _ucb1_rounds(
    ahead: Floats,
    left: NDArray[np.int64],
    pulls: NDArray[np.int64],
    sums: Floats,
    sign: int,
    scale: float,
    spent: int,
    horizon: int,
    checkpoints: NDArray[np.int64],
    snapshots: NDArray[np.int64],
) -> int:
    """UCB1 until an arm has no reward left ahead, or the horizon is spent."""
    passed = 0
    while passed < checkpoints.size and checkpoints[passed] <= spent:
        passed += 1
    while spent < horizon:
        twice_log = 2 * math.log(spent)
        best, highest = 0, -math.inf
        for arm in range(pulls.size):
            index = sign * sums[arm] / pulls[arm] + scale * math.sqrt(twice_log / pulls[arm])
            if index > highest:
                best, highest = arm, index
        if left[best] == 0:
            return spent
        left[best] -= 1
        sums[best] += ahead[best, left[best]]
        pulls[best] += 1
        spent += 1
        if passed < checkpoints.size and checkpoints[passed] == spent:
            snapshots[passed] = pulls
            passed += 1
    return spent


@functools.cache
def _compiled(rounds: Kernel) -> Kernel:
    try:
        import numba
    except ImportError:
        return rounds
    compile_: Callable[..., Callable[[Kernel], Kernel]] = functools.partial(numba.njit, nogil=True)
    try:
        return compile_(cache=True)(rounds)
    except RuntimeError:  # a read-only installation: there is no place for the machine code
        return compile_()(rounds)
