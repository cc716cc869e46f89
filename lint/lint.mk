# SPDX-License-Identifier: Apache-2.0
# What the linter needs beside its sources: the version, the examples of
# `gpugate explain`, and the manual pages.

$(BUILD)/gen/version.h: FORCE
	@mkdir -p $(@D)
	@$(call rewrite,printf '#define GPUGATE_%s "%s"\n' VERSION '$(VERSION)' \
		BUILD '$(VERSION)$(COMMIT:%= (%))')

$(BUILD)/lint/term/program.o: $(BUILD)/gen/version.h

$(BUILD)/gen/examples.inc: lint/commands/examples.sh FORCE
	@mkdir -p $(@D)
	@$(call rewrite,sh lint/commands/examples.sh tests/rules)

$(BUILD)/lint/commands/example.o: $(BUILD)/gen/examples.inc

.PHONY: man
man: $(BUILD)/man/gpugate.1 $(BUILD)/man/gpugate-policy.5

$(BUILD)/man/gpugate.1: $(BUILD)/gpugate
	@mkdir -p $(@D)
	$(say) MAN $@
	$(Q)$< manpage 1 >$@

$(BUILD)/man/gpugate-policy.5: $(BUILD)/gpugate
	@mkdir -p $(@D)
	$(say) MAN $@
	$(Q)$< manpage 5 >$@
