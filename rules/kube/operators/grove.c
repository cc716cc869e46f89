/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grove: numbers of the pods in its cliques, some of which are in scaling
 * groups, and of the pods that start together. Source: Grove's Go types.
 */
#include "rules/kube/operator.h"

#include <string.h>

/* Counts a clique in scaling groups once for each replica of each group. */
COUNT_FORMULA(grove)
{
	const struct node *groups = node_path(
		place->object->root, "spec.template.podCliqueScalingGroups");
	const char *name = node_str(node_get(at, "name"));
	struct amount n = amount_field(node_get(at, "spec"), "replicas", 1);

	if (too_many(place->arena, groups, at->parent))
		return (struct amount){.unknown = true};
	FOR_EACH_CHILD(groups, group)
		FOR_EACH_CHILD(node_get(group, "cliqueNames"), member)
			if (name && node_eq(member, name))
				n = amount_mul(
					n, amount_field(group, "replicas", 1));
	return n;
}

static bool in_list(const struct node *list, const char *name)
{
	FOR_EACH_CHILD(list, item)
		if (name && node_eq(item, name))
			return true;
	return false;
}

/* Counts cliques of scaling groups once for each required replica of a
 * group. */
static struct gang of_cliques(const struct object *object)
{
	const struct node *template = node_path(object->root, "spec.template");
	const struct node *groups =
		node_get(template, "podCliqueScalingGroups");
	struct gang gang = {.by_operator = true};

	if (node_count(groups) * object->npods > 10000)
		return (struct gang){.n = {.unknown = true},
				     .by_operator = true};
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

static struct gang gang(const struct object *object)
{
	struct gang all;

	if (!strcmp(object->kind, "PodCliqueSet"))
		return of_cliques(object);
	all = gang_of_all(object);
	all.by_operator = true;
	return all;
}

const struct workload_operator operator_grove = {
	.gang = gang,
};
