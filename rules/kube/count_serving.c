/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of kinds that serve models, of Spark and of notebooks; see count.c
 * for what a count is. Each operator names its replicas, its bounds and the
 * nodes of one replica in its own way; a scaler's minimum is the steady
 * state, its maximum the peak.
 *
 * Sources, read 2026-08: KServe predictor.go and types_func.go, Knative's
 * autoscaling annotations, Spark operator types, Grove and RoleBasedGroup
 * types.
 */
#include "kinds.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static struct amount field(const struct node *map, const char *key,
			   int64_t unset)
{
	return amount_int(node_get(map, key), unset);
}

static bool is_set(const struct node *map, const char *key)
{
	return !node_is_unset(node_get(map, key));
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

/* Deployments of the raw mode roll with a surge, multi-node ones double. */
static struct amount kserve_surge(const struct count_place *place,
				  const struct node *component, struct amount n)
{
	const struct node *mode = object_annotation(
		place->object, "serving.kserve.io/deploymentMode");
	const struct node *surge = node_path(
		component, "deploymentStrategy.rollingUpdate.maxSurge");

	if (is_set(component, "workerSpec"))
		return amount_mul(n, amount_of(2));
	if (!node_eq(mode, "RawDeployment") && !node_eq(mode, "Standard"))
		return n;
	return amount_add(n, amount_share(surge, n, 25));
}

static struct amount kserve_max(const struct count_place *place,
				const struct node *component)
{
	struct amount least = field(component, "minReplicas", 1);

	/* maxReplicas 0 (the default) is no bound in Knative mode and
	 * minReplicas otherwise: judge by what is written. */
	least = amount_max(least, field(component, "maxReplicas", least.n));
	/* Scaled to zero is not for ever. */
	least = amount_max(least, amount_of(1));
	return kserve_surge(place, component, least);
}

/* GPUs that a container asks for, of the types that KServe knows. */
static struct amount kserve_gpus(const struct node *container)
{
	const struct node *resources = node_get(container, "resources");
	const struct node *map = node_get(resources, "limits");
	struct amount sum = {0};

	if (!node_count(map))
		map = node_get(resources, "requests");
	FOR_EACH_CHILD(map, value) {
		struct quantity q;

		if (!text_ends(value->key, "/gpu") &&
		    !text_starts(value->key, "nvidia.com/mig") &&
		    !text_ends(value->key, "/gaudi"))
			continue;
		if (node_quantity(value, &q) == QUANTITY_OK && q.nano >= 0)
			sum = amount_add(sum, amount_of(quantity_value(q)));
		else
			sum.unknown = true;
	}
	return sum;
}

/* The head's: its model server stands in a block of its own, or in a list. */
static struct amount kserve_head_gpus(const struct node *component)
{
	struct amount sum =
		kserve_gpus(node_at(node_get(component, "containers"), 0));

	FOR_EACH_CHILD(component, block)
		if (node_is_map(block) && !is_set(component, "containers"))
			sum = amount_add(sum, kserve_gpus(block));
	return sum;
}

/*
 * A multi-node component spreads tensor x pipeline parallelism over nodes, in
 * Ray's way unless the runtime (out of our sight) says otherwise: as many
 * nodes as the worker's GPUs ask for, one GPU a node when it asks for none,
 * and the head takes the rest (computeRayNodeAndGPUs in predictor.go).
 */
struct kserve_nodes kserve_nodes(const struct node *component)
{
	const struct node *worker = node_get(component, "workerSpec");
	struct amount total =
		amount_mul(field(worker, "tensorParallelSize", 1),
			   field(worker, "pipelineParallelSize", 1));
	struct amount head = kserve_head_gpus(component);
	struct kserve_nodes out = {
		.worker_gpus =
			kserve_gpus(node_at(node_get(worker, "containers"), 0)),
	};
	bool asked = out.worker_gpus.n > 0;
	int64_t each = asked ? out.worker_gpus.n : 1;
	int64_t rest = total.n - (asked ? 0 : head.n);

	out.nodes = total;
	out.nodes.unknown |= head.unknown || out.worker_gpus.unknown;
	out.nodes.n = rest > 0 ? (rest - 1) / each + 1 : 0;
	if (!asked && head.n > 0)
		out.nodes.n++;
	/* The head alone is enough. */
	if (out.nodes.n < 1 || (asked && head.n >= total.n))
		out.nodes.n = 1;
	out.worker_gpus.n = each;
	out.head_gpus = head;
	if (head.n <= 0)
		out.head_gpus.n = total.n - each * (out.nodes.n - 1);
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

/*
 * References are looked up name by name, which is quick for the few that
 * there are; a manifest made to be slow gets no answer.
 */
static bool too_many(const struct node *a, const struct node *b)
{
	return node_count(a) * node_count(b) > 10000;
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
	if (too_many(groups, clique->parent))
		return (struct amount){.unknown = true};
	FOR_EACH_CHILD(groups, group)
		FOR_EACH_CHILD(node_get(group, "cliqueNames"), member)
			if (name && node_eq(member, name))
				n = amount_mul(n, field(group, "replicas", 1));
	return n;
}

/* -- RoleBasedGroup ------------------------------------------------------ */

/*
 * A role's pods come from its own template, or from a role template by
 * reference; a patch that holds resources makes them pods of its own here,
 * so that devices are counted once.
 */
static bool has_resources(const struct node *spec)
{
	FOR_EACH_CHILD(node_get(spec, "containers"), c)
		if (!node_is_unset(node_get(c, "resources")))
			return true;
	return false;
}

static struct amount group_size(const struct node *role)
{
	const struct node *set = node_get(role, "leaderWorkerSet");

	if (node_is_unset(set))
		set = node_get(role, "leaderWorkerPattern");
	return field(set, "size", 1);
}

static struct amount role_leader(const struct node *role,
				 const struct node *patch)
{
	return has_resources(patch) ? field(role, "replicas", 1) : amount_of(0);
}

static struct amount role_workers(const struct node *role,
				  const struct node *patch)
{
	struct amount size = group_size(role);

	if (!has_resources(patch))
		return amount_of(0);
	if (size.n > 0)
		size.n--;
	return amount_mul(field(role, "replicas", 1), size);
}

static struct amount role_patched(const struct node *role,
				  const struct node *patch)
{
	if (!has_resources(patch))
		return amount_of(0);
	return amount_mul(field(role, "replicas", 1), group_size(role));
}

static struct amount role_own(const struct node *role)
{
	static const char *const leaders[] = {
		"leaderWorkerPattern.leaderTemplatePatch.spec",
		"leaderWorkerSet.patchLeaderTemplate.spec"};
	static const char *const workers[] = {
		"leaderWorkerPattern.workerTemplatePatch.spec",
		"leaderWorkerSet.patchWorkerTemplate.spec"};
	struct amount n =
		amount_mul(field(role, "replicas", 1), group_size(role));

	for (size_t i = 0; i < 2; i++) {
		n.n -= role_leader(role, node_path(role, leaders[i])).n;
		n.n -= role_workers(role, node_path(role, workers[i])).n;
	}
	if (n.n < 0)
		n.n = 0;
	return n;
}

/* Roles that refer to this template and do not patch its resources. */
static struct amount role_template(const struct node *template)
{
	static const char *const refs[] = {"standalonePattern.templateRef",
					   "leaderWorkerPattern.templateRef"};
	const char *name = node_str(node_get(template, "name"));
	const struct node *spec =
		template->parent ? template->parent->parent : NULL;
	struct amount sum = {0};

	if (too_many(template->parent, node_get(spec, "roles")))
		return (struct amount){.unknown = true};
	FOR_EACH_CHILD(node_get(spec, "roles"), role)
		for (size_t i = 0; i < 2; i++) {
			const struct node *ref = node_path(role, refs[i]);

			if (name && node_eq(node_get(ref, "name"), name) &&
			    !has_resources(node_path(ref, "patch.spec")))
				sum = amount_add(sum, role_own(role));
		}
	return sum;
}

/* -- evaluation ---------------------------------------------------------- */

struct amount serving_eval(const struct factor *factor,
			   const struct count_place *place,
			   const struct node *at)
{
	switch (factor->formula) {
	case FORMULA_SPARK:
		return spark(at, false);
	case FORMULA_SPARK_MAX:
		return spark(at, true);
	case FORMULA_SCALED:
		return scaled(at);
	case FORMULA_SCALED_MAX:
		return scaled_max(at);
	case FORMULA_KSERVE:
		return field(at, "minReplicas", 1);
	case FORMULA_KSERVE_MAX:
		return kserve_max(place, at);
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
	case FORMULA_ROLE_OWN:
		return role_own(at);
	case FORMULA_ROLE_PATCHED:
		return role_patched(place->group, at);
	case FORMULA_ROLE_LEADER:
		return role_leader(place->group, at);
	case FORMULA_ROLE_WORKERS:
		return role_workers(place->group, at);
	default:
		return amount_of(1);
	}
}
