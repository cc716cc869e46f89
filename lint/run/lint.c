/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the command `lint`. The exit status is 2 if an error prevents linting of
 * some input, else 1 if a finding is at or above --fail-on, or if --diff shows
 * changes, or if --exit-non-zero-on-fix is given and a file was fixed. Files
 * that could be linted are always reported.
 */
#include "lint.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "lint/files/git.h"
#include "lint/term/log.h"

enum {
	THREADS_MAX = 64,
	SPARE = 16 << 20, /* free bytes that are not returned to the system */
};

/* --- options ------------------------------------------------------------- */

/* True if the name is that of a built-in rule, or of a custom rule of some
 * policy. */
static bool is_rule(const struct lint *lint, const char *name)
{
	const struct policies *policies = &lint->policies;

	for (size_t i = 0; i < policies->n; i++)
		if (rule_set_find(policy_rules(policies->items[i].policy),
				  name) >= 0)
			return true;
	return false;
}

static int check_required(const struct lint *lint)
{
	const struct list *require = &lint->options->require;

	for (size_t i = 0; i < require->n; i++) {
		const char *name = require->items[i];
		const char *near;

		if (!strcmp(name, "cluster") || is_rule(lint, name))
			continue;
		near = rule_set_nearest(&lint->rules, name);
		if (near)
			return log_usage("lint",
					 "--require: unknown rule `%s`; did "
					 "you mean `%s`?",
					 name, near);
		return log_usage("lint", "--require: unknown rule `%s`", name);
	}
	return 0;
}

static int check_options(struct lint *lint)
{
	const struct options *o = lint->options;

	if (o->config && o->isolated)
		return log_usage("lint",
				 "--config and --isolated cannot be combined");
	if (o->prune_baseline && !o->baseline)
		return log_usage("lint", "--prune-baseline needs --baseline");
	if (o->jobs > THREADS_MAX)
		return log_usage("lint", "-j: at most %d", THREADS_MAX);
	if (o->add_ignore && !o->add_ignore[strspn(o->add_ignore, " \t")])
		return log_usage("lint", "--add-ignore needs a reason");
	if (o->add_ignore && strpbrk(o->add_ignore, "\r\n"))
		return log_usage("lint", "--add-ignore: the reason must be "
					 "one line");
	if (o->unsafe_fixes && !o->fix && !o->diff)
		return log_usage("lint",
				 "--unsafe-fixes needs --fix or --diff");
	if (o->since && text_eq(o->render, "require"))
		return log_usage("lint", "--render require and --since cannot "
					 "be combined");
	if (o->as_groups.n && !o->as)
		return log_usage("lint", "--as-group needs --as");
	if (o->add_ignore && (o->fix || o->diff))
		return log_usage("lint",
				 "--add-ignore and --fix cannot be combined");
	return outputs_parse(&lint->outputs, lint->options);
}

/* --- steps --------------------------------------------------------------- */

/* Adds a text whose file is not in the list yet. */
static void add_text(struct lint *lint, const char *path)
{
	size_t len = (size_t)(strrchr(path, '/') - path);
	struct buf folder;
	uint32_t index;

	buf_init(&folder);
	buf_add(&folder, path, len ? len : 1);
	files_add_root(&lint->files, path, folder.len);
	index = files_add_folder(
		&lint->files, path, folder.len,
		policies_find(&lint->policies,
			      lint->live ? lint->cwd : folder.data));
	files_add(&lint->files, index, path + len + 1, 0);
	buf_release(&folder);
}

/* Stores the texts. A file that exists but was excluded by the walk stays
 * excluded even if it is open in an editor. */
static void put_texts(struct lint *lint)
{
	size_t before = lint->files.n;
	long file;

	for (size_t i = 0; lint->listed && i < before; i++)
		lint->files.items[i].flags &= ~(uint32_t)FILE_NAMED;
	for (size_t i = 0; i < lint->ntexts; i++)
		if (lint->live || access(lint->texts[i].path, F_OK))
			add_text(lint, lint->texts[i].path);
	if (lint->ntexts)
		files_sort(&lint->files);
	for (size_t i = 0; i < lint->ntexts; i++) {
		file = files_find(&lint->files, lint->texts[i].path);
		if (file >= 0)
			stdin_cache_put(&lint->stdin_cache, (uint32_t)file,
					lint->texts[i].text,
					lint->texts[i].len);
	}
}

static int list_files(struct lint *lint)
{
	struct walk_input input = {lint->options,   lint->cwd,
				   &lint->policies, &lint->kustomize,
				   &lint->files,    &lint->thread_pool};
	struct err err = {0};
	int rc = 0;

	if (!lint->listed || lint->options->paths.n)
		rc = walk_paths(&input, &lint->walk, &err);
	if (!rc)
		put_texts(lint);

	if (!rc && lint->options->since)
		rc = since_filter(&lint->files, lint->cwd, lint->options->since,
				  &err);
	if (rc) {
		log_line("%s", err.text);
		return 2;
	}
	rendered_make(&lint->rendered, &input, &lint->stdin_cache);
	lint->failed |= lint->walk.failed || lint->rendered.failed;
	/* If a policy is broken, nothing can be checked. */
	rc = policies_ready(&lint->policies);
	return rc ? rc : check_required(lint);
}

static struct source *source_of(void *context, uint32_t file)
{
	struct lint *lint = context;

	return sources_get(&lint->sources, file);
}

static const struct policy *policy_of(void *context, uint32_t file)
{
	struct lint *lint = context;
	struct policy_path_rule rule;

	return job_policy(&lint->job, file, &lint->set_path, &rule);
}

static void set_sink(void *context, uint32_t file, struct finding **findings,
		     size_t n)
{
	struct lint *lint = context;

	collect_set(&lint->collection, file, findings, n);
}

/* True if a format shows the fixes of findings. */
static bool wants_repairs(const struct options *options)
{
	static const char *const formats[] = {"full",  "html",	      "json",
					      "jsonl", "openreports", "sarif",
					      "rdjson"};

	for (size_t i = 0; i < options->formats.n; i++)
		for (size_t f = 0; f < ARRAY_SIZE(formats); f++)
			if (!strncmp(options->formats.items[i], formats[f],
				     strlen(formats[f])))
				return true;
	return !options->formats.n && !options->diff && options->quiet < 2;
}

/* Returns freed memory to the system, which main.c otherwise keeps; after a
 * large file it is more than the next steps need. */
static void give_memory_back(void)
{
	if (mallinfo2().fordblks > SPARE)
		malloc_trim(0);
}

static void join_facts(struct lint *lint)
{
	struct run_options options = lint->job.run;

	options.sink = set_sink;
	options.context = lint;
	options.source_of = source_of;
	run_init(&lint->whole, &options);
	workers_join(&lint->workers, &lint->whole);
	give_memory_back();
}

static void lint_files(struct lint *lint)
{
	const struct options *o = lint->options;
	struct job *job = &lint->job;

	job->options = o;
	job->cwd = lint->cwd;
	job->policies = &lint->policies;
	job->clusters = &lint->clusters;
	job->files = &lint->files;
	collection_init(&lint->collection, lint->files.n, &job->next);
	job->collection = &lint->collection;
	if (o->fix || o->add_ignore)
		job->stamps = array_zalloc(lint->files.n, sizeof(*job->stamps));
	if (o->fix || o->diff)
		job->told = array_zalloc(lint->files.n, sizeof(*job->told));
	job->stdin_cache = &lint->stdin_cache;
	job->run = (struct run_options){
		.rules = &lint->rules,
		.baseline = lint->baseline_run.old,
		.admission_policies = lint->admission.set,
		.namespaces = lint->admission.namespaces,
		.find_defined_name = defined_names_find,
		.find_claim = defined_claim_find,
		.find_runtime = defined_runtime_find,
		.find_mutations = defined_mutations,
		.set = &lint->defined_names,
		.user = o->as,
		.groups = lint->admission.groups,
		.partial = o->partial || o->since,
		.no_ignore = o->no_ignore,
		.file_values = !lint->live,
		.render_repairs = wants_repairs(o),
		.keep_infos = !options_show_infos(o),
		.today = lint->clusters.now / 86400,
		.now = lint->clusters.now,
	};
	if (o->fix || o->diff) {
		lint->defined_names.job = job;
		job->run.is_repeated = defined_runtime_repeats;
		job->run.repeated_context = &lint->defined_names;
	}
	progress_init(&job->progress, o->quiet > 0);
	workers_run(&lint->workers, job, &lint->thread_pool);
	join_facts(lint);
	file_sets_make(&lint->file_sets, job, &lint->whole.index);
	lint->whole.index.file_sets = lint->file_sets.numbers;
	lint->failed |= lint->clusters.failed;
}

/* Adds a finding which reports that later findings were dropped. */
static void cut_findings(struct lint *lint)
{
	const long last = collection_cut(&lint->collection);
	struct run *run = &lint->whole;
	struct arena arena = ARENA_INIT;
	struct load_issue issue = {.kind = LOAD_SYNTAX};
	struct run_file file;
	struct source none;

	if (last < 0)
		return;
	lint->failed = true;
	issue.text = arena_printf(&arena,
				  "all files up to this one have %d findings; "
				  "those of later files are not shown",
				  COLLECT_MAX);
	job_file(&lint->job, (size_t)last, &lint->set_path, &file);
	buf_reset(&lint->set_path);
	files_path(&lint->files, (size_t)last, &lint->set_path);
	source_init(&none, &arena, lint->set_path.data, "", 0);
	file.source = &none;
	run->options.no_ignore = true;
	run_begin_file(run, &file);
	run_load_issue(run, &issue);
	run_end_file(run);
	arena_release(&arena);
}

static void run_set_rules(struct lint *lint)
{
	if (lint->files.n)
		run_set(&lint->whole, policy_of, lint);
	cut_findings(lint);
	give_memory_back();
}

/* With -v, logs a step and its time. */
static void log_step(const struct lint *lint, const char *what, size_t n)
{
	if (lint->options->verbose)
		log_line("%.3f s: %zu %s",
			 (double)(progress_clock() - lint->start) / 1000, n,
			 what);
}

static void map_rendered(struct lint *lint)
{
	if (lint->files.nrendered)
		rendered_map(&lint->rendered, &lint->job, &lint->whole.counts);
}

/* Completes a run that only fixes files, without reports; the texts that are
 * rendered from the files are linted in a second run. Returns the exit
 * status. */
static int repair_first(struct lint *lint)
{
	struct baseline *old = lint->baseline_run.old;
	struct list require = lint->options->require;

	lint->outputs.n = 0;
	lint->baseline_run.old = NULL;
	lint->options->require.n = 0;
	run_set_rules(lint);
	lint_merge(lint);
	lint->baseline_run.old = old;
	lint->options->require = require;
	lint->options->fix = lint->options->unsafe_fixes = false;
	return lint->failed ? 2 : lint->found ? 1 : 0;
}

int lint_run(struct lint *lint)
{
	int rc = lint_gather(lint);

	if (rc)
		return rc;
	if (lint->rendered.deferred)
		return repair_first(lint);
	pool_dismiss(&lint->thread_pool);
	run_set_rules(lint);
	collection_drop_repeated(&lint->collection, &lint->whole.counts);
	map_rendered(lint);
	lint_merge(lint);
	log_step(lint, "GPU workloads checked by set rules",
		 lint->whole.index.nworkloads);
	log_step(lint, "reports written", lint->outputs.n);
	return lint->failed ? 2 : lint->found ? 1 : 0;
}

void lint_close(struct lint *lint)
{
	pool_release(&lint->thread_pool);
	if (lint->whole.state)
		run_release(&lint->whole);
	workers_release(&lint->workers);
	free(lint->job.stamps);
	for (size_t i = 0; lint->job.told && i < lint->files.n; i++)
		free(lint->job.told[i]);
	free(lint->job.told);
	baseline_run_release(&lint->baseline_run);
	outputs_release(&lint->outputs);
	policies_release(&lint->policies);
	clusters_release(&lint->clusters);
	admission_settings_release(&lint->admission);
	kustomize_release(&lint->kustomize);
	sources_release(&lint->sources);
	collection_release(&lint->collection);
	files_release(&lint->files);
	file_sets_release(&lint->file_sets);
	rendered_release(&lint->rendered);
	stdin_cache_release(&lint->stdin_cache);
	defined_names_release(&lint->defined_names);
	buf_release(&lint->set_path);
	free(lint->cwd);
}

static unsigned thread_count(const struct options *options)
{
	long online = options->jobs ? (long)options->jobs
				    : sysconf(_SC_NPROCESSORS_ONLN);

	if (online < 1)
		online = 1;
	return online < THREADS_MAX ? (unsigned)online : THREADS_MAX;
}

int lint_open(struct lint *lint)
{
	int rc;

	lint->rules = program_rules();
	lint->start = progress_clock();
	buf_init(&lint->set_path);
	pool_init(&lint->thread_pool, thread_count(lint->options));
	lint->cwd = getcwd(NULL, 0);
	if (!lint->cwd) {
		log_line("current folder: %s", strerror(errno));
		return 2;
	}
	kustomize_init(&lint->kustomize, lint->cwd);
	sources_init(&lint->sources, &lint->files, &lint->stdin_cache);
	defined_names_init(&lint->defined_names, &lint->files,
			   &lint->stdin_cache);
	rc = policies_init(&lint->policies, lint->options, lint->cwd);
	rc |= admission_settings_open(&lint->admission, lint->options);
	return rc | clusters_init(&lint->clusters, lint->options);
}

/* Reads the Namespaces in all linted files. */
static void read_namespaces(struct lint *lint)
{
	const struct file_how how = {.limit = FILE_MANIFEST_MAX};
	struct buf path, text;

	buf_init(&path);
	buf_init(&text);
	for (size_t i = 0; i < lint->files.n; i++) {
		buf_reset(&path);
		buf_reset(&text);
		files_path(&lint->files, i, &path);
		if (!(lint->files.items[i].flags & FILE_REGULAR) ||
		    file_read(AT_FDCWD, path.data, &how, &text) ||
		    !text_find(text.data, text.len, "Namespace"))
			continue;
		admission_policies_add_namespaces(lint->admission.namespaces,
						  path.data, text.data,
						  text.len);
	}
	buf_release(&path);
	buf_release(&text);
}

static bool want_namespaces(const struct admission_policies *set)
{
	return set && admission_policies_want_namespaces(set);
}

static bool any_wants_namespaces(const struct lint *lint)
{
	const struct policies *policies = &lint->policies;
	const struct clusters *clusters = &lint->clusters;
	bool want = want_namespaces(lint->admission.set);

	for (size_t i = 0; i < clusters->n; i++)
		want |= want_namespaces(clusters->items[i].admission);

	for (size_t i = 0; i < policies->n; i++) {
		const struct policy *policy = policies->items[i].policy;

		/* Snapshots that the policy names are not read yet. */
		want |= policy_names_clusters(policy) ||
			want_namespaces(policy_admission(policy, false)) ||
			want_namespaces(policy_admission(policy, true));
	}
	return want;
}

static int finish_admission(struct lint *lint)
{
	if (any_wants_namespaces(lint)) {
		lint->admission.namespaces = admission_policies_new();
		read_namespaces(lint);
	}
	return admission_settings_finish(&lint->admission, lint->options);
}

int lint_gather(struct lint *lint)
{
	int rc = list_files(lint);

	if (rc)
		return rc;
	log_step(lint, "files listed", lint->files.n);
	if (finish_admission(lint))
		return 2;
	stdin_cache_read(&lint->stdin_cache, &lint->files);
	lint_files(lint);
	log_step(lint, "threads linted them", lint->workers.n);
	return 0;
}

/* Runs the command once. Sets *repaired if files were fixed and must be linted
 * again. Returns the exit status. */
static int lint_once(struct lint *lint, bool *repaired)
{
	struct options *options = lint->options;
	bool nothing;
	int rc;

	lint->rules = program_rules();
	lint->rendered.wanted = !lint->live;
	rc = check_options(lint);
	if (rc) {
		outputs_release(&lint->outputs);
		return rc;
	}
	rc = lint_open(lint);
	if (!rc)
		rc = baseline_run_open(&lint->baseline_run, options,
				       &lint->job);
	if (!rc)
		rc = lint_run(lint);
	nothing = !rc && !lint->files.n;
	*repaired = lint->rendered.deferred && !options->fix;
	lint_close(lint);
	if (!*repaired && !options->paths.n && !lint->live && !options->quiet &&
	    input_waits(nothing))
		log_line("standard input was not read; to lint it, run "
			 "`gpugate lint -`");
	return rc;
}

int lint_main(struct lint *lint)
{
	struct lint again = *lint;
	bool repaired = false;
	int rc = lint_once(lint, &repaired), after;

	if (!repaired)
		return rc;
	after = lint_once(&again, &repaired);
	return rc > after ? rc : after;
}
