/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validates objects from --admission-policy files, and reports problems and
 * notes about them with their source positions.
 */
#include <stdarg.h>

#include "admission_policy_internal.h"
#include "base/text.h"

const char admission_group[] = "admissionregistration.k8s.io";

/* Makes a remark of one line, even if quoted names contain line breaks. */
static struct admission_remark remark_at(struct admission_policies *set,
					 const struct input_object *input,
					 uint32_t offset, const char *text)
{
	struct position at = source_position(input->source, offset);
	char *line = arena_strdup(&set->arena, text);

	text_mask_controls(line);
	return (struct admission_remark){input->source->name, at.line,
					 at.column, line};
}

void admission_problem_at(struct admission_policies *set,
			  const struct input_object *input, uint32_t offset,
			  const char *text)
{
	struct admission_remark remark = remark_at(set, input, offset, text);
	const struct admission_listener *listener = set->listener;

	set->problems++;
	if (listener)
		listener->problem(listener->context, &remark);
}

static uint32_t anchor_of(const struct input_object *input,
			  const struct node *at)
{
	uint32_t start, end;

	node_anchor(at ? at : input->object->root, &start, &end);
	return start;
}

void admission_problem(struct admission_policies *set,
		       const struct input_object *input, const struct node *at,
		       const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	admission_problem_at(set, input, anchor_of(input, at),
			     arena_vprintf(&set->arena, fmt, ap));
	va_end(ap);
}

void admission_problem_in(struct admission_policies *set,
			  const struct input_object *input,
			  const struct node *scalar, size_t offset,
			  const char *text)
{
	admission_problem_at(set, input,
			     source_text_offset(input->source, scalar, offset),
			     text);
}

void admission_note(struct admission_policies *set,
		    const struct input_object *input, const char *fmt, ...)
{
	const struct admission_listener *listener = set->listener;
	struct admission_remark remark;
	va_list ap;

	if (!listener->note)
		return;
	va_start(ap, fmt);
	remark = remark_at(set, input, anchor_of(input, NULL),
			   arena_vprintf(&set->arena, fmt, ap));
	va_end(ap);
	listener->note(listener->context, &remark);
}

const char *admission_string(const struct node *map, const char *key)
{
	const char *text = node_str(node_get(map, key));

	return text && *text ? text : NULL;
}

bool input_is(const struct input_object *input, const char *group,
	      const char *kind)
{
	return object_is(input->object, group, kind);
}

const char *admission_unread(const struct admission_policies *set,
			     const char *group, const char *kind)
{
	FOR_EACH_CHILD(set->unread, item)
		if (node_eq(node_get(item, "group"), group) &&
		    node_eq(node_get(item, "kind"), kind))
			return text_or_empty(
				node_str(node_get(item, "reason")));
	return NULL;
}

/*
 * Validates policies and bindings like the API server, as far as results depend
 * on it (pkg/apis/admissionregistration/validation of Kubernetes). A rejected
 * object is not in any cluster and denies nothing. Without this check, a policy
 * without rules would match every object, and one with an unknown operation
 * none.
 */

struct validator {
	struct admission_policies *set;
	const struct input_object *input;
};

static void require_field(const struct validator *r, const struct node *map,
			  const char *key)
{
	const struct node *value = node_get(map, key);

	if (!node_count(value) && !node_is_unknown(value))
		admission_problem(
			r->set, r->input, value ? value : map,
			"`%s` is missing: the API server rejects the %s", key,
			r->input->object->kind);
}

/* Reports a value that is set, known, and not one of the words. words ends with
 * NULL. */
static void require_one_of(const struct validator *r, const struct node *value,
			   const char *const *words)
{
	const char *text = node_str(value), *all = *words;

	if (node_is_unset(value) || node_is_unknown(value))
		return;
	for (const char *const *word = words; *word; word++) {
		if (text_eq(text, *word))
			return;
		if (word > words)
			all = arena_printf(&r->set->arena, "%s%s%s", all,
					   word[1] ? ", " : " or ", *word);
	}
	admission_problem(r->set, r->input, value,
			  "the API server accepts only %s here", all);
}

static void require_rules(const struct validator *r,
			  const struct node *resources)
{
	static const char *const lists[] = {"resourceRules",
					    "excludeResourceRules"};
	static const char *const keys[] = {"apiGroups", "apiVersions",
					   "operations", "resources"};
	static const char *const operations[] = {"CREATE",  "UPDATE", "DELETE",
						 "CONNECT", "*",      NULL};
	static const char *const scopes[] = {"Cluster", "Namespaced", "*",
					     NULL};
	static const char *const policies[] = {"Exact", "Equivalent", NULL};

	require_one_of(r, node_get(resources, "matchPolicy"), policies);
	for (size_t i = 0; i < 2; i++)
		FOR_EACH_CHILD(node_get(resources, lists[i]), rule) {
			for (size_t k = 0; k < 4; k++)
				require_field(r, rule, keys[k]);
			FOR_EACH_CHILD(node_get(rule, "operations"), one)
				require_one_of(r, one, operations);
			require_one_of(r, node_get(rule, "scope"), scopes);
		}
}

void policy_require(struct admission_policies *set,
		    const struct input_object *input, const struct node *spec)
{
	static const char *const failures[] = {"Fail", "Ignore", NULL};
	const struct validator r = {set, input};
	const struct node *resources = node_get(spec, "matchConstraints");

	if (node_is_map(resources))
		require_field(&r, resources, "resourceRules");
	else
		require_field(&r, spec, "matchConstraints");
	require_rules(&r, resources);
	require_one_of(&r, node_get(spec, "failurePolicy"), failures);
	if (!node_count(node_get(spec, "auditAnnotations")))
		require_field(&r, spec, "validations");
}

static void need_parameters(const struct validator *r, const struct node *ref)
{
	static const char key[] = "parameterNotFoundAction";
	static const char *const actions[] = {"Allow", "Deny", NULL};

	if (!node_is_map(ref))
		return;
	if (!admission_string(ref, "name") &&
	    !node_is_map(node_get(ref, "selector")))
		admission_problem(r->set, r->input, ref,
				  "a paramRef needs a `name` or a `selector`");
	if (node_is_unset(node_get(ref, key)))
		admission_problem(
			r->set, r->input, ref,
			"`%s` is missing: the API server rejects the %s", key,
			r->input->object->kind);
	require_one_of(r, node_get(ref, key), actions);
}

void binding_require(struct admission_policies *set,
		     const struct input_object *input, const struct node *spec)
{
	static const char *const words[] = {"Deny", "Warn", "Audit", NULL};
	const struct validator r = {set, input};
	const struct node *actions = node_get(spec, "validationActions");
	bool deny = false, warn = false;

	require_field(&r, spec, "validationActions");
	FOR_EACH_CHILD(actions, action) {
		require_one_of(&r, action, words);
		deny |= node_eq(action, "Deny");
		warn |= node_eq(action, "Warn");
	}
	if (deny && warn)
		admission_problem(
			set, input, actions,
			"the API server rejects Deny together with Warn");
	need_parameters(&r, node_get(spec, "paramRef"));
	require_rules(&r, node_get(spec, "matchResources"));
}
