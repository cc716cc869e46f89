/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of pods: a count is a product of factors, each computed by a formula
 * that data/kinds.txt names. This file has the formulas that are not specific
 * to an operator.
 */
#include "rules/kube/operator.h"

#include "doc/budget.h"

COUNT_FORMULA(const)
{
	return amount_of(number);
}

COUNT_FORMULA(int)
{
	return amount_int(at, number);
}

COUNT_FORMULA(nearest)
{
	for (; at; at = at->parent)
		if (node_is_map(at) && field_is_set(at, "replicas"))
			return amount_field(at, "replicas", 1);
	return amount_of(1);
}

/* Returns the first of the fields that is set, or NULL. */
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

/*
 * Returns the pods in the steady state: replicas, else the autoscaler's
 * minimum. scaled_max returns the peak, which is the autoscaler's maximum, but
 * not less than the steady state.
 */
COUNT_FORMULA(scaled)
{
	static const char *const least[] = {"replicas",
					    "minReplicas",
					    "scaling.minReplicas",
					    "scale.hpa.minReplicas",
					    "scale.replicas",
					    NULL};

	/* NIM divides a replica among the nodes of its pipeline. */
	return amount_mul(
		amount_int(first_set(at, least), 1),
		amount_int(node_path(at, "multiNode.parallelism.pipeline"), 1));
}

COUNT_FORMULA(scaled_max)
{
	static const char *const most[] = {"maxReplicas", "scaling.maxReplicas",
					   "scale.hpa.maxReplicas", NULL};
	struct amount steady = count_scaled(place, at, number);
	const struct node *limit = first_set(at, most);

	if (!limit)
		return steady;
	return amount_max(
		steady,
		amount_mul(amount_int(limit, 0),
			   amount_int(node_path(at, "multiNode.parallelism."
						    "pipeline"),
				      1)));
}

bool too_many(struct arena *arena, const struct node *a, const struct node *b)
{
	if (node_count(a) * node_count(b) <= 10000)
		return false;
	if (arena->budget)
		arena->budget->over = true;
	return true;
}

/* -- evaluation ---------------------------------------------------------- */

struct amount count_eval(const struct factor *factors,
			 const struct count_place *place)
{
	struct amount product = amount_of(1);

	for (; factors->formula; factors++) {
		const struct node *base = place->group;

		if (factors->base == BASE_ROOT)
			base = place->object->merged;
		else if (factors->base == BASE_ELEMENT)
			base = place->element;
		product = amount_mul(
			product,
			factors->formula(place, path_get(base, factors->path),
					 factors->number));
	}
	return product;
}
