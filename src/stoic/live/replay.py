"""The state of an experiment, worked out again from its public events and releases."""

from __future__ import annotations

from typing import Any

from stoic.core import loads
from stoic.live import queries
from stoic.live.closing import read_epoch
from stoic.live.database import Storage
from stoic.live.enabled import without

__all__ = ["replay"]


def replay(storage: Storage, identity: int) -> tuple[Any, Any]:
    """The state as a replay gives it, and the state as it is stored: the same, or the database
    was tampered with.
    """
    with storage.reading() as connection:
        row = queries.experiment(connection, identity)
        answers = queries.answers_of(connection, identity)
        policy = queries.policy_of(row)
        state, disabled = policy.init(), set[int]()
        for _, kind, body in queries.happened(connection, identity):
            if kind == "disabled":
                disabled.add(body["arm"])
            elif kind == "closed":
                epoch = read_epoch(
                    queries.epoch_row(connection, identity, body["epoch"]), row.state
                )
                dealt = epoch.dealer.dealt(body["issued"])
                state = policy.tell(state, dealt, answers.get(body["epoch"], {}))
                state = without(policy, state, frozenset(disabled))
    return state, loads(row.state)
