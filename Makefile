# Two commands do everything: `cargo run --release -- train …` and `make test`.
# Everything a target needs, it sets up itself.

VENV := .venv
PYTHON := $(VENV)/bin/python
STAMP := $(VENV)/.ready
REQUIREMENTS := crates/mercer-python/requirements-test.txt

.PHONY: test format lint rust python fresh generate bench deny clean

## Every test, Rust and Python.
test: format lint rust fresh python
	@echo "all tests passed"

format:
	cargo fmt --all --check

lint:
	cargo clippy --workspace --all-targets --locked -- -D warnings

rust:
	cargo test --locked

## The files made from the catalog are what they would be if made now.
fresh:
	cargo run --locked --quiet -- generate --check

generate:
	cargo run --locked --quiet -- generate

## The Python package, built into a virtual environment of our own, and its tests.
python: $(STAMP)
	$(VENV)/bin/maturin develop --quiet --locked
	$(PYTHON) -m pytest -q crates/mercer-python

$(STAMP): $(REQUIREMENTS)
	python3 -m venv $(VENV)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -r $(REQUIREMENTS)
	touch $@

## Ratios to the peers, measured in one run. Nothing else should run meanwhile.
bench:
	python3 bench/compare.py

## Advisories, licenses and duplicate versions (needs `cargo install cargo-deny`).
deny:
	cargo deny check

clean:
	cargo clean
	rm -rf $(VENV) bench/.venv
