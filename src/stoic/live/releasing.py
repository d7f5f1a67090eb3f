"""What is released when an epoch closes: the plan's queries, asked of the rewards that were kept.

A missing reward counts as the declared default or, if there is none, as nothing; the number of
slots stays what was issued.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from stoic.core import Floats, Release
from stoic.live.settings import Settings
from stoic.live.slots import Dealer
from stoic.live.vault import kept_rewards
from stoic.policies import Answers
from stoic.privacy.noise import Noise
from stoic.privacy.queries import add_kept, fold_sizes, keep

__all__ = ["Step", "kept_of", "release"]

Step = Callable[[str], None]


def release(
    connection: Connection,
    identity: int,
    number: int,
    dealer: Dealer,
    issued: int,
    settings: Settings,
    *,
    noise: Noise,
    step: Step,
) -> Answers:
    """Draw what the plan asks about the slots that were issued. To be stored before it is shown.

    Fold by fold, since the mechanism of a later fold depends on the releases of the earlier ones;
    each fold reads the rewards once, some thousand at a time.
    """
    plan = dealer.dealt(issued)
    queries = dict(zip(plan.arms, plan.queries, strict=False))
    if not queries:
        return {}
    counts = dict(zip(plan.arms, plan.pulls, strict=True))
    answers: dict[int, tuple[Release, ...]] = dict.fromkeys(queries, ())
    for fold in range(max(query.folds for query in queries.values())):
        asked = {arm: query for arm, query in queries.items() if fold < query.folds}
        mechanisms = {arm: query.mechanism(fold, answers[arm]) for arm, query in asked.items()}
        totals = {arm: mechanism.empty() for arm, mechanism in mechanisms.items()}
        told = dict.fromkeys(asked, 0)
        for slots, kept in kept_rewards(connection, identity, number):
            start = int(slots[0])
            arms = dealer.arms[dealer.places(start, int(slots[-1]) + 1)[slots - start]]
            for arm, query in asked.items():
                mine = (arms == arm) & (dealer.fold(slots, query.folds) == fold)
                totals[arm] = add_kept(query, fold, answers[arm], totals[arm], kept[mine])
                told[arm] += int(np.count_nonzero(mine))
        for arm, query in asked.items():
            n = fold_sizes(counts[arm], query.folds)[fold]
            missing = n - told[arm]
            if missing and settings.reward_default is not None:
                default = np.array([settings.reward_default]), np.array([missing])
                totals[arm] = mechanisms[arm].add(totals[arm], default)
            answers[arm] += (mechanisms[arm].release(totals[arm], n, noise=noise),)
            step("drawn")
    return answers


def kept_of(
    dealer: Dealer, slots: NDArray[np.int64], arms: NDArray[np.int64], rewards: Floats
) -> NDArray[np.int64]:
    """What is kept of rewards until the epoch is over, one integer for each."""
    kept = np.empty(slots.size, dtype=np.int64)
    queries = dict(zip(dealer.plan.arms, dealer.plan.queries, strict=True))
    for arm in set(arms.tolist()):
        query = queries[arm]
        folds = dealer.fold(slots, query.folds)
        for fold in range(query.folds):
            chosen = (arms == arm) & (folds == fold)
            kept[chosen] = keep(query, fold, rewards[chosen])
    return kept
