/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Anchors of scalars and their aliases: `&a x`, `*a`, each with its value on
 * one line. All other uses (on maps and keys, merges, too many aliases) are
 * left to libyaml and yaml_merge.c.
 */
#include <string.h>

#include "yaml_block.h"

static bool is_name(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z') || c == '_' || c == '-';
}

const char *fast_name_end(const char *p)
{
	while (is_name(*p))
		p++;
	return p;
}

static struct fast_anchor *find_anchor(struct fast *fast, const char *name,
				       size_t len)
{
	for (unsigned i = 0; i < fast->nanchors; i++)
		if (fast->anchors[i].len == len &&
		    !memcmp(fast->anchors[i].name, name, len))
			return &fast->anchors[i];
	return NULL;
}

bool fast_set_anchor(struct fast *fast, const char *name, size_t len,
		     struct node *node)
{
	struct fast_anchor *anchor = find_anchor(fast, name, len);

	if (!len || (!anchor && fast->nanchors == FAST_ANCHORS))
		return false;
	if (!anchor)
		anchor = &fast->anchors[fast->nanchors++];
	*anchor = (struct fast_anchor){name, len, node};
	node->flags |= NODE_ANCHORED;
	return true;
}

const struct node *fast_aliased(struct fast *fast, const char *name, size_t len)
{
	const struct fast_anchor *anchor = find_anchor(fast, name, len);

	/* A copy counts as a value, too. */
	if (!anchor || fast->aliases_left == 0 || fast->nodes_left < 2)
		return NULL;
	fast->aliases_left--;
	fast->nodes_left--;
	return anchor->node;
}
