/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU pods that do not tolerate the taint of GPU nodes. GPU nodes often
 * have a taint with the name of the vendor's resource: nvidia.com/gpu, also for
 * MIG, shared and claimed devices. A snapshot or the policy shows whether they
 * do; otherwise the finding is an info, and an object that names a managed
 * platform is skipped, because that adds tolerations or leaves its nodes
 * untainted. The admission plugin ExtendedResourceToleration adds the
 * toleration (not for claims), but it is off by default. Knative rejects
 * tolerations without a feature flag. Only the scheduler checks the toleration:
 * the kubelet, which gets pods with nodeName directly, checks only NoExecute
 * (pkg/kubelet/lifecycle/predicate.go generalFilter). Source:
 * plugin/pkg/admission/extendedresourcetoleration; Azure/AKS#1449.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/claim.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/scheduling/node_match.h"
#include "kube/scheduling/selector.h"

/* True if one of the pod's claims is known to be for NVIDIA's devices. */
static bool pod_claims_nvidia(const struct pod *pod)
{
	FOR_EACH_CHILD(pod_field(pod, "resourceClaims"), entry) {
		const struct claim *claim = claim_of(pod, entry);

		if (claim && claim->nvidia)
			return true;
	}
	return false;
}

static bool has_taint(const struct node_group *group, const char *key)
{
	FOR_EACH_CHILD(group->taints, taint)
		if (node_eq(node_get(taint, "key"), key))
			return true;
	return false;
}

/*
 * Returns whether all nodes with that resource (NULL: all nodes) have the
 * taint; unknown if there is none.
 */
static enum tri nodes_have_taint(const struct cluster *cluster,
				 const char *resource, const char *key)
{
	enum tri tainted = TRI_UNKNOWN;
	size_t n;
	const struct node_group *groups = cluster_nodes(cluster, &n);

	for (size_t i = 0; i < n; i++) {
		if (resource && !node_get(groups[i].allocatable, resource))
			continue;
		if (!has_taint(&groups[i], key))
			return TRI_NO;
		tainted = TRI_YES;
	}
	return tainted;
}

static enum tri is_tainted(struct rule_run *run, const struct pod *pod,
			   const char *resource, const char *key)
{
	const char *const *taints = rule_platform(run)->gpu_taints;
	const struct cluster *cluster = rule_cluster(run);

	if (cluster_shows_nodes(cluster))
		return nodes_afford(cluster, pod, 0)
			       ? nodes_have_taint(cluster, resource, key)
			       : TRI_UNKNOWN;
	for (; taints && *taints; taints++)
		if (!strcmp(*taints, key))
			return TRI_YES;
	return taints ? TRI_NO : TRI_UNKNOWN;
}

static void repair(struct rule_run *run, struct finding *f,
		   const struct pod *pod, const char *key)
{
	struct arena *arena = rule_arena(run);
	struct node *toleration = edit_map(arena);
	bool safe = !pod_handling(pod)->gates_fields;

	if (pod->flat)
		return;
	/* For a serving runtime, the fix would replace the whole list of the
	 * runtime. */
	FOR_EACH_CONTAINER(pod, c)
		safe &= !container_is_merged(c);
	edit_member_string(arena, toleration, "key", key);
	edit_member_string(arena, toleration, "operator", "Exists");
	edit_member_string(arena, toleration, "effect", "NoSchedule");
	fix_ensure(finding_fix(run, f, safe, "add a toleration of `%s`", key),
		   pod->spec, "tolerations", toleration, "key,operator,effect");
}

static bool check_key(struct rule_run *run, const struct pod *pod,
		      const char *resource, const char *key)
{
	const struct node *list = pod_field(pod, "tolerations");
	bool unknown;
	const struct node *runtime =
		rule_runtime_scheduling(run, pod, &unknown);
	enum tri tainted = is_tainted(run, pod, resource, key);
	const char *quote = pod->role && *pod->role ? "`" : "";
	struct finding *f;

	if (tolerations_tolerate(list, key, NULL, "NoSchedule") != TRI_NO ||
	    tolerations_tolerate(node_get(runtime, "tolerations"), key, NULL,
				 "NoSchedule") != TRI_NO ||
	    unknown || tainted == TRI_NO ||
	    !node_is_unset(pod_field(pod, "nodeName")) ||
	    (tainted == TRI_UNKNOWN && object_shows_platform(pod->object)))
		return false;
	f = report_pod(
		run, pod, list,
		tainted == TRI_YES
			? "the%s%s%s pods do not tolerate the taint `%s` of GPU nodes"
			: "the%s%s%s pods do not tolerate `%s`: if GPU nodes have that taint and nothing in the cluster adds the toleration, they stay Pending",
		*quote ? " `" : "", *quote ? pod->role : "", quote, key);
	finding_missing(f, pod->object, pod->spec, "tolerations");
	if (tainted == TRI_UNKNOWN)
		finding_severity(f, SEVERITY_INFO);
	finding_help(run, f,
		     "add {key: %s, operator: Exists, effect: NoSchedule}",
		     key);
	finding_cause(run, f, key);
	repair(run, f, pod, key);
	return true;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const char *reported = NULL;

	if (pod->injects & INJECT_SELECTOR || pod->object->kueue)
		return;
	FOR_EACH_CONTAINER(pod, c) {
		const char *key = c->accelerator ? c->accelerator->taint : NULL;

		if (key && !text_eq(reported, key) &&
		    (c->gpus.n > 0 || c->gpus.unknown) &&
		    check_key(run, pod, c->resource, key))
			reported = key;
	}
	if (!reported && pod_claims_nvidia(pod))
		check_key(run, pod, NULL, "nvidia.com/gpu");
}

const struct rule rule_gpu_toleration_missing = {
	.name = "gpu-toleration-missing",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE | RULE_SAFE_PATCH | RULE_SITE,
	.scope = GPU_PODS,
	.since = "1.0",
	.summary = "a GPU pod does not tolerate the taint of GPU nodes",
	.why = "If GPU nodes are tainted and the cluster does not add the toleration, the pod stays Pending (untolerated taint). Without a snapshot or `platform: {gpuTaints: [...]}` in the policy, this is an info.",
	.remedy =
		"Add a toleration with the vendor's key, operator Exists and effect NoSchedule.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/plugin/pkg/admission/extendedresourcetoleration; https://github.com/Azure/AKS/issues/1449; 15 % of 637 public GPU pod specs have tolerations",
	.check_pod = check,
};
