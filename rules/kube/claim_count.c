/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the devices of claims as ResourceQuotas do: for each device class, the
 * worst case of every request. A claim with admin access counts as well.
 * Source: kubernetes v1.37.2 pkg/quota/v1/evaluator/core/resource_claims.go
 * Usage(); resource/v1 types.go (AllocationResultsMaxSize,
 * FirstAvailableDeviceRequestMaxSize, DeviceRequestsMaxSize).
 */
#include <string.h>

#include "kube/claim.h"
#include "kube/set/index.h"

enum { ALL_DEVICES = 32, REQUESTS_MAX = 32, ALTERNATIVES_MAX = 8 };

/* Returns the number of devices of a request; 0 with *unknown set if it is
 * unknown. Other modes than All and ExactCount count as 0. */
static int64_t request_devices(const struct node *request, bool *unknown)
{
	const struct node *mode = node_get(request, "allocationMode");
	struct amount n;

	if (node_eq(mode, "All"))
		return ALL_DEVICES;
	if (!node_is_unset(mode) && !node_eq(mode, "ExactCount")) {
		*unknown |= node_is_unknown(mode);
		return 0;
	}
	n = amount_int(node_get(request, "count"), 1);
	*unknown |= n.unknown;
	return n.unknown ? 0 : n.n;
}

struct counts {
	struct class_count *items;
	size_t n;
	bool unknown;
};

static void count_add(struct counts *counts, const char *class, int64_t n)
{
	size_t i = 0;

	while (i < counts->n && strcmp(counts->items[i].class, class) != 0)
		i++;
	if (i == counts->n)
		counts->items[counts->n++] = (struct class_count){class, 0};
	counts->items[i].n =
		amount_add(amount_of(counts->items[i].n), amount_of(n)).n;
}

/* Adds, for each class among the alternatives of a request, the largest number
 * of devices that one of them requests. */
static void add_alternatives(struct counts *counts, const struct node *list)
{
	struct counts most = {0};
	struct class_count items[ALTERNATIVES_MAX];

	most.items = items;
	FOR_EACH_CHILD(list, one) {
		const char *class = node_str(node_get(one, "deviceClassName"));
		int64_t n = request_devices(one, &counts->unknown);
		size_t i = 0;

		counts->unknown |= !class;
		while (class && i < most.n &&
		       strcmp(items[i].class, class) != 0)
			i++;
		if (!class || (i < most.n && items[i].n >= n))
			continue;
		items[i] = (struct class_count){class, n};
		most.n += i == most.n;
	}
	for (size_t i = 0; i < most.n; i++)
		count_add(counts, items[i].class, items[i].n);
}

static void add_request(struct counts *counts, const struct node *request)
{
	const struct node *exactly = node_get(request, "exactly");
	const struct node *first = node_get(request, "firstAvailable");
	const char *class;

	if (node_count(first) > ALTERNATIVES_MAX) {
		counts->unknown = true;
	} else if (node_count(first)) {
		add_alternatives(counts, first);
	} else {
		if (node_is_map(exactly))
			request = exactly;
		class = node_str(node_get(request, "deviceClassName"));
		counts->unknown |= !class;
		if (class)
			count_add(counts, class,
				  request_devices(request, &counts->unknown));
	}
}

struct class_count *claim_counts(struct arena *arena,
				 const struct node *requests, size_t *n,
				 bool *unknown)
{
	size_t count = node_count(requests);
	struct counts counts = {.unknown = node_is_unknown(requests) ||
					   count > REQUESTS_MAX};

	*n = 0;
	*unknown = counts.unknown;
	if (counts.unknown || !count)
		return NULL;
	counts.items = ARENA_ARRAY(arena, struct class_count,
				   count * ALTERNATIVES_MAX);
	FOR_EACH_CHILD(requests, request)
		add_request(&counts, request);
	for (size_t i = 0; i < counts.n; i++)
		counts.items[i].class =
			arena_strdup(arena, counts.items[i].class);
	*n = counts.n;
	*unknown = counts.unknown;
	return counts.items;
}

/* --- claims of a pod ------------------------------------------------------ */

static void add_demand(struct arena *arena, struct pod_demand *list, size_t *n,
		       const struct class_count *count, bool unknown)
{
	const char *key = arena_printf(arena, "%s" CLASS_DEVICES, count->class);
	size_t i = 0;

	while (i < *n && strcmp(list[i].resource, key) != 0)
		i++;
	if (i == *n)
		list[(*n)++] = (struct pod_demand){
			.resource = key, .quantity = quantity_from(0)};
	list[i].quantity =
		quantity_add(list[i].quantity, quantity_from(count->n));
	list[i].unknown |= unknown;
}

struct pod_demand *pod_claim_demands(struct arena *arena, const struct pod *pod,
				     size_t *n)
{
	const struct node *entries = pod_field(pod, "resourceClaims");
	struct pod_demand *list = NULL;
	size_t most = 0;

	*n = 0;
	if (!pod->object->claims || node_count(entries) > REQUESTS_MAX)
		return NULL;
	FOR_EACH_CHILD(entries, entry) {
		const struct claim *claim = claim_of(pod, entry);

		most += claim && claim->template ? claim->ncounts : 0;
	}
	if (!most)
		return NULL;
	list = ARENA_ARRAY(arena, struct pod_demand, most);
	FOR_EACH_CHILD(entries, entry) {
		const struct claim *claim = claim_of(pod, entry);

		for (size_t i = 0;
		     claim && claim->template && i < claim->ncounts; i++)
			add_demand(arena, list, n, &claim->counts[i],
				   claim->uncounted);
	}
	return list;
}
