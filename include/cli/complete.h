/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion of command lines, for both programs. `PROGRAM __complete WORD...`
 * prints the possible next words; the last word is incomplete. The output is
 * that of programs made with cobra (spf13/cobra, completions.go), which kubectl
 * asks of its plugins: a line for each offer, with a tab before its meaning,
 * and at the end a colon and a sum of the bits below. The shell scripts only
 * call it.
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
	char **words; /* the line; the last word before NULL is incomplete */
	const char *word; /* prefix of every offer */
	const char *kept; /* part of the incomplete word before an offer */
	size_t nkept;
	unsigned directive;
};

struct complete_command {
	const char *name, *summary;
	unsigned bit;
	const struct option_set *options; /* NULL: the options of the set */
};

struct complete_set {
	const struct option_set *options;
	const struct complete_command *commands;
	size_t n;
	unsigned without; /* the bit if no command is named; 0: a command is
			     required */
	/* Offer values of an option without choices, or arguments of the
	 * command (option is NULL), and choose a directive; without one, the
	 * offered words are completed. */
	void (*values)(struct completion *completion,
		       const struct option *option, unsigned command);
};

/* Adds an offer if it begins with the incomplete word. what is its meaning, or
 * NULL. */
void complete_offer(struct completion *completion, const char *name,
		    const char *what);
/* Words separated by blanks. */
void complete_offer_words(struct completion *completion, const char *words);
/* words starts with the program's name and ends with NULL. */
void complete_line(const struct complete_set *set, char **words,
		   struct buf *out);
/* Appends the script of bash, zsh or fish for a program's names, separated by
 * blanks. Returns false for another shell. */
bool complete_script(const char *shell, const char *names, struct buf *out);

#endif
