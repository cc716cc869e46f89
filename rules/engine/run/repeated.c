/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks findings that repeat one about a runtime, because a pod made from its
 * template has the same value, or lacks the same value.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "engine/finding.h"

/* A finding about a pod that is not made from a runtime, by its place. */
struct told {
	const struct rule *rule;
	uint32_t file, start;
	bool whole; /* start of a PodSpec, not of a value */
	const struct finding *finding;
};

static int cmp_told(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	if (x->rule != y->rule)
		return strcmp(x->rule->name, y->rule->name);
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->whole - y->whole;
}

/* Returns the file of the runtime that the finding is about, or NO_FILE. */
static uint32_t runtime_file(const struct finding *f)
{
	return f->about_whole ? f->spec.base_file : f->value_file;
}

static bool is_made(const struct finding *f)
{
	return f->has_spec && runtime_file(f) != NO_FILE;
}

static size_t list_told(struct finding *const *findings, size_t n,
			struct told *list)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		const struct finding *f = findings[i];

		if (!f->has_spec || f->hidden || is_made(f))
			continue;
		list[found++] = (struct told){
			.rule = f->rule,
			.file = f->place.file,
			.start =
				f->about_whole ? f->spec.start : f->value_start,
			.whole = f->about_whole,
			.finding = f,
		};
	}
	qsort(list, found, sizeof(*list), cmp_told);
	return found;
}

/* Returns the first entry of the sorted list that is not before the key. */
static const struct told *first_told(const struct told *list, size_t n,
				     const struct told *key)
{
	size_t from = 0;

	while (from < n) {
		size_t middle = from + (n - from) / 2;

		if (cmp_told(&list[middle], key) < 0)
			from = middle + 1;
		else
			n = middle;
	}
	return list + from;
}

/* True if the second finding adds nothing to the first at its place. */
static bool is_same_fact(const struct finding *a, const struct finding *b)
{
	return a->severity >= b->severity &&
	       !strcmp(a->container, b->container) &&
	       text_eq(text_or_empty(a->cause), text_or_empty(b->cause)) &&
	       text_eq(text_or_empty(a->check), text_or_empty(b->check));
}

static bool is_told(const struct finding *f, const struct told *list, size_t n)
{
	struct told key = {
		.rule = f->rule,
		.file = runtime_file(f),
		.start = f->about_whole ? f->spec.base : f->value_start,
		.whole = f->about_whole,
	};

	for (const struct told *one = first_told(list, n, &key);
	     one < list + n && !cmp_told(one, &key); one++)
		if (is_same_fact(one->finding, f))
			return true;
	return false;
}

size_t findings_repeat(struct finding *const *findings, size_t n)
{
	struct told *list;
	size_t ntold, found = 0, made = 0;

	for (size_t i = 0; i < n; i++)
		made += is_made(findings[i]);
	if (!made)
		return 0;
	list = malloc(n * sizeof(*list));
	if (!list)
		OUT_OF_MEMORY();
	ntold = list_told(findings, n, list);
	for (size_t i = 0; i < n; i++) {
		struct finding *f = findings[i];

		if (!is_made(f) || !is_told(f, list, ntold))
			continue;
		f->repeated = true;
		found++;
	}
	free(list);
	return found;
}
