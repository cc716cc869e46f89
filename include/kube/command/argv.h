/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a container's command.
 */
#ifndef KUBE_ARGV_H
#define KUBE_ARGV_H

#include "base/arena.h"
#include "kube/container.h"

/*
 * Words of command and args in order, with the words inside `sh -c` strings
 * (split at blanks, quotes removed). Unknown tokens have text NULL; a word
 * whose unknown part follows '=' keeps the text before it ("--flag=").
 */
struct argv {
	struct arg {
		const char *text;
		const char *base;	 /* the text after its last '/' */
		size_t len;		 /* of the text */
		const struct node *node; /* the list item that contains it */
		bool unknown;		 /* the value after '=' is unknown */
		bool first; /* first word of a command in a script */
		bool any;   /* unknown: it may be any flag */
		/* The variable whose value is the only unknown part; or
		 * NULL. */
		const char *variable;
	} * items;
	size_t n;
	bool unknown; /* some word may be any flag */
	/* Bits (modulo 64) of the first characters of texts, bases and flag
	 * names: most look-ups end there. */
	uint64_t starts, flags;
};
struct argv container_argv(const struct container *c);
/*
 * Value of a flag: `--flag value`, `--flag=value`, with - and _ alike in the
 * flag's name ("--tensor-parallel-size", "-tp"; a name without dashes matches
 * any number of them). The last one wins. Returns NULL if it is absent or
 * unknown; found (may be NULL) gets the word with the value, or NULL if absent.
 * argv_have() finds a flag with or without a value, and a command by name or by
 * path (/opt/conda/bin/torchrun).
 */
const char *argv_flag(const struct argv *argv, const char *flag,
		      const struct arg **found);
bool argv_have(const struct argv *argv, const char *arg);
/* The first name of a list (which ends with NULL) that it has; or NULL. */
const char *argv_have_any(const struct argv *argv, const char *const *args);

#endif
