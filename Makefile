# Every target works on a fresh machine with Python 3.11+ and make: what it needs is installed into .venv first.
PYTHON ?= python3
VENV := .venv
WORKERS ?= 3
RUN := $(VENV)/bin
PIP := $(RUN)/python -m pip install -qq --disable-pip-version-check --no-input

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint bench clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# A model from a provider needs its client; the scripted talk needs nothing but the package.
demo: $(if $(findstring --model,$(ARGS)),$(VENV)/.demo,$(VENV)/.base) ## Run the demo (ARGS="--help" shows its options)
	@$(RUN)/impressmem demo $(ARGS)

# More workers than cores: a test often waits for its servers. A file stays in one worker.
test: lint ## Run the linters, then the tests (PYTEST_ARGS="-k recall", WORKERS=0 for one process)
	$(RUN)/python -m pytest -n $(WORKERS) --dist loadfile $(PYTEST_ARGS)

lint: $(VENV)/.dev ## Check style, formatting, types and import directions
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/python -m mypy
	@# The logo and progress of lint-imports say nothing when all is well.
	@report=$$($(RUN)/lint-imports 2>&1) && echo "$$report" | tail -n 1 || { echo "$$report"; exit 1; }

bench: $(VENV)/.dev ## Measure against the numbers that docs/design.md names
	@$(RUN)/python -m tests.bench $(ARGS)

clean: ## Remove .venv, caches and build results
	rm -rf $(VENV) .bench-venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: each stands for "installed as pyproject.toml says now".
$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "This needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>/dev/null || echo missing)." \
	    "Name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) || { \
	  echo "'$(PYTHON) -m venv' failed; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@touch $@

$(VENV)/.base: pyproject.toml | $(VENV)/.python
	@echo "Installing the package into $(VENV)"
	@$(PIP) --editable .
	@touch $@

$(VENV)/.demo: pyproject.toml | $(VENV)/.python
	@echo "Installing the package and the demo's model clients into $(VENV)"
	@$(PIP) --editable '.[demo]'
	@touch $(VENV)/.base $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.python
	@echo "Installing the package and the development tools into $(VENV) (the first time takes a minute or two)"
	@$(PIP) --editable '.[dev]'
	@touch $(VENV)/.base $@
