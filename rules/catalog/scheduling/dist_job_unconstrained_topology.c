/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports jobs with 16 or more accelerators in several pods, whose ranks may be
 * placed far apart. Jobs with any setting about topology, a node pool or a
 * placement group are skipped, and so are jobs with a claim, which may be for
 * devices that only nodes of one fabric have (NVIDIA's ComputeDomain).
 */
#include <string.h>

#include "engine/rule.h"
#include "kube/accelerator.h"
#include "kube/lifecycle/lifecycle.h"

enum { LARGE = 16 };

/* True if the map has a key about topology, zones or node pools. The comparison
 * without the first letter also finds `Topology`. */
static bool speaks_of_topology(const struct node *map)
{
	FOR_EACH_CHILD(map, value)
		if (value->key && (strstr(value->key, "opology") ||
				   strstr(value->key, "/zone") ||
				   strstr(value->key, "nodepool")))
			return true;
	return false;
}

static bool selects_place(const struct node *selector)
{
	FOR_EACH_CHILD(selector, value) {
		const struct node_label *label =
			value->key ? node_label_find(value->key) : NULL;

		if ((label && label->meaning == LABEL_POOL) ||
		    (value->key && strstr(value->key, "placement")))
			return true;
	}
	return speaks_of_topology(selector);
}

static bool is_placed(const struct object *object)
{
	if (speaks_of_topology(object->annotations) ||
	    speaks_of_topology(object->labels) ||
	    node_path(object->root, "spec.networkTopology"))
		return true;
	FOR_EACH_POD(object, pod)
		if (speaks_of_topology(pod->annotations) ||
		    speaks_of_topology(pod->labels) || pod->flat ||
		    selects_place(pod_field(pod, "nodeSelector")) ||
		    !node_is_unset(pod_field(pod, "resourceClaims")) ||
		    !node_is_unset(pod_field(pod, "affinity")) ||
		    !node_is_unset(pod_field(pod, "topologySpreadConstraints")))
			return true;
	return false;
}

static void check(struct rule_run *run, const struct object *object)
{
	struct amount pods = object_gpu_pods(object);

	if (object->class != KIND_TRAINING || object->gpus.unknown ||
	    object->gang.n < 2 || pods.unknown || pods.n < 2 ||
	    object->gpus.n < LARGE || object->fragment || is_placed(object))
		return;
	report_object(
		run, object, NULL,
		"no setting of the job keeps its %s (%s) together: if the cluster has several zones or network switches, they may be far apart",
		rule_count(run, pods.n, "pod"),
		rule_count(run, object->gpus.n, object_device(object)));
}

const struct rule rule_dist_job_unconstrained_topology = {
	.name = "dist-job-unconstrained-topology",
	.category = "scheduling",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW | RULE_ABSENCE,
	.scope = GPU_PODS,
	.summary =
		"the ranks of a job with 16 or more accelerators may be far apart",
	.why = "Every step waits for the slowest link: ranks in different zones or behind different network switches slow down all GPUs.",
	.remedy =
		"Keep the ranks together with Kueue's podset-required-topology, Volcano's networkTopology, JobSet's exclusive-topology, or an affinity to one zone.",
	.evidence =
		"https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/; https://volcano.sh/docs/network_topology_aware_scheduling/",
	.check_object = check,
};
