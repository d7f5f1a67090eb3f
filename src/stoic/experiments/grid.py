"""The cells of a study: every policy in every panel, and every panel at every point of the grid.

Options (``horizon``, ``epsilon``, ``moments``, ...) may stand at the top of a study, in the grid,
in a panel and in a policy. They are handed to every policy that takes them, and to a named instance
that takes them; what is said closer to the policy counts. ``contamination`` is the instance's own
share of outliers unless given. An option that reaches nobody is an error. A panel with a sweep
stands for several, one for each value of what it sweeps.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stoic.environments import Instance
from stoic.errors import InvalidParameter
from stoic.experiments.build import (
    OPTIONS,
    Given,
    Options,
    build_instance,
    build_policy,
    instance_options,
    policy_options,
    share,
)
from stoic.experiments.document import Table, hint
from stoic.experiments.points import Point, Sweep, joined, points, quantity
from stoic.policies import Policy
from stoic.simulation import checkpoint_rounds

__all__ = ["Layout", "Setting", "lay_out"]

_CHECKPOINTS = 200
_MOST = 100_000  # checkpoints
_LONGEST = 10**15  # rounds, which floats still count one by one


@dataclass(frozen=True, eq=False, slots=True)
class Setting:
    """One cell of the grid: a policy in a panel (their labels), and what that means.

    ``settings`` is what the study says that applies here, ``player`` the policy that it makes.
    """

    panel: str
    policy: str
    settings: dict[str, Any]
    player: Policy
    instance: Instance
    checkpoints: NDArray[np.int64]


@dataclass(frozen=True)
class _Panel:
    label: str
    instance: Instance
    description: dict[str, Any]  # of the instance
    options: Options
    policies: tuple[str, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """The labels of the panels and of the policies, the cells panel by panel, and the sweeps."""

    panels: tuple[str, ...]
    policies: tuple[str, ...]
    cells: tuple[Setting, ...]
    sweeps: tuple[Sweep, ...]


def lay_out(top: Table) -> Layout:
    """What a study plays, from all that it says."""
    policies: dict[str, Table] = {}
    for table in top.tables("policies"):
        label = table.text("label", str(table.require("name")))
        _once(label, policies, table)
        table.allow(("label", "name", *_own_options(table)))
        policies[label] = table
    used: set[str] = set()
    panels: dict[str, _Panel] = {}
    sweeps: dict[str, Sweep] = {}
    grid = top.table("grid")
    for table, point in itertools.product(top.tables("panels"), list(points(grid))):
        varied = quantity(table)
        made = []
        for step in points(table.table("sweep")):
            panel = _panel(table, point.at(step, table), top, tuple(policies), used)
            _once(panel.label, panels, table)
            panels[panel.label] = panel
            made.append(panel)
        if varied is not None:
            label = joined(table.text("label", made[0].instance.name), point.label)
            _once(label, sweeps, table)
            sweeps[label] = Sweep(label, *varied, tuple(panel.label for panel in made))
    cells = tuple(
        _cell(panel, label, policies[label], top, used)
        for panel in panels.values()
        for label in panel.policies
    )
    given = [_options(top), *(panel.options for panel in panels.values())]
    for one in itertools.chain.from_iterable(options.values() for options in given):
        if one.path not in used:
            raise top.document.error(one.path, "no policy takes it from here")
    return Layout(tuple(panels), tuple(policies), cells, tuple(sweeps.values()))


def _panel(
    table: Table, point: Point, top: Table, policies: tuple[str, ...], used: set[str]
) -> _Panel:
    table.allow(("label", "instance", "policies", "sweep", *OPTIONS))
    described = table.table("instance")
    table.require("instance")
    for scope, varied in ((table, point.options), (described, point.instance)):
        for key in scope.items:
            if key in varied:
                varying = "grid" if varied[key].path.startswith("grid") else "sweep"
                raise scope.wrong(key, f"the {varying} varies it")
    taken = instance_options(described)
    for key, one in point.instance.items():
        if key not in taken:
            raise top.document.error(one.path, f"not an option of the instance{hint(key, taken)}")
    of_run = {**_options(top), **point.options, **_options(table)}
    own = {key: Given(value, described.where(key)) for key, value in described.items.items()}
    shared = {key: one for key, one in of_run.items() if key in taken}
    used.update(one.path for one in shared.values())
    given = {**shared, **own, **point.instance}
    instance = build_instance(described, given)
    label = table.text("label", instance.name)
    return _Panel(
        label=joined(label, point.label),
        instance=instance,
        description={key: one.value for key, one in given.items()},
        options={**point.options, **_options(table)},
        policies=_chosen(table, policies),
    )


def _chosen(table: Table, policies: tuple[str, ...]) -> tuple[str, ...]:
    """The policies that play in a panel, in the order of the study."""
    wanted = table.items.get("policies", list(policies))
    if not isinstance(wanted, list) or not wanted:
        raise table.wrong("policies", "must be a list of labels, at least one")
    for label in wanted:
        if label not in policies:
            raise table.wrong("policies", f"no policy {label!r}{hint(label, policies)}")
    return tuple(label for label in policies if label in wanted)


def _cell(panel: _Panel, label: str, policy: Table, top: Table, used: set[str]) -> Setting:
    taken = policy_options(policy)
    offered = {**_options(top), **panel.options, **_options(policy)}
    if "horizon" not in offered:
        raise top.wrong("horizon", "must be given")
    _check_size(offered["horizon"].value, _LONGEST, offered["horizon"].path, top)
    truth = Given(share(panel.instance), policy.path)
    given = {"contamination": truth, **offered}
    given = {key: given[key] for key in taken if key in given}
    used.update(one.path for one in given.values())
    player = build_policy(policy, given, panel.instance)
    described = {key: one.value for key, one in given.items()}
    return Setting(
        panel=panel.label,
        policy=label,
        settings={"name": policy.items["name"], **described, "instance": panel.description},
        player=player,
        instance=panel.instance,
        checkpoints=_checkpoints(top, player.horizon),
    )


def _checkpoints(top: Table, horizon: int) -> NDArray[np.int64]:
    wanted = top.items.get("checkpoints", _CHECKPOINTS)
    _check_size(wanted, _MOST, "checkpoints", top)
    try:
        return checkpoint_rounds(wanted, horizon)
    except InvalidParameter as error:
        raise top.wrong("checkpoints", error.rule) from None


def _check_size(value: Any, most: int, path: str, top: Table) -> None:
    """What is not a number, others refuse."""
    if isinstance(value, (int, float)) and value > most:
        raise top.document.error(path, f"must be at most {most}")


def _options(table: Table) -> Options:
    return {
        key: Given(value, table.where(key)) for key, value in table.items.items() if key in OPTIONS
    }


def _own_options(policy: Table) -> Sequence[str]:
    # All policies of a panel play the same number of rounds, or they could not be compared.
    return [option for option in policy_options(policy) if option != "horizon"]


def _once(label: str, known: dict[str, Any], table: Table) -> None:
    if label in known:
        raise table.wrong("label", f"there is another {label!r}; give each a label of its own")
