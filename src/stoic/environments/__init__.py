"""Environments: laws of rewards, contamination, and bandit instances made of them.

=============== ============================================================= ===================
law             what it is                                                    k-th moment
=============== ============================================================= ===================
``pareto``      a power tail from ``shift + scale`` on                        k < shape
``lomax``       the same, starting at 0                                       k < shape
``student-t``   symmetric, with two power tails                               k < df
``log-normal``  the exponential of a normal law                               all
``gaussian``    the normal law                                                all
``bernoulli``   0 or 1                                                        all
``discrete``    finitely many values                                          all
``scipy``       any named law of SciPy that has a mean                        by its tail
``resampled``   draws from real rewards                                       all, the data's own
``file``        draws from the rewards in a CSV, Parquet or ``.npy`` file     all, the data's own
=============== ============================================================= ===================

===================== ====================================================================
instance              what it is
===================== ====================================================================
``paper``             the experiments of the paper
``hard``              two-point arms that privacy hides from each other
``hard-contaminated`` two-point arms that contamination makes indistinguishable
``hard-sampling``     arms of 1 and -1 that chance hides from each other
``file``              the arms that a file of real rewards names
===================== ====================================================================

>>> arm = law("student-t", df=2.5, loc=100.0)
>>> arm.mean, arm.central_moment(2)
(100.0, 5.0)
>>> create("paper", family="student-t", alpha=0.05).gaps
array([  0.,  25.,  50.,  75., 100.])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stoic.environments import instances
from stoic.environments.contamination import Arm, Huber, Point, Source
from stoic.environments.continuous import Gaussian, LogNormal, Pareto, StudentT, lomax
from stoic.environments.files import digest_of
from stoic.environments.finite import Bernoulli, Discrete
from stoic.environments.instance import Instance
from stoic.environments.law import FiniteLaw, Law
from stoic.environments.named import Scipy, scipy_law
from stoic.environments.resampled import FileLaw, Resampled, file_instance, file_law, resampled
from stoic.options import make

__all__ = [
    "FAMILIES",
    "INSTANCES",
    "Arm",
    "Bernoulli",
    "Discrete",
    "FileLaw",
    "FiniteLaw",
    "Gaussian",
    "Huber",
    "Instance",
    "Law",
    "LogNormal",
    "Pareto",
    "Point",
    "Resampled",
    "Scipy",
    "Source",
    "StudentT",
    "create",
    "digest_of",
    "file_instance",
    "file_law",
    "instances",
    "law",
    "lomax",
    "resampled",
    "scipy_law",
]

FAMILIES: dict[str, Callable[..., Law]] = {
    "pareto": Pareto,
    "lomax": lomax,
    "student-t": StudentT,
    "log-normal": LogNormal,
    "gaussian": Gaussian,
    "bernoulli": Bernoulli,
    "discrete": Discrete,
    "scipy": Scipy,
    "resampled": resampled,
    "file": file_law,
}

INSTANCES: dict[str, Callable[..., Instance]] = {
    "paper": instances.paper,
    "hard": instances.hard,
    "hard-contaminated": instances.hard_contaminated,
    "hard-sampling": instances.hard_sampling,
    "file": file_instance,
}


def law(name: str, /, **options: Any) -> Law:
    """A law by the name of its family.

    >>> law("lomax", shape=3.0, scale=2.0).mean
    1.0
    """
    return make("law", name, FAMILIES, options)


def create(name: str, /, **options: Any) -> Instance:
    """An instance by name.

    >>> create("hard", arms=3, horizon=1_000, epsilon=0.5).size
    3
    """
    return make("instance", name, INSTANCES, options)
