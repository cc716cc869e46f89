/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts that the index reads from single objects (policy objects, workloads),
 * with their places; they stay valid without the document.
 */
#include "base/array.h"
#include "object_fixture.h"

#include <stdlib.h>

#include "kube/set/index.h"

/* Returns the facts of every object of the text, whose memory is freed
 * first. */
static struct object_index index_of(const char *yaml)
{
	struct object_index set = {0};
	struct fixture fixture = {0};
	char *copy = strdup(yaml);

	fixture_read(&fixture, copy);
	for (size_t i = 0; i < fixture.list.n; i++)
		object_index_add(&set, &fixture.list.items[i], 7);
	fixture_release(&fixture);
	memset(copy, '#', strlen(copy));
	free(copy);
	return set;
}

/* --- policy objects ------------------------------------------------------- */

static void a_quota_is_read_whole(void **state)
{
	struct object_index set = index_of(
		"apiVersion: v1\nkind: ResourceQuota\n"
		"metadata: {name: q, namespace: team}\n"
		"spec:\n"
		"  hard:\n"
		"    requests.nvidia.com/gpu: 8\n"
		"    limits.memory: 1.5Ti\n"
		"    pods: ${PODS}\n"
		"    bad: many\n"
		"    unset: \n"
		"  scopes: [Terminating]\n"
		"  scopeSelector:\n"
		"    matchExpressions:\n"
		"    - {scopeName: PriorityClass, operator: In, values: [a, b]}\n"
		"status: {used: {pods: 2}}\n");
	const struct quota *q = set.quotas;
	char text[QUANTITY_TEXT];

	assert_int_equal(set.nquotas, 1);
	assert_string_equal(q->id.name, "q");
	assert_string_equal(q->id.namespace, "team");
	assert_string_equal(q->id.kind, "ResourceQuota");
	assert_int_equal(q->nhard, 3);
	assert_string_equal(q->hard[0].resource, "requests.nvidia.com/gpu");
	assert_int_equal(quantity_value(q->hard[0].quantity), 8);
	assert_false(q->hard[0].unknown);
	assert_string_equal(quantity_text(q->hard[1].quantity, text), "1536Gi");
	assert_true(q->hard[2].unknown);
	assert_int_equal(quantity_value(q->hard[2].quantity), 0);
	assert_int_equal(q->nused, 1);
	assert_int_equal(quantity_value(q->used[0].quantity), 2);
	assert_int_equal(q->nscopes, 2);
	assert_string_equal(q->scopes[0].name, "Terminating");
	assert_string_equal(q->scopes[0].operator, "Exists");
	assert_int_equal(q->scopes[0].nvalues, 0);
	assert_string_equal(q->scopes[1].name, "PriorityClass");
	assert_string_equal(q->scopes[1].operator, "In");
	assert_int_equal(q->scopes[1].nvalues, 2);
	assert_string_equal(q->scopes[1].values[1], "b");
	object_index_release(&set);
}

static void a_quota_without_limits_limits_nothing(void **state)
{
	static const char *const rows[] = {
		"apiVersion: v1\nkind: ResourceQuota\n",
		"apiVersion: v1\nkind: ResourceQuota\nspec: 3\n",
		"apiVersion: v1\nkind: ResourceQuota\nspec: {hard: [a]}\n",
		"apiVersion: v1\nkind: ResourceQuota\nspec: {scopes: x}\n",
		"apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: 3}\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct object_index set = index_of(rows[i]);

		assert_int_equal(set.nquotas, 1);
		assert_string_equal(set.quotas[0].id.name, "");
		assert_string_equal(set.quotas[0].id.namespace, "");
		assert_int_equal(set.quotas[0].nhard, 0);
		assert_int_equal(set.quotas[0].nscopes, 0);
		object_index_release(&set);
	}
}

/* Returns the names of a list, joined. */
static char *joined(struct arena *arena, const char *const *names, size_t n)
{
	char *all = arena_strdup(arena, "");

	for (size_t i = 0; i < n; i++)
		all = arena_printf(arena, "%s%s ", all, names[i]);
	return all;
}

/* max sets default, default and min set defaultRequest. */
static void a_limit_range_fills_its_defaults(void **state)
{
	struct object_index set =
		index_of("apiVersion: v1\nkind: LimitRange\n"
			 "metadata: {name: l, namespace: team}\n"
			 "spec:\n"
			 "  limits:\n"
			 "  - type: Pod\n"
			 "    max: {cpu: 64}\n"
			 "  - type: Container\n"
			 "    default: {memory: 1Gi}\n"
			 "    max: {nvidia.com/gpu: 4}\n"
			 "    defaultRequest: {cpu: 1}\n"
			 "    min: {ephemeral-storage: 1Gi}\n");
	const struct limit_range *l = set.limit_ranges;

	assert_int_equal(set.nlimit_ranges, 1);
	assert_string_equal(l->id.namespace, "team");
	assert_string_equal(joined(&set.arena, l->defaults, l->ndefaults),
			    "memory nvidia.com/gpu ");
	assert_string_equal(
		joined(&set.arena, l->default_requests, l->ndefault_requests),
		"cpu ephemeral-storage ");
	object_index_release(&set);
}

static void a_priority_class_is_read_whole(void **state)
{
	struct object_index set = index_of(
		"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
		"metadata: {name: high}\nvalue: 1000\nglobalDefault: true\n"
		"preemptionPolicy: Never\n---\n"
		"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
		"metadata: {name: low}\nvalue: -5\n---\n"
		"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
		"metadata: {name: some}\nvalue: ${VALUE}\n---\n"
		"apiVersion: example.com/v1\nkind: PriorityClass\n"
		"metadata: {name: other}\nvalue: 3\n");

	assert_int_equal(set.nclasses, 3);
	assert_string_equal(set.classes[0].id.name, "high");
	assert_int_equal(set.classes[0].value.n, 1000);
	assert_true(set.classes[0].global_default);
	assert_true(set.classes[0].never_preempts);
	assert_int_equal(set.classes[0].value_place.line, 4);
	assert_int_equal(set.classes[0].default_place.line, 5);
	assert_string_equal(set.classes[0].default_place.pointer,
			    "/globalDefault");
	assert_int_equal(set.classes[1].value.n, -5);
	assert_false(set.classes[1].global_default);
	assert_false(set.classes[1].never_preempts);
	assert_true(set.classes[2].value.unknown);
	object_index_release(&set);
}

/* --- workloads ------------------------------------------------------------ */

struct work {
	struct fixture fixture;
	struct arena arena;
	const struct workload *workload;
};

/* Reads the object's facts while its memory exists. */
static void work_read(struct work *work, const char *yaml)
{
	memset(work, 0, sizeof(*work));
	work->workload = workload_read(&work->arena,
				       fixture_object(&work->fixture, yaml), 3);
}

static void work_release(struct work *work)
{
	arena_release(&work->arena);
	fixture_release(&work->fixture);
}

static const char job[] =
	"apiVersion: batch/v1\nkind: Job\n"
	"metadata: {name: train, namespace: team}\n"
	"spec:\n"
	"  parallelism: 4\n"
	"  completions: 4\n"
	"  template:\n"
	"    spec:\n"
	"      priorityClassName: high\n"
	"      activeDeadlineSeconds: 60\n"
	"      containers:\n"
	"      - name: main\n"
	"        image: i\n"
	"        resources: {limits: {nvidia.com/gpu: 2, rdma/ib: 1}}\n"
	"      - name: side\n"
	"        image: i\n"
	"        resources: {requests: {nvidia.com/gpu: 1, cpu: 1},\n"
	"                    limits: {nvidia.com/gpu: 1}}\n";

static const struct quantity *demand_for(const struct workload_pod *pod,
					 const char *resource)
{
	for (size_t i = 0; i < pod->ndemand; i++)
		if (!strcmp(pod->demand[i].resource, resource))
			return &pod->demand[i].quantity;
	return NULL;
}

static void a_workload_is_read_whole(void **state)
{
	struct work work;
	const struct workload_pod *pod;

	work_read(&work, job);
	assert_string_equal(work.workload->id.name, "train");
	assert_string_equal(work.workload->id.namespace, "team");
	assert_string_equal(work.workload->id.api_version, "batch/v1");
	assert_int_equal(work.workload->npods, 1);
	pod = work.workload->pods;
	assert_int_equal(pod->steady.n, 4);
	assert_int_equal(pod->gpus.n, 3);
	assert_true(pod->gpu);
	assert_non_null(demand_for(pod, "nvidia.com/gpu"));
	assert_int_equal(quantity_value(*demand_for(pod, "nvidia.com/gpu")), 3);
	assert_int_equal(quantity_value(*demand_for(pod, "rdma/ib")), 1);
	assert_string_equal(pod->priority_class, "high");
	assert_false(pod->priority_unknown);
	assert_true(pod->terminating);
	assert_false(pod->best_effort);
	work_release(&work);
}

/* QoS depends on cpu and memory only. */
static void best_effort_looks_at_cpu_and_memory_only(void **state)
{
	static const struct {
		const char *resources;
		bool best_effort;
	} rows[] = {
		{"{limits: {nvidia.com/gpu: 1}}", true},
		{"{limits: {nvidia.com/gpu: 1, ephemeral-storage: 1Gi}}", true},
		{"{limits: {nvidia.com/gpu: 1, cpu: 1}}", false},
		{"{limits: {nvidia.com/gpu: 1, memory: 1Gi}}", false},
		{"{limits: {nvidia.com/gpu: 1}, requests: {cpu: 1}}", false},
		{"{limits: {nvidia.com/gpu: 1}, requests: {memory: '1'}}",
		 false},
		{"{limits: {nvidia.com/gpu: 1, cpu: '${CPU}'}}", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct work work;
		struct arena arena = ARENA_INIT;

		work_read(&work,
			  arena_printf(&arena,
				       "apiVersion: v1\nkind: Pod\n"
				       "metadata: {name: p}\nspec:\n"
				       "  containers:\n  - name: c\n"
				       "    image: i\n    resources: %s\n",
				       rows[i].resources));
		if (work.workload->pods[0].best_effort != rows[i].best_effort)
			fail_msg("%s", rows[i].resources);
		assert_false(work.workload->pods[0].terminating);
		work_release(&work);
		arena_release(&arena);
	}
}

static void unknown_counts_stay_unknown(void **state)
{
	struct work work;
	const struct workload_pod *pod;

	work_read(&work,
		  "apiVersion: apps/v1\nkind: Deployment\n"
		  "metadata: {name: d}\n"
		  "spec:\n"
		  "  replicas: ${REPLICAS}\n"
		  "  template:\n"
		  "    spec:\n"
		  "      priorityClassName: ${CLASS}\n"
		  "      containers:\n"
		  "      - name: c\n"
		  "        image: i\n"
		  "        resources: {limits: {nvidia.com/gpu: 1}}\n"
		  "      - name: d\n"
		  "        image: i\n"
		  "        resources: {limits: {nvidia.com/gpu: '${N}'}}\n");
	pod = work.workload->pods;
	assert_true(pod->steady.unknown);
	assert_true(pod->gpus.unknown);
	assert_int_equal(pod->gpus.n, 1);
	assert_int_equal(pod->ndemand, 1);
	assert_true(pod->demand[0].unknown);
	assert_int_equal(quantity_value(pod->demand[0].quantity), 1);
	assert_true(pod->priority_unknown);
	assert_null(pod->priority_class);
	work_release(&work);
}

static void the_queue_is_a_label_or_an_annotation(void **state)
{
	static const struct {
		const char *head, *queue;
	} rows[] = {
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n", NULL},
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: "
		 "{kai.scheduler/queue: team}}\n",
		 "team"},
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: "
		 "{scheduling.volcano.sh/queue-name: q}}\n",
		 "q"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct work work;
		struct arena arena = ARENA_INIT;

		work_read(&work, arena_printf(&arena, "%sspec: " GPU_SPEC(1),
					      rows[i].head));
		if (rows[i].queue)
			assert_string_equal(work.workload->queue,
					    rows[i].queue);
		else
			assert_null(work.workload->queue);
		work_release(&work);
		arena_release(&arena);
	}
}

static void only_workloads_with_devices_are_kept(void **state)
{
	static const struct {
		const char *yaml;
		size_t kept;
	} rows[] = {
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
		 "spec: " GPU_SPEC(1),
		 1},
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
		 "spec: {containers: [{name: c, image: i}]}",
		 0},
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n", 0},
		{"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n", 0},
		{"apiVersion: v1\nkind: Service\nmetadata: {name: s}\n", 0},
		{"apiVersion: v1\nkind: List\nitems:\n"
		 "- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n"
		 "  spec: " GPU_SPEC(
			 1) "\n"
			    "- apiVersion: v1\n  kind: Pod\n  metadata: {name: b}\n"
			    "  spec: " GPU_SPEC(2) "\n",
		 2},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct object_index set = index_of(rows[i].yaml);

		assert_int_equal(set.nworkloads, rows[i].kept);
		object_index_release(&set);
	}
}

/* --- places --------------------------------------------------------------- */

static void a_place_outlives_its_document(void **state)
{
	struct fixture fixture = {0};
	struct arena arena = ARENA_INIT;
	const struct object *object;
	struct place place;

	fixture_read(&fixture, "apiVersion: v1\nkind: A\n---\n"
			       "apiVersion: v1\nkind: Pod\n"
			       "metadata:\n  name: \xc3\xa9t\xc3\xa9 # x\n"
			       "  labels: {a/b: \xc3\xa9, c~d: e}\n");
	assert_int_equal(fixture.list.n, 2);
	object = &fixture.list.items[1];
	place = place_of(&arena, object,
			 node_path(object->root, "metadata.name"), 5);
	assert_int_equal(place.file, 5);
	assert_int_equal(place.document, 2);
	assert_int_equal(place.line, 7);
	assert_int_equal(place.column, 9);
	assert_int_equal(place.end_line, 7);
	assert_int_equal(place.end_column, 12);
	assert_int_equal(place.end - place.start, 5);
	assert_string_equal(place.pointer, "/metadata/name");
	place = place_of(
		&arena, object,
		node_get(node_path(object->root, "metadata.labels"), "c~d"), 5);
	assert_int_equal(place.line, 8);
	assert_int_equal(place.column, 25);
	assert_string_equal(place.pointer, "/metadata/labels/c~0d");
	place = place_of(
		&arena, object,
		node_get(node_path(object->root, "metadata.labels"), "a/b"), 5);
	assert_string_equal(place.pointer, "/metadata/labels/a~1b");
	place = place_of(&arena, object, object->root, 5);
	assert_string_equal(place.pointer, "");
	arena_release(&arena);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quota_is_read_whole),
		cmocka_unit_test(a_quota_without_limits_limits_nothing),
		cmocka_unit_test(a_limit_range_fills_its_defaults),
		cmocka_unit_test(a_priority_class_is_read_whole),
		cmocka_unit_test(a_workload_is_read_whole),
		cmocka_unit_test(best_effort_looks_at_cpu_and_memory_only),
		cmocka_unit_test(unknown_counts_stay_unknown),
		cmocka_unit_test(the_queue_is_a_label_or_an_annotation),
		cmocka_unit_test(only_workloads_with_devices_are_kept),
		cmocka_unit_test(a_place_outlives_its_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
