"""The live path keeps its epsilon, and builds that do not are caught."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stoic
from helpers.attack import SURE, Weakened
from helpers.live import database
from stoic.core import Release
from stoic.live import Database, SteppingClock, audit_live, closing, tickets
from stoic.privacy.audit import runs_needed
from stoic.privacy.noise import Noise

pytestmark = [pytest.mark.live, pytest.mark.privacy, pytest.mark.statistical]

EPSILON = 1.0
RUNS = 64 * (1 + runs_needed(EPSILON, confidence=SURE) // 64)

Opened = Callable[..., tuple[Database, SteppingClock]]


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Opens a database with any noise, in memory where the system has such files."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        handles = []

        def open_one(noise: Noise) -> tuple[Database, SteppingClock]:
            clock = SteppingClock()
            handles.append(database(f"sqlite:///{folder}/live.db", noise=noise, clock=clock))
            return handles[-1], clock

        yield open_one
        for handle in handles:
            handle.close()


def simulated(seed: int) -> stoic.SimulatedNoise:
    return stoic.SimulatedNoise(np.random.Generator(np.random.SFC64(seed)))


def audited(opened: Opened, noise: Noise) -> float:
    return audit_live(*opened(noise), epsilon=EPSILON, runs=RUNS, confidence=SURE).epsilon


def test_the_live_path_keeps_its_epsilon(opened: Opened) -> None:
    assert audited(opened, stoic.SecureNoise()) <= EPSILON


def test_half_the_sensitivity_is_caught(opened: Opened) -> None:
    assert audited(opened, Weakened(simulated(1))) > EPSILON


def test_noise_of_floating_point_is_caught(opened: Opened) -> None:
    rng = np.random.Generator(np.random.SFC64(2))

    class Floating(stoic.SimulatedNoise):
        def laplace(self, exact: int, *, sensitivity: int, epsilon: float) -> Any:
            return exact + rng.laplace(0, sensitivity / epsilon)

    assert audited(opened, Floating(rng)) > EPSILON


def test_draws_after_each_crash_are_caught(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = closing.release

    def drawn_again_and_again(*given: Any, **options: Any) -> Any:
        draws = [honest(*given, **options) for _ in range(4)]

        def seen(arm: int) -> Release:
            values = [draw[arm][0].value for draw in draws]
            evidence = float(np.clip(values, -0.5, 0.5).sum())  # whoever saw all of them has this
            return dataclasses.replace(draws[0][arm][0], value=evidence)

        return {arm: (seen(arm),) for arm in draws[0]}

    monkeypatch.setattr(closing, "release", drawn_again_and_again)
    assert audited(opened, simulated(3)) > EPSILON


def test_a_unit_in_two_slots_is_caught(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    honest, count = tickets.Sealer.unit, iter(range(10**9))

    def never_the_same(sealer: tickets.Sealer, experiment: int, unit: str) -> bytes:
        return honest(sealer, experiment, f"{unit} {next(count)}")

    monkeypatch.setattr(tickets.Sealer, "unit", never_the_same)
    assert audited(opened, simulated(4)) > EPSILON
