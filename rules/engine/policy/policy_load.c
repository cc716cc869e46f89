/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads policies from files, folders and memory. A policy is one document of
 * kind Policy and any number of kind Exemptions, in any order, in one file or
 * in the files of a folder. Other names than .gpugate.yaml that begin with a
 * dot, such as the links of a mounted ConfigMap, are skipped. Issues of the
 * loader count as problems, because a policy with a duplicate key is ambiguous.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/text.h"
#include "policy_read.h"
#include "rules/engine/rule_word.h"

enum { POLICY_FILES_MAX = 1000 };

struct policy_document {
	const char *file;
	struct source *source;
	struct doc doc;
	/* has a kind of the files in `custom:`, not Policy or Exemptions */
	bool custom;
};

struct loading {
	struct policy_reader reader;
	struct arena arena; /* texts and names of files, freed after loading */
	struct escape_guard guard;
	struct policy_document *documents;
	size_t n, size;
	/* numbers of errors, and of all problems, that existed before */
	size_t errors_before, before;
	unsigned npolicies;
	bool in_files;
};

static void drop_loading(void *loading)
{
	struct loading *l = loading;

	arena_release(&l->arena);
	policy_free(l->reader.policy);
}

static void loading_init(struct loading *l, const struct rule_set *rules,
			 const struct policy_options *options,
			 struct policy_problems *problems)
{
	struct policy *policy = policy_new(rules);

	*l = (struct loading){.errors_before = problems->errors,
			      .before = problems->n};
	l->reader.policy = policy;
	escape_guard(&l->guard, drop_loading, l);
	l->reader.problems = problems;
	l->reader.rules = rules;
	l->reader.file = "";
	if (options)
		l->reader.options = *options;
	policy->today = l->reader.options.today;
	if (!policy->today)
		policy->today = date_today();
	l->reader.today = policy->today;
}

static int by_place(const void *a, const void *b)
{
	const struct policy_problem *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	if (order)
		return order;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	return strcmp(x->text, y->text);
}

static struct policy *loading_finish(struct loading *l)
{
	struct policy_reader *r = &l->reader;
	struct policy *policy = r->policy;

	policy->kube.accelerators.items = r->accelerators;
	policy->kube.accelerators.n = r->naccelerators;
	policy->kube.kinds = r->kinds;
	policy->kube.nkinds = r->nkinds;
	policy->kube.injected = r->injected;
	policy->kube.ninjected = r->ninjected;
	arena_release(&l->arena);
	if (r->problems->n > l->before)
		qsort(r->problems->items + l->before,
		      r->problems->n - l->before, sizeof(*r->problems->items),
		      by_place);
	if (r->problems->errors > l->errors_before) {
		escape_unguard(&l->guard);
		policy_free(policy);
		return NULL;
	}
	policy_build(policy);
	escape_unguard(&l->guard);
	return policy;
}

/* --- documents ------------------------------------------------------------ */

static void on_issue(void *context, const struct load_issue *issue)
{
	struct policy_reader *r = context;

	/* The loader would use the last duplicate key, but a policy must be
	 * unambiguous. */
	problem_offset(r, issue->start, issue->kind == LOAD_DISAGREEMENT,
		       issue->kind == LOAD_DUPLICATE_KEY
			       ? "this key is given twice in one map"
			       : shown(r, issue->text));
}

/* True for a document of kind Exemptions. A wrong apiVersion or kind is
 * reported, but the document is read. */
static bool is_exemptions(struct policy_reader *r, const struct node *root)
{
	static const char *const kinds[] = {"Policy", "Exemptions"};
	const struct node *version = node_get(root, "apiVersion");
	const struct node *kind = node_get(root, "kind");

	if (!node_is_unset(version) && !node_eq(version, "gpugate.dev/v1"))
		problem(r, version,
			"expected apiVersion `gpugate.dev/v1`%s%s%s",
			node_str(version) ? ", found `" : "",
			node_str(version) ? shown(r, version->str) : "",
			node_str(version) ? "`" : "");
	return !node_is_unset(kind) &&
	       read_choice(r, kind, "kind", kinds, 2) == 1;
}

static void load_document(struct loading *l, const struct doc *doc)
{
	struct policy_reader *r = &l->reader;

	if (!node_is_map(doc->root)) {
		problem(r, doc->root, "expected a map, found %s",
			node_noun(doc->root));
		return;
	}
	if (is_exemptions(r, doc->root)) {
		read_exemptions_document(r, doc->root);
		return;
	}
	if (l->npolicies++) {
		problem(r, doc->root,
			"a second Policy: a policy is one document");
		return;
	}
	read_policy_document(r, doc->root);
}

static void load_text(struct loading *l, const struct policy_text *text)
{
	struct policy_reader *r = &l->reader;
	struct policy *policy = r->policy;
	/* The document lives as long as the policy, which may contain its
	 * rules. */
	struct arena *arena = policy_arena(policy);
	struct source *source = ARENA_NEW(arena, struct source);
	struct loader loader;
	struct doc doc;
	size_t errors = r->problems->errors;
	unsigned read = 0;

	r->file = arena_strdup(arena, text->name);
	r->source = source;
	policy->hash = text_hash(text->text, text->len, policy->hash);
	source_init(source, arena, r->file, text->text, text->len);
	loader_init(&loader, source, &load_limits_default, arena);
	loader.issue = on_issue;
	loader.context = r;
	while (loader_next(&loader, &doc) > 0) {
		read++;
		if (doc.root)
			*VEC_PUSH(arena, l->documents, l->n,
				  l->size) = (struct policy_document){
				.file = r->file, .source = source, .doc = doc};
	}
	if (!read && r->problems->errors == errors)
		problem(r, NULL, "the file is empty");
	r->source = NULL;
}

static void begin_document(struct loading *l,
			   const struct policy_document *document)
{
	l->reader.file = document->file;
	l->reader.path = l->in_files ? document->file : NULL;
	l->reader.source = document->source;
}

/* Reads the custom rules first, because any other key may refer to their
 * names. */
static void load_rules(struct loading *l)
{
	struct policy_reader *r = &l->reader;

	for (size_t i = 0; i < l->n; i++) {
		struct policy_document *document = &l->documents[i];
		const struct node *root = document->doc.root;

		begin_document(l, document);
		document->custom = read_custom_document(r, &document->doc);
		if (!document->custom &&
		    !node_eq(node_get(root, "kind"), "Exemptions"))
			read_custom(r, node_get(root, "custom"));
	}
	finish_admission(r);
	if (r->nrules_added)
		policy_add_rules(r->policy, r->rules_added, r->nrules_added);
	r->rules = r->policy->rules;
}

static void load_documents(struct loading *l)
{
	load_rules(l);
	for (size_t i = 0; i < l->n; i++) {
		begin_document(l, &l->documents[i]);
		if (!l->documents[i].custom)
			load_document(l, &l->documents[i].doc);
	}
	l->reader.source = NULL;
}

static void check_complete(struct loading *l)
{
	load_documents(l);
	if (l->reader.options.rules_only)
		l->npolicies++;
	if (!l->npolicies && l->reader.problems->errors == l->errors_before)
		problem(&l->reader, NULL,
			"there is no document of kind Policy");
}

struct policy *policy_parse(const struct rule_set *rules,
			    const struct policy_text *text,
			    const struct policy_options *options,
			    struct policy_problems *problems)
{
	struct loading l;

	loading_init(&l, rules, options, problems);
	load_text(&l, text);
	check_complete(&l);
	return loading_finish(&l);
}

/* --- files ---------------------------------------------------------------- */

/* Loads a file. With `pipe`, the path may be a pipe. */
static void load_file(struct loading *l, const char *path, bool pipe)
{
	const struct file_how how = {.limit = FILE_POLICY_MAX,
				     .may_pipe = pipe};
	struct policy_reader *r = &l->reader;
	struct escape_guard guard;
	struct err err = {0};
	struct buf text;

	r->file = arena_strdup(policy_arena(r->policy), path);
	buf_init(&text);
	escape_guard(&guard, buf_drop, &text);
	if (file_load(path, &how, &text, &err))
		problem(r, NULL, "cannot read: %s", err.text);
	else
		load_text(l,
			  &(struct policy_text){
				  path,
				  arena_strndup(&l->arena, text.data, text.len),
				  text.len});
	escape_unguard(&guard);
	buf_release(&text);
}

static bool is_policy_name(const char *name)
{
	if (strcmp(name, ".gpugate.yaml") == 0)
		return true;
	return name[0] != '.' &&
	       (text_ends(name, ".yaml") || text_ends(name, ".yml") ||
		text_ends(name, ".json"));
}

static void load_folder(struct loading *l, const char *path, DIR *dir)
{
	const char **names = NULL;
	size_t n = 0, size = 0;
	struct dirent *entry;

	while (errno = 0, (entry = readdir(dir)))
		if (is_policy_name(entry->d_name))
			*VEC_PUSH(&l->arena, names, n, size) = arena_printf(
				&l->arena, "%s%s%s", path,
				text_ends(path, "/") ? "" : "/", entry->d_name);
	/* A policy that could be read only in part is not used. */
	if (errno)
		problem(&l->reader, NULL, "cannot read: %s", strerror(errno));
	texts_sort(names, n);
	if (n > POLICY_FILES_MAX)
		problem(&l->reader, NULL,
			"the folder holds %zu policy files, more than %d", n,
			POLICY_FILES_MAX);
	for (size_t i = 0; i < n && n <= POLICY_FILES_MAX; i++)
		load_file(l, names[i], false);
	if (!n)
		problem(&l->reader, NULL, "the folder holds no policy file");
}

static void close_folder(void *dir)
{
	closedir(dir);
}

struct policy *policy_load(const struct rule_set *rules, const char *path,
			   const struct policy_options *options,
			   struct policy_problems *problems)
{
	struct loading l;
	bool found = options && options->refuse_path;
	struct escape_guard guard;
	DIR *dir;

	loading_init(&l, rules, options, problems);
	l.in_files = true;
	l.reader.file = arena_strdup(policy_arena(l.reader.policy), path);
	dir = found ? NULL : opendir(path);
	if (dir) {
		escape_guard(&guard, close_folder, dir);
		load_folder(&l, path, dir);
		escape_unguard(&guard);
		closedir(dir);
		l.reader.file =
			arena_strdup(policy_arena(l.reader.policy), path);
	} else {
		load_file(&l, path, !found && !l.reader.options.admission);
	}
	check_complete(&l);
	return loading_finish(&l);
}

static void drop_policy(void *policy)
{
	policy_free(policy);
}

struct policy *policy_default(const struct rule_set *rules, const char *preset)
{
	struct escape_guard guard;
	struct preset_ref ref;
	struct policy *policy;
	const char *why;

	if (!preset_parse(preset ? preset : "recommended", &ref, &why))
		return NULL;
	policy = policy_new(rules);
	escape_guard(&guard, drop_policy, policy);
	policy->today = date_today();
	*VEC_PUSH(policy_arena(policy), policy->extends, policy->nextends,
		  policy->extends_size) = ref;
	policy_build(policy);
	escape_unguard(&guard);
	return policy;
}
