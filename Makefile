# Two commands do everything: `cargo run --release -- train …` and `make test`.
# Everything a target needs, it sets up itself.

VENV := .venv
PYTHON := $(VENV)/bin/python
STAMP := $(VENV)/.ready
REQUIREMENTS := crates/mercer-python/requirements-test.txt
ECOSYSTEM := crates/mercer-python/requirements-ecosystem.txt
PACKAGE := crates/mercer-python/python
MODULE := $(PACKAGE)/mercer/_mercer.abi3.so
# Incremental compilation makes a cold build slower, and `make test` is mostly run cold.
export CARGO_INCREMENTAL ?= 0

.PHONY: test format lint words build rust docs fresh python python-lint sklearn-sample sklearn-suite serve-suite browser module generate bench promises fuzz deny clean

## Every check and test, Rust and Python.
test: format words lint build rust fresh docs python-lint python sklearn-sample browser
	@echo "all tests passed"

format:
	cargo fmt --all --check

## Retired words and layer violations in what users and readers see.
words:
	python3 tools/check_words.py

## With all formats, and as installed by default.
lint:
	cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
	cargo clippy --workspace --all-targets --locked -- -D warnings

## One build with one set of features, so that tests, command line and Python module share every artifact.
build:
	cargo build --workspace --all-targets --all-features --locked

rust: build
	cargo test --workspace --all-features --locked

## The files made from the catalog are what they would be if made now.
fresh: build
	target/debug/mercer generate --check

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features --locked --quiet

generate: build
	target/debug/mercer generate

## The Python module, from the same build, next to the package it belongs to.
module: build
	cp target/debug/lib_mercer.so $(MODULE)

python: module $(STAMP)
	PYTHONPATH=$(PACKAGE) $(PYTHON) -m pytest -q -n 2 --durations=10 crates/mercer-python

## scikit-learn's own tests with the classes of Mercer: every twelfth, or all of them with docs/drop-in.md written anew.
SUITE := $(PYTHON) crates/mercer-python/tests/sklearn_suite/run.py
sklearn-sample: module $(STAMP)
	$(SUITE) --sample 12

sklearn-suite: module $(STAMP)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -r $(ECOSYSTEM)
	$(SUITE)
	PYTHONPATH=$(PACKAGE) $(PYTHON) -m pytest -q crates/mercer-python/tests/test_ecosystem.py

python-lint: $(STAMP)
	$(VENV)/bin/ruff check crates/mercer-python crates/mercer-server bench tools
	$(VENV)/bin/ruff format --check crates/mercer-python crates/mercer-server bench tools
	$(VENV)/bin/mypy --config-file pyproject.toml $(PACKAGE)/mercer

$(STAMP): $(REQUIREMENTS)
	python3 -m venv $(VENV)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -r $(REQUIREMENTS)
	touch $@

## Real clients against `mercer serve`: tritonclient, KServe, MLServer's codecs, MLflow, schemathesis. Each has its own
## environment, because their dependencies exclude each other. OIP=FILE also runs the official description of the protocol.
CLIENTS := crates/mercer-server/tests/clients
SERVE_VENV := .venv-serve
SERVE_STAMP := $(SERVE_VENV)/.ready
serve-suite: build $(SERVE_STAMP)
	$(SERVE_VENV)/bin/python -m pytest -q $(CLIENTS)/test_tritonclient.py $(CLIENTS)/test_kserve.py
	$(SERVE_VENV)/mlserver/bin/python -m pytest -q $(CLIENTS)/test_mlserver_codecs.py
	$(SERVE_VENV)/mlflow/bin/python -m pytest -q $(CLIENTS)/test_mlflow.py
	$(SERVE_VENV)/bin/python $(CLIENTS)/fuzz.py
	$(if $(OIP),$(SERVE_VENV)/bin/python $(CLIENTS)/fuzz.py $(OIP))

$(SERVE_STAMP): $(CLIENTS)/requirements.txt $(CLIENTS)/requirements-mlserver.txt $(CLIENTS)/requirements-mlflow.txt
	python3 -m venv $(SERVE_VENV)
	$(SERVE_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $(CLIENTS)/requirements.txt
	for peer in mlserver mlflow; do python3 -m venv $(SERVE_VENV)/$$peer && $(SERVE_VENV)/$$peer/bin/python -m pip install \
	--quiet --disable-pip-version-check -r $(CLIENTS)/requirements-$$peer.txt || exit 1; done
	touch $@

## The studio in a real browser: Debian's Chromium, driven by playwright-core, with the checks of axe-core. Installs what is
## missing if it can, and says so if it cannot run.
browser: build
	sh crates/mercer-server/tests/browser/run.sh

## Ratios to the peers, measured in one run. Nothing else should run meanwhile.
bench:
	python3 bench/compare.py

## The eight guarantees of the README: tries and failures, written to docs/reliability.md. Takes some minutes.
promises: build
	python3 tools/promises.py

## 100,000 mutated model files and ten times as many damaged data files as in `make test`.
fuzz: build
	MERCER_MUTATIONS=100000 cargo test --workspace --all-features --locked --test suite -- --nocapture mutated_files
	MERCER_FUZZ=10 cargo test --workspace --all-features --locked --test suite -- --nocapture damaged_

## Advisories, licenses and duplicate versions (needs `cargo install cargo-deny`).
deny:
	cargo deny check

clean:
	cargo clean
	rm -rf $(VENV) $(SERVE_VENV) bench/.venv $(MODULE)
