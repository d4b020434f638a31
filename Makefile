# make run     set up and search a position          make bench   compare with other systems, into docs/results
# make test    set up and run all tests              make lint    style, types, and which package may import which
# make soak    tests marked in_soak, and an hour of random calls with faults (SOAK_MINUTES=5 for less)
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal --durations=20 --durations-min=1
SOAK_MINUTES ?= 60

.PHONY: run test soak bench lint clean

run: $(VENV)/.run
	@$(BIN)/anabranch demo

# Twice where the same code runs plain and compiled: first in plain Python, then compiled.
# Workers above 1.2 GB compile in children: Numba keeps some ten megabytes of a kernel, and the tests have many. Not earlier, since
# a process that has compiled a search of a game compiles the next one of it in a third of the time.
test: export ANABRANCH_FORK_ABOVE = 1200000000
test: $(VENV)/.test
	NUMBA_DISABLE_JIT=1 ANABRANCH_RULE_GAMES=5 $(PYTEST) tests/search tests/games
	$(PYTEST)

soak: $(VENV)/.test
	$(BIN)/python -m tests.soak.hour --minutes $(SOAK_MINUTES)

bench: $(VENV)/.test
	$(BIN)/python benchmarks/all.py

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade pip -c constraints.txt

$(VENV)/.run: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Setting up $(VENV) (once) ..."
	@$(BIN)/python -m pip install --quiet -e . -c constraints.txt
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Setting up $(VENV) for tests (once) ..."
	@$(BIN)/python -m pip install --quiet -e ".[test]" -c constraints.txt
	@touch $@

$(VENV)/.lint: pyproject.toml constraints.txt | $(BIN)/python
	@$(BIN)/python -m pip install --quiet -e ".[test,lint]" -c constraints.txt
	@touch $@
