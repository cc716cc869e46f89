/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of the input: facts outlive their object, keep the order of the
 * files when the indexes of several threads are joined, and duplicates are
 * found.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kube/quota/quota.h"
#include "object_fixture.h"
#include "rules/kube/set/index_internal.h"

#define META(namespace, name)                                                  \
	"metadata: {namespace: " namespace ", name: " name "}"
#define POD(namespace, name, n)                                                \
	"{apiVersion: v1, kind: Pod, " META(namespace,                         \
					    name) ", spec: " GPU_SPEC(n) "}\n"
#define QUOTA(namespace, name, n)                                              \
	"{apiVersion: v1, kind: ResourceQuota, " META(                         \
		namespace,                                                     \
		name) ", spec: {hard: {requests.nvidia.com/gpu: " #n "}}}\n"
#define CLASS(name, rest)                                                      \
	"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: "   \
	"{name: " name "}, " rest "}\n"

static void add(struct object_index *set, uint32_t file, const char *yaml)
{
	struct fixture fixture = {0};

	fixture_read(&fixture, yaml);
	for (size_t i = 0; i < fixture.list.n; i++) {
		const struct object *o = &fixture.list.items[i];

		object_index_add(set, o, file);
		for (size_t e = 0; e < o->nembedded; e++)
			object_index_add(set, &o->embedded[e], file);
	}
	fixture_release(&fixture);
}

/* Checks "name@file" of all workloads in order, with "=" and the index of the
 * first one + 1 for a duplicate. */
static void check_order(const struct object_index *set, const char *want)
{
	struct buf out;

	buf_init(&out);
	FOR_EACH_WORKLOAD(set, w) {
		buf_addf(&out, "%s%s@%u", out.len ? " " : "", w->id.name,
			 w->place.file);
		if (w->duplicate_of)
			buf_addf(&out, "=%zu", w->duplicate_of->at + 1);
	}
	assert_string_equal(out.data, want);
	buf_release(&out);
}

/* --- one workload --------------------------------------------------------- */

static const char two_roles[] =
	"apiVersion: kubeflow.org/v1\n"
	"kind: PyTorchJob\n"
	"metadata: {namespace: ml, name: llm}\n"
	"spec:\n"
	"  pytorchReplicaSpecs:\n"
	"    Master:\n"
	"      template:\n"
	"        spec:\n"
	"          priorityClassName: high\n"
	"          activeDeadlineSeconds: 60\n"
	"          containers:\n"
	"          - name: a\n"
	"            resources: {limits: {nvidia.com/gpu: 2, cpu: 1}}\n"
	"          - name: b\n"
	"            resources: {limits: {nvidia.com/gpu: 1, rdma/hca: 1}}\n"
	"    Worker:\n"
	"      replicas: 3\n"
	"      template: {spec: {containers: [{name: c, resources: {limits:\n"
	"        {cpu: 1, memory: 1Gi, amd.com/gpu: 8}}}]}}\n";

static void check_two_roles(const struct workload *w)
{
	const struct workload_pod *master = &w->pods[0], *worker = &w->pods[1];

	assert_string_equal(w->id.kind, "PyTorchJob");
	assert_string_equal(w->id.namespace, "ml");
	assert_string_equal(w->place.pointer, "/metadata/name");
	assert_int_equal(w->place.line, 3);
	assert_null(w->queue);
	assert_true(w->training);
	assert_false(w->serving);
	assert_int_equal(w->npods, 2);
	assert_int_equal(master->steady.n, 1);
	assert_int_equal(master->gpus.n, 3);
	assert_true(master->gpu);
	assert_true(master->terminating);
	assert_string_equal(master->priority_class, "high");
	assert_int_equal(master->ndemand, 2);
	assert_string_equal(master->demand[0].resource, "nvidia.com/gpu");
	assert_int_equal(quantity_value(master->demand[0].quantity), 3);
	assert_string_equal(master->demand[1].resource, "rdma/hca");
	assert_int_equal(quantity_value(master->demand[1].quantity), 1);
	assert_int_equal(worker->steady.n, 3);
	assert_null(worker->priority_class);
	assert_int_equal(quantity_value(worker->demand[0].quantity), 8);
}

static void facts_of_a_workload_outlive_it(void **state)
{
	struct object_index set = {0};

	add(&set, 7, two_roles);
	object_index_finish(&set);
	assert_int_equal(set.nworkloads, 1);
	assert_int_equal(set.workloads[0]->place.file, 7);
	check_two_roles(set.workloads[0]);
	object_index_release(&set);
}

static void only_facts_that_rules_read_are_kept(void **state)
{
	struct object_index set = {0};

	add(&set, 0, POD("a", "gpu", 1));
	add(&set, 1, "{apiVersion: v1, kind: ConfigMap, " META("a", "c") "}\n");
	add(&set, 2,
	    "{apiVersion: v1, kind: Pod, " META(
		    "a", "cpu") ", spec: {containers: [{name: c}]}}\n");
	add(&set, 3, QUOTA("a", "q", 1));
	add(&set, 4,
	    "{apiVersion: example.org/v1, kind: ResourceQuota, " META(
		    "a", "q") "}\n");
	add(&set, 5, CLASS("low", "value: 1"));
	add(&set, 6,
	    "{apiVersion: v1, kind: LimitRange, " META(
		    "a", "l") ", spec: {limits: [{type: Container, default: "
			      "{cpu: 1}, defaultRequest: {memory: 1}}]}}\n");
	object_index_finish(&set);
	check_order(&set, "gpu@0");
	assert_int_equal(set.nquotas, 1);
	assert_int_equal(set.nclasses, 1);
	assert_int_equal(set.nlimit_ranges, 1);
	assert_string_equal(set.limit_ranges[0].defaults[0], "cpu");
	assert_string_equal(set.limit_ranges[0].default_requests[0], "memory");
	object_index_release(&set);
}

static const struct quota *quotas_in(const struct object_index *set,
				     const char *namespace, size_t *n)
{
	const struct workload w = {.id.namespace = namespace};

	return index_quotas(set, &w, n);
}

static const struct priority_class *class_of(const struct object_index *set,
					     const char *name)
{
	const struct workload w = {.id.namespace = "x"};

	return index_class(set, &w, name);
}

static void an_empty_index_has_no_facts(void **state)
{
	struct object_index set = {0}, other = {0};
	size_t n = 1;

	object_index_join(&set, &other);
	object_index_finish(&set);
	check_order(&set, "");
	quotas_in(&set, "a", &n);
	assert_int_equal(n, 0);
	assert_null(class_of(&set, "high"));
	object_index_release(&set);
}

/* --- joined indexes ------------------------------------------------------- */

static void joined_sets_keep_the_order_of_files(void **state)
{
	struct object_index a = {0}, b = {0}, c = {0};

	add(&a, 1, POD("x", "a1", 1) "---\n" POD("x", "a2", 1));
	add(&a, 5, POD("x", "a5", 1));
	add(&b, 0, POD("x", "b0", 1));
	add(&b, 2, POD("x", "b2", 1) "---\n" QUOTA("x", "two", 2));
	add(&b, 6, POD("x", "b6", 1));
	add(&c, 3, POD("x", "c3", 1) "---\n" QUOTA("x", "three", 3));
	add(&c, 4, QUOTA("w", "four", 4));
	/* The result does not depend on the order in which threads end. */
	object_index_join(&a, &c);
	object_index_join(&a, &b);
	assert_int_equal(b.nworkloads + c.nworkloads, 0);
	object_index_release(&b);
	object_index_release(&c);
	object_index_finish(&a);
	check_order(&a, "b0@0 a1@1 a2@1 b2@2 c3@3 a5@5 b6@6");
	assert_int_equal(a.nquotas, 3);
	assert_string_equal(a.quotas[0].id.name, "four");
	assert_string_equal(a.quotas[1].id.name, "two");
	assert_string_equal(a.quotas[2].id.name, "three");
	object_index_release(&a);
}

static void many_objects_keep_their_order(void **state)
{
	struct object_index set = {0};
	uint32_t n = 0;
	char name[16];

	for (uint32_t i = 0; i < 1000; i++) {
		char yaml[256];

		snprintf(yaml, sizeof(yaml), POD("x", "p%u", 1), i);
		add(&set, i, yaml);
	}
	object_index_finish(&set);
	FOR_EACH_WORKLOAD(&set, w) {
		snprintf(name, sizeof(name), "p%u", n++);
		assert_string_equal(w->id.name, name);
	}
	assert_int_equal(n, 1000);
	object_index_release(&set);
}

/* --- duplicates ----------------------------------------------------------- */

static void an_object_twice_is_a_duplicate(void **state)
{
	struct object_index a = {0}, b = {0};

	add(&b, 4, POD("x", "p", 1));
	add(&b, 5, POD("u", "p", 1));
	add(&b, 6,
	    "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: " //
	    GPU_SPEC(1) "}\n");
	add(&b, 7,
	    "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: " //
	    GPU_SPEC(1) "}\n");
	add(&a, 0,
	    "{apiVersion: apps/v1beta1, kind: Deployment, " META(
		    "x", "p") ", spec: {template: " GPU_POD(1) "}}\n");
	add(&a, 1, POD("x", "p", 2));
	add(&a, 2, POD("x", "p", 3));
	add(&a, 3,
	    "{apiVersion: apps/v1, kind: Deployment, " META(
		    "x", "p") ", spec: {template: " GPU_POD(1) "}}\n");
	object_index_join(&b, &a);
	object_index_finish(&b);
	check_order(&b, "p@0 p@1 p@2=2 p@3=1 p@4=2 p@5 p@6 p@7");
	object_index_release(&b);
}

/* Workloads are duplicates if their identity is equal; policy objects only if
 * their content is too. */
static void policy_objects_with_equal_content_are_duplicates(void **state)
{
	struct object_index a = {0}, b = {0};
	const struct quota *quotas;
	size_t n;

	add(&a, 1, QUOTA("x", "q", 1));
	add(&a, 2, QUOTA("x", "q", 1));
	add(&b, 0, QUOTA("x", "q", 1));
	add(&b, 3, QUOTA("x", "q", 2));
	add(&b, 4, QUOTA("x", "other", 1));
	add(&b, 5, QUOTA("u", "q", 1));
	add(&b, 6, QUOTA("''", "one", 1));
	/* the same keys, and no namespace either: only one is kept */
	add(&b, 7, QUOTA("''", "two", 2));
	add(&b, 8, CLASS("c", "value: 1"));
	add(&b, 9, CLASS("c", "value: 1"));
	add(&b, 10, CLASS("c", "value: 2"));
	object_index_join(&a, &b);
	object_index_finish(&a);
	assert_int_equal(a.nquotas, 5);
	assert_int_equal(a.nclasses, 2);
	quotas = quotas_in(&a, "x", &n);
	assert_int_equal(n, 3);
	assert_int_equal(quotas[0].place.file, 0);
	assert_int_equal(quotas[1].place.file, 3);
	assert_int_equal(quotas[2].place.file, 4);
	quotas_in(&a, "u", &n);
	assert_int_equal(n, 1);
	quotas_in(&a, "", &n);
	assert_int_equal(n, 0);
	quotas_in(&a, "z", &n);
	assert_int_equal(n, 0);
	assert_int_equal(class_of(&a, "c")->place.file, 8);
	assert_null(class_of(&a, "d"));
	object_index_release(&a);
}

/* --- facts about all workloads -------------------------------------------- */

static void classes_are_used_by_their_workloads(void **state)
{
	const struct workload nowhere = {.id = {"", "", "", ""}};
	const struct priority_class *unused;
	struct object_index set = {0};

#define NAMES_CLASS(kind, name, class)                                         \
	"{apiVersion: " kind                                                   \
	", " META("x",                                                         \
		  name) ", spec: {template: {spec: {priorityClassName: " class \
		", containers: [{name: c, image: vllm/vllm-openai, "           \
		"resources: {limits: {nvidia.com/gpu: 1}}}]}}}}\n"
	add(&set, 0, NAMES_CLASS("apps/v1, kind: Deployment", "s0", "mid"));
	add(&set, 1, NAMES_CLASS("apps/v1, kind: Deployment", "s1", "low"));
	add(&set, 2, NAMES_CLASS("apps/v1, kind: Deployment", "s2", "low"));
	add(&set, 3, NAMES_CLASS("apps/v1, kind: Deployment", "s3", "none"));
	add(&set, 4, CLASS("unused", "value: 1, globalDefault: true"));
	add(&set, 5, CLASS("low", "value: 10, globalDefault: true"));
	add(&set, 6, CLASS("mid", "value: 20"));
	object_index_finish(&set);
	unused = index_default_class(&set, &nowhere);
	assert_string_equal(unused->id.name, "unused");
	assert_false(unused->used_by_gpu);
	assert_true(class_of(&set, "low")->used_by_gpu);
	assert_true(class_of(&set, "mid")->used_by_gpu);
	assert_string_equal(set.serving_class, "low");
	assert_int_equal(set.serving_value, 10);
	assert_string_equal(set.server.name, "s1");
	object_index_release(&set);
}

#define SCALER(namespace)                                                      \
	"{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, " META(   \
		namespace,                                                     \
		"s") ", spec: {scaleTargetRef: {kind: Pod, name: p}}}"

/* True if the scaler of file 0 scales the pod of that file. */
static bool scales(const char *scaler, const char *pod, uint32_t file)
{
	struct object_index set = {0};
	bool does;

	add(&set, 0, scaler);
	add(&set, file, pod);
	object_index_finish(&set);
	assert_int_equal(set.nscalers, 1);
	does = scaler_scales(&set, &set.scalers[0], set.workloads[0]);
	object_index_release(&set);
	return does;
}

static void a_scaler_scales_in_its_namespace(void **state)
{
	(void)state;
	assert_true(scales(SCALER("a"), POD("a", "p", 1), 0));
	assert_true(scales(SCALER("a"), POD("a", "p", 1), 1));
	assert_false(scales(SCALER("a"), POD("b", "p", 1), 0));
	assert_false(scales(SCALER("a"), POD("a", "q", 1), 0));
	/* Objects without a namespace may belong to different namespaces. */
	assert_true(scales(SCALER("''"), POD("''", "p", 1), 0));
	assert_false(scales(SCALER("''"), POD("''", "p", 1), 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_of_a_workload_outlive_it),
		cmocka_unit_test(only_facts_that_rules_read_are_kept),
		cmocka_unit_test(an_empty_index_has_no_facts),
		cmocka_unit_test(joined_sets_keep_the_order_of_files),
		cmocka_unit_test(many_objects_keep_their_order),
		cmocka_unit_test(an_object_twice_is_a_duplicate),
		cmocka_unit_test(
			policy_objects_with_equal_content_are_duplicates),
		cmocka_unit_test(classes_are_used_by_their_workloads),
		cmocka_unit_test(a_scaler_scales_in_its_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
