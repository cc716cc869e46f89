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

/* Far above any cluster, far below where a rule's sums could overflow. */
static const int64_t amount_most = 1000000000000;

static int64_t bounded(int64_t n)
{
	return n > amount_most ? amount_most : n;
}

struct amount amount_of(int64_t n)
{
	return (struct amount){.n = bounded(n)};
}

struct amount amount_add(struct amount a, struct amount b)
{
	struct amount sum = {.unknown = a.unknown || b.unknown};

	sum.n = bounded(a.n + b.n);
	return sum;
}

struct amount amount_mul(struct amount a, struct amount b)
{
	struct amount product = {.unknown = a.unknown || b.unknown};

	/* Nothing times anything is nothing. */
	if ((!a.n && !a.unknown) || (!b.n && !b.unknown))
		return amount_of(0);
	if (__builtin_mul_overflow(a.n, b.n, &product.n))
		product.n = amount_most;
	product.n = bounded(product.n);
	return product;
}

struct amount amount_max(struct amount a, struct amount b)
{
	return (struct amount){.n = a.n > b.n ? a.n : b.n,
			       .unknown = a.unknown || b.unknown};
}

/* A known smaller side bounds an unknown larger one only from above. */
static struct amount amount_min(struct amount a, struct amount b)
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
struct amount amount_share(const struct node *node, struct amount n,
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
		amount_share(node_path(strategy, "rollingUpdate.maxSurge"),
			     replicas, 25));
}

/* Argo Rollouts: blue-green runs both versions, canary has maxSurge 25%. */
static struct amount rollout(const struct node *spec)
{
	struct amount replicas = field(spec, "replicas", 1);
	const struct node *canary = node_path(spec, "strategy.canary");

	if (is_set(node_get(spec, "strategy"), "blueGreen"))
		return amount_mul(replicas, amount_of(2));
	return amount_add(replicas, amount_share(node_get(canary, "maxSurge"),
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

	return amount_add(groups, amount_share(surge, groups, 0));
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

/* -- evaluation ---------------------------------------------------------- */

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
