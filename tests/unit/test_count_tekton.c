/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods and GPUs of Tekton's runs: the steps of a pod run one after another, but
 * the pod holds the requests of all.
 */
#include "base/array.h"
#include "object_fixture.h"

static void steps_are_added(void **state)
{
	static const struct object_row rows[] = {
		{"{apiVersion: tekton.dev/v1, kind: TaskRun, spec: {taskSpec: "
		 "{steps: [{image: a, computeResources: {limits: "
		 "{nvidia.com/gpu: 2}}}, {image: b, computeResources: {limits: "
		 "{nvidia.com/gpu: 4}}}]}}}",
		 ":1/1x6 | 6/6 gang 1 none"},
		{"{apiVersion: tekton.dev/v1, kind: TaskRun, spec: {taskSpec: "
		 "{stepTemplate: {computeResources: {limits: {nvidia.com/gpu: "
		 "1}}}, steps: [{image: a}, {image: b}], sidecars: [{image: "
		 "c}]}}}",
		 ":1/1x2 | 2/2 gang 1 none"},
		{"{apiVersion: tekton.dev/v1beta1, kind: TaskRun, spec: "
		 "{taskSpec: {steps: [{image: a, resources: {limits: "
		 "{nvidia.com/gpu: 2}}}]}}}",
		 ":1/1x2 | 2/2 gang 1 none"},
		/* A run's limits apply to each step, but its requests are
		 * divided among the steps: the devices are unknown. */
		{"{apiVersion: tekton.dev/v1, kind: TaskRun, spec: "
		 "{computeResources: {limits: {nvidia.com/gpu: 1}}, taskSpec: "
		 "{steps: [{image: a}, {image: b}]}}}",
		 ":1/1x0+ | 0+/0+ gang 1 none"},
		{"{apiVersion: tekton.dev/v1, kind: Task, spec: {steps: [{image: "
		 "a, computeResources: {limits: {nvidia.com/gpu: 2}}}]}}",
		 ":0/0x2 | 0/0 gang 0 none"},
		{"{apiVersion: tekton.dev/v1, kind: PipelineRun, spec: "
		 "{pipelineSpec: {tasks: [{name: a, taskSpec: {steps: [{image: a, "
		 "computeResources: {limits: {nvidia.com/gpu: 2}}}]}}, {name: b, "
		 "taskSpec: {steps: [{image: a, computeResources: {limits: "
		 "{nvidia.com/gpu: 4}}}]}}]}}}",
		 "a:0+/0+x2 b:1/1x4 | 4+/4+ gang 1 none"},
		{"{apiVersion: tekton.dev/v1, kind: PipelineRun, spec: "
		 "{pipelineSpec: {tasks: [{name: a, matrix: {params: [{name: n, "
		 "value: [x, z]}]}, taskSpec: {steps: [{image: a, "
		 "computeResources: {limits: {nvidia.com/gpu: 2}}}]}}]}}}",
		 "a:1+/1+x2 | 2+/2+ gang 1 none"},
		{"{apiVersion: tekton.dev/v1, kind: PipelineRun, spec: "
		 "{taskRunSpecs: [{pipelineTaskName: a}], pipelineSpec: {tasks: "
		 "[{name: a, taskSpec: {steps: [{image: a, computeResources: "
		 "{limits: {nvidia.com/gpu: 2}}}]}}]}}}",
		 "a:1/1x0+ | 0+/0+ gang 1 none"},
	};

	check_rows(rows, ARRAY_SIZE(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_are_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
