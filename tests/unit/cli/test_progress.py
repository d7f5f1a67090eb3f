"""How a run shows its progress, on a terminal and elsewhere."""

import os
import pty
import re
import select
import time

import pytest

from helpers.studies import LONG, SHORT, begin, kept
from stoic.cli import progress as module
from stoic.cli.progress import Progress, leaderboard
from stoic.experiments import Standing


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands until it is moved."""
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def standing(done, total=100, damaged=0, **regret):
    return Standing(done, total, regret, damaged)


def test_plain_lines_at_every_tenth(clock, capsys):
    with Progress("A study") as show:
        show(standing(0))
        for done in range(1, 101):
            clock[0] += 2
            show(standing(done, a=2.0, b=1.0))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "A study"
    assert lines[1:3] == [
        "10 of 100 replications, 0.5/s, 3:00 left   mean regret: b 1, a 2",
        "20 of 100 replications, 0.5/s, 2:40 left   mean regret: b 1, a 2",
    ]
    assert lines[-1] == "100 of 100 replications, 0.5/s, 0:00 left   mean regret: b 1, a 2"
    assert len(lines) == 11


def test_a_slow_run_says_something_every_minute(clock, capsys):
    with Progress("A study") as show:
        show(standing(0, total=1_000_000))
        for done in range(1, 9):
            clock[0] += 31
            show(standing(done, total=1_000_000))
    lines = capsys.readouterr().err.splitlines()[1:]
    assert [line.partition(" ")[0] for line in lines] == ["2", "4", "6", "8"]
    assert lines[0].startswith("2 of 1000000 replications, 0.0323/s, 8611:05:38 left")


def test_going_on_counts_only_what_is_new(clock, capsys):
    with Progress("A study") as show:
        show(standing(40, damaged=2))
        clock[0] += 10
        show(standing(50))
    assert capsys.readouterr().err.splitlines() == [
        "A study",
        "damaged files, made again: 2",
        "going on from 40 of 100 replications",
        "50 of 100 replications, 1/s, 0:50 left",
    ]
    assert show.kept == "50 of 100 replications"


def test_nothing_is_kept_before_something_is():
    show = Progress("A study")
    assert show.kept == ""
    show(standing(0))
    assert show.kept == ""


def test_markup_in_labels_is_only_text(capsys):
    with Progress("A [red]study[/red] [1]") as show:
        show(standing(0))
        show(standing(100, **{"[bold]x": 1.0}))
    err = capsys.readouterr().err
    assert err.startswith("A [red]study[/red] [1]\n")
    assert "[bold]x 1" in err


def test_the_leaderboard_is_in_order_and_may_be_empty():
    assert leaderboard(standing(1, a=3.0, b=-1.0, c=2.0)) == "mean regret: b -1, c 2, a 3"
    assert leaderboard(standing(1)) == ""


# On a terminal: what is on its screen, as a terminal would show it.


class Screen:
    """The little of a terminal that a progress bar needs."""

    def __init__(self):
        self.lines, self.row, self.column = [""], 0, 0

    def feed(self, text):
        for part in re.findall(r"\x1b\[[?\d;]*[A-Za-z]|[\r\n]|[^\x1b\r\n]+", text):
            if part == "\n":
                self.row, self.column = self.row + 1, 0
                if self.row == len(self.lines):
                    self.lines.append("")
            elif part == "\r":
                self.column = 0
            elif part.startswith("\x1b["):
                count = int(part[2:-1]) if part[2:-1].isdigit() else 1
                if part.endswith("A"):
                    self.row -= count
                elif part == "\x1b[2K":
                    self.lines[self.row] = ""
            else:
                line = self.lines[self.row].ljust(self.column)
                end = self.column + len(part)
                self.lines[self.row] = line[: self.column] + part + line[end:]
                self.column = end

    @property
    def shown(self):
        return [line.rstrip() for line in self.lines]


def on_terminal(*arguments, interrupt=None):
    """Run ``stoic`` on a terminal; every screen it shows, and the exit code.

    Once a screen matches ``interrupt``, Ctrl-C is pressed.
    """
    terminal, theirs = pty.openpty()
    code = "import fcntl, termios\nfcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"  # Ctrl-C is theirs, too
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    options = {"env": {"TERM": "xterm"}, "start_new_session": True, **streams}
    process = begin(*arguments, code=code, **options)
    os.close(theirs)
    screen, screens, pressed = Screen(), [], interrupt is None
    end = time.monotonic() + 60
    with open(terminal, "rb", buffering=0) as stream:
        while time.monotonic() < end:
            if not select.select([stream], [], [], 1)[0]:
                continue
            try:
                content = stream.read(1 << 16)
            except OSError:  # the other end is closed
                break
            screen.feed(content.decode(errors="replace"))
            screens.append(screen.shown)
            if not pressed and re.search(interrupt, "\n".join(screen.shown)):
                os.write(terminal, b"\x03")
                pressed = True
        else:
            process.kill()
    return screens, process.wait()


BAR = r"━+[╸╺]?━* *"
PACE = r"\d+ of 80 replications, [\d.e+]+/s, \d+:\d\d left"
BOARD = r"mean regret: dprse [\d.e+]+, prae-r [\d.e+]+"


def test_a_live_bar_with_pace_and_leaderboard_and_a_clean_end_on_ctrl_c(tmp_path):
    study, out = tmp_path / "long.toml", tmp_path / "out"
    study.write_text(LONG)
    screens, code = on_terminal("run", study, "--out", out, "--jobs", 2, interrupt="mean regret")
    assert code == 130
    title, bar, pace, board = next(lines for lines in screens if "mean regret" in lines[-1])[:4]
    assert title == "A long one"
    assert re.fullmatch(BAR, bar)
    assert re.fullmatch(PACE, pace)
    assert re.fullmatch(BOARD, board)
    last = [line.replace("^C", "") for line in screens[-1] if line]
    stopped = re.fullmatch(
        r"stopped: (\d+) of 80 replications are kept, the same command goes on from there",
        last[-1],
    )
    assert stopped
    # One more, if it came between a file and the news of it.
    assert int(stopped[1]) in (len(kept(out)), len(kept(out)) - 1)
    assert len(last) == 5  # title, bar, pace, leaderboard, and this: no word from the workers


def test_a_finished_bar_stays_and_results_follow(tmp_path):
    study = tmp_path / "short.toml"
    study.write_text(SHORT)
    screens, code = on_terminal("run", study, "--out", tmp_path / "out", "--jobs", 1)
    assert code == 0
    title, bar, pace, board, *rest = screens[-1]
    assert title == "A short one"
    assert set(bar) == {"━"}
    assert pace.startswith("24 of 24 replications, ")
    assert board.startswith("mean regret: oracle 0, ")
    assert rest[0] == "Regret at the horizon, mean of 4 replications"


def test_the_screen_forgets_what_is_erased():
    screen = Screen()
    screen.feed("one\r\ntwo\r\nthree\x1b[2K\x1b[1A\x1b[2K\rnew\n")
    assert screen.shown == ["one", "new", ""]
