/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the linted files a second time for the names, claims, runtimes and
 * mutating policies that they define. They are read at most once, by the first
 * thread whose rule needs one of these.
 */
#include "lint.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/text.h"
#include "doc/load.h"
#include "lint/files/kustomize.h"

/* A file with runtimes, and the findings about its text. */
struct runtime_file {
	uint32_t index;
	const struct source *source;
	struct text_findings *findings; /* NULL until it is needed */
};

void defined_names_init(struct defined_names *names, const struct files *files,
			const struct stdin_cache *stdin_cache)
{
	*names = (struct defined_names){.files = files,
					.stdin_cache = stdin_cache};
	pthread_mutex_init(&names->lock, NULL);
	pthread_mutex_init(&names->findings_lock, NULL);
}

void defined_names_release(struct defined_names *names)
{
	admission_policies_free(names->mutations);
	for (size_t i = 0; i < names->nruntime_files; i++)
		if (names->runtime_files[i].findings)
			text_findings_release(names->runtime_files[i].findings);
	arena_release(&names->arena);
	pthread_mutex_destroy(&names->findings_lock);
	pthread_mutex_destroy(&names->lock);
}

static void add(void *context, const struct defined_name *name)
{
	struct defined_names *names = context;

	*VEC_PUSH(&names->arena, names->items, names->n, names->size) =
		(struct defined_name){name->kind,
				      arena_strdup(&names->arena, name->text),
				      name->vendor};
}

/* False if a kustomization changes the file's objects. */
static bool is_whole(const struct files *files, uint32_t file)
{
	const struct lint_file *f = &files->items[file];

	return !(f->flags & (FILE_FRAGMENT | FILE_PATCHED)) &&
	       (!files->folders[f->folder].fragments ||
		kustomize_name(f->name));
}

/* Returns a copy of the text that lives as long as the runtimes read from it.
 */
static struct source *keep_text(struct defined_names *names,
				const struct buf *input)
{
	struct arena *arena = &names->arena;
	struct source *source = ARENA_NEW(arena, struct source);

	source_init(source, arena, "",
		    arena_strndup(arena, input->data, input->len), input->len);
	return source;
}

/* Parses the file once for all that it may define. Its runtimes keep their text
 * and trees. input is the content of the file; decoded is the same text as
 * UTF-8. */
static void read_documents(struct defined_names *names, uint32_t file,
			   struct source *decoded, const struct buf *input)
{
	bool whole = is_whole(names->files, file);
	bool gives_names = defined_names_may_be_in(decoded->text, decoded->len);
	bool claims = whole && claims_may_be_in(decoded->text, decoded->len);
	bool runtimes =
		whole && runtimes_may_be_in(decoded->text, decoded->len);
	struct source *source = runtimes ? keep_text(names, input) : decoded;
	struct arena docs = ARENA_INIT;
	struct loader loader;
	struct doc doc;
	int more;

	if (!gives_names && !claims && !runtimes)
		return;
	loader_init(&loader, source, &load_limits_default,
		    runtimes ? &names->arena : &docs);
	while ((more = loader_next(&loader, &doc))) {
		if (gives_names)
			defined_names_of(&doc, &docs, add, names);
		claims &= more > 0;
		runtimes &= more > 0;
		if (claims && doc.root)
			claims_add(&names->claims, &names->arena, &doc);
		if (runtimes && doc.root) {
			placeholder_mark(&doc);
			runtimes_add(&names->runtimes, &names->arena, &doc,
				     file);
		}
		arena_reset(&docs);
	}
	arena_release(&docs);
	while (names->nclaim_files < names->claims.n)
		*VEC_PUSH(&names->arena, names->claim_files,
			  names->nclaim_files, names->claim_files_size) = file;
	if (source != decoded)
		*VEC_PUSH(&names->arena, names->runtime_files,
			  names->nruntime_files, names->runtime_files_size) =
			(struct runtime_file){.index = file, .source = source};
}

static void read_mutations(struct defined_names *names, const char *path,
			   const struct source *decoded)
{
	if (!text_find(decoded->text, decoded->len, "MutatingAdmissionPolicy"))
		return;
	if (!names->mutations)
		names->mutations = admission_policies_new();
	admission_policies_add_mutations(names->mutations, path, decoded->text,
					 decoded->len);
}

static void read_file(struct defined_names *names, uint32_t file,
		      struct buf *path, struct buf *text)
{
	const struct file_how how = {.limit = FILE_MANIFEST_MAX};
	const struct buf *input = stdin_cache_find(names->stdin_cache, file);
	struct arena arena = ARENA_INIT;
	struct source decoded;

	buf_reset(path);
	buf_reset(text);
	files_path(names->files, file, path);
	if (!input && (!(names->files->items[file].flags & FILE_REGULAR) ||
		       file_read(AT_FDCWD, path->data, &how, text)))
		return;
	if (!input)
		input = text;
	/* The decoded text is searched, because the file may be UTF-16. */
	source_init(&decoded, &arena, "", input->data, input->len);
	read_documents(names, file, &decoded, input);
	read_mutations(names, path->data, &decoded);
	arena_release(&arena);
}

/* Reads all files, on the first call. */
static void read_all(struct defined_names *names)
{
	const struct admission_listener silent = {0};
	struct buf path, text;

	if (names->read)
		return;

	buf_init(&path);
	buf_init(&text);
	for (size_t i = 0; i < names->files->n; i++)
		read_file(names, (uint32_t)i, &path, &text);
	buf_release(&path);
	buf_release(&text);
	if (names->mutations)
		admission_policies_finish(names->mutations, &silent);
	names->read = true;
}

bool defined_names_find(void *context, enum defined_kind kind, const char *text,
			struct defined_name *name)
{
	struct defined_names *names = context;
	bool found = false;

	pthread_mutex_lock(&names->lock);
	read_all(names);
	for (size_t i = 0; i < names->n && !found; i++) {
		found = defined_name_is(&names->items[i], kind, text);
		if (found)
			*name = names->items[i];
	}
	pthread_mutex_unlock(&names->lock);
	return found;
}

const struct claim *defined_claim_find(void *context, uint32_t file,
				       const char *namespace, const char *name,
				       bool template)
{
	struct defined_names *names = context;
	const struct lint_file *files = names->files->items;
	const struct claim *found = NULL;

	pthread_mutex_lock(&names->lock);
	read_all(names);
	pthread_mutex_unlock(&names->lock);
	for (size_t i = 0; i < names->claims.n; i++) {
		const struct claim *claim = &names->claims.items[i];
		uint32_t other = names->claim_files[i];

		if (other == file ||
		    files[other].folder != files[file].folder ||
		    !claim_is(claim, namespace, name, template))
			continue;
		if (found)
			return NULL;
		found = claim;
	}
	return found;
}

static bool are_same(const struct runtime *a, const struct runtime *b)
{
	struct buf x, y;
	bool same;

	buf_init(&x);
	buf_init(&y);
	node_json(a->root, &x);
	node_json(b->root, &y);
	same = x.len == y.len && !memcmp(x.data, y.data, x.len);
	buf_release(&x);
	buf_release(&y);
	return same;
}

/* Returns the only matching runtime. Folders may contain variants of an object,
 * of which only one is applied; then it returns NULL. */
static const struct runtime *only_runtime(const struct runtime *list,
					  const struct object *object,
					  const char *kind, const char *name)
{
	const struct runtime *found = NULL;

	for (; list; list = list->next) {
		if (!runtime_is(list, object, kind, name))
			continue;
		if (found && !are_same(found, list))
			return NULL;
		found = list;
	}
	return found;
}

const struct runtime *defined_runtime_find(void *context,
					   const struct object *object,
					   const char *kind, const char *name)
{
	struct defined_names *names = context;

	pthread_mutex_lock(&names->lock);
	read_all(names);
	pthread_mutex_unlock(&names->lock);
	return only_runtime(runtimes_named(&names->runtimes, name), object,
			    kind, name);
}

const struct admission_policies *defined_mutations(void *context)
{
	struct defined_names *names = context;

	pthread_mutex_lock(&names->lock);
	read_all(names);
	pthread_mutex_unlock(&names->lock);
	return names->mutations;
}

/* --- findings about the runtimes ------------------------------------------ */

static void keep_findings(void *context, uint32_t file,
			  struct finding **findings, size_t n)
{
	(void)file;
	text_findings_add(context, findings, n);
}

/* Lints the text from which the file's runtimes were read. */
static void lint_runtimes(struct defined_names *names, struct runtime_file *out)
{
	const struct source *text = out->source;
	struct run_options options = names->job->run;
	/* documents are dropped one by one, the lines of the text are kept */
	struct arena arena = ARENA_INIT, docs = ARENA_INIT;
	struct run_file file;
	struct source source;
	struct buf path;
	struct run run;

	options.sink = keep_findings;
	options.context = out->findings =
		ARENA_NEW(&names->arena, struct text_findings);
	options.baseline = NULL;
	options.render_repairs = false;
	options.is_repeated = NULL;
	buf_init(&path);
	job_file(names->job, out->index, &path, &file);
	source_init(&source, &arena, "", text->text - text->bom,
		    text->len + text->bom);
	file.source = &source;
	run_init(&run, &options);
	run_file(&run, &file, &docs, NULL, NULL);
	run_release(&run);
	buf_release(&path);
	arena_release(&docs);
	arena_release(&arena);
	text_findings_end(out->findings);
}

static int compare_index(const void *index, const void *file)
{
	uint32_t a = *(const uint32_t *)index;
	uint32_t b = ((const struct runtime_file *)file)->index;

	return a < b ? -1 : a > b;
}

bool defined_runtime_repeats(void *context, const struct finding *f)
{
	struct defined_names *names = context;
	struct runtime_file *file;
	uint32_t index = finding_runtime_file(f);

	if (index == f->place.file)
		return false;
	file = bsearch(&index, names->runtime_files, names->nruntime_files,
		       sizeof(*file), compare_index);
	if (!file)
		return false;
	pthread_mutex_lock(&names->findings_lock);
	if (!file->findings)
		lint_runtimes(names, file);
	pthread_mutex_unlock(&names->findings_lock);
	return finding_table_has(&file->findings->table, f);
}
