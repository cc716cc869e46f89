/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a command.
 */
#ifndef KUBE_ARGV_H
#define KUBE_ARGV_H

#include "base/arena.h"
#include "kube/container.h"

/*
 * Words of command and args in order, with the words inside `sh -c` strings
 * (split at blanks, quotes taken off). Unknown tokens have text NULL; a word
 * whose unknown part is behind '=' keeps the text up to there ("--flag=").
 */
struct argv {
	struct arg {
		const char *text;
		const char *base;	 /* the text behind its last '/' */
		size_t len;		 /* of the text */
		const struct node *node; /* the list item that holds it */
		bool unknown;		 /* the value behind '=' is unknown */
		bool first;		 /* a script begins a command here */
		bool any;		 /* unknown, and could be any flag */
		/* The only unknown part is the value of this variable; or
		 * NULL. */
		const char *variable;
	} * items;
	size_t n;
	bool unknown; /* something in it could be any flag */
	/* Bits (modulo 64) of what texts and bases begin with, and names of
	 * flags: most questions end there. */
	uint64_t starts, flags;
};
struct argv container_argv(const struct container *c);
/*
 * Value of a flag: `--flag value`, `--flag=value`, with - and _ alike in the
 * flag's name ("--tensor-parallel-size", "-tp"; without dashes any number of
 * them matches). The last one wins. NULL when absent or not known; found
 * (may be NULL) gets the word that holds the value, or NULL when absent.
 * argv_have() finds a flag with or without a value, and a command by name
 * or by path (/opt/conda/bin/torchrun).
 */
const char *argv_flag(const struct argv *argv, const char *flag,
		      const struct arg **found);
bool argv_have(const struct argv *argv, const char *arg);
/* The first that it has of a list, which ends with NULL; or NULL. */
const char *argv_have_any(const struct argv *argv, const char *const *args);

#endif
