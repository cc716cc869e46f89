/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict on one review, from which the JSON response is written: the
 * outcome, the messages that kubectl shows, and the audit annotations.
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
	/* strongest of all findings; would: without the mode */
	enum outcome outcome, would;
	const char *message; /* text of a denial */
	struct note {
		enum severity severity;
		const char *rule;	   /* NULL: a text about the request */
		const char *text, *remedy; /* remedy: the help, may be NULL */
		uint64_t hash;		   /* hash of the text */
	} * notes;
	size_t nnotes, notes_size;
	struct list warnings; /* at most 120 characters each */
	/* rules of findings that denied, patched or warned */
	struct list rules;
	/* Rules that would deny or patch if mode, break-glass and ratchet did
	 * not prevent it. */
	struct list would_deny, would_patch;
	struct list patched, suppressed;
	const char *break_glass; /* ticket that prevented a denial */
	/* the ticket would also prevent a denial in mode enforce */
	bool ticket_used;
	const struct node *patch; /* JSON Patch; may be NULL */
};

void verdict_init(struct verdict *verdict, struct arena *arena);
/* Decides all findings of the checked object and writes the texts. */
void verdict_of(struct verdict *verdict, const struct request_context *c,
		const struct policy *policy, const struct judge *judge);
/* Makes a denial of an object that cannot be read. mode: the effective mode. */
void verdict_unreadable(struct verdict *verdict, enum mode mode,
			const char *problem);

#endif
