/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many pods: sums that know what they do not know, and the formulas that
 * data/kinds.txt names. A count is a product of factors. Placeholders make
 * an amount unknown above its known part; a negative number counts as 0,
 * because no controller makes fewer pods than none.
 *
 * Sources: the projects' defaulting code and controllers, read 2026-08
 * (Job: pkg/apis/batch/v1/defaults.go; KubeRay: utils/util.go; LWS, JobSet,
 * KServe: their types and reconcilers).
 */
#include "kinds.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct amount amount_of(int64_t n)
{
	return (struct amount){.n = n};
}

struct amount amount_add(struct amount a, struct amount b)
{
	struct amount sum = {.unknown = a.unknown || b.unknown};

	if (__builtin_add_overflow(a.n, b.n, &sum.n))
		sum.n = INT64_MAX;
	return sum;
}

struct amount amount_mul(struct amount a, struct amount b)
{
	struct amount product = {.unknown = a.unknown || b.unknown};

	/* Nothing times anything is nothing. */
	if ((!a.n && !a.unknown) || (!b.n && !b.unknown))
		return amount_of(0);
	if (__builtin_mul_overflow(a.n, b.n, &product.n))
		product.n = INT64_MAX;
	return product;
}

struct amount amount_max(struct amount a, struct amount b)
{
	return (struct amount){.n = a.n > b.n ? a.n : b.n,
			       .unknown = a.unknown || b.unknown};
}

/* A known smaller side bounds an unknown larger one only from above. */
struct amount amount_min(struct amount a, struct amount b)
{
	return (struct amount){.n = a.n < b.n ? a.n : b.n,
			       .unknown = a.unknown || b.unknown};
}

struct amount amount_int(const struct node *node, int64_t unset)
{
	int64_t n;

	if (node_is_unset(node))
		return amount_of(unset);
	if (!node_int(node, &n))
		return (struct amount){.unknown = true};
	return amount_of(n < 0 ? 0 : n);
}

static struct amount field(const struct node *map, const char *key,
			   int64_t unset)
{
	return amount_int(node_get(map, key), unset);
}

static bool is_set(const struct node *map, const char *key)
{
	return !node_is_unset(node_get(map, key));
}

/* -- built-in controllers ------------------------------------------------ */

static struct amount job(const struct node *spec)
{
	struct amount parallelism = field(spec, "parallelism", 1);

	if (!is_set(spec, "completions"))
		return parallelism;
	return amount_min(parallelism, field(spec, "completions", 1));
}

/*
 * With podReplacementPolicy TerminatingOrFailed (the default without a
 * podFailurePolicy) a failed pod's replacement starts while the pod is still
 * terminating and holds its devices.
 */
static struct amount job_peak(const struct node *spec)
{
	const struct node *policy = node_get(spec, "podReplacementPolicy");
	bool failed = node_is_unset(policy) ? is_set(spec, "podFailurePolicy")
					    : node_eq(policy, "Failed");

	return amount_mul(job(spec), amount_of(failed ? 1 : 2));
}

/* Runs at once; concurrencyPolicy Allow (the default) has no bound. */
static struct amount cron(const struct node *spec)
{
	const struct node *policy = node_get(spec, "concurrencyPolicy");

	if (node_eq(policy, "Forbid") || node_eq(policy, "Replace"))
		return amount_of(1);
	return (struct amount){.n = 1, .unknown = true};
}

/* An int-or-percent of n, percentages rounded up. */
static struct amount int_or_percent(const struct node *node, struct amount n,
				    int percent)
{
	const char *text = node_str(node);
	char *end = NULL;
	long value;

	if (node_is_unset(node))
		value = percent;
	else if (text)
		value = strtol(text, &end, 10);
	else
		return amount_int(node, 0);
	if (end && (end == text || strcmp(end, "%")))
		return (struct amount){.unknown = true};
	if (value < 0)
		value = 0;
	if (value > 1000000 || n.n > INT64_MAX / 1000001)
		return (struct amount){.unknown = true};
	return (struct amount){.n = (n.n * value + 99) / 100,
			       .unknown = n.unknown};
}

static struct amount surge(const struct node *spec)
{
	struct amount replicas = field(spec, "replicas", 1);
	const struct node *strategy = node_get(spec, "strategy");

	if (node_eq(node_get(strategy, "type"), "Recreate"))
		return replicas;
	return amount_add(
		replicas,
		int_or_percent(node_path(strategy, "rollingUpdate.maxSurge"),
			       replicas, 25));
}

/* Argo Rollouts: blue-green runs both versions, canary has maxSurge 25%. */
static struct amount rollout(const struct node *spec)
{
	struct amount replicas = field(spec, "replicas", 1);
	const struct node *canary = node_path(spec, "strategy.canary");

	if (is_set(node_get(spec, "strategy"), "blueGreen"))
		return amount_mul(replicas, amount_of(2));
	return amount_add(replicas, int_or_percent(node_get(canary, "maxSurge"),
						   replicas, 25));
}

/* -- training operators -------------------------------------------------- */

/*
 * The HPA that the operator makes when elasticPolicy.metrics is set scales
 * the workers; otherwise replicas stay as they are.
 */
static struct amount elastic(const struct count_place *place,
			     const struct node *group)
{
	const struct node *policy =
		node_path(place->object->root, "spec.elasticPolicy");
	struct amount replicas = field(group, "replicas", 1);

	if (!is_set(policy, "metrics") || !group->key ||
	    strcmp(group->key, "Worker"))
		return replicas;
	return amount_max(replicas, field(policy, "maxReplicas", replicas.n));
}

/* TrainJob: unset is the runtime's number, which is at least one. */
static struct amount nodes(const struct node *node)
{
	if (node_is_unset(node))
		return (struct amount){.n = 1, .unknown = true};
	return amount_int(node, 1);
}

static struct amount lws_workers(const struct node *template)
{
	struct amount size = field(template, "size", 1);

	if (is_set(template, "leaderTemplate") && size.n > 0)
		size.n--;
	return size;
}

static struct amount lws_surge(const struct node *spec)
{
	struct amount groups = field(spec, "replicas", 1);
	const struct node *surge = node_path(
		spec, "rolloutStrategy.rollingUpdateConfiguration.maxSurge");

	return amount_add(groups, int_or_percent(surge, groups, 0));
}

/* -- Ray ----------------------------------------------------------------- */

static bool ray_autoscales(const struct node *group)
{
	/* The group is an item of workerGroupSpecs of the cluster's spec. */
	const struct node *list = group ? group->parent : NULL;

	return node_is_true(node_get(list ? list->parent : NULL,
				     "enableInTreeAutoscaling"));
}

static struct amount ray_group(const struct node *group, bool max)
{
	struct amount least = field(group, "minReplicas", 0);
	struct amount most = field(group, "maxReplicas", INT32_MAX);
	struct amount n = field(group, "replicas", 0);

	if (node_is_true(node_get(group, "suspend")))
		return amount_of(0);
	if (most.unknown)
		most.n = 0;
	n = amount_max(n, least);
	if (max && ray_autoscales(group)) {
		if (is_set(group, "maxReplicas"))
			n = amount_max(n, most);
		else
			n.unknown = true;
	} else if (!most.unknown && most.n < n.n) {
		n.n = most.n;
	}
	return amount_mul(n, field(group, "numOfHosts", 1));
}

/* What a gang scheduler waits for: the minimum while autoscaling. */
struct amount ray_group_gang(const struct node *group)
{
	if (!ray_autoscales(group) || node_is_true(node_get(group, "suspend")))
		return ray_group(group, false);
	return amount_mul(field(group, "minReplicas", 0),
			  field(group, "numOfHosts", 1));
}

/* RayService makes the new cluster beside the old one unless told not to. */
static struct amount ray_upgrade(const struct count_place *place,
				 const struct node *spec)
{
	if (strcmp(place->object->kind, "RayService"))
		return amount_of(1);
	if (node_eq(node_path(spec, "upgradeStrategy.type"), "None"))
		return amount_of(1);
	return amount_of(2);
}

static struct amount ray_submitter(const struct node *spec)
{
	const struct node *mode = node_get(spec, "submissionMode");

	return amount_of(node_is_unset(mode) || node_eq(mode, "K8sJobMode"));
}

/* -- serving ------------------------------------------------------------- */

/* The first of some fields that is set. */
static const struct node *first_set(const struct node *map,
				    const char *const *paths)
{
	for (; *paths; paths++) {
		const struct node *node = node_path(map, *paths);

		if (!node_is_unset(node))
			return node;
	}
	return NULL;
}

static struct amount scaled(const struct node *spec)
{
	static const char *const least[] = {"replicas",
					    "minReplicas",
					    "scaling.minReplicas",
					    "scale.hpa.minReplicas",
					    "scale.replicas",
					    NULL};

	/* NIM spreads a replica over the nodes of its pipeline. */
	return amount_mul(
		amount_int(first_set(spec, least), 1),
		amount_int(node_path(spec, "multiNode.parallelism.pipeline"),
			   1));
}

static struct amount scaled_max(const struct node *spec)
{
	static const char *const most[] = {"maxReplicas", "scaling.maxReplicas",
					   "scale.hpa.maxReplicas", NULL};
	struct amount steady = scaled(spec);

	const struct node *limit = first_set(spec, most);

	if (!limit)
		return steady;
	return amount_max(
		steady,
		amount_mul(amount_int(limit, 0),
			   amount_int(node_path(spec, "multiNode.parallelism."
						      "pipeline"),
				      1)));
}

static struct amount kserve_max(const struct node *component)
{
	struct amount least = field(component, "minReplicas", 1);

	/* maxReplicas 0 (the default) is no bound in Knative mode and
	 * minReplicas otherwise: judge by what is written. */
	return amount_max(least, field(component, "maxReplicas", least.n));
}

/*
 * A multi-node component spreads tensor x pipeline parallelism over nodes.
 * With the mp executor a node holds one pipeline stage; with Ray the GPUs
 * that the worker asks for decide, and one GPU a node when it asks for none.
 */
struct kserve_nodes kserve_nodes(const struct node *component)
{
	const struct node *worker = node_get(component, "workerSpec");
	struct amount tensor = field(worker, "tensorParallelSize", 1);
	struct amount pipeline = field(worker, "pipelineParallelSize", 1);
	struct amount total = amount_mul(tensor, pipeline);
	const char *executor = NULL;
	struct kserve_nodes out = {pipeline, tensor};
	int64_t gpus = 0;

	executor = node_str(node_get(worker, "distributedExecutorBackend"));
	if (executor && !strcmp(executor, "mp"))
		return out;
	FOR_EACH_CHILD(node_get(worker, "containers"), c) {
		const struct node *limits = node_path(c, "resources.limits");
		const struct node *n = node_get(limits, "nvidia.com/gpu");
		struct quantity q;

		if (node_quantity(n, &q) == QUANTITY_OK)
			gpus += quantity_value(q);
		else if (node_is_unknown(n))
			total.unknown = true;
	}
	if (gpus <= 0)
		gpus = 1;
	out.gpus = amount_of(gpus);
	out.nodes = total;
	out.nodes.n = (total.n + gpus - 1) / gpus;
	return out;
}

/* The head is the predictor's own pod; the group is the predictor. */
static struct amount kserve_workers(const struct node *component)
{
	struct amount n = kserve_nodes(component).nodes;

	if (n.n > 0)
		n.n--;
	return n;
}

struct amount llm_group_size(const struct node *workload)
{
	const struct node *parallelism = node_get(workload, "parallelism");
	struct amount data, local;

	if (!is_set(workload, "worker"))
		return amount_of(1);
	if (!is_set(parallelism, "data"))
		return field(parallelism, "pipeline", 1);
	data = field(parallelism, "data", 1);
	local = field(parallelism, "dataLocal", 1);
	if (local.n < 1)
		local.n = 1;
	return (struct amount){.n = data.n / local.n,
			       .unknown = data.unknown || local.unknown};
}

static struct amount llm_workers(const struct node *workload)
{
	struct amount n = llm_group_size(workload);

	if (n.n > 0)
		n.n--;
	return n;
}

/* Dynamic allocation starts with initialExecutors, at least the minimum. */
static struct amount spark(const struct node *spec, bool max)
{
	const struct node *dynamic = node_get(spec, "dynamicAllocation");
	struct amount n = field(node_get(spec, "executor"), "instances", 1);

	if (!node_is_true(node_get(dynamic, "enabled")))
		return n;
	if (max)
		return is_set(dynamic, "maxExecutors")
			       ? field(dynamic, "maxExecutors", 0)
			       : (struct amount){.n = n.n, .unknown = true};
	n = field(dynamic, "minExecutors", 0);
	return amount_max(n, field(dynamic, "initialExecutors", n.n));
}

/* Annotation values are strings. */
static struct amount annotation_int(const struct node *annotations,
				    const char *a, const char *b, int64_t unset)
{
	const struct node *node = node_get(annotations, a);
	const char *text;
	char *end;
	long n;

	if (node_is_unset(node))
		node = node_get(annotations, b);
	if (node_is_unset(node))
		return amount_of(unset);
	text = node_str(node);
	if (!text)
		return (struct amount){.unknown = true};
	n = strtol(text, &end, 10);
	if (end == text || *end || n < 0)
		return (struct amount){.unknown = true};
	return amount_of(n);
}

/* Without a minimum a revision still starts with its initial scale. */
static struct amount knative(const struct node *annotations)
{
	struct amount first = annotation_int(
		annotations, "autoscaling.knative.dev/initial-scale",
		"autoscaling.knative.dev/initialScale", 1);

	return annotation_int(annotations, "autoscaling.knative.dev/min-scale",
			      "autoscaling.knative.dev/minScale",
			      first.unknown ? 1 : first.n);
}

static struct amount knative_max(const struct node *annotations)
{
	struct amount least = knative(annotations);
	struct amount most =
		annotation_int(annotations, "autoscaling.knative.dev/max-scale",
			       "autoscaling.knative.dev/maxScale", 0);

	if (!most.n)
		return (struct amount){.n = least.n ? least.n : 1,
				       .unknown = true};
	return amount_max(amount_of(least.n), most);
}

static struct amount notebook(const struct object *object)
{
	return amount_of(
		!object_annotation(object, "kubeflow-resource-stopped"));
}

static struct amount nearest(const struct node *node)
{
	for (; node; node = node->parent)
		if (node_is_map(node) && is_set(node, "replicas"))
			return field(node, "replicas", 1);
	return amount_of(1);
}

/* A clique in scaling groups runs once for every replica of each. */
static struct amount grove(const struct count_place *place,
			   const struct node *clique)
{
	const struct node *groups = node_path(
		place->object->root, "spec.template.podCliqueScalingGroups");
	const char *name = node_str(node_get(clique, "name"));
	struct amount n = field(node_get(clique, "spec"), "replicas", 1);

	if (node_is_unset(groups))
		groups =
			node_path(place->object->root,
				  "spec.template.podCliqueScalingGroupConfigs");
	FOR_EACH_CHILD(groups, group)
		FOR_EACH_CHILD(node_get(group, "cliqueNames"), member)
			if (name && node_eq(member, name))
				n = amount_mul(n, field(group, "replicas", 1));
	return n;
}

/* Pods of the roles that take their template from this role template. */
static struct amount role_template(const struct node *template)
{
	const char *name = node_str(node_get(template, "name"));
	const struct node *spec =
		template->parent ? template->parent->parent : NULL;
	struct amount sum = {0};

	FOR_EACH_CHILD(node_get(spec, "roles"), role) {
		const struct node *alone = node_get(role, "standalonePattern");
		const struct node *group =
			node_get(role, "leaderWorkerPattern");
		struct amount n = field(role, "replicas", 1);

		if (!name)
			break;
		if (node_eq(node_path(group, "templateRef.name"), name))
			n = amount_mul(n, field(group, "size", 1));
		else if (!node_eq(node_path(alone, "templateRef.name"), name))
			continue;
		sum = amount_add(sum, n);
	}
	return sum;
}

/* -- evaluation ---------------------------------------------------------- */

static struct amount serving_eval(const struct factor *factor,
				  const struct count_place *place,
				  const struct node *at)
{
	switch (factor->formula) {
	case FORMULA_SCALED:
		return scaled(at);
	case FORMULA_SCALED_MAX:
		return scaled_max(at);
	case FORMULA_KSERVE:
		return field(at, "minReplicas", 1);
	case FORMULA_KSERVE_MAX:
		return kserve_max(at);
	case FORMULA_KSERVE_WORKERS:
		return kserve_workers(at);
	case FORMULA_LLM_WORKERS:
		return llm_workers(at);
	case FORMULA_KNATIVE:
		return knative(at);
	case FORMULA_KNATIVE_MAX:
		return knative_max(at);
	case FORMULA_NOTEBOOK:
		return notebook(place->object);
	case FORMULA_NEAREST:
		return nearest(at);
	case FORMULA_GROVE:
		return grove(place, at);
	case FORMULA_ROLE_TEMPLATE:
		return role_template(at);
	default:
		return amount_of(1);
	}
}

static struct amount factor_eval(const struct factor *factor,
				 const struct count_place *place,
				 const struct node *at)
{
	switch (factor->formula) {
	case FORMULA_CONST:
		return amount_of(factor->number);
	case FORMULA_INT:
		return amount_int(at, factor->number);
	case FORMULA_JOB:
		return job(at);
	case FORMULA_JOB_PEAK:
		return job_peak(at);
	case FORMULA_CRON:
		return cron(at);
	case FORMULA_SURGE:
		return surge(at);
	case FORMULA_ROLLOUT:
		return rollout(at);
	case FORMULA_ELASTIC:
		return elastic(place, at);
	case FORMULA_NODES:
		return nodes(at);
	case FORMULA_RAY:
		return ray_group(at, false);
	case FORMULA_RAY_MAX:
		return ray_group(at, true);
	case FORMULA_RAY_UPGRADE:
		return ray_upgrade(place, at);
	case FORMULA_RAY_SUBMITTER:
		return ray_submitter(at);
	case FORMULA_LWS_WORKERS:
		return lws_workers(at);
	case FORMULA_LWS_SURGE:
		return lws_surge(at);
	case FORMULA_SPARK:
		return spark(at, false);
	case FORMULA_SPARK_MAX:
		return spark(at, true);
	default:
		return serving_eval(factor, place, at);
	}
}

struct amount count_eval(const struct factor *factors,
			 const struct count_place *place)
{
	struct amount product = amount_of(1);

	for (; factors->formula != FORMULA_END; factors++) {
		const struct node *base = place->group;

		if (factors->base == BASE_ROOT)
			base = place->object->root;
		else if (factors->base == BASE_ELEMENT)
			base = place->element;
		product = amount_mul(
			product, factor_eval(factors, place,
					     path_get(base, factors->path)));
	}
	return product;
}
