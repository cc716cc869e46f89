# SPDX-License-Identifier: Apache-2.0
# Test, bench, packaging and install targets (included by the Makefile).

SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
APT := $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get
LINT_DEPS := gcc libc6-dev make git libyaml-dev libpcre2-dev libjansson-dev
DEPS := $(LINT_DEPS) libmicrohttpd-dev libgnutls28-dev libssl-dev \
	libcurl4-openssl-dev libseccomp-dev
TEST_DEPS := libcmocka-dev bats python3 procps patch

# $(call install,PACKAGES): installs those that this machine lacks.
define install
@dpkg -s $(1) >/dev/null 2>&1 || { $(APT) update -qq && \
	$(APT) install -y -qq --no-install-recommends $(1) >/dev/null; } || { \
	! grep -qs '^ID=ubuntu' $(OS_RELEASE) || \
	echo 'make: Ubuntu has some packages in its component universe: is it' \
		'among the sources of apt? (add-apt-repository universe)' >&2; \
	exit 1; }
endef
OS_RELEASE := /etc/os-release

.PHONY: deps lint-deps test-deps full-deps
deps:
	$(call install,$(DEPS))

# Packages that `make gpugate` needs.
lint-deps:
	$(call install,$(LINT_DEPS))

test-deps: deps
	$(call install,$(TEST_DEPS))

FULL_DEPS := clang valgrind clang-format clang-tidy cppcheck llvm curl openssl wrk \
	python3-yaml prometheus
# The package without which apt's clang cannot link sanitizers.
CLANG_RT := $$(apt-cache depends clang | \
	sed -n 's/^ *Depends: clang-\([0-9]*\)$$/libclang-rt-\1-dev/p')
full-deps: test-deps
	$(call install,$(FULL_DEPS) $(CLANG_RT))

# --- the two commands of the README ---------------------------------------

.PHONY: demo test
DEMO_DEPS := curl ca-certificates
demo: deps
	$(call install,$(DEMO_DEPS))
	@$(MAKE) --no-print-directory -j2 all
	@sh deploy/examples/demo.sh $(BUILD)/gpugate $(BUILD)/gpugated

test: test-deps
	@$(MAKE) --no-print-directory -j2 all unit tools
	@$(MAKE) --no-print-directory check

# --- tests ----------------------------------------------------------------

TOOL_SRC := $(wildcard tests/tools/*.c)
TOOL_BIN := $(TOOL_SRC:%.c=$(BUILD)/%)

$(BUILD)/tests/tools/%: tests/tools/%.c $(LIB)
	@mkdir -p $(@D)
	$(say) TOOL $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LTO) -MMD -MP -MF $@.d -o $@ $< $(LIB) $(LIBS)

# Programs that run admission without a server, and model the findings that an
# UPDATE may keep.
WEBHOOK_TOOLS := admission ratchet_model
WEBHOOK_TOOL_BIN := $(WEBHOOK_TOOLS:%=$(BUILD)/tests/tools/%)
$(WEBHOOK_TOOL_BIN): $(BUILD)/tests/tools/%: tests/webhook/%.c $(WEBHOOK_LIB) $(LIB)
	@mkdir -p $(@D)
	$(say) TOOL $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LTO) -MMD -MP -MF $@.d -o $@ $< \
		$(WEBHOOK_LIB) $(LIB) $(LIBS) $(WEBHOOK_LIBS)

.PHONY: tools
tools: $(TOOL_BIN) $(WEBHOOK_TOOL_BIN)

-include webhook/webhook.mk
-include lint/lint.mk
-include deploy/deploy.mk
-include tests/report.mk

# These take the longest, so they run first.
LONG_BATS := gpugated trust render secrets snapshot state output
BATS := $(LONG_BATS) $(filter-out $(LONG_BATS),\
	$(patsubst tests/cli/%.bats,%,$(wildcard tests/cli/*.bats)))
STEPS = $(foreach t,$(BATS),'cli-$t=GPUGATE=$(abspath $(BUILD)/gpugate) \
		bats --tap tests/cli/$t.bats') \
	$(foreach t,$(UNIT_BIN),unit-$(notdir $(t))=$(t)) \
	'rules=tests/run-rules.sh $(BUILD)/gpugate' \
	'layers=tests/meta/layers.sh' \
	'symbols=tests/meta/symbols.py $(BUILD)' \
	'compared-kinds=tests/meta/compared_kinds.py' \
	'operator-versions=tests/meta/operator_versions.py' \
	'readme=tests/meta/readme.sh $(BUILD)/gpugate' \
	'headers=tests/meta/headers.sh' \
	'maps=tests/meta/maps.py' \
	'walk-through=tests/meta/walk_through.py $(BUILD)' \
	'recipes=tests/meta/recipes.py' \
	'words=tests/meta/words.py $(BUILD)/gpugate $(BUILD)/gpugated' \
	'prose=tests/meta/prose.py' \
	'rule-files=tests/meta/rules.sh $(BUILD)/gpugate $(BUILD)' \
	'metrics=tests/meta/metrics.sh' \
	'new-rule=tests/meta/new-rule.sh $(BUILD)' \
	'corpus=tests/check/corpus.sh $(BUILD)/gpugate' \
	'seeds=tests/check/seeds.sh $(BUILD)/gpugate' \
	'first-run=tests/check/first-run.sh $(BUILD)' \
	'bypass=tests/check/bypass.sh $(BUILD)/gpugate' \
	'ratchet=$(BUILD)/tests/tools/ratchet_model 30000' \
	'same-answer=EVERY=2 tests/check/same-answer.sh $(BUILD) repairs' \
	'baseline=tests/check/baseline.sh $(BUILD)' \
	'cluster=tests/check/cluster.sh $(BUILD)/gpugate'

.PHONY: check check-ci check-full
check: all unit tools
	@STEPS_AT_ONCE=5 tests/run.sh $(BUILD)/logs $(STEPS)

# Runs oracles in Go, format validators, sanitizers, static analysis and
# fuzzers: the steps of tests/ci.txt, or all.
check-ci check-full: full-deps
	@$(MAKE) --no-print-directory -j2 all unit tools
	@tests/run-full.sh $(BUILD) $(@:check-%=%)

# Tests load, faults and restarts. Each step needs the whole machine.
.PHONY: check-load
check-load: full-deps
	@$(MAKE) --no-print-directory -j2 all unit tools
	@tests/run-load.sh $(BUILD)

# Measures the figures in the table of webhook/README.md, in 40 minutes. LOAD=
# (empty) uses the lengths of check-load, and takes 6 minutes.
LOAD ?= RESTART_REQUESTS=1000000 RESTART_MINUTES=20 ROTATION_SECONDS=300 \
	SOAK_SECONDS=1200 SPEED_SECONDS=30
.PHONY: load-table
load-table: full-deps
	@$(RELEASED) all
	@env $(LOAD) tests/check/reliability.sh $(OPTIMIZED) \
		speed restart rotation soak away

# Builds and runs the image: needs root, buildah and a mirror.
.PHONY: check-image
check-image:
	@mkdir -p $(BUILD) && tests/check/image.sh $(BUILD)

# Runs both README commands in a root that has only apt; ROOT is bookworm,
# trixie or noble. Needs root and a mirror. RUN='COMMAND; ...': runs this
# instead.
.PHONY: check-fresh
check-fresh:
	@mkdir -p $(BUILD) && tests/check/fresh.sh $(BUILD) $(ROOT)

.PHONY: metrics
metrics:
	@tests/meta/metrics.sh

.PHONY: format format-check tidy
C_FILES = $(shell git ls-files '*.c' '*.h')
format:
	@clang-format -i $(C_FILES)
format-check:
	@clang-format --dry-run -Werror $(C_FILES)
# Prints only findings, and not clang-tidy's count of suppressed warnings in
# system headers. The output of each file stays together, although xargs runs
# two at a time.
TIDY_FILES = $(filter-out tests/%,$(filter %.c,$(C_FILES)))
tidy: $(BUILD)/gen/version.h $(BUILD)/gen/docs_url.h \
		$(BUILD)/gen/examples.inc $(BUILD)/gen/html.inc
	@printf '%s\n' $(TIDY_FILES) | xargs -P2 -n1 sh -c \
		'out=$$(clang-tidy --quiet "$$1" -- -std=c11 -D_GNU_SOURCE \
		-Iinclude -I. -I$(BUILD)/gen 2>&1) || \
		{ printf "%s\n" "$$out"; exit 1; }' sh
	@cppcheck --quiet --error-exitcode=1 --std=c11 -Iinclude -I. \
		--enable=warning,portability --inline-suppr \
		--suppress=missingIncludeSystem $(TIDY_FILES)

# --- fuzzing at random: make fuzz TARGET=yaml TIME=60 -----------------------

FUZZ_DIR := build-fuzz
TIME ?= 60
.PHONY: fuzz
fuzz:
	@tests/fuzz/run.sh $(FUZZ_DIR) $(TARGET) $(TIME)

# Programs for installation and timing are built in a separate folder.
OPTIMIZED := $(BUILD)/optimized
RELEASED := $(MAKE) --no-print-directory RELEASE=1 BUILD=$(OPTIMIZED) -j2

.PHONY: bench peers
bench:
	@$(RELEASED) all tools $(OPTIMIZED)/tests/unit/test_cluster_size
	@tests/bench/run.sh $(OPTIMIZED)
	@tests/bench/state.sh $(OPTIMIZED)
peers:
	@tests/bench/peers.sh

# --- install ----------------------------------------------------------------

DESTDIR ?=
.PHONY: install
install:
	@$(RELEASED) all
	install -D -m 755 $(OPTIMIZED)/gpugate $(DESTDIR)$(PREFIX)/bin/gpugate
	sh deploy/completion/install.sh $(OPTIMIZED)/gpugate \
		$(OPTIMIZED)/gpugated $(DESTDIR)$(PREFIX)
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/gpugate/schemas \
		deploy/schemas/*.json

# Removes the files that `install` and deploy/completion/install.sh installed.
INSTALLED := $(foreach p,gpugate gpugated,bin/$(p) \
	share/bash-completion/completions/$(p) share/zsh/site-functions/_$(p) \
	share/fish/vendor_completions.d/$(p).fish) \
	share/bash-completion/completions/kubectl-gpugate \
	share/fish/vendor_completions.d/kubectl-gpugate.fish \
	bin/kubectl-gpugate bin/kubectl_complete-gpugate \
	share/man/man1/gpugate.1 share/man/man5/gpugate-policy.5 \
	share/man/man8/gpugated.8
.PHONY: uninstall
uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,$(INSTALLED))
	rm -rf $(DESTDIR)$(PREFIX)/share/gpugate

# --- a new rule: tests/README.md --------------------------------------------

.PHONY: rule check-rule
rule:
	@sh rules/engine/new_rule.sh "$(NAME)" "$(CATEGORY)"
check-rule:
	@test -d "tests/rules/$(NAME)" || \
		{ echo "check-rule: no tests/rules/$(NAME)" >&2; exit 2; }
	@$(MAKE) --no-print-directory $(BUILD)/gpugate
	@tests/run-rules.sh $(BUILD)/gpugate tests/rules/$(NAME)
	@tests/mutation.sh $(BUILD)/gpugate $(NAME)

.PHONY: docs
docs: all
	awk -f deploy/chart/kinds.awk rules/kube/data/kinds.txt \
		>deploy/chart/gpugate/files/kinds.yaml
	python3 tests/check/kind_fields.py rules/kube/data/kinds.txt \
		>lint/docs/kinds.md
	tests/meta/tables.sh $(BUILD)/gpugate lint/docs/README.md \
		>$(BUILD)/guide.md
	cp $(BUILD)/guide.md lint/docs/README.md
	deploy/vap/generate.sh $(BUILD)/gpugate deploy/vap
	rules/docs/generate.sh $(BUILD)/gpugate rules/docs
	tests/meta/picture.sh $(BUILD)/gpugate >.github/gpugate.svg
