/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of gpugated as data: one table drives parsing, the environment
 * (GPUGATED_*) and --help, defaults included. What is not in the table does
 * not exist.
 */
#ifndef WEBHOOK_OPTIONS_H
#define WEBHOOK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/words.h"

enum option_kind {
	OPTION_FLAG,   /* bool */
	OPTION_NUMBER, /* unsigned, within least..most */
	OPTION_BYTES,  /* size_t: 8388608, 8Mi, 512Ki; within least..most */
	OPTION_TEXT,   /* const char * */
	OPTION_LIST,   /* struct list; the environment splits at commas
			  and blanks */
	OPTION_WORDS,  /* the same; arguments are split, too */
};

enum option_command {
	OPTION_SERVE = 1,
	OPTION_SELFTEST = 2,
};

/* Of the environment; see word_variable(). */
#define VARIABLES "GPUGATED_"

struct options {
	struct arena arena;
	const char *listen, *probe_listen, *tls_cert, *tls_key, *client_ca;
	struct list client_names, dns;
	const char *secret, *namespace, *webhook_config;
	const char *ca_life, *leaf_life, *ca_settle;
	const char *cluster, *kubeconfig, *live;
	const char *policy, *log_level, *log_format, *sandbox, *address,
		*reservations;
	unsigned threads, max_in_flight, max_connections, timeout, drain;
	size_t max_body;
	bool help, self_managed;
};

struct option {
	const char *name;    /* without the dashes */
	unsigned char kind;  /* enum option_kind */
	unsigned commands;   /* enum option_command */
	size_t at;	     /* offset in struct options */
	const char *value;   /* what --help calls the value; NULL for flags */
	const char *initial; /* as a user would write it; NULL: none */
	const char *choices; /* words separated by blanks; NULL: any */
	size_t least, most;
	const char *help; /* the default is told behind it */
};

extern const struct option option_table[];
extern const size_t option_count;

/*
 * Defaults, then the environment, then arguments (NULL-terminated). 0, or 2
 * after a message on errors. Strings live in argv, the environment or the
 * arena.
 */
int options_parse(struct options *options, enum option_command command,
		  char **argv, FILE *errors);
void options_release(struct options *options);
/* The options of a command, one paragraph each. */
void options_help(enum option_command command, struct buf *out);

#endif
