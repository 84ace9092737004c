# The menu. `make help` reads the comments behind the targets.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# One stamp per set of extras: a second run installs nothing.
CORE_STAMP  := $(VENV)/.installed-core
DEV_STAMP   := $(VENV)/.installed-dev
DOCS_STAMP  := $(VENV)/.installed-docs
BENCH_STAMP := $(VENV)/.installed-bench
# TypeScript is pinned in web-tools/package.json; a lock file would add nothing but download addresses.
NPM_OPTIONS := --no-package-lock --no-audit --no-fund --ignore-scripts --silent --fetch-retries 1

.DEFAULT_GOAL := help
.PHONY: help demo test soak check lint page page-types bench docs clean

help: ## say what each target does
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"kernova needs Python 3.11 or newer; {sys.executable} is {v.major}.{v.minor}. Try: make $(MAKECMDGOALS) PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(CORE_STAMP): pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --editable '.[web]'
	@touch $@

$(DEV_STAMP): pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --editable '.[dev,fast,peers,audio,web]'
	@touch $@ $(CORE_STAMP)

$(DOCS_STAMP): pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --editable '.[docs]'
	@touch $@ $(CORE_STAMP)

$(BENCH_STAMP): pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --editable '.[peers]'
	@touch $@ $(CORE_STAMP)

demo: $(CORE_STAMP) ## set everything up and do the main job on data that comes with scikit-learn
	@$(BIN)/kernova demo --folder demo
	@echo; echo 'To type kernova just like that:  . $(VENV)/bin/activate'

test: $(DEV_STAMP) ## set everything up and run the tests (a tenth of each long-running one)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal

soak: $(DEV_STAMP) ## every long-running test in full, with its figures
	KERNOVA_SOAK=1 $(BIN)/python -m pytest -m soak -s

lint: $(DEV_STAMP) ## format, lint, types and layers only
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

page: ## types of the web page's JavaScript; skipped where npm cannot install TypeScript
	@if ! command -v npm >/dev/null 2>&1; then \
		echo 'make page: skipped, since there is no npm to install TypeScript with.'; \
	elif ! npm --prefix web-tools ls >/dev/null 2>&1 && ! npm --prefix web-tools install $(NPM_OPTIONS); then \
		echo 'make page: skipped, since npm could not install TypeScript.'; \
	else \
		echo 'npm --prefix web-tools run types'; npm --prefix web-tools run --silent types; \
	fi

page-types: $(CORE_STAMP) ## write the page's types anew from the server's schema
	$(BIN)/python web-tools/page_types.py

check: lint page test ## everything CI asks for

bench: $(BENCH_STAMP) ## ratios against peers and growth tables, written to benchmarks/results
	$(BIN)/python -m benchmarks.run

docs: $(DOCS_STAMP) ## build the site into docs/_build/html
	$(BIN)/python -m sphinx -q -W -b html docs docs/_build/html

clean: ## remove what the other targets made
	rm -rf $(VENV) demo docs/_build docs/api/generated benchmarks/results build dist web-tools/node_modules
