/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LimitRanger gives a container what its resources do not say: source
 * plugin/pkg/admission/limitranger mergeContainerResources.
 */
#include "kube/quota/limit_range.h"

#include <string.h>

static const struct node *default_of(const struct node *item,
				     const struct container *c)
{
	if (!node_eq(node_get(item, "type"), "Container"))
		return NULL;
	FOR_EACH_CHILD(node_get(item, "default"), fallback) {
		struct quantity q;

		if (fallback->key && strchr(fallback->key, '/') &&
		    node_quantity(fallback, &q) == QUANTITY_OK && q.nano &&
		    fallback->str &&
		    !node_get(container_limits(c), fallback->key))
			return fallback;
	}
	return NULL;
}

const struct node *limit_range_default(const struct cluster *cluster,
				       const struct container *c,
				       struct arena *arena, const char **range)
{
	const struct pod *pod = c->pod;
	const struct cluster_object *ranges;
	size_t n;

	if (!cluster || !pod->object->namespace || pod->flat)
		return NULL;
	ranges = cluster_objects(cluster, CLUSTER_LIMIT_RANGE,
				 pod->object->namespace, arena, &n);
	for (size_t i = 0; i < n; i++)
		FOR_EACH_CHILD(node_path(ranges[i].root, "spec.limits"), item) {
			const struct node *fallback = default_of(item, c);

			*range = ranges[i].name;
			if (fallback)
				return fallback;
		}
	return NULL;
}

/* A max is the default of a container without one (SetDefaults_LimitRangeItem).
 */
static bool gives(const struct node *item, const char *resource)
{
	static const char *const maps[] = {"default", "defaultRequest", "max"};

	if (!node_eq(node_get(item, "type"), "Container"))
		return false;
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		if (!node_is_unset(node_get(node_get(item, maps[i]), resource)))
			return true;
	return false;
}

bool limit_range_defaults(const struct cluster *cluster, const char *namespace,
			  const char *resource, struct arena *arena)
{
	const struct cluster_object *ranges;
	size_t n;

	ranges = cluster_objects(cluster, CLUSTER_LIMIT_RANGE, namespace, arena,
				 &n);
	for (size_t i = 0; i < n; i++)
		FOR_EACH_CHILD(node_path(ranges[i].root, "spec.limits"), item)
			if (gives(item, resource))
				return true;
	cluster_absent(cluster, CLUSTER_LIMIT_RANGE, namespace, NULL);
	return false;
}
