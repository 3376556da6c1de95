# Each target does its own set-up, from a clean clone, with Python 3.10 or newer, a C++17 compiler and a
# package index. `gpu` alone sets nothing up: it uses the Python and the torch of the machine it runs on.

PYTHON ?= python3
ARGS ?=
WHEELS ?=

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
READY := $(VENV)/ready
# pip would compile what it installs by one core.
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
INSTALL := $(PIP) install --no-compile
COMPILE := $(BIN)/python -W ignore -m compileall -qq -j 0 $(VENV)/lib || true
SOURCES := find kernels fictl/emu tests/emu tests/perf -name '*.cuh' -o -name '*.cu' -o -name '*.h' -o -name '*.cpp'

.DEFAULT_GOAL := help
.PHONY: help demo test lint perf docs pages gpu clean setup nvcc compiler

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-6s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo '  ARGS="…" goes to what the target runs, as in: make test ARGS="tests/jit -k store"'

demo: compiler ## the main job on one op, each command shown
	$(BIN)/fictl demo $(ARGS)

# One process more than cores: tests wait for children, servers and ranks.
# Compiled once: where Python is told to write no bytecode, each of some thousand processes would
# compile what it imports.
# Fewer searches for garbage: those of every 700 new objects are a fifth of `import torch`, which some
# thousand processes do.
test: nvcc ## the whole test suite
	@$(BIN)/python -W ignore -m compileall -qq -j 0 fictl kernels || true
	@echo 'import gc; gc.set_threshold(50_000)' \
	>"$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/fewer_searches.pth"
	$(BIN)/pytest --numprocesses=$$(($$($(BIN)/python -c 'import os; print(min(os.cpu_count() or 1, 8))') + 1)) --dist=worksteal $(ARGS)

lint: setup ## ruff, mypy, clang-format, codespell
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(SOURCES) | xargs --no-run-if-empty $(BIN)/clang-format --dry-run --Werror
	$(BIN)/codespell

perf: nvcc ## the promised numbers, each beside its yardstick
	$(BIN)/python tests/perf/run.py $(ARGS)

docs: nvcc ## the generated pages and pictures, then the documentation, strict, into site/
	$(BIN)/python docs/generate.py
	$(BIN)/zensical build --strict --clean $(ARGS)
	$(BIN)/python docs/llms.py site

pages: setup ## the generated pages alone: commands, settings, ops, layers
	$(BIN)/python docs/generate.py --pages

gpu: ## on a GPU machine: build, test, sanitize, bench (PYTHON=python3 WHEELS=folder of wheels it lacks)
	@set -e; site=$$(mktemp -d); trap 'rm -rf "$$site"' EXIT; \
	if [ -n "$(WHEELS)" ]; then $(PYTHON) -m pip install --quiet --no-index --no-deps --no-compile \
	    --no-cache-dir --target "$$site" "$(WHEELS)"/*.whl; fi; \
	PYTHONPATH="$(CURDIR):$$site:$$PYTHONPATH" PYTEST_PLUGINS=fictl.testing.plugin $(PYTHON) tests/gpu/run.py $(ARGS)

clean: ## remove everything that make made
	rm -rf $(VENV) build dist site .cache *.egg-info .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +

setup: $(READY)

nvcc: setup compiler

# A CUDA compiler is installed only where there is none: FICTL_NVCC, CUDA_HOME, PATH and the usual places count.
compiler: $(INSTALLED)
	@$(BIN)/python -c 'from fictl.toolchain import find_nvcc; raise SystemExit(0 if find_nvcc() else 3)'; \
	case $$? in \
	0) ;; \
	3) echo 'no nvcc here: installing one into $(VENV) (about 600 MB)'; $(INSTALL) -e '.[toolchain]' -c constraints.txt ;; \
	*) exit 1 ;; \
	esac

# What users have, which is all that the demo needs; the tools of developers come with `setup`.
$(INSTALLED): pyproject.toml setup.py constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	echo "fictl needs Python 3.10 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Name another: make PYTHON=python3.12 …" >&2; exit 1; }
	@for cxx in "$$CXX" g++ c++ clang++; do \
	$$cxx -std=c++17 -x c++ -fsyntax-only /dev/null 2>/dev/null && exit 0; done; \
	echo 'fictl needs a C++17 compiler; tried $$CXX, g++, c++ and clang++. Install one, or set CXX.' >&2; exit 1
	@echo 'setting up $(VENV); the first time this takes some minutes'
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) -e . -c constraints.txt
	@$(COMPILE)
	@touch $@

$(READY): $(INSTALLED)
	@$(INSTALL) -e '.[dev]' -c constraints.txt
	@$(COMPILE)
	@touch $@
