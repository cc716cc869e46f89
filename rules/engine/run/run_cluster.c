/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects the snapshot for a file or a workload, and answers the questions of
 * rules about it: objects, queues, labels of namespaces, facts of the platform
 * (without a snapshot, the policy's). A snapshot that is older than the
 * policy's maxAge, or from the future, is not used: rules that need it are
 * skipped, and the reason is reported.
 */
#include <string.h>

#include "base/text.h"
#include "kube/cluster/cluster.h"
#include "kube/quota/quota.h"
#include "kube/set/index_find.h"

#include "run_internal.h"

#define AHEAD	"the time of the cluster snapshot is in the future"
#define TOO_OLD "the cluster snapshot is older than the policy's maxAge"

void run_cluster_begin(struct run *run, const struct run_file *file)
{
	const struct run_options *options = &run->options;
	const struct cluster *cluster =
		file->cluster ? file->cluster : options->cluster;
	int64_t max = policy_max_age(file->policy);

	run->state->cluster_old = NULL;
	if (cluster && options->now && cluster_is_ahead(cluster, options->now))
		run->state->cluster_old = AHEAD;
	else if (cluster && max &&
		 options->now - cluster_taken_at(cluster) > max)
		run->state->cluster_old = TOO_OLD;
	if (run->state->cluster_old) {
		run->state->any_cluster_old = run->state->cluster_old;
		cluster = NULL;
	}
	run->state->cluster = run->index.cluster = cluster;
}

/* Selects the snapshot of the workload. w is NULL for rules on the input as a
 * whole, which use none. */
void run_cluster_workload(struct run *run, const struct workload *w)
{
	run->state->cluster = w ? w->cluster : NULL;
	run->state->cluster_old =
		run->state->cluster ? NULL : run->state->any_cluster_old;
}

const struct cluster *rule_cluster(struct rule_run *rr)
{
	return rr->run->state->cluster;
}

const struct platform *rule_platform(struct rule_run *rr)
{
	return policy_platform(rr->run->state->file.policy);
}

struct class_finder rule_classes(struct rule_run *rr)
{
	return (struct class_finder){rule_platform(rr)->kubernetes,
				     rule_arena(rr)};
}

enum device_injection rule_injection(struct rule_run *rr)
{
	enum device_injection known =
		cluster_injection(rule_cluster(rr), rule_arena(rr));

	return known ? known : rule_platform(rr)->injection;
}

int rule_karpenter(struct rule_run *rr)
{
	int known = cluster_karpenter(rule_cluster(rr), rule_arena(rr));

	return known ? known : rule_platform(rr)->karpenter;
}

enum tri rule_limit_default(struct rule_run *rr, const struct object *object,
			    const char *resource)
{
	const struct cluster *cluster = rr->run->state->cluster;
	const struct cluster_object *ranges;
	size_t n;

	if (!cluster || !object->namespace ||
	    cluster_unreadable(cluster, CLUSTER_LIMIT_RANGE))
		return rule_platform(rr)->limit_defaults;
	ranges = rule_cluster_list(rr, CLUSTER_LIMIT_RANGE, object->namespace,
				   &n);
	if (limit_range_defaults(ranges, n, resource))
		return TRI_YES;
	cluster_absent(cluster, CLUSTER_LIMIT_RANGE, object->namespace, NULL);
	return TRI_NO;
}

const struct cluster_object *rule_cluster_list(struct rule_run *rr,
					       enum cluster_kind kind,
					       const char *namespace, size_t *n)
{
	const struct cluster *cluster = rr->run->state->cluster;
	struct cached_list *list = &rr->run->state->listings[kind];

	if (list->serial != cluster_serial(cluster) ||
	    strcmp(list->namespace, namespace) != 0) {
		list->serial = 0;
		arena_reset(&list->arena);
		list->namespace = arena_strdup(&list->arena, namespace);
		list->items = cluster_objects(cluster, kind, namespace,
					      &list->arena, &list->n);
		list->serial = cluster_serial(cluster);
	}
	*n = list->n;
	return list->items;
}

const char *rule_without_cluster(struct rule_run *rr)
{
	return rr->run->state->cluster_old ? rr->run->state->cluster_old
	       : rr->rule->needs & NEEDS_SET
		       ? "needs all manifests of the namespace, or --cluster"
		       : "needs --cluster";
}

bool rule_cluster_lacks(struct rule_run *rr, enum cluster_kind kind)
{
	const struct cluster *cluster = rr->run->state->cluster;
	const char *reason = cluster ? cluster_unreadable(cluster, kind) : NULL;

	if (!reason)
		return false;
	rule_not_run(rr, arena_printf(rule_arena(rr),
				      "the cluster snapshot has no %s: %s",
				      cluster_resource(kind)->plural, reason));
	return true;
}

const struct node *rule_namespace_labels(struct rule_run *rr,
					 const struct object *object)
{
	const struct node *given = rr->run->state->file.namespace_labels;
	const struct cluster *cluster = rule_cluster(rr);

	if (given || !cluster || !object->namespace)
		return given;
	return cluster_namespace(cluster, object->namespace, rule_arena(rr));
}

bool rule_at_admission(const struct rule_run *rr)
{
	return rr->run->options.admission;
}

bool rule_cluster_lost(struct rule_run *rr)
{
	const struct run *run = rr->run;

	if (run->state->cluster ||
	    (!run->options.admission && !run->state->cluster_old))
		return false;
	rule_not_run(rr, rule_without_cluster(rr));
	return true;
}

const struct cluster *rule_needs_cluster(struct rule_run *rr,
					 enum cluster_kind kind)
{
	const struct cluster *cluster = rr->run->state->cluster;

	if (!cluster)
		rule_not_run(rr, rule_without_cluster(rr));
	else if (rule_cluster_lacks(rr, kind))
		cluster = NULL;
	return cluster;
}

const struct found_object *rule_cluster_queue(struct rule_run *rr,
					      const struct workload *w)
{
	const struct object_index *set = rule_index(rr);
	struct arena *arena = rule_arena(rr);
	const struct found_object *queue =
		index_find(set, w, CLUSTER_LOCAL_QUEUE, w->kueue_queue, arena);
	const char *name;

	if (!queue) {
		rule_needs_cluster(rr, CLUSTER_LOCAL_QUEUE);
		return NULL;
	}
	name = node_str(node_path(queue->root, "spec.clusterQueue"));
	if (!name)
		return NULL;
	queue = index_find(set, w, CLUSTER_QUEUE, name, arena);
	if (!queue)
		rule_needs_cluster(rr, CLUSTER_QUEUE);
	return queue && queue->root ? queue : NULL;
}
