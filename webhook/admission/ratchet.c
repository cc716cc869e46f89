/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the findings of an UPDATE with those of the old object. Two findings
 * are the same if rule and value are the same. The value includes pod,
 * container, message and all values that decide the verdict, but not the
 * position: a missing field is reported at the nearest existing parent, which
 * may change. The use of devices that no quota counts may not grow: the new
 * object may not use them in more pods than the old one.
 */
#include "review_context.h"

#include <stdlib.h>
#include <string.h>

struct forgivable {
	uint64_t value;
	const struct rule *rule;
	struct amount pods; /* number of pods that use devices */
};

/* Returns true if the rule reports devices that no quota counts. */
static bool takes(const struct finding *f)
{
	return f->rule->flags & RULE_TAKES;
}

static int cmp_kept(const void *a, const void *b)
{
	const struct forgivable *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? 1 : -1;
	return strcmp(x->rule->name, y->rule->name);
}

/* Sorts the items and merges equal ones, with the sum of their pods. */
static size_t merge(struct forgivable *items, size_t n)
{
	size_t last = 0;

	if (!n)
		return 0;
	qsort(items, n, sizeof(*items), cmp_kept);
	for (size_t i = 1; i < n; i++) {
		if (cmp_kept(&items[last], &items[i]))
			items[++last] = items[i];
		else
			items[last].pods =
				amount_add(items[last].pods, items[i].pods);
	}
	return last + 1;
}

struct kept_list {
	struct forgivable *items;
	size_t n;
};

/* Lists the findings for which the request of c would be denied, or all that
 * are not suppressed if c is NULL. */
static struct kept_list list(struct arena *arena,
			     const struct object_findings *findings,
			     const struct request_context *c)
{
	struct kept_list out = {.items = ARENA_ARRAY(arena, struct forgivable,
						     findings->n + 1)};

	for (size_t i = 0; i < findings->n; i++) {
		const struct finding *f = &findings->items[i];

		if (f->suppressed ||
		    (c && decide(c, f).outcome != OUTCOME_DENY))
			continue;
		out.items[out.n++] =
			(struct forgivable){f->value, f->rule, f->pods};
	}
	out.n = merge(out.items, out.n);
	return out;
}

struct rule_list {
	const struct rule **items;
	size_t n;
};

static bool has_rule(const struct rule_list *list, const struct rule *rule)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->items[i] == rule)
			return true;
	return false;
}

static const struct forgivable *find_forgivable(const struct kept_list *list,
						const struct forgivable *key)
{
	return bsearch(key, list->items, list->n, sizeof(*key), cmp_kept);
}

/* Lists each rule of the given list once. */
static struct rule_list rules_of(struct arena *arena,
				 const struct kept_list *list)
{
	struct rule_list out = {
		ARENA_ARRAY(arena, const struct rule *, list->n + 1), 0};

	for (size_t i = 0; i < list->n; i++)
		if (!has_rule(&out, list->items[i].rule))
			out.items[out.n++] = list->items[i].rule;
	return out;
}

static bool is_more(struct amount now, struct amount before)
{
	return now.n > before.n || (now.unknown && !before.unknown);
}

bool ratchet(struct arena *arena, const struct request_context *c,
	     const struct object_findings *now,
	     const struct object_findings *old)
{
	/* Context in which the old object would be created today. */
	struct request_context alone = {.pod = c->pod};
	struct kept_list before = list(arena, old, &alone);
	struct kept_list after = list(arena, now, NULL);
	struct rule_list rules = rules_of(arena, &before);
	bool more = false;

	for (size_t i = 0; i < now->n; i++) {
		struct finding *f = &now->items[i];
		struct forgivable key = {f->value, f->rule, amount_of(0)};
		const struct forgivable *was = find_forgivable(&before, &key);
		const struct forgivable *is = find_forgivable(&after, &key);

		f->forgiven = was && (!takes(f) || !is ||
				      !is_more(is->pods, was->pods));
		f->had_before = !takes(f) && has_rule(&rules, f->rule);
		more |= takes(f) && !f->suppressed && !f->forgiven;
	}
	return more;
}
