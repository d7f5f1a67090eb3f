"""Named factories with checked keyword options, and the short forms that callers may use."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from stoic.core import Contamination, PrivacyBudget, choice, real
from stoic.errors import InvalidParameter

__all__ = ["as_budget", "as_contamination", "make", "of"]

Made = TypeVar("Made")


def of(factory: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the options that a factory takes.

    >>> of(as_budget)
    ('epsilon',)
    """
    return tuple(inspect.signature(factory).parameters)


def make(
    what: str, name: str, factories: Mapping[str, Callable[..., Made]], options: Mapping[str, Any]
) -> Made:
    """Call the factory of that name, or say which name or option is wrong and what there is.

    >>> make("colour", "red", {"red": as_budget}, {"shade": 1})
    Traceback (most recent call last):
        ...
    stoic.errors.InvalidParameter: shade = 1: not an option of colour 'red', which takes epsilon
    """
    factory = factories[choice(what, name, factories)]
    parameters = inspect.signature(factory).parameters
    for option, given in options.items():
        if option not in parameters:
            rule = f"not an option of {what} {name!r}, which takes {', '.join(parameters)}"
            raise InvalidParameter(option, given, rule)
    for option, parameter in parameters.items():
        if parameter.default is parameter.empty and option not in options:
            raise InvalidParameter(option, None, f"must be given for {what} {name!r}")
    return factory(**options)


def as_budget(epsilon: PrivacyBudget | float) -> PrivacyBudget:
    """A number counts as the budget's epsilon.

    >>> as_budget(0.5)
    PrivacyBudget(epsilon=0.5)
    """
    return epsilon if isinstance(epsilon, PrivacyBudget) else PrivacyBudget(epsilon)


def as_contamination(alpha: Contamination | float) -> Contamination:
    """A number counts as the share of outliers.

    >>> as_contamination(0.05)
    Contamination(alpha=0.05)
    """
    if isinstance(alpha, Contamination):
        return alpha
    return Contamination(real("contamination", alpha, at_least=0, below=1))
