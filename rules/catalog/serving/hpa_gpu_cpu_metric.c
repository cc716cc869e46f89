/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU pods that are scaled by their CPU or memory usage. Checks
 * KServe's own fields, and HorizontalPodAutoscalers of the input. KServe
 * creates no scaler for the autoscaler classes none and external
 * (reconcilers/hpa/hpa_reconciler.go).
 */
#include "engine/rule.h"
#include "kube/object.h"

static const char mode_key[] = "serving.kserve.io/deploymentMode";
static const char class_key[] = "serving.kserve.io/autoscalerClass";

/* Returns the metrics of a KServe component if all are about the CPU or memory,
 * else NULL. The mode Standard (RawDeployment) scales by CPU if no metric is
 * set (getHPAMetrics); only autoScaling contains KEDA's triggers. */
static const struct node *host_metric(const struct pod *pod, const char **name)
{
	const struct node *mode = object_annotation(pod->object, mode_key);
	const struct node *class = object_annotation(pod->object, class_key);
	const struct node *at = node_get(pod->spec, "autoScaling");

	if (!node_is_unset(at)) {
		at = metrics_of_host(node_get(at, "metrics"));
		*name = node_str(at);
		return at;
	}
	at = node_get(pod->spec, "scaleMetric");
	*name = node_is_unset(at) ? "cpu" : node_str(at);
	if (class && !node_eq(class, "hpa"))
		return NULL;
	if (node_is_unset(at))
		return node_eq(mode, "RawDeployment") ||
				       node_eq(mode, "Standard")
			       ? node_get(pod->spec, "maxReplicas")
			       : NULL;
	return node_eq(at, "cpu") || node_eq(at, "memory") ? at : NULL;
}

/* True if KServe scales the component above its minimum, which requires a
 * maximum. */
static bool is_scaled(const struct pod *pod)
{
	const struct node *class = object_annotation(pod->object, class_key);
	struct amount least = amount_int(node_get(pod->spec, "minReplicas"), 1);
	struct amount most = amount_int(node_get(pod->spec, "maxReplicas"), 0);

	if (node_eq(class, "none") || node_eq(class, "external"))
		return false;
	return most.unknown || least.unknown ||
	       most.n > (least.n > 1 ? least.n : 1);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at;
	const char *name;

	if (!object_is(pod->object, "serving.kserve.io", "InferenceService") ||
	    !is_scaled(pod))
		return;
	at = host_metric(pod, &name);
	if (at)
		report_pod(
			run, pod, at,
			"replicas with GPUs are scaled by `%s`, which does not depend on the load of their GPUs",
			name);
}

static void check_workload(struct rule_run *run, const struct workload *w)
{
	const struct object_index *set = rule_index(run);

	for (size_t i = 0; i < set->nscalers; i++)
		if (set->scalers[i].metric &&
		    scaler_scales(set, &set->scalers[i], w))
			report_place(
				run, &set->scalers[i].id,
				&set->scalers[i].place,
				"replicas of %s, which has GPUs, are scaled by `%s`, which does not depend on the load of the GPUs",
				rule_title(run, w->id.kind, w->id.name),
				set->scalers[i].metric);
}

static void check_set(struct rule_run *run)
{
	if (!rule_index(run)->nscalers)
		return;
	FOR_EACH_WORKLOAD(rule_index(run), w)
		if (!w->child && !w->duplicate_of)
			check_workload(run, w);
}

const struct rule rule_hpa_gpu_cpu_metric = {
	.name = "hpa-gpu-cpu-metric",
	.category = "serving",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.flags = RULE_PREVIEW,
	.scope = GPU_PODS,
	.summary = "GPU pods are scaled by their CPU or memory usage",
	.why = "A GPU may be busy while the CPU is idle, so replicas are added too late or never.",
	.remedy =
		"Scale by requests (concurrency, rps) or by another metric, such as queue length, tokens or DCGM_FI_DEV_GPU_UTIL.",
	.evidence =
		"https://kserve.github.io/website/docs/model-serving/predictive-inference/autoscaling/keda-autoscaler; https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/",
	.check_pod = check,
	.check_set = check_set,
};
