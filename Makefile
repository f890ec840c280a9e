# Everything a developer or CI does has a name here. `make demo` and `make test` need Python >= 3.11, make and a package index.
PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
PIP    := $(PY) -m pip --disable-pip-version-check --no-input
COMPILE := uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --quiet pyproject.toml
ARGS   ?=

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint types check golden bench lock clean

help:  ## what there is
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.core: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"hengwen needs Python >= 3.11, {sys.executable} is {v.major}.{v.minor}; say make PYTHON=python3.11")'
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --require-hashes -r requirements.lock
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.core
	$(PIP) install --quiet --require-hashes -r requirements-dev.lock
	@touch $@

setup: $(VENV)/.dev  ## .venv with all that development needs

demo: $(VENV)/.core  ## run the main job on the packaged sample suite
	$(VENV)/bin/hengwen demo -o demo-report.html $(ARGS)

test: $(VENV)/.dev  ## install what tests need, run them and the doctests
	$(PY) -m pytest $(ARGS)

lint: $(VENV)/.dev  ## ruff: format and rules; no host names in the locks
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	@! grep -nE 'https?:' requirements*.lock

types: $(VENV)/.dev  ## mypy --strict
	$(VENV)/bin/mypy

check: test lint types  ## all of it, as CI does

golden: $(VENV)/.dev  ## write the golden reports anew; review them as a diff
	HENGWEN_GOLDEN=write $(PY) -m pytest -q tests/reports

bench: $(VENV)/.dev  ## benchmarks beside their peers
	$(PY) -m pytest benchmarks -o python_files='bench_*.py' --benchmark-only $(ARGS)

lock:  ## solve the locks anew (needs uv)
	$(COMPILE) --group build -o requirements.lock
	$(COMPILE) --group dev -o requirements-dev.lock

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
