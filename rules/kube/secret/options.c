/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds passwords in options of one letter, whose meaning depends on the
 * program: `-p` is a password for mysql, a port for `docker run` and a flag for
 * mkdir. The words between a program and its option are read only once, because
 * an attacker may choose the text.
 */
#include "rules/kube/secret/secret_internal.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"

enum {
	COMMAND_MOST = 1024, /* most bytes between a program and its option */
	VALUE_MOST = 4096,
	BETWEEN_MOST = 64, /* most bytes between an option and its value */
};

enum form {
	GLUED = 1,    /* written as `-pX` */
	SEPARATE = 2, /* written as `-p X` */
	EITHER = GLUED | SEPARATE,
	USER = 4,   /* written as `-u name:X` */
	FAMILY = 8, /* also programs whose names begin with this one */
};

static const struct program {
	/* command is a subcommand of the program, or NULL */
	const char *name, *command;
	char letter;
	unsigned form;
} programs[] = {
	{"mysql", NULL, 'p', GLUED | FAMILY},
	{"mariadb", NULL, 'p', GLUED | FAMILY},
	{"redis-", NULL, 'a', SEPARATE | FAMILY},
	{"valkey-", NULL, 'a', SEPARATE | FAMILY},
	{"keydb-", NULL, 'a', SEPARATE | FAMILY},
	{"mongo", NULL, 'p', EITHER | FAMILY},
	{"cqlsh", NULL, 'p', EITHER},
	{"sshpass", NULL, 'p', EITHER},
	{"rabbitmqadmin", NULL, 'p', EITHER},
	{"sqlcmd", NULL, 'P', EITHER},
	{"ldap", NULL, 'w', EITHER | FAMILY},
	{"curl", NULL, 'u', EITHER | USER},
	{"docker", "login", 'p', EITHER},
	{"podman", "login", 'p', EITHER},
	{"nerdctl", "login", 'p', EITHER},
	{"buildah", "login", 'p', EITHER},
	{"skopeo", "login", 'p', EITHER},
	{"crane", "login", 'p', EITHER},
	{"oras", "login", 'p', EITHER},
	{"helm", "login", 'p', EITHER},
	{"az", "login", 'p', EITHER},
	{"oc", "login", 'p', EITHER},
	{"argocd", "login", 'p', EITHER},
};
enum { PROGRAMS = ARRAY_SIZE(programs) };

static const char letters[] = "paPwu";
static const char blanks[] = " \t\r\"'\\,[]()`";

struct option_scan {
	const char *s;
	size_t len;
	size_t at; /* end of the words that were read */
	const struct program *program;
	bool command; /* its subcommand was read, or it needs none */
};

static size_t skip_blanks(const struct option_scan *scan, size_t at)
{
	while (at < scan->len && scan->s[at] && strchr(blanks, scan->s[at]))
		at++;
	return at;
}

static bool ends_word(char c)
{
	return !c || strchr(" \t\r\n\"'\\,[]()`;|&", c);
}

static const struct program *find_program(const char *word, size_t len)
{
	const char *slash = memrchr(word, '/', len);

	if (slash) {
		len -= (size_t)(slash + 1 - word);
		word = slash + 1;
	}
	for (size_t i = 0; i < PROGRAMS; i++) {
		size_t n = strlen(programs[i].name);

		if (len >= n && *word == *programs[i].name &&
		    !memcmp(word, programs[i].name, n) &&
		    (len == n || programs[i].form & FAMILY) &&
		    !memchr(word, ':', len))
			return &programs[i];
	}
	return NULL;
}

static void read_word(struct option_scan *scan, const char *word, size_t len)
{
	const struct program *program = find_program(word, len);
	const char *command = scan->program ? scan->program->command : NULL;

	if (program) {
		scan->program = program;
		scan->command = !program->command;
	} else if (command && strlen(command) == len &&
		   !memcmp(command, word, len)) {
		scan->command = true;
	}
}

/* True if the line break ends the command. The command continues after a comma
 * or a backslash, with an item of a list, and with `args:`. */
static bool ends_command(const struct option_scan *scan, size_t lf)
{
	size_t next = lf + 1;

	if (lf && strchr(",\\", scan->s[lf - 1]))
		return false;
	next = skip_blanks(scan, next);
	return next == scan->len ||
	       (scan->s[next] != '-' &&
		(scan->len - next < 5 || memcmp(scan->s + next, "args:", 5)));
}

/* Reads the unread words before the option. */
static void read_words(struct option_scan *scan, size_t option)
{
	size_t at = scan->at;

	if (option - at > COMMAND_MOST) {
		at = option - COMMAND_MOST;
		scan->program = NULL;
	}
	while (at < option) {
		size_t from = at;

		while (at < option && !ends_word(scan->s[at]))
			at++;
		if (at > from)
			read_word(scan, scan->s + from, at - from);
		else if (strchr(";|&", scan->s[at]) ||
			 (scan->s[at] == '\n' && ends_command(scan, at)))
			scan->program = NULL;
		at += at == from;
	}
	scan->at = option;
}

/* Returns the position of the value of the option at `at`; 0 if it has none. */
static size_t find_value(const struct option_scan *scan, size_t at)
{
	unsigned form = scan->program->form;
	size_t next = at + 2, most = next + BETWEEN_MOST;

	if (next >= scan->len)
		return 0;
	if (scan->s[next] == '=')
		return next + 1;
	if (!strchr(" \t\r\n\",]", scan->s[next])) {
		if (scan->s[next] == '\'' && next + 1 < scan->len &&
		    ends_word(scan->s[next + 1]))
			next++;
		else
			return form & GLUED ? next : 0;
	}
	if (!(form & SEPARATE))
		return 0;
	while (next < scan->len && next < most && scan->s[next] &&
	       strchr(" \t\r\n\"',\\", scan->s[next]))
		next++;
	/* In a list, the value is the next item (`- X`). Another option cannot
	 * be the value. */
	if (next + 1 < scan->len && scan->s[next] == '-')
		next = scan->s[next + 1] == ' ' ? next + 2 : scan->len;
	return next < scan->len ? next : 0;
}

static size_t value_end(const struct option_scan *scan, size_t at)
{
	size_t most = at + VALUE_MOST;

	while (at < scan->len && at < most && !ends_word(scan->s[at]))
		at++;
	return at;
}

/* Finds the password in the option at `at`: sets *from to its start and returns
 * its end, which equals *from if the option has no password. */
static size_t read_option(const struct option_scan *scan, size_t at,
			  size_t *from)
{
	size_t value = find_value(scan, at), end;
	const char *colon;

	*from = at;
	if (!value)
		return at;
	while (value < scan->len && strchr("\\\"'", scan->s[value]))
		value++;
	end = value_end(scan, value);
	if (scan->program->form & USER) {
		colon = memchr(scan->s + value, ':', end - value);
		value = colon ? (size_t)(colon + 1 - scan->s) : end;
	}
	*from = value;
	return value < end && credential_is_value(scan->s + value, end - value)
		       ? end
		       : value;
}

static bool is_option(const struct option_scan *scan, size_t at)
{
	return at && at + 1 < scan->len &&
	       strchr(" \t\n\"',[", scan->s[at - 1]) && scan->s[at + 1] &&
	       strchr(letters, scan->s[at + 1]);
}

bool secret_options(const char *text, size_t len,
		    void (*found)(void *context, size_t at, size_t len),
		    void *context)
{
	struct option_scan scan = {.s = text, .len = len};
	const char *dash = text, *end = text + len;
	bool any = false;

	while ((dash = memchr(dash, '-', (size_t)(end - dash)))) {
		size_t at = (size_t)(dash++ - text), from, stop;

		if (at < scan.at || !is_option(&scan, at))
			continue;
		read_words(&scan, at);
		if (!scan.program || !scan.command ||
		    scan.program->letter != text[at + 1])
			continue;
		stop = read_option(&scan, at, &from);
		/* Another such option may belong to a program that this one
		 * starts. */
		if (from > at)
			scan.program = NULL;
		if (stop == from)
			continue;
		any = true;
		if (found)
			found(context, from, stop - from);
		scan.at = stop;
	}
	return any;
}
