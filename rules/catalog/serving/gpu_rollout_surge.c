/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports rollouts of Deployments, and of KServe's services that have one, that
 * need more GPUs than the workload already uses. maxSurge is rounded up,
 * maxUnavailable down: 25 % of up to three pods is zero.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"

static int64_t round_percentage(const struct node *value, int64_t replicas,
				int percent, bool up)
{
	struct amount share = amount_share(value, amount_of(replicas), percent);
	int64_t n;

	if (up || share.unknown)
		return share.unknown ? -1 : share.n;
	/* maxUnavailable is rounded down, which amount_share() does not do. */
	if (node_int(value, &n))
		return n;
	if (!node_is_unset(value) && !node_str(value))
		return -1;
	if (node_str(value))
		percent = (int)strtol(node_str(value), NULL, 10);
	return replicas * percent / 100;
}

/* Returns the unit for the message, such as "GPUs", or the name of the resource
 * for slices. Returns NULL for a share by memory or cores (HAMi), because a GPU
 * in use may have enough left. */
static const char *device_phrase(struct rule_run *run, const struct pod *pod,
				 int64_t n)
{
	const char *device = pod_device(pod), *name = NULL;
	bool several = false, sliced = false;

	FOR_EACH_CONTAINER(pod, c)
		FOR_EACH_ASKED(c, entry) {
			if (!entry->accelerator)
				continue;
			if (entry->accelerator->class == ACCEL_SHARE)
				return NULL;
			several |= name && strcmp(name, entry->node->key) != 0;
			sliced |= entry->accelerator->class != ACCEL_WHOLE;
			name = entry->node->key;
		}
	if (sliced && !several)
		return arena_printf(rule_arena(run), "`%s`", name);
	return arena_printf(rule_arena(run), "%s%s", sliced ? "device" : device,
			    n == 1 ? "" : "s");
}

/* The rollout of the Deployment of a pod template. */
struct rollout {
	const struct node *parent; /* map that may have the strategy, or NULL */
	const char *field;	   /* name of the strategy in it */
	const struct node *rolling; /* map with maxSurge */
	bool configured; /* a configuration may replace the defaults */
};

/* Returns the rollout of a component of a KServe service that has its own
 * Deployment. The parent is NULL for others, such as components of several
 * nodes. Source: v1beta1/inferenceservice/reconcilers/deployment
 * (createRawDefaultDeployment) and v1alpha2/llmisvc/workload_single_node.go in
 * pkg/controller, aaac4e29. */
static struct rollout kserve_rollout(const struct pod *pod)
{
	const struct node *mode = object_annotation(
		pod->object, "serving.kserve.io/deploymentMode");
	struct rollout out = {.parent = pod->group};

	if (object_is(pod->object, "serving.kserve.io",
		      "LLMInferenceService")) {
		out.field = "rolloutStrategy";
		out.rolling = node_get(out.parent, out.field);
		if (!node_is_unset(
			    node_path(pod->object->root, "spec.baseRefs")) ||
		    !node_is_unset(node_get(out.parent, "worker")) ||
		    node_is_unset(node_get(out.parent, "template")) ||
		    text_eq(pod->role, "scheduler"))
			out.parent = NULL;
		return out;
	}
	if (!object_is(pod->object, "serving.kserve.io", "InferenceService") ||
	    (!node_eq(mode, "Standard") && !node_eq(mode, "RawDeployment")))
		return (struct rollout){0};
	out.parent = pod->source ? pod->source : pod->spec;
	out.field = "deploymentStrategy";
	out.rolling = node_path(out.parent, "deploymentStrategy.rollingUpdate");
	out.configured = node_is_unset(node_get(out.parent, out.field));
	if (!node_is_unset(node_get(out.parent, "workerSpec")) ||
	    text_eq(out.parent->key, "workerSpec"))
		out.parent = NULL;
	return out;
}

static struct rollout rollout_of(const struct pod *pod)
{
	const struct node *spec = node_get(pod->object->root, "spec");

	if (!object_is(pod->object, "apps", "Deployment"))
		return kserve_rollout(pod);
	return (struct rollout){
		.parent = spec,
		.field = "strategy",
		.rolling = node_path(spec, "strategy.rollingUpdate")};
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct rollout rollout = rollout_of(pod);
	const struct node *strategy, *type;
	int64_t n = pod->steady.n, surge, gap;
	const char *what;

	if (!rollout.parent || pod->object->fragment ||
	    /* Pods may share a claim. */
	    pod->gpu_by & GPU_BY_CLAIM || pod->steady.unknown || n < 1 ||
	    pod->gpus.unknown)
		return;
	strategy = node_get(rollout.parent, rollout.field);
	type = node_get(strategy, "type");
	if (node_eq(type, "Recreate") || node_is_unknown(type))
		return;
	surge = round_percentage(node_get(rollout.rolling, "maxSurge"), n, 25,
				 true);
	gap = round_percentage(node_get(rollout.rolling, "maxUnavailable"), n,
			       25, false);
	if (surge < 1 || gap != 0 || pod->gpus.n < 1)
		return;
	n = surge * pod->gpus.n;
	what = device_phrase(run, pod, n);
	if (what)
		finding_missing(
			report_pod(
				run, pod, strategy ? strategy : rollout.parent,
				"an update needs %s more %s at first%s: if %s not free, the update never ends",
				rule_number(run, n), what,
				rollout.configured
					? ", unless KServe's configuration sets another rollout"
					: "",
				n == 1 ? "it is" : "they are"),
			pod->object, rollout.parent, rollout.field);
}

const struct rule rule_gpu_rollout_surge = {
	.name = "gpu-rollout-surge",
	.category = "serving",
	.severity = SEVERITY_INFO,
	.flags = RULE_ABSENCE | RULE_SITE,
	.scope = GPU_PODS,
	.summary =
		"a rollout that needs more GPUs than the workload already uses",
	.why = "If no other GPUs are free, the new pod waits for the GPUs of an old pod, which is stopped only when the new one is ready: the rollout never ends.",
	.remedy =
		"Set maxSurge: 0 and maxUnavailable: 1 (with one replica, this causes a short outage), or use the strategy Recreate. KServe has them in `deploymentStrategy`, or in `rolloutStrategy` of an LLMInferenceService.",
	.evidence =
		"https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment",
	.check_pod = check,
};
