/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The taint on GPU nodes keeps off pods that need no GPU. A CPU pod that
 * tolerates it fills the node's cores and memory, and GPUs next to them stay
 * idle because nothing fits any more. DaemonSets and the plumbing of the
 * cluster belong there and are not looked at; nor is a leader that its operator
 * keeps in the workers' pool of nodes, or what claims devices: those of a
 * ComputeDomain are on GPU nodes alone.
 */
#include "engine/rule.h"
#include "kube/purpose/class.h"
#include "kube/purpose/intent.h"
#include "kube/scheduling/selector.h"

static const struct node *gpu_toleration(struct rule_run *run,
					 const struct pod *pod)
{
	FOR_EACH_CHILD(pod_field(pod, "tolerations"), toleration) {
		const char *key = node_str(node_get(toleration, "key"));

		if (key && gpu_taint_key(rule_accelerators(run), key))
			return toleration;
	}
	return NULL;
}

static const struct node *any_toleration(const struct pod *pod)
{
	FOR_EACH_CHILD(pod_field(pod, "tolerations"), toleration) {
		const struct node *key = node_get(toleration, "key");
		const struct node *effect = node_get(toleration, "effect");

		if (node_eq(node_get(toleration, "operator"), "Exists") &&
		    (node_is_unset(key) || node_eq(key, "")) &&
		    !node_eq(effect, "NoExecute"))
			return toleration;
	}
	return NULL;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at = gpu_toleration(run, pod);
	const char *key = node_str(node_get(at, "key"));
	const struct node_label *label;
	struct finding *f;

	if (!pod_has_placement(pod) || pod_uses_gpu(pod) != TRI_NO ||
	    pod_is_preset(pod) || pod->object->class == KIND_DAEMON ||
	    pod_follows_devices(pod) ||
	    !node_is_unset(pod_field(pod, "resourceClaims")))
		return;
	if (at)
		f = report_pod(
			run, pod, node_get(at, "key"),
			"pods without an accelerator tolerate `%s` and may take the cores of its nodes",
			key);
	else if ((at = any_toleration(pod)))
		f = report_pod(
			run, pod, at,
			"pods without a GPU tolerate every taint, that of GPU nodes too");
	else
		return;
	if (pod_gpu_selector(pod, &label)) {
		finding_help(run, f,
			     "remove the toleration and the selector of GPU "
			     "nodes together");
		return;
	}
	/* The CPU role of a GPU workload (launcher, head) may need it. */
	if (key && pod->object->gpus.n == 0)
		fix_remove(finding_fix(run, f, false, "remove the toleration"),
			   at);
}

static const char *const yields_to[] = {"gpu-limit-missing", 0};

const struct rule rule_cpu_pod_tolerates_gpu_taint = {
	.name = "cpu-pod-tolerates-gpu-taint",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.flags = RULE_OPT_IN_PATCH,
	.wants = FACT_NO_GPU,
	.since = "1.0",
	.summary = "a pod without a GPU tolerates the taint of GPU nodes",
	.why = "CPU pods fill the cores and memory of GPU nodes, and the GPUs beside them stay idle.",
	.remedy = "Remove the toleration.",
	.evidence =
		"NVIDIA and cloud providers taint GPU nodes for this reason; https://github.com/kubernetes/kubernetes/tree/master/plugin/pkg/admission/extendedresourcetoleration",
	.yields_to = yields_to,
	.check_pod = check,
};
