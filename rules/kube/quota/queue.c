/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads ClusterQueues and ResourceFlavors: the largest amount of a resource
 * that a queue can give, from the nominal quotas and borrowing limits of the
 * flavors, and the reason why a flavor never accepts a pod.
 */
#include "kube/quota/quota.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "kube/object.h"
#include "kube/scheduling/affinity.h"
#include "kube/scheduling/selector.h"

/* Returns whether the group lists the resource. An unknown name may be any
 * resource. */
static enum tri group_has_resource(const struct node *group,
				   const char *resource)
{
	const struct node *names = node_get(group, "coveredResources");
	enum tri answer = node_is_unknown(names) ? TRI_UNKNOWN : TRI_NO;

	FOR_EACH_CHILD(names, name)
		if (node_eq(name, resource))
			return TRI_YES;
		else if (node_is_unknown(name))
			answer = TRI_UNKNOWN;
	return answer;
}

static void add_flavor(struct queue_offer *offer, const struct node *flavor,
		       const struct node *amount, bool cohort)
{
	const struct node *limit = node_get(amount, "borrowingLimit");
	struct quantity nominal, borrowed = quantity_from(0);

	switch (node_quantity(node_get(amount, "nominalQuota"), &nominal)) {
	case QUANTITY_OK:
		break;
	case QUANTITY_UNKNOWN:
		offer->unlimited = true;
		/* fall through */
	default:
		nominal = quantity_from(0);
	}
	if (cohort && node_quantity(limit, &borrowed) != QUANTITY_OK) {
		offer->unlimited = true;
		borrowed = quantity_from(0);
	}
	if (cohort)
		nominal = quantity_add(nominal, borrowed);
	if (offer->flavor && quantity_cmp(nominal, offer->most) <= 0)
		return;
	offer->most = nominal;
	offer->flavor = node_str(node_get(flavor, "name"));
}

/* True for names such as "nvidia.com/total-gpucores", derived from
 * "nvidia.com/gpucores". */
static bool is_made_of(const char *covered, const char *resource)
{
	const char *name = strchr(resource, '/');
	size_t domain = name ? (size_t)(name - resource) + 1 : 0;
	size_t rest = name ? strlen(name + 1) : 0;
	size_t len = covered ? strlen(covered) : 0;

	return rest && len > domain + rest &&
	       !strncmp(covered, resource, domain) &&
	       !strcmp(covered + len - rest, name + 1) &&
	       strchr("-._", covered[len - rest - 1]);
}

static bool group_replaces(const struct node *group, const char *resource)
{
	FOR_EACH_CHILD(node_get(group, "coveredResources"), name)
		if (is_made_of(node_str(name), resource))
			return true;
	return false;
}

struct queue_offer queue_offers(const struct node *queue, const char *resource)
{
	const struct node *spec = node_get(queue, "spec");
	bool cohort = !node_is_unset(node_get(spec, "cohort")) ||
		      !node_is_unset(node_get(spec, "cohortName"));
	struct queue_offer offer = {
		.most = quantity_from(0),
		.unlimited = node_is_unknown(node_get(spec, "resourceGroups"))};

	FOR_EACH_CHILD(node_get(spec, "resourceGroups"), group) {
		enum tri covered = group_has_resource(group, resource);

		offer.replaced |= group_replaces(group, resource);
		if (covered == TRI_NO)
			continue;
		offer.covered = true;
		offer.unlimited |= covered == TRI_UNKNOWN;
		FOR_EACH_CHILD(node_get(group, "flavors"), flavor)
			FOR_EACH_CHILD(node_get(flavor, "resources"), amount)
				if (node_eq(node_get(amount, "name"), resource))
					add_flavor(&offer, flavor, amount,
						   cohort);
	}
	return offer;
}

/* --- flavors ------------------------------------------------------------- */

static struct flavor_misfit taint_misfit(struct arena *arena,
					 const struct pod *pod,
					 const struct node *flavor)
{
	FOR_EACH_CHILD(node_path(flavor, "spec.nodeTaints"), taint) {
		const char *key = node_str(node_get(taint, "key"));
		const char *value =
			text_or_empty(node_str(node_get(taint, "value")));
		const char *effect = node_str(node_get(taint, "effect"));

		if (!key || !effect || text_eq(effect, "PreferNoSchedule") ||
		    tolerations_tolerate(pod->tolerations, key, value,
					 effect) != TRI_NO ||
		    tolerations_tolerate(node_path(flavor, "spec.tolerations"),
					 key, value, effect) != TRI_NO)
			continue;
		return (struct flavor_misfit){
			arena_printf(
				arena,
				"has the taint `%s%s%s:%s`, which the pods do not tolerate",
				key, *value ? "=" : "", value, effect),
			pod->tolerations};
	}
	return (struct flavor_misfit){NULL, NULL};
}

/* Returns the flavor's label that the requirement excludes, or NULL. Kueue
 * ignores keys that are not labels of a flavor of the group. */
static const struct node *excluded_label(const struct node_need *need,
					 const struct node *flavor)
{
	const struct node *label =
		node_get(node_path(flavor, "spec.nodeLabels"), need->key);
	bool in = text_eq(need->operator, "In"), listed = false;

	if (!node_str(label) || node_is_unknown(need->values))
		return NULL;
	if (text_eq(need->operator, "DoesNotExist"))
		return label;
	if (!in && !text_eq(need->operator, "NotIn"))
		return NULL;
	if (!node_is_seq(need->values))
		return node_str(need->values) && !node_same(need->values, label)
			       ? label
			       : NULL;
	FOR_EACH_CHILD(need->values, value) {
		if (!node_str(value))
			return NULL;
		listed |= node_same(value, label);
	}
	return listed == in ? NULL : label;
}

/* Returns a label of the flavor that the node selector excludes, or that a term
 * of the required node affinity excludes if each term excludes one. The text is
 * NULL if the labels fit. */
static struct flavor_misfit label_misfit(struct arena *arena,
					 const struct pod *pod,
					 const struct node *flavor)
{
	struct node_needs needs = pod_node_needs(pod);
	struct flavor_misfit misfit = {NULL, NULL};
	unsigned excluding = 0, term = 0;

	for (size_t i = 0; i < needs.n; i++) {
		const struct node_need *need = &needs.items[i];
		const struct node *label = excluded_label(need, flavor);

		if (!label)
			continue;
		if (!misfit.text || !need->term)
			misfit = (struct flavor_misfit){
				arena_printf(
					arena,
					"has the label `%s=%s`, which the pods exclude",
					need->key, label->str),
				need->at};
		if (!need->term)
			return misfit;
		excluding += need->term != term;
		term = need->term;
	}
	return excluding && excluding == needs.terms
		       ? misfit
		       : (struct flavor_misfit){NULL, NULL};
}

static const struct node *topology_request(const struct pod *pod)
{
	static const char *const keys[] = {
		"kueue.x-k8s.io/podset-required-topology",
		"kueue.x-k8s.io/podset-preferred-topology",
		"kueue.x-k8s.io/podset-unconstrained-topology",
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (pod_annotation(pod, keys[i]))
			return pod_annotation(pod, keys[i]);
	return NULL;
}

static bool has_level(const struct node *topology, const char *level)
{
	const struct node *levels = node_path(topology, "spec.levels");

	FOR_EACH_CHILD(levels, one)
		if (!node_str(node_get(one, "nodeLabel")) ||
		    node_eq(node_get(one, "nodeLabel"), level))
			return true;
	return !node_count(levels);
}

/* Returns a misfit if the Topology lacks a level that the pods request (kueue
 * v0.19.0 pkg/cache/scheduler/tas_flavor_snapshot.go, HasLevel()). */
static struct flavor_misfit level_misfit(struct arena *arena,
					 const struct pod *pod,
					 const struct node *topology)
{
	static const char *const keys[] = {
		"kueue.x-k8s.io/podset-required-topology",
		"kueue.x-k8s.io/podset-preferred-topology",
		"kueue.x-k8s.io/podset-slice-required-topology",
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct node *at = pod_annotation(pod, keys[i]);

		if (node_str(at) && !has_level(topology, at->str))
			return (struct flavor_misfit){
				arena_printf(
					arena,
					"has a Topology without the level `%s`",
					at->str),
				at};
	}
	return (struct flavor_misfit){NULL, NULL};
}

struct flavor_misfit queue_flavor_misfit(struct arena *arena,
					 const struct pod *pod,
					 const struct found_object *flavor,
					 const struct found_object *topology)
{
	const struct node *wanted = topology_request(pod);
	struct flavor_misfit misfit = taint_misfit(arena, pod, flavor->root);

	if (!misfit.text)
		misfit = label_misfit(arena, pod, flavor->root);
	/* Older snapshots omit the field. */
	if (!misfit.text && wanted && flavor->in_set &&
	    node_is_unset(node_path(flavor->root, "spec.topologyName")))
		misfit = (struct flavor_misfit){
			"has no `topologyName`, but the pods request a topology",
			wanted};
	if (!misfit.text && topology)
		misfit = level_misfit(arena, pod, topology->root);
	return misfit;
}
