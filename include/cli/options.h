/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command line options of both programs: one table of all options drives
 * parsing, the environment, help, manual pages and completion. Abbreviations
 * are not accepted: they break when an option is added.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "cli/words.h"

enum option_kind {
	OPTION_FLAG,   /* bool */
	OPTION_COUNT,  /* unsigned, incremented by each use */
	OPTION_NUMBER, /* unsigned, within least..most */
	OPTION_BYTES,  /* size_t within least..most, as 8388608, 8Mi, 512Ki */
	OPTION_TEXT,   /* const char * */
	OPTION_WORDS,  /* struct list, split at commas */
	OPTION_LIST,   /* struct list, one item for each use */
};

/* Members are in the order of the tables' initializers. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct option {
	const char *name;    /* without the dashes */
	char letter;	     /* short name, or 0; `h` is reserved for --help */
	unsigned char kind;  /* enum option_kind */
	unsigned commands;   /* bits of the commands that accept it */
	size_t at;	     /* offset of the value in the program's struct */
	const char *value;   /* name of the value in the help; NULL for flags */
	const char *choices; /* words separated by blanks, or NULL (any) */
	const char *help;
	const char *initial; /* default as a user would write it, or NULL */
	const char *former;  /* an earlier name that still works, or NULL */
	size_t least, most;  /* bounds of a number or byte count */
	bool many;	     /* one use takes all words up to the next option */
};

struct option_parser;
struct option_set {
	const struct option *items;
	size_t n;
	const char *variables; /* "GPUGATE_", see word_variable(); or NULL */
	const char *list_separators; /* separators in the environment variable
					of an OPTION_LIST */
	bool empty_values;	     /* "" is a valid argument */
	/* Options of other tools and the options to suggest instead, ended by
	 * {0}; or NULL. */
	const struct option_hint {
		const char *name, *instead;
	} * hints;
	/* Appends a help text in the wording of the program; or NULL. */
	void (*say)(struct buf *out, const char *text);
	/* Reports a usage error; returns the exit status. */
	int (*usage)(const struct option_parser *parser, const char *text);
};

enum { OPTIONS_MOST = 80 };

struct option_parser {
	/* Set by the caller. */
	const struct option_set *set;
	void *options; /* the program's struct */
	struct arena *arena;
	/* list for arguments that are not options; NULL if they are errors */
	struct list *arguments;
	unsigned command; /* bit of the command */
	void *context;	  /* for usage() */
	/* Private to the parser. */
	char **next;		      /* the argument after the current one */
	bool inherited[OPTIONS_MOST]; /* set by the environment */
};

/*
 * Sets the options from defaults, then the environment, then arguments
 * (NULL-terminated). A list given as arguments replaces the list from the
 * environment. Returns 0, or the exit status after a message. Strings live in
 * argv, the environment or the arena.
 */
int options_read(struct option_parser *parser, char **argv);
/* True if the environment set the option and no argument did. */
bool option_is_inherited(const struct option_parser *parser, const char *name);
/* Reports a usage error, for example that one option requires or excludes
 * another; returns the exit status. */
int option_usage(const struct option_parser *parser, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Appends the help of the options of the commands with this bit, one paragraph
 * each. */
void options_print(const struct option_set *set, unsigned command,
		   struct buf *out);

/*
 * Completion scripts of both programs. The scripts contain all words, from the
 * tables of commands and options. Where no word is known, they offer files.
 */

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

/*
 * Manual pages from the tables of options, for both programs.
 */

struct roff_page {
	const char *title, *section; /* in the header of the page */
	const char *name, *summary;
	const char *version;
};

/* Appends text and a newline, escaped so that roff interprets none of it. An
 * empty line begins a paragraph. */
void roff_line(struct buf *out, const char *text);
void roff_header(struct buf *out, const struct roff_page *page);
/* Appends the options of the commands with this bit, without --help. */
void roff_options(struct buf *out, const struct option_set *set,
		  unsigned command);

#endif
