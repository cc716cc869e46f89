# SPDX-License-Identifier: Apache-2.0
# Generated parts of the linter: the version, the examples of `gpugate explain`,
# and the manual pages.

$(BUILD)/gen/version.h: FORCE
	@mkdir -p $(@D)
	@$(call rewrite,printf '#define GPUGATE_%s "%s"\n' VERSION '$(VERSION)' \
		BUILD '$(VERSION)$(COMMIT:%= (%))')

# The address at which rules/docs is published; none by default.
DOCS_URL ?=
$(BUILD)/gen/docs_url.h: FORCE
	@mkdir -p $(@D)
	@$(call rewrite,echo '#define GPUGATE_DOCS_URL "$(DOCS_URL)"')

$(BUILD)/lint/term/program.o: $(BUILD)/gen/version.h $(BUILD)/gen/docs_url.h

$(BUILD)/gen/examples.inc: lint/commands/examples.sh FORCE
	@mkdir -p $(@D)
	@$(call rewrite,sh lint/commands/examples.sh tests/rules)

$(BUILD)/lint/commands/explain.o: $(BUILD)/gen/examples.inc

$(BUILD)/gen/html.inc: lint/report/html/embed.sh lint/report/html/page.css \
		lint/report/html/page.js
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)sh $^ >$@.$$$$ && mv $@.$$$$ $@

$(BUILD)/lint/report/html/page.o: $(BUILD)/gen/html.inc

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
