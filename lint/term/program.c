/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version and the address of the rules' pages come from files that the
 * Makefile writes when they change.
 */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "docs.h"
#include "log.h"
#include "version.h"

const char program_version[] = GPUGATE_VERSION;

static const char *docs = GPUGATE_DOCS_URL;

void program_set_docs(const char *address)
{
	docs = address ? address : "";
}

static bool is_own(const struct rule *rule)
{
	struct rule_set rules = program_rules();
	int index = rule_set_find(&rules, rule->name);

	return index >= 0 && rules.items[index] == rule;
}

bool program_add_page(struct buf *out, const struct rule *rule)
{
	size_t len = strlen(docs);

	while (len && docs[len - 1] == '/')
		len--;
	if (!len || !is_own(rule))
		return false;
	buf_addf(out, "%.*s/%s.md", (int)len, docs, rule->name);
	return true;
}

struct rule_set program_rules(void)
{
	return (struct rule_set){.items = all_rules, .n = all_rules_count};
}

int flush_out(void)
{
	bool failed = ferror(stdout);

	if (!fflush(stdout) && !failed)
		return 0;
	log_line("standard output: %s", strerror(errno ? errno : EIO));
	return 2;
}

int print_out(struct buf *out)
{
	errno = 0;
	fwrite(out->data, 1, out->len, stdout);
	buf_release(out);
	return flush_out();
}
