/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the cluster's admission policies: ValidatingAdmissionPolicies, their
 * bindings and parameters, and the parts of CustomResourceDefinitions that
 * their rules need (rules/engine/admission_policy/save.c).
 */
#include <string.h>

#include "base/array.h"
#include "base/json_stream.h"
#include "base/text.h"
#include "doc/load.h"
#include "engine/admission_policy.h"
#include "kube/typed.h"
#include "lint/term/escape.h"
#include "lint/term/log.h"
#include "snapshot.h"

enum {
	PAGE = 25,	      /* objects per page; definitions are large */
	OBJECT_MAX = 1 << 20, /* largest object, in the form that is saved */
	ALL_MAX = 16 << 20,   /* largest total */
	PAGE_NODES = 20000000,
};

#define REGISTRATION "admissionregistration.k8s.io"
#define EXTENSIONS   "apiextensions.k8s.io"

struct defined {
	const char *group, *kind, *plural;
	bool cluster_scoped;
};

struct saving {
	struct snapshot *snapshot;
	struct arena arena; /* memory until the end */
	struct arena page;  /* memory for one page */
	struct buf items, unread, one;
	const struct node **policies, **bindings;
	size_t npolicies, policies_size, nbindings, bindings_size;
	struct defined *defined;
	size_t ndefined, defined_size;
	const char **asked; /* paths of the parameters that were read */
	size_t nasked, asked_size;
	size_t counts[3]; /* policies, definitions with schemas, parameters */
};

enum { POLICIES, DEFINITIONS, PARAMETERS };

/* A kind to read. */
struct wanted_kind {
	const char *group, *version, *kind, *plural;
	void (*take)(struct saving *s, const struct wanted_kind *w,
		     const struct node *item);
};

static const char *text_at(const struct node *node, const char *path)
{
	return text_or_empty(node_str(node_path(node, path)));
}

/* --- objects to save ------------------------------------------------------ */

/* Saves the object in s->one. Returns false if it is too large, or the total
 * would be. */
static bool keep_object(struct saving *s)
{
	if (s->one.len > OBJECT_MAX || s->items.len + s->one.len > ALL_MAX)
		return false;
	buf_adds(&s->items, s->items.len ? ",\n  " : "\n  ");
	buf_add(&s->items, s->one.data, s->one.len);
	return true;
}

static void note_unread(struct saving *s, const struct wanted_kind *w,
			const char *reason)
{
	struct buf *out = &s->unread;
	size_t user = strcspn(reason, "\n");
	const char *found = strstr(reason, ": User ");

	if (!s->snapshot->options->quiet)
		log_line("cannot read %s%s%s: %s", w->plural,
			 *w->group ? "." : "", w->group, reason);
	/* Do not store the name of the user who takes the snapshot. */
	if (found)
		user = (size_t)(found - reason);
	stream_open(out, NULL, '{');
	stream_text(out, "group", w->group);
	stream_text(out, "kind", w->kind);
	stream_bytes(out, "reason", reason, user);
	stream_close(out, '}');
}

static const char *api_version(struct saving *s, const struct wanted_kind *w)
{
	return arena_printf(&s->arena, "%s%s%s", w->group, *w->group ? "/" : "",
			    w->version);
}

static bool save(struct saving *s, const struct wanted_kind *w,
		 const struct node *item)
{
	buf_reset(&s->one);
	admission_save(api_version(s, w), w->kind, item, &s->one);
	if (keep_object(s))
		return true;
	note_unread(s, w, "left out: more than 1 MiB, or 16 MiB in all");
	return false;
}

static void take_policy(struct saving *s, const struct wanted_kind *w,
			const struct node *item)
{
	if (!save(s, w, item))
		return;
	*VEC_PUSH(&s->arena, s->policies, s->npolicies, s->policies_size) =
		item;
	s->counts[POLICIES]++;
}

static void take_binding(struct saving *s, const struct wanted_kind *w,
			 const struct node *item)
{
	if (save(s, w, item))
		*VEC_PUSH(&s->arena, s->bindings, s->nbindings,
			  s->bindings_size) = item;
}

/*
 * Saves a MutatingAdmissionPolicy or its binding, because it may change objects
 * before other policies check them.
 */
static void take_mutation(struct saving *s, const struct wanted_kind *w,
			  const struct node *item)
{
	save(s, w, item);
}

static bool list_has(const struct node *list, const char *text)
{
	FOR_EACH_CHILD(list, item)
		if (node_eq(item, "*") || node_eq(item, text))
			return true;
	return false;
}

/* True if the defaults of this kind matter to a policy: its resourceRules list
 * the group, or its parameters have the kind. */
static bool is_judged(const struct saving *s, const char *group,
		      const char *kind)
{
	for (size_t i = 0; i < s->npolicies; i++) {
		const struct node *spec = node_get(s->policies[i], "spec");

		if (text_eq(text_at(spec, "paramKind.kind"), kind))
			return true;
		FOR_EACH_CHILD(
			node_path(spec, "matchConstraints.resourceRules"), rule)
			if (list_has(node_get(rule, "apiGroups"), group))
				return true;
	}
	return false;
}

static void take_definition(struct saving *s, const struct wanted_kind *w,
			    const struct node *item)
{
	static const char left_out[] =
		"its schema is left out of the snapshot: it is larger than 1 MiB, or the saved objects together are larger than 16 MiB";
	struct defined d = {
		arena_strdup(&s->arena, text_at(item, "spec.group")),
		arena_strdup(&s->arena, text_at(item, "spec.names.kind")),
		arena_strdup(&s->arena, text_at(item, "spec.names.plural")),
		text_eq(text_at(item, "spec.scope"), "Cluster")};
	bool schemas =
		admission_definition_has(item, "x-kubernetes-validations") ||
		(admission_definition_has(item, "default") &&
		 is_judged(s, d.group, d.kind));

	(void)w;
	*VEC_PUSH(&s->arena, s->defined, s->ndefined, s->defined_size) = d;
	buf_reset(&s->one);
	admission_save_definition(item, schemas, NULL, &s->one);
	if (keep_object(s)) {
		s->counts[DEFINITIONS] += schemas;
		return;
	}
	if (!s->snapshot->options->quiet)
		log_line("left out: the schema of %s.%s: %zu KiB", d.plural,
			 d.group, s->one.len >> 10);
	buf_reset(&s->one);
	admission_save_definition(item, false, left_out, &s->one);
	keep_object(s);
}

static void take_parameter(struct saving *s, const struct wanted_kind *w,
			   const struct node *item)
{
	s->counts[PARAMETERS] += save(s, w, item);
}

/* --- lists ---------------------------------------------------------------- */

/* Returns kubectl's response as a tree; NULL if it cannot be parsed. */
static const struct node *read_answer(struct saving *s, struct arena *arena)
{
	const struct buf *answer = &s->snapshot->answer;
	struct load_limits limits = load_limits_default;
	struct source *source = ARENA_NEW(arena, struct source);
	const struct node *root;
	struct loader loader;
	uint32_t used;

	if (answer->len > INT32_MAX)
		return NULL;
	limits.bytes = answer->len;
	limits.nodes = PAGE_NODES;
	source_init(source, arena, "list",
		    arena_strndup(arena, answer->data, answer->len),
		    answer->len);
	loader_init(&loader, source, &limits, arena);
	root = json_read(&loader, 0, (uint32_t)answer->len, &used);
	return node_is_map(root) ? root : NULL;
}

/* Reads a list page by page; path may contain a query. If the kind cannot be
 * read, records the reason. A kind that the server does not have is recorded
 * only if it is that of a parameter. */
static void read_list(struct saving *s, const struct wanted_kind *w,
		      const char *path)
{
	/* Policies and bindings are needed until the end. */
	struct arena *arena = w->take == take_policy || w->take == take_binding
				      ? &s->arena
				      : &s->page;
	const char *next = "";
	enum asked asked = ASKED_WELL;
	const struct node *root = NULL;

	while (next && asked == ASKED_WELL) {
		const char *url =
			arena_printf(&s->arena, "%s%climit=%d%s%s", path,
				     strchr(path, '?') ? '&' : '?', PAGE,
				     *next ? "&continue=" : "", next);

		arena_reset(&s->page);
		asked = snapshot_get(s->snapshot, url);
		root = asked == ASKED_WELL ? read_answer(s, arena) : NULL;
		FOR_EACH_CHILD(node_get(root, "items"), item)
			w->take(s, w, item);
		next = text_at(root, "metadata.continue");
		next = *next ? arena_strdup(&s->arena, next) : NULL;
	}
	if (asked == ASKED_WELL && root)
		return;
	if (asked != ASKED_ABSENT || w->take == take_parameter)
		note_unread(s, w,
			    s->snapshot->reason.len ? s->snapshot->reason.data
						    : "no answer");
}

static const char *base_path(struct saving *s, const struct wanted_kind *w)
{
	return arena_printf(&s->arena, "/api%s/%s", *w->group ? "s" : "",
			    api_version(s, w));
}

static void read_all(struct saving *s, const struct wanted_kind *w)
{
	read_list(s, w,
		  arena_printf(&s->arena, "%s/%s", base_path(s, w), w->plural));
}

/* --- parameters ----------------------------------------------------------- */

/* Writes a requirement of a label selector: `a in (b,c)`, `a notin (b)`, `a`,
 * `!a`. */
static void put_requirement(struct buf *out, const struct node *item)
{
	const char *word = text_at(item, "operator");
	const char *key = text_at(item, "key");
	bool in = text_eq(word, "In"), not_in = text_eq(word, "NotIn");
	bool first = true;

	buf_adds(out, text_eq(word, "DoesNotExist") ? "!" : "");
	buf_adds(out, key);
	if (!in && !not_in)
		return;
	buf_adds(out, in ? " in (" : " notin (");
	FOR_EACH_CHILD(node_get(item, "values"), value) {
		buf_addf(out, "%s%s", first ? "" : ",",
			 text_or_empty(node_str(value)));
		first = false;
	}
	buf_addc(out, ')');
}

static void put_selector(struct buf *out, const struct node *selector)
{
	struct buf text;

	buf_init(&text);
	FOR_EACH_CHILD(node_get(selector, "matchLabels"), label)
		buf_addf(&text, "%s%s=%s", text.len ? "," : "", label->key,
			 text_or_empty(node_str(label)));
	FOR_EACH_CHILD(node_get(selector, "matchExpressions"), item) {
		buf_adds(&text, text.len ? "," : "");
		put_requirement(&text, item);
	}
	if (text.len) {
		buf_adds(out, "?labelSelector=");
		escape_uri(out, text.data, "");
	}
	buf_release(&text);
}

static bool is_asked(struct saving *s, const char *path)
{
	for (size_t i = 0; i < s->nasked; i++)
		if (!strcmp(s->asked[i], path))
			return true;
	*VEC_PUSH(&s->arena, s->asked, s->nasked, s->asked_size) = path;
	return false;
}

/* Reads the parameters to which the paramRef of a binding refers. namespace is
 * NULL for all namespaces, or for cluster-scoped objects. */
static void read_parameters(struct saving *s, const struct wanted_kind *w,
			    const struct node *ref, const char *namespace)
{
	const char *name = text_at(ref, "name"), *url;
	struct buf path;

	buf_init(&path);
	buf_adds(&path, base_path(s, w));
	if (namespace)
		buf_addf(&path, "/namespaces/%s", namespace);
	buf_addf(&path, "/%s", w->plural);
	if (*name) {
		buf_adds(&path, "?fieldSelector=metadata.name%3D");
		escape_uri(&path, name, "");
	} else {
		put_selector(&path, node_get(ref, "selector"));
	}
	url = arena_strdup(&s->arena, path.data);
	buf_release(&path);
	if (!is_asked(s, url))
		read_list(s, w, url);
}

/* Sets w->plural from the definition of the kind, or forms the usual plural.
 * Returns true if the kind is namespaced. */
static bool find_resource(struct saving *s, struct wanted_kind *w)
{
	struct typed_resource usual =
		typed_resource(&s->arena, w->group, w->version, w->kind);

	w->plural = usual.plural;
	for (size_t i = 0; i < s->ndefined; i++) {
		const struct defined *d = &s->defined[i];

		if (!text_eq(d->group, w->group) || !text_eq(d->kind, w->kind))
			continue;
		w->plural = d->plural;
		return !d->cluster_scoped;
	}
	return !usual.cluster_scoped;
}

static struct wanted_kind parameter_kind(struct saving *s,
					 const struct node *policy)
{
	const char *version = text_at(policy, "spec.paramKind.apiVersion");
	const char *slash = strchr(version, '/');

	return (struct wanted_kind){
		.group = slash ? arena_strndup(&s->arena, version,
					       (size_t)(slash - version))
			       : "",
		.version = slash ? slash + 1 : version,
		.kind = text_at(policy, "spec.paramKind.kind"),
		.take = take_parameter,
	};
}

static void read_bound(struct saving *s, struct wanted_kind *w,
		       const struct node *ref)
{
	const struct list *only = &s->snapshot->options->namespaces;
	bool namespaced = find_resource(s, w);
	const char *namespace = text_at(ref, "namespace");

	if (!*w->group && text_eq(w->kind, "Secret"))
		note_unread(s, w, "Secrets are never read");
	else if (!namespaced || *namespace || !only->n)
		read_parameters(s, w, ref,
				namespaced && *namespace ? namespace : NULL);
	else
		note_unread(s, w, "the snapshot contains only some namespaces");
}

static void read_policy(struct saving *s, const struct node *policy)
{
	struct wanted_kind w = parameter_kind(s, policy);

	for (size_t i = 0; *w.kind && i < s->nbindings; i++) {
		const struct node *spec = node_get(s->bindings[i], "spec");
		const struct node *ref = node_get(spec, "paramRef");

		if (node_is_map(ref) &&
		    text_eq(text_at(spec, "policyName"),
			    text_at(policy, "metadata.name")))
			read_bound(s, &w, ref);
	}
}

/* --- all kinds ------------------------------------------------------------ */

static void read_everything(struct saving *s)
{
	static const struct wanted_kind wanted[] = {
		{REGISTRATION, "v1", "ValidatingAdmissionPolicy",
		 "validatingadmissionpolicies", take_policy},
		{REGISTRATION, "v1", "ValidatingAdmissionPolicyBinding",
		 "validatingadmissionpolicybindings", take_binding},
		{REGISTRATION, "v1", "MutatingAdmissionPolicy",
		 "mutatingadmissionpolicies", take_mutation},
		{REGISTRATION, "v1", "MutatingAdmissionPolicyBinding",
		 "mutatingadmissionpolicybindings", take_mutation},
		{EXTENSIONS, "v1", "CustomResourceDefinition",
		 "customresourcedefinitions", take_definition},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		read_all(s, &wanted[i]);
	for (size_t i = 0; i < s->npolicies; i++)
		read_policy(s, s->policies[i]);
}

static void hand_over(struct saving *s)
{
	struct buf *out = &s->one;

	buf_reset(out);
	buf_addf(out,
		 "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"unread\":[%s],"
		 "\"items\":[%s]}",
		 s->unread.data, s->items.data);
	cluster_builder_admission(s->snapshot->builder, out->data);
	if (!s->snapshot->options->quiet && s->items.len)
		log_line("%zu admission policies with %zu parameters, %zu "
			 "definitions with their schemas",
			 s->counts[POLICIES], s->counts[PARAMETERS],
			 s->counts[DEFINITIONS]);
}

void snapshot_admission(struct snapshot *snapshot)
{
	struct saving s = {.snapshot = snapshot};

	buf_init(&s.items);
	buf_init(&s.unread);
	buf_init(&s.one);
	read_everything(&s);
	hand_over(&s);
	buf_release(&s.items);
	buf_release(&s.unread);
	buf_release(&s.one);
	arena_release(&s.arena);
	arena_release(&s.page);
}
