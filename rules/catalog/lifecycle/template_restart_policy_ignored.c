/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports a restartPolicy in a pod template that has no effect: Kubeflow's
 * operators replace it by the replica's policy, and report it only in an event.
 * An unset replica policy has a default by kind: OnFailure for PyTorchJob,
 * PaddleJob and the launcher of MPIJob v2beta1 and v1alpha2, Never for the
 * others. ExitCode becomes Never in the pod. Source: training-operator
 * pkg/core/pod.go SetRestartPolicy; mpi-operator setRestartPolicy.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/operators.h"

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

/*
 * True if moving the policy to the replica does not make pods restart endlessly
 * that did not before.
 */
static bool may_move(const struct object *object, const struct pod *pod,
		     const char *own)
{
	struct run_policy policy;

	if (text_eq(own, "Never"))
		return true;
	if (object_launches_by_job(object) && !text_eq(own, "OnFailure"))
		return false;
	return pod->restart != RESTART_NEVER ||
	       (object_run_policy(object, &policy) &&
		(run_policy_get(object, &policy, RUN_RETRIES) ||
		 run_policy_get(object, &policy, RUN_DEADLINE)));
}

static void repair(struct rule_run *run, struct finding *f,
		   const struct pod *pod, const struct node *own)
{
	struct fix *fix;

	if (pod->restart_node) {
		fix = finding_fix(
			run, f, false,
			"remove `restartPolicy` from the pod template");
	} else if (may_move(pod->object, pod, node_str(own))) {
		fix = finding_fix(run, f, true,
				  "move `restartPolicy` to the replica");
		/* The operator ignores the value at its current place. */
		fix_replaces(fix);
		fix_set(fix, pod->group, "restartPolicy",
			edit_copy(rule_arena(run), own));
	} else {
		return;
	}
	fix_remove(fix, own);
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
		f = report_pod(
			run, pod, own,
			"the operator overwrites restartPolicy `%s` with `%s`",
			node_str(own), effective);
		finding_help(
			run, f,
			pod->restart_node
				? "Remove it here: the restartPolicy of the `%s` replica, next to `template`, takes effect."
				: "Set restartPolicy in the `%s` replica, next to `template`.",
			pod->role);
		finding_label(run, f, pod->restart_node,
			      "this value takes effect");
		repair(run, f, pod, own);
	}
}

const struct rule rule_template_restart_policy_ignored = {
	.name = "template-restart-policy-ignored",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.flags = RULE_OPT_IN_PATCH,
	.summary =
		"a restartPolicy in the pod template of a Kubeflow job, where only the replica's policy takes effect",
	.why = "The operator overwrites the value: the pods may restart endlessly instead of stopping, or stop instead of restarting.",
	.remedy = "Move restartPolicy from the pod template to the replica.",
	.evidence =
		"https://github.com/kubeflow/trainer/tree/release-1.9/pkg/core/pod.go SetRestartPolicy; https://github.com/kubeflow/mpi-operator/blob/master/pkg/controller/mpi_job_controller.go setRestartPolicy",
	.check_object = check,
};
