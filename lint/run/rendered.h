/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rendered texts, as files of the run: they are linted in place of the sources,
 * and their findings are shown at the sources.
 */
#ifndef LINT_RENDERED_H
#define LINT_RENDERED_H

#include "engine/run.h"
#include "lint/files/stdin_cache.h"
#include "lint/files/walk.h"
#include "lint/render/render.h"
#include "lint/report/report.h"
#include "lint/text/masked.h"
#include "worker.h"

struct rendered {
	struct walk_input in;
	struct stdin_cache *stdin_cache;
	struct render render;
	struct arena arena;
	bool wanted;   /* by this command */
	bool required; /* --render require */
	bool failed; /* a required text was not rendered, which was reported */
	bool deferred; /* files must be fixed first: nothing is built */
	/* Findings at their sources, sorted. */
	struct rendered_finding {
		struct finding finding;
		uint32_t root; /* file in which it was found */
		bool repaired; /* it had a fix there */
	} * findings;
	size_t n, size;
	/* Findings that were merged into another one, for a baseline. */
	struct rendered_finding *others;
	size_t nothers, others_size;
	struct report_rendered *reports; /* for the summary */
	size_t nreports, reports_size;
	struct job *job;
};

/* Builds the roots in the sorted list of files, and appends the texts. Its
 * arguments must outlive it. */
void rendered_make(struct rendered *rendered, const struct walk_input *in,
		   struct stdin_cache *stdin_cache);
/* Index of the file with this absolute path, or -1. */
long rendered_file(const struct rendered *rendered, const char *absolute);
/* rendered_map.c: after all rules ran, moves findings to their sources. Merged
 * findings are counted once. */
void rendered_map(struct rendered *rendered, struct job *job,
		  struct run_counts *counts);
/* Returns the findings of a file, and the merged ones. */
struct rendered_finding *rendered_of(const struct rendered *rendered,
				     uint32_t file, size_t *n);
struct rendered_finding *rendered_others(const struct rendered *rendered,
					 uint32_t file, size_t *n);
/* Changes a place in a rendered text into one in the sources. */
void rendered_move(struct rendered *rendered, struct place *place);
void rendered_release(struct rendered *rendered);

#endif
