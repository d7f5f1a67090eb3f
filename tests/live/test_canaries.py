"""Recognisable rewards, searched for byte by byte: found before their release, gone after it."""

from __future__ import annotations

import logging
import sqlite3
import struct
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from sqlalchemy import create_engine, text

import stoic
from helpers.live import Clock, database, fresh_database
from stoic.errors import StoicError
from stoic.privacy.queries import keep

pytestmark = [pytest.mark.live, pytest.mark.privacy]

CANARY = 0.7123456789123
DAY = 86_400.0
POLICIES = {
    "batches": {"pulls": 3000, "horizon": 10_000},  # kept as steps of a grid
    "prae-c": {  # its second fold keeps what came, since the centre is not known yet
        "horizon": 100_000,
        "moments": stoic.CentralMoment(2, 1, (-3, 3)),
        "epsilon": 1.0,
        "profile": "unit",
    },
}


def patterns(exp: Any) -> dict[str, bytes]:
    """What a canary looks like: as it is, as text, and as it is kept, in either byte order."""
    looks = {"text": str(CANARY).encode()}
    query = exp._epoch.dealer.plan.queries[0]
    folds = [int(keep(query, fold, np.array([CANARY]))[0]) for fold in range(query.folds)]
    for order, sign in (("big", ">"), ("little", "<")):
        looks[f"raw, {order}"] = struct.pack(f"{sign}d", CANARY)
        for fold, kept in enumerate(folds):
            if abs(kept) < 2**16:  # a bin's number, which is everywhere
                continue
            for size in (4, 8)[abs(kept) >= 2**31 :]:  # SQLite stores as few bytes as will do
                looks[f"fold {fold}, {order} {size}"] = kept.to_bytes(size, order, signed=True)
            looks[f"fold {fold}, text"] = str(kept).encode()
    return looks


def found(files: Iterable[Path], looks: dict[str, bytes]) -> dict[str, int]:
    contents = [path.read_bytes() for path in files if path.is_file()]
    counts = {name: sum(one.count(look) for one in contents) for name, look in looks.items()}
    return {name: count for name, count in counts.items() if count}


def sing(exp: Any, clock: Clock, number: int) -> None:
    """Users who all pay the canary, told in random order, until the epoch is full."""
    rng = np.random.Generator(np.random.SFC64(number))
    while (left := exp.summary()).issued < left.size:
        start = left.issued
        block = exp.ask_many(f"{number}-{start + i}" for i in range(1000))
        order = rng.permutation(len(block))
        for part in np.array_split(order, 5):
            exp.tell_many([block[place] for place in part], np.full(part.size, CANARY))
    clock.now += 8 * DAY


@pytest.mark.parametrize("policy", POLICIES)
def test_sqlite_holds_no_reward_of_an_epoch_that_is_over(policy: str, tmp_path: Path) -> None:
    clock = Clock()
    with database(f"sqlite:///{tmp_path}/live.db", clock=clock) as db:
        exp = create(db, policy, clock)
        looks = patterns(exp)
        sing(exp, clock, 0)
        before = found(tmp_path.iterdir(), looks)
        assert max(before.values()) > 1000
        assert exp.tick()
        assert found(tmp_path.iterdir(), looks) == {}
        few = exp.ask_many(f"later-{i}" for i in range(8))
        exp.tell_many(few, np.full(8, CANARY))
        assert found(tmp_path.iterdir(), patterns(exp)) != {}  # the next epoch's


@pytest.mark.parametrize("policy", POLICIES)
def test_postgresqls_tables_hold_no_reward_of_an_epoch_that_is_over(
    policy: str, postgres: Any
) -> None:
    clock = Clock()
    heap = Path(postgres.pgdata) / "base"
    with (
        database(fresh_database(postgres), clock=clock) as db,
        psycopg.connect(postgres.get_uri(), autocommit=True) as connection,
    ):
        exp = create(db, policy, clock)
        looks = patterns(exp)
        sing(exp, clock, 0)
        connection.execute("ANALYZE")  # statistics must not hold them either
        connection.execute("CHECKPOINT")
        assert max(found(heap.rglob("*"), looks).values()) > 1000
        assert exp.tick()
        connection.execute("CHECKPOINT")
        assert found(heap.rglob("*"), looks) == {}


def test_statistics_of_postgresql_would_hold_rewards_if_they_were_let(postgres: Any) -> None:
    look = {"kept": (764_875_350).to_bytes(4, "little")}
    heap = Path(postgres.pgdata) / "base"
    with psycopg.connect(postgres.get_uri(), autocommit=True) as connection:
        connection.execute("CREATE TABLE careless (kept BIGINT)")
        connection.execute("INSERT INTO careless SELECT 764875350 FROM generate_series(1, 500)")
        connection.execute("ANALYZE careless")
        connection.execute("DROP TABLE careless")
        connection.execute("CHECKPOINT")
        assert found(heap.rglob("*"), look) != {}


def test_the_log_is_emptied_at_the_next_tick_if_a_reader_was_in_the_way(tmp_path: Path) -> None:
    clock = Clock()
    with database(f"sqlite:///{tmp_path}/live.db", clock=clock, patience=0.2) as db:
        exp = create(db, "batches", clock)
        looks = patterns(exp)
        sing(exp, clock, 0)
        reader = sqlite3.connect(tmp_path / "live.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM stoic_epochs").fetchall()
        assert exp.tick()
        assert found(tmp_path.iterdir(), looks) != {}
        reader.execute("COMMIT")
        reader.close()
        assert not exp.tick()
        assert found(tmp_path.iterdir(), looks) == {}


def test_the_log_is_emptied_when_a_database_is_opened_after_a_crash(tmp_path: Path) -> None:
    class Killed(BaseException):
        pass

    def die(step: str) -> None:
        if step == "committed" and exp.summary().epoch > 1:
            raise Killed

    clock = Clock()
    url = f"sqlite:///{tmp_path}/live.db"
    with database(url, clock=clock, step=die) as db:
        exp = create(db, "batches", clock)
        looks = patterns(exp)
        sing(exp, clock, 0)
        with pytest.raises(Killed):
            exp.tick()
        assert found(tmp_path.iterdir(), looks) != {}
        with database(url, clock=clock):
            assert found(tmp_path.iterdir(), looks) == {}


# --- Words ----------------------------------------------------------------------------------------


def test_no_log_and_no_error_shows_a_reward(url: str, caplog: pytest.LogCaptureFixture) -> None:
    for logger in ("", "sqlalchemy", "psycopg"):
        caplog.set_level(logging.DEBUG, logger=logger)
    clock = Clock()
    said: list[str] = []

    def provoke(act: Callable[[], Any]) -> None:
        with pytest.raises(StoicError) as caught:
            act()
        said.append("".join(traceback.format_exception(caught.value)))

    with database(url, clock=clock) as db:
        exp = create(db, "batches", clock)
        looks = patterns(exp)
        ticket = exp.ask("ann")
        exp.tell(ticket, CANARY)
        sing(exp, clock, 0)
        provoke(lambda: exp.tell(ticket, str(CANARY)))
        provoke(lambda: exp.tell_many([ticket], [[CANARY]]))
        provoke(lambda: exp.tell_many([ticket, "forged"], [CANARY, CANARY]))
        table = f"stoic_rewards_{exp._id:x}_1"
        for before, after in ((table, "elsewhere"), ("elsewhere", table)):
            with exp._storage.writing() as connection:
                connection.execute(text(f"ALTER TABLE {before} RENAME TO {after}"))
            if after != table:
                provoke(lambda: exp.tell(ticket, CANARY))
                provoke(exp.tick)
        assert exp.tick()
        repr(exp), repr(ticket), str(exp.summary()), str(exp.privacy()), list(exp.export())
        said += [str(exp.summary()), str(exp.privacy()), str(list(exp.export()))]
    assert len(caplog.records) > 100
    logged = "\n".join([caplog.text, *said]).encode()
    assert {name: logged.count(look) for name, look in looks.items() if look in logged} == {}


def test_the_search_of_logs_finds_what_a_careless_engine_would_write(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for logger in ("", "sqlalchemy", "psycopg"):
        caplog.set_level(logging.DEBUG, logger=logger)
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE rewards (kept REAL)"))
        connection.execute(text("INSERT INTO rewards VALUES (:kept)"), {"kept": CANARY})
    engine.dispose()
    assert str(CANARY) in caplog.text


def create(db: Any, policy: str, clock: Clock) -> Any:
    """An experiment whose open epoch asks for some thousand rewards."""
    exp = db.create(
        "shop",
        policy=policy,
        arms=["A", "B"],
        reward_deadline="7d",
        **POLICIES[policy],
    )
    number = 1
    exp.ask("first")
    while exp._epoch.dealer.size < 4000 or not exp._epoch.asks:
        block = exp.ask_many(f"early-{number}-{i}" for i in range(exp._epoch.dealer.size))
        exp.tell_many(block, np.zeros(len(block)))
        clock.now += 8 * DAY
        exp.tick()
        number += 1
        exp.ask(f"next-{number}")
    return exp
