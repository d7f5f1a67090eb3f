"""Running studies: what is done stays done, and nothing is ever mixed."""

import contextlib
import dataclasses
import json
import os
import resource
import shutil
import signal

import numpy as np
import pyarrow.parquet as parquet
import pytest

import stoic
from helpers.studies import SHORT, kept, rows_of, study_of
from stoic.errors import UnusableResults
from stoic.experiments import load, run, runner, storage


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The directory of a finished run."""
    directory = tmp_path_factory.mktemp("whole")
    run(study_of(), directory)
    return directory


@pytest.fixture
def copy(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "copy")


@pytest.fixture
def small_chunks(monkeypatch):
    """Every replication is a chunk."""
    monkeypatch.setattr(runner, "_ROUNDS", 1)
    monkeypatch.setattr(runner, "_CHUNKS", 1_000)


def standings(study, directory, **options):
    told = []
    run(study, directory, watch=told.append, **options)
    return told


def files(directory):
    return {path.name: path.read_bytes() for path in directory.rglob("*.parquet")}


# What comes of a run.


def test_results_are_those_of_plain_simulations(whole):
    study = study_of()
    outcome = load(whole)
    assert outcome.complete
    assert [(cell.panel, cell.policy) for cell in outcome.cells] == [
        (panel, policy) for panel in study.panels for policy in study.policies
    ]
    for cell, setting in zip(outcome.cells, study.cells, strict=True):
        alone = stoic.simulate(
            setting.player, setting.instance, replications=4, seed=7, checkpoints=5
        )
        for name in storage.COLUMNS:
            np.testing.assert_array_equal(getattr(cell.result, name), getattr(alone, name))
        assert cell.result.curve().rounds.tolist() == [600, 1_200, 1_800, 2_400, 3_000]


def test_the_file_records_versions_seed_study_and_time(whole):
    path = whole / "replications" / "0002-000000.parquet"
    said = json.loads(parquet.read_metadata(path).metadata[b"stoic"])
    assert said["text"] == SHORT
    assert (said["seed"], said["total"], said["cell"]) == (7, 4, 2)
    assert (said["panel"], said["policy"]) == ("one", "elimination")
    assert said["versions"]["numpy"] == np.__version__
    assert set(said["versions"]) == {"stoic", "numpy", "scipy", "python"}
    assert said["started"] <= said["finished"]
    assert said["started"].endswith("+00:00")
    assert 0 < said["seconds"] < 60
    assert set(load(whole).provenance) == {
        *said["versions"],
        *("seed", "digest", "started", "finished", "seconds"),
    }


def test_other_programs_can_read_the_rows(whole):
    table = parquet.read_table(whole / "replications" / "0000-000000.parquet")
    assert table.column("panel").to_pylist() == ["one"] * 4
    assert table.column("replications").to_pylist() == [0, 1, 2, 3]
    assert [sum(pulls) for pulls in table.column("pulls").to_pylist()] == [3_000] * 4


@pytest.mark.usefixtures("small_chunks")
def test_the_numbers_do_not_depend_on_chunks(whole, tmp_path):
    run(study_of(), tmp_path)
    assert len(kept(tmp_path)) == 24
    for one, other in zip(load(whole).cells, load(tmp_path).cells, strict=True):
        for name in storage.COLUMNS:
            np.testing.assert_array_equal(getattr(one.result, name), getattr(other.result, name))


def test_running_a_finished_study_again_changes_nothing(copy):
    before = files(copy)
    (standing,) = standings(study_of(), copy)
    assert (standing.done, standing.total, standing.damaged) == (24, 24, 0)
    assert files(copy) == before


def test_chunks_are_as_long_as_a_fraction_of_a_second():
    def chunks(**changes):
        return [len(chunk.replications) for chunk in runner._chunks(study_of(**changes))]

    assert chunks() == [4] * 6
    assert (
        chunks(**{"3_000": "300_000", "replications = 4": "replications = 8"}) == [3] * 12 + [2] * 6
    )
    assert set(chunks(**{"3_000": "900_000_000"})) == {1}
    assert max(chunks(**{"3_000": "900_000_000", "replications = 4": "replications = 200"})) == 4


def test_the_leaderboard_compares_like_with_like(small_chunks, tmp_path):
    told = standings(study_of(), tmp_path)
    assert [standing.done for standing in told] == list(range(25))
    assert told[0].regret == told[2].regret == {}  # no panel has all policies yet
    assert list(told[3].regret) == ["uniform", "oracle", "elimination"]
    assert told[3].regret == told[5].regret  # the second panel waits for its last policy
    assert told[6].regret != told[5].regret
    cells = load(tmp_path).cells
    final = {
        policy: np.mean([cell.result.mean for cell in cells if cell.policy == policy])
        for policy in study_of().policies
    }
    assert told[-1].regret == pytest.approx(final)
    assert told[-1].regret["oracle"] == 0


# Stopping and going on.


class StoppedError(Exception):
    pass


def stop_after(chunks):
    """A watch that raises once so many chunks are done."""
    calls = iter(range(1_000))

    def watch(standing):
        if next(calls) == chunks:
            raise StoppedError

    return watch


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize(("workers", "stops"), [(1, (0, 3, 1, 9)), (2, (13,))])
def test_going_on_gives_the_same_bytes_as_never_having_stopped(workers, stops, tmp_path):
    run(study_of(), tmp_path / "whole")
    for chunks in stops:
        with pytest.raises(StoppedError):
            run(study_of(), tmp_path / "parts", workers=workers, watch=stop_after(chunks))
    before = files(tmp_path / "parts")
    assert len(before) == 13
    told = standings(study_of(), tmp_path / "parts", workers=workers)
    assert [standing.done for standing in told] == list(range(13, 25))
    after = files(tmp_path / "parts")
    assert {name: after[name] for name in before} == before
    assert rows_of(tmp_path / "parts") == rows_of(tmp_path / "whole")


@pytest.mark.usefixtures("small_chunks")
def test_what_is_there_of_an_unfinished_study_can_be_read(tmp_path):
    with pytest.raises(StoppedError):
        run(study_of(), tmp_path, watch=stop_after(7))
    outcome = load(tmp_path)
    assert not outcome.complete
    assert [outcome.done(cell) for cell in outcome.cells] == [2, 1, 1, 1, 1, 1]


def test_comments_and_the_name_of_the_file_may_change(copy):
    before = files(copy)
    changed = study_of(**{"seed = 7": "# the answer\nseed =  7"})
    run(dataclasses.replace(changed, name="renamed.toml"), copy)
    assert files(copy) == before


@pytest.mark.parametrize(
    "changes", [{"seed = 7": "seed = 8"}, {"replications = 4": "replications = 5"}, {"0.8": "0.7"}]
)
def test_a_changed_study_is_refused_or_starts_afresh(copy, changes):
    before = files(copy)
    changed = study_of(**changes)
    with pytest.raises(UnusableResults, match=r"results of another study, study\.toml as it was"):
        run(changed, copy)
    assert files(copy) == before
    outcome = run(changed, copy, fresh=True)
    assert {one.digest for one, _ in map(storage.read, storage.files(copy))} == {changed.digest}
    assert outcome.complete


@pytest.mark.parametrize(
    ("versions", "edition", "message"),
    [
        ({"numpy": "1.2.3"}, storage.EDITION, r"made with numpy 1\.2\.3 \(now "),
        ({"scipy": "1.2.3"}, storage.EDITION, r"made with scipy 1\.2\.3 \(now "),
        ({"stoic": "0.0.9"}, storage.EDITION - 1, r"of stoic 0\.0\.9, which gave other numbers"),
    ],
)
def test_results_of_other_versions_are_refused(tmp_path, monkeypatch, versions, edition, message):
    with monkeypatch.context() as past:
        old = {**storage.versions(), **versions}
        past.setattr(runner, "versions", lambda: old)
        past.setattr(runner, "EDITION", edition)
        run(study_of(), tmp_path)
    with pytest.raises(UnusableResults, match=message):
        run(study_of(), tmp_path)


@pytest.mark.usefixtures("small_chunks")
def test_versions_that_do_not_change_numbers_may_be_mixed_and_are_all_named(tmp_path, monkeypatch):
    old = {**storage.versions(), "python": "3.9.0", "stoic": "0.0.9"}
    with monkeypatch.context() as past:
        past.setattr(runner, "versions", lambda: old)
        with pytest.raises(StoppedError):
            run(study_of(), tmp_path, watch=stop_after(3))
    provenance = run(study_of(), tmp_path).provenance
    now = storage.versions()
    assert provenance["python"] == f"3.9.0, {now['python']}"
    assert provenance["stoic"] == f"0.0.9, {now['stoic']}"
    assert provenance["numpy"] == now["numpy"]


def test_results_in_another_form_are_refused_and_not_touched(copy, monkeypatch):
    @dataclasses.dataclass(frozen=True)
    class Later(storage.Notes):
        weather: str = "fine"

    monkeypatch.setattr(storage, "Notes", Later)
    for use in (lambda: run(study_of(), copy), lambda: load(copy)):
        with pytest.raises(UnusableResults, match=r"in the form of stoic .* cannot read"):
            use()
    assert len(kept(copy)) == 6


def test_a_study_that_is_read_differently_by_now_is_not_shown(copy, monkeypatch):
    monkeypatch.setattr("stoic.experiments.grid._CHECKPOINTS", 7)
    assert load(copy).complete  # this one names its checkpoints
    monkeypatch.setattr("stoic.experiments.study._KEYS", ("seed", "title"))
    with pytest.raises(ValueError, match="unknown key"):
        load(copy)


def test_results_of_two_studies_are_never_read_as_one(copy, tmp_path):
    run(study_of(**{"seed = 7": "seed = 8"}), tmp_path / "other")
    name = "0003-000000.parquet"
    shutil.copy(tmp_path / "other" / "replications" / name, copy / "replications" / name)
    with pytest.raises(UnusableResults, match="results of several studies"):
        load(copy)
    with pytest.raises(UnusableResults, match="another study"):
        run(study_of(), copy)


# Damage.


def test_no_damaged_byte_goes_unseen(whole, tmp_path):
    path = storage.files(whole)[2]
    good, rows = storage.read(path)
    content = path.read_bytes()
    target = tmp_path / path.name
    seen = 0
    for place in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        target.write_bytes(damaged)
        found = storage.read(target)
        seen += found is None
        if found:  # the byte did not matter
            assert found[0] == good
            assert all(np.array_equal(found[1][name], rows[name]) for name in rows)
    assert seen > 300
    for length in range(0, len(content), 29):
        target.write_bytes(content[:length])
        assert storage.read(target) is None


def test_damaged_and_missing_files_are_made_again(copy):
    before = rows_of(copy)
    folder = copy / "replications"
    half = folder / "0000-000000.parquet"
    half.write_bytes(half.read_bytes()[:1_000])
    (folder / "0001-000000.parquet").write_bytes(b"")
    flipped = bytearray((folder / "0002-000000.parquet").read_bytes())
    flipped[100] ^= 1
    (folder / "0002-000000.parquet").write_bytes(flipped)
    (folder / "0003-000000.parquet").unlink()
    assert not load(copy).complete
    told = standings(study_of(), copy)
    assert (told[0].done, told[0].damaged) == (8, 3)
    assert [standing.done for standing in told] == [8, 12, 16, 20, 24]
    assert rows_of(copy) == before


def test_a_file_under_the_name_of_another_is_not_taken_for_it(copy):
    before = rows_of(copy)
    folder = copy / "replications"
    shutil.copy(folder / "0000-000000.parquet", folder / "0001-000000.parquet")
    assert load(copy).cells[1].result is None
    assert standings(study_of(), copy)[0].damaged == 1
    assert rows_of(copy) == before


def test_what_others_put_there_is_left_alone(copy):
    folder = copy / "replications"
    shutil.copy(folder / "0000-000000.parquet", folder / "0000-000000 (copy).parquet")
    (folder / "notes.parquet").write_text("mine")
    (folder / "0005-000000.parquet.unfinished").write_text("half")
    (copy / "report.html").write_text("mine")
    assert load(copy).complete
    assert standings(study_of(), copy, fresh=True)[-1].done == 24
    assert (folder / "notes.parquet").read_text() == "mine"
    assert (copy / "report.html").read_text() == "mine"
    assert not (folder / "0005-000000.parquet.unfinished").exists()


def test_a_study_that_was_divided_in_another_way_is_played_again(copy, monkeypatch):
    columns = rows_of(copy)
    monkeypatch.setattr(runner, "_ROUNDS", 1)
    monkeypatch.setattr(runner, "_CHUNKS", 2)
    told = standings(study_of(), copy)
    assert (told[0].done, told[0].damaged) == (0, 0)
    assert len(kept(copy)) == 12
    monkeypatch.undo()
    run(study_of(), copy)
    assert rows_of(copy) == columns


def test_overlapping_files_count_once(copy, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "_ROUNDS", 1)
    monkeypatch.setattr(runner, "_CHUNKS", 2)
    run(study_of(), tmp_path / "halves")
    for name in kept(tmp_path / "halves"):
        if name.endswith("000002.parquet"):
            shutil.copy(tmp_path / "halves" / "replications" / name, copy / "replications")
    result = load(copy).cells[2].result
    assert result.replications.tolist() == [0, 1, 2, 3]


@pytest.mark.usefixtures("small_chunks")
def test_a_crash_while_writing_leaves_no_half_file(tmp_path, monkeypatch):
    """Whichever call to the system fails: the file is whole, or not there."""
    run(study_of(), tmp_path / "whole")
    for call in ("fsync", "replace"):
        directory = tmp_path / call
        run_until = iter(range(100))
        real = getattr(os, call)

        def fails(*arguments, real=real, run_until=run_until):
            if next(run_until) == 5:
                raise KeyboardInterrupt
            return real(*arguments)

        with monkeypatch.context() as now:
            now.setattr(os, call, fails)
            with pytest.raises(KeyboardInterrupt):
                run(study_of(), directory)
        assert not list(directory.rglob("*.unfinished"))
        assert all(storage.read(path) for path in storage.files(directory))
        assert 0 < len(kept(directory)) <= 6
        run(study_of(), directory)
        assert rows_of(directory) == rows_of(tmp_path / "whole")


# Places that cannot be written.


@contextlib.contextmanager
def no_file_beyond(size):
    """A disk on which files end here: what every system can do, without being root."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.usefixtures("small_chunks")
def test_a_full_disk_gives_a_clear_error_and_loses_nothing(tmp_path):
    with pytest.raises(StoppedError):
        run(study_of(), tmp_path, watch=stop_after(4))
    before = files(tmp_path)
    message = r"^cannot write .*0004-000000\.parquet: File too large$"
    with no_file_beyond(2_000), pytest.raises(UnusableResults, match=message):
        run(study_of(), tmp_path)
    assert files(tmp_path) == before
    assert not list(tmp_path.rglob("*.unfinished"))
    assert run(study_of(), tmp_path).complete


def test_a_place_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    for place in ("file", "file/below"):
        with pytest.raises(UnusableResults, match=r"^cannot write .*file"):
            run(study_of(), tmp_path / place)
    (tmp_path / "replications").write_text("")
    with pytest.raises(UnusableResults, match=r"^cannot write .*: (File exists|Not a directory)"):
        run(study_of(), tmp_path)


def test_a_second_run_in_the_same_place_is_refused(copy):
    refusals = []

    def try_too(standing):
        with pytest.raises(UnusableResults) as caught:
            run(study_of(), copy, fresh=True)
        refusals.append(str(caught.value))

    before = files(copy)
    run(study_of(), copy, watch=try_too)
    assert refusals == [f"{copy}: another run is at work here"]
    assert files(copy) == before
    assert standings(study_of(), copy)[-1].done == 24  # the place is free again


def test_nothing_to_load(tmp_path):
    with pytest.raises(UnusableResults, match="no results here"):
        load(tmp_path)
    (tmp_path / "replications").mkdir()
    (tmp_path / "replications" / "0000-000000.parquet").write_bytes(b"PAR1")
    with pytest.raises(UnusableResults, match="no results here"):
        load(tmp_path)
