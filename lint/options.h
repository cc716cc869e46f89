/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options and commands as data. One table of options drives parsing, --help,
 * the GPUGATE_* environment, the manual pages and shell completion; one table
 * of commands drives the rest. What is not in a table does not exist.
 */
#ifndef LINT_OPTIONS_H
#define LINT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/words.h"
#include "engine/registry.h"

enum option_kind {
	OPTION_FLAG,   /* bool */
	OPTION_COUNT,  /* unsigned, one more each time */
	OPTION_NUMBER, /* unsigned, 1 or more */
	OPTION_TEXT,   /* const char * */
	OPTION_WORDS,  /* struct list, split at commas wherever it is given */
	OPTION_LIST,   /* struct list, one item each time; the environment
			  splits at blanks */
};

enum command_bits {
	FOR_LINT = 1,
	FOR_EXPLAIN = 2,
	FOR_RULES = 4,
	FOR_CONFIG = 8,
	FOR_INIT = 16,
	FOR_COMPLETION = 32,
	FOR_VERSION = 64,
	FOR_HELP = 128,
	FOR_MANPAGE = 256,
	FOR_KRM = 512,
	FOR_POST_RENDER = 1024,
	FOR_SNAPSHOT = 2048,
	FOR_QUOTA = 4096,
	FOR_FILTERS = FOR_KRM | FOR_POST_RENDER,
	FOR_NO_PATHS = FOR_FILTERS | FOR_VERSION,
};

/* Of the environment; see word_variable(). */
#define VARIABLES "GPUGATE_"

struct options {
	struct arena arena;
	struct list namespaces, formats, select, extend, ignore, require,
		exclude, paths;
	const char *fail_on, *config, *policy, *preset, *namespace;
	const char *quota_format, *before;
	const char *cluster, *output, *kubectl, *context, *kubeconfig, *door;
	const char *baseline, *write_baseline, *since, *add_ignore;
	const char *report_file;
	const char *stdin_filename, *color, *rules_format;
	unsigned jobs, quiet, verbose;
	bool isolated, prune_baseline, partial, no_ignore, force_exclude;
	bool no_ignore_vcs, strict_input, statistics, help;
	bool fix, unsafe_fixes, diff, exit_non_zero_on_fix;
};

struct option {
	const char *name;    /* without the dashes */
	char letter;	     /* 0: none */
	unsigned char kind;  /* enum option_kind */
	unsigned commands;   /* enum command_bits */
	size_t at;	     /* offset in struct options */
	const char *value;   /* what --help calls the value, NULL for flags */
	const char *choices; /* words separated by blanks, NULL: any */
	const char *help;
};

extern const struct option option_table[];
extern const size_t option_count;

struct command {
	const char *name, *arguments, *summary;
	const char *description; /* paragraphs separated by an empty line */
	unsigned bit;
	bool internal; /* not listed */
	int (*run)(struct options *options);
};

extern const struct command command_table[];
extern const size_t command_count;

/* The rules this program was built with. */
struct rule_set program_rules(void);

/*
 * Environment, then arguments (NULL-terminated). 0, or the exit status after
 * a message. Strings point into argv and the environment, or the arena.
 */
int options_parse(struct options *options, const struct command *command,
		  char **argv);
void options_release(struct options *options);

/* help.c */
void help_program(struct buf *out);
void help_command(const struct command *command, struct buf *out);
/* Write to standard output, and release; the exit status: 0, or 2 after a
 * message. */
int print_out(struct buf *out);
/* The same of what was written to it before. */
int flush_out(void);

extern const char program_version[];

/* The commands. */
int lint_command(struct options *options);
int explain_command(struct options *options);
int rules_command(struct options *options);
int config_command(struct options *options);
int init_command(struct options *options);
int completion_command(struct options *options);
int manpage_command(struct options *options);
int krm_command(struct options *options);
int post_render_command(struct options *options);
int snapshot_command(struct options *options);
int quota_command(struct options *options);

#endif
