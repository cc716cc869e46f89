/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods that select a Karpenter NodePool, by its name or by a label that
 * one pool has, and request more accelerators than any instance type in the
 * pool's requirements has, or accelerators of another vendor. Source: karpenter
 * pkg/controllers/provisioning/scheduling nodeclaim.go ("no instance type
 * satisfied resources").
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/scheduling/node_devices.h"
#include "kube/scheduling/node_match.h"
#include "kube/set/index_find.h"

/* Returns the largest number of accelerators that the requirement allows, or
 * -1. */
static int64_t most_of(const struct node *requirement)
{
	struct node_need need = {
		.key = node_str(node_get(requirement, "key")),
		.operator= node_str(node_get(requirement, "operator")),
		.values = node_get(requirement, "values"),
	};

	return need.key ? node_need_devices(&need) : -1;
}

/* True if the pod requests a known number of whole devices. */
static bool requests_devices(struct rule_run *run, const struct pod *pod)
{
	return !pod->gpus.unknown && pod->gpus.n > 0 &&
	       pod_requests_whole(rule_cluster(run), pod);
}

/* Returns the vendor of the accelerators of all instance types that the
 * requirement allows, or NULL. */
static const char *vendor_of(const struct node *requirement)
{
	const char *key = node_str(node_get(requirement, "key")),
		   *vendor = NULL;
	const struct node_label *label = key ? node_label_find(key) : NULL;

	if (!label || label->meaning != LABEL_INSTANCE ||
	    !node_eq(node_get(requirement, "operator"), "In"))
		return NULL;
	FOR_EACH_CHILD(node_get(requirement, "values"), value) {
		const struct instance_type *type =
			node_str(value) ? instance_type_find(value->str) : NULL;

		if (!type || !type->accelerators ||
		    (vendor && !text_eq(vendor, type->vendor)))
			return NULL;
		vendor = type->vendor;
	}
	return vendor;
}

/* Returns the accelerator that the pod's containers request, or NULL. */
static const struct accelerator *requested(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (c->accelerator)
			return c->accelerator;
	return NULL;
}

/* Reports a requirement of the pool that the pod does not fit. Returns the
 * finding, or NULL. */
static struct finding *check_requirement(struct rule_run *run,
					 const struct pod *pod,
					 const struct found_object *pool,
					 const struct node *requirement,
					 const struct node *at)
{
	int64_t most = most_of(requirement);
	const char *vendor = vendor_of(requirement);
	const struct accelerator *wanted = requested(pod);

	if (most >= 0 && most < pod->gpus.n)
		return report_pod(
			run, pod, at,
			"no node of NodePool `%s` has more than %s (`%s`), but a pod requests %s",
			pool->name, rule_count(run, most, "accelerator"),
			node_get(requirement, "key")->str,
			rule_number(run, pod->gpus.n));
	if (!vendor || !wanted || text_eq(vendor, wanted->vendor))
		return NULL;
	return report_pod(
		run, pod, at,
		"the instance types of NodePool `%s` have accelerators of the vendor `%s`, but a pod requests `%s`",
		pool->name, vendor, wanted->name);
}

/* Compares the pod with the pool's requirements. label is the node selector
 * that finds the pool, or NULL if the pod names the pool. */
static void check_pool(struct rule_run *run, const struct pod *pod,
		       const struct found_object *pool, const struct node *at,
		       const struct node *label)
{
	FOR_EACH_CHILD(node_path(pool->root, "spec.template.spec.requirements"),
		       requirement) {
		struct finding *f =
			check_requirement(run, pod, pool, requirement, at);

		if (!f)
			continue;
		finding_label_place(run, f, &pool->place, "the pool");
		if (!label)
			return;
		finding_severity(f, SEVERITY_WARNING);
		finding_help(
			run, f,
			"Add the label `%s: %s` to a NodePool whose instance types fit.",
			label->key, label->str);
		return;
	}
}

/* True if the nodes of the pool have this label of the site. */
static bool has_label(const struct found_object *pool, const struct node *label)
{
	const struct node *template = node_path(pool->root, "spec.template");

	if (node_eq(node_get(node_path(template, "metadata.labels"),
			     label->key),
		    label->str))
		return true;
	FOR_EACH_CHILD(node_path(template, "spec.requirements"), one) {
		const struct node *values = node_get(one, "values");

		if (node_eq(node_get(one, "key"), label->key) &&
		    node_eq(node_get(one, "operator"), "In") &&
		    node_count(values) == 1 &&
		    node_eq(node_at(values, 0), label->str))
			return true;
	}
	return false;
}

/* Checks the only pool of the input that has a label that the pod selects. */
static void check_label(struct rule_run *run, const struct workload *w,
			const struct pod *pod, const struct node *label)
{
	const struct found_object *all, *found = NULL;
	const struct node_label *known = node_label_find(label->key);
	size_t n;

	if (!node_str(label) || (known && known->meaning != LABEL_PRESENCE) ||
	    text_contains(label->key, "kubernetes.io/") ||
	    text_starts(label->key, "karpenter."))
		return;
	all = index_find_all(rule_index(run), w, CLUSTER_NODE_POOL,
			     rule_arena(run), &n);
	for (size_t i = 0; i < n; i++) {
		if (!all[i].root)
			return;
		if (!has_label(&all[i], label))
			continue;
		if (found)
			return;
		found = &all[i];
	}
	if (found)
		check_pool(run, pod, found, label, label);
}

static void check_pod(struct rule_run *run, const struct workload *w,
		      const struct pod *pod)
{
	const struct node *selector = pod_field(pod, "nodeSelector");
	const struct node *at = node_get(selector, "karpenter.sh/nodepool");
	const struct found_object *pool = NULL;

	if (!requests_devices(run, pod))
		return;
	if (node_str(at))
		pool = index_find(rule_index(run), w, CLUSTER_NODE_POOL,
				  at->str, rule_arena(run));
	if (pool)
		check_pool(run, pod, pool, at, NULL);
	if (node_is_unset(at))
		FOR_EACH_CHILD(selector, label)
			check_label(run, w, pod, label);
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct object *object = NULL;

	if (!w->child &&
	    (index_keeps(rule_index(run), CLUSTER_NODE_POOL) || w->cluster))
		object = rule_object(run, w);
	if (!object)
		return;
	FOR_EACH_POD(object, pod)
		check_pod(run, w, pod);
}

const struct rule rule_nodepool_too_small = {
	.name = "nodepool-too-small",
	.category = "scheduling",
	.severity = SEVERITY_ERROR,
	.needs = NEEDS_SET,
	.summary =
		"a pod requests more accelerators than the nodes of its NodePool have, or accelerators of another vendor",
	.why = "Karpenter finds no instance type for the pod (`no instance type satisfied resources`): it stays Pending.",
	.remedy =
		"Add instance types with the requested accelerators to the requirements of the NodePool, select another pool, or request fewer accelerators per pod.",
	.evidence =
		"https://github.com/aws/karpenter-provider-aws/issues/8064; https://github.com/aws/karpenter-provider-aws/issues/7754; https://karpenter.sh/docs/concepts/nodepools/",
	.check_workload = check,
};
