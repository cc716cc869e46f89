/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU Pods without an owner whose command ends although restartPolicy
 * is Always, the default: the kubelet restarts the program again and again,
 * with a back-off of up to five minutes. The pod stays on its node, so its GPUs
 * stay allocated. The rule guesses from the arguments of the command, or from
 * the purpose of the pod, that it ends. The finding is an info for a test.
 * Source: pkg/apis/core/v1/defaults.go SetDefaults_PodSpec; KEP-4603 on the
 * back-off.
 */
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/purpose/purpose.h"

static struct container_command ending_command(const struct pod *pod,
					       const struct container **who)
{
	FOR_EACH_CONTAINER(pod, c) {
		struct container_command command;

		if (c->role != CONTAINER_MAIN ||
		    container_uses_gpu(c) != TRI_YES)
			continue;
		*who = c;
		command = container_command(c);
		if (command.type == COMMAND_ENDS)
			return command;
		if (command.type == COMMAND_UNKNOWN && c == pod_trainer(pod) &&
		    !container_goes_on(c))
			return (struct container_command){
				.type = COMMAND_ENDS,
				.at = container_command_node(c),
			};
	}
	return (struct container_command){0};
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct container *c = NULL;
	struct container_command command;
	struct finding *f;

	if (pod->object->class != KIND_POD || pod_is_owned(pod) ||
	    pod->restart != RESTART_ALWAYS ||
	    (pod->object->fragment && !pod->restart_node))
		return;
	command = ending_command(pod, &c);
	if (command.type != COMMAND_ENDS)
		return;
	f = report_pod(run, pod, pod->restart_node,
		       "restartPolicy is `Always`%s: %s is restarted whenever "
		       "it ends",
		       pod->restart_node ? "" : " by default",
		       command.what ? arena_printf(rule_arena(run), "`%s`",
						   command.what)
				    : "the training");
	if (pod_is_test(pod))
		finding_severity(f, SEVERITY_INFO);
	finding_help(run, f, "Set `restartPolicy: OnFailure` or `Never`.");
	finding_label(run, f, command.at, "this command ends by itself");
	if (!pod->flat)
		fix_set(finding_fix(run, f, false,
				    "set `restartPolicy: OnFailure`"),
			pod->spec, "restartPolicy",
			edit_string(rule_arena(run), "OnFailure"));
}

const struct rule rule_bare_gpu_pod_always = {
	.name = "bare-gpu-pod-always",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.flags = RULE_GUESS | RULE_OPT_IN_PATCH,
	.scope = GPU_PODS,
	.summary =
		"a GPU Pod with restartPolicy Always runs a command that ends",
	.why = "Finished work starts over endlessly, and the GPUs stay allocated between restarts.",
	.remedy =
		"Set restartPolicy: OnFailure or Never, or run the command in a Job.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/core/v1/defaults.go SetDefaults_PodSpec; https://kep.k8s.io/4603 (restart back-off)",
	.check_pod = check,
};
