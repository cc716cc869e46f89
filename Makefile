# SPDX-License-Identifier: Apache-2.0
#
# make                build/gpugate (static linter) and build/gpugated (webhook)
# make demo           install what building needs, build, lint the examples,
#                     ask the webhook about two Pods
# make test           install what building and testing needs, build, check
# make check          the tests every change must pass (under 2 minutes)
# make rule           NAME= CATEGORY=: the skeleton of a rule (tests/README.md)
# make check-rule     NAME=: its tests, in seconds
# make check-ci       the long checks that CI runs too (tests/ci.txt)
# make check-full     all long checks: oracles, sanitizers, fuzzers
# make bench          timings as ratios to floors measured in the same run
# make metrics        function and file sizes
# make install        DESTDIR= PREFIX=/usr/local; make uninstall removes it
# make deps           Debian packages that building needs (root or sudo)
# make format         clang-format everything; make tidy: static analysis
# make clean
#
# DOCS_URL=https://... compiles in the address of the published rules/docs, to which
# reports link.
# V=1 shows commands, and WERROR=1 makes warnings errors. RELEASE=1 optimizes when
# linking, as install and bench do. SANITIZE=address,undefined BUILD=build-asan
# builds with sanitizers, in another folder.

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

BUILD ?= build
PREFIX ?= /usr/local
CC ?= cc
ifeq ($(origin CC),default)
CC := gcc
endif
# The version of everything that is built here; deploy/python reads it too, and
# tests/check/release.sh finds the copies that lag behind.
VERSION := 1.0.0
# The commit that is built; empty outside of a repository.
COMMIT := $(if $(wildcard .git),$(shell git describe --always --dirty \
	--exclude='*' 2>/dev/null))

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wwrite-strings -Wcast-qual -Wvla -Wformat=2 -Wundef -Wno-unused-parameter
CFLAGS ?= -O2 -g
HARDEN := -fstack-protector-strong
AR := ar
ifeq ($(SANITIZE),)
HARDEN += -D_FORTIFY_SOURCE=2
LINK_STATIC := -static
# Link-time optimization: 8 % less time over a folder, and a minute to link.
ifdef RELEASE
ifneq ($(findstring gcc,$(shell $(CC) --version 2>/dev/null | head -1))$(findstring cc,$(notdir $(CC))),)
ifeq ($(findstring clang,$(CC)),)
LTO := -flto=auto
AR := gcc-ar
endif
endif
endif
else
CFLAGS := -O1 -g -fno-omit-frame-pointer
HARDEN += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all
LINK_STATIC :=
endif
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -Iinclude -I. -I$(BUILD)/gen $(WARN) $(HARDEN) \
	-pthread $(CFLAGS)
ifdef WERROR
ALL_CFLAGS += -Werror
endif
LIBS := -lyaml -lpcre2-8 -ljansson

ifdef V
Q :=
say = @:
else
Q := @
say = @printf '  %-6s %s\n'
endif

# Every C file below a folder.
sources = $(sort $(shell find $(1) -name '*.c'))

RULE_SRC := $(call sources,rules/catalog)
LINT_SRC := $(call sources,lint)
DATA := $(wildcard rules/kube/data/*.tsv rules/kube/data/*.txt)
GEN_SRC := $(BUILD)/gen/registry.c $(BUILD)/gen/kube_data.c

LIB_SRC := $(call sources,rules)
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o) $(GEN_SRC:%.c=%.o)
LIB := $(BUILD)/libgpugate.a
LINT_OBJ := $(LINT_SRC:%.c=$(BUILD)/%.o)

# The webhook without its main(), for the tests; see webhook/webhook.mk.
WEBHOOK_SRC := $(filter-out webhook/main.c,$(call sources,webhook certs))
WEBHOOK_OBJ := $(WEBHOOK_SRC:%.c=$(BUILD)/%.o)
WEBHOOK_LIB := $(BUILD)/libgpugated.a
WEBHOOK_LIBS := -Wl,--as-needed -lmicrohttpd -lgnutls -lssl -lcrypto -lcurl \
	-lseccomp

.PHONY: all
all: $(BUILD)/gpugate $(BUILD)/gpugated

# The linter alone needs fewer libraries.
.PHONY: gpugate
gpugate: $(BUILD)/gpugate

$(BUILD)/gpugate: $(LINT_OBJ) $(LIB)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LTO) $(LINK_STATIC) -o $@ $^ $(LIBS) $(LDFLAGS)

# Removes it first, because an object without its source must not stay inside.
$(LIB): $(LIB_OBJ)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# The linter without its main(), for its fuzzer.
$(BUILD)/liblint.a: $(filter-out $(BUILD)/lint/main.o,$(LINT_OBJ))
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(WEBHOOK_LIB): $(WEBHOOK_OBJ)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) $(LTO) -MMD -MP -c -o $@ $<

$(BUILD)/gen/%.o: $(BUILD)/gen/%.c
	$(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) $(LTO) -MMD -MP -c -o $@ $<

# Writes the output of a command to $@, but only if it differs. The new file
# has a unique name, because two makes may use one build folder.
rewrite = new=$@.$$$$; $(1) >$$new && { cmp -s $$new $@ || mv $$new $@; }; \
	status=$$?; rm -f $$new; exit $$status

# Lists the rules that a scan finds, so that a removed file is noticed too.
.PHONY: FORCE
$(BUILD)/gen/registry.c: FORCE
	@mkdir -p $(@D)
	@$(call rewrite,sh rules/engine/registry.sh $(RULE_SRC))

$(BUILD)/gen/kube_data.c: $(DATA) $(wildcard rules/kube/data/*.awk rules/kube/data/*.sh)
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)sh rules/kube/data/generate.sh >$@.$$$$ && mv $@.$$$$ $@

-include $(shell find $(BUILD) -type f -name '*.d' 2>/dev/null)

# --- tests ----------------------------------------------------------------

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:%.c=$(BUILD)/%)

$(BUILD)/tests/unit/%: tests/unit/%.c $(WEBHOOK_LIB) $(LIB)
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LTO) -MMD -MP -MF $@.d -o $@ $< \
		$(WEBHOOK_LIB) $(LIB) $(LIBS) $(WEBHOOK_LIBS) -lcmocka

.PHONY: unit
unit: $(UNIT_BIN)

.PHONY: clean
clean:
	rm -rf build build-*

include tests/tests.mk
