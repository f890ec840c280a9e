# Every step of development and CI has a target here. `make demo` and `make test` need Python >= 3.11, make and a package index.
PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
UV     := $(VENV)/bin/uv
PIP    := $(PY) -m pip --disable-pip-version-check --no-input
COMPILE := $(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --quiet
ARGS   ?=
WORKERS ?= auto
PYTEST = $(PY) -m pytest -n $(WORKERS) --dist worksteal
unexport PYTHONDONTWRITEBYTECODE # else each worker and each program that a test starts compiles every library again

# The locks are complete, so nothing is resolved. uv installs them in seconds and asks the index that pip is configured for;
# where uv is not available for the platform, pip does the same more slowly.
INDEX  = $${PIP_INDEX_URL:-$$($(PIP) config get global.index-url 2>/dev/null)}
define install
	@index="$(INDEX)"; $(UV) pip install --quiet --python $(PY) $${index:+--default-index "$$index"} --no-deps $(1) 2>/dev/null \
	  || $(PIP) install --quiet --no-deps $(1)
endef

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint types coverage slow integrations wheel check matrix mutants golden messages bench lock clean

help:  ## list the targets
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(UV): requirements-uv.lock
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"hengwen needs Python >= 3.11, {sys.executable} is {v.major}.{v.minor}; say make PYTHON=python3.11")'
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --quiet --require-hashes -r requirements-uv.lock || echo "uv is not available here, pip installs the locks"
	@touch $(UV)

$(VENV)/.core: requirements.lock pyproject.toml $(UV)
	$(call install,--require-hashes -r requirements.lock)
	$(call install,--no-build-isolation --editable .)
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.core
	$(call install,--require-hashes -r requirements-dev.lock)
	@touch $@

setup: $(VENV)/.dev  ## create .venv with everything that development needs

demo: $(VENV)/.core  ## run the main job on the packaged sample suite
	$(VENV)/bin/hengwen demo -o demo-report.html $(ARGS)
	@echo 'to call hengwen in this shell: . $(VENV)/bin/activate'

test: $(VENV)/.dev  ## install what tests need, run the fast tests and the doctests on all cores
	$(PYTEST) -m "not slow" $(ARGS)

lint: $(VENV)/.dev  ## check format and rules with ruff; no host names in the locks
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	@! grep -nE 'https?:' requirements*.lock benchmarks/requirements-bench.txt

types: $(VENV)/.dev  ## check types with mypy: strict in src, relaxed in tests
	$(VENV)/bin/mypy

slow: $(VENV)/.dev  ## run the other tests: whole commands, simulations, servers, clusters, killed processes, lint
	$(PYTEST) -m slow $(ARGS)

.venv-integrations/.tools: requirements-integrations.lock pyproject.toml $(UV)
	@test -x .venv-integrations/bin/python || $(PYTHON) -m venv .venv-integrations
	@index="$(INDEX)"; $(UV) pip install --quiet --python .venv-integrations/bin/python $${index:+--default-index "$$index"} --no-deps \
	  -r requirements-integrations.lock --editable .
	@touch $@

integrations: .venv-integrations/.tools  ## test integrations with the real tools (W&B, SwanLab, inspect ...), in .venv-integrations
	HENGWEN_REQUIRE_TOOLS=1 .venv-integrations/bin/python -m pytest -n $(WORKERS) -q -p no:cacheprovider tests/integrations $(ARGS)

coverage: $(VENV)/.dev  ## run every test; fast ones and some slow ones cover 95 % of lines, 90 % of branches
	$(PYTEST) -q -m untraced $(ARGS)
	$(PYTEST) -q -m "not untraced" --cov --cov-report=json:.coverage.json $(ARGS)
	$(PY) tools/coverage_floor.py .coverage.json

wheel: $(VENV)/.dev  ## install the wheel with the pip that each Python brings, and run the demo
	tools/wheel.sh $(PYTHON)

check: coverage lint types  ## everything that CI runs

matrix: $(VENV)/.dev  ## run the tests on every installed Python 3.11-3.14 and on the lowest allowed versions
	@index="$(INDEX)"; versions=$$(pyenv versions --bare --skip-aliases 2>/dev/null | paste -sd: -); \
	  env $${index:+"UV_DEFAULT_INDEX=$$index"} $${versions:+"PYENV_VERSION=$$versions"} $(VENV)/bin/nox $(ARGS)

golden: $(VENV)/.dev  ## rewrite the golden files; review them as a diff
	HENGWEN_GOLDEN=write $(PY) -m pytest -q tests/documents

messages: $(VENV)/.dev  ## collect the texts of the command line into the Chinese catalogue, and compile it
	$(PY) tools/messages.py

bench: $(UV)  ## run the benchmarks beside their peers in .venv-bench, write benchmarks/RESULTS.md
	@index="$(INDEX)"; env $${index:+"UV_DEFAULT_INDEX=$$index"} $(PY) benchmarks/run_all.py $(ARGS)

mutants: $(VENV)/.dev  ## mutation testing of a sample, the same for the same seed; all with ARGS="--sample 0"
	$(PY) tools/mutants.py $(ARGS)

lock: $(UV)  ## resolve the locks again
	$(COMPILE) pyproject.toml --group build -o requirements.lock
	$(COMPILE) pyproject.toml --group dev -o requirements-dev.lock
	$(subst --generate-hashes,,$(COMPILE)) pyproject.toml --group integrations -o requirements-integrations.lock
	$(subst --generate-hashes,,$(COMPILE)) pyproject.toml benchmarks/peers.in -o benchmarks/requirements-bench.txt
	echo uv | $(COMPILE) - -o requirements-uv.lock

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) .venv-bench .venv-integrations .mutants .nox .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.*
