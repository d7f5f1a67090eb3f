"""The command line: ``stoic --help``.

What a user can get wrong is answered with one line and exit code 2, and so is an output that cannot
be written; an interrupt exits with 130.
"""

from __future__ import annotations

import errno
import io
import os
import sys

from stoic.errors import StoicError

__all__ = ["main"]

_UNHEARD = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EIO)  # of a stdout that takes no more


def main() -> None:
    """Run the command line, with the arguments of this process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # no label of a study breaks a narrow terminal
    try:
        from stoic.cli.app import app

        try:
            app(prog_name="stoic")
        finally:
            sys.stdout.flush()  # while an error can still be told
    except StoicError as error:
        print(f"stoic: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        if error.errno not in _UNHEARD:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or it fails once more
        print(f"stoic: cannot write the output: {error.strerror}", file=sys.stderr)
        sys.exit(2)
