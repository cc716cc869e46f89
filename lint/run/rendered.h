/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rendered texts as files of a run: they are linted in place of the source
 * files, and their findings are reported at the source.
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

#endif
