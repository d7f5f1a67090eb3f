"""Real data as a law: rewards are drawn from it with replacement.

Mean and moments are those of the data, so regret is exact. Data of few distinct values, such as
clicks or ratings, are a finite law, whose JSON holds each value and its share. Other data in hand
are kept number by number; a file is kept as its name and digest, so that its numbers stay where
they are, and a file that has changed since is refused.

>>> resampled([0, 1, 1, 0, 0])
Discrete(values=(0.0, 1.0), probabilities=(0.6, 0.4))
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stoic.core import Floats, Goal, settle, value
from stoic.environments import files
from stoic.environments.finite import Discrete
from stoic.environments.instance import Instance
from stoic.environments.law import Law, Moments, require_mean
from stoic.errors import InvalidParameter

__all__ = ["FileLaw", "Resampled", "file_instance", "file_law", "resampled"]

_FEW = 256  # distinct values up to which counting them is cheaper than drawing a block
_MOST = 100_000  # numbers that JSON may hold
_ROW = "must be one row of finite real numbers, at least one"


class _Data(Moments, ABC):
    """All that follows from the rewards themselves."""

    # No fields: what they hold is loaded when first used, and neither compared, copied nor stored.
    __slots__ = ("_loaded", "_loaded_mean")
    _loaded: Floats
    _loaded_mean: float

    @abstractmethod
    def _load(self) -> Floats: ...

    @property
    def _rewards(self) -> Floats:
        try:
            return self._loaded
        except AttributeError:
            settle(self, _loaded=self._load())
            return self._loaded

    @property
    def mean(self) -> float:
        try:
            return self._loaded_mean
        except AttributeError:
            with np.errstate(over="ignore"):  # infinity is refused
                settle(self, _loaded_mean=float(self._rewards.mean()))
            return self._loaded_mean

    @property
    def _variance(self) -> float:
        return self._moment(2.0, self.mean)

    def _moment(self, k: float, about: float) -> float:
        return float(np.mean(np.abs(self._rewards - about) ** k))

    def sample(self, n: int, *, rng: np.random.Generator) -> Floats:
        rewards = self._rewards
        return rewards[rng.integers(rewards.size, size=n)]


@value
class Resampled(_Data):
    """Rewards kept one by one; built by :func:`resampled`. They are not shown.

    >>> Resampled((1.0, 2.0, 6.0))
    Resampled(<3 rewards>)
    >>> Resampled((1.0, 2.0, 6.0)).mean
    3.0
    """

    rewards: tuple[float, ...]

    def __post_init__(self) -> None:
        row = _row(self.rewards)
        if row.size > _MOST:
            rule = f"must be at most {_MOST} to be kept one by one; save them to a file instead"
            raise InvalidParameter("rewards", f"{row.size} numbers", rule)
        settle(self, rewards=tuple(row.tolist()))
        require_mean(self)

    def __repr__(self) -> str:
        return f"Resampled(<{len(self.rewards)} rewards>)"

    def _load(self) -> Floats:
        return np.array(self.rewards)


@value
class FileLaw(_Data):
    """The rewards in a file, or those of one arm in it; built by :func:`file_law`.

    A relative name is looked up in the working directory, so that it means the same to whoever has
    the same files. ``arms`` names the column of arms, ``arm`` one of them; without them, all
    rewards count.

    >>> FileLaw("nowhere.csv", digest="0" * 64)
    Traceback (most recent call last):
        ...
    stoic.errors.InvalidParameter: file = 'nowhere.csv': cannot be read: No such file or directory
    """

    file: str
    digest: str
    reward: str = "reward"
    arms: str | None = None
    arm: str | None = None

    def __post_init__(self) -> None:
        for name in ("file", "digest", "reward", "arms", "arm"):
            found = getattr(self, name)
            if not (isinstance(found, str) or (found is None and name in ("arms", "arm"))):
                raise InvalidParameter(name, found, "must be text")
        if (self.arms is None) != (self.arm is None):
            raise InvalidParameter("arm", self.arm, "must be given together with the column arms")
        require_mean(self)

    def _load(self) -> Floats:
        by_arm = files.rewards_of(self.file, self.digest, self.arms, self.reward)
        if (self.arm or "") not in by_arm:
            rule = f"must be named in the column {self.arms!r} of {self.file}"
            raise InvalidParameter("arm", self.arm, rule)
        return by_arm[self.arm or ""]


def resampled(rewards: ArrayLike) -> Law:
    """The law of a draw from these rewards, with replacement.

    >>> law = resampled(np.linspace(0.0, 10.0, 1_001))
    >>> law, round(law.mean, 9)
    (Resampled(<1001 rewards>), 5.0)
    """
    row = _row(rewards)
    values, counts = np.unique(row, return_counts=True)
    if values.size <= _FEW:
        return Discrete(tuple(values.tolist()), tuple((counts / row.size).tolist()))
    return Resampled(tuple(row.tolist()))


def file_law(
    file: str | PathLike[str],
    reward: str = "reward",
    arms: str | None = None,
    arm: str | None = None,
    digest: str | None = None,
) -> FileLaw:
    r"""The law of a draw from the rewards in a CSV, Parquet or ``.npy`` file.

    ``reward`` names their column. Where another column names the arm of each row, ``arms`` is that
    column and ``arm`` the one that is meant. The ``digest`` is that of the file as it is, unless
    given.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clicks = Path(folder, "clicks.csv")
    ...     _ = clicks.write_text("button,reward\nred,1\nblue,0\nred,0\n")
    ...     file_law(clicks, arms="button", arm="red").mean
    0.5
    """
    known = files.digest_of(file) if digest is None else digest
    return FileLaw(str(file), known, reward, arms, arm)


def file_instance(
    file: str | PathLike[str],
    arms: str = "arm",
    reward: str = "reward",
    digest: str | None = None,
    goal: Goal = "max",
) -> Instance:
    r"""The arms named in a column of a file of real rewards: numbered ones first, in order.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clicks = Path(folder, "clicks.csv")
    ...     _ = clicks.write_text("arm,reward\n10,1\n9,0\n10,0\n")
    ...     instance = file_instance(clicks)
    >>> [law.arm for law in instance.arms], instance.means
    (['9', '10'], array([0. , 0.5]))
    """
    known = files.digest_of(file) if digest is None else digest
    for column, name in (("arms", arms), ("reward", reward)):
        if not isinstance(name, str):
            raise InvalidParameter(column, name, "must be the name of a column")
    each = files.rewards_of(str(file), known, arms, reward)
    laws = tuple(FileLaw(str(file), known, reward, arms, arm) for arm in each)
    return Instance(laws, goal, name=Path(file).stem)


def _row(rewards: ArrayLike) -> Floats:
    """The rewards as an array; what is wrong with them is said without showing them."""
    try:
        found: NDArray[np.float64] = np.asarray(rewards)
    except Exception:  # NumPy's own message may show a reward
        raise InvalidParameter("rewards", "uneven rows", _ROW) from None
    if found.dtype.kind not in "iuf" or found.ndim != 1 or not found.size:
        shown = f"{found.dtype.name} of shape {found.shape}"
        raise InvalidParameter("rewards", shown, _ROW)
    finite = np.isfinite(found)
    if not finite.all():
        raise InvalidParameter("rewards", f"number {int(np.argmin(finite)) + 1}", _ROW)
    return found.astype(np.float64)
