/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a pod: values from all of its maps, the places where fixes write
 * them, and the comparison of two pods. */
#include "rules/kube/kinds.h"

#include <string.h>

const struct node *pod_field_default(const struct pod *pod, const char *name)
{
	const struct node *node = node_get(pod->inner, name);

	if (!node_is_unset(node))
		return node;
	/* In Argo, the field for all templates has another name. */
	if (!strcmp(name, "priorityClassName")) {
		node = node_get(pod->defaults, "podPriorityClassName");
		if (!node_is_unset(node))
			return node;
	}
	node = node_get(pod->defaults, name);
	return node_is_unset(node) ? node_get(pod->injected, name) : node;
}

const struct node *pod_scheduler_default(const struct pod *pod)
{
	const struct kind *type = pod->object->type;

	return type && type->scheduler
		       ? path_get(pod->object->root, type->scheduler)
		       : pod_field_default(pod, "schedulerName");
}

const struct node *pod_meta_default(const struct pod *pod, const char *map,
				    const char *key)
{
	const struct node *metadata = node_get(pod->defaults, "podMetadata");

	return node_if_set(node_get(node_get(metadata, map), key));
}

static const struct node *named_item(const struct node *list, const char *name)
{
	FOR_EACH_CHILD(list, item)
		if (node_eq(node_get(item, "name"), name))
			return item;
	return NULL;
}

const struct node *pod_volume(const struct pod *pod, const char *name)
{
	const struct node *volume =
		named_item(node_get(pod->spec, "volumes"), name);

	if (!volume)
		volume = named_item(node_get(pod->inner, "volumes"), name);
	if (volume)
		return volume;
	volume = named_item(node_get(pod->defaults, "volumes"), name);
	return volume ? volume : named_item(pod->volumes, name);
}

/* Returns the number of the row's keys if dotted begins with them, else 0. */
static size_t begins_with(const char *dotted, const char *const *keys)
{
	size_t n = 0;

	for (; keys[n]; n++) {
		size_t len = strlen(keys[n]);

		if (strncmp(dotted, keys[n], len) != 0 ||
		    (dotted[len] && dotted[len] != '.'))
			return 0;
		dotted += len + (dotted[len] == '.');
	}
	return n;
}

/* Returns the author's container with the name of a generated one, or NULL. */
static const struct node *own_container(const struct pod *pod,
					const struct node *made)
{
	const char *name = node_str(node_get(made, "name"));

	FOR_EACH_CHILD(node_get(pod->source, "containers"), container)
		if (name && node_eq(node_get(container, "name"), name))
			return container;
	return NULL;
}

const struct node *pod_field_place(const struct pod *pod,
				   const struct node *base, const char *dotted,
				   const char *const **keys, size_t *taken)
{
	static const char *const here[] = {NULL};
	const struct field_row *row = pod->fields;
	bool box = base != pod->spec;

	for (; row && row->from; row++) {
		*taken = row->to ? begins_with(dotted, row->to) : 0;
		if (row->box != box || row->join || (row->to && !*taken))
			continue;
		*keys = row->from;
		if (row->base == FIELD_OF_OBJECT)
			return pod->object->root;
		return row->base == FIELD_OF_GROUP ? pod->group : pod->source;
	}
	*keys = here;
	*taken = 0;
	if (!pod->partly)
		return NULL;
	return box ? own_container(pod, base) : pod->source;
}

enum tri pod_uses_gpu(const struct pod *pod)
{
	if (pod->gpu_by)
		return TRI_YES;
	return pod->gpu_unknown ? TRI_UNKNOWN : TRI_NO;
}
