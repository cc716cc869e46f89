/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the paths of the command line into the sorted list of files. Folders
 * are walked for *.yaml, *.yml and *.json without a stat() per file; symbolic
 * links to folders are not followed unless named (their targets are then
 * walked), so the walk always ends. A file with several paths is listed once
 * (same_file.c).
 */
#ifndef LINT_WALK_H
#define LINT_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/thread_pool.h"
#include "files.h"
#include "kustomize.h"
#include "lint/options/options.h"
#include "lint/settings/settings.h"

struct walk_result {
	uint64_t ignored; /* number of manifests excluded by .gitignore */
	bool failed;	  /* a path could not be read, which was reported */
};

struct walk_input {
	const struct options *options;
	const char *cwd;
	struct policies *policies;
	struct kustomize *kustomize;
	struct files *files;
	struct thread_pool *thread_pool;
};

/* Returns 0, or -1 with err set if an --exclude pattern is invalid. */
int walk_paths(const struct walk_input *input, struct walk_result *result,
	       struct err *err);

#endif
