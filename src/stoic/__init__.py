"""Private and robust bandits: see :func:`stoic.policies.create` and :class:`stoic.Agent`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stoic import (
        environments,
        errors,
        estimators,
        live,
        planning,
        policies,
        privacy,
        simulation,
        theory,
    )
    from stoic.agent import Agent, Ticket, Tickets
    from stoic.core import CentralMoment, Contamination, PrivacyBudget, RawMoment
    from stoic.environments import instances
    from stoic.planning import plan
    from stoic.privacy.secure import SecureNoise
    from stoic.privacy.simulated import SimulatedNoise
    from stoic.simulation import simulate

__all__ = [
    "Agent",
    "CentralMoment",
    "Contamination",
    "PrivacyBudget",
    "RawMoment",
    "SecureNoise",
    "SimulatedNoise",
    "Ticket",
    "Tickets",
    "environments",
    "errors",
    "estimators",
    "instances",
    "live",
    "plan",
    "planning",
    "policies",
    "privacy",
    "simulate",
    "simulation",
    "theory",
]

_HOME = {
    "Agent": "agent",
    "CentralMoment": "core",
    "Contamination": "core",
    "PrivacyBudget": "core",
    "RawMoment": "core",
    "SecureNoise": "privacy.secure",
    "SimulatedNoise": "privacy.simulated",
    "Ticket": "agent",
    "Tickets": "agent",
    "instances": "environments",
    "plan": "planning",
    "simulate": "simulation",
}


def __getattr__(name: str) -> Any:
    """Load public names when they are first used (PEP 562)."""
    if name in _HOME:
        return getattr(importlib.import_module(f"stoic.{_HOME[name]}"), name)
    if name in __all__:
        return importlib.import_module(f"stoic.{name}")
    raise AttributeError(f"module 'stoic' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
