"""Replications on disk: Parquet files that are whole or not there, and that know what they are.

A file holds some replications of one cell, a row for each, and in its metadata all that says where
they come from: the text of the study, the seed, the versions, the time. It is written under another
name, forced to the disk and renamed, and it carries a checksum of everything in it. So whatever
happens on the way, a file that can be read is right.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import platform
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stoic.errors import MissingExtra, UnusableResults
from stoic.simulation import Result

__all__ = [
    "COLUMNS",
    "EDITION",
    "Notes",
    "Rows",
    "alone",
    "clear",
    "file_name",
    "files",
    "read",
    "versions",
    "write",
]

Rows = dict[str, NDArray[Any]]
"""The columns of a result, with an entry for each replication."""

EDITION = 1
"""To be raised whenever the same study would give other numbers than before."""

_FOLDER = "replications"  # where in the directory of a study the files are
_NAME = re.compile(r"\d{4,}-\d{6,}\.parquet")
_UNFINISHED = ".unfinished"
_SHARED = ("policy", "instance", "seed", "checkpoints")  # by all replications of a cell
COLUMNS = tuple(field.name for field in dataclasses.fields(Result) if field.name not in _SHARED)
"""The fields of a result that have an entry for each replication."""

_LABELS = ("panel", "policy")  # columns that the notes know, too
_KEY = b"stoic"
_FORM = {"write_page_checksum": True, "store_schema": False}  # Arrow's schema doubles the file


@dataclass(frozen=True)
class Notes:
    """What a file says of itself: whose rows these are, and how they were made.

    ``name``, ``text`` and ``digest`` are those of the study, ``total`` how many replications it
    has. ``started`` and ``finished`` are UTC; ``seconds`` were spent on these rows.
    """

    name: str
    text: str
    digest: str
    seed: int
    total: int
    cell: int
    panel: str
    policy: str
    edition: int
    versions: dict[str, str]
    started: str
    finished: str
    seconds: float


def versions() -> dict[str, str]:
    """Of all that numbers may depend on.

    >>> list(versions())
    ['stoic', 'numpy', 'scipy', 'python']
    """
    packages = {"stoic": "stoic-bandits", "numpy": "numpy", "scipy": "scipy"}
    found = {name: version(package) for name, package in packages.items()}
    return {**found, "python": platform.python_version()}


def file_name(cell: int, first: int) -> str:
    """What the file is called that holds replications of a cell, from the first of these on.

    >>> file_name(3, 60)
    '0003-000060.parquet'
    """
    return f"{cell:04}-{first:06}.parquet"


def files(directory: str | Path) -> list[Path]:
    """The files in the directory of a study, and nothing else that may be there."""
    folder = Path(directory) / _FOLDER
    return sorted(path for path in folder.glob("*.parquet") if _NAME.fullmatch(path.name))


def clear(directory: Path, paths: Iterable[Path]) -> None:
    """Remove these files, and what runs that were killed have left unfinished."""
    try:
        for path in [*paths, *(directory / _FOLDER).glob(f"*{_UNFINISHED}")]:
            path.unlink()
    except OSError as error:
        raise UnusableResults(f"cannot remove {error.filename}: {error.strerror}") from error


def write(directory: Path, notes: Notes, result: Result) -> None:
    """Write some replications; the file is whole, or not there."""
    pa, parquet = _arrow()
    rows: Rows = {name: getattr(result, name) for name in COLUMNS}
    count = len(result.replications)
    said = dataclasses.asdict(notes)
    said["checksum"] = _checksum(said, rows)
    labels = {name: [said[name]] * count for name in _LABELS}
    table = pa.table({**labels, **{name: _column(values) for name, values in rows.items()}})
    path = directory / _FOLDER / file_name(notes.cell, int(result.replications[0]))
    unfinished = path.with_name(f"{path.name}{_UNFINISHED}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with unfinished.open("wb") as file:
                with parquet.ParquetWriter(file, table.schema, **_FORM) as writer:
                    writer.write_table(table)
                    writer.add_key_value_metadata({_KEY: json.dumps(said)})
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
        _sync(path.parent)
    except OSError as error:
        raise UnusableResults(f"cannot write {path}: {error.strerror or error}") from error


def read(path: Path) -> tuple[Notes, Rows] | None:
    """What a file holds, or None if that is not exactly what was written under its name."""
    pa, parquet = _arrow()
    try:
        with path.open("rb") as file:
            table = parquet.read_table(file, page_checksum_verification=True)
        said = json.loads(table.schema.metadata[_KEY])
        checksum = said.pop("checksum")
        rows = {
            name: _values(table.column(name)) for name in table.column_names if name not in _LABELS
        }
        if checksum != _checksum(said, rows):
            return None
    except (OSError, LookupError, TypeError, ValueError, pa.ArrowException):
        return None
    if set(said) != {field.name for field in dataclasses.fields(Notes)} or set(rows) != {*COLUMNS}:
        made_by = said.get("versions", {}).get("stoic", "another version")
        raise UnusableResults(f"{path}: in the form of stoic {made_by}, which this one cannot read")
    if path.name != file_name(said["cell"], rows["replications"][0]):
        return None  # a copy
    return Notes(**said), rows


@contextlib.contextmanager
def alone(directory: Path) -> Iterator[None]:
    """Hold a directory, so that no second run works in it; made if it is not there."""
    lock = directory / ".lock"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        file = lock.open("wb")
    except OSError as error:
        raise UnusableResults(f"cannot write {directory}: {error.strerror}") from error
    with file:
        try:
            import fcntl
        except ImportError:  # not a Unix: then it is up to the user
            pass
        else:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UnusableResults(f"{directory}: another run is at work here") from None
            except OSError as error:
                raise UnusableResults(f"cannot lock {lock}: {error.strerror}") from error
        yield


def _checksum(said: dict[str, Any], rows: Rows) -> str:
    digest = hashlib.sha256(json.dumps(said).encode())
    for name, values in rows.items():
        digest.update(f"{name} {values.dtype.str} {values.shape}".encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def _column(values: NDArray[Any]) -> Any:
    """One number for each row, or a list of them."""
    if values.ndim == 1:
        return values
    pa, _ = _arrow()
    ends = np.arange(len(values) + 1, dtype=np.int32) * values.shape[1]
    return pa.ListArray.from_arrays(ends, values.ravel())


def _values(column: Any) -> NDArray[Any]:
    pa, _ = _arrow()
    whole = column.combine_chunks()
    if not pa.types.is_list(whole.type):
        return np.asarray(whole)
    return np.asarray(whole.flatten()).reshape(len(whole), -1)


def _sync(folder: Path) -> None:
    """Force a rename in this folder to the disk."""
    if os.name != "posix":  # where a folder cannot be opened
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("pyarrow", extra="lab") from None
    return pyarrow, pyarrow.parquet
