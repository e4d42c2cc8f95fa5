# Two commands do everything, set-up included:  make demo  and  make check
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
PEER   := $(VENV)/.peer

.DEFAULT_GOAL := help
.PHONY: help setup demo check fix test soak peers bench picture clean

help:  ## show this
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml ibstatus/__init__.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Error: Python 3.11 or newer is needed. Hint: make PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

setup: $(STAMP)  ## make .venv with ib and everything it needs

demo: setup  ## run the main job in a throw-away repository and show it
	@$(BIN)/ib demo

check: setup  ## format, lint, types, import contract, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest

fix: setup  ## format and mend what can be mended by a tool
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: setup  ## the tests alone
	$(BIN)/python -m pytest

MINUTES ?= 10
soak: setup  ## random examples, every step of each kill, storms: MINUTES=10, SEED=… to repeat
	@$(BIN)/python -m tests.soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

$(PEER): $(STAMP)
	@echo "fetching the real Claude Code client …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,peer]'
	@touch $@

peers: $(PEER)  ## the tests with the real Claude Code client; its model is a script on loopback
	@$(BIN)/python -m tests.peers.client
	$(BIN)/python -m pytest -m peer tests/peers

bench: setup  ## every number of docs/measured.md, measured now
	$(BIN)/python -m bench

picture: setup  ## draw the picture of the README from a real demo run
	$(BIN)/python docs/picture.py

clean:  ## remove what was made here
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
