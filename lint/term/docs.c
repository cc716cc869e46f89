/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Appends addresses of documentation. The compiled-in address is in a file that
 * the Makefile writes.
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

static bool add_file(struct buf *out, const char *name)
{
	size_t len = strlen(docs);

	while (len && docs[len - 1] == '/')
		len--;
	if (!len)
		return false;
	buf_addf(out, "%.*s/%s.md", (int)len, docs, name);
	return true;
}

bool docs_add_page(struct buf *out, const struct rule *rule)
{
	return is_own(rule) && add_file(out, rule->name);
}

bool docs_add_index(struct buf *out)
{
	return add_file(out, "README");
}
