"""Undocumented means failing: everything public has its place in docs/reference, every mention of
a page leads somewhere, and the numbers of docs/reproduction.md are those of a run.

Each check is a function from texts to what is missing, so that it can be shown to find a gap.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer.main

import stoic
from stoic import experiments, options, privacy
from stoic.cli.app import app
from stoic.environments import FAMILIES, INSTANCES
from stoic.estimators import ESTIMATORS
from stoic.experiments.document import Table
from stoic.policies import POLICIES
from stoic.simulation import Result

ROOT = Path(stoic.__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
SOURCES = sorted((ROOT / "src").rglob("*.py"))

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^()\s]+)\)")
MENTION = re.compile(r"\bdocs/[\w./-]*\w(?:#[\w-]+)?")


def page(name: str) -> str:
    return (DOCS / "reference" / name).read_text(encoding="utf-8")


def without_code(text: str) -> str:
    return FENCE.sub("", text)


# --- Everything public has its place ------------------------------------------------------------


def part(text: str, title: str, level: int) -> str:
    """What stands under a heading, up to the next one of its level or above."""
    hashes = "#" * level
    found = re.search(
        rf"^{hashes} {re.escape(title)}$(.*?)(?=^#{{1,{level}}} |\Z)",
        without_code(text),
        re.MULTILINE | re.DOTALL,
    )
    return found[1] if found else ""


def undocumented(text: str, wanted: Mapping[str, Iterable[str]]) -> list[str]:
    """Names without a section of their own, and options in neither that nor the common ones."""
    common = part(text, "Common options", 2)
    missing = []
    for name, its_options in wanted.items():
        section = part(text, f"`{name}`", 3)
        if not section.strip():
            missing.append(name)
            continue
        told = section + common
        missing += [f"{name}: {one}" for one in its_options if f"`{one}`" not in told]
    return missing


def invented(text: str, known: Iterable[str]) -> list[str]:
    """Sections about what does not exist."""
    titles = re.findall(r"^### `(.+)`$", without_code(text), re.MULTILINE)
    return [title for title in titles if title not in known]


MECHANISMS = {
    name: item.__slots__
    for name in privacy.__all__
    for item in [getattr(privacy, name)]
    if hasattr(item, "folds")
}


def commands(command: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """Every command that does something, with its options."""
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            yield from commands(inner, f"{path} {name}".strip())
        return
    yield path, [one.opts[0] for one in command.params if one.param_type_name == "option"]


KINDS: dict[str, tuple[str, Mapping[str, Iterable[str]]]] = {
    "policies": (
        page("policies.md"),
        {name: options.of(make) for name, make in POLICIES.items()},
    ),
    "estimators": (
        page("estimators.md"),
        {name: options.of(make) for name, make in ESTIMATORS.items()},
    ),
    "instances": (
        part(page("environments.md"), "Instances", 2),
        {name: options.of(make) for name, make in INSTANCES.items()},
    ),
    "laws": (
        part(page("environments.md"), "Laws", 2),
        {name: options.of(make) for name, make in FAMILIES.items()},
    ),
    "mechanisms": (page("mechanisms.md"), MECHANISMS),
    "commands": (page("cli.md"), dict(commands(typer.main.get_command(app)))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_everything_has_its_place_in_the_reference(kind: str) -> None:
    text, wanted = KINDS[kind]
    assert undocumented(text, wanted) == []
    assert invented(text, wanted) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_gap_in_the_reference_is_found(kind: str) -> None:
    text, wanted = KINDS[kind]
    for name, its_options in wanted.items():
        renamed = text.replace(f"### `{name}`\n", "### `something-else`\n")
        assert undocumented(renamed, wanted) == [name]
        assert invented(renamed, wanted) == ["something-else"]
        for option in its_options:
            gone = undocumented(text.replace(f"`{option}`", ""), wanted)
            assert f"{name}: {option}" in gone or name in gone


def test_there_is_something_to_document() -> None:
    assert all(wanted for _, wanted in KINDS.values())
    assert {"TruncatedMean", "ClippedMean", "Histogram", "WindowCounts"} <= MECHANISMS.keys()
    assert "--jobs" in KINDS["commands"][1]["run"]


TOLD = [stoic, stoic.theory, stoic.theory.certified, stoic.planning, stoic.simulation, experiments]


@pytest.mark.parametrize("module", TOLD)
def test_every_public_name_is_told(module: ModuleType) -> None:
    told = part(page("python.md"), f"`{module.__name__}`", 2)
    assert unexplained(told, module.__all__) == []
    for name in module.__all__:
        assert unexplained(re.sub(rf"\b{name}\b", "gone", told), module.__all__) == [name]


# --- Every key of a study -----------------------------------------------------------------------

STUDY = """
seed = 1
replications = 1
horizon = 100
epsilon = 1.0
moments = {kind = "central", k = 2, bound = 5, mean_range = [0, 100]}
[[policies]]
name = "prae-c"
[[policies]]
name = "elimination"
moments = {kind = "raw", k = 2, bound = 5}
[[panels]]
instance = {name = "paper", family = "pareto"}
[[panels]]
[panels.instance]
alpha = 0.1
contaminant = {law = "point", at = "nan"}
arms = [{law = "gaussian", mean = 0, sd = 1}, {law = "gaussian", mean = 1, sd = 1}]
[grid]
delta = [0.1, 0.2]
"""


def allowed_keys(text: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """Whatever the reader of studies allows in this one: table by table."""
    seen: dict[str, set[str]] = {}
    allow = Table.allow

    def spy(self: Table, keys: Iterable[str]) -> None:
        known = tuple(keys)
        seen.setdefault(re.sub(r"\[\d+\]", "", self.path), set()).update(known)
        allow(self, known)

    monkeypatch.setattr(Table, "allow", spy)
    experiments.parse(text, "study.toml")
    return seen


def unexplained(text: str, keys: Iterable[str]) -> list[str]:
    told = {word for span in re.findall(r"`([^`\n]+)`", text) for word in re.findall(r"\w+", span)}
    return sorted(set(keys) - told)


def test_every_key_of_a_study_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = allowed_keys(STUDY, monkeypatch)
    assert {"", "policies", "panels", "grid", "moments", "panels.instance"} <= seen.keys()
    text = without_code(page("studies.md"))
    everywhere = text + without_code(page("environments.md"))
    for table, keys in seen.items():
        assert unexplained(everywhere if "instance" in table else text, keys) == [], table
    titles = {"": "Top level", "policies": "`[[policies]]`", "panels": "`[[panels]]`"}
    shared = part(text, "Options", 2)
    for table, title in titles.items():
        section = part(text, title, 2)
        assert section
        assert unexplained(section + shared, seen[table]) == [], table
        for key in seen[table]:
            assert key in unexplained(re.sub(rf"\b{key}\b", "", section + shared), seen[table])


def test_the_study_in_the_reference_is_one() -> None:
    (written,) = re.findall(r"^```toml\n(.*?)^```$", page("studies.md"), re.MULTILINE | re.DOTALL)
    assert tomllib.loads(written)
    assert len(experiments.parse(written, "studies.md").cells) == 6


# --- Every mention of a page leads somewhere ----------------------------------------------------


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading: links count as their text."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


@functools.cache
def anchors(path: Path) -> set[str]:
    known: set[str] = set()
    for _, heading in HEADING.findall(without_code(path.read_text(encoding="utf-8"))):
        name, count = slug(heading.strip()), 0
        while (name if not count else f"{name}-{count}") in known:
            count += 1
        known.add(name if not count else f"{name}-{count}")
    return known


def leads_somewhere(target: str, folder: Path) -> bool:
    file, _, anchor = target.partition("#")
    path = folder / file
    return path.exists() and (not anchor or (path.is_file() and anchor in anchors(path)))


def dangling_links(text: str, path: Path) -> list[str]:
    """Relative links of a Markdown page to files or headings that do not exist."""
    targets = [one for one in LINK.findall(without_code(text)) if "://" not in one]
    targets = [f"{path.name}{one}" if one.startswith("#") else one for one in targets]
    return [one for one in targets if not leads_somewhere(one, path.parent)]


def dangling_mentions(text: str) -> list[str]:
    """``docs/...`` in a source that does not exist."""
    return [one for one in MENTION.findall(text) if not leads_somewhere(one, ROOT)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    assert dangling_links(path.read_text(encoding="utf-8"), path) == []


def test_every_page_that_the_source_mentions_exists() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCES}
    found = {str(path): dangling_mentions(text) for path, text in texts.items()}
    assert {path: missing for path, missing in found.items() if missing} == {}
    assert sum(len(MENTION.findall(text)) for text in texts.values()) >= 5


def test_a_link_that_leads_nowhere_is_found() -> None:
    here = DOCS / "theory" / "bounds.md"
    good = "[a](privacy.md) [b](proof-profile.md#setting-and-units) [c](#the-lower-bound) [d](../)"
    assert dangling_links(good + " [e](https://example.org/nowhere)", here) == []
    for bad in (
        "nowhere.md",
        "privacy.md#nowhere",
        "../README.md/x",
        "bounds.md#the-lower-bound-1",
    ):
        assert dangling_links(f"{good} [x]({bad})", here) == [bad]
    assert dangling_links("[x](#nowhere)", here) == ["bounds.md#nowhere"]
    assert dangling_mentions("see ``docs/theory/privacy.md#the-ledger``.") == []
    assert dangling_mentions("see ``docs/theory/secrecy.md``.") == ["docs/theory/secrecy.md"]
    assert dangling_mentions("docs/theory/privacy.md#x") == ["docs/theory/privacy.md#x"]


def lost_pages(folder: Path) -> list[str]:
    """Pages in a folder that no chain of links leads to from its README.md."""
    found, following = set[Path](), [folder / "README.md"]
    while following:
        path = following.pop()
        if path in found or path.suffix != ".md":
            continue
        found.add(path)
        for target in LINK.findall(without_code(path.read_text(encoding="utf-8"))):
            if "://" not in target:
                following.append((path.parent / target.partition("#")[0]).resolve())
    return sorted(path.name for path in set(folder.rglob("*.md")) - found)


def test_every_page_can_be_found_from_the_index() -> None:
    assert lost_pages(DOCS) == []


def test_a_page_that_nothing_leads_to_is_found(tmp_path: Path) -> None:
    pages = {
        "README.md": "[a](a.md)",
        "a.md": "[b](b.md#x) [a](a.md)",
        "b.md": "",
        "c.md": "`b.md`",
    }
    for name, text in pages.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert lost_pages(tmp_path.resolve()) == ["c.md"]


# --- The numbers of the reproduction ------------------------------------------------------------

CELL = re.compile(r"([\d.]+) ± ([\d.]+)")


def study_of(name: str) -> experiments.Study:
    """The paper's experiment with the constants of a profile, and the policies of the paper."""
    text = (ROOT / "paper" / "figure1.toml").read_text(encoding="utf-8")
    top, _, rest = text.partition("[[policies]]")
    _, panel, rest = rest.partition("[[panels]]")
    labels = ("PRAE-R", "PRAE-C", "DPRSE")
    policies = [f'[[policies]]\nlabel = "{one}"\nname = "{one.lower()}"\n\n' for one in labels]
    top = top.replace('profile = "unit"', f'profile = "{name}"')
    return experiments.parse(top + "".join(policies) + panel + rest, f"{name}.toml")


@pytest.fixture(scope="module", params=["unit", "proof"])
def profile(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dict[tuple[str, str], Result]]:
    """A profile, and what its study gives."""
    outcome = experiments.run(study_of(request.param), tmp_path_factory.mktemp("figure1"))
    results = {
        (cell.panel, cell.policy): cell.result for cell in outcome.cells if cell.result is not None
    }
    return request.param, results


def wrong_numbers(table: str, results: Mapping[tuple[str, str], Result]) -> list[str]:
    """Cells of a table, in thousands, that are not what was found, up to their rounding."""
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in table.splitlines()
        if line.startswith("|")
    ]
    columns = rows[0][1:]
    told = {
        (row[0], policy): cell
        for row in rows[2:]
        for policy, cell in zip(columns, row[1:], strict=True)
    }
    wrong = [f"{panel}, {policy}" for panel, policy in results.keys() ^ told.keys()]
    for key in results.keys() & told.keys():
        found = CELL.fullmatch(told[key])
        pairs = zip(
            found.groups() if found else ("nan", "nan"),
            (results[key].mean, results[key].standard_error),
            strict=True,
        )
        for number, truth in pairs:
            unit = 10.0 ** -len(number.partition(".")[2])
            if not abs(float(number) - truth / 1000) <= 0.51 * unit + 0.002 * truth / 1000:
                wrong.append(f"{key[0]}, {key[1]}: {told[key]}")
                break
    return wrong


def test_the_numbers_of_the_reproduction_are_those_of_a_run(
    profile: tuple[str, dict[tuple[str, str], Result]],
) -> None:
    name, results = profile
    table = part((DOCS / "reproduction.md").read_text(encoding="utf-8"), f"Profile `{name}`", 3)
    assert len(results) == 18
    assert wrong_numbers(table, results) == []
    for key, cell in CELL.findall(table)[:3]:
        planted = table.replace(f"{key} ± {cell}", f"{float(key) * 1.03:.1f} ± {cell}")
        assert wrong_numbers(planted, results) != []
