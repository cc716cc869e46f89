/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports LimitRanges of type Container with a GPU in max, default, min or
 * defaultRequest, which give that many GPUs to every container and init
 * container that requests none: SetDefaults_LimitRangeItem copies max to
 * default, and default to defaultRequest, and LimitRanger injects both. An
 * explicit default of 0 prevents this, but the API server rejects it if min is
 * above 0. A max of 0, which allows no GPU, prevents it too. A defaultRequest
 * or min alone adds a request without a limit, which the API server rejects.
 * Source: pkg/apis/core/v1/defaults.go, plugin/pkg/admission/limitranger;
 * kubernetes#74507; observed on kube-apiserver 1.37.2: each container gets one
 * GPU.
 */
#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/quota/quota.h"

static const struct node *default_of(const struct node *item,
				     const struct container *c)
{
	if (!node_eq(node_get(item, "type"), "Container"))
		return NULL;
	FOR_EACH_CHILD(node_get(item, "default"), fallback) {
		struct quantity q;

		if (fallback->key && strchr(fallback->key, '/') &&
		    node_quantity(fallback, &q) == QUANTITY_OK && q.nano &&
		    fallback->str &&
		    !node_get(container_limits(c), fallback->key))
			return fallback;
	}
	return NULL;
}

/*
 * Returns a default of type Container, other than zero, for an extended
 * resource that is not in the container's limits. Its key is the resource;
 * *range is set to the name of the LimitRange. Returns NULL if there is none,
 * or if no snapshot is given.
 */
static const struct node *limit_range_default(struct rule_run *run,
					      const struct container *c,
					      const char **range)
{
	const struct pod *pod = c->pod;
	const struct cluster_object *ranges;
	size_t n;

	if (!rule_cluster(run) || !pod->object->namespace || pod->flat)
		return NULL;
	ranges = rule_cluster_list(run, CLUSTER_LIMIT_RANGE,
				   pod->object->namespace, &n);
	for (size_t i = 0; i < n; i++)
		FOR_EACH_CHILD(node_path(ranges[i].root, "spec.limits"), item) {
			const struct node *fallback = default_of(item, c);

			*range = ranges[i].name;
			if (fallback)
				return fallback;
		}
	return NULL;
}

static const char *const lists[] = {"default", "defaultRequest", "max", "min"};

static bool is_zero(const struct node *node)
{
	struct quantity q;

	return node_quantity(node, &q) == QUANTITY_OK && q.nano == 0;
}

static const struct node *entry_of(const struct node *item, const char *list,
				   const char *resource)
{
	return node_get(node_get(item, list), resource);
}

/* True if LimitRanger certainly injects nothing for this resource. */
static bool injects_nothing(const struct node *item, const char *resource)
{
	const struct node *limit = entry_of(item, "default", resource);
	const struct node *request = entry_of(item, "defaultRequest", resource);

	if (!limit)
		limit = entry_of(item, "max", resource);
	return is_zero(limit) && (!request || is_zero(request));
}

static void add_fix(struct rule_run *run, struct finding *f,
		    const struct node *item, const char *resource)
{
	struct arena *arena = rule_arena(run);
	struct fix *fix = finding_fix(
		run, f, true, "set `default` and `defaultRequest` to 0");

	fix_set_key(fix, item, "default", resource, edit_string(arena, "0"));
	fix_set_key(fix, item, "defaultRequest", resource,
		    edit_string(arena, "0"));
}

static void report(struct rule_run *run, const struct object *o,
		   const struct node *item, const struct node *entry,
		   const char *list)
{
	const char *resource = entry->key;
	const struct node *min = entry_of(item, "min", resource);
	bool bound = min && !is_zero(min);
	bool limits = entry_of(item, "default", resource) ||
		      entry_of(item, "max", resource);
	struct finding *f;

	if (limits)
		f = report_object(
			run, o, entry,
			"`%s` of `%s` becomes the default of every container: CPU pods in the namespace will get GPUs",
			list, resource);
	else
		f = report_object(
			run, o, entry,
			"`%s` of `%s` becomes the default request of every container: the API server rejects pods that do not set the limit",
			list, resource);
	if (bound || !limits)
		finding_help(
			run, f,
			bound ? "Remove `min` of `%s`%s."
			      : "Remove `defaultRequest` of `%s`%s.",
			resource,
			limits ? ", and set its `default` and `defaultRequest` to 0"
			       : "");
	else if (text_eq(list, "max"))
		add_fix(run, f, item, resource);
}

static void check_item(struct rule_run *run, const struct object *o,
		       const struct node *item)
{
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		FOR_EACH_CHILD(node_get(item, lists[i]), entry) {
			if (!accelerator_find(rule_accelerators(run),
					      entry->key) ||
			    node_is_unknown(entry) ||
			    injects_nothing(item, entry->key))
				continue;
			report(run, o, item, entry, lists[i]);
			return;
		}
	}
}

static void check(struct rule_run *run, const struct object *o)
{
	if (!object_is(o, "", "LimitRange"))
		return;
	FOR_EACH_CHILD(node_path(o->root, "spec.limits"), item)
		if (node_eq(node_get(item, "type"), "Container"))
			check_item(run, o, item);
}

/* Checks the LimitRanges of the cluster for the pods in the input. */
static void check_pod(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		const char *range;
		const struct node *fallback =
			limit_range_default(run, c, &range);

		if (fallback &&
		    accelerator_find(rule_accelerators(run), fallback->key))
			finding_severity(
				report_container(
					run, c, NULL,
					"LimitRange `%s` of the namespace adds %s `%s` to container `%s`, which sets no limit for it",
					range, fallback->str, fallback->key,
					container_title(c)),
				SEVERITY_WARNING);
	}
}

const struct rule rule_limitrange_gpu_container_max = {
	.name = "limitrange-gpu-container-max",
	.category = "quota",
	.severity = SEVERITY_ERROR,
	.flags = RULE_OPT_IN_PATCH,
	.summary =
		"a LimitRange adds GPUs to every container in the namespace that requests none",
	.why = "max is copied to default, and default is injected into every container and init container that requests no GPU: CPU pods get GPUs. A defaultRequest or min alone is injected without a limit, and the API server rejects the pods.",
	.remedy =
		"Limit GPUs with a ResourceQuota. If max must stay, set default and defaultRequest of the resource to 0.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/core/v1/defaults.go SetDefaults_LimitRangeItem; https://github.com/kubernetes/kubernetes/issues/74507; observed on kube-apiserver 1.37.2",
	.check_object = check,
	.check_pod = check_pod,
};
