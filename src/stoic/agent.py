"""One policy, played one user at a time: ask for an arm, tell the reward.

>>> import numpy as np, stoic
>>> policy = stoic.policies.create(
...     "prae-r", arms=2, horizon=2000, moments=stoic.RawMoment(2, 2), epsilon=1.0, profile="unit"
... )
>>> rng = np.random.Generator(np.random.SFC64(1))
>>> agent = stoic.Agent(policy, noise=stoic.SimulatedNoise(rng), rng=rng)
>>> for user in range(2000):
...     ticket = agent.ask()
...     agent.tell(ticket, float(ticket.arm) + rng.standard_normal())
>>> agent.recommend(), agent.ledger.spent
(1, 1.0)

Rewards may arrive late, out of order, twice or never: the first reward told for a ticket counts,
and a batch closes when all its rewards are in or when :meth:`Agent.close` gives up on the missing
ones. Asks beyond an open batch get the arm that the releases so far speak for; they are not part of
the plan, and their rewards are discarded. So are rewards that no release needs.

An agent lives in one process and one thread. What may be shown is ``agent.state``; rewards that
are still private are only in ``agent.checkpoint()``.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stoic.core import Floats, Plan, PrivacyBudget, dumps, integer, loads, value
from stoic.errors import InvalidParameter, InvalidReward, InvalidState, UnknownTicket
from stoic.policies import Policy
from stoic.privacy.ledger import Charge, Ledger
from stoic.privacy.noise import Noise
from stoic.privacy.queries import answer, fold_sizes

__all__ = ["Agent", "AgentCheckpoint", "AgentState", "Ticket", "Tickets"]

_BEYOND = -1  # the slot of a ticket that is not part of the plan
_NOTICE = "private: holds rewards of real users that no release has protected yet"


class Ticket(NamedTuple):
    """An arm for one user, and the slot that the user's reward belongs to. Four integers.

    >>> Ticket(arm=2, phase=1, slot=7, dealing=123)
    Ticket(arm=2, phase=1, slot=7, dealing=123)
    """

    arm: int
    phase: int
    slot: int
    dealing: int


@dataclass(frozen=True, eq=False, slots=True)
class Tickets:
    """A block of tickets as arrays. Iterates over single tickets; indexing gives a smaller block.

    >>> block = Tickets(np.array([0, 1]), np.array([1, 1]), np.array([0, 1]), dealing=123)
    >>> len(block), block[1:].arms, next(iter(block))
    (2, array([1]), Ticket(arm=0, phase=1, slot=0, dealing=123))
    """

    arms: NDArray[np.int64]
    phases: NDArray[np.int64]
    slots: NDArray[np.int64]
    dealing: int

    def __len__(self) -> int:
        return self.arms.size

    def __iter__(self) -> Iterator[Ticket]:
        columns = self.arms.tolist(), self.phases.tolist(), self.slots.tolist()
        return (Ticket(*row, self.dealing) for row in zip(*columns, strict=True))

    def __getitem__(self, index: slice | NDArray[Any]) -> Tickets:
        return Tickets(self.arms[index], self.phases[index], self.slots[index], self.dealing)


@value
class AgentState:
    """What an agent may show: the policy, its state, the open plan, and what was charged.

    >>> AgentState.__slots__
    ('policy', 'state', 'plan', 'phase', 'charges')
    """

    policy: Any
    state: Any
    plan: Plan
    phase: int
    charges: tuple[Charge, ...]


@value
class AgentCheckpoint:
    """Everything, open rewards included: as private as the rewards.

    >>> AgentCheckpoint.__slots__
    ('notice', 'public', 'dealing', 'issued', 'told', 'rewards')
    """

    notice: str
    public: AgentState
    dealing: int
    issued: int
    told: str
    rewards: str


class Agent:
    """The stateful shell around a policy.

    ``noise`` protects the rewards (:class:`stoic.SecureNoise` for real people,
    :class:`stoic.SimulatedNoise` in simulations); ``rng`` is public randomness for the play.
    """

    policy: Policy
    ledger: Ledger | None
    _size: int  # slots of the open plan,
    _issued: int  # dealt so far,
    _missing: int  # without a reward,
    _room: int  # that there is memory for
    _told: NDArray[np.bool_]
    _rewards: Floats

    def __init__(self, policy: Policy, *, noise: Noise, rng: np.random.Generator) -> None:
        state = policy.init()
        plan = policy.ask(state, rng=rng)
        self._resume(AgentState(policy, state, plan, 1, ()), noise, rng)

    def _resume(self, kept: AgentState, noise: Noise, rng: np.random.Generator) -> None:
        self.policy = kept.policy
        self.ledger = None
        if self.policy.epsilon is not None:
            self.ledger = Ledger(PrivacyBudget(self.policy.epsilon), kept.charges)
        self._noise = noise
        self._rng = rng
        self._state = kept.state
        self._phase = kept.phase
        # Tickets of an agent that was rebuilt in the middle of a batch must not be mistaken for
        # its predecessor's, whose slots it deals again.
        self._dealing = secrets.randbits(62)
        self._open(kept.plan)

    # --- One user at a time -------------------------------------------------------------------

    def ask(self) -> Ticket:
        """An arm for the next user."""
        slot = self._issued
        if slot == self._size and not self._next_phase():
            return Ticket(self.recommend(), self._phase, _BEYOND, self._dealing)
        slot = self._issued
        if slot == self._room:
            self._grow(slot + 1)
        self._issued = slot + 1
        place = slot % self._turns if self._order is None else self._order[slot]
        return Ticket(self._plan.arms[place], self._phase, slot, self._dealing)

    def tell(self, ticket: Ticket, reward: float) -> None:
        """The reward of a ticket. Late and second rewards are taken without a word and ignored.

        NaN and infinities are rewards too, with a stated meaning
        (:mod:`stoic.privacy.queries`); what is not a number raises
        :class:`~stoic.errors.InvalidReward`.
        """
        if type(reward) is not float:
            reward = _number(reward)
        _, phase, slot, dealing = ticket
        if dealing != self._dealing or phase > self._phase or slot < _BEYOND:
            raise UnknownTicket("this agent never issued that ticket")
        if phase < self._phase or slot == _BEYOND:
            return
        if slot >= self._issued:
            raise UnknownTicket("this agent has not issued that ticket yet")
        if not self._asks or self._told[slot]:
            return
        self._told[slot] = True
        self._rewards[slot] = reward
        self._missing -= 1
        if not self._missing:
            self._finish()

    # --- In blocks ----------------------------------------------------------------------------

    def ask_many(self, n: int) -> Tickets:
        """Arms for the next ``n`` users, beyond the open batch where it has fewer slots left.

        Ask for :attr:`open_slots` at most to stay within it.
        """
        n = integer("n", n, at_least=0)
        parts = []
        while n > 0:
            if self._issued == self._size and not self._next_phase():
                beyond = np.full(n, _BEYOND)
                parts.append((np.full(n, self.recommend()), np.full(n, self._phase), beyond))
                break
            start, stop = self._issued, min(self._issued + n, self._size)
            if stop > self._room:
                self._grow(stop)
            self._issued = stop
            slots = np.arange(start, stop)
            places = slots % self._turns if self._order is None else self._order[start:stop]
            arms = np.asarray(self._plan.arms, dtype=np.int64)[places]
            parts.append((arms, np.full(stop - start, self._phase), slots))
            n -= stop - start
        columns = zip(*parts, strict=True) if parts else ((np.empty(0, np.int64),),) * 3
        arms, phases, slots = (np.concatenate(column) for column in columns)
        return Tickets(arms, phases, slots, self._dealing)

    def tell_many(self, tickets: Tickets, rewards: ArrayLike) -> None:
        """The rewards of a block of tickets, or of a part of one (``tickets[mask]``)."""
        amounts = _numbers(rewards)
        if amounts.shape != (len(tickets),):
            rule = f"must hold one number for each of {len(tickets)} tickets"
            raise InvalidParameter("rewards", f"shape {amounts.shape}", rule)
        if not len(tickets):
            return
        current = tickets.phases == self._phase
        slots = tickets.slots[current]
        known = tickets.dealing == self._dealing and tickets.phases.max() <= self._phase
        if not known or tickets.slots.min() < _BEYOND or slots.max(initial=_BEYOND) >= self._issued:
            raise UnknownTicket("this agent never issued one of those tickets")
        if not self._asks:
            return
        wanted = slots != _BEYOND
        slots, amounts = slots[wanted], amounts[current][wanted]
        slots, first = np.unique(slots, return_index=True)
        fresh = ~self._told[slots]
        self._told[slots[fresh]] = True
        self._rewards[slots[fresh]] = amounts[first][fresh]
        self._missing -= int(np.count_nonzero(fresh))
        if not self._missing:
            self._finish()

    # --- Batches ------------------------------------------------------------------------------

    @property
    def open_slots(self) -> int:
        """How many of the next asks belong to the plan: 0 while a batch waits for its rewards."""
        if self._issued == self._size:
            self._next_phase()
        return self._size - self._issued

    def close(self, default: float = 0.0) -> None:
        """Give up on every issued ticket without a reward: each counts as ``default``.

        The batch then closes, or does so as soon as its remaining slots are dealt and told.
        """
        default = _number(default)
        if not self._asks:
            return
        lost = np.flatnonzero(~self._told[: self._issued])
        self._told[lost] = True
        self._rewards[lost] = default
        self._missing -= lost.size
        if not self._missing:
            self._finish()

    def recommend(self) -> int:
        """The arm that the releases so far speak for."""
        return self.policy.recommend(self._state)

    @property
    def private(self) -> bool:
        """Whether real people are protected: a private policy with real noise."""
        return self.policy.privacy == "central" and self._noise.private

    def _open(self, plan: Plan) -> None:
        self._plan = plan
        self._size = plan.size
        self._turns = len(plan.arms)
        self._order = None if plan.shuffle is None else plan.deal(0, plan.size)
        self._asks = bool(plan.queries)
        self._issued = 0
        self._missing = plan.size
        self._room = 0 if self._asks else plan.size
        self._told = np.zeros(0, dtype=np.bool_)
        self._rewards = np.zeros(0)

    def _grow(self, needed: int) -> None:
        self._room = min(self._size, max(needed, 2 * self._room, 1024))
        added = self._room - self._told.size
        self._told = np.concatenate([self._told, np.zeros(added, dtype=np.bool_)])
        self._rewards = np.concatenate([self._rewards, np.zeros(added)])

    def _next_phase(self) -> bool:
        """Once all slots are dealt: whether there are more, now that nobody has to be awaited."""
        if not self._asks and self._size:
            self._finish()
        return self._issued < self._size

    def _finish(self) -> None:
        """Release what was asked, charge it, and open the next phase."""
        answers = {}
        for place, query in enumerate(self._plan.queries):
            batch = self._rewards[place :: self._turns]
            folds = [(batch[fold :: query.folds],) for fold in range(query.folds)]
            sizes = fold_sizes(batch.size, query.folds)
            answers[self._plan.arms[place]] = answer(query, folds, sizes, noise=self._noise)
        if self.ledger is not None:
            for arm, releases in answers.items():
                for fold, release in enumerate(releases):
                    self.ledger.charge(self._phase, arm, fold, release)
        self._state = self.policy.tell(self._state, self._plan, answers)
        self._phase += 1
        self._open(self.policy.ask(self._state, rng=self._rng))

    # --- Keeping ------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        """JSON that may be shown (for a private policy): releases, counters, the open plan."""
        return dumps(self._public())

    @classmethod
    def from_state(cls, text: str, *, noise: Noise, rng: np.random.Generator) -> Agent:
        """An agent that goes on from :attr:`state` and deals the open batch again, to new users.

        Tickets of the batch as it was dealt before are unknown to it; their rewards are lost.
        """
        agent = cls.__new__(cls)
        agent._resume(_read(text, AgentState), noise, rng)
        return agent

    def checkpoint(self) -> str:
        """JSON of everything, open rewards included: as private as they are, and it says so."""
        return dumps(
            AgentCheckpoint(
                _NOTICE,
                self._public(),
                self._dealing,
                self._issued,
                _pack(self._told[: self._issued]),
                _pack(self._rewards[: self._issued]),
            )
        )

    @classmethod
    def from_checkpoint(cls, text: str, *, noise: Noise, rng: np.random.Generator) -> Agent:
        """An agent that goes on from :meth:`checkpoint` as if nothing had happened."""
        kept = _read(text, AgentCheckpoint)
        agent = cls.__new__(cls)
        agent._resume(kept.public, noise, rng)
        agent._dealing = kept.dealing
        agent._issued = kept.issued
        told = _unpack(kept.told, np.bool_)
        if told.size:
            agent._grow(told.size)
            agent._told[: told.size] = told
            agent._rewards[: told.size] = _unpack(kept.rewards, np.float64)
            agent._missing -= int(np.count_nonzero(told))
        return agent

    def _public(self) -> AgentState:
        charges = () if self.ledger is None else self.ledger.charges
        return AgentState(self.policy, self._state, self._plan, self._phase, charges)


def _number(reward: object) -> float:
    if isinstance(reward, (int, float, np.integer, np.floating)) and not isinstance(reward, bool):
        try:
            return float(reward)
        except OverflowError:
            return float("inf") if reward > 0 else float("-inf")
    raise InvalidReward(f"a reward must be a real number, not a {type(reward).__name__}")


def _numbers(rewards: ArrayLike) -> Floats:
    amounts = np.asarray(rewards)
    if amounts.dtype.kind not in "iuf":
        raise InvalidReward(f"rewards must be real numbers, not {amounts.dtype.name}")
    return amounts.astype(np.float64)


def _read(text: str, kind: type) -> Any:
    kept = loads(text)
    if not isinstance(kept, kind):
        raise InvalidState(f"holds a {type(kept).__name__}, not an {kind.__name__}")
    return kept


def _pack(column: NDArray[Any]) -> str:
    # Rewards may be NaN or infinite, which JSON has no words for.
    return base64.b64encode(column.astype(column.dtype.newbyteorder("<")).tobytes()).decode()


def _unpack(text: str, dtype: type) -> NDArray[Any]:
    little = np.dtype(dtype).newbyteorder("<")
    return np.frombuffer(base64.b64decode(text), dtype=little).astype(dtype)
