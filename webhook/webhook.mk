# SPDX-License-Identifier: Apache-2.0
# The webhook: linked dynamically, since each security fix of a static TLS
# library would need a new release. -pie only if the compiler's objects are
# built for it anyway (as on Debian), so that both programs share the objects of
# the rules.

WEBHOOK_HARDEN := -Wl,-z,relro,-z,now -Wl,-z,noexecstack
WEBHOOK_HARDEN += $(shell $(CC) -dM -E -x c /dev/null 2>/dev/null | \
	grep -q __PIE__ && echo -pie)

$(BUILD)/webhook/options.o: $(BUILD)/gen/version.h

$(BUILD)/gpugated: $(BUILD)/webhook/main.o $(WEBHOOK_LIB) $(LIB)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LTO) $(WEBHOOK_HARDEN) -o $@ $^ $(LIBS) \
		$(WEBHOOK_LIBS) $(LDFLAGS)

.PHONY: gpugated
gpugated: $(BUILD)/gpugated

all: $(BUILD)/gpugated

.PHONY: install-gpugated
install: install-gpugated
install-gpugated:
	@$(RELEASED) gpugated
	install -D -m 755 $(OPTIMIZED)/gpugated $(DESTDIR)$(PREFIX)/bin/gpugated
