/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the label of a namespace injects is not visible here.
 */
#include "engine/rule.h"
#include "kube/purpose/class.h"

static const char key[] = "sidecar.istio.io/inject";

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at = pod_label(pod, key);

	if (!at)
		at = pod_annotation(pod, key);
	if (node_eq(at, "true") && pod_uses_gpu(pod) == TRI_YES &&
	    pod_is_training(pod))
		report_pod(run, pod, at,
			   "Istio's proxy intercepts the ranks' traffic: "
			   "unless it is a native sidecar, the job does not "
			   "end");
}

const struct rule rule_istio_sidecar_training = {
	.name = "istio-sidecar-training",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.wants = FACT_GPU,
	.since = "1.0",
	.summary = "training pods that ask for an Istio sidecar",
	.why = "The proxy intercepts the ranks' traffic and, unless it is a native sidecar, keeps the job from ending.",
	.remedy = "Set sidecar.istio.io/inject: \"false\" on the pod template.",
	.evidence =
		"https://github.com/kubeflow/trainer/tree/release-1.9; https://istio.io/latest/docs/setup/additional-setup/sidecar-injection/",
	.check_pod = check,
};
