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
	enum outcome outcome; /* the strongest of all findings */
	enum outcome would;   /* outcome in mode enforce */
	const char *message;  /* text of a denial */
	struct note {
		enum severity severity;
		const char *rule; /* NULL: a text about the request */
		const char *text;
		const char *remedy; /* the help, may be NULL */
		uint64_t hash;	    /* hash of the text */
	} * notes;
	size_t nnotes, notes_size;
	struct list warnings; /* at most 120 characters each */
	/* rules of findings with an outcome, from audit to deny */
	struct list rules;
	/* Rules that would deny or patch in mode enforce, but did not. */
	struct list would_deny, would_patch;
	struct list patched, suppressed;
	/* ticket that prevented a denial, or would in mode enforce */
	const char *break_glass;
	/* the ticket has prevented a denial in mode enforce */
	bool ticket_used;
	const struct node *patch; /* JSON Patch; may be NULL */
};

void verdict_init(struct verdict *verdict, struct arena *arena);
/* Decides all findings of the checked object and writes the texts. */
void verdict_of(struct verdict *verdict, const struct request_context *c,
		const struct policy *policy, const struct judge *judge);
/* Sets the verdict on an object that cannot be read: a denial in mode enforce,
 * a warning in mode warn, else only the audit annotations. */
void verdict_unreadable(struct verdict *verdict, enum mode mode,
			const char *problem);

#endif
