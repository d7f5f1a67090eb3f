"""``stoic policies`` and ``stoic environments``: what exists, and its options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["environments", "policies"]


def policies() -> None:
    """List the policies, with the options that a study may give them.

    \b
    Example:
      stoic policies
    """  # noqa: D301
    from stoic.experiments.build import OPTIONS
    from stoic.policies import POLICIES

    print("\n".join(_described(POLICIES, lambda option: option in OPTIONS)))


def environments() -> None:
    """List the instances, and the laws that arms can be made of, with their options.

    \b
    Example:
      stoic environments
    """  # noqa: D301
    from stoic.environments import FAMILIES, INSTANCES

    print('Instances: instance = {name = "...", ...}\n')
    print("\n".join(_described(INSTANCES)))
    print('\nLaws: instance = {arms = [{law = "...", ...}, ...]}\n')
    print("\n".join(_described(FAMILIES)))


def _described(
    factories: Mapping[str, Callable[..., Any]],
    wanted: Callable[[str], bool] = lambda option: True,
) -> Iterator[str]:
    """For each factory its name, the first line of its docstring, and its options."""
    width = max(map(len, factories)) + 2
    for name, factory in factories.items():
        parameters = inspect.signature(factory).parameters.values()
        options = [_option(one) for one in parameters if wanted(one.name)]
        about = (inspect.getdoc(factory) or "").partition("\n")[0].replace("``", "")
        yield f"{name:<{width}}{about}"
        if options:
            yield f"{'':<{width}}{', '.join(options)}"


def _option(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty or parameter.default is None:
        return parameter.name
    return f"{parameter.name} = {parameter.default!r}"
