/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running program: its name (`gpugate` or `kubectl gpugate`, also in
 * texts), its version and the address of its documentation (in files that the
 * Makefile writes), its rules, and its standard output.
 */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "docs_url.h"
#include "log.h"
#include "version.h"

const char program_version[] = GPUGATE_VERSION;
const char program_build[] = GPUGATE_BUILD;

static bool is_plugin;

void program_called(const char *argv0)
{
	const char *slash = strrchr(argv0, '/');

	is_plugin = text_starts(slash ? slash + 1 : argv0, "kubectl-gpugate");
}

bool program_is_plugin(void)
{
	return is_plugin;
}

const char *program_name(void)
{
	return is_plugin ? "kubectl gpugate" : "gpugate";
}

void program_say(struct buf *out, const char *text)
{
	static const char name[] = "gpugate ";
	const char *at = text;

	for (const char *found; is_plugin && (found = strstr(at, name));
	     at = found + strlen(name)) {
		const char after = found[strlen(name)];
		bool is_command = (after >= 'a' && after <= 'z') ||
				  (after >= 'A' && after <= 'Z');

		buf_add(out, at, (size_t)(found - at));
		if (is_command && (found == text || strchr("` (", found[-1])))
			buf_adds(out, "kubectl ");
		buf_adds(out, name);
	}
	buf_adds(out, at);
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
