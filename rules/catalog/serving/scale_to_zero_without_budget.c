/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU models with minReplicas 0 (KServe) or min-scale 0 (Knative),
 * which their first request starts, if they set neither a timeout nor a
 * progress deadline. Knative's default timeout is 300 s. In the mode Standard
 * (RawDeployment), KServe always runs at least one replica
 * (reconcilers/hpa/hpa_reconciler.go, createHPA).
 */
#include "engine/rule.h"
#include "kube/object.h"

static bool has_budget(const struct object *object,
		       const struct node *component)
{
	static const char deadline[] = "serving.knative.dev/progress-deadline";

	return !node_is_unset(node_get(component, "timeout")) ||
	       object_annotation(object, deadline) ||
	       !node_is_unset(
		       node_get(node_get(component, "annotations"), deadline));
}

/* True if the object may use Knative. Without the annotation, the installation
 * decides. */
static bool may_be_knative(const struct object *object)
{
	const struct node *mode =
		object_annotation(object, "serving.kserve.io/deploymentMode");

	return !mode || node_eq(mode, "Knative") || node_eq(mode, "Serverless");
}

/* Checks a Service of Knative whose template has the annotation min-scale 0.
 * Without the annotation, the cluster's configuration decides. */
static void check_service(struct rule_run *run, const struct pod *pod)
{
	const struct node *least =
		pod_annotation(pod, "autoscaling.knative.dev/min-scale");

	if (!least)
		least = pod_annotation(pod, "autoscaling.knative.dev/minScale");
	if (!node_eq(least, "0") ||
	    !node_is_unset(node_get(pod->spec, "timeoutSeconds")) ||
	    pod_annotation(pod, "serving.knative.dev/progress-deadline"))
		return;
	report_pod(run, pod, least,
		   "the first request starts the %s pod and fails if the model "
		   "is not loaded before the request times out",
		   pod_device(pod));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *least = node_get(pod->spec, "minReplicas");
	int64_t n;

	if (object_is(pod->object, "serving.knative.dev", "Service"))
		check_service(run, pod);
	if (!object_is(pod->object, "serving.kserve.io", "InferenceService") ||
	    !node_int(least, &n) || n || has_budget(pod->object, pod->spec) ||
	    !may_be_knative(pod->object))
		return;
	report_pod(
		run, pod, least,
		"in Knative mode, the first request starts the %s pod and "
		"fails if the model is not loaded before the request times out",
		pod_device(pod));
}

const struct rule rule_scale_to_zero_without_budget = {
	.name = "scale-to-zero-without-budget",
	.category = "serving",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW,
	.scope = GPU_PODS,
	.summary =
		"a GPU service that scales to zero sets neither a timeout nor a progress deadline",
	.why = "The request waits for a node, the image and the model, often for longer than its timeout: the first callers get errors.",
	.remedy =
		"Set minReplicas: 1 (in a Knative Service, the annotation autoscaling.knative.dev/min-scale: \"1\"), or set the timeout and serving.knative.dev/progress-deadline to more than the loading time.",
	.evidence =
		"https://kserve.github.io/website/docs/model-serving/predictive-inference/autoscaling/kpa-autoscaler",
	.check_pod = check,
};
