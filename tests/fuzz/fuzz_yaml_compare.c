/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs both YAML readers on any bytes: if the fast one makes a tree, libyaml
 * must accept the text without an issue and make the same tree. The first byte
 * chooses the limits.
 *
 * Inputs: 400000
 */
#include "tests/tools/yaml_compare.h"

static const struct load_limits limits[] = {
	{.bytes = 1 << 20,
	 .depth = 100,
	 .nodes = 10000,
	 .directives = 64,
	 .flow_work = 100000},
	{.bytes = 1 << 20,
	 .depth = 3,
	 .nodes = 12,
	 .directives = 64,
	 .flow_work = 20},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = ARENA_INIT;
	const struct load_limits *chosen = limits;
	char *text;

	if (!size)
		return 0;
	chosen += data[0] == 0xff;
	text = malloc(size > 1 ? size - 1 : 1);
	memcpy(text, data + 1, size - 1);
	if (compare_readers(&arena, text, size - 1, chosen) == COMPARE_DIFFER)
		abort();
	arena_release(&arena);
	free(text);
	return 0;
}
