/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one text with both YAML readers. If the fast one returns a tree,
 * libyaml must return the same tree without an issue.
 */
#ifndef TOOLS_YAML_COMPARE_H
#define TOOLS_YAML_COMPARE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/doc/yaml/block/yaml_block.h"

enum yaml_compare {
	COMPARE_FALL_BACK, /* the fast reader left the text to libyaml */
	COMPARE_SAME,
	COMPARE_DIFFER,
};

static inline bool compare_bytes(const char *a, size_t a_len, const char *b,
				 size_t b_len)
{
	if (!a || !b)
		return a == b && a_len == b_len;
	return a_len == b_len && !memcmp(a, b, a_len + 1);
}

static inline bool compare_scalar(const struct node *a)
{
	return a->type != NODE_MAP && a->type != NODE_SEQ;
}

static inline bool compare_fields(const struct node *a, const struct node *b)
{
	return a->type == b->type && a->flags == b->flags && a->len == b->len &&
	       a->start == b->start && a->end == b->end &&
	       a->key_start == b->key_start && a->key_end == b->key_end &&
	       a->index == b->index && !a->first == !b->first &&
	       !a->last == !b->last && !a->next == !b->next &&
	       !a->map_index == !b->map_index &&
	       compare_bytes(a->key, a->key_len, b->key, b->key_len) &&
	       (compare_scalar(a)
			? compare_bytes(a->str, a->len, b->str, b->len)
			: a->str == b->str);
}

/* Returns the first node of a that differs from b, or NULL. */
static inline const struct node *compare_trees(const struct node *a,
					       const struct node *b)
{
	const struct node *y = b->first;

	if (!compare_fields(a, b))
		return a;
	for (const struct node *x = a->first; x; x = x->next, y = y->next) {
		const struct node *found = compare_trees(x, y);

		if (found)
			return found;
		if (x->parent != a || y->parent != b ||
		    (!x->next && (a->last != x || b->last != y)))
			return x;
	}
	return NULL;
}

static inline void compare_issue(void *context, const struct load_issue *issue)
{
	const char **text = context;

	if (!*text)
		*text = issue->text;
}

static inline void compare_print(const char *who, const struct node *node)
{
	fprintf(stderr,
		"%s: type %u flags %u len %u span %u-%u key \"%s\" %u-%u "
		"index %u value \"%s\"\n",
		who, node->type, node->flags, node->len, node->start, node->end,
		node->key ? node->key : "", node->key_start, node->key_end,
		node->index, node->str ? node->str : "");
}

static inline enum yaml_compare
compare_readers(struct arena *arena, const char *text, size_t len,
		const struct load_limits *limits)
{
	const char *issue = NULL;
	struct source source = {.text = text, .len = len, .arena = arena};
	struct loader loader = {
		.source = &source,
		.limits = limits,
		.arena = arena,
		.issue = compare_issue,
		.context = &issue,
	};
	struct yaml_first fast = {.end = (uint32_t)len};
	struct yaml_first slow = {.end = (uint32_t)len};
	const struct node *bad;

	if (!yaml_fast_read(&loader, &fast)) {
		if (!issue && !fast.root && !fast.used)
			return COMPARE_FALL_BACK;
		fprintf(stderr, "gave up, but left something behind\n");
		return COMPARE_DIFFER;
	}
	loader.flow_work = 0;
	if (!yaml_read_events(&loader, &slow) || issue || !slow.root) {
		fprintf(stderr, "libyaml: %s\n", issue ? issue : "no tree");
		return COMPARE_DIFFER;
	}
	bad = compare_trees(fast.root, slow.root);
	if (!bad && fast.used == slow.used)
		return COMPARE_SAME;
	fprintf(stderr, "used %u, not %u\n", fast.used, slow.used);
	if (bad) {
		compare_print("fast", bad);
		bad = compare_trees(slow.root, fast.root);
		compare_print("libyaml", bad ? bad : slow.root);
	}
	return COMPARE_DIFFER;
}

#endif
