"""Frozen value types, and the JSON that carries them without loss."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any, TypeVar, cast, dataclass_transform

from stoic.errors import InvalidParameter, InvalidState

__all__ = ["dumps", "loads", "settle", "value"]

_Class = TypeVar("_Class", bound=type)
_KINDS: dict[str, type] = {}


@dataclass_transform(frozen_default=True)
def value(cls: _Class) -> _Class:
    """Turn a class into a frozen dataclass with slots that :func:`dumps` and :func:`loads` know.

    The class name is the ``kind`` written to JSON, so it must be unique, and no field may be
    called ``kind``. Reading a value back needs the module that defines it to be imported.

    >>> @value
    ... class Temperature:
    ...     celsius: float
    >>> dumps(Temperature(36.6))
    '{"kind": "Temperature", "celsius": 36.6}'
    """
    made: Any = dataclasses.dataclass(frozen=True, slots=True)(cls)
    if "kind" in made.__slots__:
        raise InvalidParameter("class", made.__qualname__, "no field may be called 'kind'")
    known = _KINDS.get(made.__name__)
    if known is not None and known.__module__ != made.__module__:
        raise InvalidParameter("class", made.__qualname__, "another value type has this name")
    _KINDS[made.__name__] = made
    return cast(_Class, made)


def settle(instance: object, **checked: object) -> None:
    """Store validated fields of a frozen value (only for use in ``__post_init__``).

    >>> from stoic.core.checks import real
    >>> @value
    ... class Percentage:
    ...     part: float
    ...
    ...     def __post_init__(self):
    ...         settle(self, part=real("part", self.part, at_least=0, at_most=100))
    >>> Percentage(50).part
    50.0
    """
    for name, field in checked.items():
        object.__setattr__(instance, name, field)


def _to_plain(item: Any) -> Any:
    cls = type(item)
    if _KINDS.get(cls.__name__) is cls:
        fields = {f.name: _to_plain(getattr(item, f.name)) for f in dataclasses.fields(cls)}
        return {"kind": cls.__name__, **fields}
    if isinstance(item, tuple):
        return [_to_plain(part) for part in item]
    if item is None or isinstance(item, (bool, int, float, str)):
        return _finite(item)
    raise InvalidState(f"JSON has no word for a {cls.__name__}")


def _from_plain(item: Any) -> Any:
    if isinstance(item, list):
        return tuple(_from_plain(part) for part in item)
    if isinstance(item, dict):
        kind = item.get("kind")
        cls = _KINDS.get(kind) if isinstance(kind, str) else None
        if cls is None:
            raise InvalidState(f"kind = {kind!r}: not a kind of value that has been defined")
        fields = {name: _from_plain(part) for name, part in item.items() if name != "kind"}
        expected = {f.name for f in dataclasses.fields(cls)}
        if fields.keys() != expected:
            wrong = sorted(fields.keys() ^ expected)
            raise InvalidState(f"kind = {cls.__name__!r}: missing or unknown fields {wrong}")
        try:
            return cls(**fields)
        except Exception as error:  # whatever a constructor says to fields of the wrong types
            raise InvalidState(f"kind = {cls.__name__!r}: {error}") from error
    return _finite(item)


def _finite(item: Any) -> Any:
    if isinstance(item, float) and not math.isfinite(item):
        raise InvalidState("JSON has no NaN and no infinity")
    return item


def dumps(item: object) -> str:
    """JSON text of a value (or a tuple of values). Floats keep every bit, integers every digit.

    >>> from stoic.core import PrivacyBudget
    >>> dumps(PrivacyBudget(0.5))
    '{"kind": "PrivacyBudget", "epsilon": 0.5}'
    """
    plain = _to_plain(item)
    try:
        return json.dumps(plain)
    except ValueError as error:  # digits beyond what str() gives
        raise InvalidState(f"cannot be stored as JSON: {error}") from error


def loads(text: str) -> Any:
    """The value that :func:`dumps` wrote; anything else is :class:`~stoic.errors.InvalidState`.

    >>> loads('{"kind": "PrivacyBudget", "epsilon": 0.5}')
    PrivacyBudget(epsilon=0.5)
    """
    try:
        return _from_plain(json.loads(text))
    except InvalidState:
        raise
    except (TypeError, ValueError, RecursionError) as error:  # also digits beyond what int() takes
        raise InvalidState(f"not JSON: {error}") from error
