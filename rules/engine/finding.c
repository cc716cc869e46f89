/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order, identity and yielding of findings. The fingerprint never contains a
 * line: rule, object and the path by names, so that it survives edits above
 * the finding and is the same in a file and at the door.
 */
#include <string.h>

#include "base/text.h"
#include "state.h"

static int cmp_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

int finding_cmp(const struct finding *a, const struct finding *b)
{
	int c = cmp_u32(a->place.file, b->place.file);

	if (!c)
		c = cmp_u32(a->place.line, b->place.line);
	if (!c)
		c = cmp_u32(a->place.column, b->place.column);
	if (!c)
		c = strcmp(a->rule->name, b->rule->name);
	if (!c)
		c = cmp_u32(a->place.document, b->place.document);
	if (!c)
		c = strcmp(a->place.pointer, b->place.pointer);
	return c ? c : strcmp(a->message, b->message);
}

static uint64_t hash_part(uint64_t hash, const char *text)
{
	return text_hash(text, strlen(text) + 1, hash);
}

uint64_t finding_fingerprint(const struct finding *f)
{
	uint64_t hash = hash_part(0, f->rule->name);
	const char *slash = strchr(f->id.api_version, '/');

	/* The group without the version: served versions are one object. */
	hash = slash ? text_hash(f->id.api_version,
				 (size_t)(slash - f->id.api_version), hash)
		     : hash_part(hash, "");
	hash = hash_part(hash, f->id.kind);
	hash = hash_part(hash, f->id.namespace);
	hash = hash_part(hash, f->id.name);
	hash = hash_part(hash, f->named_path);
	return hash_part(hash, f->cause);
}

static bool named_in(const char *const *names, const char *name)
{
	for (; names && *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

/* Same pod, same container (or one of them speaks of the whole pod), and no
 * two different causes. */
static bool same_subject(const struct finding *a, const struct finding *b)
{
	if (a->pod_key != b->pod_key)
		return false;
	if (a->container_key && b->container_key &&
	    a->container_key != b->container_key)
		return false;
	return !*a->cause || !*b->cause || !strcmp(a->cause, b->cause);
}

static bool yields(const struct finding *f, struct finding **all, size_t from,
		   size_t n)
{
	for (size_t i = from; i < n; i++)
		if (all[i] != f &&
		    named_in(f->rule->yields_to, all[i]->rule->name) &&
		    same_subject(f, all[i]))
			return true;
	return false;
}

void findings_yield(struct finding **findings, size_t from, size_t n)
{
	for (size_t i = from; i < n; i++)
		if (findings[i]->rule->yields_to)
			findings[i]->hidden =
				yields(findings[i], findings, from, n);
}
