"""Without Chromium: the browser's tests are left out aloud, or fail where they are required."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.browser import INSTALL

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def run_without_chromium(*options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The suite in an environment where no program is found."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    kept.pop("STOIC_REQUIRE_BROWSER", None)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, "tests/browser/test_planted.py", *options],
        cwd=ROOT,
        env={**kept, "PATH": "/nowhere", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("options", [(), ("-n", "1")])
def test_they_are_left_out_aloud(options: tuple[str, ...]) -> None:
    done = run_without_chromium(*options)
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
    assert re.search("!!! LEFT OUT !!!", done.stdout)
    assert "1 tests of pages in a browser did not run" in done.stdout
    assert INSTALL in done.stdout


def test_where_they_are_required_they_fail() -> None:
    done = run_without_chromium(STOIC_REQUIRE_BROWSER="1")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert f"Chromium is not installed: {INSTALL}" in done.stdout
    assert "LEFT OUT" not in done.stdout
