/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies from files, folders and memory. A policy is one document of kind
 * Policy and any number of kind Exemptions, in any order, in one file or in
 * the files of a folder (a mounted ConfigMap: names that begin with a dot
 * are its own links and are passed over). The loader's own complaints are
 * problems too: a policy with a key written twice is not what it seems.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/vec.h"
#include "date.h"
#include "policy_read.h"

enum { POLICY_BYTES_MAX = 1 << 20, POLICY_FILES_MAX = 1000 };

struct loading {
	struct reader reader;
	struct arena arena; /* of texts and trees, gone after loading */
	size_t errors_before, before; /* problems of others */
	unsigned npolicies;
};

static void loading_init(struct loading *l, const struct rule_set *rules,
			 const struct policy_options *options,
			 struct policy_problems *problems)
{
	struct policy *policy = policy_new(rules);

	*l = (struct loading){.errors_before = problems->errors,
			      .before = problems->n};
	l->reader.policy = policy;
	l->reader.problems = problems;
	l->reader.rules = rules;
	l->reader.file = "";
	l->reader.door = options && options->door;
	policy->today = options ? options->today : 0;
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
	struct reader *r = &l->reader;
	struct policy *policy = r->policy;

	policy->kube.accelerators.items = r->accelerators;
	policy->kube.accelerators.n = r->naccelerators;
	policy->kube.kinds = r->kinds;
	policy->kube.nkinds = r->nkinds;
	arena_release(&l->arena);
	if (r->problems->n > l->before)
		qsort(r->problems->items + l->before,
		      r->problems->n - l->before, sizeof(*r->problems->items),
		      by_place);
	if (r->problems->errors > l->errors_before) {
		policy_free(policy);
		return NULL;
	}
	policy_build(policy);
	return policy;
}

/* --- documents ------------------------------------------------------------ */

static void on_issue(void *context, const struct load_issue *issue)
{
	struct reader *r = context;

	/* The loader would take the last of two; a policy must be clear. */
	problem_offset(r, issue->start, issue->kind == LOAD_DISAGREEMENT,
		       issue->kind == LOAD_DUPLICATE_KEY
			       ? "this key stands twice in one map"
			       : shown(r, issue->text));
}

/* Wrong or missing, it is a problem; either way the rest is read. */
static bool is_exemptions(struct reader *r, const struct node *root)
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
	struct reader *r = &l->reader;

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
			"a second Policy: one policy has one document");
		return;
	}
	read_policy_document(r, doc->root);
}

static void load_text(struct loading *l, const struct policy_text *text)
{
	struct reader *r = &l->reader;
	struct policy *policy = r->policy;
	struct source source;
	struct loader loader;
	struct doc doc;
	size_t errors = r->problems->errors;
	unsigned read = 0;

	r->file = arena_strdup(policy_arena(policy), text->name);
	r->source = &source;
	policy->hash = text_hash(text->text, text->len, policy->hash);
	source_init(&source, &l->arena, r->file, text->text, text->len);
	loader_init(&loader, &source, &load_limits_default, &l->arena);
	loader.issue = on_issue;
	loader.context = r;
	while (loader_next(&loader, &doc) > 0) {
		read++;
		if (doc.root)
			load_document(l, &doc);
	}
	if (!read && r->problems->errors == errors)
		problem(r, NULL, "the file is empty");
	r->source = NULL;
}

static void check_complete(struct loading *l)
{
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

static ssize_t read_all(int fd, char *text, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = read(fd, text + len, size - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

/* At the door a pipe that nobody writes to must not hold up everything; who
 * lints may well name one: --policy <(...). */
static int open_policy(const struct reader *r, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | (r->door ? O_NONBLOCK : 0));
	struct stat st;

	if (fd >= 0 && r->door && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

static void load_file(struct loading *l, const char *path)
{
	struct reader *r = &l->reader;
	int fd = open_policy(r, path);
	char *text = arena_alloc(&l->arena, POLICY_BYTES_MAX + 1);
	ssize_t len = -1;

	r->file = arena_strdup(policy_arena(r->policy), path);
	if (fd >= 0)
		len = read_all(fd, text, POLICY_BYTES_MAX + 1);
	if (len < 0)
		problem(r, NULL, "cannot read: %s", strerror(errno));
	else if (len > POLICY_BYTES_MAX)
		problem(r, NULL, "larger than %d bytes", POLICY_BYTES_MAX);
	else
		load_text(l, &(struct policy_text){path, text, (size_t)len});
	if (fd >= 0)
		close(fd);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
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

	while ((entry = readdir(dir)))
		if (is_policy_name(entry->d_name))
			*VEC_PUSH(&l->arena, names, n, size) = arena_printf(
				&l->arena, "%s%s%s", path,
				text_ends(path, "/") ? "" : "/", entry->d_name);
	if (n)
		qsort(names, n, sizeof(*names), by_name);
	/* A part of a policy is none. */
	if (n > POLICY_FILES_MAX)
		problem(&l->reader, NULL,
			"the folder holds %zu policy files, more than %d", n,
			POLICY_FILES_MAX);
	for (size_t i = 0; i < n && n <= POLICY_FILES_MAX; i++)
		load_file(l, names[i]);
	if (!n)
		problem(&l->reader, NULL, "the folder holds no policy file");
}

struct policy *policy_load_with(const struct rule_set *rules, const char *path,
				const struct policy_options *options,
				struct policy_problems *problems)
{
	struct loading l;
	DIR *dir = opendir(path);

	loading_init(&l, rules, options, problems);
	l.reader.file = arena_strdup(policy_arena(l.reader.policy), path);
	if (dir) {
		load_folder(&l, path, dir);
		closedir(dir);
		l.reader.file =
			arena_strdup(policy_arena(l.reader.policy), path);
	} else {
		load_file(&l, path);
	}
	check_complete(&l);
	return loading_finish(&l);
}

struct policy *policy_load(const struct rule_set *rules, const char *path,
			   struct policy_problems *problems)
{
	return policy_load_with(rules, path, NULL, problems);
}

struct policy *policy_default(const struct rule_set *rules, const char *preset)
{
	struct preset_ref ref;
	struct policy *policy;
	const char *why;

	if (!preset_parse(preset ? preset : "recommended", &ref, &why))
		return NULL;
	policy = policy_new(rules);
	policy->today = date_today();
	*VEC_PUSH(policy_arena(policy), policy->extends, policy->nextends,
		  policy->extends_size) = ref;
	policy_build(policy);
	return policy;
}
