/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the ResourceQuotas that count a workload or a claim, and computes the
 * requested and the free amounts. Also finds defaults of LimitRanges. Sources:
 * pkg/quota/v1/evaluator/core/pods.go (podMatchesScopeFunc, PodUsageFunc),
 * pkg/quota/v1/resources.go; for claims, which no scope matches,
 * resource_claims.go (MatchingScopes) of v1.37.2.
 */
#include "kube/quota/quota.h"

#include "base/array.h"
#include "kube/claim.h"
#include "kube/set/index_find.h"

/* Minor version of Kubernetes 1 since which claims count as extended resources
 * (gate DRAExtendedResource). */
enum { EXTENDED_SINCE = 36 };

#define CLASS_RESOURCE "deviceclass.resource.kubernetes.io/"

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

/* Returns the accelerator that this entry of `hard` limits ("requests." +
 * name), or NULL. */
static const char *quota_accelerator(const struct accelerator_extra *extra,
				     const struct resource_amount *hard)
{
	const char *name = hard->resource + strlen("requests.");

	if (!text_starts(hard->resource, "requests.") ||
	    !accelerator_find(extra, name))
		return NULL;
	return name;
}

const char *quota_counted(const struct accelerator_extra *extra,
			  const struct resource_amount *hard)
{
	if (text_ends(hard->resource, CLASS_DEVICES))
		return hard->resource;
	if (text_starts(hard->resource, "requests." CLASS_RESOURCE))
		return hard->resource + strlen("requests.");
	return quota_accelerator(extra, hard);
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

	if (quota && quota->nscopes && text_ends(resource, CLASS_DEVICES))
		return sum;
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

/* True if devices of the class count as the resource: the name that the class
 * gives them, or the one derived from its own name. False before Kubernetes
 * 1.36, and for a class that is not known. */
static bool class_is_resource(const struct class_finder *classes,
			      const struct object_index *index,
			      const struct workload *w, const char *class,
			      const char *resource)
{
	const struct found_object *found;

	if (classes->kubernetes < EXTENDED_SINCE)
		return false;
	found = index_find(index, w, CLUSTER_DEVICE_CLASS, class,
			   classes->arena);
	if (!found || !found->root)
		return false;
	if (text_starts(resource, CLASS_RESOURCE))
		return text_eq(resource + strlen(CLASS_RESOURCE), class);
	return node_eq(node_path(found->root, "spec.extendedResourceName"),
		       resource);
}

/* Adds devices of claims that count as the extended resource. */
static void add_claimed(struct quota_case *one)
{
	const struct workload *w = one->workload;

	if (one->quota->nscopes || text_ends(one->resource, CLASS_DEVICES))
		return;
	for (size_t p = 0; p < w->npods; p++)
		for (size_t d = 0; d < w->pods[p].ndemand; d++) {
			const struct pod_demand *each = &w->pods[p].demand[d];
			size_t len = strlen(each->resource);

			if (text_ends(each->resource, CLASS_DEVICES) &&
			    class_is_resource(
				    &one->classes, one->index, w,
				    arena_strndup(one->classes.arena,
						  each->resource,
						  len - strlen(CLASS_DEVICES)),
				    one->resource)) {
				add_pod(&one->demand, &w->pods[p], each);
				one->claims = true;
			}
		}
}

/* Forgets the used amount if the workload is running: a snapshot does not
 * contain the devices that its pods have claimed. */
static void forget_used(struct quota_case *one)
{
	struct quantity none = quantity_from(0);

	if (cluster_has_pods(one->workload->cluster, &one->workload->id))
		one->room = (struct quota_room){none, none, one->hard->quantity,
						none, false};
}

void quota_case_sum(struct quota_case *one)
{
	one->claims = text_ends(one->resource, CLASS_DEVICES);
	one->demand = workload_demand(one->workload, one->quota, one->resource);
	if (one->classes.kubernetes >= EXTENDED_SINCE)
		add_claimed(one);
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
			one->resource = quota_counted(extra, one->hard);
			if (!one->resource || one->hard->unknown)
				continue;
			quota_case_sum(one);
			one->room = quota_room(one->quota, one->hard,
					       one->workload, one->resource);
			if (one->claims && one->room.known)
				forget_used(one);
			return true;
		}
	}
	return false;
}

/* --- claims --------------------------------------------------------------- */

/* True if an earlier request is of the same claim and for the same class,
 * because the claim is in another file as well. */
static bool is_copy(const struct object_index *index, size_t request)
{
	const struct class_request *claim = &index->requests[request];

	for (size_t i = 0; i < request; i++) {
		const struct class_request *other = &index->requests[i];

		if (other->counted && other->cluster == claim->cluster &&
		    text_eq(other->name, claim->name) &&
		    text_eq(other->id.name, claim->id.name) &&
		    text_eq(other->id.namespace, claim->id.namespace))
			return true;
	}
	return false;
}

/* Finds the quotas of the next claim; returns false at the end. */
static bool next_claim(struct claim_case *one)
{
	const struct object_index *index = one->index;

	while (one->nth_request < index->nrequests) {
		const struct class_request *claim =
			&index->requests[one->nth_request++];
		const struct workload asks = {.id = claim->id,
					      .place = claim->place,
					      .cluster = claim->cluster};

		if (!claim->counted)
			continue;
		one->claim = claim;
		one->quotas =
			one->own ? index_own_quotas(index, &asks, &one->nquotas)
				 : index_quotas(index, &asks, &one->nquotas);
		one->nth_quota = one->nth_hard = 0;
		if (one->nquotas && !is_copy(index, one->nth_request - 1))
			return true;
	}
	return false;
}

static bool counts_claim(const struct claim_case *one)
{
	const struct class_request *claim = one->claim;
	const struct workload asks = {.id = claim->id,
				      .place = claim->place,
				      .cluster = claim->cluster};
	const char *key = one->hard->resource;
	size_t len = strlen(claim->name);

	if (one->quota->nscopes || one->hard->unknown)
		return false;
	if (!strncmp(key, claim->name, len) &&
	    !strcmp(key + len, CLASS_DEVICES))
		return true;
	return text_starts(key, "requests.") &&
	       class_is_resource(&one->classes, one->index, &asks, claim->name,
				 key + strlen("requests."));
}

/* Moves on to the next amount of the current quota that counts the claim. */
static bool next_hard(struct claim_case *one)
{
	one->quota = &one->quotas[one->nth_quota];
	while (one->nth_hard < one->quota->nhard) {
		one->hard = &one->quota->hard[one->nth_hard++];
		if (counts_claim(one))
			return true;
	}
	return false;
}

bool claim_case_next(struct claim_case *one)
{
	do
		for (; one->nth_quota < one->nquotas;
		     one->nth_quota++, one->nth_hard = 0)
			if (next_hard(one))
				return true;
	while (next_claim(one));
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

bool limit_range_defaults(const struct cluster_object *ranges, size_t n,
			  const char *resource)
{
	for (size_t i = 0; i < n; i++)
		FOR_EACH_CHILD(node_path(ranges[i].root, "spec.limits"), item)
			if (gives(item, resource))
				return true;
	return false;
}
