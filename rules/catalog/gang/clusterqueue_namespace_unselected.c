/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports workloads in a namespace that their ClusterQueue does not select.
 * clusterqueue-never-fits reports queues without a namespaceSelector. Labels of
 * the namespace may be added later, so this is a warning. Source: kueue
 * ff69552e pkg/workload/resources.go, ErrNamespaceMismatch.
 */
#include "engine/rule.h"
#include "kube/scheduling/selector.h"
#include "kube/set/index_find.h"

static void check(struct rule_run *run, const struct workload *w)
{
	const struct found_object *queue, *namespace;
	const struct node *selector, *labels;
	struct finding *f;

	if (!w->kueue_queue || w->child || !*w->id.namespace)
		return;
	queue = rule_cluster_queue(run, w);
	selector =
		queue ? node_path(queue->root, "spec.namespaceSelector") : NULL;
	if (node_is_unset(selector) || node_is_unknown(selector) ||
	    !node_count(selector))
		return;
	namespace = index_find(rule_index(run), w, CLUSTER_NAMESPACE,
			       w->id.namespace, rule_arena(run));
	if (!namespace)
		rule_needs_cluster(run, CLUSTER_NAMESPACE);
	if (!namespace || !namespace->root)
		return;
	labels = labels_with_namespace(
		rule_arena(run), node_path(namespace->root, "metadata.labels"),
		w->id.namespace);
	if (label_selector_matches(selector, labels, LABELS_NO_MORE) != TRI_NO)
		return;
	f = report_place(
		run, &w->id, &w->place,
		"the `namespaceSelector` of ClusterQueue `%s` does not match the labels of namespace `%s`: unless they change, %s is never admitted",
		queue->name, w->id.namespace,
		rule_title(run, w->id.kind, w->id.name));
	finding_label_place(run, f, &namespace->place, "the namespace");
}

const struct rule rule_clusterqueue_namespace_unselected = {
	.name = "clusterqueue-namespace-unselected",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.summary =
		"a workload in a namespace that its ClusterQueue does not select",
	.why = "Kueue admits only workloads of namespaces that the ClusterQueue selects: the workload stays suspended.",
	.remedy =
		"Label the namespace as the selector requires, or use a queue that selects it.",
	.evidence =
		"https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#namespace-selector",
	.check_workload = check,
};
