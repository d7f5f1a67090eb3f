"""``stoic policies`` and ``stoic environments``: what exists, and its options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

from stoic.errors import MissingExtra

try:
    import typer
except ImportError:
    raise MissingExtra("typer", extra="lab") from None

__all__ = ["environments", "policies"]

_Factories = Mapping[str, Callable[..., Any]]
_Kinds = Mapping[str, _Factories]  # by what a study would say
_One = Annotated[
    str | None, typer.Argument(metavar="NAME", help="One of them, to see its options.")
]


def policies(name: _One = None) -> None:
    """List the policies, a line for each.

    \b
    Examples:
      stoic policies
      stoic policies prae-c     all about one, with the options that a study may give it
    """  # noqa: D301
    from stoic.experiments.build import OPTIONS
    from stoic.policies import POLICIES

    kinds: _Kinds = {'[[policies]] name = "..."': POLICIES}
    _show(name, kinds, lambda option: option in OPTIONS)


def environments(name: _One = None) -> None:
    """List the instances, and the laws of arms, a line for each.

    \b
    Examples:
      stoic environments
      stoic environments student-t     all about one, with its options
    """  # noqa: D301
    from stoic.environments import FAMILIES, INSTANCES

    kinds: _Kinds = {
        'instance = {name = "...", ...}': INSTANCES,
        'instance = {arms = [{law = "...", ...}, ...]}': FAMILIES,
    }
    _show(name, kinds, lambda option: True)


def _show(name: str | None, kinds: _Kinds, wanted: Callable[[str], bool]) -> None:
    """The line of each, or all about those of that name."""
    names = dict.fromkeys(one for factories in kinds.values() for one in factories)
    if name is None:
        width = max(map(len, names))
        print("\n\n".join("\n".join(_lines(*kind, width)) for kind in kinds.items()))
        return
    if name not in names:
        raise typer.BadParameter(f"{name!r}: there are {', '.join(names)}", param_hint="NAME")
    found = [(kind, one[name]) for kind, one in kinds.items() if name in one]
    print("\n\n".join("\n".join(_all_about(name, *pair, wanted)) for pair in found))


def _lines(kind: str, factories: _Factories, width: int) -> Iterator[str]:
    yield kind
    for name, factory in factories.items():
        yield f"  {name:<{width}}  {_text(factory).partition(chr(10))[0]}"


def _all_about(
    name: str, kind: str, factory: Callable[..., Any], wanted: Callable[[str], bool]
) -> Iterator[str]:
    """How a study would say it, docstring without examples, and options."""
    yield kind.replace("...", name, 1)
    yield f"\n{_text(factory)}"
    yield "\nOptions:"
    for one in inspect.signature(factory).parameters.values():
        if wanted(one.name):
            shown = one.default is not one.empty and one.default is not None
            yield f"  {one.name} = {one.default!r}" if shown else f"  {one.name}"


def _text(factory: Callable[..., Any]) -> str:
    about = (inspect.getdoc(factory) or "").partition(">>>")[0]
    return about.replace("``", "").strip()
