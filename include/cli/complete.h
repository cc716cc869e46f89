/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion scripts of both programs. The scripts contain all words, from the
 * tables of commands and options. Where no word is known, they offer files.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "cli/options.h"

struct complete_command {
	const char *name, *arguments, *summary;
	unsigned bit;
	/* NULL for the options of the complete_set */
	const struct option_set *options;
};

struct complete_set {
	const char *names; /* names of the program, separated by blanks */
	const struct option_set *options;
	const struct complete_command *commands;
	size_t n;
	/* bit of the options that need no command, or 0 */
	unsigned without;
	/* Words separated by blanks, which complete each value or argument
	 * whose name contains `value`, such as "RULE". The first match counts;
	 * {0} ends the list. */
	const struct complete_words {
		const char *value, *words;
	} * words;
};

/* Appends the script of bash, zsh or fish. Returns false for another shell. */
bool complete_script(const struct complete_set *set, const char *shell,
		     struct buf *out);

#endif
