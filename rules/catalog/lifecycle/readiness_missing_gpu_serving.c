/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports model servers without a readinessProbe. Their pods count as ready as
 * soon as the containers run: requests reach a server before its weights are
 * loaded, and a rollout stops the old pods before the new ones can answer.
 * Skips kinds of operators that add probes (KServe, KubeRay, Seldon, Knative),
 * workers of a group, which get no requests, and servers that a Job starts for
 * itself (batch inference, benchmarks). A container with a startupProbe is not
 * ready until it has succeeded. Programs that load models only on request, such
 * as Ollama, are skipped. If nothing shows that the container loads a model,
 * the finding is an info. Source: kubernetes docs, pod lifecycle, "Types of
 * probe"; kubernetes pkg/kubelet/prober/prober_manager.go UpdatePodStatus.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/purpose/purpose.h"

static bool any_readiness(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (!node_is_unset(node_get(c->node, "readinessProbe")) ||
		    !node_is_unset(node_get(c->node, "startupProbe")))
			return true;
	return node_count(pod_field(pod, "readinessGates")) > 0;
}

/* True for a command that waits or serves a user interactively, and for an
 * image without GPU support. */
static bool loads_no_model(const struct container *c)
{
	struct container_command command = container_command(c);

	return command.type == COMMAND_WAITS ||
	       command.type == COMMAND_INTERACTIVE || image_is_cpu(c->image);
}

/* True for a worker of a group with a leader, a rank configured as one, or an
 * engine of Dynamo, which gets requests from the frontend after it has
 * registered its model (dynamo components/src/dynamo, register_model). */
static bool is_worker(const struct argv *argv, const struct container *c)
{
	static const char *const engines[] = {"dynamo.vllm", "dynamo.sglang",
					      "dynamo.trtllm", NULL};

	return argv_have_any(argv, engines) || pod_is_group_worker(c->pod) ||
	       argv_have(argv, "--headless") ||
	       (argv_have(argv, "ray") && argv_have(argv, "start") &&
		!argv_have(argv, "serve") && !argv_have(argv, "--head"));
}

/* True for a pod that serves, also one for each node. */
static bool serves(const struct pod *pod)
{
	if (pod->object->class != KIND_DAEMON)
		return pod_is_serving(pod);
	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN &&
		    container_purpose(c) == PURPOSE_SERVING)
			return true;
	return false;
}

static void report(struct rule_run *run, const struct container *c,
		   enum tri loads)
{
	struct finding *f = report_container(
		run, c, NULL,
		loads == TRI_YES
			? "container `%s` has no readinessProbe, so it is considered ready before the model is loaded"
			: "container `%s` has no readinessProbe: if it loads a model first, it receives requests too early",
		container_title(c));

	if (loads != TRI_YES)
		finding_severity(f, SEVERITY_INFO);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod->injects & INJECT_PROBES || object_ends(pod->object) ||
	    pod->object->class == KIND_TEMPLATE || !serves(pod) ||
	    any_readiness(pod))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		struct argv argv;
		enum tri loads;

		if (c->role != CONTAINER_MAIN ||
		    container_uses_gpu(c) != TRI_YES || loads_no_model(c))
			continue;
		argv = container_argv(c);
		loads = container_loads_model(&argv, c);
		if (is_worker(&argv, c) || loads == TRI_NO)
			continue;
		report(run, c, loads);
		return;
	}
}

const struct rule rule_readiness_missing_gpu_serving = {
	.name = "readiness-missing-gpu-serving",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE,
	.scope = GPU_PODS | PODSPEC,
	.summary = "a model server on GPUs has no readinessProbe",
	.why = "Requests reach the server while it loads, and a rollout replaces the old pods too early. The finding is an info if nothing shows that the container loads a model.",
	.remedy = "Add a readinessProbe for the server's health endpoint.",
	.evidence =
		"https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/: without a readiness probe the state is Success",
	.check_pod = check,
};
