"""What a disabled arm changes: it is no longer in play, and never recommended.

Which arms are disabled is a public event, so all of this is post-processing of releases.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from stoic.policies import Policy
from stoic.policies.policy import leader

__all__ = ["recommended", "without"]


def without(policy: Policy, state: Any, disabled: frozenset[int]) -> Any:
    """The state with disabled arms out of play, if the policy keeps arms in play.

    If none would be left, the best of the arms that are not disabled comes back.
    """
    active = getattr(state, "active", None)
    if active is None or not disabled & set(active):
        return state
    left = tuple(arm for arm in active if arm not in disabled)
    return dataclasses.replace(state, active=left or (_best(policy, state, disabled),))


def recommended(policy: Policy, state: Any, disabled: frozenset[int]) -> int:
    """The arm that the releases so far speak for, among those that are not disabled."""
    arm = policy.recommend(without(policy, state, disabled))
    return _best(policy, state, disabled) if arm in disabled else arm


def _best(policy: Policy, state: Any, disabled: frozenset[int]) -> int:
    enabled = [arm for arm in range(policy.arms) if arm not in disabled]
    estimates = getattr(state, "estimates", (None,) * policy.arms)
    return leader(enabled, estimates, 1 if policy.goal == "max" else -1)
