"""Checks of parameters: the value in its proper type, or an error that names the rule."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import Any, Literal, cast, get_args

from stoic.errors import InvalidParameter

__all__ = ["Goal", "choice", "choice_of_goal", "integer", "real"]

Goal = Literal["max", "min"]


def real(
    name: str,
    number: object,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    at_least: float = -math.inf,
    at_most: float = math.inf,
) -> float:
    """The parameter as a finite float within the stated bounds, or an error that names the rule.

    >>> real("delta", 1, above=0, below=1)
    Traceback (most recent call last):
        ...
    stoic.errors.InvalidParameter: delta = 1: must be a finite number, > 0, < 1
    """
    try:
        checked = float(_number(number))
    except (TypeError, OverflowError):
        checked = math.nan
    in_bounds = above < checked < below and at_least <= checked <= at_most
    if not (math.isfinite(checked) and in_bounds):
        rules = [
            f", {sign} {bound:g}"
            for sign, bound in ((">", above), (">=", at_least), ("<", below), ("<=", at_most))
            if math.isfinite(bound)
        ]
        raise InvalidParameter(name, number, "must be a finite number" + "".join(rules))
    return checked


def integer(name: str, number: object, *, at_least: int) -> int:
    """The parameter as an int, or an error that names the rule (5.0 counts; 5.5, True do not).

    >>> integer("arms", 5.0, at_least=1)
    5
    """
    rule = f"must be an integer, >= {at_least}"
    try:
        checked = int(_number(number))
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameter(name, number, rule) from None
    if checked != number or checked < at_least:
        raise InvalidParameter(name, number, rule)
    return checked


def choice(name: str, picked: object, allowed: Iterable[str]) -> str:
    """The parameter if it is one of the allowed words, or an error that lists them.

    >>> choice("goal", "max", ("max", "min"))
    'max'
    """
    options = tuple(allowed)
    if not isinstance(picked, str) or picked not in options:
        raise InvalidParameter(name, picked, f"must be one of {', '.join(options)}")
    return picked


def choice_of_goal(goal: object) -> Goal:
    """``"max"`` (rewards) or ``"min"`` (costs).

    >>> choice_of_goal("min")
    'min'
    """
    return cast(Goal, choice("goal", goal, get_args(Goal)))


def _number(item: object) -> Any:
    """The item if it is a real number of Python or NumPy: no bool, no text, no array."""
    if type(item) is float or type(item) is int:  # the usual, at a fraction of the cost
        return item
    if isinstance(item, bool) or not isinstance(item, numbers.Real):
        raise TypeError
    return item
