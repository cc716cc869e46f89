/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports kinds that no API server serves: misspelled ones, and kinds that
 * another group or version has. Without this rule, such an object would pass as
 * one without pods.
 */
#include <string.h>

#include "engine/rule.h"
#include "kube/typed.h"

/* True if the object may be a kustomize patch: it is a part of an object, has a
 * pod template without containers, or has a pattern as its name. If a patch has
 * a target, kustomize ignores its kind and name. */
static bool is_patch(const struct object *object)
{
	const struct node *spec = node_path(object->root, "spec.template.spec");
	const char *name = node_str(node_path(object->root, "metadata.name"));

	return object->fragment || (name && strchr(name, '*')) ||
	       (node_is_map(spec) &&
		node_is_unset(node_get(spec, "containers")));
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *at = node_get(object->root, "kind");
	struct kind_meant meant;
	struct finding *f;

	if (rule_at_admission(run) || is_patch(object))
		return;
	switch (kind_fault(object, &meant)) {
	case KIND_NO_FAULT:
		return;
	case KIND_MISSPELLED:
		report_object(run, object, at,
			      "`%s` is not a kind of `%s`; did you mean `%s`?",
			      object->kind, object->api_version, meant.kind);
		return;
	case KIND_ELSEWHERE:
		f = report_object(run, object,
				  node_get(object->root, "apiVersion"),
				  "`%s` is not a kind of `%s`", object->kind,
				  object->api_version);
		finding_help(run, f, "Use the kind `%s` of `%s%s%s`.",
			     meant.kind, meant.group,
			     *meant.group && meant.version ? "/" : "",
			     meant.version ? meant.version : "");
	}
}

const struct rule rule_kind_unknown = {
	.name = "kind-unknown",
	.category = "input",
	.severity = SEVERITY_ERROR,
	.summary = "a kind that does not exist in its API group and version",
	.why = "The API server does not know the kind: it rejects the object, and nothing runs.",
	.remedy = "Spell kind and apiVersion as the API does.",
	.evidence =
		"k8s.io/api v0.37.2; https://kubernetes.io/docs/reference/using-api/#api-groups; observed on kube-apiserver 1.37.2",
	.check_object = check,
};
