# SPDX-License-Identifier: Apache-2.0
# Builds the tests of the report formats, the language server, subprocesses and
# lint/run/collect.c, and the tool report_dump. All of them link files of lint/
# that are not part of the library.

REPORT_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(filter-out lint/report/output.c, \
	$(wildcard lint/report/*.c lint/report/*/*.c lint/text/*.c lint/term/*.c)))
REPORT_TESTS := $(addprefix $(BUILD)/tests/unit/,test_report test_excerpt \
	test_line_hash test_report_full test_report_services)

$(REPORT_TESTS): $(BUILD)/%: %.c $(REPORT_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LTO) -MMD -MP -MF $@.d -o $@ $< $(REPORT_OBJ) \
		$(LIB) $(LIBS) -lcmocka

$(BUILD)/tests/tools/report_dump: tests/tools/report_dump.c $(REPORT_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(say) TOOL $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LTO) -MMD -MP -MF $@.d -o $@ $< $(REPORT_OBJ) \
		$(LIB) $(LIBS)

$(BUILD)/tests/unit/test_subprocess: $(BUILD)/%: %.c \
		$(BUILD)/lint/files/subprocess.o $(REPORT_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LTO) -MMD -MP -MF $@.d -o $@ $< \
		$(BUILD)/lint/files/subprocess.o $(REPORT_OBJ) $(LIB) $(LIBS) \
		-lcmocka

LSP_OBJ := $(patsubst %,$(BUILD)/lint/lsp/%.o,protocol)
$(BUILD)/tests/unit/test_lsp: $(BUILD)/%: %.c $(LSP_OBJ) $(REPORT_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LTO) -MMD -MP -MF $@.d -o $@ $< $(LSP_OBJ) \
		$(REPORT_OBJ) $(LIB) $(LIBS) -lcmocka

$(BUILD)/tests/unit/test_collect: $(BUILD)/%: %.c \
	$(BUILD)/lint/run/collect.o $(LIB)
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LTO) -MMD -MP -MF $@.d -o $@ $< \
		$(BUILD)/lint/run/collect.o $(LIB) $(LIBS) -lcmocka
