"""The import contracts of pyproject.toml hold, and each of them rejects planted violations."""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "pyproject.toml"
LINT_IMPORTS = Path(sysconfig.get_path("scripts")) / "lint-imports"

ONE_WAY = "Imports go one way"
NO_ROOT = "Nobody imports the root"
NO_REAL = "Nobody chooses real noise"
NO_SIMULATED = "Only simulations choose simulated noise"

PLANTS = [
    (ONE_WAY, "errors.py", "import stoic.core"),
    (ONE_WAY, "core/__init__.py", "from stoic.privacy.ledger import Ledger"),
    (ONE_WAY, "privacy/noise.py", "from stoic import theory"),
    (ONE_WAY, "theory/__init__.py", "import stoic.estimators"),
    (ONE_WAY, "estimators/__init__.py", "import stoic.policies"),
    (ONE_WAY, "estimators/__init__.py", "import stoic.environments"),
    (ONE_WAY, "environments/__init__.py", "import stoic.estimators"),
    (ONE_WAY, "policies/__init__.py", "def late():\n    import stoic.agent"),
    (ONE_WAY, "agent/__init__.py", "import stoic.simulation"),
    (ONE_WAY, "stray.py", "a_module_without_a_layer = True"),
    (NO_ROOT, "experiments/__init__.py", "from stoic import PrivacyBudget"),
    (NO_REAL, "agent/__init__.py", "from stoic.privacy.secure import SecureNoise"),
    (NO_REAL, "privacy/__init__.py", "from stoic.privacy import secure"),
    (NO_SIMULATED, "agent/__init__.py", "from stoic.privacy.simulated import SimulatedNoise"),
    (NO_REAL, "live/sessions.py", "from stoic.privacy.secure import SecureNoise"),
    (NO_SIMULATED, "live/sessions.py", "def late():\n    import stoic.privacy.simulated"),
    (ONE_WAY, "live/__init__.py", "import stoic.simulation"),
    (ONE_WAY, "live/store.py", "def late():\n    import stoic.experiments"),
    (ONE_WAY, "simulation/engine.py", "import stoic.live"),
    (NO_SIMULATED, "privacy/audit.py", "def late():\n    import stoic.privacy.simulated"),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the package in which imports may be planted."""
    ignore = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(ROOT / "src" / "stoic", tmp_path / "stoic", ignore=ignore))


def verdicts(tree: Path) -> dict[str, str]:
    """What import-linter says of each contract about the package in ``tree``."""
    run = subprocess.run(
        [LINT_IMPORTS, "--config", CONFIG, "--no-cache", "--no-logo"],
        cwd=tree.parent,  # comes before the installed package on the linter's path
        capture_output=True,
        text=True,
        check=False,
    )
    found = dict(re.findall(r"^(.+?) (KEPT|BROKEN)\b", run.stdout, re.MULTILINE))
    assert found.keys() == names(), run.stdout + run.stderr
    assert run.returncode == ("BROKEN" in found.values())
    return found


def names() -> set[str]:
    config = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    return {contract["name"] for contract in config["tool"]["importlinter"]["contracts"]}


def test_the_package_keeps_every_contract(tree: Path) -> None:
    assert verdicts(tree) == dict.fromkeys(names(), "KEPT")


@pytest.mark.parametrize(("contract", "file", "statement"), PLANTS)
def test_a_planted_import_breaks_its_contract(
    tree: Path, contract: str, file: str, statement: str
) -> None:
    with (tree / file).open("a", encoding="utf-8") as module:
        module.write(f"\n{statement}\n")
    assert verdicts(tree) == {**dict.fromkeys(names(), "KEPT"), contract: "BROKEN"}


def test_every_contract_has_a_planted_violation() -> None:
    assert {contract for contract, _, _ in PLANTS} == names()
