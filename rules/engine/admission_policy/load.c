/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads files into objects (policies, bindings, definitions, namespaces,
 * parameters), and removes duplicates.
 */
#include <stdlib.h>
#include <string.h>

#include "admission_policy_internal.h"
#include "base/array.h"
#include "base/text.h"

/*
 * Drops duplicate objects: a cluster has only one policy, binding or definition
 * of a name. If the files define it twice with the same content, one is used.
 * If they differ, it is unknown which one the cluster has, and that is a
 * problem.
 */

static int by_name(const void *left, const void *right)
{
	const struct input_object *const *a = left, *const *b = right;
	const struct object *x = (*a)->object, *y = (*b)->object;
	int order = strcmp(x->kind, y->kind);

	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : (*a > *b) - (*a < *b);
}

static bool is_one_of_a_name(const struct input_object *input)
{
	return input->object->name &&
	       (input_is(input, admission_group, "ValidatingAdmissionPolicy") ||
		input_is(input, admission_group,
			 "ValidatingAdmissionPolicyBinding") ||
		input_is(input, "apiextensions.k8s.io",
			 "CustomResourceDefinition"));
}

static void report_duplicate(struct admission_policies *set,
			     const struct input_object *copy,
			     const struct input_object *first)
{
	uint32_t start, end;

	node_anchor(first->object->root, &start, &end);
	admission_problem(
		set, copy, node_path(copy->object->root, "metadata.name"),
		"%s `%s` differs from the one at %s:%u; a cluster can have "
		"only one with this name",
		copy->object->kind, copy->object->name, first->source->name,
		source_position(first->source, start).line);
}

static void admission_drop_duplicates(struct admission_policies *set)
{
	struct input_object **named = ARENA_ARRAY(
		&set->arena, struct input_object *, set->ninputs + 1);
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < set->ninputs; i++)
		if (is_one_of_a_name(&set->inputs[i]))
			named[n++] = &set->inputs[i];
	qsort(named, n, sizeof(*named), by_name);
	for (size_t i = 1, first = 0; i < n; i++) {
		struct input_object *copy = named[i];

		if (strcmp(copy->object->kind, named[first]->object->kind) ||
		    strcmp(copy->object->name, named[first]->object->name)) {
			first = i;
			continue;
		}
		copy->copy = true;
		if (!node_same(copy->object->root, named[first]->object->root))
			report_duplicate(set, copy, named[first]);
	}
	for (size_t i = 0; i < set->ninputs; i++)
		if (!set->inputs[i].copy)
			set->inputs[kept++] = set->inputs[i];
	set->ninputs = kept;
}

struct admission_policies *admission_policies_new(void)
{
	struct admission_policies *set = calloc(1, sizeof(*set));

	if (!set)
		OUT_OF_MEMORY();
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

struct adding {
	struct admission_policies *set;
	struct source *source;
	/* NULL: the default limits for files */
	const struct load_limits *limits;
	const char *group, *const *kinds; /* kinds to read (NULL: all) */
};

static bool is_wanted(const struct adding *adding, const struct object *object)
{
	const char *const *kind = adding->kinds;

	while (kind && *kind && !object_is(object, adding->group, *kind))
		kind++;
	return !kind || *kind;
}

static void add_object(struct adding *adding, const struct object *object)
{
	struct admission_policies *set = adding->set;
	struct input_object input = {.object = object,
				     .source = adding->source};

	if (!is_wanted(adding, object))
		return;
	set->mutates |=
		object_is(object, admission_group, "MutatingAdmissionPolicy");
	*VEC_PUSH(&set->arena, set->inputs, set->ninputs, set->inputs_size) =
		input;
}

static void issue(void *context, const struct load_issue *issue)
{
	struct adding *adding = context;
	struct input_object input = {.source = adding->source};

	if (issue->kind == LOAD_SYNTAX && !adding->kinds)
		admission_problem_at(adding->set, &input, issue->start,
				     issue->text);
}

static void add_objects(struct adding *adding, const struct doc *doc)
{
	static const struct kube_config config;
	struct object_list list = {0};
	const struct node *nested;

	object_read(&adding->set->arena, &config, doc, &list, &nested);
	for (size_t i = 0; i < list.n; i++)
		add_object(adding, &list.items[i]);
}

/* Sets the set's wants_namespaces if the text contains certain words. A wrong
 * match only causes needless look-ups. */
static void note_wants(struct admission_policies *set, const char *text,
		       size_t len)
{
	set->wants_namespaces |= text_find(text, len, "namespaceObject") ||
				 text_find(text, len, "namespaceSelector");
}

static void add_text(struct adding *adding, const char *name, const char *text,
		     size_t len)
{
	struct admission_policies *set = adding->set;
	struct arena *arena = &set->arena;
	struct loader loader;
	struct doc doc;

	adding->source = ARENA_NEW(arena, struct source);
	source_init(adding->source, arena, arena_strdup(arena, name),
		    arena_strndup(arena, text, len), len);
	loader_init(&loader, adding->source,
		    adding->limits ? adding->limits : &load_limits_default,
		    arena);
	loader.issue = issue;
	loader.context = adding;
	while (loader_next(&loader, &doc) > 0) {
		struct doc *kept = ARENA_NEW(arena, struct doc);

		*kept = doc;
		if (!doc.root)
			continue;
		add_objects(adding, kept);
		if (set->saved)
			set->unread = node_get(doc.root, "unread");
	}
}

void admission_policies_add(struct admission_policies *set, const char *name,
			    const char *text, size_t len,
			    const struct admission_listener *listener)
{
	struct adding adding = {.set = set};

	set->listener = listener;
	note_wants(set, text, len);
	add_text(&adding, name, text, len);
}

void admission_policies_add_document(struct admission_policies *set,
				     struct source *source,
				     const struct doc *doc)
{
	struct adding adding = {.set = set, .source = source};

	note_wants(set, source->text, source->len);
	add_objects(&adding, doc);
}

void admission_policies_add_saved(struct admission_policies *set,
				  const char *name, const char *list,
				  const struct admission_listener *listener)
{
	struct load_limits limits = load_limits_default;
	struct adding adding = {.set = set, .limits = &limits};
	size_t len = strlen(list);

	limits.bytes = len;
	limits.nodes = 4000000;
	set->listener = listener;
	set->saved = true;
	note_wants(set, list, len);
	add_text(&adding, name, list, len);
}

void admission_policies_be_strict(struct admission_policies *set)
{
	set->strict = true;
}

void admission_policies_add_namespaces(struct admission_policies *set,
				       const char *name, const char *text,
				       size_t len)
{
	static const char *const kinds[] = {"Namespace", NULL};
	struct adding adding = {.set = set, .group = "", .kinds = kinds};

	add_text(&adding, name, text, len);
}

void admission_policies_add_mutations(struct admission_policies *set,
				      const char *name, const char *text,
				      size_t len)
{
	static const char *const kinds[] = {"MutatingAdmissionPolicy",
					    "MutatingAdmissionPolicyBinding",
					    NULL};
	struct adding adding = {
		.set = set, .group = admission_group, .kinds = kinds};

	add_text(&adding, name, text, len);
}

bool admission_policies_want_namespaces(const struct admission_policies *set)
{
	return set->wants_namespaces;
}

static void make_typed(struct admission_policies *set)
{
	for (size_t i = 0; i < set->ninputs; i++) {
		struct input_object *input = &set->inputs[i];
		const struct object *object = input->object;
		const struct crd *definition =
			definition_find(set, object->group, object->kind);
		const struct crd_version *version =
			definition_version(definition, object->version);

		input->typed = typed_object(&set->arena, object,
					    version ? version->schema : NULL);
	}
}

static void compile_policies(struct admission_policies *set)
{
	for (size_t i = 0; i < set->ninputs; i++) {
		struct admission_policy *policy;

		if (!input_is(&set->inputs[i], admission_group,
			      "ValidatingAdmissionPolicy"))
			continue;
		policy = policy_compile(set, &set->inputs[i]);
		if (!policy)
			continue;
		*set->last_policy = policy;
		set->last_policy = &policy->next;
	}
}

static bool is_used(const struct admission_policies *set,
		    const struct input_object *input)
{
	const struct admission_policy *p;

	for (p = set->policies; p; p = p->next)
		if (p->parameter.kind &&
		    input_is(input, p->parameter.group, p->parameter.kind))
			return true;
	return input_is(input, admission_group, "ValidatingAdmissionPolicy") ||
	       input_is(input, admission_group,
			"ValidatingAdmissionPolicyBinding") ||
	       input_is(input, admission_group, "MutatingAdmissionPolicy") ||
	       input_is(input, admission_group,
			"MutatingAdmissionPolicyBinding") ||
	       input_is(input, "apiextensions.k8s.io",
			"CustomResourceDefinition");
}

static void find_unused(struct admission_policies *set)
{
	for (size_t i = 0; i < set->ninputs; i++) {
		const struct input_object *input = &set->inputs[i];
		const struct node *kind = node_get(input->object->root, "kind");

		if (!is_used(set, input))
			admission_problem(set, input, kind,
					  "no policy of these files takes "
					  "parameters of kind `%s`",
					  input->object->kind);
	}
}

size_t admission_policies_finish(struct admission_policies *set,
				 const struct admission_listener *listener)
{
	set->listener = listener;
	admission_drop_duplicates(set);
	for (size_t i = 0; i < set->ninputs; i++)
		if (input_is(&set->inputs[i], "apiextensions.k8s.io",
			     "CustomResourceDefinition"))
			definition_add(set, &set->inputs[i]);
	make_typed(set);
	compile_policies(set);
	if (set->strict)
		find_unused(set);
	policies_bind(set);
	definitions_compile(set);
	set->listener = NULL;
	return set->problems;
}

/* --- evaluation ----------------------------------------------------------- */

/* Implements the API server's IsExemptAdmissionConfigurationResource(). */
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

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (object_is(object, admission_group, kinds[i]))
			return true;
	return false;
}

/* Sets the request: the fields of the review, or a create for an object in a
 * file. */
static void read_review(struct admission_case *a)
{
	const struct node *review = a->request->review;
	const char *plural = node_str(node_path(review, "resource.resource"));

	a->operation = "CREATE";
	a->subresource = "";
	if (!review)
		return;
	a->operation = text_or_empty(node_str(node_get(review, "operation")));
	a->subresource =
		text_or_empty(node_str(node_get(review, "subResource")));
	if (plural)
		a->plural = plural;
	a->cluster_scoped = !node_str(node_get(review, "namespace")) ||
			    object_is(a->object, "", "Namespace");
	/* In a review, the API server has already set defaults and dropped
	 * unknown fields. */
	a->typed = a->object->root;
}

struct snapshot_kind {
	const char *group, *kind, *plural;
};

static void tell_unread(struct admission_case *a, bool definition,
			const struct snapshot_kind *kind)
{
	const char *why = admission_unread(a->set, kind->group, kind->kind);

	if (why)
		a->request->not_run(
			a->request->context, definition,
			arena_printf(a->arena,
				     "the cluster snapshot has no %s: %s",
				     kind->plural, why));
}

static void judge_definition(struct admission_case *a,
			     const struct crd *definition)
{
	const struct admission_request *request = a->request;

	if (definition && definition->left_out)
		request->not_run(request->context, true, definition->left_out);
	else if (definition)
		definition_judge(a, definition);
	else if (!typed_group_is_native(a->object->group))
		tell_unread(
			a, true,
			&(struct snapshot_kind){"apiextensions.k8s.io",
						"CustomResourceDefinition",
						"customresourcedefinitions"});
}

void admission_policies_judge(const struct admission_policies *set,
			      const struct admission_request *request)
{
	static const struct snapshot_kind kinds[] = {
		{admission_group, "ValidatingAdmissionPolicy",
		 "validatingadmissionpolicies"},
		{admission_group, "ValidatingAdmissionPolicyBinding",
		 "validatingadmissionpolicybindings"},
	};
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
	read_review(&a);
	if (set->policies || set->mutates)
		admission_find_namespace(&a);
	if (set->mutates && !request->review && !is_exempt(object))
		a.mutation = mutation_of(&a);
	if (request->definitions)
		judge_definition(&a, definition);
	for (size_t i = 0; request->policies && i < 2; i++)
		tell_unread(&a, false, &kinds[i]);
	if (!request->policies || !set->policies || is_exempt(object))
		return;
	for (policy = set->policies; policy; policy = policy->next)
		policy_judge(&a, policy);
}
