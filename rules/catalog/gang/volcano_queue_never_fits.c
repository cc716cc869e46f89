/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports gangs that need more at once than the capability of their Volcano
 * queue, so that they are never enqueued. The plugins proportion (on by
 * default) and capacity compare the two. A resource that is missing in the
 * capability is unlimited. Source: volcano
 * pkg/scheduler/plugins/proportion/proportion.go (AddJobEnqueueableFn) and
 * capacity/capacity.go, and for a job's minimum
 * pkg/controllers/job/job_controller_actions.go (calcPGMinResources). The
 * operators of Kubeflow use schedulingPolicy.queue if a flag selects Volcano
 * (mpi-operator v0.8.0 pkg/controller/podgroup.go, training-operator v1.9.3
 * pkg/controller.v1/common/job.go), so that the finding is an info.
 */
#include "engine/rule.h"
#include "kube/set/index_find.h"

/* Returns the smallest request of the resource above floor, and the number of
 * pods that make it; returns a negative amount if there is none, and 0 with no
 * pods if a request or a number of pods is unknown. */
static struct quantity next_request(const struct object *object,
				    const char *resource, struct quantity floor,
				    int64_t *pods)
{
	struct quantity next = quantity_from(-1);

	*pods = 0;
	FOR_EACH_POD(object, pod) {
		bool unknown = false;
		struct quantity q = pod_request(pod, resource, false, &unknown);
		int order = next.nano < 0 ? -1 : quantity_cmp(q, next);

		if (unknown || pod->steady.unknown) {
			*pods = 0;
			return quantity_from(0);
		}
		if (quantity_cmp(q, floor) <= 0 || !pod->steady.n || order > 0)
			continue;
		*pods = pod->steady.n + (order ? 0 : *pods);
		next = q;
	}
	return next;
}

/*
 * Returns the least amount of the resource that a gang of this many pods can
 * request: the sum of the smallest requests. The tasks that Volcano counts
 * first may request more. Returns 0 if a request or a number of pods is
 * unknown.
 */
static struct quantity least(const struct object *object, const char *resource,
			     int64_t gang)
{
	struct quantity sum = quantity_from(0), floor = quantity_from(-1);

	while (gang > 0) {
		int64_t pods;
		struct quantity next =
			next_request(object, resource, floor, &pods);

		if (next.nano < 0)
			break;
		if (!pods)
			return next;
		if (pods > gang)
			pods = gang;
		sum = quantity_add(sum, quantity_mul(next, pods));
		gang -= pods;
		floor = next;
	}
	return sum;
}

static void compare(struct rule_run *run, const struct workload *w,
		    const struct object *object, const struct node *most,
		    const struct found_object *queue)
{
	struct quantity need = least(object, most->key, w->gang.n), limit;
	char text[QUANTITY_TEXT], limit_text[QUANTITY_TEXT];
	bool certain = w->queue_type == QUEUE_VOLCANO;
	struct finding *f;

	if (node_quantity(most, &limit) != QUANTITY_OK ||
	    quantity_cmp(need, limit) <= 0)
		return;
	f = report_object(
		run, object, NULL,
		"the gang needs at least %s %s, but queue `%s` may hold only %s: %swith the plugin `proportion` or `capacity`, the gang is never scheduled",
		quantity_text(need, text), most->key, queue->name,
		quantity_text(limit, limit_text),
		certain ? "" : "if the operator uses Volcano, ");
	if (!certain)
		finding_severity(f, SEVERITY_INFO);
	finding_label_place(run, f, &queue->place, "the queue");
	finding_cause(run, f, most->key);
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct found_object *queue;
	const struct object *object;

	if (!w->queue || w->child || w->gang.unknown || w->gang.n < 1 ||
	    (w->queue_type != QUEUE_VOLCANO && w->queue_type != QUEUE_OF_GANG))
		return;
	queue = index_find(rule_index(run), w, CLUSTER_VOLCANO_QUEUE, w->queue,
			   rule_arena(run));
	if (!queue || !node_is_map(node_path(queue->root, "spec.capability")))
		return;
	object = rule_object(run, w);
	if (!object)
		return;
	FOR_EACH_CHILD(node_path(queue->root, "spec.capability"), most)
		compare(run, w, object, most, queue);
}

const struct rule rule_volcano_queue_never_fits = {
	.name = "volcano-queue-never-fits",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.summary = "a gang that its Volcano queue can never hold",
	.why = "The pods stay Pending even if the queue is empty.",
	.remedy =
		"Lower minAvailable or the requests, raise the capability of the queue, or choose another queue.",
	.evidence =
		"https://github.com/volcano-sh/volcano/blob/master/pkg/scheduler/plugins/proportion/proportion.go; https://github.com/volcano-sh/volcano/issues/1331",
	.check_workload = check,
};
