/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of one review of objects with up to 60,000 values, where each value is a
 * finding, is compared with a table, or refers to other values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cluster_fixture.h"
#include "costly_review.h"

/* Writes a Pod of containers, each with 500 names of resources. */
static void resources(struct buf *out, const char *before, const char *after)
{
	buf_adds(out, "{apiVersion: v1, kind: Pod, metadata: {name: a}, "
		      "spec: {containers: [");
	for (unsigned i = 0; i < 110; i++) {
		buf_addf(out, "{name: c%u, image: i:1, resources: {limits: {",
			 i);
		for (unsigned k = 0; k < 500; k++)
			buf_addf(out, "%s%u%s: 1,", before, i * 1000 + k,
				 after);
		buf_adds(out, "}}},");
	}
	buf_adds(out, "]}}");
}

static void profiles(struct buf *out)
{
	resources(out, "nvidia.com/mig-1g.", "gb");
}

static void no_profiles(struct buf *out)
{
	resources(out, "nvidia.com/mig-x", ".yz");
}

static void names(struct buf *out)
{
	resources(out, "nvidai.con/gpu", "");
}

/* Writes containers that do not mount the volume at /dev/shm, with other
 * mounts. */
static void mounts(struct buf *out)
{
	buf_adds(out, "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: "
		      "{volumes: [{name: shm, emptyDir: {medium: Memory}}], "
		      "containers: [");
	for (unsigned i = 0; i < 1200; i++) {
		buf_addf(out,
			 "{name: c%u, image: i:1, command: [torchrun], "
			 "resources: {limits: {nvidia.com/gpu: 2}}, "
			 "volumeMounts: [",
			 i);
		for (unsigned k = 0; k < 10; k++)
			buf_addf(out, "{name: shm%u, mountPath: /dev/shm%u},",
				 k, k);
		buf_adds(out, "]},");
	}
	buf_adds(out, "]}}");
}

/*
 * Writes containers with a long image, a /dev/shm on disk, and a long word that
 * begins like its path again and again.
 */
static void disks(struct buf *out)
{
	buf_adds(out, "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, "
		      "metadata: {name: a}, spec: {replicatedJobs: [{name: a, "
		      "replicas: 2, template: {spec: {template: {spec: "
		      "{volumes: [{name: shm, emptyDir: {}}], containers: [");
	for (unsigned i = 0; i < 1200; i++) {
		buf_addf(out, "{name: c%u, image: ", i);
		for (unsigned k = 0; k < 100; k++)
			buf_adds(out, "servin");
		buf_adds(out, ", command: [");
		for (unsigned k = 0; k < 200; k++)
			buf_adds(out, "/dev/sh");
		buf_adds(out, "], " GPU ", volumeMounts: [{name: shm, "
			      "mountPath: /dev/shm}]},");
	}
	buf_adds(out, "]}}}}}]}}");
}

/* Writes containers that share a /dev/shm larger than their memory. */
static void larger(struct buf *out)
{
	buf_adds(out, "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: "
		      "{volumes: [{name: shm, emptyDir: {medium: Memory, "
		      "sizeLimit: 16Gi}}], containers: [");
	for (unsigned i = 0; i < 1300; i++)
		buf_addf(out,
			 "{name: c%u, image: pytorch:2, command: [torchrun], "
			 "resources: {limits: {nvidia.com/gpu: 2, memory: "
			 "8Gi}}, volumeMounts: [{name: shm, mountPath: "
			 "/dev/shm}]},",
			 i);
	buf_adds(out, "]}}");
}

static void objects_cost_little(void **state)
{
	static const struct costly_object rows[] = {
		{"MIG profiles", "Pod", profiles},
		{"names like MIG profiles", "Pod", no_profiles},
		{"names like GPUs", "Pod", names},
		{"a volume that is not mounted", "Pod", mounts},
		{"a volume on disk", "JobSet", disks},
		{"a volume larger than memory", "Pod", larger},
	};

	judge_all(*state, rows, ARRAY_SIZE(rows));
}

/* --- with the state of a large cluster ------------------------------------ */

/* Writes a Pod whose affinity has 54,000 values. */
static void affinity(struct buf *out)
{
	buf_adds(out, "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: "
		      "{containers: [{name: c, image: i:1, " GPU
		      "}], affinity: {nodeAffinity: "
		      "{requiredDuringSchedulingIgnoredDuringExecution: "
		      "{nodeSelectorTerms: [");
	for (unsigned i = 0; i < 900; i++) {
		buf_adds(out, "{matchExpressions: [");
		for (unsigned k = 0; k < 3; k++) {
			buf_adds(out, "{key: pool, operator: In, values: [");
			for (unsigned v = 0; v < 20; v++)
				buf_addf(out, "x%u,", i * v);
			buf_adds(out, "]},");
		}
		buf_adds(out, "]},");
	}
	buf_adds(out, "]}}}}}");
}

/* Writes roles with different selectors. */
static void selectors(struct buf *out)
{
	buf_adds(out, "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, "
		      "metadata: {name: a}, spec: {minAvailable: 1, tasks: [");
	for (unsigned i = 0; i < 1000; i++)
		buf_addf(out,
			 "{name: t%u, replicas: 1, template: {spec: "
			 "{nodeSelector: {pool: p%u}, containers: [{name: a, "
			 "image: i:1, " GPU "}]}}},",
			 i, i);
	buf_adds(out, "]}}");
}

static void containers(struct buf *out)
{
	buf_adds(out, "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: "
		      "{containers: [");
	for (unsigned i = 0; i < 1400; i++)
		buf_addf(out, "{name: c%u, image: i:1, " GPU "},", i);
	buf_adds(out, "]}}");
}

static void devices(struct buf *out)
{
	resources(out, "example.com/device-", "");
}

/* Adds nodes of this many pools, 30 DeviceClasses that define a resource name,
 * and 60 LimitRanges. */
static void set_cluster(struct stage *s, unsigned pools)
{
	struct cluster_builder *builder = cluster_builder_new();
	struct buf text;

	buf_init(&text);
	for (unsigned i = 0; i < pools; i++) {
		buf_reset(&text);
		buf_addf(&text,
			 "{apiVersion: v1, kind: Node, metadata: {name: n%u, "
			 "labels: {pool: p%u}}, status: {allocatable: "
			 "{nvidia.com/gpu: '8'}}}",
			 i, i);
		assert_int_equal(add_object(builder, text.data), 1);
	}
	for (unsigned i = 0; i < 30; i++) {
		buf_reset(&text);
		buf_addf(&text,
			 "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, "
			 "metadata: {name: c%u}, spec: {extendedResourceName: "
			 "example.com/device-%u, selectors: [{cel: "
			 "{expression: device.driver == 'a.example.com'}}]}}",
			 i, i);
		assert_int_equal(add_object(builder, text.data), 1);
	}
	for (unsigned i = 0; i < 60; i++) {
		buf_reset(&text);
		buf_addf(&text,
			 "{apiVersion: v1, kind: LimitRange, metadata: {name: "
			 "l%u, namespace: ml}, spec: {limits: [{type: "
			 "Container, max: {cpu: '1', memory: 1Gi}, default: "
			 "{cpu: '1'}}, {type: Pod, max: {cpu: '8'}}]}}",
			 i);
		assert_int_equal(add_object(builder, text.data), 1);
	}
	admission_set_cluster(s->admission, cluster_builder_finish(builder, 0));
	cluster_builder_free(builder);
	buf_release(&text);
}

static void a_large_cluster_costs_little(void **state)
{
	static const struct {
		const char *what, *kind;
		void (*write)(struct buf *out);
		bool refused;
	} rows[] = {
		{"values of an affinity", "Pod", affinity, true},
		{"selectors of roles", "Job", selectors, true},
		{"MIG profiles", "Pod", profiles, true},
		{"names like those of classes", "Pod", devices, false},
	};
	struct stage *s = *state;

	admission_set_policy(s->admission, policy_default(&s->rules, "strict"));
	set_cluster(s, 2000);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		print_message("  %s\n", rows[i].what);
		judge(s, ADMISSION_VALIDATE, "CREATE", rows[i].kind,
		      rows[i].write);
		assert_int_equal(says(s, "invalid-syntax"), rows[i].refused);
		judge(s, ADMISSION_VALIDATE, "UPDATE", rows[i].kind,
		      rows[i].write);
	}
}

/* LimitRanges are read once, not for each container. */
static void limit_ranges_cost_little(void **state)
{
	struct stage *s = *state;

	admission_set_policy(s->admission, policy_default(&s->rules, "strict"));
	set_cluster(s, 0);
	judge(s, ADMISSION_VALIDATE, "CREATE", "Pod", containers);
	assert_false(says(s, "invalid-syntax"));
	judge(s, ADMISSION_MUTATE, "CREATE", "Pod", containers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(objects_cost_little,
						stage_setup, stage_teardown),
		cmocka_unit_test_setup_teardown(a_large_cluster_costs_little,
						stage_setup, stage_teardown),
		cmocka_unit_test_setup_teardown(limit_ranges_cost_little,
						stage_setup, stage_teardown),
	};

	return cmocka_run_group_tests_name("admission_amplified", tests, NULL,
					   NULL);
}
