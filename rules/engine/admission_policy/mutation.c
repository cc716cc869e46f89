/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the fields of a pod that MutatingAdmissionPolicies may set when it is
 * created: those that the expressions of a bound policy mention. The
 * expressions are not evaluated, so that the values of these fields are
 * unknown. A controller's pods may have labels in addition to those of the
 * template, and matchConditions count as true.
 */
#include <ctype.h>
#include <string.h>

#include "admission_policy_internal.h"
#include "base/text.h"
#include "doc/build.h"

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* True if some text in the tree contains the word. */
static bool says(const struct node *node, const char *word)
{
	const char *text = node_str(node), *at = text;
	size_t len = strlen(word);

	FOR_EACH_CHILD(node, child)
		if (says(child, word))
			return true;
	while (at && (at = strstr(at, word))) {
		if ((at == text || !is_letter(at[-1])) && !is_letter(at[len]))
			return true;
		at += len;
	}
	return false;
}

static void touch(struct admission_case *a, const struct node *spec,
		  struct node *fields)
{
	static const char *const names[] = {
		"tolerations",	 "volumes",	     "env", "labels",
		"schedulerName", "runtimeClassName", NULL};

	for (const char *const *name = names; *name; name++) {
		struct node *unknown;

		if (node_get(fields, *name) ||
		    !(says(node_get(spec, "mutations"), *name) ||
		      says(node_get(spec, "variables"), *name)))
			continue;
		unknown = node_new(a->arena, NODE_NULL);
		unknown->flags |= NODE_UNKNOWN;
		edit_member(a->arena, fields, *name, unknown);
	}
}

static void touch_all(struct admission_case *a, struct node *fields)
{
	for (size_t i = 0; i < a->set->ninputs; i++) {
		const struct object *policy = a->set->inputs[i].object;

		if (mutation_applies(a, &a->set->inputs[i]))
			touch(a, node_get(policy->root, "spec"), fields);
	}
}

/* Returns the pod that a controller creates from a template. */
static struct object pod_object(const struct admission_request *request,
				const struct pod *pod)
{
	struct object object = *request->object;

	object.group = "";
	object.version = "v1";
	object.api_version = "v1";
	object.kind = "Pod";
	object.name = NULL;
	object.labels = pod->labels;
	object.fragment = true;
	return object;
}

const struct node *
admission_policies_touched(const struct admission_policies *set,
			   const struct admission_request *request,
			   const struct pod *pod)
{
	struct object made = pod_object(request, pod);
	const struct object *const objects[] = {request->object, &made};
	struct node *fields = edit_map(request->arena);

	for (size_t i = 0; set->mutates && i < 2; i++) {
		struct admission_case a = {.set = set,
					   .request = request,
					   .object = objects[i],
					   .arena = request->arena,
					   .operation = "CREATE",
					   .subresource = ""};
		struct typed_resource resource =
			typed_resource(a.arena, a.object->group,
				       a.object->version, a.object->kind);

		a.plural = resource.plural;
		if (i == 1 && pod->template)
			a.typed = pod->template;
		admission_find_namespace(&a);
		touch_all(&a, fields);
	}
	return node_first(fields) ? fields : NULL;
}
