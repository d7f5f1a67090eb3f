"""Real runs in processes of their own, stopped in every way there is, and what is left of them."""

import contextlib
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from helpers.studies import (
    LONG,
    SHORT,
    begin,
    command,
    kept,
    rows_of,
    stoic,
    study_of,
    wait_until,
)
from stoic.experiments import load, run, storage

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """Every byte of the results of the long study, run at one go."""
    directory = tmp_path_factory.mktemp("uninterrupted")
    run(study_of(LONG), directory)
    return rows_of(directory)


@pytest.fixture
def long(tmp_path):
    path = tmp_path / "long.toml"
    path.write_text(LONG)
    return path


def children(pid):
    """The processes that this one has started."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            after_the_name = path.read_text().rpartition(")")[2].split()
            if int(after_the_name[1]) == pid and after_the_name[0] != "Z":
                found.add(int(path.parent.name))
    return found


def alive(pids):
    return {pid for pid in pids if Path(f"/proc/{pid}").exists()}


def test_stopped_again_and_again_it_ends_with_the_same_bytes(long, tmp_path, uninterrupted):
    out = tmp_path / "out"
    before = {}
    for files, by in ((1, signal.SIGKILL), (15, signal.SIGINT), (30, signal.SIGTERM)):
        process = begin("run", long, "--out", out, "--jobs", 1)
        wait_until(lambda files=files: len(kept(out)) >= files)
        process.send_signal(by)
        err = process.communicate(timeout=60)[1]
        assert process.returncode == (-by if by == signal.SIGKILL else 130)
        assert "Traceback" not in err
        assert ("going on from" in err) == bool(before)
        if before:
            assert f"going on from {len(before)} of 80 replications" in err
        # All that was there is there still, and whole: at most the running chunk is lost.
        after = {path.name: path.read_bytes() for path in storage.files(out)}
        assert len(after) >= files
        assert {name: after[name] for name in before} == before
        assert all(storage.read(path) for path in storage.files(out))
        before = after
        if by != signal.SIGKILL:
            end = r"stopped: (\d+) of 80 replications are kept, the same command goes on from there"
            told = int(re.fullmatch(end, err.splitlines()[-1])[1])
            assert told in (len(after), len(after) - 1)  # between a file and the news of it
    code, said, err = stoic("run", long, "--out", out, "--jobs", 1)
    assert (code, err.count("Traceback")) == (0, 0), err
    assert f"going on from {len(before)} of 80 replications" in err
    assert "damaged" not in err
    assert "Regret at the horizon, mean of 40 replications" in said
    assert rows_of(out) == uninterrupted


def test_a_killed_run_leaves_no_process_and_two_runs_are_never_mixed(long, tmp_path, uninterrupted):
    out = tmp_path / "out"
    process = begin("run", long, "--out", out, "--jobs", 2)
    wait_until(lambda: len(kept(out)) >= 3)
    workers = children(process.pid)
    assert len(workers) >= 2
    process.send_signal(signal.SIGSTOP)

    # While it is there, however slow, nobody else works there.
    code, _, err = command("run", long, "--out", out, "--jobs", 1)
    assert code == 2
    assert err.splitlines()[-1] == f"stoic: {out}: another run is at work here"

    process.kill()
    process.communicate()
    wait_until(lambda: not alive(workers), 30)
    assert run(study_of(LONG), out).complete
    assert rows_of(out) == uninterrupted


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_killed_in_the_middle_of_writing(tmp_path, call):
    """The fourth file is written but not yet forced to the disk, or not yet renamed."""
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(SHORT)
    # Each file takes two calls of fsync, one for itself and one for its folder.
    code = f"""
import os, signal
real, calls = os.{call}, []
def deadly(*arguments):
    calls.append(1)
    if len(calls) == {7 if call == "fsync" else 4}:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments)
os.{call} = deadly
"""
    assert stoic("run", study, "--out", out, "--jobs", 1, code=code)[0] == -signal.SIGKILL
    assert len(kept(out)) == 3
    assert [path.name for path in out.rglob("*.unfinished")] == ["0003-000000.parquet.unfinished"]
    assert len([cell for cell in load(out).cells if cell.result is not None]) == 3
    run(study_of(), out)
    assert not list(out.rglob("*.unfinished"))
    run(study_of(), tmp_path / "whole")
    assert rows_of(out) == rows_of(tmp_path / "whole")


@contextlib.contextmanager
def tiny_disk(path):
    """A place with room for a few files, what to run first to feel it, how to make room, and what
    the system says of it: a real file system, or, for whoever may not mount one, a limit on files.
    """
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(path)]
    if (
        os.geteuid() == 0
        and subprocess.run(mount, check=False, capture_output=True).returncode == 0
    ):
        more = ["mount", "-o", "remount,size=4m", str(path)]
        try:
            yield "", lambda: subprocess.run(more, check=True), "No space left on device"
        finally:
            subprocess.run(["umount", "-l", str(path)], check=True)
    else:
        limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (2_500, 2_500))\n"
        yield limit, lambda: None, "File too large"


def test_a_full_disk_is_one_clear_line_and_nothing_is_lost(tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(SHORT)
    with tiny_disk(tmp_path / "disk") as (code, make_room, reason):
        out = tmp_path / "disk" / "out"
        exit_code, _, err = stoic("run", study, "--out", out, "--jobs", 1, code=code)
        assert exit_code == 2
        *_, stopped, message = err.splitlines()
        assert re.fullmatch(
            rf"stoic: cannot write {out}/replications/.*\.parquet: {reason}", message
        )
        assert stopped.startswith("stopped: ")
        assert "Traceback" not in err
        before = {path.name: path.read_bytes() for path in storage.files(out)}
        assert len(before) < 6
        assert not list(out.rglob("*.unfinished"))
        make_room()
        assert stoic("run", study, "--out", out, "--jobs", 1)[0] == 0
        after = {path.name: path.read_bytes() for path in storage.files(out)}
        assert {name: after[name] for name in before} == before
        run(study_of(), tmp_path / "whole")
        assert rows_of(out) == rows_of(tmp_path / "whole")
