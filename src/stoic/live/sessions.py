"""One transaction for each thing that can happen to an experiment."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sqlalchemy import Connection

from stoic.core import Floats, choice
from stoic.errors import InvalidParameter, UnknownTicket
from stoic.live import queries, store, vault
from stoic.live.clock import Clock, milliseconds
from stoic.live.closing import Course, Epoch, read_epoch
from stoic.live.database import Storage
from stoic.live.enabled import recommended
from stoic.live.exporting import export
from stoic.live.releasing import kept_of
from stoic.live.settings import Settings
from stoic.live.statement import Statement, state_privacy
from stoic.live.summary import Summary, summarise
from stoic.live.tickets import BEYOND, LiveTicket, Sealer, Slot
from stoic.policies import Policy
from stoic.privacy.noise import Noise
from stoic.privacy.rewards import as_rewards

__all__ = ["Experiment", "Place"]


@dataclass(frozen=True, slots=True)
class Place:
    """What the experiments of one opened database share.

    ``step`` is told the name of each step of a transaction, so that a test can stop there.
    """

    storage: Storage
    sealer: Sealer
    noise: Noise
    clock: Clock
    step: Callable[[str], None]


class Experiment:
    """A live experiment: ``ask`` for a unit's arm, ``tell`` its reward, ``tick`` now and then.

    Made by :meth:`Database.create` or :meth:`Database.get`. Threads, processes and machines may
    share one.
    """

    def __init__(self, place: Place, row: Any) -> None:
        self._place = place
        self._storage = place.storage
        self._id: int = row.id
        self._created_at: int = row.created_at
        self._epoch: Epoch | None = None
        self.name: str = row.name
        self.arms: tuple[str, ...] = tuple(json.loads(row.arms))
        self.policy: Policy = queries.policy_of(row)
        self.settings = Settings(**json.loads(row.settings))
        self._course = Course(self._id, self.policy, self.settings)

    # --- Units ----------------------------------------------------------------------------------

    def ask(self, unit: str) -> LiveTicket:
        """The unit's arm. A unit that has a slot gets the same ticket again, whenever it asks.

        Beyond the plan (while a batch waits for its last rewards, and after the end) the arm is the
        one that the releases so far speak for; its reward is discarded, and nothing is stored.
        """
        return self.ask_many([unit])[0]

    def ask_many(self, units: Iterable[str]) -> list[LiveTicket]:
        """Arms for many units, in one transaction."""
        names = [self._place.sealer.unit(self._id, unit) for unit in units]
        now = milliseconds(self._place.clock)
        with self._storage.writing() as connection:
            row = store.lock_epoch(connection, self._id)
            epoch = self._current(connection, row.epoch)
            disabled = frozenset(json.loads(row.disabled))
            known = store.known_units(connection, self._id, list(dict.fromkeys(names)))
            fresh = [name for name in dict.fromkeys(names) if name not in known]
            deals = row.status == "running" and self.settings.deals(row.opened_at, now)
            if fresh and deals and row.issued < epoch.dealer.size:
                known |= self._deal(connection, epoch, row.issued, fresh, disabled, now)
            self._place.step("asked")
        beyond = epoch.number, BEYOND, recommended(self.policy, epoch.state, disabled)
        return [self._ticket(*known.get(name, beyond)) for name in names]

    def _deal(
        self,
        connection: Connection,
        epoch: Epoch,
        issued: int,
        units: Sequence[bytes],
        disabled: frozenset[int],
        now: int,
    ) -> dict[bytes, tuple[int, int, int]]:
        slots, arms, after = epoch.dealer.take(issued, len(units), disabled)
        store.take_slots(connection, self._id, epoch.number, after, now)
        found = {
            unit: (epoch.number, slot, arm)
            for unit, slot, arm in zip(units, slots.tolist(), arms.tolist(), strict=False)
        }
        among = len(set(epoch.dealer.plan.arms) - disabled)
        store.assign(connection, self._id, found, among=among, at=now)
        return found

    def _ticket(self, epoch: int, slot: int, arm: int) -> LiveTicket:
        token = self._place.sealer.seal(Slot(self._id, epoch, slot, arm))
        return LiveTicket(self.arms[arm], token)

    def tell(self, ticket: LiveTicket | str, reward: float) -> None:
        """The reward of a ticket. The first one counts, if its epoch is still open.

        Accepted, second, late and unneeded rewards are acknowledged alike: by nothing. A ticket
        that this experiment never issued raises :class:`~stoic.errors.UnknownTicket`. NaN and
        infinities are rewards too, with a stated meaning.
        """
        self.tell_many([ticket], [reward])

    def tell_many(self, tickets: Iterable[LiveTicket | str], rewards: ArrayLike) -> None:
        """The rewards of many tickets, in one transaction: all are kept, or none."""
        amounts = as_rewards(rewards)
        unseal = self._place.sealer.unseal
        slots = [unseal(str(ticket), experiment=self._id) for ticket in tickets]
        if amounts.shape != (len(slots),):
            rule = f"must hold one number for each of {len(slots)} tickets"
            raise InvalidParameter("rewards", f"shape {amounts.shape}", rule)
        newest = max((slot.epoch for slot in slots), default=0)
        epoch = self._newest(newest)
        if newest > epoch.number:
            raise UnknownTicket("this experiment never issued that ticket")
        wanted = [
            place
            for place, slot in enumerate(slots)
            if slot.epoch == epoch.number and slot.slot != BEYOND
        ]
        if wanted and epoch.asks:
            self._keep(epoch, [slots[place] for place in wanted], amounts[wanted])

    def _keep(self, epoch: Epoch, told: Sequence[Slot], amounts: Floats) -> None:
        slots = np.array([slot.slot for slot in told], dtype=np.int64)
        kept = kept_of(epoch.dealer, slots, np.array([slot.arm for slot in told]), amounts)
        with self._storage.writing() as connection:
            issued, closed_at = store.share_epoch(connection, self._id, epoch.number)
            if closed_at is not None:
                return
            if slots.max() >= issued:  # of a database that was put back to an earlier day
                raise UnknownTicket("this experiment never issued that ticket")
            vault.keep_rewards(connection, self._id, epoch.number, slots.tolist(), kept.tolist())
            self._place.step("told")

    # --- Time -----------------------------------------------------------------------------------

    def tick(self) -> bool:
        """Close the open epoch if it is over, and release what was asked. Whether it did.

        To be called about once in every ``tick`` of the experiment, by cron or a
        :class:`~stoic.live.Ticker`; more often does no harm.
        """
        now = milliseconds(self._place.clock)
        at = self.settings.tick_before(self._created_at, now)
        noise, step = self._place.noise, self._place.step
        with self._storage.writing() as connection:
            closed = self._course.close(connection, at=at, noise=noise, step=step)
            step("stored")
        step("committed")
        self._scrub()
        step("scrubbed")
        return closed

    def _scrub(self) -> None:
        """Empty the log of copies of released rewards; if readers are in the way, next time."""
        with self._storage.reading() as connection:
            due = queries.unscrubbed(connection, self._id)
        if due and self._storage.scrub():
            with self._storage.writing() as connection:
                store.mark_scrubbed(connection, self._id)

    # --- Operators ------------------------------------------------------------------------------

    def disable(self, arm: str) -> None:
        """Give an arm to nobody any more, from now on. A public event.

        Its open slots keep their number and count as missing rewards; from the next epoch on it is
        out of play, and it is never recommended.
        """
        index = self.arms.index(choice("arm", arm, self.arms))
        now = milliseconds(self._place.clock)
        with self._storage.writing() as connection:
            row = store.lock_experiment(connection, self._id)
            disabled = set(json.loads(row.disabled))
            if index in disabled:
                return
            if len(disabled) + 1 == len(self.arms):
                raise InvalidParameter("arm", arm, "is the last one: stop the experiment instead")
            listed = json.dumps(sorted(disabled | {index}))
            store.set_experiment(connection, self._id, disabled=listed)
            self._course.note(connection, "disabled", at=now, arm=index)

    def stop(self) -> None:
        """End the experiment. Rewards that were not released yet are deleted, never released."""
        now = milliseconds(self._place.clock)
        with self._storage.writing() as connection:
            row = store.lock_experiment(connection, self._id)
            if row.status == "stopped":
                return
            queries.epoch_row(connection, self._id, row.epoch, locked=True)
            store.close_epoch(connection, self._id, row.epoch, at=now)
            vault.remove_rewards(connection, self._id, row.epoch)
            store.set_experiment(connection, self._id, status="stopped")
            self._course.note(connection, "stopped", at=now)
        self._scrub()

    def summary(self) -> Summary:
        """How it stands: winner, effect, intervals, what is still open."""
        return summarise(self._storage, self._id)

    def export(self) -> Iterator[dict[str, Any]]:
        """Everything public, row by row: events, releases, assignments with propensities."""
        return export(self._storage, self._id)

    def privacy(self) -> Statement:
        """What is promised to whom, and what it has cost: in plain words and for JSON."""
        return state_privacy(self._storage, self._id)

    def __repr__(self) -> str:
        return f"<Experiment {self.name}: {self.policy.name}, {', '.join(self.arms)}>"

    # --- The open epoch, as far as it does not change -------------------------------------------

    def _current(self, connection: Connection, number: int) -> Epoch:
        epoch = self._epoch
        if epoch is None or epoch.number != number:
            found = queries.epoch_row(connection, self._id, number)
            state = queries.experiment(connection, self._id).state
            self._epoch = epoch = read_epoch(found, state)
        return epoch

    def _newest(self, number: int) -> Epoch:
        """The open epoch, or one that is over but not older than that number."""
        if self._epoch is None or self._epoch.number < number:
            with self._storage.reading() as connection:
                row = queries.experiment(connection, self._id)
                found = queries.epoch_row(connection, self._id, row.epoch)
                self._epoch = read_epoch(found, row.state)
        return self._epoch
