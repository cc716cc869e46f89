/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An AdmissionReview (admission.k8s.io/v1) as the API server sends it, parsed
 * directly into node trees. Fields that no rule reads are skipped:
 * managedFields, the last-applied-configuration annotation, status.
 */
#ifndef WEBHOOK_REVIEW_H
#define WEBHOOK_REVIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "doc/load.h"

enum operation {
	OPERATION_OTHER,
	OPERATION_CREATE,
	OPERATION_UPDATE,
	OPERATION_DELETE,
	OPERATION_CONNECT,
};

enum review_outcome {
	REVIEW_GOOD,
	/* The object cannot be read, or not checked in time (too deep, too
	 * large, not UTF-8); in mode enforce the request must be denied. */
	REVIEW_UNREADABLE,
	/* The text is not an AdmissionReview, or lacks the uid, without which a
	 * response is not possible. */
	REVIEW_NONE,
};

/* A review. Absent strings are ""; all strings live in the arena given to
 * review_read(). */
struct review {
	const char *uid;
	size_t uid_len;
	enum operation operation;
	const char *operation_name;
	const char *group, *version, *kind;
	const char *subresource, *namespace, *name;
	const char *user;
	const struct node *request; /* the whole request except its objects */
	const struct node *groups;  /* list of strings, or NULL */
	bool dry_run;
	/* The object and the old object; root is NULL if the request lacks it.
	 * Findings point into these trees. */
	struct doc object, old;
	/* the old object is too long to be checked in time */
	bool old_too_long;
	struct source source;
	const char *problem; /* reason of UNREADABLE or NONE, in lower case */
};

/* Reads a review from the body, which must live as long as the review. */
enum review_outcome review_read(struct arena *arena, const char *body,
				size_t len, struct review *review);

/*
 * Reads the request of a review that cannot be read as a whole, from the text
 * before its objects. Returns UNREADABLE or NONE.
 */
enum review_outcome review_read_start(struct arena *arena, const char *start,
				      size_t len, struct review *review);

/* Returns true if the user of the request is in the group. */
bool review_in_group(const struct review *review, const char *group);

#endif
