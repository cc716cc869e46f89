/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue that is not there, or takes nothing: a Kueue LocalQueue (and the
 * ClusterQueue behind it), a queue of Volcano or KAI. The job stays suspended
 * or its pods Pending, and nothing says why.
 * Source: kueue pkg/queue; volcano pkg/webhooks/admission/jobs (root, state).
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"

struct seen {
	const struct node *root; /* in the cluster, or NULL */
	bool in_set;
};

static struct seen look(struct rule_run *run, const struct workload *w,
			enum cluster_kind kind, const char *name)
{
	const struct cluster_resource *r = cluster_resource(kind);
	bool local = kind == CLUSTER_LOCAL_QUEUE;
	const struct object_id id = {
		arena_printf(rule_arena(run), "%s/v1", r->group), r->kind,
		local ? w->id.namespace : "", name};
	const struct cluster *cluster = rule_cluster(run);
	struct seen seen = {.in_set =
				    facts_have_queue(rule_facts(run), w, &id)};

	if (cluster)
		seen.root = cluster_object(cluster, &id, rule_arena(run));
	return seen;
}

/* Can it be said what queues there are? Else the rule did not run. */
static bool judges(struct rule_run *run, enum cluster_kind kind)
{
	if (!rule_cluster(run)) {
		rule_not_run(run, rule_without_cluster(run));
		return false;
	}
	return !rule_cluster_lacks(run, kind);
}

static void report(struct rule_run *run, const struct workload *w,
		   const char *what, const char *name, const char *fault)
{
	report_place(run, &w->id, &w->place,
		     "%s `%s` of %s %s: it will wait for ever", what, name,
		     rule_title(run, w->id.kind, w->id.name), fault);
}

static bool is_stopped(const struct node *queue)
{
	const char *policy = node_str(node_path(queue, "spec.stopPolicy"));

	return policy && strcmp(policy, "None") != 0;
}

static void check_cluster_queue(struct rule_run *run, const struct workload *w,
				const char *name)
{
	struct seen queue = look(run, w, CLUSTER_QUEUE, name);

	if (is_stopped(queue.root))
		report(run, w, "ClusterQueue", name, "is stopped");
	else if (!queue.root && !queue.in_set && judges(run, CLUSTER_QUEUE))
		report(run, w, "ClusterQueue", name, "does not exist");
}

static void check_kueue(struct rule_run *run, const struct workload *w)
{
	const char *name = w->kueue_queue;
	struct seen queue = look(run, w, CLUSTER_LOCAL_QUEUE, name);
	const struct node *behind = node_path(queue.root, "spec.clusterQueue");

	if (!*w->id.namespace)
		rule_not_run(run, "the namespace is not known");
	else if (is_stopped(queue.root))
		report(run, w, "LocalQueue", name, "is stopped");
	else if (!queue.root && !queue.in_set &&
		 judges(run, CLUSTER_LOCAL_QUEUE))
		report(run, w, "LocalQueue", name, "does not exist");
	else if (node_str(behind) && !queue.in_set)
		check_cluster_queue(run, w, node_str(behind));
}

static void check(struct rule_run *run, const struct workload *w)
{
	enum cluster_kind kind = w->queue_sort == QUEUE_KAI
					 ? CLUSTER_KAI_QUEUE
					 : CLUSTER_VOLCANO_QUEUE;
	struct seen queue;

	if (w->child)
		return;
	if (w->kueue_queue)
		check_kueue(run, w);
	if (!w->queue || w->queue_sort == QUEUE_OTHER)
		return;
	queue = look(run, w, kind, w->queue);
	if (node_eq(node_path(queue.root, "status.state"), "Closed"))
		report(run, w, "queue", w->queue, "is closed");
	else if (!queue.root && !queue.in_set && judges(run, kind))
		report(run, w, "queue", w->queue, "does not exist");
}

const struct rule rule_queue_unknown = {
	.name = "queue-unknown",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.action = ACTION_DENY,
	.needs = NEEDS_SET,
	.since = "1.0",
	.summary = "a queue that does not exist, or takes no jobs",
	.why = "The job stays suspended or its pods Pending, without a word.",
	.remedy = "Name a queue that is there and open.",
	.evidence = "kueue pkg/queue; volcano pkg/webhooks/admission/jobs",
	.check_workload = check,
};
