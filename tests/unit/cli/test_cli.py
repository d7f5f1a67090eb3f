"""The command line as users meet it: what it says, and how it ends."""

import os
import re
import subprocess
import sys
from pathlib import Path

import distributed
import pytest

from helpers.studies import SHORT, begin, command, kept, rows_of, stoic, study_of
from stoic.environments import FAMILIES, INSTANCES
from stoic.experiments import run
from stoic.policies import POLICIES

COMMANDS = ("run", "report", "policies", "environments")


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "short.toml"
    path.write_text(SHORT)
    return path


def refusal(*arguments):
    """The last line on stderr of a command that is used wrongly."""
    code, out, err = command(*arguments)
    assert code == 2
    assert "Traceback" not in out + err
    return err.splitlines()[-1]


def test_help_says_which_commands_there_are():
    code, out, err = command("--help")
    assert (code, err) == (0, "")
    listed = re.findall(r"^  ([a-z]+)  ", out.partition("Commands:")[2], re.MULTILINE)
    assert set(COMMANDS) <= set(listed)
    assert "Examples:\n    stoic run paper/figure1.toml" in out
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples_that_are_commands(name):
    code, out, err = command(name, "--help")
    assert (code, err) == (0, "")
    examples = re.search(r"Examples?:\n((?:    .*\n)+)", out)[1].splitlines()
    assert all(example.startswith(f"    stoic {name}") for example in examples)
    options = set(re.findall(r"--[a-z-]+", out.partition("Options:")[2]))
    assert set(re.findall(r"--[a-z-]+", "".join(examples))) <= options


def test_help_loads_nothing_that_takes_long():
    code = "import atexit, sys; atexit.register(lambda: print(sorted(sys.modules)))\n"
    said = stoic("run", "--help", code=code)[1]
    loaded = set(re.findall(r"'([\w.]+)'", said.splitlines()[-1]))
    assert "typer" in loaded
    assert not loaded & {"numpy", "scipy", "pyarrow", "joblib", "numba", "distributed", "altair"}


def test_without_a_command_it_shows_help():
    code, out, err = command()
    assert code == 2
    assert "Usage: stoic" in out + err


def test_the_version():
    assert re.fullmatch(r"stoic \d+\.\d+\.\d+\n", command("--version")[1])


@pytest.mark.parametrize(
    ("listing", "names"), [("policies", [*POLICIES]), ("environments", [*INSTANCES, *FAMILIES])]
)
def test_what_exists_has_one_line_each(listing, names):
    code, out, err = command(listing)
    assert (code, err) == (0, "")
    lines = re.findall(r"^  (\S+) +(\S.*)$", out, re.MULTILINE)
    assert [name for name, _ in lines] == names
    assert all(len(about) > 5 and "``" not in about for _, about in lines)


def test_all_about_one():
    code, out, err = command("policies", "prae-c")
    assert (code, err) == (0, "")
    assert out.startswith('[[policies]] name = "prae-c"\n')
    assert "  epsilon\n" in out
    assert "  profile = 'proof'\n" in out
    assert "arms" not in out.partition("Options:")[2]  # comes from the instance
    out = command("environments", "file")[1]  # an instance, and a law
    assert 'instance = {name = "file", ...}' in out
    assert 'instance = {arms = [{law = "file", ...}, ...]}' in out
    assert ">>>" not in out


def test_running_a_study(study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = stoic("run", study, "--jobs", 1)  # in a process of its own
    assert code == 0
    assert len(kept(tmp_path / "results" / "short")) == 6
    assert out.endswith(f"Kept in {Path('results/short')}.\n")
    assert re.search(r"\none\n  uniform {3,}150,000 ± \d+\n  oracle {3,}0 ± 0\n", out)
    # Not on a terminal: plain lines, one for every tenth or so.
    lines = err.splitlines()
    assert lines[0] == "A short one"
    assert re.fullmatch(
        r"24 of 24 replications, [\d.e+]+/s, 0:00 left   mean regret: oracle 0, .*", lines[-1]
    )
    assert len(lines) <= 11
    assert "\x1b" not in out + err
    assert "\r" not in err

    # Once more: nothing is left to do.
    code, again, err = command("run", study, "--jobs", 1)
    assert (code, again) == (0, out)
    assert err.splitlines() == ["A short one", "going on from 24 of 24 replications"]

    # A first look has a place of its own.
    code, out, _ = command("run", study, "--quick", "--jobs", 1)
    assert (code, len(kept(tmp_path / "results" / "short-quick"))) == (0, 6)
    assert "mean of 3 replications" in out

    # A changed study is refused, or starts afresh.
    study.write_text(SHORT.replace("seed = 7", "seed = 9"))
    last = refusal("run", study, "--jobs", 1)
    assert re.fullmatch(
        r"stoic: results/short: holds results of another study, .*; choose another directory, or "
        r"start afresh \(--fresh\)",
        last,
    )
    assert command("run", study, "--jobs", 1, "--fresh")[0] == 0


def test_damage_is_told(study, tmp_path):
    assert command("run", study, "--out", tmp_path / "o", "--jobs", 1)[0] == 0
    for name in kept(tmp_path / "o")[:2]:
        (tmp_path / "o" / "replications" / name).write_bytes(b"?")
    lines = command("run", study, "--out", tmp_path / "o", "--jobs", 1)[2].splitlines()
    assert lines[1:3] == ["damaged files, made again: 2", "going on from 16 of 24 replications"]


def test_a_dask_cluster_gives_the_same_bytes(study, tmp_path):
    run(study_of(), tmp_path / "here")
    where = {"n_workers": 1, "processes": False, "protocol": "tcp"}
    where["dashboard_address"] = "127.0.0.1:0"
    with distributed.LocalCluster(**where) as cluster:
        address = cluster.scheduler_address
        code, _, err = command("run", study, "--out", tmp_path / "there", "--dask", address)
    assert address.startswith("tcp://")
    assert code == 0, err
    assert rows_of(tmp_path / "there") == rows_of(tmp_path / "here")


def test_what_users_get_wrong_is_one_line_and_code_2(study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.toml").write_text(SHORT.replace("seed = 7", "sed = 7"))
    (tmp_path / "broken.toml").write_text("seed = ")
    (tmp_path / "binary.toml").write_bytes(os.urandom(64) + b"\xff")
    assert refusal("run", tmp_path / "wrong.toml") == (
        f"stoic: {tmp_path}/wrong.toml:2: sed = 7: unknown key; did you mean 'seed'?"
    )
    for arguments, message in {
        ("run", tmp_path / "broken.toml"): f"stoic: {tmp_path}/broken.toml:1: not TOML: Invalid",
        ("run", tmp_path / "binary.toml"): f"stoic: {tmp_path}/binary.toml",
        ("run", tmp_path / "none.toml"): f"stoic: {tmp_path}/none.toml: No such file or directory",
        ("run", tmp_path): f"stoic: {tmp_path}: Is a directory",
        ("run", study, "--out", study): f"stoic: cannot write {study}: File exists",
        ("run", study, "--out", "o", "--dask", "x"): "stoic: scheduler = 'x': must be like tcp://",
        ("report", tmp_path / "none"): f"stoic: {tmp_path}/none: no results here",
    }.items():
        assert refusal(*arguments).startswith(message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rnu",), "No such command 'rnu'"),
        (("run",), "Missing argument 'STUDY'"),
        (("run", "a.toml", "--job", "1"), "No such option"),
        (("run", "a.toml", "--jobs", "0"), "--jobs"),
        (("run", "a.toml", "--jobs", "two"), "--jobs"),
        (("run", "a.toml", "--jobs", "1", "--dask", "local"), "exclude each other"),
        (("run", "a.toml", "b.toml"), "unexpected extra argument"),
        (("policies", "ucb"), "'ucb': there are prae-r, prae-c"),
        (("environments", "ucb"), "'ucb': there are paper, hard"),
    ],
)
def test_wrong_arguments_are_answered_with_how_it_is_used(arguments, message):
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("Usage: stoic")
    assert message in err
    assert "Traceback" not in err


def test_a_missing_extra_names_its_command(study):
    for package in ("typer", "rich", "pyarrow"):
        code = f"import sys\nsys.modules[{package!r}] = None\n"
        end, _, err = stoic("run", study, "--out", study.parent / package, "--jobs", 1, code=code)
        message = rf"stoic: {package} is not installed: pip install 'stoic-bandits\[(lab|live)\]'"
        assert end == 2
        assert re.fullmatch(message, err.splitlines()[-1])
        assert "Traceback" not in err


def test_a_terminal_that_knows_no_greek(tmp_path):
    path = tmp_path / "greek.toml"
    path.write_text(SHORT.replace('"one"', '"ε = ½"').replace("A short one", "Ελληνικά"), "utf-8")
    ascii_only = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    code, out, err = stoic("run", path, "--out", tmp_path / "o", "--jobs", 1, env=ascii_only)
    assert code == 0, err
    assert "\n? = ?\n" in out


@pytest.mark.parametrize("arguments", [("policies",), ("run", "short.toml", "--jobs", "1")])
def test_an_output_that_is_full(study, arguments):
    with Path("/dev/full").open("w") as full:
        code, _, err = stoic(*arguments, cwd=study.parent, stdout=full)
    assert code == 2
    assert err.splitlines()[-1] == "stoic: cannot write the output: No space left on device"
    assert "Traceback" not in err
    assert "Exception ignored" not in err


def test_a_reader_who_leaves_early_sees_no_traceback():
    process = begin("environments")
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    process.wait(60)
    assert "Traceback" not in err


# Completion: what a shell asks, and what it is answered.


def complete(words):
    """What bash would offer for the last of these words."""
    found = subprocess.run(
        [str(Path(sys.executable).with_name("stoic"))],
        env={
            **os.environ,
            "_STOIC_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(words),
            "COMP_CWORD": str(len(words) - 1),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return set(found.stdout.split())


def test_completion():
    assert complete(["stoic", ""]) >= set(COMMANDS)
    assert complete(["stoic", "pol"]) == {"policies"}
    assert complete(["stoic", "run", "--q"]) == {"--quick"}
    assert complete(["stoic", "run", "--"]) >= {"--out", "--jobs", "--dask", "--quick", "--fresh"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_shown_and_installed(shell, tmp_path):
    program = str(Path(sys.executable).with_name("stoic"))
    env = {**os.environ, "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    shown, installed = (
        subprocess.run(
            [program, option, shell], env=env, capture_output=True, text=True, check=True
        )
        for option in ("--show-completion", "--install-completion")
    )
    assert "_STOIC_COMPLETE" in shown.stdout
    assert f"{shell} completion installed" in installed.stdout
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any("_STOIC_COMPLETE" in path.read_text() for path in files)
