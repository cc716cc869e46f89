/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of one run of `gpugate lint`. Its steps: check the options, list the
 * files, lint them, run the set rules, and merge the findings file by file into
 * the reports.
 */
#ifndef LINT_LINT_H
#define LINT_LINT_H

#include "base/thread_pool.h"
#include "baseline_run.h"
#include "collect.h"
#include "defined_names.h"
#include "file_sets.h"
#include "lint/files/walk.h"
#include "lint/quota/quota.h"
#include "lint/report/output.h"
#include "lint/settings/admission.h"
#include "lint/settings/clusters.h"
#include "rendered.h"
#include "sources.h"
#include "worker.h"

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
