/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests compared with quotas, as a table: a row for each quota entry of an
 * accelerator, and for each accelerator that no quota limits, with the
 * workloads that request it.
 */
#ifndef LINT_QUOTA_H
#define LINT_QUOTA_H

#include "base/buf.h"
#include "kube/quota/quota.h"
#include "lint/files/files.h"
#include "lint/settings/settings.h"

struct quota_item {
	struct object_id id;
	/* path of the file; for a removed workload, its former path */
	const char *path;
	unsigned line, column;
	bool now, was; /* exists in the files, existed in the revision */
	bool suspended, queued, unknown;
	struct quantity steady, peak; /* 0 if it is not in the files */
	/* Part of the amount in use that belongs to this workload. */
	struct quantity running;
	struct quantity before; /* steady state in the revision */
};

struct quota_row {
	const char *namespace, *resource;
	const char *quota; /* NULL: no quota applies, or quotas are unknown */
	/* reason why the cluster's quotas are unknown, or NULL */
	const char *unknown;
	bool used_known;
	struct quantity hard, used;
	struct quota_item *items;
	size_t n;
	/* Sums of the items' amounts, without what they already use. */
	struct quantity adds, adds_peak, before;
};

struct quota_entry; /* an item with the key of its row */

struct quota_table {
	struct arena arena;
	struct quota_entry *entries;
	size_t nentries, entries_size;
	struct quota_row *rows; /* sorted by namespace, resource, quota */
	size_t n;
	bool since; /* compare with a revision */
	bool unknown;
	const char *only; /* show only this namespace (NULL: all) */
	const struct cluster *cluster; /* state of --cluster, or NULL */
	int64_t now;
};

/* The file of a workload. */
struct quota_file {
	const char *path;    /* valid until the next file */
	const char *unknown; /* why quotas are unknown, or NULL; valid until the
				end of the lint */
	bool changed;	     /* the file differs from the revision */
};

/* Source of the workloads that are being counted: the files or the revision. */
struct quota_source {
	const struct object_index *index;
	/* index with the quotas that apply to them */
	const struct object_index *quotas;
	const struct accelerator_extra *extra;
	int kubernetes; /* minor version of the cluster, 0: unknown */
	bool before;
	void (*file_of)(void *context, uint32_t file, struct quota_file *out);
	void *context;
};
void quota_table_add(struct quota_table *table,
		     const struct quota_source *source);
/* Adds a row without workloads, unless a row for the quota exists. */
void quota_table_add_idle(struct quota_table *table, const struct quota *quota,
			  const struct resource_amount *hard,
			  const struct workload *any, const char *resource);
/* quota_make.c: makes the complete table from the facts of a run. */
struct quota_maker {
	const struct object_index *index; /* finished index */
	const struct files *files;
	struct policies *policies;
	struct clusters *clusters;
	/* include all namespaces of the cluster state, even if no file uses
	 * them */
	bool all;
	const struct policy *(*policy_of)(void *context, uint32_t file,
					  struct policy_path_rule *rule);
	void *context;
	/* Returns true if the file differs from the revision; NULL without a
	 * revision. */
	bool (*changed)(void *since, const char *path);
	void *since;
};
void quota_table_make(struct quota_table *table,
		      const struct quota_maker *maker);
/* Merges the entries into rows after all are added. */
void quota_table_finish(struct quota_table *table);

/* Returns used and added amounts together, in the steady state or at the
 * peak. */
struct quantity quota_row_after(const struct quota_row *row, bool peak);
/* Returns by how much the row exceeds its quota; 0 or less if it does not. */
struct quantity quota_row_excess(const struct quota_row *row, bool peak);

enum quota_fit {
	QUOTA_UNKNOWN,	 /* the limit is unknown */
	QUOTA_UNLIMITED, /* no quota applies */
	QUOTA_FITS,
	QUOTA_FITS_NOT_AT_PEAK,
	QUOTA_EXCEEDED,
};
enum quota_fit quota_row_fit(const struct quota_row *row);
/* Adds "4 left", "6 too many", "7 too many at the peak", "no quota" or "not
 * known" with the reason. The text is not escaped. */
void quota_row_verdict(const struct quota_row *row, struct buf *out);
/* Like quota_row_verdict(), without the reason. */
void quota_row_words(const struct quota_row *row, struct buf *out);
void quota_add_amount(struct buf *out, struct quantity q);

/*
 * Returns the reason, in the arena, why the quotas of a snapshot are unknown,
 * or NULL if they are known or no snapshot is named. cluster is NULL without a
 * snapshot. wanted then means that the policy names one, which could not be
 * read.
 */
const char *quota_unknown(const struct clusters *clusters,
			  const struct policy *policy,
			  const struct cluster *cluster, bool wanted,
			  struct arena *arena);
/* Returns the reason why the row's quota or its used amount is unknown, or
 * NULL. */
const char *quota_row_unknown(const struct quota_row *row);
/* Adds a text such as "cluster snapshot is 82 days old, https://...". */
void quota_add_state(struct buf *out, const struct quota_table *table);

struct quota_look {
	bool color, utf8;
};
void quota_text(const struct quota_table *table, const struct quota_look *look,
		struct buf *out);
void quota_json(const struct quota_table *table, struct buf *out);
void quota_markdown(const struct quota_table *table, struct buf *out);
/*
 * quota_svg.c: draws a map of namespaces and resources as an SVG element,
 * colored by the used percentage of each quota.
 */
void quota_svg(const struct quota_table *table, struct buf *out);
/* quota_page.c: quota_section() adds the map and the table as a section of a
 * page if the table has quotas, or has rows and a snapshot. quota_page() adds a
 * complete page. */
void quota_section(const struct quota_table *table, struct buf *out);
void quota_page(const struct quota_table *table, struct buf *out);

#endif
