# Everything a person or a CI job runs. `make` lists it; nothing but make and Python >= 3.11 has to be there before.

PYTHON ?= python3.13 python3.12 python3.11 python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
CODE := $(wildcard om_workers om_api tests)
TEST_WORKERS ?= 2
SEEDS ?= 10
SIMULATED ?= 50000
# Folders of tests that have a target of their own.
APART := $(wildcard tests/chaos tests/soak tests/bench)
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links

# Some machines forbid Python to keep its bytecode; every start would compile everything again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo up test soak mutants check format lock ci clean

help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(INSTALLED) ## make .venv with the locked dependencies and this project in it

demo: $(INSTALLED) ## play a real conversation on the embedded stack, no key needed
	@$(BIN)/om demo

up: $(INSTALLED) ## run the embedded stack until Ctrl-C
	@$(BIN)/om up

test: $(INSTALLED) ## run all tests with the services they need
	$(BIN)/pytest -n $(TEST_WORKERS) --dist loadgroup $(addprefix --ignore=,$(APART))

soak: $(INSTALLED) ## search SIMULATED runs for broken promises, then kill real processes, a storm a seed (SEEDS=100)
	$(BIN)/python -m tests.simulation --seeds $(SIMULATED)
	$(BIN)/pytest tests/soak
	$(BIN)/python -m tests.chaos.storm --seeds $(SEEDS)

mutants: $(INSTALLED) ## edit every sentence of the protocol away and see a test fail (ONLY=name)
	$(BIN)/python -m tests.mutants $(if $(ONLY),--only $(ONLY))

check: $(INSTALLED) ## check format, lint, types, imports and the shape of the code
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/mypy $(CODE)
	$(BIN)/lint-imports --no-logo
	$(BIN)/pytest -q tests/architecture

format: $(INSTALLED) ## rewrite the code in its format, fix what can be fixed
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

lock: $(INSTALLED) ## compile deploy/requirements*.txt anew (UPGRADE=1: to the newest versions)
	$(COMPILE) $(if $(UPGRADE),--upgrade) pyproject.toml -o deploy/requirements.txt
	$(COMPILE) $(if $(UPGRADE),--upgrade) pyproject.toml --extra dev -c deploy/requirements.txt \
		-o deploy/requirements-dev.txt
	echo uv | $(COMPILE) - -c deploy/requirements-dev.txt -o deploy/requirements-uv.txt

ci: ## run what CI runs
	@bash .ci/run

clean: ## remove the environment and all caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +

# uv installs in seconds what takes pip most of a minute; where it cannot be had, pip installs the same locked set.
$(INSTALLED): $(BIN)/python pyproject.toml deploy/requirements-dev.txt deploy/requirements-uv.txt
	@echo "Installing the locked dependencies into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --require-hashes -r deploy/requirements-uv.txt \
		&& $(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes deploy/requirements-dev.txt \
		|| $(BIN)/python -m pip install --quiet --require-hashes -r deploy/requirements-dev.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e . \
		|| $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(BIN)/python:
	@for candidate in $(PYTHON); do \
		"$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue; \
		found=1; \
		"$$candidate" -c 'import ensurepip, venv' >/dev/null 2>&1 || continue; \
		echo "Making $(VENV) with $$("$$candidate" --version) ..."; \
		exec "$$candidate" -m venv --clear $(VENV); \
	done; \
	if [ -n "$$found" ]; then \
		echo "Python is here, but its venv module is not: install it (Debian, Ubuntu: apt-get install python3-venv)." >&2; \
	else \
		echo "No Python >= 3.11 found (tried: $(PYTHON)). Install one or name it: make PYTHON=/path/to/python setup" >&2; \
	fi; exit 1
