/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the summary below a report for users: the number of findings of each
 * rule, and the inputs that were linted.
 */
#ifndef LINT_REPORT_STATISTICS_H
#define LINT_REPORT_STATISTICS_H

#include "report_common.h"

/* Adds a table of rules and severities, sorted by the number of findings. Sorts
 * the tally. */
void statistics_add(struct tally *tally, struct buf *out);
/* Adds "Checked 14 objects in 6 files (...) — 3 errors; 9 GPUs requested". */
void summary_add_line(const struct report_summary *summary, struct buf *out);
/* Adds "3 errors, 1 warning" or "no findings". */
void summary_add_findings(const struct run_counts *counts, struct buf *out);
/* Adds "2 fixable with --fix, 1 more with --unsafe-fixes.", and the number in
 * rendered texts; adds nothing if there are none. */
void summary_add_fixable(const struct report_summary *summary, struct buf *out);
/*
 * Adds a line for each program that rendered roots, and one for each reason why
 * roots were not rendered.
 */
void summary_add_rendered(const struct report_summary *summary,
			  struct buf *out);
/* Adds the lines of summary_add_rendered(), lines for inputs that were checked
 * separately or in part, and a line for each reason why rules were skipped. */
void summary_add_not_run(const struct report_summary *summary, struct buf *out);

#endif
