"""A small bandit of every law, and an arm that counts what is drawn of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from stoic.core import Floats, value
from stoic.environments import FAMILIES, INSTANCES, Gaussian, Instance, Point, create, law

__all__ = ["ENVIRONMENTS", "Counting", "environment", "three_arms"]

_LAWS: dict[str, dict[str, Any]] = {
    "pareto": {"shape": 2.5},
    "lomax": {"shape": 3.5},
    "student-t": {"df": 2.5, "loc": 1.0},
    "log-normal": {"mu": 0.0, "sigma": 0.5},
    "gaussian": {"mean": 0.0, "sd": 1.0},
    "bernoulli": {"p": 0.3},
    "discrete": {"values": (0.0, 1.0, 5.0), "probabilities": (0.5, 0.4, 0.1)},
    "scipy": {"name": "gamma", "args": (3.0,)},
    "resampled": {"rewards": [1.01**i for i in range(400)]},
    "file": {"arms": "arm", "arm": "b"},
}
_INSTANCES: dict[str, dict[str, Any]] = {
    "paper": {"family": "student-t", "alpha": 0.05},
    "hard": {"arms": 4, "horizon": 1000, "epsilon": 0.5},
    "hard-contaminated": {"arms": 3, "alpha": 0.2},
    "hard-sampling": {"arms": 4, "horizon": 1000},
    "file": {},
}
ENVIRONMENTS = tuple(f"law {name}" for name in FAMILIES) + tuple(INSTANCES)


def environment(name: str, folder: Path) -> Instance:
    """The instance of that name, or the law of that name beside a Gaussian and under outliers.

    Where an environment is read from a file, that file is written into the folder.
    """
    kind, _, family = name.partition(" ")
    options = _LAWS[family] if family else _INSTANCES[name]
    if "file" in (kind, family):
        options = {**options, "file": folder / "rewards.csv"}
        lines = [f"{'abc'[i % 3]},{(i * i) % 17 + i % 3}" for i in range(300)]
        options["file"].write_text("\n".join(["arm,reward", *lines, ""]))
    if not family:
        return create(name, **options)
    one = law(family, **options)
    return Instance((one, Gaussian(one.mean - 3, 1.0))).contaminated(0.05, Point("inf"))


def three_arms() -> Instance:
    """Arms of different laws, of which one reward in ten is no number."""
    arms = (
        law("student-t", df=2.5, loc=0.0),
        law("pareto", shape=2.5, scale=1.5, shift=-0.5),
        law("gaussian", mean=-2.0, sd=1.0),
    )
    return Instance(arms).contaminated(0.1, Point("nan"))


@value
class Counting:
    """Normal rewards; how many were drawn of all such arms is counted in ``drawn``."""

    mean: float
    drawn: ClassVar[list[int]] = []

    def sample(self, n: int, *, rng: np.random.Generator) -> Floats:
        self.drawn.append(n)
        return rng.normal(self.mean, 1.0, n)
