"""Any sequence of asks, tells, ticks, crashes and jumps of the clock, beside a simple model."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

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


class Model:
    """The model: for each epoch, its slots in order (unit, arm, reward), and when the last came."""

    def __init__(self) -> None:
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

    def left(self) -> int:
        return sum(n for arm, n in self.open.items() if arm not in self.disabled)

    def whole_epoch(self, told: list[tuple[int, float]], spare: int, hours: int) -> None:
        """Units who take all its slots, or but one; their rewards; and the time they have."""
        self.ask([1000 + len(self.units) + unit for unit in range(self.left() - spare)], None)
        for which, reward in told:
            self.tell(which, reward, None)
        self.jump(float(hours))

    def tell(self, which: int, reward: float, step: str | None) -> None:
        if not self.units:
            return
        unit = [*self.units][-12:][which % min(12, len(self.units))]  # older ones are late anyway
        slot, ticket = self.units[unit]
        self.fatal = step

        def act() -> bool:
            self.exp.tell(ticket, reward)
            return True

        if self.surviving(act) and slot.epoch == self.number:
            self.told.setdefault(unit, max(-1.0, min(1.0, reward)))

    def jump(self, hours: float) -> None:
        self.clock.now += hours * HOUR

    def tick(self, step: str | None) -> None:
        self.fatal = step
        closed = self.surviving(self.exp.tick)
        done = step in ("committed", "scrubbed")
        grid = self.born + (self.clock.now - self.born) // HOUR * HOUR
        full = not self.left()
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

    def disable(self, arm: str) -> None:
        if self.disabled:
            return
        self.exp.disable(arm)
        self.disabled.add(arm)

    def crash(self) -> None:
        self.restart()

    def check(self) -> None:
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


REWARDS = st.sampled_from([-1.0, 0.5, 1.0, 7.0])
TOLD = st.tuples(st.integers(0, 11), REWARDS)
ACTIONS = st.one_of(
    st.tuples(
        st.just("whole_epoch"),
        st.lists(TOLD, max_size=12),
        st.sampled_from([0, 0, 0, 1]),
        st.integers(47, 50),
    ),
    st.tuples(
        st.just("ask"),
        st.lists(st.integers(0, 99), min_size=1, max_size=7),
        st.sampled_from([None, "asked"]),
    ),
    st.tuples(st.just("tell"), st.integers(0, 11), REWARDS, st.sampled_from([None, "told"])),
    st.tuples(st.just("jump"), st.sampled_from([1.0, 24.0, 48.0, -24.0, 7200.0, -7200.0])),
    st.tuples(st.just("tick"), st.none() | st.sampled_from(STEPS[2:])),
    st.tuples(st.just("tick"), st.none()),
    st.tuples(st.just("disable"), st.sampled_from(ARMS)),
    st.tuples(st.just("crash")),
)


@settings(max_examples=40, deadline=None)
@given(actions=st.lists(ACTIONS, min_size=20, max_size=50))
def test_any_sequence_of_events_ends_where_the_model_does(actions: list[tuple[Any, ...]]) -> None:
    model = Model()
    try:
        for name, *given_with in actions:
            getattr(model, name)(*given_with)
            model.check()
    finally:
        model.teardown()
