/* SPDX-License-Identifier: Apache-2.0 */
/* Pods and GPUs of RoleBasedGroup's instances and warm-ups. */
#include "object_fixture.h"

#define WARMUP(spec)                                                           \
	"{apiVersion: workloads.x-k8s.io/v1alpha2, kind: "                     \
	"RoleBasedGroupWarmup, spec: " spec "}"
#define ACTION(gpus)                                                           \
	"customizedAction: {containers: [{image: a, resources: {limits: "      \
	"{nvidia.com/gpu: " #gpus "}}}]}"

static void roles_are_counted(void **state)
{
	static const struct object_row rows[] = {
		{"{apiVersion: workloads.x-k8s.io/v1alpha2, kind: RoleInstance, "
		 "spec: {components: [{name: a, size: 3, template: " GPU_POD(
			 1) "}]}}",
		 "a:3/3x1 | 3/3 gang 1 none"},
		{"{apiVersion: workloads.x-k8s.io/v1alpha2, kind: "
		 "RoleInstanceSet, spec: {replicas: 2, roleInstanceTemplate: "
		 "{components: [{name: a, size: 3, template: " GPU_POD(
			 1) "}]}}}",
		 "a:6/6x1 | 6/6 gang 1 none"},
		/* A role with engine runtimes gets its own copy of the
		   template. */
		{"{apiVersion: workloads.x-k8s.io/v1alpha2, kind: "
		 "RoleBasedGroup, spec: {roleTemplates: [{name: t, template: " GPU_POD(
			 1) "}], roles: [{name: a, engineRuntimes: [{profileName: p}], "
			    "standalonePattern: {templateRef: {name: t}}}, {name: b, "
			    "replicas: 3, standalonePattern: {templateRef: {name: t}}}, "
			    "{name: c, replicas: 2, engineRuntimes: [{profileName: p}], "
			    "leaderWorkerPattern: {size: 2, templateRef: {name: t}}}]}}",
		 "t:3/3x1 a:1/1x1 c:4/4x1 | 8/8 gang 2 needed"},
		/* One pod for each node; labels may select any number. */
		{WARMUP("{targetNodes: {nodeNames: [a, b, c], " ACTION(2) "}}"),
		 ":3/3x2 | 6/6 gang 1 none"},
		{WARMUP("{policies: {parallelism: 2}, targetNodes: "
			"{nodeNames: [a, b, c], " ACTION(2) "}}"),
		 ":2/2x2 | 4/4 gang 1 none"},
		{WARMUP("{targetNodes: {nodeSelector: {a: b}, " ACTION(2) "}}"),
		 ":1+/1+x2 | 2+/2+ gang 1 none"},
		{WARMUP("{targetRoleBasedGroup: {name: g, roles: {worker: "
			"{" ACTION(1) "}}}}"),
		 "worker:1+/1+x1 | 1+/1+ gang 1 none"},
		/* Images are pulled by pods without devices. */
		{WARMUP("{targetNodes: {nodeNames: [a], imagePreload: {images: "
			"[a]}}}"),
		 "| 0/0 gang 0 none"},
	};

	check_rows(rows, sizeof(rows) / sizeof(*rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roles_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
