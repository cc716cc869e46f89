/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports training pods and pods of Jobs that get an Istio sidecar. Pods on the
 * host's network get no proxy, and the pod's label has precedence over that of
 * its namespace (istio pkg/kube/inject/inject.go, injectRequired).
 */
#include "engine/rule.h"
#include "kube/command/env.h"
#include "kube/purpose/purpose.h"
#include "kube/set/index_find.h"

static const char key[] = "sidecar.istio.io/inject";

/* True if the pod calls the agent's /quitquitquit, which ends the proxy. */
static bool ends_proxy(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (container_says(c, "quitquitquit"))
			return true;
	return false;
}

static const struct node *own_choice(const struct pod *pod)
{
	const struct node *label = pod_label(pod, key);

	return label ? label : pod_annotation(pod, key);
}

static bool suffers(const struct pod *pod)
{
	const struct node *host = pod_field(pod, "hostNetwork");

	return (pod_is_training(pod) || pod->object->class == KIND_BATCH) &&
	       !ends_proxy(pod) && (node_is_unset(host) || node_is_false(host));
}

/* Returns the label by which the namespace has proxies injected, or NULL. */
static const char *injection(struct rule_run *run, const struct workload *w)
{
	const struct found_object *found =
		index_find(rule_index(run), w, CLUSTER_NAMESPACE,
			   w->id.namespace, rule_arena(run));
	const struct node *labels =
		node_path(found ? found->root : NULL, "metadata.labels");

	if (!labels && w->cluster)
		labels = cluster_namespace(w->cluster, w->id.namespace,
					   rule_arena(run));
	if (node_get(labels, "istio-injection"))
		return node_eq(node_get(labels, "istio-injection"), "enabled")
			       ? "istio-injection"
			       : NULL;
	return node_str(node_get(labels, "istio.io/rev")) ? "istio.io/rev"
							  : NULL;
}

static void check_workload(struct rule_run *run, const struct workload *w)
{
	const char *label =
		w->child || (!w->training && w->class != KIND_BATCH) ||
				!*w->id.namespace
			? NULL
			: injection(run, w);
	const struct object *object = label ? rule_object(run, w) : NULL;

	if (!object)
		return;
	FOR_EACH_POD(object, pod)
		if (pod_uses_gpu(pod) == TRI_YES && !pod->flat &&
		    !own_choice(pod) && suffers(pod))
			report_pod(
				run, pod, NULL,
				"the label `%s` of namespace `%s` gives the pods Istio's proxy, which intercepts their traffic: unless the proxy is a native sidecar, the pods never end",
				label, w->id.namespace);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at = own_choice(pod);

	if (node_eq(at, "true") && suffers(pod))
		report_pod(
			run, pod, at,
			"the pods request Istio's proxy, which intercepts their traffic: unless the proxy is a native sidecar, the pods never end");
}

const struct rule rule_istio_sidecar_training = {
	.name = "istio-sidecar-training",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.scope = GPU_PODS,
	.summary = "pods of training or of a Job that get an Istio sidecar",
	.why = "The proxy intercepts the traffic of the pods, including traffic between ranks. Unless it is a native sidecar, it also keeps the pod from ending.",
	.remedy = "Set sidecar.istio.io/inject: \"false\" on the pod template.",
	.evidence =
		"https://github.com/kubeflow/trainer/tree/release-1.9; https://istio.io/latest/docs/setup/additional-setup/sidecar-injection/",
	.check_pod = check,
	.check_workload = check_workload,
};
