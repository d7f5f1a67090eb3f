"""A disk without room, and files that may grow no further: a clear error, and nothing is lost."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event

from helpers.live import Clock, database, tick_without_room, until_files_are_full, worth
from stoic.errors import StoreUnavailable
from stoic.live import queries
from stoic.live.replay import replay

pytestmark = pytest.mark.live

NO_ROOM = "the database has no room left on its disk; nothing was changed, try again"
DAY = 86_400.0


def create(db: Any) -> Any:
    return db.create(
        "shop",
        policy="batches",
        arms=["A", "B", "C"],
        horizon=100_000,
        pulls=2000,
        reward_deadline="7d",
    )


def fill_up(exp: Any, limit: int = 2000) -> dict[str, str]:
    """Ask and tell in blocks until there is no room; the tickets that were acknowledged."""
    told: dict[str, str] = {}
    for block in range(limit):
        units = [f"{block}-{user}" for user in range(20)]
        tickets = exp.ask_many(units)
        exp.tell_many(tickets, np.full(20, 0.5))
        told |= {unit: ticket.token for unit, ticket in zip(units, tickets, strict=True)}
    return told


def rows(exp: Any, table: str) -> int:
    with exp._storage.reading() as connection:
        return int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar() or 0)


def test_a_full_disk_loses_nothing_and_the_experiment_goes_on(tmp_path: Path) -> None:
    clock, room = Clock(), [2**20]
    with database(f"sqlite:///{tmp_path}/live.db", clock=clock) as db:

        @event.listens_for(db._storage._engine, "begin")
        def _limit(connection: Any) -> None:
            connection.exec_driver_sql(f"PRAGMA max_page_count = {room[0]}")

        exp = create(db)
        room[0] = 60
        with pytest.raises(StoreUnavailable, match=NO_ROOM):
            fill_up(exp)
        told = rows(exp, f"stoic_rewards_{exp._id:x}_1")
        assert told % 20 == 0 < told
        assert rows(exp, "stoic_assignments") - told in (0, 20)
        room[0] = 2**20
        while (left := exp.summary()).issued < left.size:
            exp.ask_many(f"more-{left.issued}-{user}" for user in range(500))
        clock.now += 8 * DAY
        assert exp.tick()
        check(exp, told)


def check(exp: Any, told: int) -> None:
    with exp._storage.reading() as connection:
        found = queries.answers_of(connection, exp._id)[1]
    assert sum(one.value * one.n for (one,) in found.values()) == pytest.approx(0.5 * told)
    replayed, stored = replay(exp._storage, exp._id)
    assert replayed == stored


def test_files_that_may_not_grow_lose_nothing(tmp_path: Path) -> None:
    url, log = f"sqlite:///{tmp_path}/live.db", tmp_path / "log"
    with database(url) as db:
        create(db)
    process = multiprocessing.get_context("forkserver").Process(
        target=until_files_are_full, args=(url, str(log))
    )
    process.start()
    process.join(60)
    assert process.exitcode == 0
    said, acknowledged = log.read_text().splitlines()
    assert said == NO_ROOM
    with database(url) as db:
        exp = db.get("shop")
        assert rows(exp, f"stoic_rewards_{exp._id:x}_1") - int(acknowledged) in (0, 20)
        assert int(acknowledged) >= 200
        exp.tell(exp.ask("0-0"), worth(exp, exp.ask("0-0").token))


def test_a_release_that_finds_no_room_happens_later(tmp_path: Path) -> None:
    url, log = f"sqlite:///{tmp_path}/live.db", tmp_path / "log"
    with database(url) as db:
        create(db)
    process = multiprocessing.get_context("forkserver").Process(
        target=tick_without_room, args=(url, str(log))
    )
    process.start()
    process.join(60)
    assert process.exitcode == 0
    said, told = log.read_text().splitlines()
    assert said == NO_ROOM
    with database(url, clock=Clock(1e11)) as db:
        exp = db.get("shop")
        assert rows(exp, f"stoic_rewards_{exp._id:x}_1") == int(told)
        assert rows(exp, "stoic_releases") == 0
        assert exp.tick()
        check(exp, int(told))
