# A fresh machine needs Python 3.11 or newer, git and make; the rest is set up
# here, once, in .venv and .venvs. Choose the interpreter with PYTHON=, take all
# interpreters and the heavy libraries with FULL=1 (CI=true means that, too),
# no libraries at all with LIBS=0, give pytest its own options with ARGS=.

.DEFAULT_GOAL := help
.PHONY: help setup dev test check bench demo clean

BIN := .venv/bin
ARGS ?=
# Two workers more than cores, since tests also wait; loadgroup keeps those that share a thing
# together.
JOBS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1) + 2)))
SETUP = python=$$(PYTHON='$(PYTHON)' sh scripts/find-python) && \
    LIBS='$(LIBS)' FULL='$(FULL)' ACCEPTANCE='$(ACCEPTANCE)' "$$python" scripts/setup.py

help: ## what can be made (this list)
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

test: setup check ## set-up, the checks, the suite; FULL=1 for all of it
	@ZEROIN_TEST_FULL='$(FULL)' ZEROIN_TEST_ACCEPTANCE='$(ACCEPTANCE)' \
	    $(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --durations=10 $(ARGS)

check: dev ## lint, formatting, types, which room may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

setup: ## what the tests need: Debian packages, .venv, libraries
	@$(SETUP) packages dev libs

dev:
	@$(SETUP) dev

bench: dev ## the measurements, as ratios within one run
	@$(BIN)/python -m bench $(ARGS)

demo: ## a short debugging story, in an environment of its own
	@$(SETUP) demo
	@PATH="$(CURDIR)/.venvs/demo/bin:$$PATH" sh demo/run.sh

clean: ## remove the environments and all that was made
	rm -rf .venv .venvs build dist .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
