# make demo   set up .venv and show check and explain on the examples
# make test   set up .venv and run every check: tests, import contracts, lint, types
# make bench  the performance budgets
# make fuzz   check and mend 10,000 broken manifests
# make docs   write the generated parts of README.md and docs/ anew

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test bench fuzz docs clean

$(STAMP): setup.cfg pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]' --config-settings editable_mode=compat
	touch $@

demo: $(STAMP)
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

test: $(STAMP)
	$(BIN)/python -m pytest -n auto
	$(BIN)/lint-imports --no-cache
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python -m compileall -q kubectl_spread
	@failed=0; for name in startup scheduling explain; do $(BIN)/python -m tests.bench.$$name || failed=1; done; exit $$failed

fuzz: $(STAMP)
	$(BIN)/python tests/bench/mutants.py

docs: $(STAMP)
	$(BIN)/python docs/generate.py

clean:
	rm -rf $(VENV) build dist *.egg-info
