/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs template_merge() on every line of standard input, which the oracle's
 * `template-cases` writes, and prints the line with "Ours" added.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "rules/kube/kinds.h"
#include "tests/tools/edit_json.h"

int main(void)
{
	struct arena arena = ARENA_INIT;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	while ((len = getline(&line, &size, stdin)) > 2) {
		const struct node *root = json_text(&arena, line, (size_t)len);
		uint32_t budget = 100000;
		struct buf out;

		buf_init(&out);
		node_json(template_merge(&arena, &budget,
					 node_get(root, "Template"),
					 node_get(root, "Patch")),
			  &out);
		printf("%.*s,\"Ours\":%s}\n", (int)len - 2, line, out.data);
		buf_release(&out);
		arena_reset(&arena);
	}
	arena_release(&arena);
	free(line);
	return 0;
}
