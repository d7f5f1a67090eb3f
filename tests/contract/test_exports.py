"""What Stoic exports: it exists, loads when first used, and is documented."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import stoic
from stoic import errors

MODULES = ["stoic", *(found.name for found in pkgutil.walk_packages(stoic.__path__, "stoic."))]
METHODS = (property, functools.cached_property, classmethod, staticmethod)


# --- The root -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", stoic.__all__)
def test_every_public_name_loads_when_first_used(name: str) -> None:
    code = f"import stoic; assert {name!r} not in vars(stoic); stoic.{name}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_stoic_alone_loads_nothing_heavy() -> None:
    code = """
import sys, stoic
loaded = {name for name in sys.modules if name.startswith("stoic.")}
loaded |= sys.modules.keys() & {"numpy", "scipy", "opendp", "pyarrow"}
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_type_checkers_see_every_public_name() -> None:
    # A name that only __getattr__ knows would silently have the type Any.
    tree = ast.parse(inspect.getsource(stoic))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = [
        alias.name
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert sorted(seen) == sorted(stoic.__all__) == dir(stoic)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'stoic' has no attribute 'nonsense'"):
        stoic.nonsense  # noqa: B018


# --- Every module -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODULES)
def test_every_exported_name_exists(name: str) -> None:
    module = importlib.import_module(name)
    assert exported(module) == [name for name in exported(module) if hasattr(module, name)]
    assert len(exported(module)) == len(set(exported(module)))


@pytest.mark.parametrize("name", MODULES)
def test_every_exported_name_is_documented(name: str) -> None:
    module = importlib.import_module(name)
    assert undocumented(module, protocols=public_protocols()) == []


def exported(module: ModuleType) -> list[str]:
    """``__all__``, which only a package without any code of its own may leave out."""
    code = ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8")).body[1:]
    return list(module.__all__ if code else getattr(module, "__all__", []))


def undocumented(module: ModuleType, *, protocols: list[type]) -> list[str]:
    """Public names without a docstring: the module, its functions, classes and their methods.

    Constants and type aliases have no docstrings that a program could see.
    """
    missing = [] if inspect.getdoc(module) else [module.__name__]
    for name in exported(module):
        item = getattr(module, name)
        if inspect.isclass(item):
            missing += [] if own_docstring(item) else [name]
            missing += [
                f"{name}.{method}"
                for method in public_methods(item)
                if not inspect.getdoc(getattr(item, method))
                and not any(explains(protocol, item, method) for protocol in protocols)
            ]
        elif inspect.isroutine(item) and not inspect.getdoc(item):
            missing.append(name)
    return missing


def own_docstring(cls: type) -> bool:
    """Whether somebody wrote it: a dataclass without one is given its own signature."""
    written = vars(cls).get("__doc__") or ""
    return bool(written) and not written.startswith(f"{cls.__name__}(")


def public_methods(cls: type) -> Iterator[str]:
    """Methods and properties written in the package of the class, inherited ones included."""
    package = cls.__module__.partition(".")[0]
    for name in dir(cls):
        home = next((base for base in cls.__mro__ if name in vars(base)), object)
        if not name.startswith("_") and home.__module__.partition(".")[0] == package:
            member = vars(home)[name]
            if inspect.isroutine(member) or isinstance(member, METHODS):
                yield name


def explains(protocol: type, cls: type, method: str) -> bool:
    """Whether ``cls`` keeps the protocol and the protocol documents the method."""
    members = {name for name in dir(protocol) if not name.startswith("_")}
    return (
        method in members
        and members <= set(dir(cls))
        and bool(inspect.getdoc(getattr(protocol, method)))
    )


def public_protocols() -> list[type]:
    modules = map(importlib.import_module, MODULES[1:])  # the root only repeats names
    items = (getattr(module, name) for module in modules for name in exported(module))
    return [item for item in items if getattr(item, "_is_protocol", False)]


# --- The walk itself ----------------------------------------------------------------------------


def test_the_walk_finds_what_is_undocumented(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "planted.py").write_text(PLANTED, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    planted = importlib.import_module("planted")
    missing = ["planted", "Bare", "Documented.silent", "Duck.told", "bare"]
    assert undocumented(planted, protocols=[planted.Told]) == missing


PLANTED = '''
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Bare", "Documented", "Duck", "Told", "bare"]

def bare(): ...

@dataclass
class Bare:
    field: int

class Told(Protocol):
    """A protocol that documents both of its members."""

    def told(self):
        """Documented here."""

    def other(self):
        """Documented here."""

class Documented:
    """Keeps the protocol, which speaks for its methods."""

    def told(self): ...
    def other(self): ...
    def silent(self): ...
    def _private(self): ...

class Duck:
    """Does not keep the protocol."""

    @property
    def told(self): ...
'''


# --- Errors -------------------------------------------------------------------------------------


def test_the_exception_tree_is_drawn_as_it_is() -> None:
    drawn = dict(read_tree(errors.__doc__ or ""))
    real = {name: bases_of(getattr(errors, name)) for name in errors.__all__}
    assert drawn == real


def read_tree(text: str) -> Iterator[tuple[str, set[str]]]:
    """(class, bases) for every line of the drawing; four columns deeper is one class lower."""
    path: list[str] = []
    for line in text.splitlines():
        found = re.match(r"(    [ │├└─]*)([A-Z]\w+)(?: +\(also an? (\w+)\))?", line)
        if found:
            depth = len(found[1]) // 4 - 1
            path = [*path[:depth], found[2]]
            yield found[2], {*path[-2:-1], found[3]} - {None} or {"Exception"}


def bases_of(cls: type) -> set[str]:
    return {base.__name__ for base in cls.__bases__}
