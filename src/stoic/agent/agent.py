"""The agent: the stateful shell around a policy."""

from __future__ import annotations

import secrets
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from stoic.agent.batch import OpenBatch
from stoic.agent.kept import AgentCheckpoint, AgentState, pack, read, unpack
from stoic.agent.tickets import BEYOND, Ticket, Tickets
from stoic.core import PrivacyBudget, Release, dumps, integer
from stoic.errors import InvalidParameter, PrivacyViolation, UnknownTicket
from stoic.policies import Policy
from stoic.privacy.ledger import Ledger
from stoic.privacy.noise import Noise
from stoic.privacy.rewards import as_reward, as_rewards

__all__ = ["Agent"]

_NOTICE = "private: holds rewards of real users that no release has protected yet"


class Agent:
    """The stateful shell around a policy.

    ``noise`` protects the rewards (:class:`stoic.SecureNoise` for real people,
    :class:`stoic.SimulatedNoise` in simulations); ``rng`` is public randomness for the play.
    """

    policy: Policy
    ledger: Ledger | None

    def __init__(self, policy: Policy, *, noise: Noise, rng: np.random.Generator) -> None:
        _check_randomness(noise, rng)
        state = policy.init()
        protected = policy.privacy != "none"
        self._resume(
            AgentState(protected, policy, state, policy.ask(state, rng=rng), 1, ()), noise, rng
        )

    def _resume(self, kept: AgentState, noise: Noise, rng: np.random.Generator) -> None:
        self.policy = kept.policy
        self.ledger = None
        if self.policy.epsilon is not None:
            self.ledger = Ledger(PrivacyBudget(self.policy.epsilon), kept.charges)
        self._protected = kept.protected and noise.private
        self._noise = noise
        self._rng = rng
        self._state = kept.state
        self._phase = kept.phase
        self._batch = OpenBatch(kept.plan)
        self._recommended: int | None = None
        # Tickets of an agent that was rebuilt in the middle of a batch must not be mistaken for
        # its predecessor's, whose slots it deals again. 53 bits survive any JSON.
        self._dealing = secrets.randbits(53)

    # --- One user at a time -------------------------------------------------------------------

    def ask(self) -> Ticket:
        """An arm for the next user."""
        batch, phase, slot = self._batch, self._phase, self._batch.issued
        if slot == batch.size:
            return Ticket(self.recommend(), phase, BEYOND, self._dealing)
        arm = batch.deal()
        if not batch.missing:
            self._finish()
        return Ticket(arm, phase, slot, self._dealing)

    def tell(self, ticket: Ticket, reward: float) -> None:
        """The reward of a ticket. Late and second rewards are taken without a word and ignored.

        NaN and infinities are rewards too, with a stated meaning
        (:mod:`stoic.privacy.queries`); what is not a number raises
        :class:`~stoic.errors.InvalidReward`.
        """
        if type(reward) is not float:
            reward = as_reward(reward)
        try:
            _, phase, slot, dealing = ticket
        except (TypeError, ValueError):
            raise UnknownTicket("a ticket is four integers: arm, phase, slot, dealing") from None
        if dealing != self._dealing or not 1 <= phase <= self._phase or slot < BEYOND:
            raise UnknownTicket("this agent never issued that ticket")
        if phase < self._phase or slot == BEYOND:
            return
        batch = self._batch
        if slot >= batch.issued:
            raise UnknownTicket("this agent has not issued that ticket yet")
        batch.take(slot, reward)
        if not batch.missing:
            self._finish()

    # --- In blocks ----------------------------------------------------------------------------

    def ask_many(self, n: int) -> Tickets:
        """Arms for the next ``n`` users, beyond the open batch where it has fewer slots left.

        Ask for :attr:`open_slots` at most to stay within it.
        """
        n = integer("n", n, at_least=0)
        nobody = np.empty(0, dtype=np.int64)
        parts = [(nobody, nobody, nobody)]
        while n > 0:
            batch, phase, first = self._batch, self._phase, self._batch.issued
            dealt = min(n, batch.size - first)
            if not dealt:
                parts.append((np.full(n, self.recommend()), np.full(n, phase), np.full(n, BEYOND)))
                break
            arms, slots = batch.deal_many(dealt), np.arange(first, first + dealt)
            parts.append((arms, np.full(dealt, phase), slots))
            if not batch.missing:
                self._finish()
            n -= dealt
        arms, phases, slots = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Tickets(arms, phases, slots, self._dealing)

    def tell_many(self, tickets: Tickets, rewards: ArrayLike) -> None:
        """The rewards of a block of tickets, or of a part of one (``tickets[mask]``)."""
        if not isinstance(tickets, Tickets):
            rule = "must be a block of tickets, from ask_many"
            raise InvalidParameter("tickets", type(tickets).__name__, rule)
        amounts = as_rewards(rewards)
        if amounts.shape != (len(tickets),):
            rule = f"must hold one number for each of {len(tickets)} tickets"
            raise InvalidParameter("rewards", f"shape {amounts.shape}", rule)
        if not len(tickets):
            return
        batch, phases, slots = self._batch, tickets.phases, tickets.slots
        known = tickets.dealing == self._dealing and 1 <= phases.min() <= phases.max()
        current = phases == self._phase
        if not (
            known
            and phases.max() <= self._phase
            and slots.min() >= BEYOND
            and slots[current].max(initial=BEYOND) < batch.issued
        ):
            raise UnknownTicket("this agent never issued one of those tickets")
        wanted = current & (slots != BEYOND)
        if not wanted.any():
            return
        batch.take_many(slots[wanted], amounts[wanted])
        if not batch.missing:
            self._finish()

    # --- Batches ------------------------------------------------------------------------------

    @property
    def open_slots(self) -> int:
        """How many of the next asks belong to the plan: 0 while a batch waits for its rewards."""
        return self._batch.size - self._batch.issued

    def close(self, default: float = 0.0) -> None:
        """Give up on every issued ticket without a reward: each counts as ``default``.

        The batch then closes, or does so as soon as its remaining slots are dealt and told.
        """
        default = as_reward(default)
        if not self._batch.asks:
            return
        self._batch.fill(default)
        if not self._batch.missing:
            self._finish()

    def recommend(self) -> int:
        """The arm that the releases so far speak for."""
        if self._recommended is None:
            self._recommended = self.policy.recommend(self._state)
        return self._recommended

    @property
    def private(self) -> bool:
        """Whether real people are protected: a private policy, and real noise from the start."""
        return self._protected

    def _finish(self) -> None:
        """Release what was asked, charge it, and open the next phase."""
        answers = self._batch.answers(noise=self._noise)
        for arm, releases in answers.items():
            self._charge(arm, releases)
        state = self.policy.tell(self._state, self._batch.plan, answers)
        plan = self.policy.ask(state, rng=self._rng)
        self._state, self._batch, self._recommended = state, OpenBatch(plan), None
        self._phase += 1

    def _charge(self, arm: int, releases: tuple[Release, ...]) -> None:
        if self.policy.privacy == "none":
            return
        if self.ledger is None:
            raise PrivacyViolation(f"{self.policy.name} states no epsilon, yet asks for rewards")
        for fold, release in enumerate(releases):
            self.ledger.charge(self._phase, arm, fold, release)

    # --- Keeping ------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        """JSON of releases, counters and the open plan, which may be shown and logged.

        Not so for a policy that is not private: its state holds rewards, and ``protected`` in it
        is false.
        """
        return dumps(self._public())

    @classmethod
    def from_state(cls, text: str, *, noise: Noise, rng: np.random.Generator) -> Agent:
        """An agent that goes on from :attr:`state` and deals the open batch again, to new users.

        Tickets of the batch as it was dealt before are unknown to it; their rewards are lost.
        """
        _check_randomness(noise, rng)
        agent = cls.__new__(cls)
        agent._resume(read(text, AgentState), noise, rng)
        return agent

    def checkpoint(self) -> str:
        """JSON of everything, open rewards included: as private as they are, and it says so."""
        told, rewards = self._batch.contents()
        return dumps(
            AgentCheckpoint(
                _NOTICE,
                self._public(),
                self._dealing,
                self._batch.issued,
                pack(told),
                pack(rewards),
            )
        )

    @classmethod
    def from_checkpoint(cls, text: str, *, noise: Noise, rng: np.random.Generator) -> Agent:
        """An agent that goes on from :meth:`checkpoint` as if nothing had happened.

        Only one may: two that went on from the same checkpoint, or one and the agent that wrote
        it, would each release the same rewards.
        """
        _check_randomness(noise, rng)
        kept = read(text, AgentCheckpoint)
        agent = cls.__new__(cls)
        agent._resume(kept.public, noise, rng)
        agent._dealing = kept.dealing
        told, rewards = unpack(kept.told, np.bool_), unpack(kept.rewards, np.float64)
        agent._batch.restore(kept.issued, told, rewards)
        return agent

    def _public(self) -> AgentState:
        charges = () if self.ledger is None else self.ledger.charges
        return AgentState(
            self._protected, self.policy, self._state, self._batch.plan, self._phase, charges
        )

    def __repr__(self) -> str:
        dealt = f"{self._batch.issued} of {self._batch.size} slots dealt"
        return f"<Agent {self.policy.name}: phase {self._phase}, {dealt}>"

    def __reduce__(self) -> NoReturn:
        rule = "an agent is not copied or pickled, or its rewards might be released twice"
        raise PrivacyViolation(f"{rule}: keep its state or checkpoint()")


def _check_randomness(noise: object, rng: object) -> None:
    # Otherwise either would fail only when a batch is over, and take its rewards with it.
    if not isinstance(getattr(noise, "private", None), bool):
        raise InvalidParameter("noise", noise, "must be a SecureNoise or a SimulatedNoise")
    if not isinstance(rng, np.random.Generator):
        raise InvalidParameter("rng", rng, "must be a numpy.random.Generator")
