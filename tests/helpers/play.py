"""The smallest driver of a policy: plan by plan, arrays of rewards through the plan's queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stoic.core import Plan
from stoic.policies import Answers, Policy
from stoic.privacy.noise import Noise
from stoic.privacy.queries import Block, answer, fold_sizes

__all__ = ["Trace", "play"]

_CHUNK = 2**20


@dataclass(frozen=True)
class Trace:
    """What was played, phase by phase."""

    plans: tuple[Plan, ...]
    answers: tuple[Answers, ...]
    states: tuple[Any, ...]
    """After each phase."""
    pulls: NDArray[np.int64]
    """Phases by arms."""
    gaps: NDArray[np.float64]
    """How much worse each arm is than the best."""

    @property
    def totals(self) -> NDArray[np.int64]:
        """Pulls of each arm."""
        return self.pulls.sum(axis=0)

    @property
    def surviving(self) -> tuple[int, ...]:
        """The arms still in play at the end; all of them for a policy that never removes one."""
        every = tuple(range(self.gaps.size))
        return getattr(self.states[-1], "active", every)

    @property
    def regrets(self) -> NDArray[np.float64]:
        """Cumulative clean pseudo-regret at the end of each phase."""
        return np.cumsum(self.pulls @ self.gaps)

    @property
    def regret(self) -> float:
        """Clean pseudo-regret of the whole run."""
        return float(self.totals @ self.gaps)


def play(
    policy: Policy,
    arms: Sequence[Any],
    *,
    rng: np.random.Generator,
    noise: Noise,
    means: Sequence[float] | None = None,
) -> Trace:
    """Run the policy to its horizon on arms that have ``sample(n, rng=)``.

    ``means`` are the clean means, ``arm.mean`` unless given. Arms that also have
    ``counts(n, rng=)`` are sampled as counts, which is the same law and makes batches of any size
    cheap. Rewards that nothing is asked of are not drawn.
    """
    public, rewards = rng.spawn(2)
    clean = np.array([arm.mean for arm in arms] if means is None else means, dtype=np.float64)
    best = clean.max() if policy.goal == "max" else clean.min()
    state = policy.init()
    steps = []
    while (plan := policy.ask(state, rng=public)).size:
        answers = {
            arm: _ask(query, arms[arm], pulls, rng=rewards, noise=noise)
            for arm, pulls, query in zip(plan.arms, plan.pulls, plan.queries, strict=False)
        }
        state = policy.tell(state, plan, answers)
        steps.append((plan, answers, state))
    plans, answers_of, states = zip(*steps, strict=True)
    pulls = np.zeros((len(plans), len(arms)), dtype=np.int64)
    for row, plan in zip(pulls, plans, strict=True):
        row[list(plan.arms)] = plan.pulls
    return Trace(plans, answers_of, states, pulls, np.abs(best - clean))


def _ask(query: Any, arm: Any, pulls: int, *, rng: np.random.Generator, noise: Noise) -> Any:
    # Rewards are drawn independently, so it is the same to draw each fold by itself.
    sizes = fold_sizes(pulls, query.folds)
    return answer(query, [_draw(arm, n, rng=rng) for n in sizes], sizes, noise=noise)


def _draw(arm: Any, n: int, *, rng: np.random.Generator) -> Iterator[Block]:
    if hasattr(arm, "counts"):
        yield arm.counts(n, rng=rng)
        return
    for start in range(0, n, _CHUNK):
        yield arm.sample(min(_CHUNK, n - start), rng=rng)
