/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KubeRay: numbers of pods, the GPUs that Ray counts, and fields that the
 * operator adds to pods. Ray clusters run with the workers they have; only a
 * queue or a batch scheduler makes them a gang.
 *
 * Sources: KubeRay utils/util.go (counts), common/pod.go (injections;
 * BuildAutoscalerContainer, only with enableInTreeAutoscaling, in the head;
 * BuildCollectorContainer, in all pods), rayjob_types.go.
 */
#include "rules/kube/operator.h"

#include <stdlib.h>

#include "kube/operators.h"

int64_t ray_num_gpus(const struct pod *pod, const struct node **at)
{
	const char *text;
	char *end;
	long n;

	*at = node_get(node_get(pod->group, "rayStartParams"), "num-gpus");
	text = node_str(*at);
	if (!text || *text < '0' || *text > '9')
		return -1;
	n = strtol(text, &end, 10);
	return *end || n > 100000 ? -1 : n;
}

/* -- counts --------------------------------------------------------------- */

static bool autoscales(const struct node *group)
{
	/* A worker group is an item of workerGroupSpecs in the cluster's
	 * spec. */
	const struct node *list = group ? group->parent : NULL;

	return node_is_true(node_get(list ? list->parent : NULL,
				     "enableInTreeAutoscaling"));
}

struct amount ray_group_pods(const struct node *group, bool max)
{
	struct amount least = amount_field(group, "minReplicas", 0);
	struct amount most = amount_field(group, "maxReplicas", INT32_MAX);
	struct amount n = amount_field(group, "replicas", 0);

	if (node_is_true(node_get(group, "suspend")))
		return amount_of(0);
	if (most.unknown)
		most.n = 0;
	n = amount_max(n, least);
	if (max && autoscales(group)) {
		if (field_is_set(group, "maxReplicas"))
			n = amount_max(n, most);
		else
			n.unknown = true;
	} else if (!most.unknown && most.n < n.n) {
		n.n = most.n;
	}
	return amount_mul(n, amount_field(group, "numOfHosts", 1));
}

COUNT_FORMULA(ray)
{
	return ray_group_pods(at, false);
}

COUNT_FORMULA(ray_max)
{
	return ray_group_pods(at, true);
}

/*
 * Returns the number of pods for which a gang scheduler waits: the minimum if
 * the group autoscales.
 */
static struct amount group_gang(const struct node *group)
{
	if (!autoscales(group) || node_is_true(node_get(group, "suspend")))
		return ray_group_pods(group, false);
	return amount_mul(amount_field(group, "minReplicas", 0),
			  amount_field(group, "numOfHosts", 1));
}

/* By default, RayService creates the new cluster while the old one still
 * runs. */
COUNT_FORMULA(ray_upgrade)
{
	if (strcmp(place->object->kind, "RayService"))
		return amount_of(1);
	if (node_eq(node_path(at, "upgradeStrategy.type"), "None"))
		return amount_of(1);
	return amount_of(2);
}

COUNT_FORMULA(ray_submitter)
{
	const struct node *mode = node_get(at, "submissionMode");

	return amount_of(node_is_unset(mode) || node_eq(mode, "K8sJobMode"));
}

/* -- the gang -------------------------------------------------------------- */

/* Ray's workers join one by one; only a queue or a scheduler starts them
 * together. */
static struct gang gang(const struct object *object)
{
	struct gang out = {0};

	FOR_EACH_POD(object, pod) {
		if (!strcmp(pod->role, "submitter"))
			continue;
		out.n = amount_add(out.n, pod->group->key
						  ? amount_of(1)
						  : group_gang(pod->group));
	}
	return out;
}

/* -- additions of the operator --------------------------------------------- */

/* Autoscaler v2 and the sidecar submitter need pods that are not restarted. */
static bool forces_never(const struct pod_builder *builder,
			 const struct pod *pod)
{
	const struct node *group = pod->group;
	const struct node *cluster = group ? group->parent : NULL;
	bool head = cluster && !node_is_seq(cluster);

	if (cluster && node_is_seq(cluster))
		cluster = cluster->parent;
	if (node_is_true(node_get(cluster, "enableInTreeAutoscaling")) &&
	    node_eq(node_path(cluster, "autoscalerOptions.version"), "v2"))
		return true;
	return head &&
	       node_eq(node_path(builder->object->root, "spec.submissionMode"),
		       "SidecarMode");
}

static unsigned injects(const struct pod_builder *builder,
			const struct pod *pod)
{
	const struct node *params = node_get(pod->group, "rayStartParams");
	unsigned bits = 0;

	if (node_is_unset(node_get(params, "plasma-directory")))
		bits |= INJECT_SHM_FIRST;
	if (forces_never(builder, pod))
		bits |= INJECT_RESTART;
	return bits;
}

static void gpus(struct pod_builder *builder, struct pod *pod)
{
	const struct node *group = builder->group;
	bool head = group->key;
	const struct node *spec = head ? group->parent : group->parent->parent;

	if (head && node_is_true(node_get(spec, "enableInTreeAutoscaling")))
		pod_add_sidecar_devices(
			builder, pod,
			node_path(spec, "autoscalerOptions.resources"));
	pod_add_sidecar_devices(
		builder, pod,
		node_path(spec, "historyServerOptions.collectorOptions."
				"resources"));
}

/* The autoscaler container in the head pod sets cpu requests. */
static bool adds_helper(const struct pod *pod)
{
	const struct node *cluster = pod->group ? pod->group->parent : NULL;

	return !strcmp(pod->role, "Head") &&
	       node_is_true(node_get(cluster, "enableInTreeAutoscaling"));
}

/* -- runs ------------------------------------------------------------------ */

const struct node *ray_job_spec(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");

	if (object_is(object, "ray.io", "RayCronJob"))
		return node_get(spec, "jobTemplate");
	return object_is(object, "ray.io", "RayJob") ? spec : NULL;
}

const struct workload_operator operator_ray = {
	.gpus = gpus,
	.injects = injects,
	.forces_never = forces_never,
	.pods.adds_helper = adds_helper,
	.gang = gang,
	.makes_pod_groups = true,
};
