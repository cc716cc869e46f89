/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports jobs, queues, flavors and topologies that Kueue rejects. Kueue
 * validates jobs even without a queue, but Ray's kinds and pods only in a
 * queue.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"

#define PODSET "kueue.x-k8s.io/podset-"

static bool names_kueue(const struct node *map)
{
	FOR_EACH_CHILD(map, child)
		if (text_starts(child->key, "kueue.x-k8s.io/"))
			return true;
	return false;
}

static const char *note_of(const struct pod *pod, const char *key)
{
	return node_str(node_get(pod->annotations, key));
}

/* --- pod sets ------------------------------------------------------------- */

/* Returns the number of pods of the template in one pod set. A LeaderWorkerSet
 * has a workload for each of its groups. */
static struct amount pods_of_set(const struct pod *pod)
{
	const struct object *object = pod->object;
	const struct node *template =
		node_path(object->root, "spec.leaderWorkerTemplate");
	struct amount size = amount_int(node_get(template, "size"), 1);

	if (!object_is(object, "leaderworkerset.x-k8s.io", "LeaderWorkerSet"))
		return pod->steady;
	if (pod->template == node_get(template, "leaderTemplate"))
		return amount_of(1);
	if (node_get(template, "leaderTemplate") && size.n > 0)
		size.n--;
	return size;
}

static void check_slice(struct rule_run *run, const struct pod *pod)
{
	const struct node *note =
		node_get(pod->annotations, PODSET "slice-size");
	const char *text = node_str(note);
	struct amount pods = pods_of_set(pod);
	unsigned long size;

	if (!text || !*text || pods.unknown ||
	    strspn(text, "0123456789") != strlen(text) || strlen(text) > 9)
		return;
	size = strtoul(text, NULL, 10);
	if (size > (unsigned long)pods.n)
		rule_report_rejection(
			run, pod, note, "slice-above-pods",
			"`podset-slice-size` is %lu, but the pod set has only %s",
			size, rule_count(run, pods.n, "pod"));
}

static bool differs(const struct pod *a, const struct pod *b, const char *key)
{
	const char *of_a = note_of(a, key), *of_b = note_of(b, key);

	return (of_a || of_b) && !text_eq(of_a, of_b);
}

static void check_pair(struct rule_run *run, const struct pod *pod,
		       const struct pod *other)
{
	const struct node *note =
		node_get(pod->annotations, PODSET "group-name");
	struct amount a = pods_of_set(pod), b = pods_of_set(other);

	if (!a.unknown && !b.unknown && a.n != 1 && b.n != 1)
		rule_report_rejection(
			run, pod, note, "group-replicas",
			"the pod sets of group `%s` have %s and %s, but one must have 1",
			node_str(note), rule_number(run, a.n),
			rule_count(run, b.n, "pod"));
	if (differs(pod, other, PODSET "required-topology") ||
	    differs(pod, other, PODSET "preferred-topology"))
		rule_report_rejection(
			run, pod, note, "group-topologies",
			"the pod sets of group `%s` request different topologies",
			node_str(note));
}

/* Checks a group of pod sets once, at the first of them. */
static void check_group(struct rule_run *run, const struct pod *pod)
{
	const struct node *note =
		node_get(pod->annotations, PODSET "group-name");
	const char *name = node_str(note);
	const struct pod *other = NULL;
	size_t n = 0;

	if (!name || !*name)
		return;
	FOR_EACH_POD(pod->object, p) {
		const struct node *of_p =
			node_get(p->annotations, PODSET "group-name");

		if (of_p && node_is_unknown(of_p))
			return;
		if (!text_eq(node_str(of_p), name))
			continue;
		if (!n && p != pod)
			return;
		if (++n == 2)
			other = p;
	}
	if (n != 2)
		rule_report_rejection(run, pod, note, "group-pod-sets",
				      "group `%s` has %s, not two", name,
				      rule_count(run, n, "pod set"));
	else
		check_pair(run, pod, other);
}

/* --- all checks ----------------------------------------------------------- */

static void check_object(struct rule_run *run, const struct object *object)
{
	const struct node *metadata = node_get(object->root, "metadata");

	if (text_eq(object->group, kueue_rejections.group) ||
	    names_kueue(node_get(metadata, "labels")) ||
	    names_kueue(node_get(metadata, "annotations")))
		rule_check_rejections(run, object);
}

static void check_pod(struct rule_run *run, const struct pod *pod)
{
	bool validated =
		pod->object->kueue || (kueue_has_pod_sets(pod->object, false) &&
				       !text_eq(pod->object->group, "ray.io"));

	if (!validated || !pod->steady.n || !names_kueue(pod->annotations))
		return;
	rule_check_pod_rejections(run, pod);
	if (kueue_has_pod_sets(pod->object, false))
		check_slice(run, pod);
	if (kueue_has_pod_sets(pod->object, true) && !pod->object->fragment)
		check_group(run, pod);
}

static const char *const aliases[] = {"kueue-topology-twice",
				      "kueue-unsupported-shape", NULL};

const struct rule rule_kueue_rejects = {
	.name = "kueue-rejects",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.flags = RULE_OPT_IN_PATCH | RULE_ABSENCE,
	.aliases = aliases,
	.summary = "a job, queue, flavor or topology that Kueue rejects",
	.why = "The webhooks of Kueue reject jobs whose annotations, labels or fields are invalid or exclude each other, and queues, flavors and topologies that contradict themselves.",
	.evidence =
		"https://github.com/kubernetes-sigs/kueue/tree/ff69552e79ad21652c36caa97038382e55625cf7/pkg/webhooks; https://github.com/kubernetes-sigs/kueue/tree/ff69552e79ad21652c36caa97038382e55625cf7/pkg/controller/jobframework",
	.rejections = &kueue_rejections,
	.check_pod = check_pod,
	.check_object = check_object,
};
