/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields that Kubernetes' own types lack: in objects of its kinds as a whole,
 * in those of operators in their pod templates. What serves models may extend
 * its templates (Knative's have containerConcurrency). The object of a review
 * has lost such fields already, but for those that a schema preserves.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/typed.h"

static void found(struct unknown_walk *walk, const struct unknown_field *field)
{
	struct rule_run *run = walk->context;
	const char *what;
	struct finding *f;

	what = arena_printf(rule_arena(run), "%s has no field `%s`",
			    field->type, field->at->key);
	f = walk->pod ? report_pod(run, walk->pod, field->at, "%s", what)
		      : report_object(run, walk->object, field->at, "%s", what);

	finding_at_key(run, f, field->at);
	if (text_eq(field->at->key, "workloadRef"))
		finding_help(
			run, f,
			"only Kubernetes 1.35 has it; since 1.36 a pod names its PodGroup in `schedulingGroup`");
	else if (field->near)
		finding_help(run, f, "did you mean `%s`?", field->near);
	else if (field->owner)
		finding_help(run, f, "it is a field of %s", field->owner);
}

static bool uses_gpu(const struct object *object)
{
	FOR_EACH_POD(object, pod)
		if (pod_uses_gpu(pod) == TRI_YES)
			return true;
	return false;
}

static void check(struct rule_run *run, const struct object *object)
{
	struct unknown_walk walk = {
		.found = found, .context = run, .object = object};

	if (rule_at_admission(run) || object->fragment || object->guessed ||
	    !uses_gpu(object) || typed_unknown_fields(&walk, object) ||
	    object->class == KIND_SERVING)
		return;
	FOR_EACH_POD(object, pod) {
		walk.pod = pod;
		if (!pod->flat && !pod->made && !pod->inner)
			template_unknown_fields(&walk, pod->template);
	}
}

const struct rule rule_field_unknown = {
	.name = "field-unknown",
	.category = "input",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.wants = FACT_GPU,
	.since = "1.0",
	.summary = "a field that Kubernetes does not know",
	.why = "Kubernetes 1.37 has no such field there: the API server rejects the object, or silently drops the field, which then has no effect.",
	.remedy =
		"Move the field to where it belongs, or correct its spelling.",
	.evidence =
		"https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/; https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation",
	.check_object = check,
};
