/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `custom:`: files with custom rules and with the cluster's own policies, as
 * patterns relative to the policy's folder. They are read before the other keys
 * of the policy, which may refer to their rules. The reader of a document is
 * chosen by its kind (custom_readers).
 */
#include <glob.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "policy_read.h"

/*
 * Reads admission policies of the cluster from the files of `custom:`:
 * policies, their bindings, definitions, and parameters, which may have any
 * kind.
 */

static const struct {
	const char *group, *kind;
} kinds[] = {
	{"admissionregistration.k8s.io/", "ValidatingAdmissionPolicy"},
	{"admissionregistration.k8s.io/", "ValidatingAdmissionPolicyBinding"},
	{"apiextensions.k8s.io/", "CustomResourceDefinition"},
};

/* Sets the names of the kinds of such documents, at most 4; returns their
 * number. */
static size_t admission_kinds(const char **names)
{
	size_t n = ARRAY_SIZE(kinds);

	for (size_t i = 0; i < n; i++)
		names[i] = kinds[i].kind;
	return n;
}

/* Adds an object, which is a parameter if a policy refers to it. */
static void add_admission_document(struct policy_reader *r,
				   const struct doc *doc)
{
	struct admission_policies **set = &r->policy->admission;

	if (!*set) {
		*set = admission_policies_new();
		policy_keep_admission(r->policy, *set);
		admission_policies_be_strict(*set);
	}
	admission_policies_add_document(*set, r->source, doc);
}

/* Reads a document; returns false if it has another kind. */
static bool read_admission_document(struct policy_reader *r,
				    const struct doc *doc)
{
	const struct node *kind = node_get(doc->root, "kind");
	const struct node *version = node_get(doc->root, "apiVersion");

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!node_eq(kind, kinds[i].kind))
			continue;
		if (text_starts(text_or_empty(node_str(version)),
				kinds[i].group))
			add_admission_document(r, doc);
		else
			problem(r, version ? version : doc->root,
				"expected apiVersion `%sv1`", kinds[i].group);
		return true;
	}
	return false;
}

static void add_remark(struct policy_reader *r,
		       const struct admission_remark *remark, bool is_warning)
{
	problem_at(r, remark->file,
		   (struct position){remark->line, remark->column}, is_warning,
		   remark->text);
}

static void on_problem(void *context, const struct admission_remark *remark)
{
	add_remark(context, remark, false);
}

static void on_note(void *context, const struct admission_remark *remark)
{
	add_remark(context, remark, true);
}

void finish_admission(struct policy_reader *r)
{
	const struct admission_listener listener = {
		.problem = on_problem, .note = on_note, .context = r};

	if (r->policy->admission)
		admission_policies_finish(r->policy->admission, &listener);
}

void add_custom_rule(struct policy_reader *r, const struct rule *rule,
		     enum action action, const struct node *at)
{
	struct arena *arena = policy_arena(r->policy);
	struct rule_entries *entries = &r->policy->own_entries;
	struct rule_entry entry = {
		.word = {.scope = SCOPE_RULE, .rule = rule},
		.has_action = action != ACTION_OFF,
		.action = action,
		.from = read_from(r, at),
	};

	*VEC_PUSH(arena, r->rules_added, r->nrules_added, r->rules_added_size) =
		rule;
	*VEC_PUSH(arena, entries->items, entries->n, entries->size) = entry;
}

bool read_custom_document(struct policy_reader *r, const struct doc *doc)
{
	const struct node *kind = node_get(doc->root, "kind");
	const struct node *version = node_get(doc->root, "apiVersion");

	for (size_t i = 0; custom_readers[i]; i++) {
		const struct custom_reader *reader = custom_readers[i];

		if (!node_eq(kind, reader->kind))
			continue;
		if (!node_eq(version, reader->api_version))
			problem(r, version ? version : doc->root,
				"expected apiVersion `%s`",
				reader->api_version);
		else
			reader->read(r, doc);
		return true;
	}
	return read_admission_document(r, doc);
}

/* Reads a document of another kind. It may be a parameter of a policy, unless
 * its apiVersion is gpugate's, or its kind resembles a kind of policies. */
static void read_other_kind(struct policy_reader *r, const struct doc *doc)
{
	const struct node *kind = node_get(doc->root, "kind");
	const struct node *version = node_get(doc->root, "apiVersion");
	const char *names[8], *near = NULL;
	size_t n = admission_kinds(names);

	for (size_t i = 0; n < 8 && custom_readers[i]; i++)
		names[n++] = custom_readers[i]->kind;
	if (node_str(kind))
		near = text_nearest(kind->str, names, n);
	if (node_str(kind) && node_str(version) && !near &&
	    !text_starts(version->str, "gpugate.dev/")) {
		add_admission_document(r, doc);
		return;
	}
	problem(r, kind ? kind : doc->root,
		"expected a document of kind `%s`, "
		"`ValidatingAdmissionPolicy`, "
		"`ValidatingAdmissionPolicyBinding` or "
		"`CustomResourceDefinition`%s",
		custom_readers[0]->kind, did_you_mean(r, near));
}

static void on_issue(void *context, const struct load_issue *issue)
{
	struct policy_reader *r = context;

	problem_offset(r, issue->start, issue->kind == LOAD_DISAGREEMENT,
		       issue->kind == LOAD_DUPLICATE_KEY
			       ? "this key is given twice in one map"
			       : shown(r, issue->text));
}

static void read_documents(struct policy_reader *r, const char *text,
			   size_t len)
{
	struct arena *arena = policy_arena(r->policy);
	struct source *source = ARENA_NEW(arena, struct source);
	struct loader loader;
	struct doc *doc = ARENA_NEW(arena, struct doc);

	source_init(source, arena, r->file, text, len);
	r->source = source;
	loader_init(&loader, source, &load_limits_default, arena);
	loader.issue = on_issue;
	loader.context = r;
	for (; loader_next(&loader, doc) > 0;
	     doc = ARENA_NEW(arena, struct doc))
		if (doc->root && !read_custom_document(r, doc))
			read_other_kind(r, doc);
}

static void read_file(struct policy_reader *r, const struct node *at,
		      const char *path)
{
	struct arena *arena = policy_arena(r->policy);
	const struct policy_reader before = *r;
	struct file_how how = {.limit = FILE_POLICY_MAX};
	struct err err = {0};
	struct buf text;

	for (size_t i = 0; i < r->nfiles; i++)
		if (!strcmp(r->files[i], path))
			return;
	path = arena_strdup(arena, path);
	*VEC_PUSH(arena, r->files, r->nfiles, r->files_size) = path;
	buf_init(&text);
	if (file_load(path, &how, &text, &err)) {
		problem(r, at, "%s", shown(r, err.text));
	} else {
		r->file = path;
		r->policy->hash =
			text_hash(text.data, text.len, r->policy->hash);
		read_documents(r, arena_strndup(arena, text.data, text.len),
			       text.len);
		r->file = before.file;
		r->source = before.source;
	}
	buf_release(&text);
}

/* Appends the folder's name with escapes, because it is not a pattern. */
static void add_literally(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (strchr("\\*?[", text[i]))
			buf_addc(out, '\\');
		buf_addc(out, text[i]);
	}
}

static bool is_refused(struct policy_reader *r, const struct node *node,
		       const char *path)
{
	const char *why =
		r->options.refuse_path
			? r->options.refuse_path(r->options.context, path)
			: NULL;

	if (why)
		problem(r, node, "`custom`: %s", why);
	return why;
}

/* Reads the files that match the pattern. `folder` is the length of the folder
 * in the policy's path. */
static void read_matches(struct policy_reader *r, const struct node *node,
			 const char *pattern, size_t folder)
{
	glob_t found;
	bool relative = *pattern != '/';

	if (glob(pattern, 0, NULL, &found)) {
		problem(r, node, "no file matches `%s`", shown(r, node->str));
		return;
	}
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *path = found.gl_pathv[i];

		if (!is_refused(r, node, path + (relative ? folder : 0)))
			read_file(r, node, path);
	}
	globfree(&found);
}

static void tell_folder(struct policy_reader *r, const char *pattern)
{
	struct arena *arena = &r->problems->arena;
	size_t len = strcspn(pattern, "*?[");

	while (len && pattern[len - 1] != '/')
		len--;
	if (r->options.looks_into)
		r->options.looks_into(r->options.context,
				      len ? arena_strndup(arena, pattern, len)
					  : ".");
}

static void read_custom_pattern(struct policy_reader *r,
				const struct node *node, void *unused)
{
	const char *text = read_text(r, node), *slash;
	struct buf pattern;
	size_t folder;

	if (!text || is_refused(r, node, text))
		return;
	slash = strrchr(r->path, '/');
	folder = slash && *text != '/' ? (size_t)(slash + 1 - r->path) : 0;
	buf_init(&pattern);
	buf_add(&pattern, r->path, folder);
	buf_adds(&pattern, text);
	tell_folder(r, pattern.data);
	buf_reset(&pattern);
	add_literally(&pattern, r->path, folder);
	buf_adds(&pattern, text);
	read_matches(r, node, pattern.data, folder);
	buf_release(&pattern);
}

void read_custom(struct policy_reader *r, const struct node *node)
{
	if (node_is_unset(node) || (node_is_seq(node) && !node->len))
		return;
	if (r->path || !node_is_seq(node)) {
		read_list(r, node, read_custom_pattern, NULL);
		return;
	}
	r->unread = true;
	problem_offset(r, node->key_start, true,
		       "rules of `custom:` are not read: this policy has no "
		       "folder here");
}
