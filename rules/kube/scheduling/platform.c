/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GKE adds tolerations itself (ExtendedResourceToleration). Node pools of EKS,
 * AKS and Karpenter have the taints that their owner wrote, so that the
 * vendor's key is not known to be one.
 * Sources: GKE "Run GPUs in Standard node pools", Karpenter NodePool
 * spec.template.spec.taints, AKS "Use GPUs": --node-taints.
 */
#include "kube/platform.h"

#include <string.h>

#include "base/text.h"
#include "kube/accelerator.h"
#include "kube/scheduling/affinity.h"

static bool is_of_platform(const struct node_need *need)
{
	const struct node_label *label = node_label_find(need->key);
	const struct node *value = node_need_value(need, 0);

	if (label && label->meaning == LABEL_INSTANCE)
		return node_str(value) && instance_type_find(node_str(value));
	return label && label->platform;
}

static bool annotates_platform(const struct node *metadata)
{
	return node_get(node_get(metadata, "annotations"),
			"serving.kserve.io/gke-accelerator");
}

bool object_shows_platform(const struct object *object)
{
	if (annotates_platform(node_get(object->root, "metadata")))
		return true;
	FOR_EACH_POD(object, pod) {
		struct node_needs needs = pod_node_needs(pod);

		if (needs.unknown || annotates_platform(pod->metadata))
			return true;
		for (size_t i = 0; i < needs.n; i++)
			if (is_of_platform(&needs.items[i]))
				return true;
	}
	return false;
}
