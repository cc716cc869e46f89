/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes summaries as text. Skipped files and skipped rules are grouped by
 * their reasons, so that a large run needs only a few lines.
 */
#include "report_common.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "lint/term/escape.h"

enum { NAMES_SHOWN = 4, REASONS_SHOWN = 4 };

void statistics_add(struct tally *tally, struct buf *out)
{
	if (!tally->n)
		return;
	tally_sort(tally);
	buf_addf(out, "%8s  %-8s  %s\n", "findings", "severity", "rule");
	for (size_t i = 0; i < tally->n; i++)
		buf_addf(out, "%8" PRIu64 "  %-8s  %s\n", tally->items[i].count,
			 severity_name(tally->items[i].severity),
			 tally->items[i].rule->name);
}

/* True if file i is the first one that was skipped for its reason. */
static bool skipped_first(const struct report_summary *summary, size_t i)
{
	for (size_t j = 0; j < i; j++) {
		if (!strcmp(summary->skipped[j].reason,
			    summary->skipped[i].reason))
			return false;
	}
	return true;
}

static size_t skipped_alike(const struct report_summary *summary, size_t i)
{
	size_t n = 0;

	for (size_t j = i; j < summary->nskipped; j++)
		n += !strcmp(summary->skipped[j].reason,
			     summary->skipped[i].reason);
	return n;
}

static void add_skipped(const struct report_summary *summary, struct buf *out)
{
	size_t reasons = 0, left = summary->nskipped;

	for (size_t i = 0; i < summary->nskipped; i++) {
		size_t alike;

		if (reasons == REASONS_SHOWN)
			break;
		if (!skipped_first(summary, i))
			continue;
		alike = skipped_alike(summary, i);
		buf_addf(out, "%s%zu skipped: ", reasons++ ? ", " : "", alike);
		escape_adds(out, summary->skipped[i].reason);
		left -= alike;
	}
	if (left)
		buf_addf(out, ", %zu skipped for other reasons", left);
}

/* Adds the skipped inputs, in parentheses. */
static void add_left_out(const struct report_summary *summary, struct buf *out)
{
	bool any = summary->nskipped;

	if (!any && !summary->ignored && !summary->foreign)
		return;
	buf_adds(out, " (");
	add_skipped(summary, out);
	if (summary->ignored) {
		buf_addf(out, "%s%" PRIu64 " ignored by .gitignore",
			 any ? ", " : "", summary->ignored);
		any = true;
	}
	if (summary->foreign)
		buf_addf(out, "%s%" PRIu64 " more without Kubernetes objects",
			 any ? ", " : "", summary->foreign);
	buf_addc(out, ')');
}

void summary_add_findings(const struct run_counts *counts, struct buf *out)
{
	if (!counts->errors && !counts->warnings && !counts->infos) {
		buf_adds(out, "no findings");
	} else {
		add_count(out, counts->errors, "error", "errors");
		buf_adds(out, ", ");
		add_count(out, counts->warnings, "warning", "warnings");
		if (counts->infos) {
			buf_adds(out, ", ");
			add_count(out, counts->infos, "info", "infos");
		}
	}
	if (counts->suppressed)
		buf_addf(out, ", %" PRIu64 " suppressed", counts->suppressed);
}

static void add_gpus(const struct run_counts *counts, struct buf *out)
{
	buf_adds(out, "; ");
	if (counts->gpus) {
		buf_adds(out, counts->gpus_unknown ? "at least " : "");
		add_count(out, (uint64_t)counts->gpus,
			  counts->gpus_others ? "accelerator" : "GPU",
			  counts->gpus_others ? "accelerators" : "GPUs");
	} else {
		buf_adds(out, counts->gpus_unknown ? "an unknown number of GPUs"
						   : "no GPUs");
	}
	buf_adds(out, " requested");
}

void summary_add_line(const struct report_summary *summary, struct buf *out)
{
	const struct run_counts *counts = &summary->counts;
	bool found = counts->errors || counts->warnings || counts->infos ||
		     counts->suppressed;

	if (!summary->files) {
		buf_adds(out, "No files were linted: ");
		buf_adds(out, summary->failed
				      ? "none of the paths could be read"
				      : "no manifests found");
	} else if (!counts->objects) {
		buf_adds(out, "Nothing was linted: no Kubernetes objects in ");
		add_count(out, summary->files, "file", "files");
	} else {
		buf_adds(out, "Checked ");
		add_count(out, counts->objects, "object", "objects");
		buf_adds(out, " in ");
		add_count(out, summary->files, "file", "files");
	}
	add_left_out(summary, out);
	if (counts->objects || found) {
		buf_adds(out, " — ");
		summary_add_findings(counts, out);
	}
	if (counts->objects)
		add_gpus(counts, out);
	buf_addc(out, '\n');
}

void summary_add_fixable(const struct report_summary *summary, struct buf *out)
{
	bool any = summary->counts.fixable || summary->counts.fixable_unsafe;

	if (summary->counts.fixable)
		buf_addf(out, "%" PRIu64 " fixable with --fix",
			 summary->counts.fixable);
	if (summary->counts.fixable_unsafe)
		buf_addf(out, "%s%" PRIu64 " %s with --unsafe-fixes",
			 summary->counts.fixable ? ", " : "",
			 summary->counts.fixable_unsafe,
			 summary->counts.fixable ? "more" : "fixable");
	if (summary->counts.fixable_infos)
		buf_addf(out, "%s%" PRIu64 " %s with --fix --show-all",
			 any ? ", " : "", summary->counts.fixable_infos,
			 any ? "more (infos)" : "fixable (infos)");
	if (any || summary->counts.fixable_infos)
		buf_adds(out, ".\n");
	if (summary->counts.fixable_rendered)
		buf_addf(out,
			 "%" PRIu64
			 " fixable only in rendered manifests: change "
			 "the sources by hand, or fix the output with gpugate "
			 "krm or gpugate post-render.\n",
			 summary->counts.fixable_rendered);
}

/* True if root i is the first one that was not rendered for its reason. */
static bool refused_first(const struct report_summary *summary, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (summary->rendered[j].reason &&
		    !strcmp(summary->rendered[j].reason,
			    summary->rendered[i].reason))
			return false;
	return true;
}

static void add_refused(const struct report_summary *summary, size_t first,
			struct buf *out)
{
	const struct report_rendered *r = &summary->rendered[first];
	size_t n = 0;

	buf_adds(out, "Not rendered (");
	escape_adds(out, r->reason);
	buf_adds(out, "): ");
	for (size_t i = first; i < summary->nrendered; i++) {
		const char *reason = summary->rendered[i].reason;

		if (!reason || strcmp(reason, r->reason) != 0)
			continue;
		if (n++ >= NAMES_SHOWN)
			continue;
		buf_adds(out, n > 1 ? ", " : "");
		escape_adds(out, summary->rendered[i].source);
	}
	if (n > NAMES_SHOWN)
		buf_addf(out, " and %zu more", n - NAMES_SHOWN);
	buf_adds(out, "; by hand: ");
	escape_adds(out, r->command);
	buf_adds(out, " | gpugate lint -\n");
}

/* Adds a line for all roots that were rendered by the same program as the root
 * `first`, unless an earlier root had that program. */
static void add_built(const struct report_summary *summary, size_t first,
		      struct buf *out)
{
	const struct report_rendered *r = &summary->rendered[first];
	uint64_t n = 0;

	for (size_t i = 0; i < summary->nrendered; i++) {
		if (summary->rendered[i].reason ||
		    strcmp(summary->rendered[i].tool, r->tool) != 0)
			continue;
		if (i < first)
			return;
		n++;
	}
	buf_adds(out, "Rendered ");
	add_count(out, n, r->one, r->many);
	buf_addf(out, " with %s%s", r->tool, *r->version ? " " : "");
	escape_adds(out, r->version);
	buf_addc(out, '\n');
}

void summary_add_rendered(const struct report_summary *summary, struct buf *out)
{
	for (size_t i = 0; i < summary->nrendered; i++)
		if (!summary->rendered[i].reason)
			add_built(summary, i, out);
	for (size_t i = 0; i < summary->nrendered; i++)
		if (summary->rendered[i].reason && refused_first(summary, i))
			add_refused(summary, i, out);
}

/* True if an earlier rule was skipped for the same reason, whose line also
 * names rule i. */
static bool same_reason_before(const struct report_summary *summary, size_t i)
{
	for (size_t j = 0; j < i; j++) {
		if (!strcmp(summary->not_run[j].reason,
			    summary->not_run[i].reason))
			return true;
	}
	return false;
}

/* Adds the names of unknown kinds, so that the user can add them to the
 * policy's `kinds:`. */
static void add_kinds(const struct run_counts *counts, struct buf *out)
{
	int n = 0;

	for (; n < UNKNOWN_KINDS && *counts->unknown_kinds[n]; n++) {
		if (n == UNKNOWN_KINDS - 1) {
			buf_adds(out, ", ...");
			break;
		}
		buf_adds(out, n ? ", " : " (");
		escape_adds(out, counts->unknown_kinds[n]);
	}
	buf_adds(out, n ? ")" : "");
}

/* Adds the inputs that were checked only in part. */
static void add_partly(const struct run_counts *counts, struct buf *out)
{
	static const char unknown[] = "objects of unknown kinds";
	const struct {
		uint64_t n;
		const char *one, *many;
	} parts[] = {
		{counts->fragments,
		 "partial object (a patch, or without selector or image)",
		 "partial objects (patches, or without selector or image)"},
		{counts->patched,
		 "object of a base that a kustomization patches (lint the "
		 "output of `kustomize build`)",
		 "objects of bases that kustomizations patch (lint the output "
		 "of `kustomize build`)"},
		{counts->chart_values,
		 "object whose chart values name accelerators (lint the output "
		 "of `helm template`)",
		 "objects whose chart values name accelerators (lint the output "
		 "of `helm template`)"},
		{counts->placeholders, "placeholder", "placeholders"},
		{counts->unknown_kinds_with_pods, "object of an unknown kind",
		 unknown},
		{counts->infrastructure, "pod in an infrastructure namespace",
		 "pods in infrastructure namespaces"},
		{counts->infrastructure_unknown,
		 "pod that may be infrastructure (its namespace is unknown)",
		 "pods that may be infrastructure (their namespace "
		 "is unknown)"},
	};
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (!parts[i].n || !counts->objects)
			continue;
		buf_adds(out, any ? ", " : "Checked in part: ");
		add_count(out, parts[i].n, parts[i].one, parts[i].many);
		if (parts[i].many == unknown)
			add_kinds(counts, out);
		any = true;
	}
	if (any)
		buf_addc(out, '\n');
}

/* Adds the names of folders that are separate sets: their objects are never
 * compared or added up. */
static void add_apart(const struct report_summary *summary, struct buf *out)
{
	if (!summary->napart)
		return;
	buf_adds(out, "Checked separately, because they contain the same ");
	buf_adds(out, "objects: ");
	for (size_t i = 0; i < summary->napart && i < NAMES_SHOWN; i++) {
		buf_adds(out, i ? ", " : "");
		escape_adds(out, summary->apart[i]);
	}
	if (summary->napart > NAMES_SHOWN)
		buf_addf(out, " and %zu more", summary->napart - NAMES_SHOWN);
	buf_addc(out, '\n');
}

void summary_add_not_run(const struct report_summary *summary, struct buf *out)
{
	summary_add_rendered(summary, out);
	add_apart(summary, out);
	add_partly(&summary->counts, out);
	for (size_t i = 0; i < summary->nnot_run; i++) {
		const char *reason = summary->not_run[i].reason;
		size_t n = 0;

		if (same_reason_before(summary, i))
			continue;
		buf_adds(out, "Skipped (");
		escape_adds(out, reason);
		buf_adds(out, "): ");
		for (size_t j = i; j < summary->nnot_run; j++) {
			if (strcmp(summary->not_run[j].reason, reason) != 0)
				continue;
			if (n++ < NAMES_SHOWN)
				buf_addf(out, "%s%s", n > 1 ? ", " : "",
					 summary->not_run[j].rule->name);
		}
		if (n > NAMES_SHOWN)
			buf_addf(out, " and %zu more", n - NAMES_SHOWN);
		buf_addc(out, '\n');
	}
}
