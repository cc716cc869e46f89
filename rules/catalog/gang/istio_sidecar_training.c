/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The injection of a namespace's label is not visible here. Pods on the host's
 * network get none (istio pkg/kube/inject/inject.go, injectRequired).
 */
#include "engine/rule.h"
#include "kube/command/env.h"
#include "kube/purpose/class.h"

static const char key[] = "sidecar.istio.io/inject";

/* A call of the agent's /quitquitquit, which ends the proxy. */
static bool ends_proxy(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (container_says(c, "quitquitquit"))
			return true;
	return false;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at = pod_label(pod, key);
	const struct node *host = pod_field(pod, "hostNetwork");

	if (!at)
		at = pod_annotation(pod, key);
	if (node_eq(at, "true") && pod_is_training(pod) &&
	    (node_is_unset(host) || node_is_false(host)) && !ends_proxy(pod))
		report_pod(
			run, pod, at,
			"the pods request Istio's proxy, which intercepts their traffic: unless it is a native sidecar, they never end");
}

const struct rule rule_istio_sidecar_training = {
	.name = "istio-sidecar-training",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.scope = GPU_PODS,
	.since = "1.0",
	.summary = "training pods that request an Istio sidecar",
	.why = "The proxy intercepts the traffic of the pods, including traffic between ranks. Unless it is a native sidecar, it also keeps the pod from ending.",
	.remedy = "Set sidecar.istio.io/inject: \"false\" on the pod template.",
	.evidence =
		"https://github.com/kubeflow/trainer/tree/release-1.9; https://istio.io/latest/docs/setup/additional-setup/sidecar-injection/",
	.check_pod = check,
};
