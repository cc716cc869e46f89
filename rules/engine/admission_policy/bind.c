/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads bindings of policies. A policy without a binding is evaluated as if it
 * were bound with Deny, so that a new policy can be tried out.
 */
#include "admission_policy_internal.h"
#include "base/text.h"

static struct admission_policy *policy_named(struct admission_policies *set,
					     const char *name)
{
	struct admission_policy *p = set->policies;

	while (p && !text_eq(p->name, name))
		p = p->next;
	return p;
}

/* Returns the severity for the most severe action of a binding: Deny, Warn or
 * Audit. */
static enum severity severity_of(const struct node *spec)
{
	enum severity severity = SEVERITY_INFO;

	FOR_EACH_CHILD(node_get(spec, "validationActions"), action) {
		if (node_eq(action, "Deny"))
			return SEVERITY_ERROR;
		if (node_eq(action, "Warn"))
			severity = SEVERITY_WARNING;
	}
	return severity;
}

/* Adds a binding. The most severe ones come first, because only the first of
 * equal findings is kept. */
static struct admission_binding *insert(struct admission_policies *set,
					struct admission_policy *policy,
					enum severity severity)
{
	struct admission_binding **at = &policy->bindings, *binding;

	while (*at && (*at)->severity >= severity)
		at = &(*at)->next;
	binding = ARENA_NEW(&set->arena, struct admission_binding);
	binding->severity = severity;
	binding->next = *at;
	*at = binding;
	return binding;
}

static void bind(struct admission_policies *set,
		 const struct input_object *input)
{
	const struct node *spec = node_get(input->object->root, "spec");
	const char *name = admission_string(spec, "policyName");
	struct admission_policy *policy = policy_named(set, name);
	struct admission_binding *binding;

	if (!set->saved)
		binding_require(set, input, spec);
	if (!policy) {
		admission_note(set, input,
			       "binding `%s`: its policy `%s` is not given",
			       text_or_empty(input->object->name),
			       text_or_empty(name));
		return;
	}
	binding = insert(set, policy, severity_of(spec));
	binding->name = text_or_empty(input->object->name);
	binding->spec = spec;
}

static bool is_parameter(const struct input_object *input,
			 const struct parameter_kind *kind)
{
	return input_is(input, kind->group, kind->kind);
}

static void bind_alone(struct admission_policies *set,
		       struct admission_policy *policy)
{
	struct admission_binding *binding = insert(set, policy, SEVERITY_ERROR);
	size_t n = 0;

	for (size_t i = 0; policy->parameter.kind && i < set->ninputs; i++) {
		if (!is_parameter(&set->inputs[i], &policy->parameter))
			continue;
		binding->parameter = &set->inputs[i];
		n++;
	}
	if (n > 1)
		binding->parameter = NULL;
	admission_note(
		set, policy->input,
		"policy `%s` has no binding: checked as if bound with Deny%s%s",
		policy->name,
		binding->parameter ? ", with the parameters of " : "",
		binding->parameter
			? text_or_empty(binding->parameter->object->name)
			: "");
}

static void settle_scope(struct admission_policies *set,
			 struct parameter_kind *kind)
{
	const struct crd *definition =
		definition_find(set, kind->group, kind->kind);
	struct typed_resource resource;

	if (!kind->kind)
		return;
	resource = typed_resource(&set->arena, kind->group, kind->version,
				  kind->kind);
	if (definition)
		kind->namespaced = !definition->cluster_scoped;
	else if (resource.known)
		kind->namespaced = !resource.cluster_scoped;
	for (size_t i = 0; !definition && !resource.known && i < set->ninputs;
	     i++)
		if (is_parameter(&set->inputs[i], kind))
			kind->namespaced |=
				set->inputs[i].object->namespace != NULL;
}

void policies_bind(struct admission_policies *set)
{
	struct admission_policy *policy;
	bool all = !set->saved; /* includes policies that are not effective */

	for (size_t i = 0; i < set->ninputs; i++)
		if (input_is(&set->inputs[i], admission_group,
			     "ValidatingAdmissionPolicyBinding"))
			bind(set, &set->inputs[i]);
	for (policy = set->policies; policy; policy = policy->next) {
		settle_scope(set, &policy->parameter);
		if (!policy->bindings && all)
			bind_alone(set, policy);
	}
}
