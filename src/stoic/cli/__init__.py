"""The command line: ``stoic --help``.

What a user can get wrong is answered with one line and exit code 2; an interrupt exits with 130.
"""

from __future__ import annotations

import io
import sys

from stoic.errors import StoicError

__all__ = ["main"]


def main() -> None:
    """Run the command line, with the arguments of this process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # no label of a study breaks a narrow terminal
    try:
        from stoic.cli.app import app

        app(prog_name="stoic")
    except StoicError as error:
        print(f"stoic: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
