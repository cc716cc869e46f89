/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An AdmissionReview (admission.k8s.io/v1) as the API server sends it, read
 * straight into node trees. Fields that no rule reads are skipped:
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
	/* The request must be denied: its object cannot be read, or not be
	 * checked in time (too deep, too large, not UTF-8). */
	REVIEW_UNREADABLE,
	/* Not an AdmissionReview, or without the uid that a response needs. */
	REVIEW_NONE,
};

/* Strings are "" when absent; they live in the arena given to review_read(). */
struct review {
	const char *uid;
	size_t uid_len;
	enum operation operation;
	const char *operation_name;
	const char *group, *version, *kind;
	const char *subresource, *namespace, *name;
	const char *user;
	const struct node *request; /* the whole request, without its objects */
	const struct node *groups;  /* list of strings, or NULL */
	bool dry_run;
	/* root is NULL if there is none. Pointers start at the object's
	 * root. */
	struct doc object, old;
	bool old_too_long; /* too long to be checked in time: treated as unknown
			    */
	struct source source;
	const char *problem; /* UNREADABLE, NONE: the reason, lower case */
};

/* body must live as long as the review. */
enum review_outcome review_read(struct arena *arena, const char *body,
				size_t len, struct review *review);

/*
 * Reads the request of a review that cannot be read as a whole, from the text
 * before its objects. Returns UNREADABLE or NONE.
 */
enum review_outcome review_read_start(struct arena *arena, const char *start,
				      size_t len, struct review *review);

/* True if the text is in a list of strings. */
bool review_in_group(const struct review *review, const char *group);

#endif
