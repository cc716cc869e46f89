/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `injected:`, fields that the cluster's webhooks and admission policies add to
 * pods (kube/injected.h).
 */
#include <stddef.h>

#include "base/vec.h"
#include "doc/build.h"
#include "doc/edit.h"
#include "policy_read.h"

enum { NODES_MAX = 10000 };

struct injection_reading {
	struct patterns namespaces;
	struct node *fields;
};

/* Copies texts, because the document is freed before the policy. */
static void own_texts(struct arena *arena, struct node *node)
{
	if (node->str)
		node->str = arena_strndup(arena, node->str, node->len);
	if (node->key)
		node->key = arena_strndup(arena, node->key, node->key_len);
	for (struct node *child = node->first; child; child = child->next)
		own_texts(arena, child);
}

static void keep_injection(struct policy_reader *r, const struct node *node,
			   struct injection_reading *reading)
{
	uint32_t budget = NODES_MAX;
	struct arena *arena = policy_arena(r->policy);
	struct node *copy = node_copy(arena, node, 0, &budget);

	if (copy)
		own_texts(arena, copy);
	if (copy)
		edit_member(arena, reading->fields,
			    arena_strdup(arena, node->key), copy);
	else
		problem(r, node, "too many values");
}

static void read_name(struct policy_reader *r, const struct node *node,
		      void *into)
{
	if (read_text(r, node))
		keep_injection(r, node, into);
}

static void read_items(struct policy_reader *r, const struct node *node,
		       void *into)
{
	if (!node_is_seq(node))
		problem(r, node, "expected a list, found %s", node_noun(node));
	else
		keep_injection(r, node, into);
}

static void read_labels(struct policy_reader *r, const struct node *node,
			void *into)
{
	if (!node_is_map(node))
		problem(r, node, "expected a map, found %s", node_noun(node));
	else
		keep_injection(r, node, into);
}

static const struct glob *const *globs_of(struct policy_reader *r,
					  const struct patterns *patterns)
{
	const struct glob **globs;

	if (!patterns->n)
		return NULL;
	globs = ARENA_ARRAY(policy_arena(r->policy), const struct glob *,
			    patterns->n + 1);
	for (size_t i = 0; i < patterns->n; i++)
		globs[i] = patterns->items[i].glob;
	return globs;
}

void read_injected(struct policy_reader *r, const struct node *node,
		   void *unused)
{
	static const struct policy_field fields[] = {
		{"namespaces", field_patterns, 0,
		 offsetof(struct injection_reading, namespaces)},
		{"tolerations", read_items, 0, 0},
		{"schedulerName", read_name, 0, 0},
		{"runtimeClassName", read_name, 0, 0},
		{"env", read_items, 0, 0},
		{"volumes", read_items, 0, 0},
		{"labels", read_labels, 0, 0},
		{0},
	};
	struct arena *arena = policy_arena(r->policy);
	struct injection_reading reading = {.fields =
						    node_new(arena, NODE_MAP)};

	(void)unused;
	read_fields(r, node, fields, &reading);
	*VEC_PUSH(arena, r->injected, r->ninjected, r->injected_size) =
		(struct pod_injection){globs_of(r, &reading.namespaces),
				       reading.fields};
}
