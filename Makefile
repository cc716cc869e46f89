# SPDX-License-Identifier: Apache-2.0
#
# make                build/gpugate (static linter) and build/gpugated (webhook)
# make demo           install what building needs, build, lint the examples,
#                     ask the webhook about two Pods
# make test           install what building and testing needs, build, check
# make check          the tests every change must pass (under 2 minutes)
# make rule           NAME= CATEGORY=: the skeleton of a rule (tests/README.md)
# make check-rule     NAME=: its tests, in seconds
# make check-full     check + oracles, corpus, sanitizers, fuzzers
# make bench          timings as ratios to floors measured in the same run
# make metrics        function and file sizes
# make install        DESTDIR= PREFIX=/usr/local
# make deps           Debian packages that building needs (root or sudo)
# make format         clang-format everything; make tidy: static analysis
# make clean
#
# V=1 shows commands; WERROR=1 makes warnings errors;
# SANITIZE=address,undefined BUILD=build-asan builds beside the plain build.

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
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo 1.0.0)
VERSION_NUMBER := 1.0.0

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wwrite-strings -Wcast-qual -Wvla -Wformat=2 -Wundef -Wno-unused-parameter
CFLAGS ?= -O2 -g
HARDEN := -fstack-protector-strong
AR := ar
ifeq ($(SANITIZE),)
HARDEN += -D_FORTIFY_SOURCE=2
LINK_STATIC := -static
# 8 % less time over a folder. Objects are usable without it too, so that the
# many test programs link in no time (NO_LTO).
ifneq ($(findstring gcc,$(shell $(CC) --version 2>/dev/null | head -1))$(findstring cc,$(notdir $(CC))),)
ifeq ($(findstring clang,$(CC)),)
LTO := -flto=auto -ffat-lto-objects
NO_LTO := -fno-lto
AR := gcc-ar
endif
endif
else
CFLAGS := -O1 -g -fno-omit-frame-pointer
HARDEN += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all
LINK_STATIC :=
endif
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -Iinclude -I$(BUILD)/gen $(WARN) $(HARDEN) \
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

BASE_SRC := $(wildcard rules/base/*.c)
DOC_SRC := $(wildcard rules/doc/*.c)
KUBE_SRC := $(wildcard rules/kube/*.c)
ENGINE_SRC := $(wildcard rules/engine/*.c)
RULE_SRC := $(sort $(wildcard rules/catalog/*/*.c))
LINT_SRC := $(wildcard lint/*.c)
DATA := $(wildcard rules/kube/data/*.tsv rules/kube/data/*.txt)
GEN_SRC := $(BUILD)/gen/registry.c $(BUILD)/gen/kube_data.c

LIB_SRC := $(BASE_SRC) $(DOC_SRC) $(KUBE_SRC) $(ENGINE_SRC) $(RULE_SRC)
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o) $(GEN_SRC:%.c=%.o)
LIB := $(BUILD)/libgpugate.a
LINT_OBJ := $(LINT_SRC:%.c=$(BUILD)/%.o)

# The webhook without its main(), for the tests; see webhook/webhook.mk.
DOOR_SRC := $(filter-out webhook/main.c,$(wildcard webhook/*.c certs/*.c))
DOOR_OBJ := $(DOOR_SRC:%.c=$(BUILD)/%.o)
DOOR_LIB := $(BUILD)/libgpugated.a
DOOR_LIBS := -Wl,--as-needed -lmicrohttpd -lgnutls -lssl -lcrypto -lcurl

.PHONY: all
all: $(BUILD)/gpugate $(BUILD)/gpugated

# The linter alone needs fewer libraries.
.PHONY: gpugate
gpugate: $(BUILD)/gpugate

$(BUILD)/gpugate: $(LINT_OBJ) $(LIB)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LTO) $(LINK_STATIC) -o $@ $^ $(LIBS) $(LDFLAGS)

# Rebuilt from nothing: an object whose source is gone must not stay inside.
$(LIB): $(LIB_OBJ)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(DOOR_LIB): $(DOOR_OBJ)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) $(LTO) -MMD -MP -c -o $@ $<

$(BUILD)/gen/%.o: $(BUILD)/gen/%.c
	$(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) $(LTO) -MMD -MP -c -o $@ $<

# $@ from the output of a command, rewritten only when it differs. The new file
# has a name of its own: two makes may work in one build folder.
rewrite = new=$@.$$$$; $(1) >$$new && { cmp -s $$new $@ || mv $$new $@; }; \
	status=$$?; rm -f $$new; exit $$status

# Names the rules found by scanning, so that removing a rule file is noticed
# too.
.PHONY: FORCE
$(BUILD)/gen/registry.c: FORCE
	@mkdir -p $(@D)
	@$(call rewrite,sh rules/engine/registry.sh $(RULE_SRC))

$(BUILD)/gen/kube_data.c: $(DATA) $(wildcard rules/kube/data/*.awk rules/kube/data/*.sh)
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)sh rules/kube/data/generate.sh >$@.$$$$ && mv $@.$$$$ $@

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

# --- tests ----------------------------------------------------------------

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:%.c=$(BUILD)/%)

$(BUILD)/tests/unit/%: tests/unit/%.c $(DOOR_LIB) $(LIB)
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(ALL_CFLAGS) $(NO_LTO) -MMD -MP -MF $@.d -o $@ $< \
		$(DOOR_LIB) $(LIB) $(LIBS) $(DOOR_LIBS) -lcmocka

.PHONY: unit
unit: $(UNIT_BIN)

.PHONY: clean
clean:
	rm -rf build build-*

include tests/tests.mk
