/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of `gpugate lint` and the state of one run. */
#ifndef LINT_LINT_H
#define LINT_LINT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/thread_pool.h"
#include "collect.h"
#include "doc/source.h"
#include "engine/admission_policy.h"
#include "engine/finding.h"
#include "engine/policy.h"
#include "engine/run.h"
#include "engine/suppress.h"
#include "fix.h"
#include "kube/claim.h"
#include "kube/defined_name.h"
#include "kube/runtime.h"
#include "lint/files/files.h"
#include "lint/files/input.h"
#include "lint/files/walk.h"
#include "lint/quota/quota.h"
#include "lint/render/render.h"
#include "lint/report/report.h"
#include "lint/settings/settings.h"
#include "lint/term/log.h"

/*
 * Lints the files of a list with several threads. Each worker has its own run
 * and buffers; shared data is read-only or atomic, and the row of a file is
 * written by one worker only.
 */

struct job {
	const struct options *options;
	const char *cwd;
	struct policies *policies;
	struct clusters *clusters;
	struct files *files;
	struct collection *collection;
	/* state of each file when it was read (NULL: no file is written) */
	struct file_stamp *stamps;
	/* for each file, lines about its fixes or NULL; the array is NULL if no
	 * file is fixed */
	char **told;
	const struct stdin_cache *stdin_cache; /* texts that were read before */
	struct run_options run; /* the worker sets sink and context */
	atomic_size_t next, done;
	struct workers *workers;
	struct progress progress;
};

struct worker {
	struct job *job;
	struct run run;
	/* Used to check files that are parts of rendered texts, only for their
	 * fixes. */
	struct run alone;
	struct buf input;
	struct arena source_arena, doc_arena;
	struct buf path, absolute;
	struct buf fixed; /* text after --fix */
	struct fixer fixer;
	struct finding_memory findings;
	int fd;		 /* descriptor of a folder with several files, or -1 */
	uint32_t folder; /* index of that folder */
};

struct workers {
	struct worker *items;
	unsigned n;
};

/* Lints all files with as many threads as are useful. */
void workers_run(struct workers *workers, struct job *job,
		 struct thread_pool *thread_pool);
/* Moves all facts to the run, after workers_run(). */
void workers_join(struct workers *workers, struct run *whole);
void workers_release(struct workers *workers);

/* Sets everything that a run needs to know about a file except its text. */
void job_file(struct job *job, size_t index, struct buf *scratch,
	      struct run_file *file);
/* Returns the policy of a file, and sets *rule to the entry of `paths:` that
 * matches it. */
const struct policy *job_policy(struct job *job, size_t file,
				struct buf *scratch,
				struct policy_path_rule *rule);

/* Names, claims, runtimes and policies that objects of the linted files define,
 * and findings about these runtimes. They are read on first use.
 * Thread-safe. */

struct defined_names {
	const struct files *files;
	const struct stdin_cache *stdin_cache;
	pthread_mutex_t lock;
	struct arena arena;
	struct defined_name *items;
	size_t n, size;
	struct claim_table claims;
	uint32_t *claim_files; /* the file of each claim */
	size_t nclaim_files, claim_files_size;
	struct runtime_table runtimes;
	struct admission_policies *mutations; /* may be NULL */
	bool read;
	/* used by defined_runtime_repeats() */
	struct job *job;
	pthread_mutex_t findings_lock;
	struct runtime_file *runtime_files; /* by index */
	size_t nruntime_files, runtime_files_size;
};

void defined_names_init(struct defined_names *names, const struct files *files,
			const struct stdin_cache *stdin_cache);
void defined_names_release(struct defined_names *names);
/* Finds a defined name of this kind that matches text. context is a struct
 * defined_names, and name receives the result. */
bool defined_names_find(void *context, enum defined_kind kind, const char *text,
			struct defined_name *name);
/* Returns the only matching claim in the other files of the file's folder; NULL
 * if there are two. */
const struct claim *defined_claim_find(void *context, uint32_t file,
				       const char *namespace, const char *name,
				       bool template);
/* Returns the only matching runtime in the files; NULL if two differ. */
const struct runtime *defined_runtime_find(void *context,
					   const struct object *object,
					   const char *kind, const char *name);
/*
 * True if the finding repeats one about a runtime of another file, as it was
 * before any fix: a fix of a value that a pod has from a runtime belongs to the
 * runtime.
 */
bool defined_runtime_repeats(void *context, const struct finding *finding);
/* Returns the MutatingAdmissionPolicies and their bindings in the files, or
 * NULL. */
const struct admission_policies *defined_mutations(void *context);

/*
 * Groups files into sets, one for each cluster to which they are applied. A
 * repository often contains files for several clusters: the policy's `paths:`
 * separate them (`set:`), or they are in sibling folders that contain the same
 * object, or a default PriorityClass each.
 */

struct file_sets {
	struct arena arena;
	/* number of the set, by file (NULL: all files are one set) */
	uint32_t *numbers;
	uint32_t named; /* number of sets named in the policy: 1, 2, ... */
	/* Folders that are separate sets although the policy does not say
	 * so. */
	const char **folders;
	size_t n, size;
};

void file_sets_make(struct file_sets *sets, struct job *job,
		    const struct object_index *index);
void file_sets_release(struct file_sets *sets);

/*
 * Rendered texts as files of a run: they are linted in place of the source
 * files, and their findings are reported at the source.
 */

struct rendered {
	struct walk_input in;
	struct stdin_cache *stdin_cache;
	struct render render;
	struct arena arena;
	bool wanted;   /* the command uses rendered texts */
	bool required; /* --render require */
	bool failed; /* a required text was not rendered, which was reported */
	bool deferred; /* files are fixed first, and nothing is built before */
	/* Findings at places in source files, sorted. */
	struct rendered_finding {
		struct finding finding;
		uint32_t root; /* index of the rendered file with the finding */
		bool repaired; /* the finding had a fix in the rendered text */
	} * findings;
	size_t n, size;
	/* Findings that were merged into others, which a baseline needs. */
	struct rendered_finding *others;
	size_t nothers, others_size;
	/* reports about roots, for the summary */
	struct report_rendered *reports;
	size_t nreports, reports_size;
	struct job *job;
};

/* Builds the roots in the sorted list of files and appends the texts to it, if
 * rendering is requested; but if the run fixes files, only sets deferred. The
 * arguments must outlive rendered. */
void rendered_make(struct rendered *rendered, const struct walk_input *in,
		   struct stdin_cache *stdin_cache);
/* Returns the index of the file with this absolute path, or -1. */
long rendered_file(const struct rendered *rendered, const char *absolute);
/* rendered_map.c: changes the places of findings to places in the source files,
 * after all rules have run. Findings that become equal are merged and counted
 * once. */
void rendered_map(struct rendered *rendered, struct job *job,
		  struct run_counts *counts);
/* Return the findings of a file, and those that were merged into them. */
struct rendered_finding *rendered_of(const struct rendered *rendered,
				     uint32_t file, size_t *n);
struct rendered_finding *rendered_others(const struct rendered *rendered,
					 uint32_t file, size_t *n);
/* Changes a place in a rendered text into one in the sources. */
void rendered_move(struct rendered *rendered, struct place *place);
void rendered_release(struct rendered *rendered);

/*
 * The baselines of a run: the existing one (--baseline, --prune-baseline) and
 * the one to write (--write-baseline).
 */

struct baseline_run {
	const struct options *options;
	struct job *job;
	const struct not_run *not_run; /* for baseline_run_finish() */
	size_t nnot_run;
	/* some inputs were not linted, so the new baseline would be
	 * incomplete */
	bool incomplete;
	struct baseline *old, *new; /* NULL: not requested */
};

/* Returns 0, or 2 after a message. */
int baseline_run_open(struct baseline_run *baseline_run,
		      const struct options *options, struct job *job);
void baseline_run_release(struct baseline_run *baseline_run);
/* Adds the findings of a file to the new baseline and marks them as suppressed
 * by it, except those that something else suppresses. */
void baseline_run_add(struct baseline_run *baseline_run, const char *file,
		      struct finding *findings, size_t n);
/* Writes the requested baseline. Returns 0, or 2 after a message. */
int baseline_run_finish(struct baseline_run *baseline_run);

/*
 * --add-ignore: a comment above each line with findings. Nothing else in the
 * file changes, and its meaning stays: the documents are compared before the
 * file is written, and a comment that would become part of a string is omitted.
 */

struct add_ignore {
	const char *reason;
	/* policy of the file, which may lock rules */
	const struct policy *policy;
	struct source *source;
	struct finding *findings;
	size_t n;
	/* The results. */
	struct buf text; /* the new text; empty if unchanged */
	size_t added;	 /* number of findings with a new comment */
	/* reason why some findings get no comment, or NULL */
	const char *refused;
};

/*
 * Makes the new text, and marks findings with a comment as suppressed. Sets
 * refused if some findings get no comment. The caller writes the text and
 * releases it.
 */
void add_ignore_plan(struct add_ignore *add);

/*
 * Reports one info of a rule with RULE_SITE in place of all, because every pod
 * would otherwise repeat the same statement about the cluster. The first info
 * has the number of the others and some of their places.
 */

enum { FOLD_RULES = 8, FOLD_PLACES = 4 };

struct fold {
	const char *fail_on; /* findings that fail are never folded */
	struct folded {
		const struct rule *rule;
		struct place places[FOLD_PLACES]; /* the first ones */
		struct place last;
		uint32_t n; /* number of all places */
		bool shown; /* the first finding was returned */
	} rules[FOLD_RULES];
	size_t n;
};

/* Counts the findings of a file, which must be sorted. Must be called for all
 * files before the first fold_findings(). */
void fold_count(struct fold *fold, const struct finding *findings, size_t n);
/*
 * Returns the findings without the folded ones, and sets *n to their number.
 * Copies are made in the arena; the copy of a rule's first finding has the
 * number of the others.
 */
const struct finding *fold_findings(struct fold *fold, struct arena *arena,
				    const struct finding *findings, size_t *n);

/*
 * State of one run of `gpugate lint`. Its steps: check the options, list the
 * files, lint them, run the set rules, and merge the findings file by file into
 * the reports.
 */

/* A text that is linted in place of a file, which need not exist. */
struct lint_text {
	const char *path; /* absolute path, or name with / of a live object */
	const char *text;
	size_t len;
};

struct lint {
	struct options *options;
	struct rule_set rules;
	char *cwd;
	struct policies policies;
	struct clusters clusters;
	struct admission_settings admission;
	struct kustomize kustomize;
	struct thread_pool thread_pool;
	struct files files;
	struct walk_result walk;
	const struct lint_text *texts;
	size_t ntexts;
	/* texts are objects of a cluster: complete, without placeholders */
	bool live;
	/*
	 * The paths are files, as a walk finds them, and not paths that a user
	 * named; there may be none.
	 */
	bool listed;
	struct stdin_cache stdin_cache;
	struct defined_names defined_names;
	struct job job;
	struct workers workers;
	/* facts and counts of all files, and results of set rules */
	struct run whole;
	struct buf set_path;
	struct sources sources;
	struct file_sets file_sets;
	struct rendered rendered;
	struct collection collection;
	struct baseline_run baseline_run;
	struct outputs outputs;
	int64_t start; /* time of progress_clock() at the start */
	bool failed;   /* an error occurred (exit status 2) */
	/* A finding is at or above --fail-on, --diff shows changes, or a file
	 * was fixed with --exit-non-zero-on-fix (exit status 1). */
	bool found;
};

/* Loads policies and cluster states; must be called first. Returns 0, or 2
 * after messages. */
int lint_open(struct lint *lint);
/* Lists and lints the files and stores the facts in `whole`. Returns 0 or 2. */
int lint_gather(struct lint *lint);
/* Checks the options and runs the command; returns the exit status. */
int lint_main(struct lint *lint);
/* Runs all steps from the list of files to the reports; returns the exit
 * status. */
int lint_run(struct lint *lint);
/* Must be called at the end, even after an error. */
void lint_close(struct lint *lint);

/* merge.c: writes findings to the reports and determines the exit status. */
void lint_merge(struct lint *lint);
/* Returns the facts from which quota_table_make() makes the table of requests
 * and quotas. */
struct quota_maker lint_quota_maker(struct lint *lint);

#endif
