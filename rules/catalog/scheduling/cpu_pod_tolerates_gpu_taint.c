/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports CPU pods that tolerate the taint of GPU nodes, which is meant to
 * keep them off. They may use up the node's cores and memory: GPU pods do not
 * fit any more and the GPUs stay idle. Skips DaemonSets and cluster
 * infrastructure, leaders that must be in the node pool of their workers, pods
 * for nodes or node pools that the user names, and pods that may need GPU nodes
 * for something else: with claims, because devices of a ComputeDomain are only
 * there, with a fabric or another extended resource, or with files of their
 * node.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/purpose/purpose.h"
#include "kube/scheduling/affinity.h"
#include "kube/scheduling/node_devices.h"
#include "kube/scheduling/selector.h"

/* True if a taint with this effect does not keep CPU pods off. */
static bool is_soft(const struct node *toleration)
{
	return node_eq(node_get(toleration, "effect"), "PreferNoSchedule");
}

static const struct node *gpu_toleration(struct rule_run *run,
					 const struct pod *pod)
{
	FOR_EACH_CHILD(pod_field(pod, "tolerations"), toleration) {
		const char *key = node_str(node_get(toleration, "key"));

		if (key && gpu_taint_key(rule_accelerators(run), key) &&
		    !is_soft(toleration))
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
		    !node_eq(effect, "NoExecute") && !is_soft(toleration))
			return toleration;
	}
	return NULL;
}

/* True if the value means that nodes with this label lack devices. */
static bool says_none(const struct node_label *label, const struct node *value)
{
	const struct instance_type *type;

	if (label->meaning == LABEL_PRESENCE || label->meaning == LABEL_COUNT)
		return node_eq(value, "false") || node_eq(value, "0");
	if (label->meaning != LABEL_INSTANCE || !node_str(value))
		return false;
	type = instance_type_find(node_str(value));
	return type && !type->vendor;
}

/* True for a node pool that the user has chosen. */
static bool names_pool(const struct node_need *need)
{
	const struct node_label *label = node_label_find(need->key);

	return node_need_requires(need) &&
	       ((label && label->meaning == LABEL_POOL) ||
		text_eq(need->key, "karpenter.sh/nodepool"));
}

/* True for such a pool, unless its name says that it is for GPUs. */
static bool names_other_pool(const struct node_need *need)
{
	if (!names_pool(need))
		return false;
	for (const struct node *one = node_need_value(need, 0); one;
	     one = node_need_next(need, one))
		if (text_contains_ci(node_str(one), "gpu"))
			return false;
	return true;
}

/* True if only nodes without a device, nodes of the control plane, or one node
 * that the user has chosen meet the requirement. */
static bool keeps_off(const struct node_need *need)
{
	const struct node_label *label = node_label_find(need->key);
	const struct node *value = node_need_value(need, 0);

	if (text_eq(need->key, "node-role.kubernetes.io/control-plane") ||
	    text_eq(need->key, "node-role.kubernetes.io/master") ||
	    text_eq(need->key, "kubernetes.io/hostname"))
		return node_need_requires(need);
	if (!label)
		return false;
	if (label->meaning == LABEL_PRESENCE &&
	    text_eq(need->operator, "NotIn"))
		return node_eq(node_at(need->values, 0), "true");
	if (text_eq(need->operator, "DoesNotExist"))
		return label->meaning == LABEL_PRESENCE ||
		       label->meaning == LABEL_PRODUCT ||
		       label->meaning == LABEL_COUNT;
	for (const struct node *one = value; one;
	     one = node_need_next(need, one))
		if (!says_none(label, one))
			return false;
	return value != NULL;
}

static bool stays_off(const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(pod);

	return !node_is_unset(pod_field(pod, "nodeName")) ||
	       node_needs_imply(&needs, keeps_off) ||
	       (!pod_gpu_selector(pod, NULL) &&
		node_needs_imply(&needs, names_other_pool));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at, *any;
	bool queued = pod->object->kueue;
	const char *key;
	struct node_needs needs;
	struct finding *f;

	if (pod_uses_gpu(pod) != TRI_NO || pod_is_empty(pod))
		return;
	at = gpu_toleration(run, pod);
	key = node_str(node_get(at, "key"));
	any = at ? NULL : any_toleration(pod);
	if ((!at && !any) || !pod_wrote(pod, at ? at : any) ||
	    pod_needs_its_nodes(pod) || !pod_has_placement(pod) ||
	    pod_is_preset(pod) || pod->object->class == KIND_DAEMON ||
	    pod_follows_devices(pod) ||
	    !node_is_unset(pod_field(pod, "resourceClaims")) || stays_off(pod))
		return;
	if (at)
		f = report_pod(
			run, pod, node_get(at, "key"),
			"%spods without an accelerator tolerate the taint `%s` and may use up the CPU cores of GPU nodes",
			queued ? "if no flavor of the queue needs it, " : "",
			key);
	else
		f = report_pod(
			run, pod, any,
			"pods without an accelerator tolerate every taint and may use up the CPU cores of GPU nodes");
	/* Kueue gives each PodSet a flavor whose taints it tolerates
	 * (flavorassigner.go, checkFlavorForPodSets). */
	if (queued && at)
		finding_severity(f, SEVERITY_INFO);
	needs = pod_node_needs(pod);
	if (pod_gpu_selector(pod, NULL) ||
	    node_needs_imply(&needs, names_pool)) {
		finding_help(run, f,
			     "Remove the toleration and the selector of GPU "
			     "nodes together.");
		return;
	}
	/* The CPU role of a GPU workload (launcher, head) may need the
	 * toleration. */
	if (key && pod->object->gpus.n == 0)
		fix_remove(finding_fix(run, f, false,
				       "remove the toleration of `%s`", key),
			   at);
}

/* Rules that report why no GPU is counted: it is not requested, misspelled,
 * requested in the wrong place, or mounted from the host. */
static const char *const yields_to[] = {
	"gpu-limit-missing",
	"gpu-resource-name-unknown",
	"gpu-pod-level-resource",
	"nvidia-device-mount-bypass",
	NULL,
};

const struct rule rule_cpu_pod_tolerates_gpu_taint = {
	.name = "cpu-pod-tolerates-gpu-taint",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE | RULE_OPT_IN_PATCH,
	.summary =
		"a pod without an accelerator tolerates the taint of GPU nodes",
	.why = "If CPU pods use up the cores and memory of GPU nodes, GPU pods no longer fit there, and the GPUs stay idle.",
	.remedy = "Remove the toleration.",
	.evidence =
		"NVIDIA and cloud providers taint GPU nodes for this reason; https://github.com/kubernetes/kubernetes/tree/master/plugin/pkg/admission/extendedresourcetoleration",
	.yields_to = yields_to,
	.check_pod = check,
};
