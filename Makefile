# SPDX-License-Identifier: BSD-2-Clause
#
# The door. Everything real is in CMake (CMakeLists.txt, CMakePresets.json) and in tools/.

PREFIX ?= /usr/local
CMAKE ?= cmake
# Build folders belong to presets; nothing here runs side by side.
.NOTPARALLEL:

# An old build/configure.log must not be taken for what this run says.
begin = mkdir -p build && true >build/configure.log || { \
	echo "make: $(CURDIR)/build cannot be written: it is another user's (ls -ld build), or the disk is full (df build)" >&2; exit 1; }

ifneq (,$(filter install,$(MAKECMDGOALS)))
# One word, and one from /.
ifneq ($(words $(PREFIX)) $(filter /%,$(PREFIX)),1 $(PREFIX))
$(error make install: PREFIX=$(PREFIX): want a path from / without blanks, as in PREFIX=$$HOME/softmrc)
endif
endif

.PHONY: all
all: ## release build: build/bin/mrc, build/lib/libmrc.so.1, build/lib/softmrc/
	@tools/deps --verify build
	@$(begin)
	@$(CMAKE) --preset release >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@$(CMAKE) --build --preset release

.PHONY: deps
deps: ## install what building needs, or say how
	@tools/deps build

.PHONY: demo
demo: deps all ## build and watch a training job ride out path failures
	@mkdir -p build/demo
	build/bin/mrc demo --out build/demo/result.json

.PHONY: check
check: ## build with sanitizers and optimised, run all tests, count the cases
	@tools/check

.PHONY: quick
quick: ## build with sanitizers, run the tests that need no machine: unit, script, conformance, property
	@tools/quick -L '^(unit|script|conformance|property)$$'

.PHONY: test
test: ## build with sanitizers, run the tests whose names match: make test T=ev_set
	$(if $(T),,$(error make test: T is empty, want a regular expression of test names: make test T=ev_set))
	@tools/quick -R '$(T)'

.PHONY: check-full
check-full: ## check with fresh seeds, ten times the rounds, ThreadSanitizer, all programs
	@tools/check --full

.PHONY: compat
compat: all ## every real program over the drop-in; writes docs/compatibility.md
	@tools/deps check
	@tools/compat --write
	@tools/compat --write --lab

.PHONY: torture
torture: all ## 10^6 rounds of data and then a flag, 10^6 of OpenSHMEM with a fence, on bad paths; 750 kills
	@tools/deps check
	@$(CMAKE) --build --preset release-tests
	@MRC_ROUNDS=50 MRC_SEED=$${MRC_SEED-random} ctest --preset release -R '^live_(flags|killed)$$' --verbose
	@tools/compat --rows tests/compat/bad_paths.toml

.PHONY: soak
soak: all ## programs on a lab that breaks once a second, for half an hour: make soak T=60
	@tools/deps check
	@tools/soak --seconds $(or $(T),1800) --write

.PHONY: results
results: deps all ## docs/results.md, its pictures and pages: all figures and studies at full scale
	@tools/results --threads $$(nproc)

.PHONY: coverage
coverage: ## which lines of wire and core the tests run, and which they do not
	@tools/deps check
	@mkdir -p build
	@{ $(CMAKE) --preset coverage && $(CMAKE) --build --preset coverage && \
		ctest --preset coverage; } >build/coverage.log 2>&1 || { cat build/coverage.log; exit 1; }
	@cat build/coverage/coverage.txt

.PHONY: coverage-host
coverage-host: ## which lines, branches and functions around the core the quick tests run
	@tools/deps check
	@tools/coverage

.PHONY: fuzz-coverage
fuzz-coverage: ## how many lines each fuzz target reaches by its corpus
	@tools/deps check
	@tools/coverage --fuzz

.PHONY: mutants
mutants: ## plant faults in wire and core and choose one at a time: does a test notice?
	@tools/deps check
	@tools/mutants

.PHONY: mutants-all
mutants-all: ## all faults that a machine makes in core: calls, comparisons, constants; half an hour
	@tools/deps check
	@tools/mutants --made

.PHONY: bench
bench: all ## nanoseconds a packet, recovery in round trips, the host and verbs programs against sockets and TCP
	@$(CMAKE) --build --preset release --target benches
	@for bench in build/release/benches/*; do $$bench || exit 1; done
	@python3 -B bench/verbs/bench.py --rounds 3 --seconds 1
	@python3 -B bench/overload/overload.py

.PHONY: bench-host
bench-host: all ## bandwidth, latency and CPU time against UDP, TCP and UCX: BENCH_FLAGS=--quick
	@$(CMAKE) --build --preset release --target bench_host
	@build/release/benches/host $(BENCH_FLAGS)

.PHONY: bench-verbs
bench-verbs: all ## unmodified verbs programs beside libmrc and kernel TCP: BENCH_FLAGS='--rounds 1 --json'
	@python3 -B bench/verbs/bench.py $(BENCH_FLAGS)

.PHONY: bench-overload
bench-overload: all ## too many processes, senders, QPs, a slow receiver: BENCH_FLAGS='--rounds 1 --only 64'
	@python3 -B bench/overload/overload.py $(BENCH_FLAGS)

.PHONY: bench-map
bench-map: all ## what probes and rules cost, and how soon faults are named: BENCH_FLAGS='--only names'
	@python3 -B bench/map/map_speed.py $(BENCH_FLAGS)

.PHONY: bench-profile
bench-profile: all ## where the CPU time of both ends goes, by part: BENCH_FLAGS='--only WRITE --json'
	@python3 -B bench/verbs/profile.py $(BENCH_FLAGS)

.PHONY: fuzz
fuzz: ## libFuzzer on every target, FUZZ_SECONDS each (default 60)
	@tools/deps check
	@tools/fuzz --seconds $${FUZZ_SECONDS-60}

.PHONY: fuzz-long
fuzz-long: ## libFuzzer for an hour over all targets, or T seconds each: make fuzz-long T=600
	@tools/deps check
	@tools/fuzz $(if $(T),--seconds $(T),--total 3600)

.PHONY: install
install: all ## install below DESTDIR and PREFIX (default /usr/local)
	@DESTDIR="$(DESTDIR)" $(CMAKE) --install build/release --prefix "$(PREFIX)"

.PHONY: deb
deb: ## Debian packages, judged by lintian, into build/deb
	@tools/deb

.PHONY: dist
dist: ## what is committed as a tarball with checksums, into build/dist
	@tools/dist

.PHONY: site
site: ## the documentation as a site, into build/site, by mkdocs; nothing is fetched
	@tools/deps site
	@tools/site

.PHONY: fmt fmt-check
fmt: ## format every C file
	@tools/fmt -i
fmt-check: ## say which C files are not formatted
	@tools/fmt --dry-run -Werror

.PHONY: conformance
conformance: ## which rule is enforced and tested where: makes a page and prints its path
	@tools/deps --verify build
	@$(begin)
	@$(CMAKE) --preset dev >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@$(CMAKE) --build --preset dev --target products >build/conformance.log 2>&1 || \
		{ cat build/conformance.log; exit 1; }
	@tools/conformance --build build/dev

.PHONY: clean
clean: ## remove everything built
	rm -rf build

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## |^fmt-check:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile
