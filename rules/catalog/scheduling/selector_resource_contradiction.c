/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods that can never be scheduled, because selector and resource
 * contradict each other (a label of one vendor with a resource of another, an
 * instance type or count label with fewer accelerators than requested), labels
 * that select two GPU models, or nodeSelector and required affinity, which must
 * both match. The API server forbids pods whose RuntimeClass selects another
 * value (plugin/pkg/admission/runtimeclass/admission.go, setScheduling).
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/scheduling/affinity.h"
#include "kube/scheduling/node_devices.h"
#include "kube/scheduling/node_match.h"
#include "kube/set/index_find.h"

/*
 * True if the expression excludes the nodes that the nodeSelector entry
 * requires.
 */
static bool excludes(const struct node_need *need, const struct node *wanted)
{
	bool listed = false;

	if (!node_str(wanted))
		return false;
	if (text_eq(need->operator, "DoesNotExist"))
		return true;
	if (!node_is_seq(need->values))
		return false;
	FOR_EACH_CHILD(need->values, value) {
		if (!node_str(value))
			return false;
		listed |= node_eq(value, node_str(wanted));
	}
	return text_eq(need->operator, listed ? "NotIn" : "In");
}

/* True if no node can match both the nodeSelector and the affinity, because
 * each of the ORed terms excludes an entry of the nodeSelector. Sets *clash to
 * the first such entry. */
static bool pod_node_clash(const struct pod *pod,
			   const struct node_needs *needs,
			   struct node_clash *clash)
{
	const struct node *selector = pod_field(pod, "nodeSelector");
	unsigned clashing = 0, term = 0;

	for (size_t i = 0; i < needs->n; i++) {
		const struct node_need *need = &needs->items[i];
		const struct node *wanted;

		if (need->term == term)
			continue;
		wanted = node_get(selector, need->key);
		if (!excludes(need, wanted))
			continue;
		term = need->term;
		if (!clashing++)
			*clash = (struct node_clash){wanted, need->at};
	}
	return clash->wanted && clashing == needs->terms;
}

static const struct accelerator *asked_for(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (c->accelerator && c->gpus.n > 0)
			return c->accelerator;
	return NULL;
}

/* True if one node may have devices of both vendors: processors have integrated
 * GPUs, and a label for PCI devices, or one of the site, may refer to these. */
static bool may_have_both(const struct node_label *label, const char *vendor,
			  const struct accelerator *accelerator)
{
	if (label->platform)
		return false;
	return text_eq(vendor, "intel") ||
	       text_eq(accelerator->vendor, "intel") ||
	       text_starts(label->key, "feature.node.kubernetes.io/pci-");
}

/* Reports the values of a label if their nodes have n accelerators (-1:
 * unknown), and the pod requests more. GPUs of AMD can be partitioned into
 * several devices. */
static void check_count(struct rule_run *run, const struct pod *pod,
			const struct node_need *need, int64_t n, bool amd)
{
	const struct node *first = node_need_value(need, 0);
	const char *only = node_need_value(need, 1) ? NULL : node_str(first);
	struct finding *f;

	amd &= n > 0;
	if (n < 0 || n >= pod->gpus.n ||
	    (!amd && !pod_requests_whole(rule_cluster(run), pod)))
		return;
	f = report_pod(
		run, pod, first,
		"`%s%s%s` selects nodes with %s%s, but a pod requests %s%s",
		need->key, only ? ": " : "", text_or_empty(only),
		n && !only ? "at most " : "",
		n ? rule_count(run, n, "accelerator") : "no accelerator",
		rule_number(run, pod->gpus.n),
		amd ? ": unless the GPUs are partitioned, it stays Pending"
		    : "");
	if (amd)
		finding_severity(f, SEVERITY_WARNING);
}

static void check_need(struct rule_run *run, const struct pod *pod,
		       const struct node_need *need,
		       const struct node_label *label,
		       const struct accelerator *accelerator)
{
	const struct node *first = node_need_value(need, 0);
	const char *value = node_str(first) ? node_str(first) : "";
	const char *vendor = node_label_vendor(need->key, value);
	bool amd = text_eq(accelerator->vendor, "amd");

	if (node_need_value(need, 1)) {
		check_count(run, pod, need, node_need_devices(need), amd);
		return;
	}
	if (node_eq(first, "false"))
		return;
	if (!vendor || text_eq(vendor, accelerator->vendor))
		check_count(run, pod, need,
			    node_label_devices(need->key, value), amd);
	else if (!may_have_both(label, vendor, accelerator))
		report_pod(
			run, pod, need->at,
			"`%s` selects nodes with %s devices, but the pods request `%s`: no node has both",
			need->key, vendor, accelerator->name);
}

/* Reports labels that select two GPU models, such as an instance type and a
 * product. */
static void check_models(struct rule_run *run, const struct pod *pod)
{
	struct mig_choices choices = mig_choices_of(pod);
	const struct mig_choice *a = &choices.items[0], *b = a + 1;
	struct finding *f;

	/* check_clash() reports two values of the same key. */
	if (choices.n < 2 || text_eq(a->product, b->product) ||
	    text_eq(a->key, b->key))
		return;
	f = report_pod(run, pod, b->value,
		       "`%s: %s` selects %s, but `%s: %s` selects %s", b->key,
		       b->value->str, b->product, a->key, a->value->str,
		       a->product);
	finding_label(run, f, a->value, "no node has both");
}

static void check_clash(struct rule_run *run, const struct pod *pod,
			const struct node_needs *needs)
{
	struct node_clash clash = {0};
	struct finding *f;

	if (pod_uses_gpu(pod) != TRI_YES || !pod_node_clash(pod, needs, &clash))
		return;
	f = report_pod(
		run, pod, clash.wanted,
		"nodeSelector requires `%s: %s`, but the required node affinity excludes it",
		clash.wanted->key, clash.wanted->str);
	finding_label(run, f, clash.expression, "this must also match");
	finding_help(
		run, f,
		"Use the same value in both, because a node must match both.");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct accelerator *accelerator = asked_for(pod);
	struct node_needs needs = pod_node_needs(pod);

	check_clash(run, pod, &needs);
	if (!accelerator)
		return;
	if (needs.n > 1)
		check_models(run, pod);
	/* With several ORed terms another one may match, so only a single term
	 * is checked. */
	for (size_t i = 0; i < needs.n && needs.terms <= 1; i++) {
		const struct node_need *need = &needs.items[i];
		const struct node_label *label = node_label_find(need->key);

		if (label && node_need_requires(need))
			check_need(run, pod, need, label, accelerator);
	}
}

static void check_class(struct rule_run *run, const struct pod *pod,
			const struct found_object *class)
{
	const struct node *own = pod_field(pod, "nodeSelector");
	const struct node *labels =
		node_path(class->root, "scheduling.nodeSelector");

	if (!node_is_map(labels)) /* items of a list have no keys */
		return;
	FOR_EACH_CHILD(labels, label) {
		const struct node *at = node_get(own, label->key);
		struct finding *f;

		if (!node_str(at) || !node_str(label) ||
		    !strcmp(at->str, label->str))
			continue;
		f = report_pod(run, pod, at,
			       "RuntimeClass `%s` selects `%s: %s`: the API "
			       "server forbids pods that select another value",
			       class->name, label->key, label->str);
		finding_label_place(run, f, &class->place, "the class");
		finding_help(run, f,
			     "Select `%s: %s`, or use another RuntimeClass.",
			     label->key, label->str);
	}
}

static void check_workload(struct rule_run *run, const struct workload *w)
{
	const struct object *object = NULL;

	if (w->runtime_class && !w->child)
		object = rule_object(run, w);
	if (!object)
		return;
	FOR_EACH_POD(object, pod) {
		const char *name = node_str(pod_field(pod, "runtimeClassName"));
		const struct found_object *class =
			name ? index_find(rule_index(run), w,
					  CLUSTER_RUNTIME_CLASS, name,
					  rule_arena(run))
			     : NULL;

		if (class)
			check_class(run, pod, class);
	}
}

const struct rule rule_selector_resource_contradiction = {
	.name = "selector-resource-contradiction",
	.category = "scheduling",
	.severity = SEVERITY_ERROR,
	.summary =
		"a node selector contradicts the accelerator, the node affinity or the RuntimeClass",
	.why = "No node matches contradictory requirements, so the pod stays Pending forever. If the RuntimeClass selects another value, the API server forbids the pod.",
	.remedy =
		"Make the label, the instance type and the resource refer to the same accelerator.",
	.evidence =
		"https://karpenter.sh/docs/reference/instance-types/; GKE accelerator labels; gpu-feature-discovery",
	.check_pod = check,
	.check_workload = check_workload,
};
