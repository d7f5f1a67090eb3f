"""Tests that need Chromium: left out aloud where there is none, unless they are required.

With ``STOIC_REQUIRE_BROWSER=1`` they run whatever is installed, and fail without it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from helpers.browser import CHROMIUM, INSTALL

_COUNT = "tests without a browser"
_left_out = pytest.StashKey[int]()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the browser's tests out if there is no browser."""
    if CHROMIUM or os.environ.get("STOIC_REQUIRE_BROWSER") == "1":
        return
    without = [item for item in items if item.get_closest_marker("browser")]
    if without:
        items[:] = [item for item in items if item not in without]
        config.hook.pytest_deselected(items=without)
        config.stash[_left_out] = len(without)


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """A worker of xdist collects, but only its controller has a summary."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_COUNT] = session.config.stash.get(_left_out, 0)
    return (yield)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker has collected the same tests."""
    stash = node.config.stash
    stash[_left_out] = max(stash.get(_left_out, 0), node.workeroutput.get(_COUNT, 0))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out, and what would change that."""
    count = terminalreporter.config.stash.get(_left_out, 0)
    if count:
        terminalreporter.section("LEFT OUT", sep="!", red=True, bold=True)
        terminalreporter.line(
            f"{count} tests of pages in a browser did not run: Chromium is not installed.\n"
            f"They run after: {INSTALL}",
            red=True,
        )
