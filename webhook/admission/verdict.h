/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict on one review, before it is JSON: the outcome, the messages that
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
		const char *rule;	   /* NULL: it concerns the request */
		const char *text, *remedy; /* remedy: the help, or NULL */
		uint64_t hash;		   /* of the text */
	} * notes;
	size_t nnotes, notes_size;
	struct list warnings; /* each at most 120 characters */
	struct list rules;    /* of findings that were acted on */
	/* Rules that would deny or patch without the mode, break-glass and the
	 * ratchet. */
	struct list would_deny, would_patch;
	struct list patched, suppressed;
	const char *break_glass;  /* the ticket that prevented a denial */
	bool ticket_used;	  /* it would also prevent one under enforce */
	const struct node *patch; /* JSON Patch, or NULL */
};

void verdict_init(struct verdict *verdict, struct arena *arena);
/* Decides all findings of the checked object. */
void verdict_of(struct verdict *verdict, const struct request_context *c,
		const struct policy *policy, const struct judge *judge);
/* Makes a denial without a rule: the object cannot be read. mode: the effective
 * one. */
void verdict_unreadable(struct verdict *verdict, enum mode mode,
			const char *problem);

#endif
