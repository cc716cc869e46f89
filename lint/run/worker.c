/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers take small groups of adjacent files from one counter, so that one
 * thread reads most of a folder and no thread waits. The calling thread is also
 * a worker; for a few files, no other is started.
 *
 * A file is a template if it cannot be parsed as YAML after a `{{` or `{%`; to
 * find out, it is parsed once before its documents are linted.
 */
#include "lint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/err.h"
#include "base/path.h"
#include "base/text.h"
#include "doc/load.h"
#include "lint/files/kustomize.h"
#include "lint/term/log.h"

enum { LARGEST_CHUNK = 32, FILES_PER_THREAD = 8 };

/* --- templates ----------------------------------------------------------- */

struct mistakes {
	const struct source *source;
	uint32_t document; /* start of the current document */
	bool of_markup;	   /* a document has an error after markup */
};

static void note_mistake(void *context, const struct load_issue *issue)
{
	static const char *const openings[] = {"{{", "{%", "{#"};
	struct mistakes *m = context;
	const char *text = m->source->text + m->document;

	if (issue->kind != LOAD_SYNTAX || issue->end < m->document)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(openings); i++)
		m->of_markup |= text_find(text, issue->end - m->document,
					  openings[i]) != NULL;
}

static bool breaks_yaml(struct worker *w, struct source *source)
{
	struct mistakes mistakes = {.source = source};
	struct loader loader;
	struct doc doc;
	int more;

	loader_init(&loader, source, &load_limits_default, &w->doc_arena);
	loader.issue = note_mistake;
	loader.context = &mistakes;
	do {
		mistakes.document = loader.next;
		more = loader_next(&loader, &doc);
		arena_reset(&w->doc_arena);
	} while (more > 0 && !mistakes.of_markup);
	return mistakes.of_markup;
}

/* True if the file has template markup that is not valid YAML. A file with NUL
 * bytes is not a template, because they do not come from markup. */
static bool is_template(struct worker *w, struct source *source)
{
	if ((!text_find(source->text, source->len, "{{") &&
	     !text_find(source->text, source->len, "{%")) ||
	    memchr(source->text, '\0', source->len))
		return false;
	return template_in(source->text, source->len) || breaks_yaml(w, source);
}

/* --- files that are not Kubernetes manifests ------------------------------ */

/* True if the word is a key, according to the bytes around it: `kind:` or
 * `"kind" :`, also in flow style. */
static bool is_key(const char *text, const char *end, const char *at,
		   size_t len)
{
	const char *next = at + len;

	if (at > text && !strchr(" \t\r\n\"'{,?-", at[-1]))
		return false;
	if (next < end && (*next == '"' || *next == '\''))
		next++;
	while (next < end && (*next == ' ' || *next == '\t'))
		next++;
	return next < end && *next == ':';
}

static bool has_key(const struct source *source, const char *key)
{
	const char *end = source->text + source->len, *at = source->text;
	size_t len = strlen(key);

	while ((at = text_find(at, (size_t)(end - at), key))) {
		if (is_key(source->text, end, at, len))
			return true;
		at += len;
	}
	return false;
}

/*
 * True for settings and data, which a folder may also contain: the file has
 * neither of the two keys of every Kubernetes object. One of them is enough,
 * because the part with the other may be unreadable. If keys may contain
 * escapes, the file counts as a manifest until it is parsed.
 */
static bool is_foreign(const struct source *source)
{
	return !has_key(source, "kind") && !has_key(source, "apiVersion") &&
	       !text_find(source->text, source->len, "\\u00") &&
	       !text_find(source->text, source->len, "\\x");
}

/* --- one file ------------------------------------------------------------ */

const struct policy *job_policy(struct job *job, size_t file,
				struct buf *scratch,
				struct policy_path_rule *rule)
{
	const struct lint_file *f = &job->files->items[file];
	const struct lint_folder *folder = &job->files->folders[f->folder];

	buf_reset(scratch);
	if (*folder->path != '/')
		path_join(job->cwd, folder->path, scratch);
	else
		buf_adds(scratch, folder->path);
	path_enter(scratch, f->name);
	return policies_for_file(job->policies, folder->policy, scratch->data,
				 rule);
}

void job_file(struct job *job, size_t index, struct buf *scratch,
	      struct run_file *file)
{
	const struct lint_file *f = &job->files->items[index];
	struct policy_path_rule rule;

	*file = (struct run_file){.index = (uint32_t)index};
	file->policy = job_policy(job, index, scratch, &rule);
	file->default_namespace = job->options->namespace
					  ? job->options->namespace
					  : rule.namespace;
	file->cluster = clusters_for_file(job->clusters, job->policies,
					  job->files->folders[f->folder].policy,
					  rule.cluster);
	file->cluster_policies =
		clusters_admission(job->clusters, file->cluster);
	if (file->cluster)
		clusters_check_age(job->clusters, file->cluster,
				   policy_max_age(file->policy));
	file->fragments = (f->flags & FILE_FRAGMENT) ||
			  (job->files->folders[f->folder].fragments &&
			   !kustomize_name(f->name));
	file->patched = f->flags & FILE_PATCHED;
	file->built = f->flags & FILE_RENDERED;
	file->charts_judged = f->flags & FILE_INSTALLS;
}

static void search_secrets(void *secrets, const struct doc *doc)
{
	secrets_of_tree(secrets, doc->root);
}

/*
 * Parses and checks the documents of a file, and records whether it contains
 * secret values. The trees are searched for names of secrets while they exist,
 * so that few files must be read again.
 */
static void check_documents(struct worker *w, struct run *run,
			    struct run_file *file)
{
	const struct source *source = file->source;
	struct lint_file *f = &w->job->files->items[file->index];
	struct secrets secrets = {.arena = &w->source_arena};
	const struct run_counts before = run->counts;
	bool possible = secrets_possible(source->text, source->len);

	run_file(run, file, &w->doc_arena, possible ? search_secrets : NULL,
		 &secrets);
	/* A rendered text cannot be fixed, so its fixes are not counted. */
	if (f->flags & FILE_RENDERED) {
		run->counts.fixable = before.fixable;
		run->counts.fixable_unsafe = before.fixable_unsafe;
		run->counts.fixable_infos = before.fixable_infos;
	}
	if (possible)
		secrets_of_text(&secrets, source->text, source->len);
	if (secrets.n || secrets.nspans ||
	    (w->job->collection->files[file->index].n &&
	     secrets_plain(source->text, source->len)))
		f->flags |= FILE_SECRETS;
}

/* Returns 0, or an errno value after a message. */
static int write_fixed(const struct worker *w, const struct lint_file *f)
{
	bool once = f->flags & FILE_READ_ONCE;
	const struct job *job = w->job;
	size_t file = (size_t)(f - job->files->items);
	int error = once ? EROFS
			 : fix_write(job->files, file, &w->fixed,
				     &job->stamps[file]);
	const char *why = error ? fix_strerror(error) : "";

	if (once)
		why = f->flags & FILE_STDIN
			      ? "it is standard input, use --diff"
			      : "it is not a regular file, use --diff";
	if (error)
		log_line("%s: not fixed: %s", w->path.data, why);
	return error;
}

/* Stores the messages about the fixes of the file. The merge prints them in the
 * order of files. */
static void tell_fix(struct worker *w, const struct lint_file *f, bool made)
{
	struct job *job = w->job;
	struct buf text;

	buf_init(&text);
	fixer_tell(&w->fixer, w->path.data, made, &text);
	if (text.len)
		job->told[f - job->files->items] = strdup(text.data);
	buf_release(&text);
}

/*
 * Fixes the text. With --fix, also writes the file and uses the new text as the
 * source. With --diff, only marks the file; the diff is made later, in the
 * order of files.
 */
static void fix_file(struct worker *w, const struct run_file *file,
		     struct lint_file *f, struct source *source)
{
	const struct options *o = w->job->options;
	struct err err = {0};
	int rc, error = 0;

	buf_reset(&w->fixed);
	rc = fixer_text(&w->fixer, file, source, &w->fixed, &err);
	if (rc > 0 && !o->diff) {
		error = write_fixed(w, f);
		if (!error) {
			f->size = (uint32_t)w->fixed.len;
			source_init(source, &w->source_arena, w->path.data,
				    w->fixed.data, w->fixed.len);
		}
	} else if (rc < 0) {
		log_line("%s: not fixed: %s", w->path.data, err.text);
	}
	tell_fix(w, f, rc > 0 && !error && !o->diff);
	if (rc < 0 || error || (source->transcoded && w->fixer.nnotes))
		f->flags |= FILE_FIX_FAILED;
	else if (rc > 0)
		f->flags |= FILE_FIXED;
}

/*
 * Returns a descriptor of the file's folder, which is opened once for all of
 * its files. Returns -1 if the folder is not open yet and no later file of the
 * list is in it (using the path is then as fast), or if the folder cannot be
 * opened.
 */
static int folder_fd(struct worker *w, size_t index)
{
	const struct files *files = w->job->files;
	uint32_t folder = files->items[index].folder;
	const char *path = files->folders[folder].path;

	if (w->fd >= 0 && w->folder == folder)
		return w->fd;
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	if (index + 1 == files->n || files->items[index + 1].folder != folder)
		return -1;
	w->folder = folder;
	w->fd = open(*path ? path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->fd;
}

static int read_file(struct worker *w, size_t index)
{
	const struct lint_file *f = &w->job->files->items[index];
	int fd = folder_fd(w, index);

	struct file_stamp *stamps = w->job->stamps;
	const struct file_how how = {.limit = FILE_MANIFEST_MAX,
				     .known = f->flags & FILE_REGULAR,
				     .stamp = stamps ? &stamps[index] : NULL};

	return input_read(&w->input, fd >= 0 ? fd : AT_FDCWD,
			  fd >= 0 ? f->name : w->path.data, &how);
}

/*
 * True if the file is fixed, or is compared with its fixed version for --diff.
 * A source file of a rendered text is not fixed, because the text would then
 * change.
 */
static bool is_repaired(const struct options *o, const struct lint_file *f)
{
	if (f->flags & FILE_RENDERED)
		return false;
	return o->diff || (o->fix && !(f->flags & FILE_SUPERSEDED));
}

static bool read_source(struct worker *w, struct lint_file *f, size_t index,
			struct source *source)
{
	const struct buf *input = stdin_cache_find(w->job->stdin_cache, index);

	if (f->flags & FILE_DANGLING)
		return false;
	buf_reset(&w->path);
	files_path(w->job->files, index, &w->path);
	if (!input) {
		f->error = (uint16_t)read_file(w, index);
		input = &w->input;
	}
	if (f->error)
		return false;
	f->size = (uint32_t)input->len;
	arena_reset(&w->source_arena);
	source_init(source, &w->source_arena, w->path.data, input->data,
		    input->len);
	return true;
}

static bool is_left_out(struct worker *w, struct lint_file *f,
			struct source *source)
{
	if (!(f->flags & (FILE_NAMED | FILE_STDIN | FILE_RENDERED)) &&
	    is_foreign(source))
		f->flags |= FILE_NOT_KUBERNETES;
	else if (w->job->run.file_values && !(f->flags & FILE_RENDERED) &&
		 is_template(w, source))
		f->flags |= FILE_TEMPLATE;
	return f->flags & (FILE_NOT_KUBERNETES | FILE_TEMPLATE);
}

static void lint_file(struct worker *w, size_t index)
{
	struct lint_file *f = &w->job->files->items[index];
	struct run_file file;
	struct source source;

	if (!read_source(w, f, index, &source) || is_left_out(w, f, &source))
		return;
	if (w->job->options->verbose > 1)
		log_line("%s", w->path.data);
	job_file(w->job, index, &w->absolute, &file);
	file.source = &source;
	if (is_repaired(w->job->options, f))
		fix_file(w, &file, f, &source);
	if (f->flags & FILE_SUPERSEDED) {
		check_documents(w, &w->alone, &file);
		run_restart(&w->alone);
	} else {
		check_documents(w, &w->run, &file);
	}
	f->flags |= FILE_LINTED;
}

/* --- threads ------------------------------------------------------------- */

static void collect_findings(void *context, uint32_t file,
			     struct finding **findings, size_t n)
{
	struct worker *w = context;

	collect_file(w->job->collection, file, findings, n, &w->findings);
}

/* Takes the next files; fewer at a time toward the end, so that all threads end
 * at about the same time. Returns false if there are none left. */
static bool take(struct job *job, size_t *from, size_t *to)
{
	size_t n = job->files->n, at = atomic_load(&job->next), chunk;

	do {
		if (at >= n)
			return false;
		chunk = (n - at) / job->workers->n / 4;
		if (chunk > LARGEST_CHUNK)
			chunk = LARGEST_CHUNK;
		chunk += !chunk;
	} while (!atomic_compare_exchange_weak(&job->next, &at, at + chunk));
	*from = at;
	*to = at + chunk;
	return true;
}

static void work(void *context, unsigned index)
{
	struct job *job = context;
	struct worker *w = &job->workers->items[index];
	size_t from, to;

	while (take(job, &from, &to)) {
		for (size_t i = from; i < to; i++)
			lint_file(w, i);
		atomic_fetch_add(&job->done, to - from);
		if (!index)
			progress_show(&job->progress, job->done, job->files->n);
	}
}

static void init_worker(struct workers *workers, struct job *job, unsigned i)
{
	struct worker *w = &workers->items[i];
	struct run_options options = job->run;

	w->job = job;
	options.sink = collect_findings;
	options.context = w;
	run_init(&w->run, &options);
	options.baseline = NULL;
	if (job->files->nrendered)
		run_init(&w->alone, &options);
	buf_init(&w->path);
	buf_init(&w->absolute);
	buf_init(&w->fixed);
	if (job->options->fix || job->options->diff)
		fixer_init(&w->fixer, &job->run, job->options->unsafe_fixes);
	w->fd = -1;
}

void workers_run(struct workers *workers, struct job *job,
		 struct thread_pool *thread_pool)
{
	size_t useful = job->files->n / FILES_PER_THREAD;
	unsigned threads = thread_pool->most;

	if (useful < threads)
		threads = useful ? (unsigned)useful : 1;
	workers->items = array_zalloc(threads, sizeof(*workers->items));
	workers->n = threads;
	job->workers = workers;
	for (unsigned i = 0; i < threads; i++)
		init_worker(workers, job, i);
	pool_call(thread_pool, threads, work, job);
	work(job, 0);
	pool_wait(thread_pool);
	progress_end(&job->progress);
}

void workers_join(struct workers *workers, struct run *whole)
{
	for (unsigned i = 0; i < workers->n; i++) {
		struct worker *w = &workers->items[i];

		run_join(whole, &w->run);
		buf_release(&w->input);
		arena_release(&w->source_arena);
		arena_release(&w->doc_arena);
	}
}

void workers_release(struct workers *workers)
{
	for (unsigned i = 0; i < workers->n; i++) {
		struct worker *w = &workers->items[i];

		run_release(&w->run);
		if (w->alone.state)
			run_release(&w->alone);
		buf_release(&w->path);
		buf_release(&w->absolute);
		buf_release(&w->fixed);
		if (w->fixer.run.state)
			fixer_release(&w->fixer);
		if (w->fd >= 0)
			close(w->fd);
		arena_release(&w->findings.arena);
	}
	free(workers->items);
}
