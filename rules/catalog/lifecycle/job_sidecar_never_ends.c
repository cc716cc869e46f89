/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports jobs and Pods whose training ends while another container of the pod
 * runs forever. A pod has succeeded when all of its containers have ended
 * (kubelet getPhase, pkg/kubelet/kubelet_pods.go, v1.36.1), and its devices are
 * free then. Native sidecars do not count. Two kinds of containers are reported
 * beside a container that trains or whose command ends: without GPUs, those
 * whose last command never ends by itself, and with GPUs, those that run a
 * model server. Argo and Tekton stop sidecars.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/env.h"
#include "kube/command/parallel.h"
#include "kube/purpose/purpose.h"

static const char *const programs[] = {"tensorboard",
				       "tensorboard.main",
				       "http.server",
				       "nginx",
				       "redis-server",
				       "prometheus",
				       "node_exporter",
				       "dcgm-exporter",
				       "fluent-bit",
				       "fluentd",
				       "filebeat",
				       "promtail",
				       "nvidia_gpu_exporter",
				       NULL};

/* Images whose entrypoint is one of these programs. */
static const char *const images[] = {
	"nginx",    "redis",	"dcgm-exporter", "fluent-bit", "fluentd",
	"filebeat", "promtail", "node-exporter", "prometheus", NULL};

/* Returns the item of the list that is the name of the container's image,
 * without registry, folder, tag and digest; or NULL. */
static const char *image_program(const struct container *c)
{
	const char *slash = c->image ? strrchr(c->image, '/') : NULL;
	const char *name = slash ? slash + 1 : c->image;

	for (const char *const *image = images; name && *image; image++)
		if (!strncmp(name, *image, strlen(*image)) &&
		    strchr(":@", name[strlen(*image)]))
			return *image;
	return NULL;
}

static bool is_wrapper(const struct arg *arg)
{
	static const char *const names[] = {"exec",    "env", "nohup", "tini",
					    "python",  "--",  "-m",    "-u",
					    "python3", NULL};

	return !arg->text || strchr(arg->text, '=') ||
	       text_any(arg->base, names, text_eq);
}

/* Returns the program of the last command if it is one of `programs`, or NULL.
 * Earlier commands do not keep the container running. */
static const char *last_program(const struct argv *argv)
{
	size_t i = argv->n;

	while (i && !argv->items[i - 1].first)
		i--;
	for (i = i ? i - 1 : 0; i < argv->n && is_wrapper(&argv->items[i]);)
		i++;
	return i < argv->n && text_any(argv->items[i].base, programs, text_eq)
		       ? argv->items[i].base
		       : NULL;
}

/* True if a script starts a program in the background: an `&` that is neither
 * `&&` nor part of a redirection. */
static bool has_background(const struct node *words)
{
	FOR_EACH_CHILD(words, word) {
		const char *text = node_str(word);

		for (const char *at = text; at && (at = strchr(at, '&')); at++)
			if (at[1] == '&')
				at++;
			else if (at[1] != '>' && (at == text || at[-1] != '>'))
				return true;
	}
	return false;
}

/* True if a command may end the program. */
static bool may_end(const struct container *c)
{
	return container_says(c, "timeout") || container_says(c, "kill") ||
	       container_says(c, "break") || container_says(c, "exit") ||
	       has_background(node_get(c->node, "command")) ||
	       has_background(node_get(c->node, "args"));
}

/* Returns the program that keeps the container running, or NULL. */
static const char *endless_program(const struct container *c)
{
	const struct container_command command = container_command(c);
	const struct argv argv = container_argv(c);
	const char *program;

	if (!container_command_node(c))
		program = image_program(c);
	else if ((command.type == COMMAND_WAITS && !command.seconds) ||
		 command.type == COMMAND_INTERACTIVE)
		program = command.what;
	else
		program = last_program(&argv);
	return program && !may_end(c) ? program : NULL;
}

/* Returns a main container that ends after its training, or NULL. */
static const struct container *trainer(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN && !endless_program(c) &&
		    (container_purpose(c) == PURPOSE_TRAINING ||
		     container_command(c).type == COMMAND_ENDS))
			return c;
	return NULL;
}

/* False for most containers that run no model server. */
static bool may_serve(const struct container *c)
{
	static const char *const names[] = {
		"vllm", "vllm.entrypoints.openai.api_server",
		"sglang.launch_server", "text-generation-launcher", NULL};
	const struct argv argv = container_argv(c);

	return argv_have_any(&argv, names) || text_contains(c->image, "vllm") ||
	       text_contains(c->image, "text-generation-inference");
}

/* Returns the name of the model server that the container runs, or NULL. */
static const char *model_server(const struct container *c)
{
	struct parallel_list list = container_parallel(c);

	return list.n == 1 && list.items[0].type == PARALLEL_SERVER &&
			       !may_end(c)
		       ? list.items[0].program
		       : NULL;
}

/* True if the job waits until the pod has succeeded. */
static bool waits_for(const struct pod *pod)
{
	static const char *const groups[] = {"", "batch", "jobset.x-k8s.io",
					     "kubeflow.org", NULL};
	static const char *const first[] = {"Master", "Chief", "Launcher",
					    NULL};
	const struct object *object = pod->object;
	const struct node *spec = node_get(object->root, "spec");
	bool ranked = false;

	if (!text_any(text_or_empty(object->group), groups, text_eq) ||
	    (object->class != KIND_POD && object->class != KIND_BATCH &&
	     object->class != KIND_TRAINING))
		return false;
	for (const char *const *role = first; *role; role++)
		ranked |= object_has_role(object, *role);
	return node_is_unset(node_get(spec, "successPolicy")) &&
	       (!ranked || text_any(pod->role, first, text_eq));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct container *by = NULL;

	if (pod->ncontainers < 2 || pod->restart == RESTART_ALWAYS ||
	    pod->flat || !waits_for(pod) ||
	    !node_is_unset(pod_field(pod, "shareProcessNamespace")))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		const char *program = NULL;

		if (c->role != CONTAINER_MAIN)
			continue;
		if (!c->gpus.n)
			program = endless_program(c);
		else if (may_serve(c))
			program = model_server(c);
		if (program && !by)
			by = trainer(pod);
		if (program && by)
			report_container(
				run, c, container_command_node(c),
				"`%s` in container `%s` never ends: after container `%s` has ended, the pod runs on and keeps its %s%s",
				program, container_title(c),
				container_title(by), pod_device(pod),
				pod->gpus.n == 1 ? "" : "s");
	}
}

const struct rule rule_job_sidecar_never_ends = {
	.name = "job-sidecar-never-ends",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.scope = GPU_PODS | PODSPEC,
	.summary =
		"a container that never ends, in the pod of a training container that ends",
	.why = "A pod has succeeded only when all of its main containers have ended. The job never completes, or fails at its deadline, and its GPUs stay allocated.",
	.remedy =
		"Move the container to initContainers with restartPolicy: Always (a native sidecar), or to a Deployment.",
	.evidence =
		"https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#jobs-with-sidecar-containers; https://github.com/kubernetes/kubernetes/blob/v1.36.1/pkg/kubelet/kubelet_pods.go getPhase",
	.check_pod = check,
};
