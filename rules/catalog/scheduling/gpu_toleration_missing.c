/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU nodes carry a taint named like the vendor's device: nvidia.com/gpu for
 * MIG, shared and claimed ones too. ExtendedResourceToleration adds the
 * toleration (not for claims), but is off by default; GKE runs it, so pods that
 * select GKE's labels are fine. Knative takes none without a feature flag.
 * Source: plugin/pkg/admission/extendedresourcetoleration; Azure/AKS#1449.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/affinity.h"
#include "kube/claim.h"
#include "kube/node_match.h"
#include "kube/selector.h"

/* GKE, or Cloud Run, where nobody sees a node. */
static bool on_google(struct rule_run *run, const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(rule_arena(run), pod);

	for (size_t i = 0; i < needs.n; i++)
		if (text_starts(needs.items[i].key, "cloud.google.com/") ||
		    text_starts(needs.items[i].key, "run.googleapis.com/"))
			return true;
	return needs.unknown;
}

/* No node with that resource has the taint, and all nodes are known. */
static bool is_untainted(struct rule_run *run, const char *resource,
			 const char *key)
{
	const struct cluster *cluster = rule_cluster(run);
	bool offered = false;
	size_t n;
	const struct node_group *groups;

	if (!cluster_shows_nodes(cluster))
		return false;
	groups = cluster_nodes(cluster, &n);
	for (size_t i = 0; i < n; i++) {
		if (resource && !node_get(groups[i].allocatable, resource))
			continue;
		offered = true;
		FOR_EACH_CHILD(groups[i].taints, taint)
			if (node_eq(node_get(taint, "key"), key))
				return false;
	}
	return offered;
}

static void repair(struct rule_run *run, struct finding *f,
		   const struct pod *pod, const char *key)
{
	bool knative = text_eq(pod->object->group, "serving.knative.dev");
	struct arena *arena = rule_arena(run);
	struct node *toleration = edit_map(arena);

	if (pod->flat)
		return;
	edit_member_string(arena, toleration, "key", key);
	edit_member_string(arena, toleration, "operator", "Exists");
	edit_member_string(arena, toleration, "effect", "NoSchedule");
	fix_ensure(
		finding_fix(run, f, !knative, "tolerate the taint `%s`", key),
		pod->spec, "tolerations", toleration, "key,operator,effect");
}

static bool check_key(struct rule_run *run, const struct pod *pod,
		      const char *resource, const char *key)
{
	const struct node *list = pod_field(pod, "tolerations");
	struct finding *f;

	if (tolerations_tolerate(list, key, NULL, "NoSchedule") != TRI_NO ||
	    is_untainted(run, resource, key))
		return false;
	f = report_pod(run, pod, list,
		       "the pods do not tolerate the taint `%s` of GPU nodes",
		       key);
	finding_help(run, f,
		     "add {key: %s, operator: Exists, effect: NoSchedule}",
		     key);
	finding_cause(run, f, key);
	repair(run, f, pod, key);
	return true;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const char *told = NULL;

	if (pod_uses_gpu(pod) != TRI_YES || pod->injects & INJECT_SELECTOR ||
	    pod->object->kueue || on_google(run, pod))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		const char *key = c->accelerator ? c->accelerator->taint : NULL;

		if (key && !text_eq(told, key) &&
		    (c->gpus.n > 0 || c->gpus.unknown) &&
		    check_key(run, pod, c->resource, key))
			told = key;
	}
	if (!told && pod_claims_nvidia(pod))
		check_key(run, pod, NULL, "nvidia.com/gpu");
}

const struct rule rule_gpu_toleration_missing = {
	.name = "gpu-toleration-missing",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.action = ACTION_PATCH,
	.flags = RULE_ABSENCE | RULE_SAFE_PATCH,
	.since = "1.0",
	.summary = "a GPU pod does not tolerate the taint of GPU nodes",
	.why = "Where GPU nodes are tainted and the cluster does not add the toleration, the pod stays Pending: untolerated taint.",
	.remedy = "Tolerate the vendor's key with Exists and NoSchedule.",
	.evidence =
		"plugin/pkg/admission/extendedresourcetoleration; Azure/AKS#1449; 15 % of 637 public GPU pod specs have tolerations",
	.check_pod = check,
};
