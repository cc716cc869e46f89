/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds injected fields to a pod: extends the author's lists and maps, and adds
 * fields that are not set. The new nodes have the source position of the pod's
 * spec, or of the author's list.
 */
#include "kube/object.h"

#include <string.h>

#include "base/glob.h"
#include "base/text.h"
#include "doc/build.h"
#include "kube/container.h"
#include "kube/pod.h"
#include "rules/kube/kinds.h"

enum { NODES_MAX = 10000, INJECTED = UINT32_MAX };

bool node_is_injected(const struct node *node)
{
	return node && node->key_start == INJECTED;
}

/* Marks a tree as injected and sets its source position. Nothing writes to a
 * node through its parent pointer, so parent may be constant. */
static void mark(struct node *node, const struct node *parent, uint32_t at)
{
	memcpy(&node->parent, &parent, sizeof(parent));
	node->start = node->end = at;
	node->key_start = node->key_end = INJECTED;
	for (struct node *child = node->first; child; child = child->next)
		mark(child, node, at);
}

static struct node *copy_of(struct arena *arena, const struct node *node,
			    const struct node *parent)
{
	uint32_t budget = NODES_MAX;
	struct node *copy = node_copy(arena, node, 0, &budget);

	if (copy) {
		copy->key = node->key;
		copy->key_len = node->key_len;
		copy->tag = node->tag;
		copy->next = NULL;
		mark(copy, parent, parent->start);
	}
	return copy;
}

static void append(struct node *list, struct node *child)
{
	child->index = list->len++;
	if (list->last)
		list->last->next = child;
	else
		list->first = child;
	list->last = child;
	list->tags |= node_tag_bit(child->tag);
}

/* True if the list has an item with the name of `like`; for a map, true if it
 * has the key of `like`. */
static bool list_has(const struct node *list, const struct node *like)
{
	const char *name = node_str(node_get(like, "name"));

	if (node_is_map(list))
		return node_getn(list, like->key, like->key_len);
	FOR_EACH_CHILD(list, item)
		if (name && node_eq(node_get(item, "name"), name))
			return true;
	return false;
}

/* Returns `own` with the entries of `more` that it lacks. Returns `own` alone
 * if it is unknown, `more` is NULL, or their types differ; a copy of `more` if
 * `own` is not set or `more` is unknown. */
static const struct node *joined(struct arena *arena, const struct node *own,
				 const struct node *more,
				 const struct node *spec)
{
	struct node *out;

	if (!more || node_is_unknown(own))
		return own;
	if (node_is_unset(own) || node_is_unknown(more))
		return copy_of(arena, more, spec);
	if (own->type != more->type)
		return own;
	out = ARENA_NEW(arena, struct node);
	*out = *own;
	out->first = out->last = NULL;
	out->map_index = NULL;
	out->len = 0;
	FOR_EACH_CHILD(own, child) {
		struct node *same = ARENA_NEW(arena, struct node);

		*same = *child;
		same->next = NULL;
		append(out, same);
	}
	FOR_EACH_CHILD(more, child) {
		struct node *copy = list_has(own, child)
					    ? NULL
					    : copy_of(arena, child, own);

		if (copy)
			append(out, copy);
	}
	return out;
}

static bool is_meant(const struct pod_injection *one, const char *namespace)
{
	if (!one->namespaces)
		return true;
	for (const struct glob *const *glob = one->namespaces; *glob; glob++)
		if (namespace && glob_match(*glob, namespace))
			return true;
	return false;
}

void pod_inject(struct arena *arena, struct pod *pod, const struct node *fields)
{
	const struct node *spec = pod->spec;

	if (pod->flat || !node_is_map(spec))
		return;

	pod->tolerations = joined(arena, pod->tolerations,
				  node_get(fields, "tolerations"), spec);
	pod->volumes =
		joined(arena, pod->volumes, node_get(fields, "volumes"), spec);
	pod->labels =
		joined(arena, pod->labels, node_get(fields, "labels"), spec);
	pod->injected = pod->injected
				? joined(arena, pod->injected, fields, spec)
				: copy_of(arena, fields, spec);
	for (size_t i = 0; i < pod->ncontainers; i++)
		container_add_env(arena, &pod->containers[i],
				  node_get(pod->injected, "env"));
}

void object_inject(struct arena *arena, const struct kube_config *config,
		   struct object *object)
{
	for (size_t i = 0; i < config->ninjected; i++) {
		const struct pod_injection *one = &config->injected[i];

		if (!is_meant(one, object->namespace))
			continue;
		for (size_t p = 0; p < object->npods; p++)
			pod_inject(arena, &object->pods[p], one->fields);
	}
}
