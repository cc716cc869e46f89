/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Without a readinessProbe a pod counts as ready once its containers run:
 * requests reach a server whose weights are not loaded, and a rollout takes
 * down the old pods before the new ones can answer. Operators that add
 * probes of their own (KServe, KubeRay, Seldon, Knative) are left alone, and
 * so are workers of a group, which get no requests, and servers that a Job
 * starts for itself (batch inference, benchmarks).
 * Source: kubernetes docs, pod lifecycle, "Types of probe".
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/argv.h"
#include "kube/command/command.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/purpose/class.h"
#include "kube/purpose/intent.h"

static bool any_readiness(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (!node_is_unset(node_get(c->node, "readinessProbe")))
			return true;
	return node_count(pod_field(pod, "readinessGates")) > 0;
}

/* A shell that waits, or a program that has no model to load. */
static bool is_other(struct rule_run *run, const struct container *c)
{
	struct container_command command =
		container_command(rule_arena(run), c);

	return command.type == COMMAND_WAITS ||
	       command.type == COMMAND_INTERACTIVE || image_is_cpu(c->image);
}

/* A worker of a group with a leader, or a rank that is configured as one. */
static bool is_worker(struct rule_run *run, const struct container *c)
{
	struct argv argv = container_argv(rule_arena(run), c);

	if (text_contains_ci(c->pod->role, "worker") &&
	    c->pod->object->npods > 1)
		return true;
	return argv_have(&argv, "--headless") ||
	       (argv_have(&argv, "ray") && argv_have(&argv, "start") &&
		!argv_have(&argv, "serve") && !argv_have(&argv, "--head"));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod->flat || pod->injects & INJECT_PROBES ||
	    object_ends(pod->object) || pod->object->class == KIND_TEMPLATE ||
	    !pod_is_serving(pod) || any_readiness(pod))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		if (c->role != CONTAINER_MAIN ||
		    container_uses_gpu(c) != TRI_YES || is_worker(run, c) ||
		    is_other(run, c))
			continue;
		report_container(run, c, NULL,
				 "container `%s` counts as ready before its "
				 "model is loaded: no readinessProbe",
				 container_title(c));
		return;
	}
}

const struct rule rule_readiness_missing_gpu_serving = {
	.name = "readiness-missing-gpu-serving",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE,
	.wants = FACT_GPU | FACT_PODSPEC,
	.since = "1.0",
	.summary = "a model server on GPUs has no readinessProbe",
	.why = "Requests reach it while it loads, and a rollout replaces the old pods too early.",
	.remedy = "Add a readinessProbe on the server's health endpoint.",
	.evidence =
		"https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/: without a readiness probe the state is Success",
	.check_pod = check,
};
