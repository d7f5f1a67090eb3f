"""Real data as a law: arrays, and files that are read as they were or refused."""

import builtins
import json
import math
import pickle

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from helpers.policies import generator
from helpers.refusals import refused
from stoic.core import dumps, loads
from stoic.environments import (
    Discrete,
    FileLaw,
    Law,
    Resampled,
    create,
    digest_of,
    file_instance,
    file_law,
    law,
    resampled,
)
from stoic.environments.files import rewards_of
from stoic.errors import InvalidParameter, InvalidState, InvalidStudy, MissingExtra
from stoic.experiments.study import parse

REWARDS = [3.5, -1.25, 3.5, 0.1, 1e300]
ARMS = ["b", "a", "10", "9", "b"]
SECRET = 7919.25


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, in which relative names are looked up."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_csv(path, rewards=REWARDS, arms=ARMS):
    lines = [f"{arm},x,{reward!r}\n" for arm, reward in zip(arms, rewards, strict=True)]
    path.write_text("arm,other,reward\n" + "".join(lines), encoding="utf-8")


def write_parquet(path, rewards=REWARDS, arms=ARMS):
    parquet.write_table(pyarrow.table({"arm": arms, "reward": rewards}), path)


def write_npy(path, rewards=REWARDS, arms=None):
    np.save(path, np.array(rewards))


WRITERS = {".csv": write_csv, ".parquet": write_parquet, ".npy": write_npy}

each_file = pytest.mark.parametrize("suffix", WRITERS)
each_table = pytest.mark.parametrize("suffix", [".csv", ".parquet"])


# --- Arrays -------------------------------------------------------------------------------------


def test_few_distinct_values_become_a_finite_law():
    assert resampled([2, 1, 2, 2]) == Discrete((1.0, 2.0), (0.25, 0.75))
    assert isinstance(resampled(np.arange(1000) % 256), Discrete)
    assert isinstance(resampled(np.arange(1000) % 257), Resampled)


@pytest.mark.parametrize("kind", [np.int8, np.uint64, np.float32, np.longdouble])
def test_rewards_of_any_numeric_type_are_taken(kind):
    assert resampled(np.array([1, 2, 2, 3], dtype=kind)) == resampled([1.0, 2.0, 2.0, 3.0])


def test_many_distinct_values_keep_their_order_and_every_bit():
    rewards = generator(1).standard_normal(1000)
    one = resampled(rewards)
    assert isinstance(one, Law)
    assert one.rewards == tuple(rewards.tolist())
    assert (one.mean, one.central_moment(2)) == (rewards.mean(), rewards.var())
    again = loads(dumps(one))
    assert again == one
    assert again.sample(5, rng=generator(2)).tolist() == one.sample(5, rng=generator(2)).tolist()


def test_later_changes_of_the_array_do_not_reach_the_law():
    rewards = np.arange(300.0)
    one = resampled(rewards)
    rewards[:] = SECRET
    assert one.mean == 149.5
    assert one.sample(100, rng=generator(1)).max() < 300


@pytest.mark.parametrize(
    ("rewards", "saying"),
    [
        ([], "of shape (0,)"),
        (SECRET, "of shape ()"),
        ([[SECRET], [SECRET]], "of shape (2, 1)"),
        ([[SECRET], [SECRET, 1]], "uneven rows"),
        ([1.0, SECRET, math.nan], "number 3"),
        ([math.inf, SECRET], "number 1"),
        (["7919.25"], "str"),
        ([True, False], "bool"),
        ([SECRET, None], "object"),
        ([SECRET + 1j], "complex"),
        (None, "object"),
    ],
)
def test_what_is_no_row_of_rewards_is_refused_without_showing_it(rewards, saying):
    for build in (resampled, lambda one: law("resampled", rewards=one), Resampled):
        with pytest.raises(InvalidParameter, match="rewards = ") as caught:
            build(rewards)
        assert saying in str(caught.value)
        assert "7919" not in str(caught.value)


def test_no_message_shows_the_rewards_of_a_law():
    one = Resampled((SECRET, 1.0))
    assert repr(one) == "Resampled(<2 rewards>)"
    with pytest.raises(InvalidState) as caught:
        loads(dumps(one).replace("1.0]", "null]"))
    assert "7919" not in str(caught.value)


def test_too_many_numbers_for_json_are_refused():
    assert len(resampled(np.arange(100_000)).rewards) == 100_000
    assert refused("rewards", resampled, np.arange(100_001), saying="save them to a file")
    assert isinstance(resampled(np.arange(200_000) % 7), Discrete)


def test_moments_too_large_for_a_float_are_infinite_and_a_mean_is_refused():
    large = Resampled((-1e300, 1e300))
    assert (large.mean, large.central_moment(2), large.raw_moment(1)) == (0.0, math.inf, 1e300)
    assert refused("mean", Resampled, (1.7e308, 1.7e308))


# --- Files --------------------------------------------------------------------------------------


@each_file
def test_a_file_is_a_law_of_all_its_rewards(folder, suffix):
    WRITERS[suffix](folder / f"data{suffix}")
    one = file_law(f"data{suffix}")
    assert isinstance(one, Law)
    assert (one.file, one.digest) == (f"data{suffix}", digest_of(folder / f"data{suffix}"))
    assert one.mean == pytest.approx(math.fsum(REWARDS) / 5, rel=1e-15)
    drawn = one.sample(1000, rng=generator(1))
    assert set(drawn.tolist()) == set(REWARDS)
    assert one == FileLaw(one.file, one.digest)


@each_table
def test_a_file_is_one_law_for_each_arm_that_it_names(folder, suffix):
    WRITERS[suffix](folder / f"data{suffix}")
    found = {arm: file_law(f"data{suffix}", arms="arm", arm=arm).mean for arm in set(ARMS)}
    assert found == {"b": 5e299, "a": -1.25, "10": 3.5, "9": 0.1}
    instance = create("file", file=f"data{suffix}")
    assert [one.arm for one in instance.arms] == ["9", "10", "a", "b"]
    assert instance.means.tolist() == [0.1, 3.5, -1.25, 5e299]
    assert instance.name == "data"
    assert instance == file_instance(f"data{suffix}", "arm", "reward", goal="max")
    assert file_instance(f"data{suffix}", goal="min").best == 2


def test_parquet_and_csv_mean_the_same(folder):
    rewards = generator(1).standard_normal(500).tolist()
    arms = [f"{arm}" for arm in generator(2).integers(12, size=500)]
    for suffix in (".csv", ".parquet"):
        WRITERS[suffix](folder / f"data{suffix}", rewards, arms)
    one, other = (file_instance(f"data{suffix}") for suffix in (".csv", ".parquet"))
    assert [arm.arm for arm in one.arms] == [str(number) for number in range(12)]
    for ours, theirs in zip(one.arms, other.arms, strict=True):
        assert (
            ours.sample(50, rng=generator(3)).tolist()
            == theirs.sample(50, rng=generator(3)).tolist()
        )


@each_file
def test_json_holds_name_and_digest_and_no_reward(folder, suffix):
    WRITERS[suffix](folder / f"data{suffix}", [SECRET, 1.0], ["a", "b"])
    one = law("file", file=f"data{suffix}")
    text = dumps(one)
    assert json.loads(text).keys() == {"kind", "file", "digest", "reward", "arms", "arm"}
    assert "7919" not in text + repr(one) + str(pickle.dumps(one))
    for copy in (loads(text), pickle.loads(pickle.dumps(one))):
        assert copy == one
        assert copy.sample(9, rng=generator(1)).tolist() == one.sample(9, rng=generator(1)).tolist()


@each_file
def test_a_file_that_has_changed_is_refused(folder, suffix):
    path = folder / f"data{suffix}"
    WRITERS[suffix](path)
    one = file_law(path)
    text, stored, mean = dumps(one), pickle.dumps(one), one.mean
    WRITERS[suffix](path, [*REWARDS[:4], SECRET], ARMS)
    assert one.mean == mean
    rewards_of.cache_clear()  # as in another process
    rule = f"has changed: its digest is now {digest_of(path)}"
    assert refused("digest", FileLaw, one.file, one.digest, saying=rule)
    assert refused("digest", lambda: pickle.loads(stored).mean, saying=rule)
    with pytest.raises(InvalidState, match="has changed"):
        loads(text)
    assert file_law(path).mean != mean


@each_table
def test_an_instance_of_a_file_that_has_changed_is_refused(folder, suffix):
    path = folder / f"data{suffix}"
    WRITERS[suffix](path)
    digest = digest_of(path)
    assert file_instance(path, digest=digest).size == 4
    WRITERS[suffix](path, [*REWARDS[:4], SECRET], ARMS)
    rewards_of.cache_clear()
    assert refused("digest", file_instance, path, digest=digest, saying="has changed")


def test_rewards_of_a_file_cannot_be_changed(folder):
    write_npy(folder / "data.npy")
    one = file_law("data.npy")
    one.sample(100, rng=generator(1))[:] = SECRET
    with pytest.raises(ValueError, match="read-only"):
        rewards_of(one.file, one.digest, None, "reward")[""][:] = SECRET
    assert one.sample(100, rng=generator(1)).max() == 1e300


# --- What files may hold ------------------------------------------------------------------------


def test_csv_may_have_quotes_blank_lines_spaces_and_a_byte_order_mark(folder):
    text = '\ufeff"reward","arm"\r\n" 1.5","x, y"\r\n\r\n-2e0, z \r\n'
    (folder / "data.csv").write_text(text, encoding="utf-8", newline="")
    instance = file_instance("data.csv")
    assert [(one.arm, one.mean) for one in instance.arms] == [("x, y", 1.5), ("z", -2.0)]


@pytest.mark.parametrize(
    ("text", "saying"),
    [
        ("", "line 1: must name the column 'reward', once"),
        ("7919.25\n1\n", "line 1: must name the column 'reward', once"),
        ("reward,reward\n1,2\n", "line 1: must name the column 'reward', once"),
        ("arm,reward\na,1\na,7919.25,3\n", "line 3: must have 2 fields, as line 1 has"),
        ("arm,reward\na\n", "line 2: must have 2 fields"),
        ("reward\n1\n\n7919.25x\n", "line 4: the reward must be a finite number"),
        ("reward\n7919.25\nnan\n", "line 3: the reward must be a finite number"),
        ("reward\ninf\n", "line 2: the reward must be a finite number"),
        ("reward\n1e999\n", "line 2: the reward must be a finite number"),
        ("reward\n7_919.25\n", "line 2: the reward must be a finite number"),
        ("arm,reward\na,\n", "line 2: the reward must be a finite number"),
        ('reward\n"7919.25\n', "is not CSV"),
        ("reward\n", "must hold at least one reward"),
        ("reward\n\n\n", "must hold at least one reward"),
        (b"reward\n\xff\xfe\n", "must be text in UTF-8"),
    ],
)
def test_bad_csv_is_refused_without_showing_a_reward(folder, text, saying):
    path = folder / "data.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    hidden(saying, file_law, path)


def test_an_arm_without_a_name_is_refused(folder):
    (folder / "data.csv").write_text("arm,reward\na,7919.25\n ,1\n", encoding="utf-8")
    hidden("line 3: the arm must have a name", file_instance, "data.csv")
    write_parquet(folder / "data.parquet", [SECRET, 1.0], ["a", None])
    hidden("row 2: the arm must have a name", file_instance, "data.parquet")


@pytest.mark.parametrize(
    ("columns", "saying"),
    [
        ({"price": [SECRET]}, "must have a column 'reward', once"),
        ({"reward": ["7919.25"]}, "the column 'reward' must hold numbers"),
        ({"reward": [True]}, "the column 'reward' must hold numbers"),
        ({"reward": [[SECRET]]}, "the column 'reward' must hold numbers"),
        ({"reward": [SECRET, math.nan]}, "row 2: the reward must be a finite number"),
        ({"reward": [SECRET, None]}, "row 2: the reward must be a finite number"),
        ({"reward": [math.inf, SECRET]}, "row 1: the reward must be a finite number"),
        ({"reward": pyarrow.array([], pyarrow.float64())}, "must hold at least one reward"),
    ],
)
def test_bad_parquet_is_refused_without_showing_a_reward(folder, columns, saying):
    parquet.write_table(pyarrow.table(columns), folder / "data.parquet")
    hidden(saying, file_law, "data.parquet")


@pytest.mark.parametrize(
    "rewards",
    [
        pyarrow.array([1, 2, 4], pyarrow.int8()),
        pyarrow.array([1, 2, 4], pyarrow.uint64()),
        pyarrow.array([1.0, 2.0, 4.0], pyarrow.float32()),
        pyarrow.chunked_array([[1], [2, 4]]),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "arms",
    [
        pyarrow.array(["x", "y", "x"]),
        pyarrow.array([7, 8, 7]),
        pyarrow.array(["x", "y", "x"]).dictionary_encode(),
        pyarrow.array([True, False, True]),
    ],
    ids=lambda arms: str(arms.type),
)
def test_parquet_columns_may_have_any_type_that_makes_sense(folder, rewards, arms):
    table = pyarrow.table({"reward": rewards, "arm": arms})
    parquet.write_table(table, folder / "data.parquet")
    assert sorted(file_instance("data.parquet").means.tolist()) == [2.0, 2.5]


def test_arms_that_have_no_names_in_parquet_are_refused(folder):
    table = pyarrow.table({"reward": [1.0], "arm": [[SECRET]]})
    parquet.write_table(table, folder / "data.parquet")
    hidden("the column 'arm' must hold names", file_instance, "data.parquet")
    write_parquet(folder / "blank.parquet", [1.0, SECRET], ["a", " "])
    hidden("row 2: the arm must have a name", file_instance, "blank.parquet")


@pytest.mark.parametrize(
    ("array", "saying"),
    [
        (np.array([SECRET, np.nan]), "row 2: the reward must be a finite number"),
        (np.array([[SECRET]]), "one dimension"),
        (np.array(SECRET), "one dimension"),
        (np.array([True]), "an array of numbers"),
        (np.array(["7919.25"]), "an array of numbers"),
        (np.array([]), "must hold at least one reward"),
        (np.array([SECRET, None]), "is not an array of numbers"),
    ],
    ids=str,
)
def test_a_bad_array_is_refused_without_showing_a_reward(folder, array, saying):
    np.save(folder / "data.npy", array)
    hidden(saying, file_law, "data.npy")


@pytest.mark.parametrize(
    ("name", "saying"),
    [
        ("data.parquet", "is not Parquet"),
        ("data.npy", "is not an array of numbers"),
        ("data.txt", "must end in .csv, .parquet, .npy"),
        ("data", "must end in .csv, .parquet, .npy"),
        ("nowhere.csv", "cannot be read: No such file"),
        (".", "cannot be read: Is a directory"),
    ],
)
@pytest.mark.parametrize("content", [b"", b"7919.25"])
def test_other_files_are_refused(folder, name, saying, content):
    if name.startswith("data"):
        (folder / name).write_bytes(content)
    hidden(saying, file_law, name)


def test_blanks_around_names_of_arms_do_not_count(folder):
    for suffix in (".csv", ".parquet"):
        WRITERS[suffix](folder / f"data{suffix}", [1.0, 2.0, 4.0], ["a", " a", "b "])
        instance = file_instance(f"data{suffix}")
        assert [(one.arm, one.mean) for one in instance.arms] == [("a", 1.5), ("b", 4.0)]


@each_table
def test_a_table_without_rows_is_refused(folder, suffix):
    if suffix == ".csv":
        write_csv(folder / "data.csv", [], [])
    else:
        kinds = pyarrow.schema({"arm": pyarrow.string(), "reward": pyarrow.float64()})
        parquet.write_table(kinds.empty_table(), folder / "data.parquet")
    hidden("must hold at least one reward", file_instance, f"data{suffix}")
    hidden("must hold at least one reward", file_law, f"data{suffix}")


def test_a_parquet_file_with_a_column_twice_is_refused(folder):
    table = pyarrow.table([[1.0], [SECRET]], names=["reward", "reward"])
    parquet.write_table(table, folder / "data.parquet")
    hidden("must have a column 'reward', once", file_law, "data.parquet")


def test_a_damaged_parquet_file_is_refused(folder):
    parquet.write_table(pyarrow.table({"reward": [SECRET] * 1000}), folder / "data.parquet")
    content = bytearray((folder / "data.parquet").read_bytes())
    content[4:40] = bytes(36)
    (folder / "data.parquet").write_bytes(content)
    hidden("is not Parquet", file_law, "data.parquet")


def test_a_damaged_array_is_refused(folder):
    write_npy(folder / "data.npy", [SECRET])
    content = (folder / "data.npy").read_bytes()
    (folder / "data.npy").write_bytes(content.replace(b"}", b"("))
    hidden("is not an array of numbers", file_law, "data.npy")


def test_arms_that_are_not_text_in_parquet_are_refused(folder):
    names = pyarrow.array([b"a", b"\xff"]).view(pyarrow.binary())
    table = pyarrow.table({"reward": [1.0, SECRET], "arm": names})
    parquet.write_table(table, folder / "data.parquet")
    hidden("the column 'arm' must hold names", file_instance, "data.parquet")


def test_numbered_arms_come_first_and_in_order(folder):
    arms = ["b", "10", "9", "1" * 5000, "007", "7", "²"]
    write_csv(folder / "data.csv", [1.0] * 7, arms)
    assert [one.arm for one in file_instance("data.csv").arms] == [
        *("007", "7", "9", "10", "1" * 5000, "b", "²")
    ]


def test_suffixes_may_be_in_capitals(folder):
    write_csv(folder / "DATA.CSV")
    assert file_law("DATA.CSV", arms="arm", arm="a").mean == -1.25


def hidden(saying, build, *arguments):
    """The build is refused, and no reward is shown."""
    with pytest.raises(InvalidParameter) as caught:
        build(*arguments)
    assert saying in str(caught.value)
    assert caught.value.__cause__ is None
    assert "7919" not in str(caught.value)


def test_a_law_names_its_file_and_columns(folder):
    write_csv(folder / "data.csv")
    digest = digest_of("data.csv")
    assert refused("file", file_law, 3)
    assert refused("file", file_instance, None)
    assert refused("file", FileLaw, folder / "data.csv", digest)
    assert refused("digest", FileLaw, "data.csv", None)
    assert refused("digest", FileLaw, "data.csv", "")
    assert refused("reward", FileLaw, "data.csv", digest, None)
    assert refused("reward", file_instance, "data.csv", "arm", None)
    assert refused("arms", file_instance, "data.csv", None)
    assert refused("arm", file_law, "data.csv", arms="arm")
    assert refused("arm", file_law, "data.csv", arm="a")
    assert refused("arm", file_law, "data.csv", arms="arm", arm="c", saying="column 'arm'")
    assert refused("arms", file_law, "data.csv", arms=3, arm="a")
    assert refused("arms", file_instance, "data.csv", "reward", saying="another column")
    assert refused("file", file_law, "data.csv", arms="variant", arm="a", saying="'variant'")
    write_npy(folder / "data.npy")
    assert refused("file", file_instance, "data.npy", saying="has no column of arms")


# --- In a study ---------------------------------------------------------------------------------

STUDY = """
seed = 1
replications = 2
horizon = 100
[[panels]]
instance = {INSTANCE}
[[policies]]
name = "uniform"
"""


def read(instance):
    (cell,) = parse(STUDY.replace("INSTANCE", instance), "study.toml").cells
    return cell.instance


def test_a_study_reads_a_file_with_the_digest_that_it_states(folder):
    write_csv(folder / "data.csv")
    digest = digest_of("data.csv")
    assert read(f'name = "file", file = "data.csv", digest = "{digest}"') == file_instance(
        "data.csv"
    )
    one = f'{{law = "file", file = "data.csv", arms = "arm", arm = "a", digest = "{digest}"}}'
    assert read(f"arms = [{one}, {one}]").arms == (file_law("data.csv", arms="arm", arm="a"),) * 2


def test_a_study_that_does_not_state_the_digest_is_told_it(folder):
    write_csv(folder / "data.csv")
    for instance in ('name = "file"', 'arms = [{law = "file"'):
        rest = ', file = "data.csv"' + ("}]" if "[" in instance else "")
        with pytest.raises(InvalidStudy, match=rf"digest: must be given.*{digest_of('data.csv')}"):
            read(instance + rest)


def test_a_study_may_hold_rewards_and_an_error_does_not_show_them():
    one = '{law = "resampled", rewards = [1, 2, 2, 2]}'
    assert read(f"arms = [{one}, {one}]").arms == (resampled([1, 2, 2, 2]),) * 2
    with pytest.raises(InvalidStudy, match=r"arms\[0\]: rewards = 'number 2'") as caught:
        read('arms = [{law = "resampled", rewards = [7919.25, nan]}]')
    assert "7919" not in str(caught.value)


def test_without_pyarrow_the_error_names_the_pip_command(folder, monkeypatch):
    write_parquet(folder / "data.parquet", [SECRET], ["a"])
    usual = builtins.__import__

    def bare(name, *arguments, **options):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return usual(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", bare)
    with pytest.raises(MissingExtra, match=r"stoic-bandits\[data\]"):
        file_law("data.parquet")
