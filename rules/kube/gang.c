/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many pods must run at once, and whether anything holds them together:
 * the operator or queue that starts all or none (Volcano, Kueue, Grove, a
 * gang annotation), or nothing. Formulas are those of the operators' own
 * PodGroups. Training operators make a PodGroup only when they run with a
 * gang scheduler, which a manifest shows by its scheduling policy.
 *
 * A TrainJob's runtime may carry the policy, out of our sight: it gets the
 * benefit of the doubt.
 */
#include "kinds.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

struct gang {
	struct amount n;
	bool needed;   /* the pods need each other */
	bool operator; /* the kind itself holds them together */
};

/* -- signals ------------------------------------------------------------- */

static bool object_signals(const struct object *object)
{
	static const char *const labels[] = {"ray.io/gang-scheduling-enabled",
					     "ray.io/scheduler-name",
					     "volcano.sh/queue-name",
					     "yunikorn.apache.org/queue",
					     "yunikorn.apache.org/app-id",
					     "kai.scheduler/queue",
					     "runai/queue",
					     NULL};
	static const char *const annotations[] = {
		"scheduling.volcano.sh/group-min-member",
		"kai.scheduler/batch-min-member",
		"leaderworkerset.sigs.k8s.io/exclusive-topology",
		"alpha.jobset.sigs.k8s.io/exclusive-topology", NULL};

	for (const char *const *key = labels; *key; key++)
		if (object_label(object, *key))
			return true;
	for (const char *const *key = annotations; *key; key++)
		if (object_annotation(object, *key))
			return true;
	return false;
}

/* Operators that make the PodGroup when this scheduler is named. */
static bool makes_groups(enum gang_formula by)
{
	switch (by) {
	case GANG_BY_KUBEFLOW:
	case GANG_BY_RAY:
	case GANG_BY_LWS:
	case GANG_BY_SPARK:
	case GANG_BY_STORM:
	case GANG_BY_VOLCANO:
		return true;
	default:
		return false;
	}
}

static bool scheduler_signals(const struct pod *pod, enum gang_formula by)
{
	const char *name = node_str(pod_field(pod, "schedulerName"));

	if (!name)
		return false;
	if (!strcmp(name, "kai-scheduler") || !strcmp(name, "runai-scheduler"))
		return true;
	return !strcmp(name, "volcano") && makes_groups(by);
}

static bool pod_signals(const struct pod *pod, enum gang_formula by)
{
	static const char *const labels[] = {"scheduling.x-k8s.io/pod-group",
					     "pod-group.scheduling.sigs.k8s.io",
					     "kueue.x-k8s.io/pod-group-name",
					     "kai.scheduler/queue",
					     "runai/queue",
					     "yunikorn.apache.org/app-id",
					     "applicationId",
					     NULL};
	static const char *const annotations[] = {
		"scheduling.k8s.io/group-name",
		"scheduling.volcano.sh/group-name",
		"yunikorn.apache.org/task-groups",
		"yunikorn.apache.org/task-group-name",
		"gang.scheduling.koordinator.sh/name",
		NULL};

	for (const char *const *key = labels; *key; key++)
		if (pod_label(pod, *key))
			return true;
	for (const char *const *key = annotations; *key; key++)
		if (pod_annotation(pod, *key))
			return true;
	return !node_is_unset(pod_field(pod, "schedulingGroup")) ||
	       !node_is_unset(pod_field(pod, "workloadRef")) ||
	       scheduler_signals(pod, by);
}

static bool held_together(const struct object *object, enum gang_formula by)
{
	static const char *const policies[] = {
		"runPolicy.schedulingPolicy",
		"scheduling.schedulingPolicy.gang", NULL};
	const struct node *spec = node_get(object->root, "spec");

	if (object->kueue || object_signals(object))
		return true;
	for (const char *const *path = policies; *path; path++)
		if (!node_is_unset(node_path(spec, *path)))
			return true;
	FOR_EACH_POD(object, pod)
		if (pod_signals(pod, by))
			return true;
	return false;
}

/* -- distributed commands ------------------------------------------------ */

/* "4", "2:8": more than one? Not known counts: somebody wrote the flag. */
static bool more_than_one(const char *text)
{
	char *end;
	long n;

	if (!text)
		return true;
	n = strtol(text, &end, 10);
	return n > 1 || *end == ':';
}

static bool env_is_distributed(const struct container *c)
{
	static const char *const sizes[] = {"WORLD_SIZE", "NNODES",
					    "PET_NNODES", "NUM_NODES", NULL};

	for (const char *const *name = sizes; *name; name++) {
		const struct node *entry = container_env(c, *name);
		const struct node *value = node_get(entry, "value");

		if (entry && more_than_one(node_str(value)))
			return true;
	}
	return container_env(c, "MASTER_ADDR") != NULL;
}

/* May the words of this container be those of one rank of several? */
static bool is_distributed(struct arena *arena, const struct container *c)
{
	static const char *const counts[] = {"--nnodes", "--num-machines",
					     "--num-nodes", NULL};
	static const char *const peers[] = {
		"--rdzv-endpoint",	   "--master-addr",
		"--dist-init-addr",	   "--main-process-ip",
		"--data-parallel-address", NULL};
	struct words words;
	const struct word *found;

	if (env_is_distributed(c))
		return true;
	words = container_words(arena, c);
	for (const char *const *flag = counts; *flag; flag++) {
		const char *value = words_flag(&words, *flag, &found);

		if (found)
			return more_than_one(value);
	}
	for (const char *const *flag = peers; *flag; flag++) {
		const char *value = words_flag(&words, *flag, &found);

		if (found && (!value || !text_starts(value, "localhost")))
			return true;
	}
	return false;
}

/* -- formulas ------------------------------------------------------------ */

static struct amount sum_of_pods(const struct object *object)
{
	struct amount sum = {0};

	FOR_EACH_POD(object, pod)
		sum = amount_add(sum, pod->steady);
	return sum;
}

/* Each pod alone; templates make none. */
static struct gang by_none(const struct object *object)
{
	struct amount sum = sum_of_pods(object);

	return (struct gang){.n = amount_of(sum.n > 0 || sum.unknown)};
}

/* Indexed Jobs with a subdomain find each other by host name. */
static bool has_hostnames(const struct object *object, const struct pod *pod)
{
	return node_eq(node_get(pod->group, "completionMode"), "Indexed") &&
	       !node_is_unset(pod_field(pod, "subdomain")) &&
	       object->class == KIND_BATCH;
}

static struct gang by_command(struct arena *arena, const struct object *object)
{
	struct gang gang = {.n = sum_of_pods(object)};

	if (gang.n.n <= 1 && !gang.n.unknown)
		return gang;
	FOR_EACH_POD(object, pod) {
		gang.needed = gang.needed || has_hostnames(object, pod);
		FOR_EACH_CONTAINER(pod, c)
			if (c->role == CONTAINER_MAIN &&
			    is_distributed(arena, c))
				gang.needed = true;
	}
	/* Pods that do not know of each other are useful alone, unless a
	 * queue starts them all at once anyway. */
	if (!gang.needed && !object->kueue)
		gang.n = amount_of(1);
	return gang;
}

static struct gang by_kubeflow(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	const struct node *least =
		node_path(spec, "runPolicy.schedulingPolicy.minAvailable");
	const struct node *elastic = node_get(spec, "elasticPolicy");
	struct gang gang = {.n = sum_of_pods(object), .needed = true};

	if (!node_is_unset(least)) {
		gang.n = amount_int(least, 0);
		return gang;
	}
	if (node_is_unset(elastic))
		return gang;
	least = node_get(elastic, "minReplicas");
	if (node_is_unset(least))
		least = node_get(elastic, "maxReplicas");
	if (node_is_unset(least))
		return gang;
	gang.n = amount_int(least, 1);
	FOR_EACH_POD(object, pod)
		if (strcasecmp(pod->role, "Worker"))
			gang.n = amount_add(gang.n, pod->steady);
	return gang;
}

static struct gang by_volcano(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	const struct node *inner = node_path(spec, "jobTemplate.spec");
	const struct node *least;
	struct gang gang = {.operator= true };

	if (!node_is_unset(inner))
		spec = inner;
	least = node_get(spec, "minAvailable");
	if (!node_is_unset(least)) {
		gang.n = amount_int(least, 0);
		return gang;
	}
	FOR_EACH_CHILD(node_get(spec, "tasks"), task) {
		least = node_get(task, "minAvailable");
		if (node_is_unset(least))
			least = node_get(task, "replicas");
		gang.n = amount_add(gang.n, amount_int(least, 1));
	}
	return gang;
}

/* Workers join one by one; only a queue or scheduler makes it a gang. */
static struct gang by_ray(const struct object *object)
{
	struct gang gang = {0};

	FOR_EACH_POD(object, pod) {
		if (!strcmp(pod->role, "submitter"))
			continue;
		gang.n = amount_add(
			gang.n, pod->group->key ? amount_of(1)
						: ray_group_gang(pod->group));
	}
	return gang;
}

/* The unit is one group: leader and workers. */
static struct gang by_lws(const struct object *object)
{
	struct gang gang = {.n = amount_of(1), .needed = true};

	FOR_EACH_POD(object, pod)
		gang.n = amount_max(
			gang.n, amount_int(node_get(pod->group, "size"), 1));
	return gang;
}

static struct gang by_kserve(const struct object *object)
{
	const struct node *predictor =
		node_path(object->root, "spec.predictor");
	struct gang gang = {.n = amount_of(1), .needed = true};

	if (!node_is_unset(node_get(predictor, "workerSpec")))
		gang.n = kserve_nodes(predictor).nodes;
	return gang;
}

static struct gang by_llm(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	struct gang gang = {.n = llm_group_size(spec), .needed = true};

	gang.n = amount_max(gang.n, llm_group_size(node_get(spec, "prefill")));
	return gang;
}

static struct gang by_nim(const struct object *object)
{
	const struct node *pipeline =
		node_path(object->root, "spec.multiNode.parallelism.pipeline");

	return (struct gang){.n = amount_int(pipeline, 1), .needed = true};
}

static struct gang by_spark(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	struct gang gang = {.n = amount_of(1)};

	if (!node_is_unset(node_get(spec, "template")))
		spec = node_get(spec, "template");
	if (!node_is_unset(node_get(spec, "batchScheduler"))) {
		gang.n = sum_of_pods(object);
		gang.operator= true;
	}
	return gang;
}

static bool in_list(const struct node *list, const char *name)
{
	FOR_EACH_CHILD(list, item)
		if (name && node_eq(item, name))
			return true;
	return false;
}

/* Grove: cliques of scaling groups count once for every group needed. */
static struct gang by_grove(const struct object *object)
{
	const struct node *template = node_path(object->root, "spec.template");
	const struct node *groups =
		node_get(template, "podCliqueScalingGroups");
	struct gang gang = {.operator= true };

	if (node_is_unset(groups))
		groups = node_get(template, "podCliqueScalingGroupConfigs");
	if (node_count(groups) * object->npods > 10000)
		return (struct gang){.n = {.unknown = true}, .operator= true };
	FOR_EACH_CHILD(node_get(template, "cliques"), clique) {
		const struct node *spec = node_get(clique, "spec");
		const char *name = node_str(node_get(clique, "name"));
		const struct node *least = node_get(spec, "minAvailable");
		bool member = false;

		FOR_EACH_CHILD(groups, group) {
			struct amount n;

			if (!in_list(node_get(group, "cliqueNames"), name))
				continue;
			member = true;
			n = amount_mul(
				amount_int(node_get(group, "minAvailable"), 1),
				amount_int(node_get(spec, "replicas"), 1));
			gang.n = amount_add(gang.n, n);
		}
		if (node_is_unset(least))
			least = node_get(spec, "replicas");
		if (!member)
			gang.n = amount_add(gang.n, amount_int(least, 1));
	}
	return gang;
}

static struct gang by_dynamo(const struct object *object)
{
	struct gang gang = {.n = amount_of(1)};

	FOR_EACH_POD(object, pod) {
		const struct node *nodes =
			node_path(pod->group, "multinode.nodeCount");

		if (!node_is_unset(nodes))
			gang.operator= true;
		gang.n = amount_max(gang.n, amount_int(nodes, 1));
	}
	return gang;
}

static struct gang by_roles(const struct object *object)
{
	struct gang gang = {.n = amount_of(1), .needed = true};
	const struct node *wanted = object_annotation(
		object, "rbg.workloads.x-k8s.io/group-gang-scheduling");

	if (node_eq(wanted, "true")) {
		gang.n = sum_of_pods(object);
		gang.operator= true;
		return gang;
	}
	FOR_EACH_POD(object, pod) {
		const struct node *size =
			node_path(pod->group, "leaderWorkerPattern.size");

		if (node_is_unset(size))
			size = node_path(pod->group, "leaderWorkerSet.size");
		gang.n = amount_max(gang.n, amount_int(size, 1));
	}
	return gang;
}

static struct gang by_storm(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	struct gang gang = {.n = amount_of(1), .needed = true};

	if (!node_is_unset(node_path(spec, "template.spec")))
		spec = node_path(spec, "template.spec");
	if (!node_is_unset(node_get(spec, "schedulingStrategy"))) {
		gang.n = sum_of_pods(object);
		gang.operator= true;
		return gang;
	}
	FOR_EACH_POD(object, pod)
		gang.n = amount_max(
			gang.n,
			amount_int(node_get(pod->group, "podGroupSize"), 1));
	return gang;
}

static struct gang by_children(const struct object *object)
{
	struct gang gang = {0};

	for (size_t i = 0; i < object->nembedded; i++) {
		const struct object *child = &object->embedded[i];

		gang.n = amount_add(gang.n,
				    amount_mul(child->copies, child->gang));
		if (child->gang_kind == GANG_NEEDED)
			gang.needed = true;
	}
	return gang;
}

/* Jobs of a JobSet that wait for others to complete are a later gang. */
static struct amount stages(const struct object *object)
{
	struct amount first = {0}, later = {0};

	FOR_EACH_POD(object, pod) {
		bool waits = false;

		FOR_EACH_CHILD(node_get(pod->group, "dependsOn"), other)
			if (node_eq(node_get(other, "status"), "Complete"))
				waits = true;
		if (waits)
			later = amount_add(later, pod->steady);
		else
			first = amount_add(first, pod->steady);
	}
	return amount_max(first, later);
}

static struct gang by_sum(const struct object *object)
{
	struct gang gang = {.n = stages(object), .needed = true};

	/* Kinds that bring their scheduler, or whose runtime may. */
	gang.operator= !strcmp(object->kind, "TrainJob") ||
		!strcmp(object->kind, "ModelServing") ||
		!strcmp(object->kind, "PodClique");
	/* OME's components serve one by one, a leader with its workers. */
	if (!strcmp(object->kind, "InferenceService"))
		gang.needed = !node_is_unset(
			node_path(object->root, "spec.engine.worker"));
	return gang;
}

static struct gang gang_eval(struct arena *arena, const struct object *object,
			     enum gang_formula by)
{
	switch (by) {
	case GANG_BY_NONE:
		return by_none(object);
	case GANG_BY_COMMAND:
		return by_command(arena, object);
	case GANG_BY_SUM:
		return by_sum(object);
	case GANG_BY_KUBEFLOW:
		return by_kubeflow(object);
	case GANG_BY_VOLCANO:
		return by_volcano(object);
	case GANG_BY_RAY:
		return by_ray(object);
	case GANG_BY_LWS:
		return by_lws(object);
	case GANG_BY_KSERVE:
		return by_kserve(object);
	case GANG_BY_LLM:
		return by_llm(object);
	case GANG_BY_NIM:
		return by_nim(object);
	case GANG_BY_SPARK:
		return by_spark(object);
	case GANG_BY_GROVE:
		return by_grove(object);
	case GANG_BY_DYNAMO:
		return by_dynamo(object);
	case GANG_BY_ROLES:
		return by_roles(object);
	case GANG_BY_STORM:
		return by_storm(object);
	case GANG_BY_CHILDREN:
	case GANG_BY_TRIALS:
		return by_children(object);
	}
	return (struct gang){0};
}

void object_gang(struct arena *arena, struct object *object)
{
	enum gang_formula by = object->type ? object->type->gang : GANG_BY_NONE;
	struct gang gang = gang_eval(arena, object, by);

	object->gang = gang.n;
	object->gang_kind = GANG_NONE;
	if (gang.n.n <= 1 && !gang.n.unknown)
		return;
	if (by == GANG_BY_NONE || by == GANG_BY_TRIALS)
		return;
	if (gang.operator|| held_together(object, by))
		object->gang_kind = GANG_OPERATOR;
	else if (gang.needed)
		object->gang_kind = GANG_NEEDED;
}
