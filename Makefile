# eastwest: two commands on a fresh machine (Python 3.11 or newer, and make):
#   make demo     plans examples/project-x.yaml and writes the report to demo-out/
#   make test     sets up the development environment and runs the whole suite
#
# PYTHON=python3.12    the interpreter that makes .venv (default python3)
# WHEELHOUSE=FOLDER    install from the wheels in FOLDER and touch no network; ./wheelhouse is used when it exists
# ARGS="-k fabric"     more arguments for pytest (make test, make quick)
# TABLES=FOLDER        tables of measurements for make constants

PYTHON ?= python3
WHEELHOUSE ?= $(wildcard wheelhouse)
ARGS ?=
TABLES ?= ../shared/data/validation
TEST_WORKERS := 2

# Relative paths only, so that a project folder with a space in its name works.
VENV := .venv
BIN := $(VENV)/bin
INSTALL := "$(PYTHON)" tools/install.py --wheelhouse "$(WHEELHOUSE)"

.DEFAULT_GOAL := help
.PHONY: help python runtime dev demo test quick check docs constants bench format lock wheelhouse clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*##\( .*\)/  make \1\t\2/p' Makefile | expand -t 20

python:
	@command -v "$(PYTHON)" >/dev/null || { echo "error: '$(PYTHON)' is not on PATH; eastwest needs Python 3.11 or newer: make PYTHON=/path/to/python3 ..." >&2; exit 1; }

runtime: python  ## .venv with what eastwest needs to run, at the locked versions
	@$(INSTALL) runtime

dev: python  ## .venv with the development tools too
	@$(INSTALL) dev

demo: runtime  ## plan examples/project-x.yaml, print the plan, write the report to demo-out/
	$(BIN)/eastwest plan examples/project-x.yaml --out demo-out

test: dev  ## run the whole suite
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile $(ARGS)

quick: dev  ## run the suite without the tests marked slow
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile -m "not slow" $(ARGS)

check: dev  ## format, lint, types, import contract, generated docs up to date
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@if [ -f tools/docs.py ]; then echo "$(BIN)/python tools/docs.py --check"; $(BIN)/python tools/docs.py --check; fi

docs: dev  ## renew the generated parts of README and docs
	$(BIN)/python tools/docs.py

constants: runtime  ## fit the shipped constants again from the tables of measurements in TABLES
	$(BIN)/python tools/constants.py "$(TABLES)"

bench: runtime  ## measure the command line and predictions, and append to benchmarks/RESULTS.md
	$(BIN)/python benchmarks/command_line.py --write
	$(BIN)/python benchmarks/prediction.py --write

format: dev  ## rewrite the code in the project's format, with the safe lint repairs
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock:  ## renew requirements/*.lock from pyproject.toml (needs uv on PATH; commit the result)
	uv pip compile pyproject.toml --group build --generate-hashes --universal --python-version 3.11 --no-header --quiet --upgrade --output-file requirements/runtime.lock
	uv pip compile pyproject.toml --group dev --constraints requirements/runtime.lock --generate-hashes --universal --python-version 3.11 --no-header --quiet --upgrade --output-file requirements/dev.lock

wheelhouse: python  ## download every locked wheel into ./wheelhouse, for machines without a network
	@"$(PYTHON)" tools/install.py wheelhouse

clean:  ## remove .venv, caches and what make demo wrote (the wheelhouse stays)
	rm -rf $(VENV) demo-out build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
