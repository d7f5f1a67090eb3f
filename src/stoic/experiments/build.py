"""From the tables of a study to the values that are simulated: policies, moments, instances.

What goes wrong while a value is built is said of the place where its option was given.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from stoic import environments, options, policies
from stoic.core import CentralMoment, Moment, RawMoment
from stoic.environments import FAMILIES, INSTANCES, Huber, Instance, Point, Source
from stoic.errors import InvalidParameter
from stoic.experiments.document import Document, Table, within
from stoic.policies import POLICIES, Policy

__all__ = [
    "OPTIONS",
    "Given",
    "Options",
    "build_instance",
    "build_policy",
    "instance_options",
    "policy_options",
    "share",
]

_FROM_INSTANCE = ("arms", "goal", "best")  # what a policy knows of the instance that it plays

_MOMENTS: dict[str, Callable[..., Moment]] = {"raw": RawMoment, "central": CentralMoment}
_OUTLIERS = ("alpha", "contaminant")  # what an arm says of its own, besides its law
_SOURCES: dict[str, Callable[..., Source]] = {**FAMILIES, "point": Point}
_FILE = "file"  # the law, and the instance, that read one


@dataclass(frozen=True, slots=True)
class Given:
    """An option's value as the study gives it, and where."""

    value: Any
    path: str


Options = dict[str, Given]


def _options_of(policy: str) -> list[str]:
    return [one for one in options.of(POLICIES[policy]) if one not in _FROM_INSTANCE]


OPTIONS = tuple(dict.fromkeys(option for name in POLICIES for option in _options_of(name)))
"""All that a study may hand to a policy."""


def policy_options(table: Table) -> list[str]:
    """The options of the policy that a table names."""
    return _options_of(_choice(table, "name", POLICIES))


def build_policy(table: Table, given: Options, instance: Instance) -> Policy:
    """The policy that a table names, with these options, for that instance."""
    made = {option: _frozen(one.value) for option, one in given.items()}
    if "moments" in made:
        made["moments"] = _moments(given["moments"], table.document)
    name = table.items["name"]
    known: dict[str, Any] = {"goal": instance.goal, "best": instance.best}
    made |= {key: value for key, value in known.items() if key in options.of(POLICIES[name])}
    with _blaming(given, table):
        return policies.create(name, arms=instance.size, **made)


def instance_options(table: Table) -> Sequence[str]:
    """What may be said of the instance that a table describes: a named one, or arms of its own."""
    if "name" not in table.items and isinstance(table.items.get("arms"), list):
        return ("arms", "goal", "alpha", "contaminant")
    return ("name", *options.of(INSTANCES[_choice(table, "name", INSTANCES)]))


def build_instance(table: Table, given: Options) -> Instance:
    """The instance that a table describes, with these options."""
    table.allow(instance_options(table))
    made = {option: _frozen(one.value) for option, one in given.items() if option != "name"}
    with _blaming(given, table):
        if "name" in table.items:
            _check_pinned(table.items["name"], given, table)
            return environments.create(table.items["name"], **made)
        instance = Instance(
            tuple(_arm(arm) for arm in table.tables("arms")), made.get("goal", "max")
        )
        if "contaminant" not in made:
            if "alpha" in given:
                raise table.document.error(given["alpha"].path, "needs a contaminant")
            return instance
        contaminant = _source(table.table("contaminant"))
        return instance.contaminated(made.get("alpha", 0.0), contaminant)


def share(instance: Instance) -> float:
    """The largest share of outliers of any arm."""
    return max(float(getattr(arm, "alpha", 0.0)) for arm in instance.arms)


def _arm(table: Table) -> Any:
    """A law, with outliers of its own where it says ``alpha`` and ``contaminant``."""
    rest = {key: item for key, item in table.items.items() if key not in _OUTLIERS}
    law = _source(Table(table.document, table.path, rest))
    if len(rest) == len(table.items):
        return law
    alpha, contaminant = table.require("alpha"), _source(table.table("contaminant"))
    with _blaming({"alpha": Given(alpha, table.where("alpha"))}, table):
        return Huber(law, alpha, contaminant)


def _source(table: Table) -> Any:
    """A law, or a point, from ``{law = "student-t", df = 2.5}``."""
    return _make("law", "law", _SOURCES, table)


def _moments(given: Given, document: Document) -> Moment:
    """A moment bound, from ``{kind = "raw", k = 2, bound = 5}``."""
    if not isinstance(given.value, dict):
        raise document.error(given.path, "must be a table of kind, k, bound and so on")
    made: Moment = _make("moments", "kind", _MOMENTS, Table(document, given.path, given.value))
    return made


def _make(what: str, key: str, factories: Mapping[str, Callable[..., Any]], table: Table) -> Any:
    """What the factory that ``key`` names makes of the rest of a table."""
    name = _choice(table, key, factories)
    table.allow((key, *options.of(factories[name])))
    given = {
        option: Given(value, table.where(option))
        for option, value in table.items.items()
        if option != key
    }
    with _blaming(given, table):
        _check_pinned(name, given, table)
        made = {option: _frozen(one.value) for option, one in given.items()}
        return options.make(what, name, factories, made)


def _check_pinned(name: str, given: Options, table: Table) -> None:
    """A study says which bytes it reads: a file that changes would make it another study."""
    if name == _FILE and "file" in given and "digest" not in given:
        digest = environments.digest_of(given["file"].value)
        raise table.wrong("digest", f'must be given; as the file is now, it is "{digest}"')


def _choice(table: Table, key: str, known: Mapping[str, Any]) -> str:
    name = table.require(key)
    if not isinstance(name, str) or name not in known:
        raise table.wrong(key, f"must be one of {', '.join(known)}")
    return name


@contextlib.contextmanager
def _blaming(given: Options, table: Table) -> Iterator[None]:
    """Say what goes wrong inside of the place where it was given."""
    try:
        yield
    except InvalidParameter as error:
        _blame(error, given, table.document, table.path)
    except OverflowError:
        raise table.document.error(table.path, "a number is too large") from None


def _blame(error: InvalidParameter, given: Options, document: Document, path: str) -> NoReturn:
    """Say an error of the option that it is about, or else of the table at ``path``."""
    option = error.parameter.partition("[")[0]
    if option == "alpha" and "contamination" in given:
        option = "contamination"  # as a policy calls it
    if option in given and option != "rewards":  # never shown
        raise document.error(given[option].path, error.rule) from None
    if error.value is None:
        raise document.error(within(path, option), error.rule) from None
    raise document.error(path, str(error)) from None


def _frozen(item: Any) -> Any:
    """Lists as tuples, as the values want them."""
    return tuple(_frozen(part) for part in item) if isinstance(item, list) else item
