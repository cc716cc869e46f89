/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims of dynamic resource allocation, and the devices that a pod gets by
 * them. Unless the policy or a DeviceClass adds a device class, only its name
 * shows whether it is an accelerator, because classes belong to the drivers
 * (gpu.nvidia.com, mig.nvidia.com, gpu.intel.com, dra.cpu ...). Sources:
 * kubernetes/api resource/v1, v1beta1 (a request's fields are in the request
 * itself) and v1alpha2 (one resource class per claim); core/v1
 * PodResourceClaim, with `source` until 1.30.
 */
#include "kube/claim.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/text.h"
#include "kinds.h"
#include "kube/set/index.h"

/*
 * Counts the devices of claims as ResourceQuotas do: for each device class, the
 * worst case of every request. A claim with admin access counts as well.
 * Source: kubernetes v1.37.2 pkg/quota/v1/evaluator/core/resource_claims.go
 * Usage(); resource/v1 types.go (AllocationResultsMaxSize,
 * FirstAvailableDeviceRequestMaxSize, DeviceRequestsMaxSize).
 */

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

static void count_request(struct counts *counts, const struct node *request)
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
		count_request(&counts, request);
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

/* Limit on the claims of a file that are read, and on the names of a claim's
 * requests. Further claims are known by name alone, and the names of more
 * requests are unknown. */
enum { CLAIMS_MAX = 256 };

/* Returns the number of letters at s. */
static size_t letters(const char *s)
{
	size_t n = 0;

	while (isalpha((unsigned char)s[n]))
		n++;
	return n;
}

/* True if one of the short words is a whole word of the name, possibly followed
 * by an `s`, or by the `v` of a version (tpuv5). Inside of other words they
 * occur by chance: default, process, output, unicorn. */
static bool has_word(const char *name, const char *const *words)
{
	size_t n;

	for (; name && *name; name += n ? n : 1) {
		n = letters(name);
		for (const char *const *word = words; n && *word; word++) {
			size_t len = strlen(*word);

			if (n >= len && !strncasecmp(name, *word, len) &&
			    (n == len ||
			     (n == len + 1 && strchr("sv", name[len]))))
				return true;
		}
	}
	return false;
}

static bool speaks_of_gpu(const char *name)
{
	static const char *const words[] = {"gpu",   "mig",    "nvidia", "cuda",
					    "accel", "neuron", "gaudi",	 "a100",
					    "h100",  "h200",   "b200",	 NULL};
	static const char *const alone[] = {"tpu", NULL};

	return text_any(name, words, text_contains_ci) || has_word(name, alone);
}

static bool speaks_of_other(const char *name)
{
	static const char *const words[] = {
		"compute-domain", "computedomain", "imex", "rdma",
		"network",	  "infiniband",	   "cpu",  NULL};
	static const char *const alone[] = {"nic", "efa", "roce", NULL};

	return text_any(name, words, text_contains_ci) || has_word(name, alone);
}

/* -- claims of the file -------------------------------------------------- */

static bool is_named(const struct claim_table *table, const char *class)
{
	char resource[512];

	snprintf(resource, sizeof(resource),
		 "deviceclass.resource.kubernetes.io/%s", class);
	return table && table->extra &&
	       (table->extra->n || table->extra->named) &&
	       accelerator_find(table->extra, resource);
}

/*
 * Words for other devices have precedence over words for accelerators:
 * compute-domain-daemon.nvidia.com is not a GPU, and neither are simulated
 * devices of example drivers or DRANET's interfaces.
 */
enum tri claim_class_use(const struct claim_table *table, const char *class)
{
	if (!class)
		return TRI_UNKNOWN;
	if (is_named(table, class))
		return TRI_YES;
	if (speaks_of_other(class) || domain_is_reserved(class) ||
	    text_starts(class, "dra.net") || text_starts(class, "dranet"))
		return TRI_NO;
	return speaks_of_gpu(class) ? TRI_YES : TRI_UNKNOWN;
}

static void add_devices(const struct claim_table *table, struct claim *claim,
			const char *class, struct amount n)
{
	enum tri use = claim_class_use(table, class);

	if (use == TRI_YES)
		claim->devices = amount_add(claim->devices, n);
	else if (use == TRI_UNKNOWN)
		claim->devices.unknown = true;
	if (claim->gpu != TRI_YES && use != TRI_NO)
		claim->gpu = use;
	if (use == TRI_YES && !claim->class)
		claim->class = class;
	claim->nvidia |= use == TRI_YES && text_contains_ci(class, "nvidia");
}

static struct amount devices_of(const struct node *request)
{
	const struct node *mode = node_get(request, "allocationMode");

	if (!node_is_unset(mode) && !node_eq(mode, "ExactCount"))
		return (struct amount){.n = 1, .unknown = true};
	return amount_int(node_get(request, "count"), 1);
}

static void add_request(const struct claim_table *table, struct claim *claim,
			const struct node *request)
{
	const struct node *exactly = node_get(request, "exactly");
	const struct node *first = node_get(request, "firstAvailable");
	struct amount n;

	if (node_is_map(exactly))
		request = exactly;
	if (node_count(first)) {
		/* The first alternative is the preferred one. */
		request = node_at(first, 0);
		n = devices_of(request);
		n.unknown |= node_count(first) > 1;
	} else {
		n = devices_of(request);
	}
	/* Admin access only observes devices that others use. */
	if (node_is_true(node_get(request, "adminAccess")))
		return;
	add_devices(table, claim,
		    node_str(node_get(request, "deviceClassName")), n);
}

/* Returns the setting of a request that Kueue does not support, or NULL: kueue
 * v0.19.0 pkg/dra/claims.go countDevicesPerClass(). */
static const char *unqueued_field(const struct node *request)
{
	const struct node *exactly = node_get(request, "exactly");
	const struct node *from = node_is_map(exactly) ? exactly : request;

	if (node_count(node_get(request, "firstAvailable")))
		return "firstAvailable";
	if (node_is_true(node_get(from, "adminAccess")))
		return "adminAccess: true";
	if (node_eq(node_get(from, "allocationMode"), "All"))
		return "allocationMode: All";
	return NULL;
}

/* Sets the names of the requests, unless one of them is unknown or there are
 * more than CLAIMS_MAX. */
static void name_requests(struct arena *arena, struct claim *claim,
			  const struct node *requests)
{
	size_t n = node_count(requests), i = 0;
	const char **names = n && n <= CLAIMS_MAX
				     ? arena_alloc(arena, n * sizeof(*names))
				     : NULL;

	FOR_EACH_CHILD(requests, request) {
		const char *name = node_str(node_get(request, "name"));

		/* A placeholder may become any name. */
		if (!names || !name || strpbrk(name, "$<{"))
			return;
		names[i++] = arena_strdup(arena, name);
	}
	claim->requests = names;
	claim->nrequests = i;
}

static void add_claim(struct claim_table *table, struct arena *arena,
		      const struct node *root)
{
	const char *version = node_str(node_get(root, "apiVersion"));
	const char *kind = node_str(node_get(root, "kind"));
	const struct node *spec = node_get(root, "spec");
	const char *name = node_str(node_path(root, "metadata.name"));
	const char *namespace = node_str(node_path(root, "metadata.namespace"));
	const struct node *class, *requests;
	struct claim claim = {.gpu = TRI_NO};

	if (!version || !kind || !name || table->n >= CLAIMS_MAX ||
	    !text_starts(version, "resource.k8s.io/"))
		return;
	claim.template = !strcmp(kind, "ResourceClaimTemplate");
	if (!claim.template && strcmp(kind, "ResourceClaim") != 0)
		return;
	if (claim.template)
		spec = node_get(spec, "spec");
	class = node_get(spec, "resourceClassName");
	requests = node_path(spec, "devices.requests");
	FOR_EACH_CHILD(requests, request) {
		add_request(table, &claim, request);
		if (!claim.unqueued)
			claim.unqueued = unqueued_field(request);
	}
	if (!node_is_unset(class))
		add_devices(table, &claim, node_str(class),
			    (struct amount){.n = 1,
					    .unknown = !node_is_unset(node_get(
						    spec, "parametersRef"))});
	else if (!node_count(requests))
		claim.gpu = TRI_UNKNOWN;
	if (claim.class)
		claim.class = arena_strdup(arena, claim.class);
	name_requests(arena, &claim, requests);
	claim.counts =
		claim_counts(arena, requests, &claim.ncounts, &claim.uncounted);
	claim.uncounted |= !node_count(requests);
	claim.name = arena_strdup(arena, name);
	claim.namespace = namespace ? arena_strdup(arena, namespace) : NULL;
	*VEC_PUSH(arena, table->items, table->n, table->size) = claim;
}

bool claims_may_be_in(const char *text, size_t len)
{
	return text_find(text, len, "ResourceClaim");
}

void claims_add(struct claim_table *table, struct arena *arena,
		const struct doc *doc)
{
	const struct node *items = node_get(doc->root, "items");

	if (node_is_seq(items))
		FOR_EACH_CHILD(items, item)
			add_claim(table, arena, item);
	else
		add_claim(table, arena, doc->root);
}

const struct node *claim_requests(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");

	if (object_is(object, "resource.k8s.io", "ResourceClaimTemplate"))
		spec = node_get(spec, "spec");
	else if (!object_is(object, "resource.k8s.io", "ResourceClaim"))
		return NULL;
	return node_path(spec, "devices.requests");
}

/* -- claims of a pod ----------------------------------------------------- */

/* Returns a field of the entry, from its current or its former place. */
static const char *field_of(const struct node *entry, const char *key)
{
	const char *text = node_str(node_get(entry, key));

	return text ? text
		    : node_str(node_path(node_get(entry, "source"), key));
}

bool claim_is(const struct claim *claim, const char *namespace,
	      const char *name, bool template)
{
	return claim->template == template && !strcmp(claim->name, name) &&
	       (!namespace || !claim->namespace ||
		!strcmp(claim->namespace, namespace));
}

static const struct claim *find_claim(const struct pod *pod, const char *name,
				      bool template)
{
	const struct claim_table *table = pod->object->claims;
	const char *namespace = pod->object->namespace;

	if (!name || !table)
		return NULL;
	for (size_t i = 0; i < table->n; i++)
		if (claim_is(&table->items[i], namespace, name, template))
			return &table->items[i];
	return table->find
		       ? table->find(table->context, namespace, name, template)
		       : NULL;
}

/* Returns the text of that field, or NULL if it is longer than any name. */
static const char *name_of(const struct node *entry, const char *key)
{
	const char *name = field_of(entry, key);

	return name && strlen(name) <= 253 ? name : NULL;
}

/*
 * Returns whether a claim is for accelerators, by the words in the names of the
 * claim, its template and its entry. A name with words for both
 * (`bm-gpu-4-rdma`, a network card of a GPU machine) does not count. Unknown if
 * no name counts, or if two contradict each other.
 */
static enum tri hint(const struct node *entry)
{
	const char *const names[] = {
		name_of(entry, "resourceClaimTemplateName"),
		name_of(entry, "resourceClaimName"), name_of(entry, "name")};
	bool device = false, other = false;

	for (size_t i = 0; i < 3; i++) {
		bool of_gpu = speaks_of_gpu(names[i]);
		bool of_other = speaks_of_other(names[i]);

		device |= of_gpu && !of_other;
		other |= of_other && !of_gpu;
	}
	if (device == other)
		return TRI_UNKNOWN;
	return device ? TRI_YES : TRI_NO;
}

const struct claim *claim_of(const struct pod *pod, const struct node *entry)
{
	const char *made = field_of(entry, "resourceClaimTemplateName");

	if (made)
		return find_claim(pod, made, true);
	return find_claim(pod, field_of(entry, "resourceClaimName"), false);
}

enum tri claim_use(const struct pod *pod, const struct node *entry,
		   struct amount *devices)
{
	const char *made = field_of(entry, "resourceClaimTemplateName");
	const struct claim *claim = claim_of(pod, entry);
	enum tri use;

	if (claim && claim->gpu != TRI_UNKNOWN) {
		*devices = claim->devices;
		/* Pods that refer to the same claim share its devices. */
		if (!made && (pod->steady.n != 1 || pod->steady.unknown))
			*devices = (struct amount){.unknown = true};
		return claim->gpu;
	}
	use = hint(entry);
	*devices = (struct amount){.n = use == TRI_YES, .unknown = true};
	return use;
}

enum tri resources_claim(const struct node *resources, const char *name)
{
	const struct node *claims = node_get(resources, "claims");
	bool unknown = node_is_unknown(resources) || node_is_unknown(claims);

	FOR_EACH_CHILD(claims, claim) {
		const struct node *given = node_get(claim, "name");

		if (node_eq(given, name))
			return TRI_YES;
		unknown |= node_is_unknown(claim) || node_is_unknown(given);
	}
	return unknown ? TRI_UNKNOWN : TRI_NO;
}
