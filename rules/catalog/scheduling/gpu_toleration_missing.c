/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU pods that do not tolerate the taint of GPU nodes, or of the nodes
 * of the control plane if they select these (an info). GPU nodes often have a
 * taint with the name of the vendor's resource: nvidia.com/gpu, also for MIG,
 * shared and claimed devices. A snapshot or the policy shows whether they do;
 * otherwise the finding is an info, and an object that names a managed platform
 * is skipped, because such a platform adds tolerations or leaves its nodes
 * untainted. The admission plugin ExtendedResourceToleration adds the
 * toleration (not for claims), but it is off by default. Knative rejects
 * tolerations without a feature flag. Only the scheduler checks the toleration:
 * the kubelet, which gets pods with nodeName directly, checks only NoExecute
 * (pkg/kubelet/lifecycle/predicate.go generalFilter). Source:
 * plugin/pkg/admission/extendedresourcetoleration; Azure/AKS#1449.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/claim.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/scheduling/affinity.h"
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

/* --- nodes of a snapshot -------------------------------------------------- */

/* True if the nodes have the taint with an effect that keeps pods off, which
 * PreferNoSchedule does not. */
static bool has_taint(const struct node_group *group, const char *key)
{
	FOR_EACH_CHILD(group->taints, taint)
		if (node_eq(node_get(taint, "key"), key) &&
		    !node_eq(node_get(taint, "effect"), "PreferNoSchedule"))
			return true;
	return false;
}

/* Numbers of nodes with and without the taint. */
struct tainted {
	uint64_t with, without;
};

static void count_group(struct tainted *count, const struct node_group *group,
			const char *key)
{
	if (has_taint(group, key))
		count->with += group->count;
	else
		count->without += group->count;
}

/* Returns whether all nodes with that resource have the taint; unknown if there
 * is none. */
static enum tri nodes_have_taint(const struct cluster *cluster,
				 const char *resource, const char *key)
{
	struct tainted count = {0};
	size_t n;
	const struct node_group *groups = cluster_nodes(cluster, &n);

	for (size_t i = 0; i < n; i++)
		if (node_group_offers(&groups[i], resource) > 0)
			count_group(&count, &groups[i], key);
	if (count.without)
		return TRI_NO;
	return count.with ? TRI_YES : TRI_UNKNOWN;
}

static int cmp_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns the names of the nodes whose devices NVIDIA's driver publishes,
 * sorted, and sets *n to their number. */
static const char **claimed_nodes(const struct cluster *cluster,
				  struct arena *arena, size_t *n)
{
	size_t slices, last = 0;
	const struct cluster_object *items = cluster_objects(
		cluster, CLUSTER_RESOURCE_SLICE, "", arena, &slices);
	const char **names = ARENA_ARRAY(arena, const char *, slices + 1);

	*n = 0;
	for (size_t i = 0; i < slices; i++) {
		const struct node *spec = node_get(items[i].root, "spec");
		const char *name = node_str(node_get(spec, "nodeName"));

		if (name && node_eq(node_get(spec, "driver"), "gpu.nvidia.com"))
			names[(*n)++] = name;
	}
	if (!*n)
		return names;
	qsort(names, *n, sizeof(*names), cmp_names);
	for (size_t i = 1; i < *n; i++)
		if (strcmp(names[i], names[last]) != 0)
			names[++last] = names[i];
	*n = last + 1;
	return names;
}

/*
 * Returns whether all nodes with NVIDIA's devices have the taint. Equal nodes
 * form a group, of which only one name is known. If the groups whose name is
 * that of a node with devices do not add up to all nodes with devices, all
 * groups count, and the result is unknown if they differ.
 */
static enum tri claimed_nodes_have_taint(struct rule_run *run,
					 const struct pod *pod, const char *key)
{
	const struct cluster *cluster = rule_cluster(run);
	struct tainted all = {0}, found = {0};
	size_t n, names;
	const struct node_group *groups = cluster_nodes(cluster, &n);
	const char **nodes = claimed_nodes(cluster, rule_arena(run), &names);

	if (!nodes_afford(cluster, pod, 0))
		return TRI_UNKNOWN;
	for (size_t i = 0; i < n; i++) {
		count_group(&all, &groups[i], key);
		if (names && bsearch(&groups[i].name, nodes, names,
				     sizeof(*nodes), cmp_names))
			count_group(&found, &groups[i], key);
	}
	if (names && found.with + found.without == names)
		return found.without ? TRI_NO : TRI_YES;
	if (!all.with)
		return TRI_NO;
	return all.without ? TRI_UNKNOWN : TRI_YES;
}

/* Returns whether all nodes with the pod's devices have the taint, according to
 * the snapshot or the policy. resource is NULL for a claim. */
static enum tri is_tainted(struct rule_run *run, const struct pod *pod,
			   const char *resource, const char *key)
{
	const char *const *taints = rule_platform(run)->gpu_taints;
	const struct cluster *cluster = rule_cluster(run);

	if (cluster_shows_nodes(cluster)) {
		if (!resource)
			return claimed_nodes_have_taint(run, pod, key);
		return nodes_afford(cluster, pod, 0)
			       ? nodes_have_taint(cluster, resource, key)
			       : TRI_UNKNOWN;
	}
	for (; taints && *taints; taints++)
		if (!strcmp(*taints, key))
			return TRI_YES;
	return taints ? TRI_NO : TRI_UNKNOWN;
}

/* --- pods ----------------------------------------------------------------- */

static void add_fix(struct rule_run *run, struct finding *f,
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
			? "the%s%s%s pods do not tolerate the taint `%s` of GPU nodes: if nothing in the cluster adds the toleration, they stay Pending"
			: "the%s%s%s pods do not tolerate `%s`: if GPU nodes have that taint and nothing in the cluster adds the toleration, they stay Pending",
		*quote ? " `" : "", *quote ? pod->role : "", quote, key);
	finding_missing(f, pod->object, pod->spec, "tolerations");
	if (tainted == TRI_UNKNOWN)
		finding_severity(f, SEVERITY_INFO);
	finding_help(
		run, f,
		"Add the toleration {key: %s, operator: Exists, effect: NoSchedule}.",
		key);
	finding_cause(run, f, key);
	add_fix(run, f, pod, key);
	return true;
}

#define CONTROL_PLANE "node-role.kubernetes.io/control-plane"

static bool needs_control_plane(const struct node_need *need)
{
	return text_eq(need->key, CONTROL_PLANE) && node_need_requires(need);
}

/* Reports pods that select nodes of the control plane but do not tolerate their
 * taint. It is an info, because kubeadm sets the taint
 * (cmd/kubeadm/app/constants, ControlPlaneTaint in 1.36), and other installers
 * may not. */
static void check_control_plane(struct rule_run *run, const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(pod);
	struct finding *f;

	if (!node_needs_imply(&needs, needs_control_plane) ||
	    cluster_shows_nodes(rule_cluster(run)) ||
	    tolerations_tolerate(pod_field(pod, "tolerations"), CONTROL_PLANE,
				 NULL, "NoSchedule") != TRI_NO)
		return;
	f = report_pod(
		run, pod, pod_field(pod, "tolerations"),
		"the pods select nodes of the control plane and do not tolerate `" CONTROL_PLANE
		"`: if these nodes have the taint, as kubeadm sets it, the pods stay Pending");
	finding_cause(run, f, CONTROL_PLANE);
	finding_severity(f, SEVERITY_INFO);
	finding_help(
		run, f,
		"Add the toleration {key: %s, operator: Exists, effect: NoSchedule}, or select other nodes.",
		CONTROL_PLANE);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const char *reported = NULL;

	check_control_plane(run, pod);
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
	.summary =
		"a GPU pod does not tolerate the taint of GPU nodes, or of the control plane that it selects",
	.why = "If the nodes are tainted and the cluster does not add the toleration, the pod stays Pending (untolerated taint). Without a snapshot or `platform: {gpuTaints: [...]}` in the policy, this is an info.",
	.remedy =
		"Add a toleration with the key of the taint, operator Exists and effect NoSchedule.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/plugin/pkg/admission/extendedresourcetoleration; https://github.com/Azure/AKS/issues/1449; 15 % of 637 public GPU pod specs have tolerations",
	.check_pod = check,
};
