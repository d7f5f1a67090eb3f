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

from stoic.agent.agent import Agent
from stoic.agent.kept import AgentCheckpoint, AgentState
from stoic.agent.tickets import Ticket, Tickets

__all__ = ["Agent", "AgentCheckpoint", "AgentState", "Ticket", "Tickets"]
