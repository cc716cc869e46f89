/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mount at /dev/shm that the API server refuses: its volume is not in the
 * pod ("volumeMounts[0].name: Not found"), or the path is mounted twice
 * ("mountPath: must be unique"). Judged on built-in kinds, whose pod template
 * is all there is; a StatefulSet's claim templates are volumes too.
 * Source: pkg/apis/core/validation ValidateVolumeMounts; observed.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/shm.h"

static bool is_built_in(const struct object *o)
{
	return text_eq(o->group, "") || text_eq(o->group, "apps") ||
	       text_eq(o->group, "batch");
}

static bool is_claimed(const struct object *o, const char *name)
{
	FOR_EACH_CHILD(node_path(o->root, "spec.volumeClaimTemplates"), claim)
		if (node_eq(node_path(claim, "metadata.name"), name))
			return true;
	return false;
}

static void check_container(struct rule_run *run, const struct container *c)
{
	const struct object *o = c->pod->object;
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
				report_container(run, c, path,
						 "/dev/shm is mounted twice"),
				first, "the first mount");
		first = path;
		if (name && !pod_volume(c->pod, name) && !is_claimed(o, name))
			report_container(
				run, c, node_get(mount, "name"),
				"the pod has no volume `%s` to mount at /dev/shm",
				name);
	}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (!is_built_in(pod->object) ||
	    node_is_unknown(pod_field(pod, "volumes")))
		return;
	FOR_EACH_CONTAINER(pod, c)
		check_container(run, c);
}

const struct rule rule_shm_mount_invalid = {
	.name = "shm-mount-invalid",
	.category = "shm",
	.severity = SEVERITY_ERROR,
	.action = ACTION_DENY,
	.flags = RULE_ABSENCE | RULE_INFRASTRUCTURE,
	.since = "1.0",
	.summary = "a mount at /dev/shm that the API server refuses",
	.why = "The volume is not in the pod, or the path is mounted twice: the object is rejected.",
	.remedy = "Name a volume of the pod, and mount it once.",
	.evidence =
		"pkg/apis/core/validation ValidateVolumeMounts; observed on kube-apiserver",
	.check_pod = check,
};
