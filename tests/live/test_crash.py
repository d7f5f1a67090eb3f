"""SIGKILL, at every named step and at random moments, with eight clients at work.

``STOIC_CRASHES`` says how often (20 unless given).
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.live import PULLS, STEPS, crowd, database, digits, fresh_database, read_log, restart
from stoic.live import queries
from stoic.live.replay import replay

pytestmark = [pytest.mark.live, pytest.mark.slow]

CRASHES = int(os.environ.get("STOIC_CRASHES", "20"))
ARMS = ["A", "B", "C"]


@pytest.fixture(scope="module")
def spawn() -> Any:
    """Processes that have imported everything before they are born."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["helpers.live"])
    return context.Process


@pytest.fixture
def create() -> Iterator[Any]:
    """Makes a database with an experiment in it, and closes it in the end."""
    with ExitStack() as opened:

        def make(url: str) -> Any:
            db = opened.enter_context(database(url))
            plan = {"policy": "batches", "arms": ARMS, "horizon": 10**6}
            return db.create("shop", **plan, reward_deadline="30ms", tick="2ms")

        yield make


def test_nothing_is_lost_and_nothing_counts_twice(
    url: str, tmp_path: Path, create: Any, spawn: Any
) -> None:
    exp = create(url)
    log = tmp_path / "log"
    dice = np.random.Generator(np.random.SFC64(7))
    for crash in range(CRASHES):
        named = crash < len(STEPS) or crash % 2 == 0
        often = 40 if STEPS[crash % len(STEPS)] in ("asked", "told") else 2
        fatal = (STEPS[crash % len(STEPS)], int(dice.integers(1, often + 1))) if named else None
        process = spawn(target=crowd, args=(url, "shop", str(log), crash, fatal, 60.0))
        process.start()
        if fatal is None:
            time.sleep(float(dice.uniform(0.05, 0.6)))
            process.kill()
        process.join(60)
        assert process.exitcode == -9
    together = [
        spawn(target=crowd, args=(url, "shop", str(log), CRASHES + extra, None, 1.5))
        for extra in range(2)
    ]
    for process in together:
        process.start()
    for process in together:
        process.join(60)
        assert process.exitcode == 0
    judge(exp, read_log(log), crashes=CRASHES)


def test_postgresql_itself_may_be_restarted(
    postgres: Any, tmp_path: Path, create: Any, spawn: Any
) -> None:
    url = fresh_database(postgres)
    exp = create(url)
    log = tmp_path / "log"
    process = spawn(target=crowd, args=(url, "shop", str(log), 1, None, 6.0))
    process.start()
    for _ in range(2):
        wait_for_acknowledgements(log, 100)
        restart(postgres)
    wait_for_acknowledgements(log, 100)
    process.join(60)
    assert process.exitcode == 0
    found = read_log(log)
    assert any("out of reach" in line[3] for line in found if line[2] == "refused")
    judge(exp, found, crashes=2)


def wait_for_acknowledgements(log: Path, more: int) -> None:
    """Until the clients have been told of so many more."""
    before, patience = None, time.monotonic() + 30
    while before is None or log.read_text(encoding="utf-8").count('"told"') < before + more:
        if before is None and log.exists():
            before = log.read_text(encoding="utf-8").count('"told"')
        assert time.monotonic() < patience
        time.sleep(0.02)


def judge(exp: Any, log: list[list[Any]], *, crashes: int) -> None:
    """All that must hold of the database, given what the clients saw."""
    with exp._storage.reading() as connection:
        answers = queries.answers_of(connection, exp._id)
        closed = {row.epoch: row for row in queries.closed_epochs(connection, exp._id)}
        events = queries.happened(connection, exp._id)
    assert len(closed) > 3
    replayed, stored = replay(exp._storage, exp._id)
    assert replayed == stored

    # No epoch was closed twice, and nothing was drawn for one that had its releases.
    assert [body["epoch"] for _, kind, body in events if kind == "closed"] == sorted(closed)
    groups = draws_of(log)
    finished = sum(done for _, done in groups)
    assert all(draws == len(ARMS) for draws, done in groups if done)
    refused = sum(line[2] == "refused" for line in log)
    assert finished <= len(closed) <= len(groups) <= finished + crashes + refused

    # A release holds nothing but what was sent, nothing twice, and all that was acknowledged
    # before its epoch was closed.
    def place(token: str) -> tuple[int, int, int]:
        slot = exp._place.sealer.unseal(token, experiment=exp._id)
        return slot.epoch, slot.arm, slot.slot // len(ARMS)

    held = {
        (epoch, arm, at): count
        for epoch, arms in answers.items()
        for arm, (release,) in arms.items()
        for at, count in enumerate(digits(release.value, release.n))
    }
    assert set(held.values()) <= {0, 1}
    sent = {place(line[3]) for line in log if line[2] == "sent"}
    assert {key for key, count in held.items() if count} <= sent
    told = {place(line[3]): line[0] for line in reversed(log) if line[2] == "told"}
    claims = {line[3]: line[0] for line in reversed(log) if line[2] == "claim"}  # the first of each
    due = {key for key, at in told.items() if key in held and at < claims.get(key[0], 0)}
    assert len(due) > PULLS
    assert [key for key in due if not held[key]] == []

    # Every ticket is valid, and its unit gets it again.
    tickets = {line[3]: line[5] for line in log if line[2] == "asked"}
    counted = [unit for unit, token in tickets.items() if place(token)[2] >= 0]
    assert len({tickets[unit] for unit in counted}) == len(counted)
    for unit, again in zip(counted, exp.ask_many(counted), strict=True):
        assert again.token == tickets[unit]
    exp.tell_many([tickets[unit] for unit in counted], np.zeros(len(counted)))


def draws_of(log: list[list[Any]]) -> list[tuple[int, bool]]:
    """For every attempt to close an epoch: how often it drew, and whether it was committed."""
    groups: list[tuple[int, bool]] = []
    for process in dict.fromkeys(line[1] for line in log):
        mine = [line[2:] for line in log if line[1] == process]
        words = ["draw" if line[0] == "draw" else line[-1] for line in mine]
        starts = [at for at, word in enumerate(words) if word == "claimed"]
        for start, stop in itertools.zip_longest(starts, starts[1:]):
            group = words[start:stop]
            ended = "committed" in group
            before = group[: group.index("committed")] if ended else group
            done = ended and "deleted" in before and before.count("stored") == 1
            groups.append((before.count("draw"), done))
            assert group.count("draw") == before.count("draw")
    return groups
