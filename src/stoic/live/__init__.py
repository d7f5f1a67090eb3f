"""Live experiments: durable, shared, and private for real.

>>> import tempfile, stoic
>>> folder = tempfile.TemporaryDirectory()
>>> db = stoic.live.open(f"sqlite:///{folder.name}/shop.db")
>>> exp = db.create(
...     "checkout", policy="prae-r", arms=["A", "B", "C"], horizon=10_000, epsilon=1.0,
...     moments=stoic.RawMoment(2, 100), reward_default=0.0, reward_deadline="7d", tick="1h",
... )
>>> ticket = exp.ask(unit="user-17")
>>> ticket.arm in exp.arms, exp.ask(unit="user-17") == ticket
(True, True)
>>> exp.tell(ticket, 12.5)
>>> exp.tick()  # nothing is over yet
False
>>> db.close(); folder.cleanup()

What is promised, to whom, and what an operator has to do: ``docs/how-to/live.md`` and
``docs/theory/live.md``.
"""

from __future__ import annotations

from stoic.live.auditing import SteppingClock, audit_live
from stoic.live.opening import Database, open
from stoic.live.sessions import Experiment
from stoic.live.statement import Statement
from stoic.live.summary import Summary
from stoic.live.ticker import Ticker
from stoic.live.tickets import LiveTicket

__all__ = [
    "Database",
    "Experiment",
    "LiveTicket",
    "Statement",
    "SteppingClock",
    "Summary",
    "Ticker",
    "audit_live",
    "open",
]
