/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files into objects: policies, bindings, definitions, namespaces, parameters.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "admission_policy_internal.h"
#include "base/text.h"
#include "base/vec.h"

struct admission_policies *admission_policies_new(void)
{
	struct admission_policies *set = calloc(1, sizeof(*set));

	if (!set)
		BUG("out of memory");
	set->last_policy = &set->policies;
	return set;
}

void admission_policies_free(struct admission_policies *set)
{
	if (!set)
		return;
	arena_release(&set->arena);
	free(set);
}

static void problem_at(struct admission_policies *set, struct source *source,
		       uint32_t offset, const char *text)
{
	struct position at = source_position(source, offset);
	const struct admission_listener *listener = set->listener;

	set->problems++;
	listener->problem(listener->context,
			  arena_printf(&set->arena, "%s:%u:%u: %s",
				       source->name, at.line, at.column, text));
}

void admission_problem(struct admission_policies *set,
		       const struct given *given, const struct node *at,
		       const char *fmt, ...)
{
	uint32_t start, end;
	va_list ap;

	va_start(ap, fmt);
	node_anchor(at ? at : given->object->root, &start, &end);
	problem_at(set, given->source, start,
		   arena_vprintf(&set->arena, fmt, ap));
	va_end(ap);
}

void admission_note(struct admission_policies *set, const char *fmt, ...)
{
	const struct admission_listener *listener = set->listener;
	va_list ap;

	if (!listener->note)
		return;
	va_start(ap, fmt);
	listener->note(listener->context, arena_vprintf(&set->arena, fmt, ap));
	va_end(ap);
}

const char *admission_string(const struct node *map, const char *key)
{
	const char *text = node_str(node_get(map, key));

	return text && *text ? text : NULL;
}

bool given_is(const struct given *given, const char *group, const char *kind)
{
	return object_is(given->object, group, kind);
}

struct adding {
	struct admission_policies *set;
	struct source *source;
	bool namespaces; /* nothing else */
};

static void add_object(struct adding *adding, const struct object *object)
{
	struct admission_policies *set = adding->set;
	struct given given = {.object = object, .source = adding->source};

	if (adding->namespaces && !object_is(object, "", "Namespace"))
		return;
	*VEC_PUSH(&set->arena, set->given, set->ngiven, set->given_size) =
		given;
}

static void issue(void *context, const struct load_issue *issue)
{
	struct adding *adding = context;

	if (issue->kind == LOAD_SYNTAX && !adding->namespaces)
		problem_at(adding->set, adding->source, issue->start,
			   issue->text);
}

static void add(struct adding *adding, const char *name, const char *text,
		size_t len)
{
	static const struct kube_config config;
	struct arena *arena = &adding->set->arena;
	const struct node *nested;
	struct loader loader;
	struct doc doc;

	adding->source = ARENA_NEW(arena, struct source);
	source_init(adding->source, arena, arena_strdup(arena, name),
		    arena_strndup(arena, text, len), len);
	loader_init(&loader, adding->source, &load_limits_default, arena);
	loader.issue = issue;
	loader.context = adding;
	while (loader_next(&loader, &doc) > 0) {
		struct doc *kept = ARENA_NEW(arena, struct doc);
		struct object_list list = {0};

		if (!doc.root)
			continue;
		*kept = doc;
		object_read(arena, &config, kept, &list, &nested);
		for (size_t i = 0; i < list.n; i++)
			add_object(adding, &list.items[i]);
	}
}

void admission_policies_add(struct admission_policies *set, const char *name,
			    const char *text, size_t len,
			    const struct admission_listener *listener)
{
	struct adding adding = {.set = set};

	set->listener = listener;
	/* By the text: at worst, namespaces are searched in vain. */
	set->wants_namespaces |= text_find(text, len, "namespaceObject") ||
				 text_find(text, len, "namespaceSelector");
	add(&adding, name, text, len);
}

void admission_policies_add_namespaces(struct admission_policies *set,
				       const char *name, const char *text,
				       size_t len)
{
	struct adding adding = {.set = set, .namespaces = true};

	add(&adding, name, text, len);
}

bool admission_policies_want_namespaces(const struct admission_policies *set)
{
	return set->wants_namespaces;
}

static void make_typed(struct admission_policies *set)
{
	for (size_t i = 0; i < set->ngiven; i++) {
		struct given *given = &set->given[i];
		const struct object *object = given->object;
		const struct crd *definition =
			definition_find(set, object->group, object->kind);
		const struct crd_version *version =
			definition_version(definition, object->version);

		given->typed = typed_object(&set->arena, object,
					    version ? version->schema : NULL);
	}
}

static const char registration[] = "admissionregistration.k8s.io";

size_t admission_policies_finish(struct admission_policies *set,
				 const struct admission_listener *listener)
{
	set->listener = listener;
	for (size_t i = 0; i < set->ngiven; i++)
		if (given_is(&set->given[i], "apiextensions.k8s.io",
			     "CustomResourceDefinition"))
			definition_add(set, &set->given[i]);
	make_typed(set);
	for (size_t i = 0; i < set->ngiven; i++) {
		struct admission_policy *policy;

		if (!given_is(&set->given[i], registration,
			      "ValidatingAdmissionPolicy"))
			continue;
		policy = policy_compile(set, &set->given[i]);
		if (!policy)
			continue;
		*set->last_policy = policy;
		set->last_policy = &policy->next;
	}
	policies_bind(set);
	definitions_compile(set);
	set->listener = NULL;
	return set->problems;
}

/* --- judging -------------------------------------------------------------- */

/* IsExemptAdmissionConfigurationResource() of the API server. */
static bool is_exempt(const struct object *object)
{
	static const char *const kinds[] = {
		"ValidatingWebhookConfiguration",
		"MutatingWebhookConfiguration",
		"ValidatingAdmissionPolicy",
		"ValidatingAdmissionPolicyBinding",
		"MutatingAdmissionPolicy",
		"MutatingAdmissionPolicyBinding",
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (object_is(object, registration, kinds[i]))
			return true;
	return false;
}

void admission_policies_judge(const struct admission_policies *set,
			      const struct admission_request *request)
{
	const struct object *object = request->object;
	const struct crd *definition =
		definition_find(set, object->group, object->kind);
	struct admission_case a = {.set = set,
				   .request = request,
				   .object = object,
				   .arena = request->arena};
	struct typed_resource resource = typed_resource(
		a.arena, object->group, object->version, object->kind);
	const struct admission_policy *policy;

	a.plural = definition ? definition->plural : resource.plural;
	a.cluster_scoped = definition	    ? definition->cluster_scoped
			   : resource.known ? resource.cluster_scoped
					    : object->cluster_scoped;
	if (definition && request->definitions)
		definition_judge(&a, definition);
	if (!request->policies || !set->policies || is_exempt(object))
		return;
	admission_find_namespace(&a);
	for (policy = set->policies; policy; policy = policy->next)
		policy_judge(&a, policy);
}
