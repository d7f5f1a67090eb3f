"""Any sequence of asks, tells, ticks, crashes and jumps of the clock, beside a simple model."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import hypothesis.strategies as st
import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from helpers.live import STEPS, Clock, database
from stoic.live import closing, queries
from stoic.live.replay import replay

pytestmark = [pytest.mark.live, pytest.mark.slow]

ARMS = ["A", "B", "C"]
PULLS = 2
HOUR, DAY = 3600.0, 86_400.0
DEFAULT = 0.25


class Killed(BaseException):
    """The process died here."""


class Model(RuleBasedStateMachine):
    """The model: for each epoch, its slots in order (unit, arm, reward), and when the last came."""

    def __init__(self) -> None:
        super().__init__()
        memory = Path("/dev/shm")
        self.folder = tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)
        self.clock = Clock()
        self.fatal: str | None = None
        # The order of slots comes from the system; what failed has to fail again.
        self.entropy = mock.patch.object(closing.secrets, "token_bytes", bytes)
        self.entropy.start()
        self.url = f"sqlite:///{self.folder.name}/live.db"
        self.db = database(self.url, clock=self.clock, step=self.step)
        self.exp = self.db.create(
            "shop",
            policy="batches",
            arms=ARMS,
            horizon=10**4,
            pulls=PULLS,
            reward_deadline="2d",
            tick="1h",
            reward_default=DEFAULT,
        )
        self.born = self.clock.now
        self.units: dict[str, Any] = {}
        self.disabled: set[str] = set()
        self.new_epoch(1, self.born)
        self.expected: dict[int, dict[str, tuple[int, float]]] = {}

    def new_epoch(self, number: int, at: float) -> None:
        self.number, self.opened, self.last = number, at, None
        playing = [arm for arm in ARMS if arm not in self.disabled] if number > 1 else ARMS
        self.open = {arm: PULLS for arm in playing}
        self.told: dict[str, float] = {}

    def step(self, step: str) -> None:
        if step == self.fatal:
            self.fatal = None
            raise Killed

    def restart(self) -> None:
        self.db.close()
        self.db = database(self.url, clock=self.clock, step=self.step)
        self.exp = self.db.get("shop")

    def surviving(self, act: Any) -> Any:
        """What it returns; None if it was killed, and the process has started again."""
        try:
            return act()
        except Killed:
            self.restart()
            return None
        finally:
            self.fatal = None

    @rule(
        some=st.lists(st.integers(0, 99), min_size=1, max_size=9),
        step=st.none() | st.just("asked"),
    )
    def ask(self, some: list[int], step: str | None) -> None:
        self.fatal = step
        names = [str(unit) for unit in some]
        tickets = self.surviving(lambda: self.exp.ask_many(names))
        for unit, ticket in zip(names, tickets or (), strict=False):
            self.asked(unit, ticket)  # after a crash the transaction is as if it had never been

    def asked(self, unit: str, ticket: Any) -> None:
        if unit in self.units:
            assert ticket == self.units[unit][1]
            return
        slot = self.exp._place.sealer.unseal(ticket.token, experiment=self.exp._id)
        left = {arm: n for arm, n in self.open.items() if n and arm not in self.disabled}
        if not left:
            assert slot.slot == -1
            assert ticket.arm not in self.disabled
            return
        assert slot.epoch == self.number
        assert ticket.arm in left
        self.open[ticket.arm] -= 1
        self.last = self.clock.now
        self.units[unit] = slot, ticket

    @precondition(lambda self: self.units)
    @rule(
        data=st.data(),
        reward=st.sampled_from([-1.0, 0.5, 1.0, 7.0]),
        step=st.none() | st.just("told"),
    )
    def tell(self, data: Any, reward: float, step: str | None) -> None:
        unit = data.draw(st.sampled_from([*self.units][-12:]))  # old tickets are late anyway
        slot, ticket = self.units[unit]
        self.fatal = step

        def act() -> bool:
            self.exp.tell(ticket, reward)
            return True

        if self.surviving(act) and slot.epoch == self.number:
            self.told.setdefault(unit, max(-1.0, min(1.0, reward)))

    @rule(
        hours=st.sampled_from([1.0, 24.0, 47.5, 48.0, 60.0, 72.0, -24.0, 24.0 * 300, -24.0 * 300])
    )
    def jump(self, hours: float) -> None:
        self.clock.now += hours * HOUR

    @rule(step=st.none() | st.sampled_from(STEPS[2:]))
    def tick(self, step: str | None) -> None:
        self.fatal = step
        closed = self.surviving(self.exp.tick)
        done = step in ("committed", "scrubbed")
        grid = self.born + (self.clock.now - self.born) // HOUR * HOUR
        full = not any(n for arm, n in self.open.items() if arm not in self.disabled)
        since = self.opened if self.last is None else self.last + 2 * DAY
        over = full and since <= grid
        if closed is not None:
            assert closed == over
        if over and (closed or done):
            self.close(grid)

    def close(self, grid: float) -> None:
        totals = {self.exp.arms.index(arm): 0.0 for arm in self.open}
        counts = dict.fromkeys(totals, PULLS)
        missing = dict(counts)
        for unit, reward in self.told.items():
            arm = self.units[unit][0].arm
            totals[arm] += reward
            missing[arm] -= 1
        self.expected[self.number] = {
            arm: (PULLS, totals[arm] + DEFAULT * missing[arm]) for arm in totals
        }
        self.new_epoch(self.number + 1, grid)

    @precondition(lambda self: not self.disabled)
    @rule(arm=st.sampled_from(ARMS))
    def disable(self, arm: str) -> None:
        self.exp.disable(arm)
        self.disabled.add(arm)

    @rule()
    def crash(self) -> None:
        self.restart()

    @invariant()
    def releases_are_those_of_the_model(self) -> None:
        with self.exp._storage.reading() as connection:
            answers = queries.answers_of(connection, self.exp._id)
        found = {
            epoch: {arm: (one.n, round(one.value * one.n, 9)) for arm, (one,) in arms.items()}
            for epoch, arms in answers.items()
        }
        assert found == self.expected
        replayed, stored = replay(self.exp._storage, self.exp._id)
        assert replayed == stored

    def teardown(self) -> None:
        self.entropy.stop()
        self.db.close()
        self.folder.cleanup()


TestModel = Model.TestCase
TestModel.settings = settings(
    max_examples=30,
    stateful_step_count=60,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
)
