/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports CEL expressions of device selectors that the API server rejects. The
 * types of attributes are unknown here, so the rule finds syntax errors,
 * unknown functions and results that are not boolean. For devices, the API
 * server also has the macro cel.bind; expressions with it are not checked. The
 * rule is skipped at admission, because the API server checks the expressions.
 * Source: k8s.io/dynamic-resource-allocation v0.37.2 cel/compile.go; observed
 * on kube-apiserver 1.37.2.
 */
#include <string.h>

#include "base/text.h"
#include "cel/cel.h"
#include "engine/rule.h"
#include "kube/claim.h"

static void check_expression(struct rule_run *run, const struct object *object,
			     const struct node *selector)
{
	static const struct cel_type dyn = {.kind = CEL_DYN};
	static const struct cel_variable variables[] = {{"device", &dyn}, {0}};
	const struct node *at = node_path(selector, "cel.expression");
	const char *text = node_str(at);
	struct cel_issues issues = {.arena = rule_arena(run)};
	const struct cel_program *program;
	enum cel_kind kind;

	if (!text || text_contains(text, "cel.bind"))
		return;
	program =
		cel_compile(issues.arena, cel_env_new(issues.arena, variables),
			    text, strlen(text), &issues);
	if (!program) {
		report_object(run, object, at,
			      "the expression is not valid: %s",
			      issues.items[0].text);
		return;
	}
	kind = cel_program_type(program)->kind;
	if (kind != CEL_BOOL && kind != CEL_DYN)
		report_object(run, object, at,
			      "the expression does not return true or false");
}

static void check_selectors(struct rule_run *run, const struct object *object,
			    const struct node *list)
{
	FOR_EACH_CHILD(list, selector)
		check_expression(run, object, selector);
}

static void check(struct rule_run *run, const struct object *object)
{
	if (rule_at_admission(run))
		return;
	if (object_is(object, "resource.k8s.io", "DeviceClass"))
		check_selectors(run, object,
				node_path(object->root, "spec.selectors"));
	FOR_EACH_CHILD(claim_requests(object), request) {
		check_selectors(run, object, node_get(request, "selectors"));
		check_selectors(run, object,
				node_path(request, "exactly.selectors"));
		FOR_EACH_CHILD(node_get(request, "firstAvailable"), one)
			check_selectors(run, object,
					node_get(one, "selectors"));
	}
}

const struct rule rule_dra_selector_invalid = {
	.name = "dra-selector-invalid",
	.category = "dra",
	.severity = SEVERITY_ERROR,
	.summary = "a device selector that is not a CEL condition",
	.why = "The API server rejects the claim or the class, and pods that need it stay Pending.",
	.remedy =
		"Correct the CEL expression; it must return true or false for a `device`.",
	.evidence =
		"https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/; observed on kube-apiserver 1.37.2",
	.check_object = check,
};
