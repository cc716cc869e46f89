/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LimitRanger completes the resources of containers: source
 * plugin/pkg/admission/limitranger mergeContainerResources.
 */
#include "kube/quota/limit_range.h"

#include "base/array.h"

/* `max` is the default of an item without one (SetDefaults_LimitRangeItem).
 */
static bool gives(const struct node *item, const char *resource)
{
	static const char *const maps[] = {"default", "defaultRequest", "max"};

	if (!node_eq(node_get(item, "type"), "Container"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
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
