# One command for everything that is done often.
#   make book    build the code and the site from the book, print the front page's path
#   make epub    the same as one file for a reader of EPUB
#   make test    run the suite; make test-all, the slow tests too
#   make check   what a commit must pass: mystangle, ruff, mypy
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: book epub test test-all check tangle bench pythons lock clean

book: $(READY)
	$(BIN)/jupyter-book build .
	@echo "$(CURDIR)/_build/html/index.html"

epub: $(READY)
	$(BIN)/jupyter-book build . --builder custom --custom-builder epub --path-output _build/epub
	@echo "$(CURDIR)/_build/epub/_build/epub/white-box-gpt.epub"

test: $(READY)
	$(BIN)/pytest

test-all: $(READY)
	$(BIN)/pytest -m "slow or not slow"

check: $(READY)
	$(BIN)/mystangle check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

tangle: $(READY)
	$(BIN)/mystangle tangle

bench: $(READY)
	$(BIN)/python benchmarks/value.py

# The suite on every supported Python; each has a virtual environment of its own.
pythons:
	$(MAKE) test PYTHON=python3.11 VENV=.venv-3.11
	$(MAKE) test PYTHON=python3.12 VENV=.venv-3.12
	$(MAKE) test PYTHON=python3.13 VENV=.venv-3.13

$(READY): pyproject.toml requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

lock:
	uv pip compile --universal --python-version 3.11 --no-annotate --no-emit-index-url --upgrade \
	  --custom-compile-command "make lock" --extra test pyproject.toml requirements.in --output-file requirements.lock

clean:
	rm -rf _build
