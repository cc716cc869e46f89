/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables that a command assigns by `NAME=value` words. They are sorted by
 * name, because a script may have very many words, and each may refer to a
 * variable.
 */
#include "rules/kube/command/parallel_internal.h"

#include <stdlib.h>
#include <string.h>

#include "kube/pod.h"
#include "rules/kube/kinds.h"

struct assignment {
	const char *name; /* ends at the '=' */
	size_t len;
	const struct arg *arg;
};

struct assignments {
	struct assignment *items;
	size_t n;
};

static int compare(const void *a, const void *b)
{
	const struct assignment *x = a, *y = b;
	size_t len = x->len < y->len ? x->len : y->len;
	int order = memcmp(x->name, y->name, len);

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

static const struct assignments *read_all(const struct container *c)
{
	struct arena *arena = c->pod->memo->arena;
	struct argv argv = container_argv(c);
	struct assignments *all = ARENA_NEW(arena, struct assignments);

	all->items = ARENA_ARRAY(arena, struct assignment, argv.n + 1);
	for (size_t i = 0; i < argv.n; i++) {
		const char *text = argv.items[i].text;
		const char *end = text ? strchr(text, '=') : NULL;

		if (end && end > text)
			all->items[all->n++] = (struct assignment){
				text, (size_t)(end - text), &argv.items[i]};
	}
	qsort(all->items, all->n, sizeof(*all->items), compare);
	return all;
}

const char *assigned_value(const struct container *c, const char *name,
			   bool *set)
{
	const struct assignment key = {name, strlen(name), NULL}, *found;
	const struct argv argv = container_argv(c);
	const struct assignments *all;

	*set = false;
	if (!argv_may_assign(&argv, name))
		return NULL;
	if (!c->memo->assigned)
		c->memo->assigned = read_all(c);
	all = c->memo->assigned;
	found = bsearch(&key, all->items, all->n, sizeof(key), compare);
	if (!found)
		return NULL;
	*set = true;
	/* If it is assigned twice, its effective value is unknown. */
	if (found->arg->unknown ||
	    (found > all->items && !compare(found - 1, found)) ||
	    (found + 1 < all->items + all->n && !compare(found + 1, found)))
		return NULL;
	return found->name + found->len + 1;
}
