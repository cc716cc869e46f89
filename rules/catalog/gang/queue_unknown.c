/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports queues that do not exist or accept nothing: Kueue's LocalQueues, with
 * their ClusterQueue and its flavors, and queues of Volcano and KAI. Also
 * reports jobs that name no queue and are suspended by Kueue's Configuration.
 * The job stays suspended, its pods stay Pending, or Volcano's webhook rejects
 * it. Without a snapshot, the cluster may have a queue that no file defines:
 * the message then contains "if", and the finding is an info, or a warning if a
 * queue has a similar name. Source: kueue pkg/queue; volcano
 * pkg/webhooks/admission/jobs; Volcano's scheduler creates the queue `default`.
 */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/set/index_find.h"

static void report(struct rule_run *run, const struct workload *w,
		   enum cluster_kind kind, const char *name, const char *fault)
{
	report_place(run, &w->id, &w->place,
		     "%s `%s` of %s %s: the workload does not start",
		     cluster_resource(kind)->kind, name,
		     rule_title(run, w->id.kind, w->id.name), fault);
}

/* Reports a queue that is not found. owner is the object that names it; NULL
 * for the workload. */
static void report_unknown(struct rule_run *run, const struct workload *w,
			   enum cluster_kind kind, const char *name,
			   const char *owner)
{
	const char *near, *there;
	struct place place;
	struct finding *f;

	if (rule_cluster_lacks(run, kind))
		return;
	if (!rule_cluster(run) && (rule_set_is_partial(run) ||
				   !index_lists(rule_index(run), w, kind))) {
		rule_not_run(run, rule_without_cluster(run));
		return;
	}
	near = index_nearest(rule_index(run), w, kind, name, rule_arena(run));
	if (!owner)
		owner = rule_title(run, w->id.kind, w->id.name);
	f = report_place(
		run, &w->id, &w->place,
		rule_cluster(run)
			? "%s `%s` of %s does not exist: the workload does not start"
			: "no file defines the %s `%s` of %s: if the cluster does not have it either, the workload does not start",
		cluster_resource(kind)->kind, name, owner);
	there = index_elsewhere(rule_index(run), w, kind, name, &place);
	if (there)
		finding_label_place(run, f, &place, "defined in namespace `%s`",
				    there);
	if (near)
		finding_help(run, f, "did you mean `%s`?", near);
	else if (kind == CLUSTER_FLAVOR)
		finding_help(run, f, "Create the flavor, or remove it from %s.",
			     owner);
	if (!rule_cluster(run))
		finding_severity(f, near ? SEVERITY_WARNING : SEVERITY_INFO);
}

static bool is_stopped(const struct found_object *queue)
{
	const char *policy =
		node_str(node_path(queue->root, "spec.stopPolicy"));

	return policy && strcmp(policy, "None") != 0;
}

/* Reports flavors of a ClusterQueue that do not exist. A queue that names one
 * is inactive. */
static void check_flavors(struct rule_run *run, const struct workload *w,
			  const struct found_object *queue)
{
	FOR_EACH_CHILD(node_path(queue->root, "spec.resourceGroups"), group)
		FOR_EACH_CHILD(node_get(group, "flavors"), flavor) {
			const char *name = node_str(node_get(flavor, "name"));

			if (name &&
			    !index_find(rule_index(run), w, CLUSTER_FLAVOR,
					name, rule_arena(run)))
				report_unknown(run, w, CLUSTER_FLAVOR, name,
					       rule_title(run, "ClusterQueue",
							  queue->name));
		}
}

static void check_kueue(struct rule_run *run, const struct workload *w,
			enum cluster_kind kind, const char *name)
{
	const struct found_object *queue =
		index_find(rule_index(run), w, kind, name, rule_arena(run));
	const char *behind;

	if (!queue) {
		report_unknown(run, w, kind, name, NULL);
		return;
	}
	behind = node_str(node_path(queue->root, "spec.clusterQueue"));
	if (is_stopped(queue))
		report(run, w, kind, name, "is stopped");
	else if (kind == CLUSTER_LOCAL_QUEUE && behind)
		check_kueue(run, w, CLUSTER_QUEUE, behind);
	else if (kind == CLUSTER_QUEUE)
		check_flavors(run, w, queue);
}

static bool has_children(struct rule_run *run, const struct workload *w)
{
	size_t n;
	const struct found_object *all = index_find_all(
		rule_index(run), w, CLUSTER_VOLCANO_QUEUE, rule_arena(run), &n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i].name, w->queue) &&
		    node_eq(node_path(all[i].root, "spec.parent"), w->queue))
			return true;
	return false;
}

static void check_queue(struct rule_run *run, const struct workload *w,
			enum cluster_kind kind)
{
	bool volcano = kind == CLUSTER_VOLCANO_QUEUE;
	const struct found_object *queue =
		index_find(rule_index(run), w, kind, w->queue, rule_arena(run));

	if (volcano && !strcmp(w->queue, "root"))
		report(run, w, kind, w->queue,
		       "is the root queue, which accepts no jobs");
	else if (volcano && has_children(run, w))
		report(run, w, kind, w->queue,
		       "has queues below it and accepts no jobs");
	else if (queue) {
		if (node_eq(node_get(queue->status, "state"), "Closed"))
			report(run, w, kind, w->queue, "is closed");
	} else if (rule_cluster(run) || !volcano ||
		   strcmp(w->queue, "default") != 0)
		report_unknown(run, w, kind, w->queue, NULL);
}

/* Returns the workload's kind as Kueue names it: "batch/job", "pod",
 * "ray.io/rayjob". */
static const char *framework_of(const struct workload *w, struct arena *arena)
{
	const char *slash = strchr(w->id.api_version, '/');
	int len = slash ? (int)(slash - w->id.api_version) : 0;
	char *name = arena_printf(arena, "%.*s%s%s", len, w->id.api_version,
				  len ? "/" : "", w->id.kind);

	for (char *c = name; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return name;
}

/* True if Kueue suspends the workload although it names no queue.
 * namespace_labels are the labels of its namespace, NULL if unknown. */
static bool kueue_manages(const struct object_index *set,
			  const struct component_config *config,
			  const struct workload *w,
			  const struct node *namespace_labels,
			  struct arena *arena)
{
	const char *framework = framework_of(w, arena);
	const struct node *selector =
		node_get(config->root, "managedJobsNamespaceSelector");

	if (config->type != CONFIG_KUEUE || !config_is_beside(set, config, w) ||
	    !node_is_true(node_get(config->root, "manageJobsWithoutQueueName")))
		return false;
	/* The default leaves out kube-system and kueue-system. */
	if (node_is_unset(selector)
		    ? !strcmp(w->id.namespace, "kube-system") ||
			      !strcmp(w->id.namespace, "kueue-system")
		    : !namespace_labels ||
			      label_selector_matches(selector, namespace_labels,
						     LABELS_NO_MORE) != TRI_YES)
		return false;
	FOR_EACH_CHILD(node_path(config->root, "integrations.frameworks"), one)
		if (node_eq(one, framework))
			return true;
	return false;
}

/* Reports a job that names no queue and is suspended by Kueue's Configuration
 * in the files. If its namespace has a LocalQueue `default`, that queue takes
 * it. */
static void check_default(struct rule_run *run, const struct workload *w)
{
	const struct object_index *set = rule_index(run);
	const struct found_object *namespace;
	const struct node *labels = NULL;
	struct finding *f;

	if (!set->nconfigs || !*w->id.namespace || rule_set_is_partial(run) ||
	    !index_lists(set, w, CLUSTER_LOCAL_QUEUE) ||
	    index_find(set, w, CLUSTER_LOCAL_QUEUE, "default", rule_arena(run)))
		return;
	namespace = index_find(set, w, CLUSTER_NAMESPACE, w->id.namespace,
			       rule_arena(run));
	if (namespace)
		labels = labels_with_namespace(
			rule_arena(run),
			node_path(namespace->root, "metadata.labels"),
			w->id.namespace);
	for (size_t i = 0; i < set->nconfigs; i++) {
		if (!kueue_manages(set, &set->configs[i], w, labels,
				   rule_arena(run)))
			continue;
		f = report_place(
			run, &w->id, &w->place,
			rule_cluster(run)
				? "%s names no queue, and namespace `%s` has no LocalQueue `default`: Kueue keeps it suspended"
				: "%s names no queue, and no file defines a LocalQueue `default` in namespace `%s`: if the cluster has none either, Kueue keeps it suspended",
			rule_title(run, w->id.kind, w->id.name),
			w->id.namespace);
		finding_label_place(run, f, &set->configs[i].place,
				    "manageJobsWithoutQueueName");
		finding_help(run, f,
			     "Set the label kueue.x-k8s.io/queue-name.");
		if (!rule_cluster(run))
			finding_severity(f, SEVERITY_INFO);
		return;
	}
}

static void check(struct rule_run *run, const struct workload *w)
{
	if (w->child)
		return;
	if (!w->kueue && !w->kueue_queue)
		check_default(run, w);
	if (w->kueue_queue && !*w->id.namespace)
		rule_not_run(run, "the namespace is unknown");
	/* kueue-rejects reports names that no queue can have. */
	else if (w->kueue_queue &&
		 text_is_subdomain(w->kueue_queue, strlen(w->kueue_queue)))
		check_kueue(run, w, CLUSTER_LOCAL_QUEUE, w->kueue_queue);
	if (w->queue &&
	    (w->queue_type == QUEUE_VOLCANO || w->queue_type == QUEUE_KAI))
		check_queue(run, w,
			    w->queue_type == QUEUE_KAI ? CLUSTER_KAI_QUEUE
						       : CLUSTER_VOLCANO_QUEUE);
}

const struct rule rule_queue_unknown = {
	.name = "queue-unknown",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.needs = NEEDS_SET,
	.summary =
		"a queue that does not exist or accepts no jobs, or a job that Kueue suspends because it names no queue",
	.why = "The job stays suspended, its pods stay Pending, or Volcano's webhook rejects it.",
	.remedy = "Name a queue that exists and accepts jobs.",
	.evidence =
		"https://github.com/kubernetes-sigs/kueue/tree/release-0.13/pkg/queue; https://github.com/volcano-sh/volcano/tree/master/pkg/webhooks/admission/jobs",
	.check_workload = check,
};
