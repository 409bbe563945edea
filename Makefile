# make demo     install what running needs, list the steps of a tour of the main commands, then run them on an example
# make test     run everything: tests, import contracts, lint, types
# make check    run the fast part of it
# make bench    measure the speed and compare it with the budgets
# make fuzz     check and fix 10,000 broken manifests
# make release  build the archive for krew of this platform in dist/, and try it
# make lock     update the pinned libraries and tools of the archives
# make site     build the documentation site in build/site
# make docs     write the generated parts of README.md, docs/ and examples/

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --config-settings editable_mode=compat
RUN := $(VENV)/.installed
STAMP := $(VENV)/.installed-test
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check lint bench fuzz docs site release lock clean

$(RUN): setup.cfg pyproject.toml
	@echo "installing kubectl spread and the libraries that it needs into $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --editable .
	@touch $@

$(STAMP): $(RUN)
	@echo "installing what the tests need into $(VENV)"
	@$(PIP) --editable '.[test]'
	@touch $@

demo: $(RUN)
	@$(BIN)/kubectl-spread demo

test: $(STAMP)
	$(BIN)/python -m compileall -q $(CURDIR)/kubectl_spread
	$(BIN)/python -m pytest -n auto
	$(MAKE) lint

check: $(STAMP) lint
	$(BIN)/python -m pytest -n auto -q -m "not slow" $(ARGS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python -m compileall -q $(CURDIR)/kubectl_spread
	@failed=0; for name in startup linting scheduling explain live simulation clusters pages exporter guarantee rebalance provisioners; do $(BIN)/python -m tests.bench.$$name || failed=1; done; exit $$failed

fuzz: $(STAMP)
	$(BIN)/python tests/bench/mutants.py

docs: $(STAMP)
	PYTHONPATH=. $(BIN)/python docs/generate.py
	PYTHONPATH=. $(BIN)/python docs/examples.py

site: $(STAMP)
	$(PIP) --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

release: $(STAMP)
	rm -rf dist
	$(BIN)/python release/build.py
	$(BIN)/python release/trial.py dist/kubectl-spread_* --times

lock: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.10 --upgrade --generate-hashes --no-header --no-annotate \
		--extra exporter --extra lsp setup.py release/requirements.in --output-file release/requirements.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.10 --upgrade --generate-hashes --no-header --no-annotate \
		release/tools.in --output-file release/tools.txt

clean:
	rm -rf $(VENV) build dist *.egg-info
