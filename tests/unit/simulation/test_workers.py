"""The same numbers, whoever does the work, even if some of them die at it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import stoic
from helpers.arms import three_arms
from helpers.policies import one_of
from helpers.workers import Hostage, divide, process
from stoic.environments import Instance
from stoic.errors import MissingExtra
from stoic.simulation import Result, as_completed

FIELDS = (
    "replications",
    "regret",
    "final_regret",
    "pulls",
    "eliminated_at",
    "recommended",
    "draws",
)
TESTS = Path(__file__).parents[2]


def assert_same(one: Result, other: Result) -> None:
    for field in FIELDS:
        found, expected = getattr(one, field), getattr(other, field)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes(), field


def run(name: str, jobs: int | str, replications: int = 21) -> Result:
    return stoic.simulate(
        one_of(name, horizon=800),
        three_arms(),
        replications=replications,
        seed=1,
        jobs=jobs,
        checkpoints=9,
    )


# --- Processes ----------------------------------------------------------------------------------


def test_any_number_of_processes_gives_the_same_numbers() -> None:
    for name in ("prae-c", "ucb1"):
        alone = run(name, 1)
        for jobs in (2, 3):
            assert_same(run(name, jobs), alone)


def test_more_processes_than_replications_do_no_harm() -> None:
    assert_same(run("prae-r", 2, replications=1), run("prae-r", 1, replications=1))


def test_the_work_is_done_elsewhere_and_all_of_it() -> None:
    found = dict(as_completed(process, range(20), 2))
    assert sorted(found) == list(range(20))
    assert [item for item, _ in (found[index] for index in range(20))] == list(range(20))
    assert os.getpid() not in {worker for _, worker in found.values()}
    here = dict(as_completed(process, range(3), 1))
    assert here == {index: (index, os.getpid()) for index in range(3)}


def test_results_come_as_they_are_finished() -> None:
    began = time.monotonic()
    results = as_completed(time.sleep, [3.0, 0.0, 0.0], 2)
    assert next(results)[0] in (1, 2)
    assert time.monotonic() - began < 60
    results.close()  # what has not begun is not done


def test_an_error_in_a_task_is_raised_here() -> None:
    for workers in (1, 2):
        with pytest.raises(ZeroDivisionError):
            list(as_completed(divide, [1, 0, 2], workers))


@pytest.mark.parametrize(
    ("module", "jobs", "extra"), [("joblib", 2, "lab"), ("distributed", "tcp://nowhere:1", "dask")]
)
def test_a_missing_extra_is_named(
    module: str, jobs: int | str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"pip install .*\[{extra}\]"):
        run("prae-r", jobs)


# --- Dask ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def started(*command: str) -> Iterator[subprocess.Popen[str]]:
    """A process of Dask that can import what the tests can."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "DASK_LOGGING__DISTRIBUTED": "error"}
    made = subprocess.Popen(
        [sys.executable, "-m", *command],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield made
    finally:
        made.kill()
        made.wait()


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[str]]]]:
    """A scheduler and two workers, each a process; its address, and the workers."""
    where = folder / "scheduler.json"
    scheduler = ("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0")
    worker = ("distributed.cli.dask_worker", "--scheduler-file", str(where))
    with contextlib.ExitStack() as stack:
        stack.enter_context(started(*scheduler, "--no-dashboard", "--scheduler-file", str(where)))
        workers = [
            stack.enter_context(
                started(
                    *worker,
                    "--no-nanny",
                    "--nthreads",
                    "1",
                    "--no-dashboard",
                    "--local-directory",
                    str(folder / name),
                )
            )
            for name in "ab"
        ]
        import distributed

        wait_for(where.exists)
        with distributed.Client(scheduler_file=str(where), set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
            address = client.scheduler.address
        yield address, workers


def wait_for(condition: object, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_numbers_though_a_worker_is_killed(tmp_path: Path) -> None:
    note = tmp_path / "note"
    instance = Instance(tuple(Hostage(mean, str(note)) for mean in (0.0, 2.0, -2.0)))
    policy = one_of("prae-c", horizon=3000)
    options = {"replications": 64, "seed": 1, "checkpoints": 13}
    with cluster(tmp_path) as (address, workers):
        killed = []

        def kill() -> None:
            wait_for(note.exists)
            killed.append(int(note.read_text()))
            os.kill(killed[0], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        on_cluster = stoic.simulate(policy, instance, jobs=address, **options)
        killer.join()
        (victim,) = [worker for worker in workers if worker.pid == killed[0]]
        assert victim.wait() == -signal.SIGKILL
        assert [worker.poll() for worker in workers if worker is not victim] == [None]
        # The survivor goes on serving.
        assert_same(run("ucb1", address), run("ucb1", 1))
    assert_same(on_cluster, stoic.simulate(policy, instance, **options))
    assert np.count_nonzero(on_cluster.eliminated_at >= 0) > 64


@pytest.mark.slow
def test_a_cluster_that_is_started_here_gives_the_same_numbers() -> None:
    assert_same(run("prae-r", "local"), run("prae-r", 1))
