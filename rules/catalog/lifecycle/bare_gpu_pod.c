/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU Pods without an owner. The Pod is not recreated when its node
 * fails, is drained or is preempted, and Cluster Autoscaler does not evict it,
 * so that its GPU node stays. Kueue's pod groups, Pods of a notebook hub, a
 * workflow engine or a CI runner, static pods, Helm's test hooks, Pods embedded
 * in an object that recreates them, and Pods limited to an hour, of which
 * little is lost, are skipped. The finding is an info for a test and for a Pod
 * that shows no sign of training or serving, because the author may restart it.
 * Source: Cluster Autoscaler FAQ ("pods not backed by a controller object").
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/purpose/purpose.h"

/* True if a program created the Pod and recreates it if needed. */
static bool is_spawned(const struct pod *pod)
{
	static const char *const labels[] = {
		"hub.jupyter.org/username",  "notebook-name",
		"kubernetes_pod_operator",   "kubernetes_executor",
		"job.runner.gitlab.com/pod", "skypilot-cluster",
		"skypilot-cluster-name",     "dagster/run-id",
		"prefect.io/flow-run-id",    NULL};

	for (const char *const *label = labels; *label; label++)
		if (pod_label(pod, *label))
			return true;
	return node_eq(pod_label(pod, "component"), "singleuser-server");
}

static bool is_managed(const struct pod *pod)
{
	return pod_is_owned(pod) ||
	       pod_label(pod, "kueue.x-k8s.io/pod-group-name") ||
	       pod_annotation(pod, "kubernetes.io/config.source") ||
	       pod_annotation(pod, "kubernetes.io/config.mirror") ||
	       pod_annotation(pod, "helm.sh/hook");
}

static bool is_short(const struct pod *pod)
{
	int64_t seconds;

	return node_int(pod_field(pod, "activeDeadlineSeconds"), &seconds) &&
	       seconds <= 3600;
}

/* True for a Pod that runs a test once: a script whose name says so. */
static bool tests_once(const struct pod *pod)
{
	static const char *const words[] = {"preflight", "test",  "check",
					    "bench",	 "smoke", NULL};

	if (pod->restart != RESTART_NEVER)
		return false;
	FOR_EACH_CONTAINER(pod, c) {
		struct argv argv = container_argv(c);

		for (size_t i = 0; i < argv.n; i++)
			if (text_ends(argv.items[i].text, ".py") &&
			    text_any(argv.items[i].base, words, text_contains))
				return true;
	}
	return false;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct object *object = pod->object;
	struct finding *f;
	const struct node *metadata = node_get(object->root, "metadata");
	const struct node *name = node_get(metadata, "name");

	if (object->class != KIND_POD || object->parent || is_managed(pod) ||
	    is_spawned(pod) || is_short(pod))
		return;
	f = report_pod(
		run, pod, name ? name : node_get(metadata, "generateName"),
		"no controller recreates this %s Pod if its node is lost",
		pod_device(pod));
	if (pod_is_test(pod) || tests_once(pod) ||
	    (!pod_is_training(pod) && !pod_is_serving(pod)))
		finding_severity(f, SEVERITY_INFO);
}

static const char *const yields_to[] = {"bare-gpu-pod-always",
					"gpu-idle-command", 0};

const struct rule rule_bare_gpu_pod = {
	.name = "bare-gpu-pod",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE,
	.scope = GPU_PODS,
	.summary = "a Pod with GPUs has no controller that recreates it",
	.why = "The Pod is lost if its node fails or is drained, and it keeps Cluster Autoscaler from removing the node. The finding is an info for a test, and if nothing shows that the Pod trains or serves.",
	.remedy =
		"Run it as a Job (for work that ends) or as a Deployment (for a server).",
	.evidence =
		"https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md, \"What types of pods can prevent CA from removing a node?\"",
	.yields_to = yields_to,
	.check_pod = check,
};
