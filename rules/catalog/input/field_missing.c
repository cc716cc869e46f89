/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports required fields of Kubernetes' own types that are not set: a
 * volumeMount without mountPath, a Deployment without selector. In the pods of
 * operators' kinds, fields of the PodSpec and of containers may be missing,
 * because operators name containers and add some. In common operators' kinds,
 * fields outside of pods are reported that the schemas of all releases require
 * (rules/kube/data/custom_types.tsv), unless the input or the snapshot has the
 * definition. The rule is skipped at admission, because the API server rejects
 * the object before it calls a validating webhook.
 */
#include "engine/rule.h"
#include "kube/typed.h"

/* Returns the place of the field: "volumes[0]", "persistentVolumeClaim",
 * "StorageClass". */
static const char *field_place(struct rule_run *run,
			       const struct value_issue *issue)
{
	const struct node *at = issue->at;

	if (at == issue->object->root)
		return issue->object->kind;
	if (at->key)
		return at->key;
	return arena_printf(rule_arena(run), "%s[%u]", at->parent->key,
			    at->index);
}

static void found(struct value_walk *walk, const struct value_issue *issue)
{
	struct rule_run *run = walk->context;
	const struct node *at = issue->at;
	const char *what = arena_printf(rule_arena(run),
					"`%s` has no `%s`, which is required",
					field_place(run, issue), issue->field);
	bool newer = walk->custom && !issue->pod && !issue->c &&
		     rule_operator_is_newer(run, issue->object);
	struct finding *f;

	if (walk->custom && rule_input_defines_kind(run, issue->object))
		return;
	if (issue->c)
		f = report_container(run, issue->c, at, "%s", what);
	else if (issue->pod)
		f = report_pod(run, issue->pod, at, "%s", what);
	else
		f = report_object(run, issue->object, at, "%s%s", what,
				  newer ? OF_KNOWN_VERSIONS : "");
	if (at->key && at != issue->object->root)
		finding_at_key(run, f, at);
	if (newer)
		finding_severity(f, SEVERITY_WARNING);
}

static void check(struct rule_run *run, const struct object *object)
{
	struct value_walk walk = {
		.found = found, .context = run, .check = VALUE_MISSING};

	if (rule_at_admission(run) || !rule_may_find(run, TYPED_VALUES))
		return;
	walk.defined = rule_has_definition(run, object);
	value_issues(&walk, object);
}

const struct rule rule_field_missing = {
	.name = "field-missing",
	.category = "input",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.summary = "a required field that is not set",
	.why = "The API server rejects the object, or the pods that an operator creates from it.",
	.remedy = "Set the field.",
	.evidence =
		"required fields of k8s.io/api v0.37.2 without which kube-apiserver 1.37.2 rejects an object, and those that the definitions of all releases of an operator require (rules/kube/data/custom_types.tsv); observed on kube-apiserver 1.37.2",
	.check_object = check,
};
