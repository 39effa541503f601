# Both README commands, `make report` and `make test`, do all the set-up they need: any Python 3.11 or
# later is enough. uv is used where it runs, pip otherwise. Set-up speaks on stderr only, so that stdout
# holds what was asked for.

PYTHON ?= python3
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
DEMO := .demo

.NOTPARALLEL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# A foreign environment must not leak in: neither another Python's packages nor another Jupyter's kernels.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV CONDA_PREFIX JUPYTER_PATH
export JUPYTER_PREFER_ENV_PATH := 1

.PHONY: help report test test-slow lint format lock clean

help:  ## Say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The story ends on 31 May 2026; its report is that of the next morning.
report: $(VENV)/.ready-to-run  ## Build the demo's quality report; the last line is the path of its HTML
	@rm -rf $(DEMO) && mkdir -p $(DEMO)/data && cp data/demo/people.toml $(DEMO)/data
	@$(BIN)/quality-lab --home $(DEMO) load data/demo/exports data/demo/journal >&2
	@folder=$$($(BIN)/quality-lab --home $(DEMO) report quality --as-of 2026-06-01T08:00:00Z) && \
	  ls "$$(printf '%s\n' "$$folder" | tail -n 1)/report.html"

test: $(VENV)/.ready-to-test  ## Prove the house: tests, doctests, notebooks, types, style, floors
	@$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow" $(ARGS)

test-slow: $(VENV)/.ready-to-test  ## Run the tests that take longer than a few seconds each
	@$(BIN)/python -m pytest -m slow $(ARGS) || test $$? -eq 5  # 5: there is none

lint: $(VENV)/.ready-to-test  ## Check style, types and floors alone
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(VENV)/.ready-to-test  ## Format the Python files and put imports in order
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

# hatchling and editables build the editable install; they are locked with the rest, so nothing is
# installed that has no hash here. `make lock ARGS=--upgrade` takes newer releases.
LOCK = printf 'hatchling\neditables\n' | uv pip compile --quiet --universal --generate-hashes --no-header \
  --no-emit-index-url --no-emit-find-links $(ARGS) pyproject.toml -

lock:  ## Write the two requirements files anew from pyproject.toml (needs uv)
	@$(LOCK) --output-file requirements.txt
	@$(LOCK) --all-extras --constraint requirements.txt --output-file requirements-dev.txt

clean:  ## Remove the environment, the demo's home and every cache
	rm -rf $(VENV) $(DEMO) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks data notebooks -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- set-up ------------------------------------------------------------------------------------------

$(VENV)/.ready-to-run: requirements.txt pyproject.toml
	$(call install,requirements.txt)
	@touch $@

$(VENV)/.ready-to-test: requirements-dev.txt requirements.txt pyproject.toml
	$(call install,requirements-dev.txt)
	@touch $(VENV)/.ready-to-run $@

# $(call install,LOCK FILE): everything from the lock by hash, then the project itself, editable.
define install
@set -eu; exec >&2; \
if ! $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
  command -v $(PYTHON) >/dev/null || { \
    echo 'Quality Lab needs Python 3.11 or later; there is no "$(PYTHON)" here. Name one: make PYTHON=/path/to/python3.11 ...'; exit 1; }; \
  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
    echo "Quality Lab needs Python 3.11 or later; \"$(PYTHON)\" is $$($(PYTHON) --version 2>&1). Name another: make PYTHON=/path/to/python3.11 ..."; exit 1; }; \
  rm -rf $(VENV); \
fi; \
if uv --version >/dev/null 2>&1; then \
  echo 'Setting up $(VENV) from $(1) with uv'; \
  test -x $(BIN)/python || uv venv --quiet --no-project --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" $(VENV); \
  from_lock() { uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r $(1); }; \
  from_lock || { \
    echo "Once more, with the machine's certificates: uv's own do not know those of a company's proxy"; \
    export UV_SYSTEM_CERTS=true UV_NATIVE_TLS=true; from_lock; }; \
  uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .; \
else \
  echo 'Setting up $(VENV) from $(1) with pip; this takes a minute or two'; \
  test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
    rm -rf $(VENV); echo 'This Python cannot make a virtual environment. On Debian: apt-get install python3-venv'; exit 1; }; \
  $(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip; \
  $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(1); \
  $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .; \
fi
endef
