/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports training jobs without the container name that their kind requires,
 * and Katib Experiments whose trials lack their primary container.
 *
 * Source: training-operator 1.9 pkg/webhooks, and the controllers before it:
 * each replica type must have a container with the name that the kind defines,
 * such as `pytorch` (MPIJob defines none).
 */
#include "base/text.h"
#include "engine/rule.h"

/* Returns the first main container; NULL if one of them has the required name,
 * or may have it. */
static const struct container *without(const struct pod *pod, const char *name)
{
	const struct container *first = NULL;

	FOR_EACH_CONTAINER(pod, c) {
		if (c->role != CONTAINER_MAIN)
			continue;
		if (!c->name || text_eq(c->name, name))
			return NULL;
		first = first ? first : c;
	}
	return pod->cut ? NULL : first;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const char *name = object_main_container(pod->object);
	const struct container *first;

	if (!name || !text_eq(pod->object->version, "v1"))
		return;
	first = without(pod, name);
	if (first)
		finding_help(
			run,
			report_container(
				run, first, NULL,
				"the `%s` replica has no container `%s`: the training operator rejects the %s or, before 1.9, marks it as Failed",
				pod->role, name, pod->object->kind),
			"Rename the training container to `%s`.", name);
}

/* True if a container of the trial has the name, or may have it. The operators
 * of other kinds rename containers (Tekton: step-NAME). */
static bool may_have(const struct object *trial, const char *name)
{
	bool found = !trial->npods || trial->costly ||
		     (!object_kind_has(trial, KIND_NATIVE) &&
		      !text_eq(trial->group, "kubeflow.org"));

	FOR_EACH_POD(trial, pod)
		FOR_EACH_CONTAINER(pod, c)
			found |= pod->flat || pod->cut || !c->name ||
				 (c->role == CONTAINER_MAIN &&
				  text_eq(c->name, name));
	return found;
}

/*
 * Checks the trials of a Katib Experiment. The webhook for their pods rejects a
 * pod without the primary container (pkg/webhook/v1beta1/pod/utils.go,
 * mutatePodEnv, wrapWorkerContainer; 33c8ff4e). In namespaces without the
 * webhook, the collector of metrics is missing as well.
 */
static void check_trial(struct rule_run *run, const struct object *object)
{
	const struct node *at = node_path(
		object->root, "spec.trialTemplate.primaryContainerName");

	if (!object_is(object, "kubeflow.org", "Experiment") || !node_str(at) ||
	    object->fragment)
		return;
	for (size_t i = 0; i < object->nembedded; i++)
		if (!may_have(&object->embedded[i], node_str(at)))
			report_object(
				run, object, at,
				"no container of the trial is named `%s`: Katib rejects its pods, or gets no metrics from them",
				node_str(at));
}

const struct rule rule_kubeflow_container_name = {
	.name = "kubeflow-container-name",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE | RULE_INFRASTRUCTURE,
	.summary =
		"a training job without the container that its kind, or its Experiment, requires",
	.why = "The training operator's webhook rejects the object; releases before 1.9 mark the job as Failed. Katib rejects the pods of an Experiment's trials, or gets no metrics from them.",
	.remedy =
		"Give the training container the name that the kind requires, for example `pytorch` in a PyTorchJob; in an Experiment, set `primaryContainerName` to its name.",
	.evidence =
		"https://github.com/kubeflow/trainer/tree/release-1.9/pkg/webhooks; https://github.com/kubeflow/katib/blob/master/pkg/webhook/v1beta1/pod/utils.go",
	.check_pod = check,
	.check_object = check_trial,
};
