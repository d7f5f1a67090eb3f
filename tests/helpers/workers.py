"""What the tests of workers send to other processes, which have to import it from here."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from stoic.core import Floats, value

__all__ = ["Hostage", "divide", "process"]

_PATIENCE = 60.0


def process(item: int) -> tuple[int, int]:
    """The item, and the id of the process that has it."""
    return item, os.getpid()


def divide(item: int) -> float:
    return 1 / item


@value
class Hostage:
    """Normal rewards. Whoever draws the first of them writes its process id to ``note`` and waits.

    Once the note is there, everybody else draws undisturbed.
    """

    mean: float
    note: str

    def sample(self, n: int, *, rng: np.random.Generator) -> Floats:
        note = Path(self.note)
        if not note.exists():
            mine = note.with_suffix(f".{os.getpid()}")
            mine.write_text(str(os.getpid()))
            try:
                os.link(mine, note)  # complete at once, and by one process only
            except FileExistsError:
                pass
            else:
                time.sleep(_PATIENCE)
                raise TimeoutError("nobody came to kill this process")
        return rng.normal(self.mean, 1.0, n)
