"""Studies for tests, and the command line as users have it: in a process of its own."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.parquet as parquet

from stoic.cli import main
from stoic.experiments import Study, parse

__all__ = [
    "LONG",
    "SHORT",
    "begin",
    "command",
    "kept",
    "rows_of",
    "stoic",
    "study_of",
    "wait_until",
]

SHORT = """\
title = "A short one"
seed = 7
replications = 4
checkpoints = 5
horizon = 3_000

[[panels]]
label = "one"
instance = {name = "paper", family = "pareto", alpha = 0.05}

[[panels]]
label = "two"
instance = {arms = [{law = "bernoulli", p = 0.8}, {law = "bernoulli", p = 0.2}]}

[[policies]]
name = "uniform"

[[policies]]
name = "oracle"

[[policies]]
name = "elimination"
moments = {kind = "raw", k = 2, bound = 10_005}
"""
"""Six cells of one chunk each."""

LONG = """\
title = "A long one"
seed = 8
replications = 40
checkpoints = 20
horizon = 5_000_000
epsilon = 0.002
profile = "unit"
moments = {kind = "central", k = 2, bound = 5, mean_range = [0, 100]}

[[panels]]
instance = {name = "paper", family = "student-t", alpha = 0.05}

[[policies]]
name = "prae-r"

[[policies]]
name = "dprse"
"""
"""Eighty chunks of one replication each; it takes some seconds, so there is time to stop it."""

# Whoever runs the tests may have chosen to ignore interrupts, and processes inherit that.
_MAIN = """\
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from stoic.cli import main
main()
"""


def study_of(text: str = SHORT, **changes: str) -> Study:
    """A study, with some words of its text exchanged for others."""
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return parse(text, "study.toml")


def begin(*arguments: object, code: str = "", **options: Any) -> subprocess.Popen[str]:
    """Start ``stoic`` with these arguments; ``code`` runs first."""
    env = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", **options.pop("env", {})}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    words = [sys.executable, "-c", code + _MAIN, *map(str, arguments)]
    return subprocess.Popen(words, env=env, **{**streams, **options})


def stoic(*arguments: object, code: str = "", **options: Any) -> tuple[int, str, str]:
    """Run ``stoic``: the exit code, and what it says on stdout and on stderr."""
    process = begin(*arguments, code=code, **options)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def command(*arguments: object) -> tuple[int, str, str]:
    """The same in this process, which is quicker."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["stoic", *map(str, arguments)]),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code
    return int(code or 0), out.getvalue(), err.getvalue()


def kept(directory: Path) -> list[str]:
    """The names of the files that hold results."""
    return sorted(path.name for path in (directory / "replications").glob("*.parquet"))


def rows_of(directory: Path) -> dict[str, list[tuple[str, bytes]]]:
    """Every byte of every column of every file, by the file's name."""
    found = {}
    for name in kept(directory):
        table = parquet.read_table(directory / "replications" / name)
        found[name] = [
            (column, b"".join(map(bytes, filter(None, table.column(column).chunk(0).buffers()))))
            for column in table.column_names
        ]
    return found


def wait_until(done: Any, seconds: float = 60.0) -> None:
    """Look again and again until something is so."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)
