# Everything happens in .venv; `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLDEST := .venv-oldest
# For each reader of files: at random, and led by what its code does.
SOAK_INPUTS ?= 1000000
SOAK_SECONDS ?= 5
# Each worker takes neighbouring tests, which share fixtures and compiled loops, and helps the other
# one in the end. The many short processes of the tests share Python's compiled files.
PYTEST := bin/python -m pytest -n 2 --dist worksteal
test test-one test-slow test-recipes test-days test-all soak test-oldest test-portable: export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help run reproduce test test-one test-slow test-recipes test-days test-all soak test-oldest test-portable canary mutants generated lint format bench docs test-site release build clean check-machine

help: ## List the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-17s %s\n", $$1, $$2}'

run: $(VENV)/.installed-run ## Install what it needs, run the quickstart experiment and print its table
	@echo "make: running the quickstart experiment; its loops are compiled on the way, once" >&2
	$(BIN)/kmaps run quickstart

reproduce: $(VENV)/.installed ## Run every experiment, resuming: hours (PRESET=small: minutes)
	$(BIN)/kmaps download --all
	$(BIN)/kmaps run --all $(if $(PRESET),--preset $(PRESET))

test: $(VENV)/.installed ## Run the tests (KMAPS_MIRROR=DIR also runs those on the real datasets)
	$(VENV)/$(PYTEST)

test-one: $(VENV)/.installed ## Run the tests of one package: make test-one PACKAGE=maps
	$(VENV)/$(PYTEST) -q tests/$(PACKAGE) $(wildcard kmaps/$(PACKAGE))

test-slow: $(VENV)/.installed ## Run the tests that `make test` leaves out: those that take long
	$(VENV)/$(PYTEST) -m 'slow and not network and not site'

test-recipes: $(VENV)/.installed ## Follow all recipes of CONTRIBUTING in a copy, and run make test's tests there
	$(BIN)/python -m pytest -q -m soak tests/test_recipes.py

test-days: $(VENV)/.installed ## Type the working days of users as commands, and print what was seen
	$(BIN)/python -m pytest -m soak -v -rP tests/days

test-all: $(VENV)/.installed ## Run make test's tests and the slow ones
	$(VENV)/$(PYTEST) -m 'not soak and not network and not site'

soak: $(VENV)/.installed-fuzz ## Half an hour of faults, hostile files and load, and what was tried
	KMAPS_SOAK_INPUTS=$(SOAK_INPUTS) KMAPS_SOAK_SECONDS=$(SOAK_SECONDS) \
		$(VENV)/$(PYTEST) -m 'soak or not slow' tests/hostile tests/faults
	$(BIN)/python -m pytest -m soak tests/load tests/svm

test-oldest: $(OLDEST)/.installed ## Run the tests with the oldest versions of the dependencies
	$(OLDEST)/$(PYTEST)

test-portable: $(VENV)/.installed ## Run tests as if on a system that is not Linux (simulated)
	$(BIN)/python -m tests.portable

canary: $(VENV)/.installed ## Measure a few cells of each published run again, and compare them
	$(BIN)/kmaps download --all --quiet
	$(BIN)/python -m tests.canary $(if $(THIRD),--third)

mutants: $(VENV)/.installed ## Change the code in 600 places, one at a time: a test must fail (an hour; resumes)
	$(BIN)/pip install --quiet cosmic-ray==8.7.0
	$(BIN)/kmaps warmup
	$(BIN)/python -m tests.mutants

generated: $(VENV)/.installed ## Write the files that are generated from others: schema, pages of results
	$(BIN)/python tools/generate.py

lint: $(VENV)/.installed ## Check format, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/codespell
	$(BIN)/python tools/check_documents.py
	$(BIN)/python tools/check_docstrings.py
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.gitlab-ci .gitlab-ci.yml

format: $(VENV)/.installed ## Fix format and what style can be fixed by itself
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.installed ## Measure speed, as ratios to other libraries (RECORD=yes keeps headlines)
	$(BIN)/python -m benchmarks $(if $(RECORD),--record)

docs: $(VENV)/.installed-docs ## Build the documentation site into docs/_build/html
	$(BIN)/python -m sphinx -q -W --keep-going -d docs/_build/doctrees docs docs/_build/html

test-site: docs ## Build the site and walk it in Chromium (Debian: apt-get install chromium)
	$(BIN)/python -m pytest -q -m site tests/site

release: $(VENV)/.installed ## Build the distributions, test them installed, and tag the version
	packaging/release

build: clean $(VENV)/.installed ## Build the wheel and the source distribution into dist/
	$(BIN)/pip install --quiet build
	$(BIN)/python -m build

clean: ## Delete build products (a stale build/ would ship deleted modules)
	rm -rf build dist *.egg-info

$(VENV)/.installed-run: pyproject.toml | check-machine
	@echo "make: making an environment in $(VENV)" >&2
	$(PYTHON) -m venv $(VENV)
	@echo "make: installing kmaps with LIBLINEAR and LIBSVM, which the C++ compiler builds" >&2
	$(BIN)/pip install --editable '.[solvers]' >&2
	@touch $@

$(VENV)/.installed: $(VENV)/.installed-run
	@echo "make: installing what tests and checks need besides" >&2
	$(BIN)/pip install --editable '.[dev]' >&2
	@touch $@

# Where there is no atheris for this Python, the targets that need it are left out.
$(VENV)/.installed-fuzz: $(VENV)/.installed
	$(BIN)/pip install --editable '.[dev,fuzz]' >&2 || echo "make: no atheris: the fuzz targets are left out" >&2
	@touch $@

$(VENV)/.installed-docs: docs/package.json $(VENV)/.installed
	@command -v npm >/dev/null || { echo "make: npm not found: the site's scripts come from npm packages; install it (Debian: apt-get install npm)" >&2; exit 2; }
	$(BIN)/pip install --editable '.[dev,docs]' >&2
	cd docs && npm install --no-save --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error >&2
	@touch $@

$(OLDEST)/.installed: pyproject.toml constraints-oldest.txt | check-machine
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/pip install --constraint constraints-oldest.txt --editable '.[dev]' >&2
	@touch $@

check-machine:
	@command -v $(PYTHON) >/dev/null || { echo "make: '$(PYTHON)' not found: install Python 3.11 to 3.15, or name it: make PYTHON=/path/to/python3 run" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 16))' || { echo "make: $$($(PYTHON) --version) cannot run kmaps, which needs Python 3.11 to 3.15; name one: make PYTHON=python3.12 run" >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "make: this Python has no venv module: install it (Debian: apt-get install python3-venv)" >&2; exit 2; }
	@command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || { echo "make: no C++ compiler found (c++, g++ or clang++): LIBLINEAR and LIBSVM are compiled on installation; install one (Debian: apt-get install g++)" >&2; exit 2; }
