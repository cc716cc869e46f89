/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiled-in address comes from a file that the Makefile writes when it
 * changes.
 */
#include "docs.h"

#include <string.h>

#include "docs_url.h"
#include "program.h"

static const char *docs = GPUGATE_DOCS_URL;

void docs_set(const char *address)
{
	docs = address;
}

static bool is_own(const struct rule *rule)
{
	struct rule_set rules = program_rules();
	int index = rule_set_find(&rules, rule->name);

	return index >= 0 && rules.items[index] == rule;
}

bool docs_add_page(struct buf *out, const struct rule *rule)
{
	size_t len = strlen(docs);

	while (len && docs[len - 1] == '/')
		len--;
	if (!len || !is_own(rule))
		return false;
	buf_addf(out, "%.*s/%s.md", (int)len, docs, rule->name);
	return true;
}
