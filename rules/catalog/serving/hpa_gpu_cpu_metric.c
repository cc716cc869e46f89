/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KServe's own fields; a HorizontalPodAutoscaler beside the object is not seen
 * here.
 */
#include "engine/rule.h"
#include "kube/object.h"

static bool is_host(const struct node *name)
{
	return node_eq(name, "cpu") || node_eq(name, "memory");
}

/* All of its metrics, or NULL: some other metric counts as well. */
static const struct node *host_metric(const struct node *component)
{
	const struct node *one = node_get(component, "scaleMetric");
	const struct node *found = NULL;

	if (is_host(one))
		return one;
	FOR_EACH_CHILD(node_path(component, "autoScaling.metrics"), metric) {
		const struct node *name = node_path(metric, "resource.name");

		if (!is_host(name))
			return NULL;
		found = name;
	}
	return found;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at = host_metric(pod->spec);

	if (object_is(pod->object, "serving.kserve.io", "InferenceService") &&
	    at && pod_uses_gpu(pod) == TRI_YES)
		report_pod(run, pod, at,
			   "replicas with GPUs are added by `%s`, which does "
			   "not follow their load",
			   node_str(at));
}

const struct rule rule_hpa_gpu_cpu_metric = {
	.name = "hpa-gpu-cpu-metric",
	.category = "serving",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.wants = FACT_GPU | FACT_KSERVE,
	.since = "1.0",
	.summary = "a GPU model that is scaled by its CPU or memory",
	.why = "A GPU is busy while the CPU idles: replicas are added too late, or never.",
	.remedy =
		"Scale by requests (concurrency, rps), or by a metric of the server: queue length, tokens, DCGM_FI_DEV_GPU_UTIL.",
	.evidence =
		"https://kserve.github.io/website/docs/model-serving/predictive-inference/autoscaling/keda-autoscaler",
	.check_pod = check,
};
