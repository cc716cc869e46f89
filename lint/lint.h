/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One `gpugate lint`: what its steps share. Order: check the options, list
 * the files, lint them, run the set rules, then merge the findings file by
 * file into the reports.
 */
#ifndef LINT_LINT_H
#define LINT_LINT_H

#include "clusters.h"
#include "crew.h"
#include "known.h"
#include "output.h"
#include "sources.h"
#include "walk.h"
#include "worker.h"

struct set_record {
	uint32_t file;
	struct record record;
};

struct lint {
	struct options *options;
	struct rule_set rules;
	char *cwd;
	struct policies policies;
	struct clusters clusters;
	struct kustomize kustomize;
	struct crew crew;
	struct files files;
	struct walk_result walk;
	struct input standard_input;
	struct job job;
	struct workers workers;
	struct sources sources;
	/* Findings of set rules, in the order of files. */
	struct spill set_spill;
	struct set_record *set_records;
	size_t nset, set_size;
	struct known known;
	struct outputs outputs;
	int64_t start; /* progress_clock() */
	bool failed;   /* exit 2 */
	bool found;    /* exit 1 */
};

/* Policies and cluster states; before anything else. 0, or 2 after messages. */
int lint_open(struct lint *lint);
/* List the files and lint them: facts are in workers.items[0].run. 0, or 2. */
int lint_gather(struct lint *lint);
/* In any case, at the end. */
void lint_close(struct lint *lint);

/* merge.c: findings into the reports, and the verdict. */
void lint_merge(struct lint *lint);

/* since.c: keep the files that changed since a git revision. 0, or -1. */
int since_filter(struct files *files, const char *cwd, const char *revision,
		 struct err *err);

#endif
