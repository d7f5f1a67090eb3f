# Everything a fresh clone needs is Python 3.11 or newer, and make.
#
#   make test PYTHON=python3.12    picks the interpreter

PYTHON ?= python3
UV ?= uv

COMPILE = $(UV) pip compile pyproject.toml --quiet --universal --python-version 3.11 \
	--fork-strategy fewest --generate-hashes --custom-compile-command "make requirements"

VENV := .venv
BIN := $(VENV)/bin
QUICK := not slow and not statistical and not privacy and not live

# The stamps name the Python version, so that another PYTHON builds another environment.
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
CREATED := $(VENV)/created-$(VERSION)
INSTALLED := $(VENV)/test-$(VERSION)
INSTALLED_LAB := $(VENV)/figure-$(VERSION)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help test figure check lint requirements clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-14s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: $(INSTALLED) ## every test, and every example in README, docs and docstrings
	$(BIN)/pytest -n auto

figure: $(firstword $(wildcard $(INSTALLED)) $(INSTALLED_LAB)) ## the paper's figure and its report, in results/figure1
	$(BIN)/stoic run paper/figure1.toml --out results/figure1
	$(BIN)/stoic report results/figure1

check: lint ## the two-minute run: lint, and all but the slow tests
	$(BIN)/pytest -n auto -m "$(QUICK)"

lint: $(INSTALLED) ## ruff, mypy and the import contracts
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

requirements: ## pin requirements/*.txt anew from pyproject.toml (needs uv; UPGRADE=1 takes newer)
	@command -v $(UV) >/dev/null || { echo "This needs uv: pip install uv, or UV=path/to/uv"; exit 1; }
	$(COMPILE) --all-extras --group test --output-file requirements/test.txt \
		$(if $(UPGRADE),--upgrade)
	$(COMPILE) --extra lab --group build --output-file requirements/figure.txt \
		--no-annotate --constraint requirements/test.txt $(if $(UPGRADE),--upgrade)

clean: ## remove all that can be made again, the environment included
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# Hashes are checked for all that is downloaded. The project itself has no hash, so it comes in a
# second step that downloads nothing: its build backend is among the pinned requirements.
$(VENV)/%-$(VERSION): requirements/%.txt pyproject.toml $(CREATED)
	@echo "Installing the pinned requirements into $(VENV); this may take some minutes."
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r $<
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(CREATED):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Stoic needs Python 3.11 or newer, and $(PYTHON) is $(or $(VERSION),not there):" \
			"try make PYTHON=python3.12"; exit 1; }
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	@touch $@
