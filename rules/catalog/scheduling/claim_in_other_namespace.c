/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods that mount a PersistentVolumeClaim which their file defines in
 * another namespace. A pod mounts only claims of its namespace, and stays
 * Pending until the namespace has one of that name (kubernetes
 * pkg/scheduler/framework/plugins/volumebinding, v1.36.1). The namespace may
 * have such a claim already.
 */
#include "engine/rule.h"
#include "kube/set/index_find.h"

static void check_volume(struct rule_run *run, const struct workload *w,
			 const struct pod *pod, const struct node *volume)
{
	const struct node *at = node_get(
		node_get(volume, "persistentVolumeClaim"), "claimName");
	const char *name = node_str(at), *elsewhere;
	struct finding *f;
	struct place place;

	if (!name || index_find(rule_index(run), w, CLUSTER_VOLUME_CLAIM, name,
				rule_arena(run)))
		return;
	elsewhere = index_elsewhere(rule_index(run), w, CLUSTER_VOLUME_CLAIM,
				    name, &place);
	if (!elsewhere)
		return;
	f = report_pod(
		run, pod, at,
		"claim `%s` is defined in namespace `%s`, but the pods are in `%s`: unless that namespace has a claim of this name too, they stay Pending",
		name, elsewhere, w->id.namespace);
	finding_cause(run, f, name);
	finding_label_place(run, f, &place, "the claim");
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct object *object = w->claims && !w->child && *w->id.namespace
					      ? rule_object(run, w)
					      : NULL;

	if (object && !object->fragment)
		FOR_EACH_POD(object, pod)
			FOR_EACH_CHILD(pod->volumes, volume)
				check_volume(run, w, pod, volume);
}

const struct rule rule_claim_in_other_namespace = {
	.name = "claim-in-other-namespace",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.flags = RULE_ABSENCE,
	.scope = GPU_PODS | PODSPEC,
	.summary = "a volume claim that is defined in another namespace",
	.why = "A pod can mount only claims in its namespace. If no claim there has this name, the pod stays Pending.",
	.remedy = "Define the claim in the namespace of the pods.",
	.evidence =
		"https://kubernetes.io/docs/concepts/storage/persistent-volumes/#a-note-on-namespaces; https://github.com/open-webui/open-webui/pull/870",
	.check_workload = check,
};
