"""``stoic experiments`` and ``stoic audit`` as users meet them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import stoic
from helpers.studies import command

COMMANDS = ("create", "list", "show", "tick", "disable", "stop", "export", "privacy")


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/shop.db"


def run(*arguments: str) -> str:
    code, out, err = command(*arguments)
    assert (code, err) == (0, "")
    return out


def create(url: str) -> str:
    return run(
        *("experiments", "create", "checkout", "-d", url, "--arm", "A", "--arm", "B"),
        *("--horizon", "10000", "--epsilon", "1", "--bound", "25", "--between", "0", "100"),
        *("--reward-deadline", "1ms", "--tick", "1ms", "--contamination", "0.01"),
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str) -> None:
    out = run("experiments", name, "--help")
    assert re.search(rf"Example:\n    .*stoic experiments {name} ", out)
    assert "--database" in out


def test_an_experiment_from_its_beginning_to_its_end(url: str, tmp_path: Path) -> None:
    assert "checkout (prae-s, running): open, A leads" in create(url)
    assert run("experiments", "list", "-d", url) == "checkout (prae-s, running): open, A leads\n"
    assert run("experiments", "tick", "-d", url) == ""
    asked = 0
    with stoic.live.open(url) as db:
        exp = db.get("checkout")
        while (summary := exp.summary()).winner is None:
            tickets = exp.ask_many(f"user-{asked + i}" for i in range(summary.size))
            exp.tell_many(tickets, [60.0 if ticket.arm == "B" else 20.0 for ticket in tickets])
            asked += summary.size
            while "released" not in (said := run("experiments", "tick", "checkout", "-d", url)):
                assert said == ""
    shown = json.loads(run("experiments", "show", "checkout", "-d", url, "--json"))
    assert shown["winner"] == shown["leader"] == "B"
    assert "winner B" in run("experiments", "show", "checkout", "-d", url)
    stated = json.loads(run("experiments", "privacy", "checkout", "-d", url, "--json"))
    assert (stated["epsilon"], stated["real_noise"], len(stated["releases"]) >= 2) == (
        1.0,
        True,
        True,
    )
    assert 0.9 < stated["spent"] <= 1.0
    assert run("experiments", "privacy", "checkout", "-d", url) == stated["text"] + "\n"
    rows = [
        json.loads(line)
        for line in run("experiments", "export", "checkout", "-d", url).splitlines()
    ]
    assert sum(row["row"] == "assignment" for row in rows) == asked
    assert "A  disabled" in run("experiments", "disable", "checkout", "A", "-d", url)
    assert "stopped" in run("experiments", "stop", "checkout", "-d", url)


def test_what_is_wrong_is_one_line(url: str) -> None:
    for arguments, said in (
        (("show", "nope"), "not in this database, which has none yet"),
        (("privacy", "nope"), "not in this database"),
    ):
        code, out, err = command("experiments", *arguments, "-d", url)
        assert (code, out) == (2, "")
        assert said in err
        assert len(err.splitlines()) == 1
    code, _, err = command("experiments", "list", "-d", "mysql://me:hunter2@host/shop")
    assert code == 2
    assert "must be sqlite:///FILE or postgresql://..." in err
    assert "hunter2" not in err


def test_a_second_experiment_of_the_same_name_is_refused(url: str) -> None:
    create(url)
    code, _, err = command(
        *("experiments", "create", "checkout", "-d", url, "--arm", "A", "--arm", "B"),
        *("--horizon", "100", "--policy", "uniform", "--reward-deadline", "1d"),
    )
    assert (code, err) == (2, "stoic: name = 'checkout': is taken by another experiment\n")


@pytest.mark.parametrize("what", ["clipped-mean", "window-counts", "uniform"])
def test_an_audit_of_what_keeps_its_promise(what: str) -> None:
    out = run("audit", what, "--runs", "300", "--epsilon", "2")
    assert re.match(rf"{what}: promised epsilon 2, at least [01]\.\d+ was found\n", out)
    assert "a bug by a factor of two shows in" in out


def test_an_audit_of_the_live_path(url: str) -> None:
    out = run("audit", "live", "--runs", "200", "-d", url)
    assert out.startswith("live: promised epsilon 1, at least 0.")
    assert len(run("experiments", "list", "-d", url).splitlines()) == 12


def test_a_broken_promise_ends_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from stoic.cli import audit
    from stoic.privacy import ClippedMean

    honest = audit._mechanisms
    monkeypatch.setattr(
        audit, "_mechanisms", lambda epsilon: honest(epsilon) | {"clipped-mean": broken()}
    )

    def broken() -> ClippedMean:
        return ClippedMean(0.0, 1.0, epsilon=8.0)

    code, out, err = command("audit", "clipped-mean", "--runs", "2000")
    assert (code, err) == (1, "stoic: the promise is broken\n")
    assert "at least" in out


def test_what_promises_nothing_is_not_audited() -> None:
    code, _, err = command("audit", "ucb1")
    assert (code, err) == (2, "stoic: WHAT = 'ucb1': promises no privacy\n")
    code, _, err = command("audit", "nonsense")
    assert code == 2
    assert "must be one of live, truncated-mean" in err
