/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LimitRanger gives a container what its resources do not say: source
 * plugin/pkg/admission/limitranger mergeContainerResources.
 */
#include "kube/limit_range.h"

#include <string.h>

static const struct node *gift_of(const struct node *item,
				  const struct container *c)
{
	if (!node_eq(node_get(item, "type"), "Container"))
		return NULL;
	FOR_EACH_CHILD(node_get(item, "default"), gift) {
		struct quantity q;

		if (gift->key && strchr(gift->key, '/') &&
		    node_quantity(gift, &q) == QUANTITY_OK && q.nano &&
		    gift->str && !node_get(container_limits(c), gift->key))
			return gift;
	}
	return NULL;
}

const struct node *limit_range_gift(const struct cluster *cluster,
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
			const struct node *gift = gift_of(item, c);

			*range = ranges[i].name;
			if (gift)
				return gift;
		}
	return NULL;
}
