/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports claims for more devices of a class than the ResourceSlices of a
 * snapshot have for any node. All devices of a request are allocated for one
 * node, from its slices and from slices of no particular node, and only from
 * the newest generation of a complete pool. A snapshot has the number of a
 * slice's devices but not their attributes, so the sum is an upper bound:
 * partitions that exclude each other count, as do devices with taints. The sum
 * is unlimited if a pool is incomplete, or if several claims may share a
 * device. If no node has a device of the class, the finding is an info. Source:
 * k8s.io/dynamic-resource-allocation v0.36.2
 * structured/internal/stable/pools_stable.go, allocator_stable.go.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cel/cel.h"
#include "doc/edit.h"
#include "engine/rule.h"
#include "kube/set/index_find.h"

/* Devices that a class may select. */
struct slice_offer {
	int64_t most; /* the largest number on one node */
	/* the number is unknown, or several claims may share a device */
	bool unlimited;
};

struct slice {
	const char *node, *driver, *pool; /* node is "" for several nodes */
	int64_t generation, slices, devices;
};

static const char *text_at(const struct node *root, const char *path)
{
	return text_or_empty(node_str(node_path(root, path)));
}

static int64_t number_at(const struct node *root, const char *path)
{
	int64_t n;

	return node_int(node_path(root, path), &n) ? n : -1;
}

/* Sorts the slices of a node after slices without a node, and newer generations
 * of a pool before older ones. */
static int cmp_slices(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	int c = strcmp(x->node, y->node);

	if (!c)
		c = strcmp(x->driver, y->driver);
	if (!c)
		c = strcmp(x->pool, y->pool);
	return c ? c
		 : (x->generation < y->generation) -
			       (x->generation > y->generation);
}

/* --- classes -------------------------------------------------------------- */

static struct cel_value device_of(struct cel_eval *eval, void *context,
				  unsigned index)
{
	(void)index;
	return cel_from_node(eval->arena, context, NULL);
}

/* True unless the selector is certainly false for devices of the driver, whose
 * attributes are unknown. */
static bool may_select(const struct node *selector, struct node *device,
		       struct arena *arena)
{
	static const struct cel_type dyn = {.kind = CEL_DYN};
	static const struct cel_variable variables[] = {{"device", &dyn}, {0}};
	const struct cel_eval_options options = {.variable = device_of,
						 .context = device,
						 .budget =
							 CEL_EXPRESSION_BUDGET,
						 .fragment = true};
	const char *text = node_str(node_path(selector, "cel.expression"));
	struct cel_issues issues = {.arena = arena};
	const struct cel_program *program;
	struct cel_value value;
	struct cel_eval eval;

	if (!text)
		return true;
	program = cel_compile(arena, cel_env_new(arena, variables), text,
			      strlen(text), &issues);
	if (!program)
		return true;
	cel_eval_init(&eval, program, arena, &options);
	value = cel_eval_run(&eval);
	return value.kind != CEL_BOOL || value.boolean;
}

static bool class_may_select(const struct node *class, const char *driver,
			     struct arena *arena)
{
	struct node *device = edit_map(arena);

	edit_member(arena, device, "driver", edit_string(arena, driver));
	FOR_EACH_CHILD(node_path(class, "spec.selectors"), selector)
		if (!may_select(selector, device, arena))
			return false;
	return true;
}

/* --- sums ----------------------------------------------------------------- */

/* Reads the slices whose devices the class may select, sorted. */
static struct slice *read_slices(const struct cluster *cluster,
				 const struct node *class, struct arena *arena,
				 size_t *kept, bool *multiple)
{
	size_t n;
	const struct cluster_object *objects =
		cluster_objects(cluster, CLUSTER_RESOURCE_SLICE, "", arena, &n);
	struct slice *slices = ARENA_ARRAY(arena, struct slice, n);
	const char *driver = NULL;
	bool selected = false;

	*kept = 0;
	for (size_t i = 0; i < n; i++) {
		const struct node *root = objects[i].root;

		if (!driver || strcmp(driver, text_at(root, "spec.driver"))) {
			driver = text_at(root, "spec.driver");
			selected = class_may_select(class, driver, arena);
		}
		if (!selected)
			continue;
		*multiple |=
			node_is_true(node_path(root, "spec." SLICE_MULTIPLE));
		slices[(*kept)++] = (struct slice){
			text_at(root, "spec.nodeName"),
			driver,
			text_at(root, "spec.pool.name"),
			number_at(root, "spec.pool.generation"),
			number_at(root, "spec.pool.resourceSliceCount"),
			number_at(root, "spec." SLICE_COUNT),
		};
	}
	if (*kept)
		qsort(slices, *kept, sizeof(*slices), cmp_slices);
	return slices;
}

/* Returns the number of devices of the pool that begins at slices[*i], or -1 if
 * the pool is incomplete. Moves *i past the pool. */
static int64_t pool_devices(const struct slice *slices, size_t n, size_t *i)
{
	const struct slice *first = &slices[*i];
	int64_t devices = 0, count = 0;

	for (; *i < n; ++*i) {
		const struct slice *s = &slices[*i];

		if (strcmp(s->node, first->node) ||
		    strcmp(s->driver, first->driver) ||
		    strcmp(s->pool, first->pool))
			break;
		if (s->generation != first->generation)
			continue;
		count++;
		devices += s->devices < 0 ? 0 : s->devices;
	}
	return count == first->slices ? devices : -1;
}

static struct slice_offer slices_offer(const struct cluster *cluster,
				       const struct node *class,
				       struct arena *arena)
{
	struct slice_offer offer = {0, false};
	int64_t shared = 0, here = 0;
	const char *node = "";
	size_t n;
	const struct slice *slices =
		read_slices(cluster, class, arena, &n, &offer.unlimited);

	for (size_t i = 0; i < n && !offer.unlimited;) {
		const char *of = slices[i].node;
		int64_t devices = pool_devices(slices, n, &i);

		offer.unlimited = devices < 0;
		if (!*of) {
			shared += devices;
		} else if (strcmp(node, of) != 0) {
			node = of;
			here = devices;
		} else {
			here += devices;
		}
		if (here > offer.most)
			offer.most = here;
	}
	offer.most += shared;
	return offer;
}

/* --- requests ------------------------------------------------------------- */

static void check_request(struct rule_run *run,
			  const struct class_request *request)
{
	const struct workload asks = {.id = request->id,
				      .place = request->place,
				      .cluster = request->cluster};
	const struct found_object *class =
		index_find(rule_index(run), &asks, CLUSTER_DEVICE_CLASS,
			   request->name, rule_arena(run));
	struct slice_offer offer;
	struct finding *f;

	if (!class || !class->root)
		return;
	offer = slices_offer(request->cluster, class->root, rule_arena(run));
	if (offer.unlimited || offer.most >= request->least)
		return;
	f = report_place(
		run, &request->id, &request->place,
		"the request needs %s of class `%s`, but no node has %s that the class may select: until one does, pods with this claim stay Pending",
		rule_count(run, request->least, "device"), request->name,
		offer.most ? arena_printf(rule_arena(run), "more than %s",
					  rule_number(run, offer.most))
			   : "any");
	/* Drivers publish no devices for a group of nodes that is scaled to
	 * zero. */
	if (!offer.most)
		finding_severity(f, SEVERITY_INFO);
}

static void check(struct rule_run *run)
{
	const struct object_index *index = rule_index(run);

	for (size_t i = 0; i < index->nrequests; i++) {
		const struct class_request *request = &index->requests[i];

		if (!request->least)
			continue;
		if (!request->cluster)
			rule_not_run(run, rule_without_cluster(run));
		else if (cluster_count(request->cluster,
				       CLUSTER_RESOURCE_SLICE))
			check_request(run, request);
	}
}

const struct rule rule_dra_claim_never_fits = {
	.name = "dra-claim-never-fits",
	.category = "dra",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_CLUSTER,
	.summary = "a claim for more devices of a class than any node has",
	.why = "All devices of a request are allocated for one node, so the pods stay Pending until a node has enough of them. If no node has any device of the class, the finding is an info, because an autoscaler may add such nodes.",
	.remedy =
		"Request at most as many devices as one node has, or add nodes with enough devices of the class.",
	.evidence =
		"https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/",
	.check_set = check,
};
