/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict of one review, before it is JSON: the outcome, the messages that
 * kubectl shows, and the audit annotations.
 */
#ifndef WEBHOOK_VERDICT_H
#define WEBHOOK_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "cli/words.h"
#include "decide.h"
#include "judge.h"

struct verdict {
	struct arena *arena;
	bool allowed;
	enum outcome outcome, would; /* the heaviest */
	const char *message;	     /* of a denial */
	struct note {
		enum severity severity;
		const char *rule;	   /* NULL: it is about the request */
		const char *text, *remedy; /* remedy: NULL, or what to do */
	} * notes;
	size_t nnotes, notes_size;
	struct list warnings;	 /* each at most 120 characters */
	struct list rules;	 /* that something was done about */
	struct list would_deny;	 /* ... that only the mode, break-glass or */
	struct list would_patch; /*     the ratchet kept from it */
	struct list patched, suppressed;
	const char *break_glass;  /* the ticket that turned a denial */
	bool ticket_used;	  /* the same under the mode enforce */
	const struct node *patch; /* JSON Patch, or NULL */
};

void verdict_init(struct verdict *verdict, struct arena *arena);
/* Decide all findings of the judged object. */
void verdict_of(struct verdict *verdict, const struct request_context *c,
		const struct policy *policy, const struct judge *judge);
/* A denial that no rule speaks: the object cannot be read. mode: what holds
 * for it. */
void verdict_unreadable(struct verdict *verdict, enum mode mode,
			const char *problem);

#endif
