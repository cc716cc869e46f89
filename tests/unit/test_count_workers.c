/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods and GPUs of kinds whose pods are workers that wait for work from
 * elsewhere: Dask, and GitHub's runners.
 */
#include "object_fixture.h"

static void workers_are_counted(void **state)
{
	static const struct object_row rows[] = {
		{"{apiVersion: kubernetes.dask.org/v1, kind: DaskJob, spec: "
		 "{job: " GPU_POD(0) ", cluster: {spec: {worker: {replicas: 3, spec: " GPU_SPEC(
			 2) "}, scheduler: {spec: " GPU_SPEC(1) "}}}}}",
		 "job:1/1x0 worker:3/3x2 scheduler:1/1x1 | 7/7 gang 1 none"},
		{"{apiVersion: kubernetes.dask.org/v1, kind: DaskWorkerGroup, "
		 "spec: {cluster: c, worker: {replicas: 4, spec: " GPU_SPEC(
			 1) "}}}",
		 "worker:4/4x1 | 4/4 gang 1 none"},
		{"{apiVersion: actions.github.com/v1alpha1, kind: "
		 "AutoscalingRunnerSet, spec: {minRunners: 1, maxRunners: 6, "
		 "template: " GPU_POD(2) "}}",
		 "runner:1/6x2 | 2/12 gang 1 none"},
		{"{apiVersion: actions.github.com/v1alpha1, kind: "
		 "AutoscalingRunnerSet, spec: {minRunners: 1, template: " GPU_POD(
			 2) "}}",
		 "runner:1/1+x2 | 2/2+ gang 1 none"},
		{"{apiVersion: actions.github.com/v1alpha1, kind: "
		 "EphemeralRunnerSet, spec: {replicas: 2, "
		 "ephemeralRunnerSpec: " GPU_POD(1) "}}",
		 "runner:2/2x1 | 2/2 gang 1 none"},
		{"{apiVersion: actions.summerwind.dev/v1alpha1, kind: "
		 "RunnerDeployment, spec: {replicas: 3, template: {spec: "
		 "{repository: a/b, resources: {limits: {nvidia.com/gpu: "
		 "2}}}}}}",
		 "runner:3/3x2 | 6/6 gang 1 none"},
	};

	check_rows(rows, sizeof(rows) / sizeof(*rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(workers_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
