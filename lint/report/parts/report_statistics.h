/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary below a report for people: findings of each rule, and the inputs
 * that were linted.
 */
#ifndef LINT_REPORT_STATISTICS_H
#define LINT_REPORT_STATISTICS_H

#include "report_common.h"

/* Adds a table of rules and severities, most findings first. Sorts the
 * tally. */
void statistics_add(struct tally *tally, struct buf *out);
/* Writes "Checked 14 objects in 6 files (...) — 3 errors; 9 GPUs requested". */
void summary_add_line(const struct report_summary *summary, struct buf *out);
/* Writes "3 errors, 1 warning", "no findings". */
void summary_add_findings(const struct run_counts *counts, struct buf *out);
/* Writes "2 fixable with --fix, 1 more with --unsafe-fixes.", and the number in
 * rendered texts; or nothing. */
void summary_add_fixable(const struct report_summary *summary, struct buf *out);
/*
 * Adds a line for each rendered root and each root that was not rendered, or
 * nothing.
 */
void summary_add_rendered(const struct report_summary *summary,
			  struct buf *out);
/* Adds a line for inputs checked in part, and one for each reason why rules
 * were skipped, or nothing. */
void summary_add_not_run(const struct report_summary *summary, struct buf *out);

#endif
