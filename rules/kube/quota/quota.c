/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes requests and free amounts of ResourceQuotas. Sources:
 * pkg/quota/v1/evaluator/core/pods.go (podMatchesScopeFunc, PodUsageFunc),
 * pkg/quota/v1/resources.go.
 */
#include "kube/quota/quota.h"

#include "base/array.h"
#include "kube/cluster/cluster.h"

const struct resource_amount *quota_hard_requests(const struct quota *quota,
						  const char *resource)
{
	for (size_t i = 0; i < quota->nhard; i++) {
		const char *key = quota->hard[i].resource;

		if (text_starts(key, "requests.") &&
		    !strcmp(key + strlen("requests."), resource))
			return &quota->hard[i];
	}
	return NULL;
}

struct quota_room quota_room(const struct quota *quota,
			     const struct resource_amount *hard,
			     const struct workload *w, const char *resource)
{
	struct quota_room room = {quantity_from(0), quantity_from(0),
				  hard->quantity, quantity_from(0), false};

	for (size_t i = 0; i < quota->nused; i++) {
		if (strcmp(quota->used[i].resource, hard->resource) != 0)
			continue;
		room.used = quota->used[i].quantity;
		room.known = w->cluster != NULL;
	}
	if (!room.known)
		return room;
	room.own = cluster_use_of(w->cluster, &w->id, resource);
	room.left =
		quantity_add(quantity_sub(hard->quantity, room.used), room.own);
	if (w->reservations)
		room.reserved = w->reservations->of(w->reservations->context, w,
						    resource);
	room.left = quantity_sub(room.left, room.reserved);
	return room;
}

static bool value_listed(const struct quota_scope *scope, const char *value)
{
	for (size_t i = 0; i < scope->nvalues; i++)
		if (text_eq(scope->values[i], value))
			return true;
	return false;
}

static enum tri priority_scope(const struct quota_scope *scope,
			       const struct workload_pod *pod)
{
	const char *class = pod->priority_class;

	if (pod->priority_unknown)
		return TRI_UNKNOWN;
	if (text_eq(scope->operator, "In"))
		return tri_from(class && value_listed(scope, class));
	if (text_eq(scope->operator, "NotIn"))
		return tri_from(!class || !value_listed(scope, class));
	if (text_eq(scope->operator, "DoesNotExist"))
		return tri_from(!class);
	return tri_from(class != NULL);
}

static enum tri scope_selects(const struct quota_scope *scope,
			      const struct workload_pod *pod)
{
	if (text_eq(scope->name, "Terminating"))
		return tri_from(pod->terminating);
	if (text_eq(scope->name, "NotTerminating"))
		return tri_from(!pod->terminating);
	if (text_eq(scope->name, "BestEffort"))
		return tri_from(pod->best_effort);
	if (text_eq(scope->name, "NotBestEffort"))
		return tri_from(!pod->best_effort);
	if (text_eq(scope->name, "PriorityClass"))
		return priority_scope(scope, pod);
	return TRI_UNKNOWN;
}

enum tri quota_selects(const struct quota *quota,
		       const struct workload_pod *pod)
{
	enum tri all = TRI_YES;

	for (size_t i = 0; i < quota->nscopes; i++) {
		enum tri one = scope_selects(&quota->scopes[i], pod);

		if (one == TRI_NO)
			return TRI_NO;
		if (one == TRI_UNKNOWN)
			all = TRI_UNKNOWN;
	}
	return all;
}

const char *quota_accelerator(const struct accelerator_extra *extra,
			      const struct resource_amount *hard)
{
	const char *name = hard->resource + strlen("requests.");

	if (!text_starts(hard->resource, "requests.") ||
	    !accelerator_find(extra, name))
		return NULL;
	return name;
}

bool quota_has_accelerator(const struct accelerator_extra *extra,
			   const struct quota *quota)
{
	for (size_t i = 0; i < quota->nhard; i++)
		if (quota_accelerator(extra, &quota->hard[i]))
			return true;
	return false;
}

static void add_pod(struct demand *sum, const struct workload_pod *pod,
		    const struct pod_demand *each)
{
	sum->steady = quantity_add(sum->steady,
				   quantity_mul(each->quantity, pod->steady.n));
	sum->peak = quantity_add(sum->peak,
				 quantity_mul(each->quantity, pod->peak.n));
	sum->lasting = quantity_add(
		sum->lasting,
		quantity_mul(each->quantity,
			     pod->peak.n / (pod->peak.replaced ? 2 : 1)));
	sum->unknown |=
		each->unknown || pod->steady.unknown || pod->peak.unknown;
}

struct demand workload_demand(const struct workload *workload,
			      const struct quota *quota, const char *resource)
{
	struct demand sum = {quantity_from(0), quantity_from(0),
			     quantity_from(0), false};

	for (size_t i = 0; i < workload->npods; i++) {
		const struct workload_pod *pod = &workload->pods[i];
		enum tri selected = quota ? quota_selects(quota, pod) : TRI_YES;

		if (selected != TRI_YES) {
			sum.unknown |= selected == TRI_UNKNOWN;
			continue;
		}
		for (size_t d = 0; d < pod->ndemand; d++)
			if (!strcmp(pod->demand[d].resource, resource))
				add_pod(&sum, pod, &pod->demand[d]);
	}
	return sum;
}

bool quota_case_next(const struct accelerator_extra *extra,
		     struct quota_case *one)
{
	if (!one->quotas)
		one->quotas =
			index_quotas(one->index, one->workload, &one->nquotas);
	for (; one->nth_quota < one->nquotas;
	     one->nth_quota++, one->nth_hard = 0) {
		one->quota = &one->quotas[one->nth_quota];
		while (one->nth_hard < one->quota->nhard) {
			one->hard = &one->quota->hard[one->nth_hard++];
			one->resource = quota_accelerator(extra, one->hard);
			if (!one->resource || one->hard->unknown)
				continue;
			one->demand = workload_demand(one->workload, one->quota,
						      one->resource);
			one->room = quota_room(one->quota, one->hard,
					       one->workload, one->resource);
			return true;
		}
	}
	return false;
}

/* --- limit ranges --------------------------------------------------------- */

/* True if the item gives containers a default of the resource
 * (plugin/pkg/admission/limitranger mergeContainerResources). If only `max` is
 * set, it is the default (SetDefaults_LimitRangeItem). */
static bool gives(const struct node *item, const char *resource)
{
	static const char *const maps[] = {"default", "defaultRequest", "max"};

	if (!node_eq(node_get(item, "type"), "Container"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		if (!node_is_unset(node_get(node_get(item, maps[i]), resource)))
			return true;
	return false;
}

bool limit_range_defaults(const struct cluster *cluster, const char *namespace,
			  const char *resource, struct arena *arena)
{
	const struct cluster_object *ranges;
	size_t n;

	ranges = cluster_objects(cluster, CLUSTER_LIMIT_RANGE, namespace, arena,
				 &n);
	for (size_t i = 0; i < n; i++)
		FOR_EACH_CHILD(node_path(ranges[i].root, "spec.limits"), item)
			if (gives(item, resource))
				return true;
	cluster_absent(cluster, CLUSTER_LIMIT_RANGE, namespace, NULL);
	return false;
}
