/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demand against quota as a table: a row for each quota entry of an accelerator
 * (or for one that no quota limits), with the workloads that request it.
 */
#ifndef LINT_QUOTA_H
#define LINT_QUOTA_H

#include "base/buf.h"
#include "kube/quota/quota.h"
#include "lint/files/files.h"
#include "lint/settings/clusters.h"

struct quota_item {
	struct object_id id;
	const char *path; /* current path, or the former path of a removed
			     workload */
	unsigned line, column;
	bool now, was; /* in the files; in the revision */
	bool suspended, queued, unknown;
	struct quantity steady, peak; /* 0 if it is not in the files */
	/* this workload's share of the amount in use */
	struct quantity running;
	struct quantity before; /* steady, in the revision */
};

struct quota_row {
	const char *namespace, *resource;
	const char *quota;   /* NULL: no quota applies, or none is known */
	const char *unknown; /* why the cluster's quotas are unknown, or NULL */
	bool used_known;
	struct quantity hard, used;
	struct quota_item *items;
	size_t n;
	/* Sums over items: the amounts that they add to the amount in use. */
	struct quantity adds, adds_peak, before;
};

struct quota_entry; /* a row's key and one item */

struct quota_table {
	struct arena arena;
	struct quota_entry *entries;
	size_t nentries, entries_size;
	struct quota_row *rows; /* by namespace, resource, quota */
	size_t n;
	bool since; /* items have a before */
	bool unknown;
	const char *only;	       /* the only namespace shown; NULL: all */
	const struct cluster *cluster; /* of --cluster, or NULL */
	int64_t now;
};

/* The file of a workload. */
struct quota_file {
	const char *path;    /* valid until the next file */
	const char *unknown; /* as in the row; lives as long as the lint */
	bool changed;	     /* differs from the revision */
};

/* The source of the workloads being counted: these files, or the revision. */
struct quota_source {
	const struct object_index *index;
	const struct object_index *quotas; /* that limit them */
	const struct accelerator_extra *extra;
	bool before;
	void (*file_of)(void *context, uint32_t file, struct quota_file *out);
	void *context;
};
void quota_table_add(struct quota_table *table,
		     const struct quota_source *source);
/* Adds a row without workloads, unless there is one with workloads. */
void quota_table_add_idle(struct quota_table *table, const struct quota *quota,
			  const struct resource_amount *hard,
			  const struct workload *any, const char *resource);
/* quota_make.c: makes the whole table from the facts of a run. */
struct quota_maker {
	const struct object_index *index; /* finished */
	const struct files *files;
	struct policies *policies;
	struct clusters *clusters;
	bool all; /* of the cluster state, including namespaces that are in no
		     file */
	const struct policy *(*policy_of)(void *context, uint32_t file,
					  struct policy_path_rule *rule);
	void *context;
	/*
	 * True if the file differs from the revision. NULL without a revision.
	 */
	bool (*changed)(void *since, const char *path);
	void *since;
};
void quota_table_make(struct quota_table *table,
		      const struct quota_maker *maker);
/* Merges the entries into rows, once all are added. */
void quota_table_finish(struct quota_table *table);

/* Returns the sum of used and added amounts, in the steady state or at the
 * peak. */
struct quantity quota_row_after(const struct quota_row *row, bool peak);
/* Returns the amount above the quota; 0 or less if all of it fits. */
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
 * known", with the reason why. Raw text. */
void quota_row_verdict(const struct quota_row *row, struct buf *out);
/* Like quota_row_verdict(), without the reason. */
void quota_row_words(const struct quota_row *row, struct buf *out);
void quota_add_amount(struct buf *out, struct quantity q);

/* Returns why the quotas of that state are unknown; NULL if they are known.
 * Lives in arena. wanted: there should be a state; cluster NULL: it could not
 * be read. */
const char *quota_unknown(const struct clusters *clusters,
			  const struct policy *policy,
			  const struct cluster *cluster, bool wanted,
			  struct arena *arena);
/* Returns why the row's quota is unknown, or NULL. */
const char *quota_row_unknown(const struct quota_row *row);
/* Writes "cluster state of 82 days ago, https://..." */
void quota_add_state(struct buf *out, const struct quota_table *table);

struct quota_look {
	bool color, utf8;
};
void quota_text(const struct quota_table *table, const struct quota_look *look,
		struct buf *out);
void quota_json(const struct quota_table *table, struct buf *out);
void quota_markdown(const struct quota_table *table, struct buf *out);
/*
 * quota_svg.c: draws a map of namespaces and resources, colored by the used
 * percentage of each quota, as an element of a page.
 */
void quota_svg(const struct quota_table *table, struct buf *out);
/* quota_page.c: adds the map and the table below it, as a section of a page;
 * nothing without quotas. And adds a whole page. */
void quota_section(const struct quota_table *table, struct buf *out);
void quota_page(const struct quota_table *table, struct buf *out);

#endif
