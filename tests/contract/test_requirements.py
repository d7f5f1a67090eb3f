"""The pinned requirements match pyproject.toml, carry hashes, and name no address or path."""

from __future__ import annotations

import itertools
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PINNED = sorted((ROOT / "requirements").glob("*.txt"))

PIN = re.compile(r"([a-z0-9-]+)==(\S+)( ; .+)? \\")
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")
COMMENT = re.compile(r" *#.*")


def declared() -> list[Requirement]:
    """What pyproject.toml asks for: to build, to run, and with every extra."""
    project = PYPROJECT["project"]
    lines = itertools.chain(
        PYPROJECT["build-system"]["requires"],
        project["dependencies"],
        *project["optional-dependencies"].values(),
        *PYPROJECT["dependency-groups"].values(),
    )
    named = (line for line in lines if isinstance(line, str))  # not a group within a group
    return [found for found in map(Requirement, named) if found.name != project["name"]]


@pytest.mark.parametrize("requirement", declared(), ids=str)
def test_all_that_pyproject_asks_for_is_pinned(requirement: Requirement) -> None:
    lines = (ROOT / "requirements" / "test.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(found.group(1, 2) for line in lines if (found := PIN.fullmatch(line)))
    assert requirement.specifier.contains(pins[requirement.name])


@pytest.mark.parametrize("path", PINNED, ids=lambda path: path.name)
def test_every_pin_is_followed_by_its_hashes(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    kinds = [next(k for k in (PIN, HASH, COMMENT) if k.fullmatch(line)) for line in lines]
    assert all(after is HASH for kind, after in itertools.pairwise(kinds) if kind is PIN)
    assert kinds[-1] is not PIN


@pytest.mark.parametrize("path", PINNED, ids=lambda path: path.name)
def test_no_address_and_no_path_is_named(path: Path) -> None:
    assert not set("/@") & set(path.read_text(encoding="utf-8"))
