/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubeflow's operators write the replica's restartPolicy over the one in its
 * pod template, and say so in an event only. An unset replica policy has a
 * default by kind: OnFailure for PyTorchJob, PaddleJob and the launcher of
 * MPIJob v2beta1, Never for the others. ExitCode becomes Never in the pod.
 * Source: training-operator pkg/core/pod.go SetRestartPolicy; mpi-operator
 * setRestartPolicy.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle.h"

static const char *pod_policy(enum restart_policy policy)
{
	switch (policy) {
	case RESTART_ALWAYS:
		return "Always";
	case RESTART_ON_FAILURE:
		return "OnFailure";
	case RESTART_NEVER:
	case RESTART_EXIT_CODE:
		return "Never";
	default:
		return NULL;
	}
}

static void check(struct rule_run *run, const struct object *object)
{
	if (!object_is_kubeflow(object) || !object_gpu_pod(object))
		return;
	FOR_EACH_POD(object, pod) {
		const struct node *own = node_get(pod->spec, "restartPolicy");
		const char *effective = pod_policy(pod->restart);
		struct finding *f;

		if (!(pod->injects & INJECT_RESTART) || pod->flat ||
		    !node_str(own) || !effective ||
		    text_eq(node_str(own), effective) ||
		    (object->fragment && !pod->restart_node))
			continue;
		f = report_pod(run, pod, own,
			       "the operator overwrites `%s` with `%s`",
			       node_str(own), effective);
		finding_help(run, f,
			     "set restartPolicy beside `template`, in the "
			     "`%s` replica",
			     pod->role);
		finding_label(run, f, pod->restart_node, "this one counts");
	}
}

const struct rule rule_template_restart_policy_ignored = {
	.name = "template-restart-policy-ignored",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.action = ACTION_WARN,
	.flags = RULE_OPT_IN_PATCH,
	.since = "1.0",
	.summary =
		"a restartPolicy in a Kubeflow pod template, where the replica's counts",
	.why = "The operator overwrites it: a job meant to stop on failure may restart for ever.",
	.remedy = "Move restartPolicy from the pod template to the replica.",
	.evidence =
		"training-operator pkg/core/pod.go SetRestartPolicy; mpi-operator setRestartPolicy",
	.check_object = check,
};
