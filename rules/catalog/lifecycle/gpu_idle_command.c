/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU containers that only sleep for an hour or longer, or wait for
 * input, while no other pod can use their devices. Notebook kinds (see
 * notebook-gpu-culling) and namespaces for notebooks are skipped. Because it is
 * unknown whether the container is in use, the finding is a warning only if
 * many whole devices wait for a day or longer and no label marks the pod as a
 * test. Source: the words of the command; KubeRay appends `ray start` to the
 * command of a Ray container, so such a container does work.
 */
#include <stdio.h>
#include <string.h>

#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/purpose/class.h"

enum { A_DAY = 24 * 3600 };

static bool is_for_people(struct rule_run *run, const struct pod *pod)
{
	return pod->object->class == KIND_INTERACTIVE ||
	       pod_in_namespaces(rule_arena(run), pod,
				 rule_param(run, "namespaces"));
}

/* True if the command ends by itself and nothing restarts it. */
static bool is_bounded(const struct container_command *command,
		       const struct pod *pod)
{
	return command->seconds && (pod->restart == RESTART_NEVER ||
				    pod->restart == RESTART_ON_FAILURE);
}

/* True if all pods of the template together have many whole devices. A TPU pod
 * counts once, because it has all chips of its host. */
static bool holds_many(struct rule_run *run, const struct container *c)
{
	struct amount devices = amount_mul(c->pod->steady, c->gpus);

	if (c->accelerator && c->accelerator->class != ACCEL_WHOLE)
		return false;
	if (!strcmp(pod_device(c->pod), "TPU"))
		devices = c->pod->steady;
	return devices.n >= rule_param_int(run, "gpus");
}

static void check_container(struct rule_run *run, const struct container *c)
{
	struct container_command command = container_command(c);
	bool waits = command.type == COMMAND_WAITS;
	bool bounded = is_bounded(&command, c->pod);
	char time[40] = "";
	struct finding *f;

	if ((!waits && command.type != COMMAND_INTERACTIVE) ||
	    is_for_people(run, c->pod))
		return;
	if (bounded)
		snprintf(time, sizeof(time), " for %s s",
			 rule_number(run, command.seconds));
	f = report_container(run, c, command.at,
			     "container `%s` holds its %ss%s and %s (`%s`)",
			     container_title(c), pod_device(c->pod), time,
			     waits ? "only waits" : "waits for users",
			     command.what);
	if (!holds_many(run, c) || pod_is_test(c->pod) ||
	    (bounded && command.seconds < A_DAY))
		finding_severity(f, SEVERITY_INFO);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN &&
		    container_uses_gpu(c) == TRI_YES &&
		    (pod->object->class != KIND_RAY || c->index > 0))
			check_container(run, c);
}

static const struct rule_param params[] = {
	{"namespaces", "list", "jupyter*,notebook*,*-notebooks",
	 "namespaces for interactive work"},
	{"gpus", "int", "4",
	 "the finding is a warning if all pods of the template together have at least this number of whole devices"},
	{0},
};

const struct rule rule_gpu_idle_command = {
	.name = "gpu-idle-command",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.flags = RULE_GUESS,
	.scope = GPU_PODS | PODSPEC,
	.summary = "a GPU container that only sleeps or waits for users",
	.why = "Its GPUs are allocated but idle until the pod is deleted. The finding is only an info for shared devices, for fewer than four devices (parameter `gpus`), for waits of less than a day, and for pods that labels mark as a test, because such a pod may be in use.",
	.remedy =
		"Let the container start the work and end with it. For interactive work, use a notebook kind that stops idle sessions.",
	.evidence = "the command does nothing (sleep, tail -f, jupyter)",
	.params = params,
	.check_pod = check,
};
