/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cluster states: kept fields, immutable snapshots, and sums over pods that do
 * not depend on their order.
 */
#include "cluster_fixture.h"

#define QUOTA(ns, name, hard, used)                                            \
	"{apiVersion: v1, kind: ResourceQuota, "                               \
	"metadata: {namespace: " ns ", name: " name "}, "                      \
	"spec: {hard: {requests.nvidia.com/gpu: '" hard "'}}, "                \
	"status: {used: {requests.nvidia.com/gpu: '" used "'}}}"

static const char *hard_of(const struct cluster *c, const char *namespace,
			   const char *name)
{
	static struct arena arena;
	const struct object_id id = {"v1", "ResourceQuota", namespace, name};
	const struct node *root = cluster_object(c, &id, &arena);
	const struct node *hard = node_path(root, "spec.hard");

	return node_str(node_get(hard, "requests.nvidia.com/gpu"));
}

static void objects_are_added_changed_and_removed(void **state)
{
	struct cluster_builder *b = cluster_builder_new();
	struct arena arena = ARENA_INIT;
	const struct object_id gone = {"v1", "ResourceQuota", "a", "q"};
	struct cluster *first, *second, *third;
	size_t n;

	assert_int_equal(add_object(b, QUOTA("a", "q", "8", "1")), 1);
	assert_int_equal(add_object(b, QUOTA("a", "q", "8", "1")), 0);
	assert_int_equal(add_object(b, QUOTA("b", "q", "9", "1")), 1);
	first = cluster_builder_finish(b, 100);
	assert_int_equal(add_object(b, QUOTA("a", "q", "12", "1")), 1);
	assert_int_equal(add_object(b, QUOTA("a", "r", "3", "0")), 1);
	second = cluster_builder_finish(b, 200);
	assert_int_equal(cluster_builder_remove(b, &gone), 1);
	assert_int_equal(cluster_builder_remove(b, &gone), 0);
	third = cluster_builder_finish(b, 300);
	assert_string_equal(hard_of(first, "a", "q"), "8");
	assert_string_equal(hard_of(second, "a", "q"), "12");
	assert_null(hard_of(third, "a", "q"));
	assert_string_equal(hard_of(third, "a", "r"), "3");
	assert_string_equal(hard_of(third, "b", "q"), "9");
	assert_null(hard_of(third, "c", "q"));
	assert_int_equal(cluster_count(first, CLUSTER_QUOTA), 2);
	assert_int_equal(cluster_count(second, CLUSTER_QUOTA), 3);
	assert_int_equal(cluster_count(third, CLUSTER_QUOTA), 2);
	assert_int_equal(cluster_taken_at(second), 200);
	assert_true(cluster_serial(first) != cluster_serial(second));
	cluster_objects(second, CLUSTER_QUOTA, "a", &arena, &n);
	assert_int_equal(n, 2);
	cluster_objects(second, CLUSTER_LIMIT_RANGE, "a", &arena, &n);
	assert_int_equal(n, 0);
	cluster_builder_clear(b, CLUSTER_QUOTA);
	cluster_put(third);
	third = cluster_builder_finish(b, 400);
	assert_int_equal(cluster_count(third, CLUSTER_QUOTA), 0);
	assert_null(hard_of(third, "b", "q"));
	assert_string_equal(hard_of(first, "b", "q"), "9");
	cluster_builder_free(b);
	assert_string_equal(hard_of(second, "a", "r"), "3");
	cluster_put(first);
	cluster_put(cluster_get(second));
	cluster_put(second);
	cluster_put(third);
	arena_release(&arena);
}

static void objects_without_sense_are_refused(void **state)
{
	static const char *const refused[] = {
		"{}",
		"{apiVersion: v1, kind: ResourceQuota}",
		"{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}}",
		QUOTA("a", "q", "eight", "0"),
		QUOTA("a", "q", "8", "1Zi"),
	};
	/* Unusual objects that are accepted. */
	static const char *const taken[] = {
		"{apiVersion: v1, kind: ResourceQuota, "
		"metadata: {name: q, namespace: a}}",
		"{apiVersion: v1, kind: ResourceQuota, "
		"metadata: {name: q, namespace: a}, spec: [1], status: x}",
		"{apiVersion: v1, kind: Node, "
		"metadata: {name: 'n', labels: [1]}, "
		"status: {allocatable: x}, spec: {taints: 3}}",
		"{apiVersion: v1, kind: Pod, metadata: {name: 'n', "
		"namespace: a, ownerReferences: 5}, spec: {containers: {a: 1}}}",
		"{apiVersion: v1, kind: Namespace, "
		"metadata: {name: 'n', labels: 7}}",
	};
	struct cluster_builder *b = cluster_builder_new();

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if (add_object(b, refused[i]) >= 0)
			fail_msg("taken: %s", refused[i]);
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		if (add_object(b, taken[i]) < 0)
			fail_msg("refused: %s", taken[i]);
	cluster_put(cluster_builder_finish(b, 0));
	cluster_builder_free(b);
}

/* --- pods and their owners ------------------------------------------------ */

#define OWNER(api, kind, name)                                                 \
	"ownerReferences: [{apiVersion: " api ", kind: " kind ", name: " name  \
	", controller: true}]"
#define POD(name, more, gpus, phase)                                           \
	"{apiVersion: v1, kind: Pod, "                                         \
	"metadata: {namespace: ml, name: " name ", " more "}, "                \
	"spec: {containers: [{name: c, "                                       \
	"resources: {limits: {nvidia.com/gpu: '" gpus "'}}}]}, "               \
	"status: {phase: " phase "}}"
#define JOB(name, more)                                                        \
	"{apiVersion: batch/v1, kind: Job, "                                   \
	"metadata: {namespace: ml, name: " name more "}}"

static int64_t gpus_of(struct cluster_builder *b, const char *api,
		       const char *kind, const char *name)
{
	const struct object_id id = {api, kind, "ml", name};
	struct cluster *c = cluster_builder_finish(b, 0);
	int64_t n = quantity_value(cluster_use_of(c, &id, "nvidia.com/gpu"));

	cluster_put(c);
	return n;
}

static void pods_count_for_the_owner_that_made_them(void **state)
{
	struct cluster_builder *b = cluster_builder_new();
	const struct object_id pod = {"v1", "Pod", "ml", "p1"};
	const struct object_id job = {"batch/v1", "Job", "ml", "night-1"};

	add_object(b, POD("p0", OWNER("batch/v1", "Job", "night-1"), "2",
			  "Running"));
	add_object(b, POD("p1", OWNER("batch/v1", "Job", "night-1"), "2",
			  "Pending"));
	add_object(b, POD("bare", "labels: {}", "1", "Running"));
	add_object(b, POD("old", OWNER("batch/v1", "Job", "night-1"), "2",
			  "Succeeded"));
	assert_int_equal(gpus_of(b, "batch/v1", "Job", "night-1"), 4);
	assert_int_equal(gpus_of(b, "batch/v1", "CronJob", "night"), 0);
	assert_int_equal(gpus_of(b, "v1", "Pod", "bare"), 1);
	/* The Job arrives after its pods. */
	add_object(b,
		   JOB("night-1", ", " OWNER("batch/v1", "CronJob", "night")));
	assert_int_equal(gpus_of(b, "batch/v1", "CronJob", "night"), 4);
	assert_int_equal(gpus_of(b, "batch/v1beta1", "CronJob", "night"), 4);
	add_object(b, POD("p2", OWNER("batch/v1", "Job", "night-1"), "1",
			  "Running"));
	assert_int_equal(gpus_of(b, "batch/v1", "CronJob", "night"), 5);
	add_object(b, POD("p0", OWNER("batch/v1", "Job", "night-1"), "2",
			  "Failed"));
	assert_int_equal(gpus_of(b, "batch/v1", "CronJob", "night"), 3);
	assert_int_equal(cluster_builder_remove(b, &pod), 1);
	assert_int_equal(gpus_of(b, "batch/v1", "Job", "night-1"), 1);
	assert_int_equal(gpus_of(b, "batch/v1", "CronJob", "night"), 1);
	/* The Job no longer has an owner. */
	assert_int_equal(cluster_builder_remove(b, &job), 1);
	assert_int_equal(gpus_of(b, "batch/v1", "Job", "night-1"), 1);
	assert_int_equal(gpus_of(b, "batch/v1", "CronJob", "night"), 0);
	cluster_builder_free(b);
}

static void pods_of_replica_sets_count_for_the_deployment(void **state)
{
	struct cluster_builder *b = cluster_builder_new();
	const struct object_id pod = {"v1", "Pod", "ml", "w0"};

#define OF_SET(name)                                                           \
	"labels: {pod-template-hash: 5d9c}, " OWNER("apps/v1", "ReplicaSet",   \
						    name)
	add_object(b, POD("w0", OF_SET("web-5d9c"), "1", "Running"));
	add_object(b, POD("w1", OF_SET("web-5d9c"), "1", "Running"));
	add_object(b, POD("x0", OF_SET("lone-aaaa"), "1", "Running"));
	add_object(b, POD("y0", OF_SET("5d9c"), "1", "Running"));
	assert_int_equal(gpus_of(b, "apps/v1", "Deployment", "web"), 2);
	assert_int_equal(gpus_of(b, "apps/v1", "ReplicaSet", "lone-aaaa"), 1);
	assert_int_equal(gpus_of(b, "apps/v1", "ReplicaSet", "5d9c"), 1);
	assert_int_equal(gpus_of(b, "apps/v1", "Deployment", ""), 0);
	cluster_builder_remove(b, &pod);
	assert_int_equal(gpus_of(b, "apps/v1", "Deployment", "web"), 1);
	cluster_builder_clear(b, CLUSTER_POD);
	assert_int_equal(gpus_of(b, "apps/v1", "Deployment", "web"), 0);
	cluster_builder_free(b);
}

/* Owners that own each other or themselves do not cause an endless loop. */
static void owners_in_a_circle_end(void **state)
{
	struct cluster_builder *b = cluster_builder_new();

	add_object(b, JOB("a", ", " OWNER("batch/v1", "Job", "b")));
	add_object(b, JOB("b", ", " OWNER("batch/v1", "Job", "c")));
	add_object(b, JOB("c", ", " OWNER("batch/v1", "Job", "a")));
	add_object(b, JOB("d", ", " OWNER("batch/v1", "Job", "d")));
	add_object(b, POD("p", OWNER("batch/v1", "Job", "a"), "3", "Running"));
	add_object(b, POD("q", OWNER("batch/v1", "Job", "d"), "2", "Running"));
	assert_int_equal(gpus_of(b, "batch/v1", "Job", "a"), 3);
	assert_int_equal(gpus_of(b, "batch/v1", "Job", "c"), 3);
	assert_int_equal(gpus_of(b, "batch/v1", "Job", "d"), 2);
	cluster_builder_clear(b, CLUSTER_POD);
	assert_int_equal(gpus_of(b, "batch/v1", "Job", "c"), 0);
	cluster_builder_free(b);
}

/* --- nodes ---------------------------------------------------------------- */

static int add_node(struct cluster_builder *b, int i, const char *gpus,
		    const char *pool)
{
	char text[600];

	snprintf(text, sizeof(text),
		 "{apiVersion: v1, kind: Node, metadata: {name: n%d, labels: {"
		 "kubernetes.io/hostname: n%d, own: n%d, pool: %s}}, "
		 "spec: {taints: [{key: node.kubernetes.io/not-ready, "
		 "effect: NoExecute}]}, status: {allocatable: {"
		 "memory: %dKi, nvidia.com/gpu: '%s'}}}",
		 i, i, i, pool, 1056270348 + i, gpus);
	return add_object(b, text);
}

static void nodes_that_are_alike_are_one_group(void **state)
{
	struct cluster_builder *b = cluster_builder_new();
	const struct object_id one = {"v1", "Node", "", "n5"};
	const struct node_group *groups;
	struct cluster *c;
	size_t n;

	for (int i = 0; i < 100; i++)
		add_node(b, i, "8", "train");
	assert_int_equal(add_node(b, 7, "8", "train"), 0);
	assert_int_equal(add_node(b, 7, "7", "train"), 1);
	assert_int_equal(cluster_builder_remove(b, &one), 1);
	assert_int_equal(cluster_builder_remove(b, &one), 0);
	c = cluster_builder_finish(b, 0);
	groups = cluster_nodes(c, &n);
	assert_int_equal(n, 2);
	assert_int_equal(groups[0].count + groups[1].count, 99);
	assert_int_equal(cluster_count(c, CLUSTER_NODE), 99);
	assert_int_equal(node_count(groups[0].taints), 0);
	assert_int_equal(node_count(groups[0].labels), 1);
	assert_true(cluster_label_is_individual(c, "own"));
	assert_true(cluster_label_is_individual(c, "kubernetes.io/hostname"));
	assert_false(cluster_label_is_individual(c, "pool"));
	cluster_put(c);
	cluster_builder_clear(b, CLUSTER_NODE);
	c = cluster_builder_finish(b, 0);
	cluster_nodes(c, &n);
	assert_int_equal(n, 0);
	cluster_put(c);
	cluster_builder_free(b);
}

/* Runtimes are kept without the values of their variables, because a state file
 * may be passed on. */
static void runtimes_are_kept_without_secrets(void **state)
{
	struct cluster_builder *b = cluster_builder_new();
	const struct object_id id = {"serving.kserve.io/v1alpha1",
				     "ServingRuntime", "ml", "r"};
	const struct node *root, *env;
	struct arena arena = ARENA_INIT;
	struct cluster *c;

	assert_int_equal(
		add_object(
			b,
			"{apiVersion: serving.kserve.io/v1alpha1, "
			"kind: ServingRuntime, "
			"metadata: {name: r, namespace: ml, annotations: {a: "
			"b}}, spec: {containers: [{name: kserve-container, "
			"env: [{name: HF_TOKEN, value: hf_"
			"abcdefghijklmnopqrstuvwxyzABCDEFGH}, "
			"{name: NCCL_DEBUG, value: INFO}]}]}, status: {x: y}}"),
		1);
	c = cluster_builder_finish(b, 0);
	root = cluster_object(c, &id, &arena);
	assert_int_equal(node_count(root), 1);
	env = node_get(node_at(node_path(root, "spec.containers"), 0), "env");
	assert_string_equal(node_str(node_get(node_at(env, 0), "value")),
			    "hf_****");
	assert_string_equal(node_str(node_get(node_at(env, 1), "value")),
			    "INFO");
	cluster_put(c);
	cluster_builder_free(b);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runtimes_are_kept_without_secrets),
		cmocka_unit_test(objects_are_added_changed_and_removed),
		cmocka_unit_test(objects_without_sense_are_refused),
		cmocka_unit_test(pods_count_for_the_owner_that_made_them),
		cmocka_unit_test(pods_of_replica_sets_count_for_the_deployment),
		cmocka_unit_test(owners_in_a_circle_end),
		cmocka_unit_test(nodes_that_are_alike_are_one_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
