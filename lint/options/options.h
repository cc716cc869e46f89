/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options and commands as data. The table of options is used for parsing,
 * --help, the GPUGATE_* environment, the manual pages and shell completion; the
 * table of commands selects the function that runs, and is the source of their
 * help.
 */
#ifndef LINT_OPTIONS_H
#define LINT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "cli/options.h"
#include "lint/term/program.h"

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
	FOR_TEST = 8192,
	FOR_LSP = 16384,
	FOR_CMP = 32768,
	FOR_REPAIRING = FOR_KRM | FOR_POST_RENDER,
	FOR_FILTERS = FOR_REPAIRING | FOR_CMP,
	FOR_NO_PATHS = FOR_FILTERS | FOR_VERSION | FOR_LSP,
};

struct cluster;

struct options {
	struct arena arena;
	struct list namespaces, formats, select, extend, ignore, require,
		exclude, paths, admission_policies, as_groups;
	const char *fail_on, *config, *policy, *preset, *namespace;
	const char *quota_format, *before;
	const char *cluster, *output, *kubectl, *context, *kubeconfig,
		*webhook_policy;
	const char *as;
	const char *baseline, *write_baseline, *since, *add_ignore;
	const char *report_file, *render;
	const char *stdin_filename, *color, *rules_format, *docs_url;
	unsigned jobs, quiet, verbose;
	bool isolated, prune_baseline, partial, no_ignore, force_exclude;
	bool no_ignore_vcs, render_network, strict_input, statistics, show_all,
		help;
	bool all_namespaces, discover;
	/* Read objects, or a snapshot, from the cluster that kubectl uses. */
	bool asks_objects, asks_state;
	/* The state that was read, owned by the command; or NULL. */
	const struct cluster *asked;
	bool fix, unsafe_fixes, diff, exit_non_zero_on_fix;
};

extern const struct option_set option_set;

struct command {
	const char *name, *arguments, *summary;
	const char *description; /* paragraphs separated by an empty line */
	unsigned bit;
	bool internal; /* not listed in the help */
	int (*run)(struct options *options);
};

/* Commands of the program, which main() must set first. */
struct command_list {
	const struct command *items;
	size_t n;
};
extern struct command_list command_list;

/*
 * Reads the environment, then the arguments (NULL-terminated). Returns 0, or
 * the exit status after a message. Strings live in argv, the environment or the
 * arena.
 */
int options_parse(struct options *options, const struct command *command,
		  char **argv);
void options_release(struct options *options);
/* True if infos are shown; otherwise only their number is. */
bool options_show_infos(const struct options *options);

/* Appends the help of the program, or of a command. */
void help_program(struct buf *out);
void help_command(const struct command *command, struct buf *out);

/* Functions that run the commands. */
int lint_command(struct options *options);
int explain_command(struct options *options);
int rules_command(struct options *options);
int config_command(struct options *options);
int init_command(struct options *options);
int completion_command(struct options *options);
int manpage_command(struct options *options);
int krm_command(struct options *options);
int cmp_command(struct options *options);
int post_render_command(struct options *options);
int snapshot_command(struct options *options);
int quota_command(struct options *options);
int test_command(struct options *options);
int lsp_command(struct options *options);

#endif
