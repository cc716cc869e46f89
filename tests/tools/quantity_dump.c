/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses every line of standard input with quantity.c and prints the result in
 * the format of the oracle's `quantity` command: "ok CANONICAL VALUE MILLI |
 * ok" or "error | error". The word after the bar is the result for the same
 * text as a string in a manifest.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/quantity.h"

static void describe(struct quantity q)
{
	struct quantity most = quantity_from(INT64_MAX);
	struct quantity size = q;
	char text[QUANTITY_TEXT];

	if (q.nano < 0)
		size = quantity_sub(quantity_from(0), q);
	if (quantity_cmp(size, most) > 0) {
		fputs("ok range", stdout);
		return;
	}
	printf("ok %s %" PRId64, quantity_text(q, text), quantity_value(q));
	if (quantity_cmp(size, quantity_from(INT64_MAX / 1000)) > 0)
		fputs(" range", stdout);
	else
		printf(" %" PRId64, quantity_milli(q));
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	while ((len = getline(&line, &size, stdin)) >= 0) {
		struct node node = {.type = NODE_STRING};
		struct quantity q;

		if (len && line[len - 1] == '\n')
			line[--len] = '\0';
		node.str = line;
		node.len = (uint32_t)len;
		if (quantity_parse(line, (size_t)len, &q))
			describe(q);
		else
			fputs("error", stdout);
		puts(node_quantity(&node, &q) == QUANTITY_OK ? " | ok"
							     : " | error");
	}
	free(line);
	return 0;
}
