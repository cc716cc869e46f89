/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The taint on GPU nodes keeps pods off that need no GPU. A CPU pod that
 * tolerates it fills the node's cores and memory, and GPUs next to them stay
 * idle because nothing fits any more. DaemonSets and the plumbing of the
 * cluster belong there and are not looked at.
 */
#include "engine/rule.h"
#include "kube/intent.h"
#include "kube/selector.h"

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
	struct finding *f;

	if (pod->flat || pod_uses_gpu(pod) != TRI_NO || pod_is_preset(pod) ||
	    pod->object->class == KIND_DAEMON)
		return;
	if (at)
		f = report_pod(
			run, pod, node_get(at, "key"),
			"pods without a GPU tolerate `%s` and take the cores of GPU nodes",
			key);
	else if ((at = any_toleration(pod)))
		f = report_pod(
			run, pod, at,
			"pods without a GPU tolerate every taint, that of GPU nodes too");
	else
		return;
	/* The CPU role of a GPU workload (launcher, head) may mean it. */
	if (key && pod->object->gpus.n == 0)
		fix_remove(finding_fix(run, f, false, "remove the toleration"),
			   at);
	if (!key || pod->object->gpus.n > 0)
		finding_severity(f, SEVERITY_WARNING);
}

static const char *const yields_to[] = {"gpu-limit-missing", 0};

const struct rule rule_cpu_pod_tolerates_gpu_taint = {
	.name = "cpu-pod-tolerates-gpu-taint",
	.category = "scheduling",
	.severity = SEVERITY_ERROR,
	.action = ACTION_DENY,
	.flags = RULE_OPT_IN_PATCH,
	.since = "1.0",
	.summary = "a pod without a GPU tolerates the taint of GPU nodes",
	.why = "CPU pods fill the cores and memory of GPU nodes, and the GPUs beside them stay idle.",
	.remedy = "Remove the toleration.",
	.evidence =
		"NVIDIA and cloud providers taint GPU nodes for this reason; plugin/pkg/admission/extendedresourcetoleration",
	.yields_to = yields_to,
	.check_pod = check,
};
