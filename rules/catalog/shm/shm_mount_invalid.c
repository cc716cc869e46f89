/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports mounts at /dev/shm that the API server rejects: the volume is not in
 * the pod ("volumeMounts[0].name: Not found"), or the path is mounted twice
 * ("mountPath: must be unique"). A custom resource is accepted, but its pods
 * are rejected. Claim templates count as volumes, and so do volumes in fields
 * of the operator. For kinds whose operator may add volumes (of a runtime, a
 * preset, or its own), only a path that is mounted twice is reported. Source:
 * pkg/apis/core/validation ValidateVolumeMounts; observed.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/purpose/purpose.h"
#include "kube/resources/volume.h"

static bool may_gain_volumes(const struct container *c)
{
	return shm_is_injected(c) || pod_is_preset(c->pod) ||
	       container_is_merged(c);
}

static void check_container(struct rule_run *run, const struct container *c)
{
	const struct node *first = NULL;

	FOR_EACH_CHILD(node_get(c->node, "volumeMounts"), mount) {
		const struct node *path = node_get(mount, "mountPath");
		const char *name;

		if (!node_eq(path, SHM_PATH))
			continue;
		name = node_str(node_get(mount, "name"));
		if (first)
			finding_label(
				run,
				report_container(
					run, c, path,
					"/dev/shm is mounted twice: the API server rejects the pod"),
				first, "the first mount");
		first = path;
		if (name && !pod_volume(c->pod, name) &&
		    !pod_has_other_volume(c->pod, name) && !may_gain_volumes(c))
			report_container(
				run, c, node_get(mount, "name"),
				"the mount at /dev/shm names volume `%s`, which the pod does not have",
				name);
	}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (node_is_unknown(pod_field(pod, "volumes")))
		return;
	FOR_EACH_CONTAINER(pod, c)
		check_container(run, c);
}

const struct rule rule_shm_mount_invalid = {
	.name = "shm-mount-invalid",
	.category = "shm",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE | RULE_INFRASTRUCTURE,
	.scope = PODSPEC,
	.summary = "a mount at /dev/shm that the API server rejects",
	.why = "The pod does not have the volume, or the path is mounted twice: the object is rejected or, for a custom resource, its pods are.",
	.remedy = "Name a volume of the pod, and mount it once.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/core/validation ValidateVolumeMounts; observed on kube-apiserver 1.37.2",
	.check_pod = check,
};
