/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Volumes that a pod gets although its own list does not have them: templates
 * of claims next to the pod, volumes in an operator's fields, and volumes that
 * an operator adds.
 */
#include "kube/resources/other_volume.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"

/* True if these are the volumes of another pod of the object (a Ray cluster's
 * head), which the pod does not get. */
static bool is_other_pod(const struct pod *pod, const struct node *list)
{
	FOR_EACH_POD(pod->object, other)
		if (other != pod && other->volumes == list)
			return pod->volumes != list;
	return false;
}

/* True if a tree defines a volume or a claim template of that name: next to the
 * pod (StatefulSet), or in an operator's fields (JobSet). */
static bool is_defined(const struct pod *pod, const struct node *tree,
		       const char *name, bool volumes)
{
	if (volumes && (node_eq(node_get(tree, "name"), name) ||
			node_eq(node_path(tree, "metadata.name"), name)))
		return true;
	FOR_EACH_CHILD(tree, child) {
		const char *key = child->key;
		bool below = volumes;

		if (key && text_starts(key, "volume") &&
		    strcmp(key, "volumeMounts") != 0 &&
		    strcmp(key, "volumeDevices") != 0 &&
		    !is_other_pod(pod, child))
			below = true;
		if ((!key || strcmp(key, "containers") != 0) &&
		    is_defined(pod, child, name, below))
			return true;
	}
	return false;
}

/* True for volumes of KubeRay, mpi-operator, Istio and Argo that authors
 * mount. */
static bool is_of_operator(const char *name)
{
	static const char *const prefixes[] = {"mpi-job-", "istio",
					       "workload-"};
	static const char *const names[] = {
		"shared-mem",  "ray-logs", "ray-tls", "ray-token",
		"gcs-storage", "ssh-auth", "argo",    "var-run-argo"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (text_starts(name, prefixes[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (text_eq(name, names[i]))
			return true;
	return false;
}

bool pod_has_other_volume(const struct pod *pod, const char *name)
{
	return is_defined(pod, pod->object->root, name, false) ||
	       (!object_kind_has(pod->object, KIND_NATIVE | KIND_SELECTOR) &&
		is_of_operator(name));
}
