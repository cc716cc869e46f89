/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Ray Serve replicas that need more GPUs than their Ray cluster has,
 * and a serveConfigV2 that is not a YAML mapping, so that none is started. Ray
 * Serve places a replica on a Ray node that has its GPUs free; for a placement
 * group, the GPUs of each bundle. Requests in the application's code are
 * unknown and can only add more.
 *
 * Sources: KubeRay common/pod.go; ray.serve.schema.DeploymentSchema;
 * AutoscalingConfig: min_replicas is 1 by default.
 */
#include "base/text.h"
#include "doc/load.h"
#include "engine/rule.h"
#include "kube/command/parallel.h"
#include "kube/operators.h"

/*
 * Devices that one replica needs. The piece is the largest part, which one node
 * must have; all is the sum.
 */
struct need {
	struct quantity piece, all;
};

static void need_add(struct need *need, const struct node *gpus)
{
	struct quantity q;

	if (node_quantity(gpus, &q) != QUANTITY_OK)
		return;
	need->all = quantity_add(need->all, q);
	if (quantity_cmp(q, need->piece) > 0)
		need->piece = q;
}

static struct need need_of(const struct node *deployment)
{
	const struct node *bundles =
		node_get(deployment, "placement_group_bundles");
	struct need need = {.piece = quantity_from(0), .all = quantity_from(0)};

	if (node_is_unset(bundles))
		need_add(&need,
			 node_path(deployment, "ray_actor_options.num_gpus"));
	FOR_EACH_CHILD(bundles, bundle)
		need_add(&need, node_get(bundle, "GPU"));
	if (node_eq(node_get(deployment, "placement_group_strategy"),
		    "STRICT_PACK"))
		need.piece = need.all;
	return need;
}

/* Returns a lower bound of the replicas. A placeholder may become 0. */
static int64_t replicas_of(const struct node *deployment)
{
	const struct node *scaling = node_get(deployment, "autoscaling_config");
	const struct node *node = node_get(deployment, "num_replicas");
	int64_t n;

	if (node_is_map(scaling))
		node = node_get(scaling, "min_replicas");
	if (node_is_unset(node) || node_eq(node, "auto"))
		return 1;
	return node_int(node, &n) && n > 0 && n < INT32_MAX ? n : 0;
}

static double gpus(struct quantity q)
{
	return (double)q.nano / 1e9;
}

static const char *title(const struct node *deployment)
{
	const char *name = node_str(node_get(deployment, "name"));

	return name ? name : "(without a name)";
}

/* --- GPUs of the cluster -------------------------------------------------- */

/* GPUs of a cluster as Ray counts them: KubeRay passes on `num-gpus`, or the
 * number in the limits of the first container. */
struct ray_gpus {
	int64_t node; /* GPUs of its largest node */
	int64_t all;  /* GPUs of the largest number of nodes */
};

/* Returns the number of pods of the template in one cluster. */
static struct amount nodes_of(const struct pod *pod)
{
	/* The head group is a field with one pod, a worker group is an item of
	 * a list. */
	return pod->group->key ? amount_of(1)
			       : ray_group_pods(pod->group, true);
}

/* Returns the number of GPUs that Ray counts on a node; -1 if it is unknown. */
static int64_t node_gpus(const struct pod *pod)
{
	const struct node *at;
	int64_t n = ray_num_gpus(pod, &at);

	if (!node_is_unset(at))
		return n;
	/* KubeRay passes these resources to Ray instead. */
	if (!node_is_unset(node_get(pod->group, "resources")))
		return -1;
	/* The user's own command replaces KubeRay's, so only its --num-gpus
	 * counts. */
	if (pod_annotation(pod, "ray.io/overwrite-container-cmd") ||
	    object_annotation(pod->object, "ray.io/overwrite-container-cmd"))
		return -1;
	FOR_EACH_CONTAINER(pod, c) {
		if (container_env(c, "RAY_OVERRIDE_RESOURCES"))
			return -1;
		if (c->role != CONTAINER_MAIN || c->index ||
		    !text_ends(c->resource, "gpu"))
			continue;
		n = container_devices(c);
		return n && n == pod->gpus.n ? n : -1;
	}
	return pod->gpu_by || pod->gpu_unknown ? -1 : 0;
}

/* Returns false if the cluster has no GPUs or they are unknown. */
static bool count_gpus(const struct object *object, struct ray_gpus *out)
{
	struct amount all = {0};

	*out = (struct ray_gpus){0};
	FOR_EACH_POD(object, pod) {
		int64_t n = node_gpus(pod);

		if (n < 0)
			return false;
		if (n > out->node)
			out->node = n;
		if (n)
			all = amount_add(
				all, amount_mul(nodes_of(pod), amount_of(n)));
	}
	out->all = all.n;
	return out->node && !all.unknown;
}

static void check(struct rule_run *run, const struct object *object)
{
	struct quantity sum = quantity_from(0);
	struct ray_gpus has;
	const struct node *at, *config;

	if (!object_is(object, "ray.io", "RayService") || object->fragment)
		return;
	at = node_path(object->root, "spec.serveConfigV2");
	if (yaml_is_not_map(rule_arena(run), at))
		finding_help(
			run,
			report_object(
				run, object, at,
				"`serveConfigV2` is not a YAML mapping: KubeRay starts the cluster, but none of its applications"),
			"Correct the YAML of `serveConfigV2`.");
	if (!node_str(at) || !count_gpus(object, &has))
		return;
	config = yaml_in(rule_arena(run), at);
	FOR_EACH_CHILD(node_get(config, "applications"), app)
		FOR_EACH_CHILD(node_get(app, "deployments"), deployment) {
			struct need need = need_of(deployment);

			sum = quantity_add(
				sum, quantity_mul(need.all,
						  replicas_of(deployment)));
			if (quantity_cmp(need.piece, quantity_from(has.node)) <=
			    0)
				continue;
			report_object(
				run, object, at,
				"a replica of deployment `%s` needs %g GPUs on one node, but no node of the Ray cluster has more than %s",
				title(deployment), gpus(need.piece),
				rule_number(run, has.node));
			return;
		}
	if (quantity_cmp(sum, quantity_from(has.all)) > 0)
		report_object(
			run, object, at,
			"the deployments' replicas need %g GPUs, but the Ray cluster has %s at most",
			gpus(sum), rule_number(run, has.all));
}

const struct rule rule_ray_serve_never_fits = {
	.name = "ray-serve-never-fits",
	.category = "parallelism",
	.severity = SEVERITY_WARNING,
	.scope = GPU_PODS,
	.summary = "Ray Serve replicas that never start in their Ray cluster",
	.why = "Replicas that fit on no node are never placed: the application never becomes ready, while the cluster holds its GPUs. If `serveConfigV2` is not a YAML mapping, no application starts.",
	.remedy =
		"Give the Ray workers as many GPUs as the replicas need, or start fewer or smaller replicas.",
	.evidence =
		"https://docs.ray.io/en/latest/serve/resource-allocation.html; https://github.com/ray-project/kuberay/blob/master/ray-operator/controllers/ray/common/pod.go",
	.check_object = check,
};
