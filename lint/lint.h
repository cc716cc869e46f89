/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One `gpugate lint`: what its steps share. Order: check the options, list
 * the files, lint them, run the set rules, and merge the findings file by
 * file into the reports; the last two go side by side.
 */
#ifndef LINT_LINT_H
#define LINT_LINT_H

#include "clusters.h"
#include "crew.h"
#include "known.h"
#include "output.h"
#include "set_findings.h"
#include "sources.h"
#include "walk.h"
#include "worker.h"

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
	struct kept kept;
	struct job job;
	struct workers workers;
	struct sources sources;
	struct set_findings set;
	struct sources set_sources; /* the set rules' own */
	bool set_failed;
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

/* lint.c: wait for the set rules. */
void lint_await_set(struct lint *lint);
/* merge.c: findings into the reports, and the verdict. */
void lint_merge(struct lint *lint);

/* since.c: keep the files that changed since a git revision. 0, or -1. */
int since_filter(struct files *files, const char *cwd, const char *revision,
		 struct err *err);

#endif
