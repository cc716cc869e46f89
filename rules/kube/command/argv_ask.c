/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-ups in the words of a command (see argv.c): flags with and without
 * values, commands by name or by path, and assignments of variables. An unknown
 * word matches none of them.
 */
#include "rules/kube/kinds.h"

#include <stdatomic.h>
#include <string.h>

#include "base/text.h"
#include "kube/command/argv.h"

const char *base_name(const char *text)
{
	const char *slash = strrchr(text, '/');

	return slash ? slash + 1 : text;
}

/* -- first characters ------------------------------------------------------ */

/* Returns the bit for the first two characters of a text. */
static inline uint64_t start_bit(const char *text)
{
	unsigned first = (unsigned char)text[0];
	unsigned second = first ? (unsigned char)text[1] : 0;

	return UINT64_C(1) << ((first * 5 + second * 3) & 63);
}

/* Returns a letter of a flag's name, with `-` for `_`. Returns NUL for '=',
 * which ends the name in "--flag=value". */
static inline char flag_letter(char c)
{
	return c == '_' ? '-' : c == '=' ? '\0' : c;
}

/* Returns the bit for a flag's name. */
static uint64_t flag_bit(const char *flag)
{
	while (*flag == '-' || *flag == '_')
		flag++;
	return start_bit((char[]){flag_letter(flag[0]),
				  *flag ? flag_letter(flag[1]) : '\0'});
}

struct argv argv_finish(struct argv argv)
{
	for (size_t i = 0; i < argv.n; i++) {
		struct arg *arg = &argv.items[i];

		if (!arg->text)
			continue;
		arg->base = base_name(arg->text);
		argv.starts |= start_bit(arg->text) | start_bit(arg->base);
		if (*arg->text == '-' || *arg->base == '-')
			argv.flags |= flag_bit(arg->text) | flag_bit(arg->base);
	}
	return argv;
}

bool argv_may_assign(const struct argv *argv, const char *name)
{
	const char start[] = {name[0], name[1] ? name[1] : '=', '\0'};

	return *name && argv->starts & start_bit(start);
}

static bool may_have(const struct argv *argv, const char *name)
{
	return *name == '-' ? argv->flags & flag_bit(name)
			    : argv->starts & start_bit(name);
}

/* -- look-ups ------------------------------------------------------------ */

/* Returns the part of the word after the flag's name, with - and _ alike: "" or
 * "=value". NULL if it is another word. */
static const char *flag_end(const char *text, const char *flag)
{
	const char *name = text;

	while (*name == '-')
		name++;
	if (name == text)
		return NULL;
	if (flag[0] != '-')
		text = name;
	for (; *flag; text++, flag++)
		if (*text != *flag && (*text == '_' ? '-' : *text) !=
					      (*flag == '_' ? '-' : *flag))
			return NULL;
	return !*text || *text == '=' ? text : NULL;
}

/* True for a word that cannot be a value, because it is a flag. */
static bool is_flag(const char *text)
{
	return text && text[0] == '-' && text[1] &&
	       !(text[1] >= '0' && text[1] <= '9') && text[1] != '.';
}

/*
 * Returns the word with the value of the flag at argv->items[i], the flag
 * itself if it has no value, or NULL if the word is not the flag. Sets *value
 * to the value, or to NULL if it is missing or unknown.
 */
static const struct arg *flag_value(const struct argv *argv, size_t i,
				    const char *flag, const char **value)
{
	const struct arg *arg = &argv->items[i];
	const char *end;

	if (!arg->text || *arg->text != '-')
		return NULL;
	end = flag_end(arg->text, flag);
	if (!end)
		return NULL;
	if (*end == '=') {
		*value = arg->unknown ? NULL : end + 1;
		return arg;
	}
	if (i + 1 == argv->n || is_flag(argv->items[i + 1].text)) {
		*value = NULL;
		return arg;
	}
	arg++;
	*value = arg->unknown ? NULL : arg->text;
	return arg;
}

const char *argv_flag(const struct argv *argv, const char *flag,
		      const struct arg **found)
{
	const char *value = NULL;

	if (found)
		*found = NULL;
	if (!(argv->flags & flag_bit(flag)))
		return NULL;
	for (size_t i = 0; i < argv->n; i++) {
		const struct arg *arg = flag_value(argv, i, flag, &value);

		if (arg && found)
			*found = arg;
	}
	return value;
}

/* Compares the name with the word, or with the last part of its path. */
static bool is_named(const struct arg *arg, const char *name)
{
	return text_eq(arg->text, name) ||
	       (arg->base != arg->text && text_eq(arg->base, name));
}

bool argv_have(const struct argv *argv, const char *wanted)
{
	if (!may_have(argv, wanted))
		return false;
	for (size_t i = 0; i < argv->n; i++) {
		const char *text = argv->items[i].text;

		if (!text)
			continue;
		if (is_named(&argv->items[i], wanted))
			return true;
		if (wanted[0] == '-' && flag_end(text, wanted))
			return true;
	}
	return false;
}

const char *argv_have_any(const struct argv *argv, const char *const *args)
{
	while (*args && !argv_have(argv, *args))
		args++;
	return *args;
}

bool argv_have_name(const struct argv *argv, struct argv_names *wanted)
{
	uint64_t starts =
		atomic_load_explicit(&wanted->starts, memory_order_relaxed);
	const char *const *name = wanted->names;

	if (!starts) {
		for (; *name; name++)
			starts |= start_bit(*name);
		atomic_store_explicit(&wanted->starts, starts,
				      memory_order_relaxed);
	}
	if (!(argv->starts & starts))
		return false;
	for (name = wanted->names; *name; name++)
		if (argv->starts & start_bit(*name) && argv_have(argv, *name))
			return true;
	return false;
}

/* --- assignments ---------------------------------------------------------- */

static bool has_branches(const struct argv *argv)
{
	static const char *const names[] = {"if",    "case",  "for",
					    "while", "until", NULL};

	return argv_have_any(argv, names);
}

/* True if `NAME=value` at word i sets a variable: it precedes a command, or
 * follows `export` or `env`. */
static bool is_assignment(const struct argv *argv, size_t i)
{
	const struct arg *arg = &argv->items[i];

	for (;;) {
		if (arg->first)
			return true;
		if (!i)
			return false;
		arg = &argv->items[--i];
		if (text_eq(arg->text, "export") || text_eq(arg->base, "env"))
			return true;
		if (!arg->text || *arg->text == '-' || !strchr(arg->text, '='))
			return false;
	}
}

const struct arg *argv_assigns(const struct argv *argv, const char *name,
			       const struct arg *after)
{
	size_t len = strlen(name);

	if (!argv_may_assign(argv, name) || has_branches(argv))
		return NULL;
	for (size_t i = after ? (size_t)(after - argv->items) + 1 : 0;
	     i < argv->n; i++) {
		const struct arg *arg = &argv->items[i];

		if (arg->text && !arg->unknown &&
		    !strncmp(arg->text, name, len) && arg->text[len] == '=' &&
		    arg->text[len + 1] && is_assignment(argv, i))
			return arg;
	}
	return NULL;
}
