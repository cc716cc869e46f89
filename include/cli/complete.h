/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion of command lines, for both programs: the program itself says what
 * may come next, `PROGRAM __complete WORD...`, the last word being typed. It
 * answers as programs made with cobra do (spf13/cobra, completions.go), which
 * kubectl asks of its plugins: a line an offer, with a tab before what it
 * means, and at the end a colon and a sum of the bits below. The scripts of the
 * shells only ask.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "cli/options.h"

enum complete_directive {
	COMPLETE_FILES = 0, /* where nothing is offered */
	COMPLETE_NO_SPACE = 2,
	COMPLETE_NO_FILES = 4,
};

struct completion {
	struct buf *out;
	char **words;	  /* the line; the last one before NULL is typed */
	const char *word; /* prefix of every offer */
	const char *kept; /* part of the typed word before an offer */
	size_t nkept;
	unsigned directive;
};

struct complete_command {
	const char *name, *summary;
	unsigned bit;
	const struct option_set *options; /* NULL: those of the set */
};

struct complete_set {
	const struct option_set *options;
	const struct complete_command *commands;
	size_t n;
	unsigned
		without; /* the bit where no command is named; 0: one must be */
	/* Offer values of an option without choices, or of the command's
	 * arguments (NULL), and choose a directive: at first, none. */
	void (*values)(struct completion *completion,
		       const struct option *option, unsigned command);
};

/* Unless it does not fit what is typed. what: its meaning, or NULL. */
void complete_offer(struct completion *completion, const char *name,
		    const char *what);
/* Words separated by blanks. */
void complete_offer_words(struct completion *completion, const char *words);
/* words ends with NULL; of the program's name on. */
void complete_line(const struct complete_set *set, char **words,
		   struct buf *out);
/* The script of bash, zsh or fish for names of a program, separated by blanks;
 * false: another shell. */
bool complete_script(const char *shell, const char *names, struct buf *out);

#endif
