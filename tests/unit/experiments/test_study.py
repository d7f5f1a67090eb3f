"""Reading studies: what a grid is, and that every mistake is answered with its line and key."""

import copy
import datetime
import json
import math
import re

import pytest

from helpers.studies import SHORT, study_of
from stoic.core import CentralMoment, RawMoment
from stoic.environments import Bernoulli, Gaussian, Huber, Point
from stoic.errors import InvalidStudy
from stoic.experiments import parse, read

HEAD = """\
seed = 1
replications = 2
horizon = 1_000
"""
PANEL = """\
[[panels]]
instance = {name = "paper", family = "pareto"}
"""
POLICY = """\
[[policies]]
name = "uniform"
"""


def refusal(text):
    with pytest.raises(InvalidStudy) as caught:
        parse(text, "s.toml")
    return str(caught.value)


# What a study is.


def test_the_smallest_study():
    study = parse(HEAD + PANEL + POLICY, "folder/small.toml")
    (cell,) = study.cells
    assert (study.title, study.seed, study.replications) == ("small", 1, 2)
    assert (cell.panel, cell.policy) == ("paper-pareto-0.05", "uniform")
    assert (cell.player.horizon, cell.player.arms, cell.player.goal) == (1_000, 5, "max")
    assert cell.checkpoints[[0, -1]].tolist() == [5, 1_000]
    assert len(cell.checkpoints) == 200


def test_a_grid_is_every_combination_and_the_last_key_varies_fastest():
    moments = 'moments = {kind = "raw", k = 2, bound = 10_005}\n'
    grid = "[grid]\nepsilon = [0.5, 1.0]\ninstance.alpha = [0.0, 0.1]\n"
    policies = '[[policies]]\nname = "prae-r"\n[[policies]]\nname = "ucb1"\n'
    study = parse(HEAD + 'profile = "unit"\n' + moments + PANEL + policies + grid, "s.toml")
    assert study.panels == (
        "paper-pareto-0, epsilon = 0.5, alpha = 0",
        "paper-pareto-0.1, epsilon = 0.5, alpha = 0.1",
        "paper-pareto-0, epsilon = 1, alpha = 0",
        "paper-pareto-0.1, epsilon = 1, alpha = 0.1",
    )
    assert study.policies == ("prae-r", "ucb1")
    assert [(cell.panel, cell.policy) for cell in study.cells] == [
        (panel, policy) for panel in study.panels for policy in study.policies
    ]
    private = study.cells[::2]
    assert [cell.player.epsilon for cell in private] == [0.5, 0.5, 1.0, 1.0]
    assert [cell.instance.arms[0].alpha for cell in private] == [0.0, 0.1, 0.0, 0.1]
    # A policy assumes the instance's own share of outliers unless told otherwise.
    assert [cell.settings["contamination"] for cell in private] == [0.0, 0.1, 0.0, 0.1]
    assert "epsilon" not in study.cells[1].settings


def test_a_sweep_is_a_panel_for_each_of_its_values():
    text = 'profile = "unit"\nmoments = {kind = "raw", k = 2, bound = 10_005}\n' + PANEL
    text += 'label = "p"\nsweep = {instance.alpha = [0.01, 0.1, 0.2]}\n'
    text += PANEL + '[[policies]]\nname = "prae-r"\n[grid]\nepsilon = [0.5, 1.0]\n'
    study = parse(HEAD + text, "s.toml")
    assert study.panels == (
        "p, epsilon = 0.5, alpha = 0.01",
        "p, epsilon = 0.5, alpha = 0.1",
        "p, epsilon = 0.5, alpha = 0.2",
        "p, epsilon = 1, alpha = 0.01",
        "p, epsilon = 1, alpha = 0.1",
        "p, epsilon = 1, alpha = 0.2",
        "paper-pareto-0.05, epsilon = 0.5",
        "paper-pareto-0.05, epsilon = 1",
    )
    assert [cell.instance.arms[0].alpha for cell in study.cells][:3] == [0.01, 0.1, 0.2]
    assert [cell.player.epsilon for cell in study.cells][:6] == [0.5] * 3 + [1.0] * 3
    one, other = study.sweeps
    assert (one.label, other.label) == ("p, epsilon = 0.5", "p, epsilon = 1")
    assert (one.key, one.values) == ("alpha", (0.01, 0.1, 0.2))
    assert one.panels + other.panels == study.panels[:6]


def test_two_sweeps_need_two_labels():
    first, second = (PANEL + f"sweep = {{horizon = [{at}, 60, 70]}}\n" for at in (5, 6))
    second = second.replace("60, 70", "61, 71")
    assert refusal(HEAD + first + second + POLICY) == (
        "s.toml:7: panels[1].label: there is another 'paper-pareto-0.05'; give each a label of its "
        "own"
    )


def test_a_sweep_makes_another_study_than_a_grid_of_the_same_panels():
    head = "seed = 1\nreplications = 2\n" + PANEL
    swept = parse(head + "sweep = {horizon = [5, 6, 7]}\n" + POLICY, "s.toml")
    grid = parse(head + POLICY + "[grid]\nhorizon = [5, 6, 7]", "s.toml")
    assert (swept.panels, grid.sweeps) == (grid.panels, ())
    assert swept.digest != grid.digest


def test_what_is_said_closer_to_the_policy_counts():
    text = f"""{HEAD}
epsilon = 0.1
profile = "unit"
moments = {{kind = "central", k = 2, bound = 5, mean_range = [0, 100]}}
{PANEL}
epsilon = 0.2
[[panels]]
label = "other"
horizon = 500
instance = {{name = "paper", family = "pareto"}}
[[policies]]
name = "prae-c"
[[policies]]
label = "own"
name = "prae-c"
epsilon = 0.3
moments = {{kind = "central", k = 3, bound = 50, mean_range = [-1, 100]}}
"""
    cells = parse(text, "s.toml").cells
    assert [cell.player.epsilon for cell in cells] == [0.2, 0.3, 0.1, 0.3]
    assert [cell.player.horizon for cell in cells] == [1_000, 1_000, 500, 500]
    assert cells[1].player.estimator.moments == CentralMoment(3, 50, (-1, 100))


def test_an_arm_may_have_outliers_of_its_own():
    text = f"""{HEAD}
[[panels]]
[panels.instance]
arms = [
    {{law = "bernoulli", p = 0.5, alpha = 0.2, contaminant = {{law = "point", at = "nan"}}}},
    {{law = "gaussian", mean = 0.1, sd = 2}},
]
[[policies]]
name = "oracle"
"""
    (cell,) = parse(text, "s.toml").cells
    assert cell.instance.arms == (
        Huber(Bernoulli(0.5), 0.2, Point("nan")),
        Gaussian(mean=0.1, sd=2.0),
    )


def test_panels_may_choose_policies_and_arms_of_their_own():
    text = f"""{HEAD}
[[panels]]
policies = ["worst", "oracle"]
[panels.instance]
goal = "min"
alpha = 0.25
contaminant = {{law = "point", at = -9.0}}
arms = [{{law = "bernoulli", p = 0.5}}, {{law = "gaussian", mean = 0.1, sd = 2}}]
{PANEL}
{POLICY}
[[policies]]
name = "oracle"
[[policies]]
label = "worst"
name = "uniform"
"""
    study = parse(text, "s.toml")
    assert [cell.policy for cell in study.cells] == [
        *("oracle", "worst"),  # in the order of the study
        *("uniform", "oracle", "worst"),
    ]
    first = study.cells[0]
    assert first.instance.means.tolist() == [0.5, 0.1]
    assert [arm.alpha for arm in first.instance.arms] == [0.25, 0.25]
    assert (first.player.goal, first.player.best) == ("min", 1)


def test_a_quick_study_is_the_same_with_fewer_replications():
    study = study_of()
    assert study.quick().replications == 3
    assert study.repeated(2).quick().replications == 2
    assert study.quick().digest != study.digest == study.repeated(4).digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seed = 7", "seed = 8"),
        ("replications = 4", "replications = 5"),
        ("checkpoints = 5", "checkpoints = 6"),
        ("horizon = 3_000", "horizon = 3_001"),
        ('label = "one"', 'label = "eins"'),
        ("p = 0.8", "p = 0.80000000000001"),
        ("alpha = 0.05", "alpha = 0.06"),
        ("10_005", "10_006"),
        ('name = "oracle"', 'name = "oracle"\nlabel = "best"'),
        ("A short one", "Another"),
    ],
)
def test_the_digest_knows_every_change(old, new):
    assert study_of(**{old: new}).digest != study_of().digest


def test_the_digest_knows_no_comments_and_no_layout():
    text = SHORT.replace("seed = 7", "seed =   7  # lucky").replace("3_000", "3000")
    assert study_of(text + "\n\n# the end\n").digest == study_of().digest


def test_reading_a_file(tmp_path):
    path = tmp_path / "study.toml"
    path.write_bytes(b"\xef\xbb\xbf" + SHORT.replace("\n", "\r\n").encode())  # as on Windows
    study = read(path)
    assert study.digest == study_of().digest
    assert study.name == str(path)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InvalidStudy, match=r"none\.toml: No such file"):
        read(tmp_path / "none.toml")
    with pytest.raises(InvalidStudy, match="Is a directory"):
        read(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"title = '\xe9'")
    with pytest.raises(InvalidStudy, match=r"latin\.toml: not UTF-8, at byte 9"):
        read(tmp_path / "latin.toml")


# What a study is not.

MISTAKES = {
    "": "s.toml:1: seed: must be given",
    "seed = 1": "s.toml:1: replications: must be given",
    "sede = 1": "s.toml:1: sede = 1: unknown key; did you mean 'seed'?",
    HEAD: "s.toml:1: policies: must be given",
    HEAD + POLICY: "s.toml:1: panels: must be given",
    HEAD + PANEL + POLICY + "nam = 1": "s.toml:8: policies[0].nam = 1: unknown key; did you mean "
    "'name'?",
    HEAD + PANEL + POLICY.replace("form", "from"): "s.toml:7: policies[0].name = 'unifrom': must be"
    " one of ",
    HEAD + PANEL + "[[policies]]": "s.toml:6: policies[0].name: must be given",
    HEAD + PANEL + POLICY + POLICY: "s.toml:8: policies[1].label: there is another 'uniform'; give "
    "each a label of its own",
    HEAD + PANEL + PANEL + POLICY: "s.toml:6: panels[1].label: there is another "
    "'paper-pareto-0.05'; give each a label of its own",
    HEAD + PANEL + 'label = "a\\nb"\n' + POLICY: "s.toml:6: panels[0].label = 'a\\nb': must be "
    "text, on one line",
    HEAD + "[[panels]]\n" + POLICY: "s.toml:4: panels[0].instance: must be given",
    HEAD + PANEL.replace("pareto", "paretto") + POLICY: "s.toml:5: panels[0].instance.family = "
    "'paretto': must be one of",
    HEAD + PANEL.replace("family", "famly") + POLICY: "s.toml:5: panels[0].instance.famly = "
    "'pareto': unknown key; did you mean 'family'?",
    HEAD + "epsilon = 1\n" + PANEL + POLICY: "s.toml:4: epsilon = 1: no policy takes it from here",
    HEAD.replace("1_000", "0") + PANEL + POLICY: "s.toml:3: horizon = 0: must be an integer, >= 1",
    HEAD.replace("1_000", "1e300") + PANEL + POLICY: "s.toml:3: horizon = 1e+300: must be at most",
    HEAD.replace("horizon = 1_000", "") + PANEL + POLICY: "s.toml:1: horizon: must be given",
    HEAD + "checkpoints = [1, 1001]\n" + PANEL + POLICY: "s.toml:4: checkpoints = [1, 1001]: must "
    "be rounds (integers) from 1 to the horizon, 1000",
    HEAD + "checkpoints = 10_000_000_000\n" + PANEL + POLICY: "s.toml:4: checkpoints = 10000000000:"
    " must be at most 100000",
    HEAD + PANEL + 'policies = ["unifrom"]\n' + POLICY: "s.toml:6: panels[0].policies = "
    "['unifrom']: no policy 'unifrom'; did you mean 'uniform'?",
    HEAD + PANEL + "policies = []\n" + POLICY: "s.toml:6: panels[0].policies = []: must be a list "
    "of labels, at least one",
    HEAD + PANEL + POLICY + "horizon = 3": "s.toml:8: policies[0].horizon = 3: unknown key",
    HEAD + PANEL + POLICY + "[grid]\nalpha = [1]": "s.toml:9: grid.alpha = [1]: unknown key",
    HEAD + PANEL + POLICY + "[grid]\nhorizon = 5": "s.toml:9: grid.horizon = 5: must be a list of "
    "at least one value",
    HEAD + PANEL + POLICY + "[grid]\nhorizon = [5, 0]": "s.toml:9: grid.horizon[1] = 0: must be an "
    "integer, >= 1",
    HEAD + PANEL + POLICY + "[grid]\ninstance.p = [0.5]": "s.toml:9: grid.instance.p[0] = 0.5: not "
    "an option of the instance",
    HEAD + PANEL + 'horizon = 7\n' + POLICY + "[grid]\nhorizon = [5]": "s.toml:6: "
    "panels[0].horizon = 7: the grid varies it",
    HEAD + PANEL + "sweep = 3\n" + POLICY: "s.toml:6: panels[0].sweep = 3: must be a table",
    HEAD + PANEL + "sweep = {}\n" + POLICY: "s.toml:6: panels[0].sweep: must be a table of one key",
    HEAD + PANEL + "sweep = {epsilon = [1, 2, 3], instance.alpha = [0.1, 0.2, 0.3]}\n" + POLICY:
    "s.toml:6: panels[0].sweep: must be a table of one key",
    HEAD + PANEL + "sweep = {horizon = [5, 6]}\n" + POLICY: "s.toml:6: panels[0].sweep.horizon = "
    "[5, 6]: must be a list of at least 3 numbers",
    HEAD + PANEL + 'sweep = {profile = ["unit", "proof", "unit"]}\n' + POLICY: "s.toml:6: "
    "panels[0].sweep.profile = ['unit', 'proof', 'unit']: must be a list of at least 3 numbers",
    HEAD + PANEL + "sweep = {instance.alpha = [0.0, 0.1, 0.2]}\n" + POLICY: "s.toml:6: "
    "panels[0].sweep.instance.alpha = [0.0, 0.1, 0.2]: must be a list of at least 3 numbers",
    HEAD + PANEL + "[panels.sweep]\nhorizon = [5, 7, 6]\n" + POLICY: "s.toml:7: "
    "panels[0].sweep.horizon[2] = 6: must be above the one before, 7",
    HEAD + PANEL + "sweep = {horizn = [5, 6, 7]}\n" + POLICY: "s.toml:6: panels[0].sweep.horizn = "
    "[5, 6, 7]: unknown key; did you mean 'horizon'?",
    HEAD + PANEL + "sweep = {instance.p = [0.1, 0.2, 0.3]}\n" + POLICY: "s.toml:6: "
    "panels[0].sweep.instance.p[0] = 0.1: not an option of the instance",
    HEAD + PANEL + "sweep = {epsilon = [1, 2, 3]}\n" + POLICY: "s.toml:6: "
    "panels[0].sweep.epsilon[0] = 1: no policy takes it from here",
    HEAD + PANEL + "horizon = 7\nsweep = {horizon = [5, 6, 7]}\n" + POLICY: "s.toml:6: "
    "panels[0].horizon = 7: the sweep varies it",
    HEAD + PANEL + "sweep = {horizon = [5, 6, 7]}\n" + POLICY + "[grid]\nhorizon = [8]":
    "s.toml:6: panels[0].sweep.horizon[0] = 5: the grid varies it",
    HEAD + 2 * (PANEL + "sweep = {horizon = [5, 6, 7]}\n") + POLICY: "s.toml:7: panels[1].label: "
    "there is another 'paper-pareto-0.05, horizon = 5'",
    HEAD + PANEL + '[[policies]]\nname = "ucb1"\n': "s.toml:6: policies[0].moments: must be given",
    HEAD + PANEL + '[[policies]]\nname = "ucb1"\nmoments = {kind = "raw", k = 1, bound = 2}':
    "s.toml:8: policies[0].moments.k = 1: must be a finite number, > 1",
    HEAD + PANEL + '[[policies]]\nname = "ucb1"\nmoments = {kind = "raw", k = 2, bund = 2}':
    "s.toml:8: policies[0].moments.bund = 2: unknown key; did you mean 'bound'?",
    HEAD + PANEL + '[[policies]]\nname = "ucb1"\nmoments = "raw"': "s.toml:8: policies[0].moments "
    "= 'raw': must be a table of",
    HEAD + '[[panels]]\ninstance = {arms = [{law = "bernoulli", p = 2}]}\n' + POLICY: "s.toml:5: "
    "panels[0].instance.arms[0].p = 2: must be a finite number, >= 0, <= 1",
    HEAD + '[[panels]]\ninstance = {arms = [{law = "bernouli", p = 1}]}\n' + POLICY: "s.toml:5: "
    "panels[0].instance.arms[0].law = 'bernouli': must be one of",
    HEAD + '[[panels]]\ninstance = {alpha = 0.1, arms = [{law = "bernoulli", p = 1}]}\n' + POLICY:
    "s.toml:5: panels[0].instance.alpha = 0.1: needs a contaminant",
    HEAD + '[[panels]]\ninstance = {arms = [{law = "bernoulli", p = 1, alpha = 2, contaminant = '
    '{law = "point", at = 1}}]}\n' + POLICY: "s.toml:5: panels[0].instance.arms[0].alpha = 2: must",
    HEAD + '[[panels]]\ninstance = {arms = [{law = "bernoulli", p = 1, contaminant = {law = '
    '"point", at = 1}}]}\n' + POLICY: "s.toml:5: panels[0].instance.arms[0].alpha: must be given",
    HEAD + '[[panels]]\ninstance = {arms = [{law = "bernoulli", p = 1, alpha = 0.1}]}\n' + POLICY:
    "s.toml:5: panels[0].instance.arms[0].contaminant",
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), MISTAKES.items(), ids=range(len(MISTAKES)))
def test_mistakes(text, message):
    assert refusal(text).startswith(message)


def test_one_label_cannot_be_that_of_two_points_of_a_grid():
    text = HEAD + PANEL + POLICY + "[grid]\nhorizon = [5, 5]"
    assert re.match(r"s\.toml:4: panels\[0\]\.label: there is another", refusal(text))


# Nonsense of every kind, in every place: whatever it is, the answer is a study or a place.

JUNK = (
    *(0, -1, 1.5, math.nan, math.inf, 1e300, 2**70, 10**400, True, 1e-320),
    *("x", "", " ", "name", "\x1b[31m\n"),
    *([], [[]], [1, "a"], {}, {"a": 1}, [{}], [{"a": 1}], ["a"], datetime.date(2020, 1, 1)),
)
KEYS = ("a.b", "a]", "[0]", "", "x", "epsilonn", "é", "label", "name", "alpha", "goal", "arms")

SOUND = {
    "seed": 1,
    "replications": 2,
    "checkpoints": 5,
    "horizon": 500,
    "profile": "unit",
    "moments": {"kind": "central", "k": 2, "bound": 5, "mean_range": [0, 100]},
    "panels": [
        {
            "label": "a",
            "instance": {"name": "paper", "family": "pareto", "alpha": 0.05},
            "policies": ["u", "c"],
        },
        {
            "instance": {
                "goal": "min",
                "alpha": 0.1,
                "contaminant": {"law": "point", "at": 3.0},
                "arms": [
                    {"law": "student-t", "df": 2.5, "loc": 1.0},
                    {"law": "discrete", "values": [0, 1], "probabilities": [0.5, 0.5]},
                ],
            },
            "contamination": 0.1,
        },
        {
            "label": "h",
            "instance": {"name": "hard", "arms": 3, "k": 2.0},
            "sweep": {"instance": {"widened": [1.0, 1.5, 2]}},
        },
    ],
    "policies": [
        {"label": "u", "name": "ucb1"},
        {"label": "c", "name": "prae-c", "first_phase": "round"},
        {"name": "dprse"},
    ],
    "grid": {"epsilon": [0.5, 1.0]},
}


def quoted(item):
    return json.dumps(item, ensure_ascii=False)


def inline(item):
    """A value as TOML, in one line."""
    if isinstance(item, dict):
        pairs = (f"{quoted(key)} = {inline(part)}" for key, part in item.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(item, list):
        return f"[{', '.join(map(inline, item))}]"
    if isinstance(item, (bool, str)):
        return quoted(item)
    return item.isoformat() if isinstance(item, datetime.date) else repr(item)


def as_toml(data):
    """A study as TOML, a line for each key."""

    def is_tables(item):
        return isinstance(item, list) and item and all(isinstance(one, dict) for one in item)

    def pairs(table):
        return [f"{quoted(key)} = {inline(item)}" for key, item in table.items()]

    lines = pairs({key: item for key, item in data.items() if not is_tables(item)})
    for key, item in data.items():
        for table in item if is_tables(item) else ():
            lines += [f"[[{quoted(key)}]]", *pairs(table)]
    return "\n".join(lines)


def places(item, path=()):
    inside = item.items() if isinstance(item, dict) else enumerate(item)
    for key, part in inside:
        yield (*path, key)
        if isinstance(part, (dict, list)):
            yield from places(part, (*path, key))


def spoiled():
    """The sound study with one thing in it gone, exchanged or added."""
    for path in places(SOUND):
        *way, last = path
        for junk in (None, *JUNK, *(KEYS if isinstance(last, str) else ())):
            data = copy.deepcopy(SOUND)
            around = data
            for key in way:
                around = around[key]
            if junk is None:
                del around[last]
            elif junk in KEYS and junk not in JUNK:
                around.setdefault(junk, 1)
            else:
                around[last] = junk
            yield data


def test_the_sound_study_is_sound():
    assert len(parse(as_toml(SOUND), "s.toml").cells) == 2 * (2 + 3 + 3 * 3)


def test_nonsense_of_every_kind_is_answered_with_its_line_and_key():
    answers = 0
    for data in spoiled():
        text = as_toml(data)
        try:
            assert parse(text, "s.toml").digest
        except InvalidStudy as error:
            message = str(error)
        else:
            continue
        answers += 1
        found = re.match(r"s\.toml:(\d+): ([^\n]*?)(?: = [^\n]*)?: \S", message)
        assert found, message
        assert message.isprintable()
        assert len(message) < 600
        # The line has the key, or else the table that lacks it, or else it is the first.
        line = text.split("\n")[int(found[1]) - 1]
        parts = re.findall(r"[^.\[\]]+", found[2]) or [""]
        assert any(part in line for part in parts) or found[1] == "1", (message, line)
    assert answers > 1_000


def test_a_planted_wrong_line_would_be_seen(monkeypatch):
    monkeypatch.setattr("stoic.experiments.document.Document.line", lambda self, path: 2)
    with pytest.raises(AssertionError):
        test_nonsense_of_every_kind_is_answered_with_its_line_and_key()


def test_settings_are_what_the_study_says():
    cell = study_of().cells[2]
    assert cell.settings == {
        "name": "elimination",
        "horizon": 3_000,
        "contamination": 0.05,
        "moments": {"kind": "raw", "k": 2, "bound": 10_005},
        "instance": {"name": "paper", "family": "pareto", "alpha": 0.05},
    }
    assert (cell.player.horizon, cell.player.estimator.moments) == (3_000, RawMoment(2, 10_005))
