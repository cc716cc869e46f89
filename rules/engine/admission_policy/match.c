/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches requests to policies and bindings (apiserver
 * pkg/admission/plugin/policy/matching, webhook/predicates).
 */
#include <string.h>

#include "admission_policy_internal.h"
#include "base/text.h"
#include "doc/build.h"
#include "kube/scheduling/selector.h"

static bool list_has(const struct node *list, const char *text)
{
	FOR_EACH_CHILD(list, item)
		if (node_eq(item, "*") || node_eq(item, text))
			return true;
	return false;
}

/* True if an item of the list matches the request. An item is "resource" or
 * "resource/subresource", and either part may be `*`. */
static bool has_resource(const struct admission_case *a,
			 const struct node *list)
{
	size_t n = strlen(a->plural);

	FOR_EACH_CHILD(list, item) {
		const char *text = node_str(item);
		size_t len = text ? strcspn(text, "/") : 0;
		const char *sub = text && text[len] ? text + len + 1 : "";

		if (!text || (strcmp(sub, "*") && strcmp(sub, a->subresource)))
			continue;
		if ((len == 1 && *text == '*') ||
		    (len == n && !memcmp(text, a->plural, n)))
			return true;
	}
	return false;
}

static bool scope_matches(const struct admission_case *a,
			  const struct node *rule)
{
	const char *scope = node_str(node_get(rule, "scope"));

	if (!scope || text_eq(scope, "*"))
		return true;
	return text_eq(scope, a->cluster_scoped ? "Cluster" : "Namespaced");
}

static bool names_match(const struct admission_case *a, const struct node *rule)
{
	const struct node *names = node_get(rule, "resourceNames");

	if (!node_count(names))
		return true;
	FOR_EACH_CHILD(names, name)
		if (node_eq(name, text_or_empty(a->object->name)))
			return true;
	return false;
}

/* Compares everything except the version. */
static bool rule_matches(const struct admission_case *a,
			 const struct node *rule)
{
	return scope_matches(a, rule) &&
	       list_has(node_get(rule, "operations"), a->operation) &&
	       list_has(node_get(rule, "apiGroups"), a->object->group) &&
	       has_resource(a, node_get(rule, "resources")) &&
	       names_match(a, rule);
}

/* True if the cluster serves one of these versions, so that the API server can
 * convert the object to it. True also for kinds that are neither native nor
 * defined in the set. */
static bool is_served(const struct admission_case *a,
		      const struct node *versions)
{
	const struct object *o = a->object;
	const struct crd *definition =
		definition_find(a->set, o->group, o->kind);

	FOR_EACH_CHILD(versions, version) {
		const char *text = text_or_empty(node_str(version));

		if (definition ? definition_version(definition, text) != NULL
		    : typed_group_is_native(o->group)
			    ? typed_serves(o->group, text, a->plural)
			    : true)
			return true;
	}
	return false;
}

static enum tri rules_match(const struct admission_case *a,
			    const struct node *rules, bool equivalent)
{
	enum tri answer = TRI_NO;

	FOR_EACH_CHILD(rules, rule) {
		const struct node *versions = node_get(rule, "apiVersions");

		if (!rule_matches(a, rule))
			continue;
		if (list_has(versions, a->object->version))
			return TRI_YES;
		if (equivalent && is_served(a, versions))
			answer = TRI_UNKNOWN;
	}
	return answer;
}

/* Returns the labels as the server stores them, with the name of a Namespace
 * and the labels that a Job copies from its template. */
static const struct node *labels_of(struct admission_case *a)
{
	return admission_make_typed(a) ? node_path(a->typed, "metadata.labels")
				       : a->object->labels;
}

static enum tri namespace_matches(struct admission_case *a,
				  const struct node *selector)
{
	bool is_namespace = object_is(a->object, "", "Namespace");

	if (!node_count(selector) || (a->cluster_scoped && !is_namespace))
		return TRI_YES;
	if (is_namespace)
		return label_selector_matches(selector, labels_of(a),
					      LABELS_NO_MORE);
	return label_selector_matches(selector, a->labels,
				      a->labels_known ? LABELS_NO_MORE
						      : LABELS_ANY_MORE);
}

static enum tri object_matches(struct admission_case *a,
			       const struct node *selector)
{
	const struct admission_request *request = a->request;
	const struct node *old =
		node_path(request->old_object, "metadata.labels");
	enum tri match;

	if (!node_count(selector))
		return TRI_YES;
	match = label_selector_matches(selector, labels_of(a),
				       a->object->fragment ? LABELS_ANY_MORE
							   : LABELS_NO_MORE);
	if (match != TRI_NO || !request->review)
		return match;
	if (request->old_unknown)
		return TRI_UNKNOWN;
	return request->old_object
		       ? label_selector_matches(selector, old, LABELS_NO_MORE)
		       : TRI_NO;
}

static enum tri both(enum tri a, enum tri b)
{
	if (a == TRI_NO || b == TRI_NO)
		return TRI_NO;
	return a == TRI_YES && b == TRI_YES ? TRI_YES : TRI_UNKNOWN;
}

enum tri resources_match(struct admission_case *a, const struct node *resources)
{
	const struct node *rules = node_get(resources, "resourceRules");
	bool equivalent = !node_eq(node_get(resources, "matchPolicy"), "Exact");
	enum tri match, excluded;

	if (!node_is_map(resources))
		return TRI_YES;
	match = both(
		namespace_matches(a, node_get(resources, "namespaceSelector")),
		object_matches(a, node_get(resources, "objectSelector")));
	if (match == TRI_NO)
		return TRI_NO;
	excluded = rules_match(a, node_get(resources, "excludeResourceRules"),
			       equivalent);
	if (excluded != TRI_NO)
		match = excluded == TRI_YES ? TRI_NO : TRI_UNKNOWN;
	if (!node_count(rules))
		return match;
	return both(match, rules_match(a, rules, equivalent));
}

/* --- policies that may change the object first ---------------------------- */

static bool is_bound(struct admission_case *a, const char *policy)
{
	/* In files, a policy without a binding counts as bound. */
	bool bound = !a->set->saved;

	for (size_t i = 0; i < a->set->ninputs; i++) {
		const struct input_object *input = &a->set->inputs[i];
		const struct node *spec = node_get(input->object->root, "spec");

		if (!input_is(input, admission_group,
			      "MutatingAdmissionPolicyBinding") ||
		    !node_eq(node_get(spec, "policyName"), policy))
			continue;
		bound = false;
		if (resources_match(a, node_get(spec, "matchResources")) !=
		    TRI_NO)
			return true;
	}
	return bound;
}

bool mutation_applies(struct admission_case *a,
		      const struct input_object *input)
{
	const struct object *policy = input->object;

	return input_is(input, admission_group, "MutatingAdmissionPolicy") &&
	       policy->name &&
	       resources_match(
		       a, node_path(policy->root, "spec.matchConstraints")) !=
		       TRI_NO &&
	       is_bound(a, policy->name);
}

const char *mutation_of(struct admission_case *a)
{
	for (size_t i = 0; i < a->set->ninputs; i++)
		if (mutation_applies(a, &a->set->inputs[i]))
			return a->set->inputs[i].object->name;
	return NULL;
}
