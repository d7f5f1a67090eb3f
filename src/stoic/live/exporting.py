"""Everything public about an experiment, row by row, for an analysis elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from stoic.core import dumps
from stoic.live import queries
from stoic.live.database import Storage

__all__ = ["export"]


def export(storage: Storage, identity: int) -> Iterator[dict[str, Any]]:
    """First the experiment, then its events and releases, then every assignment.

    An assignment has the propensity with which its slot got that arm. Units are left out, hashed
    as they are. Memory stays flat, however many rows there are.
    """
    with storage.reading() as connection:
        row = queries.experiment(connection, identity)
        events = queries.happened(connection, identity)
        releases = queries.release_rows(connection, identity)
    labels = json.loads(row.arms)
    yield {
        "row": "experiment",
        "name": row.name,
        "arms": labels,
        "policy": json.loads(dumps(queries.policy_of(row))),
        "state": json.loads(row.state),
        "settings": json.loads(row.settings),
        "status": row.status,
        "created_at": row.created_at,
    }
    for at, kind, body in events:
        yield {"row": "event", "at": at, "kind": kind, **body}
    for one in releases:
        yield {
            "row": "release",
            "epoch": one.epoch,
            "arm": labels[one.arm],
            "fold": one.fold,
            "mechanism": one.mechanism,
            "value": one.value,
            "n": one.n,
            "epsilon": one.epsilon,
            "at": one.at,
        }
    for page in queries.assignment_pages(storage, identity):
        for one in page:
            yield {
                "row": "assignment",
                "epoch": one.epoch,
                "slot": one.slot,
                "arm": labels[one.arm],
                "propensity": 1 / one.among,
                "at": one.at,
            }
