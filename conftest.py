"""What all tests share: the examples run, and the same run gives the same answer.

Examples are the docstrings under src, and the Python blocks of README.md and docs. Those of one
file share one namespace, in order. In a docstring it starts as the module's own globals; in a
Markdown file it starts empty, as for a reader who pastes the blocks one by one.
"""

from __future__ import annotations

import hypothesis
import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser
from sybil.parsers.rest import DocTestParser
from xdist.scheduler import LoadScopeScheduling

# Examples that follow from the test alone: no clock, no memory of earlier runs, no stopwatch.
hypothesis.settings.register_profile("stoic", derandomize=True, database=None, deadline=None)
hypothesis.settings.load_profile("stoic")

pytest_collect_file = (
    Sybil([DocTestParser()], path="src", pattern="*.py")
    + Sybil([PythonCodeBlockParser()], pattern="*.md")
).pytest()


class OneDocumentOneWorker(LoadScopeScheduling):
    """Deals tests one by one, but the examples of a file together: later ones build on earlier."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        return file if test.startswith("line:") else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadScopeScheduling:
    """Called by xdist, whatever its --dist says."""
    return OneDocumentOneWorker(config, log)
