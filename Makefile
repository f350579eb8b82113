# Every target works on a fresh machine with Python 3.11+ and make: what it needs is installed into .venv first.
PYTHON ?= python3
VENV := .venv
WORKERS ?= 3
RUN := $(VENV)/bin
INSTALL := -m pip install -qq --disable-pip-version-check --no-input
PIP := $(RUN)/python $(INSTALL)

# Environments of their own, for the ends of what the LangChain adapters support.
OLD := .venv-langchain-old
CORE_03 := .venv-core-0.3
PYTEST := pytest pytest-asyncio pytest-timeout pytest-xdist hypothesis
OLD_LANGCHAIN := langchain==1.2.18 'langchain-core==1.3.*' 'langgraph==1.1.*' langchain-classic==1.0.7 \
  langchain-openai langchain-tests langmem

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test compat lint bench clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# A model from a provider needs its client; the scripted talk needs nothing but the package.
demo: $(if $(findstring --model,$(ARGS)),$(VENV)/.demo,$(VENV)/.base) ## Run the demo (ARGS="--help" shows its options)
	@$(RUN)/impressmem demo $(ARGS)

# More workers than cores: a test often waits for its servers. A file stays in one worker.
test: lint ## Run the linters, then the tests (PYTEST_ARGS="-k recall", WORKERS=0 for one process)
	$(RUN)/python -m pytest -n $(WORKERS) --dist loadfile $(PYTEST_ARGS)

compat: $(OLD)/.ready $(CORE_03)/.ready ## Run the LangChain tests on the oldest versions supported, and on langchain-core 0.3
	$(OLD)/bin/python -m pytest tests/langchain -n $(WORKERS) --dist loadfile
	PYTHONPATH=. $(CORE_03)/bin/python -m pytest tests/langchain_classic

lint: $(VENV)/.dev ## Check style, formatting, types and import directions
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/python -m mypy
	@# The logo and progress of lint-imports say nothing when all is well.
	@report=$$($(RUN)/lint-imports 2>&1) && echo "$$report" | tail -n 1 || { echo "$$report"; exit 1; }

bench: $(VENV)/.dev ## Measure speed and memory as ratios (ARGS="--help" shows its options)
	@$(RUN)/python -m tests.bench $(ARGS)

clean: ## Remove the environments, caches and build results
	rm -rf $(VENV) $(OLD) $(CORE_03) .bench-venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: each stands for "installed as pyproject.toml says now".
$(addsuffix /.python,$(VENV) $(OLD) $(CORE_03)): %/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "This needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>/dev/null || echo missing)." \
	    "Name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@# An environment of the user's own is taken over as it is; half an environment is made anew.
	@$*/bin/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || $(PYTHON) -m venv --clear $* || { \
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

# The versions stand in this file, so a change of it counts too.
$(OLD)/.ready: pyproject.toml Makefile | $(OLD)/.python
	@echo "Installing the package and the oldest LangChain it supports into $(OLD)"
	@$(OLD)/bin/python $(INSTALL) --editable . $(PYTEST) $(OLD_LANGCHAIN) fastapi httpx nbclient nbformat ipykernel
	@touch $@

$(CORE_03)/.ready: pyproject.toml Makefile | $(CORE_03)/.python
	@echo "Installing the package and LangChain 0.3 into $(CORE_03)"
	@$(CORE_03)/bin/python $(INSTALL) --editable . $(PYTEST) 'langchain>=0.3,<0.4' 'langchain-core>=0.3,<0.4'
	@touch $@
