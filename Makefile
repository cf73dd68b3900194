# What a developer types. `make` alone lists it; every target works on a fresh clone.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup fmt lint types layers test test-fast test-slow bench bench-peers bench-charts docs demo check

BIN := .venv/bin
STAMP := .venv/.ready
PEERS := .venv-peers/.ready

help: ## List these targets.
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml scripts/setup
	@scripts/setup $(STAMP)

setup: $(STAMP) ## Make .venv with everything the tests need (Python 3.11 or newer; PYTHON=... chooses one).
	@:

fmt: $(STAMP) ## Format the code and mend what the linter can mend.
	@$(BIN)/ruff check --fix --exit-zero --quiet .
	@$(BIN)/ruff format .

lint: $(STAMP) ## Check style and format.
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(STAMP) ## Check types in strict mode.
	@$(BIN)/basedpyright

layers: $(STAMP) ## Check that imports point downward.
	@$(BIN)/lint-imports --no-logo

test: $(STAMP) ## Run the tests; without CI=true, those that need a missing Chromium or Node are skipped by name.
	@$(BIN)/python -m pytest -n 2 -rs -m "not slow"

test-fast: $(STAMP) ## Run the tests that need no browser and no patience, in one process.
	@$(BIN)/python -m pytest -q -m "not browser and not slow"

test-slow: $(STAMP) ## Run the tests that take minutes: thousands of seeded misbehaviours.
	@$(BIN)/python -m pytest -n 2 -q -m slow

bench: $(STAMP) ## Measure against the floors, alternating in one run.
	@$(BIN)/python -m benchmarks

$(PEERS): pyproject.toml benchmarks/peers/requirements.txt scripts/setup-peers | $(STAMP)
	@scripts/setup-peers $(PEERS)

bench-peers: $(PEERS) ## Measure beside LangGraph, pydantic-ai and the OpenAI Agents SDK (about ten minutes).
	@.venv-peers/bin/python -m benchmarks.peers $(if $(ROUNDS),--rounds $(ROUNDS))

bench-charts: $(PEERS) ## Measure the engine beside LangGraph's StateGraph and Burr's Application (about ten minutes).
	@.venv-peers/bin/python -m benchmarks.charts $(if $(ROUNDS),--rounds $(ROUNDS))

docs: $(STAMP) ## Build the manual into site/; a warning fails.
	@$(BIN)/mkdocs build --strict --quiet

demo: $(STAMP) ## See it work: a wrong answer traced and proven, offline.
	@$(BIN)/agentfootprint demo

check: lint types layers docs test ## All that CI runs; screenshots of the browser tests stay in build/artefacts.
