/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demand against quota as a table: a row for each quota entry of an
 * accelerator (or for one that no quota limits), with the workloads that ask
 * for it.
 */
#ifndef LINT_QUOTA_H
#define LINT_QUOTA_H

#include "base/buf.h"
#include "kube/quota.h"
#include "lint.h"

struct quota_item {
	struct object_id id;
	const char *path; /* where it stands; of a removed one: stood */
	unsigned line, column;
	bool now, was; /* in the files, in the revision */
	bool suspended, queued, unknown;
	struct quantity steady, peak; /* 0 when it is not in the files */
	struct quantity running;      /* its own share of what is used */
	struct quantity before;	      /* steady, in the revision */
};

struct quota_row {
	const char *namespace, *resource;
	const char *quota; /* NULL: no quota limits it */
	bool used_known;
	struct quantity hard, used;
	struct quota_item *items;
	size_t n;
	/* Sums of items: what they add to what is used. */
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
	const struct cluster *cluster; /* of --cluster, or NULL */
	int64_t now;
};

/* Whose turn it is: workloads of these files, or of the revision. */
struct quota_source {
	const struct fact_set *facts;
	const struct fact_set *quotas; /* that limit them */
	const struct accelerator_extra *extra;
	bool before;
	/* Path of a workload's file; *changed: not as in the revision. */
	const char *(*path_of)(void *context, uint32_t file, bool *changed);
	void *context;
};
void quota_table_add(struct quota_table *table,
		     const struct quota_source *source);
/* Entries into rows, when all were added. */
void quota_table_finish(struct quota_table *table);

/* Used and added, at steady state or at the peak. */
struct quantity quota_row_after(const struct quota_row *row, bool peak);
/* What does not fit, 0 or less when all does. */
struct quantity quota_row_excess(const struct quota_row *row, bool peak);

/* quota_since.c: what the files under the paths were in a revision. */
struct quota_since;
struct quota_since *quota_since_open(struct lint *lint, const char *revision,
				     struct err *err);
bool quota_since_changed(const struct quota_since *since, const char *path);
/* Add the workloads of the revision's version of what changed. 0, or -1. */
int quota_since_add(struct quota_since *since, struct quota_table *table,
		    const struct fact_set *quotas, struct err *err);
void quota_since_close(struct quota_since *since);

struct quota_look {
	bool color, utf8;
};
void quota_text(const struct quota_table *table, const struct quota_look *look,
		struct buf *out);
void quota_json(const struct quota_table *table, struct buf *out);
void quota_markdown(const struct quota_table *table, struct buf *out);

#endif
