"""Reading rewards from a file: CSV, Parquet, or an array that NumPy saved.

A CSV or Parquet file has a column of rewards and, where it holds several arms, a column that names
the arm of each row. CSV is read with Python's own reader, so it needs nothing but the core and
means the same on every machine, whatever else is installed. Parquet, many times faster for large
data, needs PyArrow. A ``.npy`` file is one column of rewards.

A law or a study that names a file keeps the SHA-256 digest of its bytes too: the file is then read
as it was, or refused. Errors name the file and the line, never a reward.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import math
from array import array
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from stoic.core import Floats
from stoic.errors import InvalidParameter, MissingExtra

__all__ = ["digest_of", "rewards_of"]

_Columns = tuple[str | None, str]  # of arms, where there is one, and of rewards
_ByArm = dict[str, Floats]
_ALL = ""  # the only arm of a file without a column of arms

_REWARD = "the reward must be a finite number"
_ARM = "the arm must have a name"


def digest_of(file: str | PathLike[str]) -> str:
    """The SHA-256 digest of a file, in hexadecimal.

    >>> digest_of("nowhere.csv")
    Traceback (most recent call last):
        ...
    stoic.errors.InvalidParameter: file = 'nowhere.csv': cannot be read: No such file or directory
    """
    return hashlib.sha256(_bytes_of(file)).hexdigest()


# Workers meet the same file in every task, and every arm of an instance asks for it by itself.
@functools.cache
def rewards_of(file: str, digest: str, arms: str | None, reward: str) -> Mapping[str, Floats]:
    """The rewards in a file by arm, numbered arms first; without a column of arms, under ``""``."""
    if arms == reward:
        raise InvalidParameter("arms", arms, "must be another column than that of the rewards")
    content = _bytes_of(file)
    found = hashlib.sha256(content).hexdigest()
    if found != digest:
        rule = f"{file} has changed: its digest is now {found}"
        raise InvalidParameter("digest", digest, rule)
    read = _READERS.get(Path(file).suffix.lower())
    if read is None:
        raise InvalidParameter("file", file, f"must end in {', '.join(_READERS)}")
    by_arm = read(file, content, (arms, reward))
    if not by_arm:
        raise InvalidParameter("file", file, "must hold at least one reward")
    for rewards in by_arm.values():
        rewards.flags.writeable = False
    return {arm: by_arm[arm] for arm in sorted(by_arm, key=_numbers_first)}


def _numbers_first(arm: str) -> tuple[bool, int, str, str]:
    number = arm.isascii() and arm.isdigit()
    digits = arm.lstrip("0") if number else ""
    return not number, len(digits), digits, arm


def _bytes_of(file: str | PathLike[str]) -> bytes:
    if not isinstance(file, (str, PathLike)):
        raise InvalidParameter("file", file, "must be the name of a file")
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise InvalidParameter("file", file, f"cannot be read: {error.strerror}") from None


def _bad(file: str, place: str, rule: str) -> InvalidParameter:
    return InvalidParameter("file", file, f"{place}: {rule}")


# --- One reader for each kind of file -----------------------------------------------------------


def _read_csv(file: str, content: bytes, columns: _Columns) -> _ByArm:
    lines = csv.reader(io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", newline=""), strict=True)
    try:
        return _read_lines(file, lines, columns)
    except UnicodeDecodeError:
        raise InvalidParameter("file", file, "must be text in UTF-8") from None
    except csv.Error:
        raise _bad(file, f"line {lines.line_num}", "is not CSV") from None


def _read_lines(file: str, lines: Any, columns: _Columns) -> _ByArm:
    header: list[str] = next(lines, [])
    for name in columns:
        # The columns that are there are not shown: without a header they would be rewards.
        if name is not None and header.count(name) != 1:
            raise _bad(file, "line 1", f"must name the column {name!r}, once")
    arms, reward = columns
    reward_at = header.index(reward)
    arm_at = None if arms is None else header.index(arms)
    found: dict[str, array[float]] = {}
    for line in lines:
        if not line:
            continue
        if len(line) != len(header):
            rule = f"must have {len(header)} fields, as line 1 has"
            raise _bad(file, f"line {lines.line_num}", rule)
        number = _number(line[reward_at])
        if not math.isfinite(number):
            raise _bad(file, f"line {lines.line_num}", _REWARD)
        arm = _ALL if arm_at is None else line[arm_at].strip()
        if arm_at is not None and not arm:
            raise _bad(file, f"line {lines.line_num}", _ARM)
        found.setdefault(arm, array("d")).append(number)
    return {arm: np.array(rewards) for arm, rewards in found.items()}


def _number(text: str) -> float:
    try:
        return math.nan if "_" in text else float(text)  # Python alone reads 1_000
    except ValueError:
        return math.nan


def _read_parquet(file: str, content: bytes, columns: _Columns) -> _ByArm:
    try:
        import pyarrow
        from pyarrow import compute, parquet
    except ImportError:
        raise MissingExtra("pyarrow", extra="data") from None
    wanted = [name for name in columns if name is not None]
    try:
        whole = parquet.ParquetFile(pyarrow.BufferReader(content))
        table = whole.read(columns=wanted)
        known = whole.schema_arrow.names
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError):
        raise InvalidParameter("file", file, "is not Parquet") from None
    for name in wanted:
        if known.count(name) != 1:
            raise InvalidParameter("file", file, f"must have a column {name!r}, once")
    arms, reward = columns
    kind = table[reward].type
    if not (pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)):
        raise InvalidParameter("file", file, f"the column {reward!r} must hold numbers")
    rewards = table[reward].cast(pyarrow.float64(), safe=False).to_numpy()  # NaN where it is null
    _check_finite(file, rewards)
    if arms is None:
        return {_ALL: rewards} if rewards.size else {}
    try:
        labels = table[arms].cast(pyarrow.string()).fill_null("")
        trimmed = compute.utf8_trim_whitespace(labels).combine_chunks().dictionary_encode()
        names = trimmed.dictionary.to_pylist()
    except (pyarrow.ArrowException, UnicodeDecodeError):
        raise InvalidParameter("file", file, f"the column {arms!r} must hold names") from None
    if not names:
        return {}
    codes = trimmed.indices.to_numpy()
    if "" in names:
        raise _bad(file, f"row {int(np.argmax(codes == names.index(''))) + 1}", _ARM)
    order = np.argsort(codes, kind="stable")
    cuts = np.cumsum(np.bincount(codes))[:-1]
    return dict(zip(names, np.split(rewards[order], cuts), strict=True))


def _read_npy(file: str, content: bytes, columns: _Columns) -> _ByArm:
    if columns[0] is not None:
        raise InvalidParameter("file", file, "has no column of arms: an array is one arm's rewards")
    try:
        rewards = np.load(io.BytesIO(content), allow_pickle=False)
    except Exception:  # a damaged header may mean anything to NumPy
        raise InvalidParameter("file", file, "is not an array of numbers") from None
    if rewards.ndim != 1 or rewards.dtype.kind not in "iuf":
        raise InvalidParameter("file", file, "must be an array of numbers in one dimension")
    _check_finite(file, rewards)
    return {_ALL: rewards.astype(np.float64)} if rewards.size else {}


def _check_finite(file: str, rewards: Floats) -> None:
    finite = np.isfinite(rewards)
    if not finite.all():
        raise _bad(file, f"row {int(np.argmin(finite)) + 1}", _REWARD)


_READERS: dict[str, Callable[[str, bytes, _Columns], _ByArm]] = {
    ".csv": _read_csv,
    ".parquet": _read_parquet,
    ".npy": _read_npy,
}
