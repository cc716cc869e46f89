/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of containers. */
#ifndef KUBE_COMMAND_H
#define KUBE_COMMAND_H

#include <stdint.h>

#include "base/arena.h"
#include "kube/container.h"
#include "kube/object.h"

/*
 * The words of a container's command.
 */

/*
 * The words of command and args in order, including the words inside `sh -c`
 * strings and Argo's `source` (split as by a shell, quotes removed). The text
 * of an unknown word is NULL; if only the part after '=' is unknown, the text
 * ends there ("--flag=").
 */
struct argv {
	struct arg {
		const char *text;
		/* part of the text after its last '/' */
		const char *base;
		size_t len;		 /* length of text */
		const struct node *node; /* the list item that contains it */
		bool unknown;		 /* the value after '=' is unknown */
		bool first; /* first word of a command in a script */
		bool any;   /* the unknown word may be any flag */
		/* Name of the variable whose value is the only unknown part, or
		 * NULL. */
		const char *variable;
	} * items;
	size_t n;
	bool unknown; /* some word may be any flag */
	/* Bit sets (hashes modulo 64) of the first two characters of all texts
	 * and bases, and of all flag names, so that most look-ups end without a
	 * search. */
	uint64_t starts, flags;
};
struct argv container_argv(const struct container *c);
/*
 * Returns the value of a flag, `--flag value` or `--flag=value`. - and _ in the
 * name are equal ("--tensor-parallel-size", "-tp"). A name without dashes
 * matches any number of them. The last occurrence counts. Returns NULL if the
 * flag is absent, or its value missing or unknown. *found (found may be NULL)
 * gets the word with the value, the flag itself if it has no value, or NULL if
 * the flag is absent. argv_have() finds a flag with or without a value, and a
 * command by name or by path (/opt/conda/bin/torchrun).
 */
const char *argv_flag(const struct argv *argv, const char *flag,
		      const struct arg **found);
bool argv_have(const struct argv *argv, const char *arg);
/*
 * Returns the next word after `after` (NULL: the first) that sets the variable,
 * `NAME=value`, for a command: before the command, after `export` or after
 * `env`. Returns NULL if the value is unknown or empty, or if the script has
 * branches or loops, which may not run the command.
 */
const struct arg *argv_assigns(const struct argv *argv, const char *name,
			       const struct arg *after);
/* Returns the first of a NULL-terminated list of names that occurs, or NULL. */
const char *argv_have_any(const struct argv *argv, const char *const *args);

/*
 * The kind of a container's command: a program that ends by itself, a wait, or
 * an interactive shell. It is guessed from the words; a command that fits none
 * of these is COMMAND_UNKNOWN.
 */

enum command_type {
	COMMAND_UNKNOWN,
	/* nvidia-smi, python x.py, an image of a CUDA sample */
	COMMAND_ENDS,
	COMMAND_WAITS,	     /* sleep infinity, tail -f /dev/null */
	COMMAND_INTERACTIVE, /* jupyter, code-server, bash on a terminal */
};

struct container_command {
	enum command_type type;
	/* the word that decides: "nvidia-smi", "sleep" */
	const char *what;
	const struct node *at; /* node of that word, or of the image */
	/* length of the wait, or 0 if it is endless or unknown */
	int64_t seconds;
};

struct container_command container_command(const struct container *c);
/* True if a word of the command is a program that lists or tests devices, and
 * none is a Python script, a launcher or vLLM; also true if the image is a
 * sample. */
bool container_tests_devices(const struct container *c);
/* Returns the seconds in the argument of `sleep` or `timeout` (1d, inf, 3600);
 * 0 for a text that does not start with a number. */
double sleep_seconds(const char *time);
/* True if the command has a `while` loop, sleeps in another loop, follows a
 * file, or sleeps for an hour or more or for an unknown time, possibly after
 * its work. */
bool container_goes_on(const struct container *c);
/* Returns the command list, else args, else NULL. */
const struct node *container_command_node(const struct container *c);

/* Scripts that a command contains, `python -c SCRIPT`. False if the command has
 * none, or runs anything else. */

/* True if the script can use no device, because it only imports modules such as
 * time. */
bool container_script_is_plain(const struct container *c);
/* True if the script is one process, which may use devices but exchanges no
 * data through shared memory. */
bool container_script_is_one_process(const struct container *c);

#endif
