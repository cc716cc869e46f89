/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits a container's command into words, and looks for flags and commands in
 * them. Plain items are one word each; the string after `sh -c` (or bash -lc,
 * -euxo pipefail -c, ...) and Argo's `source` are split as a shell would
 * (shell.c).
 */
#include "rules/kube/operator.h"

#include <stdatomic.h>
#include <string.h>

#include "base/text.h"
#include "command_internal.h"
#include "doc/load.h"
#include "kube/command/command.h"
#include "rules/kube/kinds.h"

/*
 * Look-ups in the words of a command: flags with and without
 * values, commands by name or by path, and assignments of variables. An unknown
 * word matches none of them.
 */

/* Returns the text after the last '/'. */
static const char *base_name(const char *text)
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

/* Computes the members of argv that depend on the texts of its words. */
static struct argv argv_finish(struct argv argv)
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

/* --- splitting ------------------------------------------------------------ */

enum shell_state {
	SHELL_NONE,
	SHELL_NAMED,	/* the last item was a shell */
	SHELL_ARGUMENT, /* the last item was an option that takes an argument */
	SHELL_SCRIPT,	/* the last item was -c: the next one is a script */
};

static bool is_shell(const char *text)
{
	static const char *const names[] = {"sh",  "bash", "dash", "ash",
					    "zsh", "ksh",  NULL};

	size_t len = strlen(text);

	if (len < 2 || memcmp(text + len - 2, "sh", 2) != 0)
		return false;
	text = base_name(text);
	for (const char *const *name = names; *name; name++)
		if (text_eq(text, *name))
			return true;
	return false;
}

/* Returns the length of the part of a plain item before its first unknown
 * part. */
static size_t known_len(const char *text, size_t len)
{
	const char *dollar = strchr(text, '$'), *markup;

	dollar = dollar ? strstr(dollar, "$(") : NULL;
	if (dollar && strchr(dollar, ')'))
		return (size_t)(dollar - text);
	if (!placeholder_in(text, len))
		return len;
	markup = strstr(text, "{{");
	dollar = strchr(text, '$');
	if (markup && (!dollar || markup < dollar))
		dollar = markup;
	return dollar ? (size_t)(dollar - text) : 0;
}

/* Sets the variable's name if the text, which is the unknown rest of an item,
 * is "$(NAME)". */
static void item_name(struct lexer *lexer, const char *text)
{
	size_t len = strlen(text);

	if (len < 4 || memcmp(text, "$(", 2) || text[len - 1] != ')' ||
	    shell_name_len(text + 2, text + len) != len - 3)
		return;
	lexer->name = text + 2;
	lexer->name_len = len - 3;
}

static void item_add(struct lexer *lexer, const struct node *item)
{
	const char *text = item->str;
	size_t known = known_len(text, item->len);
	struct arg *arg;

	if (known < item->len) {
		item_name(lexer, text + known);
		word_add_unknown(lexer, text, known, true);
		lexer->name = NULL;
		return;
	}
	arg = word_push(lexer);
	arg->text = text;
	arg->len = item->len;
	arg->node = item;
}

/* Returns the state after this item if it is a shell option or the argument of
 * one, else SHELL_NONE. */
static enum shell_state shell_option(enum shell_state state, const char *text)
{
	size_t len = strlen(text);

	if (state == SHELL_ARGUMENT)
		return SHELL_NAMED;
	if ((text[0] != '-' && text[0] != '+') || len < 2)
		return SHELL_NONE;
	if (text[1] == '-')
		return state; /* "--" and long options */
	if (memchr(text, 'c', len))
		return SHELL_SCRIPT;
	if (state == SHELL_NAMED && text[len - 1] == 'o')
		return SHELL_ARGUMENT;
	return state;
}

/*
 * Splits the script of a nested shell, whose words follow all others. The loop
 * ends, because a nested script is always shorter than the outer one.
 */
static void lex_nested(struct lexer *lexer, size_t from)
{
	enum shell_state state = SHELL_NONE, next;

	for (size_t i = from; i < lexer->nwords; i++) {
		const char *text = lexer->argv[i].text;

		next = SHELL_NONE;
		if (text && state != SHELL_NONE)
			next = shell_option(state, text);
		if (text && state == SHELL_SCRIPT && next == SHELL_NONE &&
		    strpbrk(text, " \t\n"))
			lex_script(lexer, text, strlen(text));
		else if (text && next == SHELL_NONE && is_shell(text))
			next = SHELL_NAMED;
		state = next;
	}
}

static enum shell_state item_read(struct lexer *lexer, const struct node *item,
				  enum shell_state state)
{
	enum shell_state next = SHELL_NONE;
	size_t from = lexer->nwords;

	lexer->node = item;
	if (item->type != NODE_STRING) {
		item_add(lexer, item);
		return SHELL_NONE;
	}
	if (state != SHELL_NONE)
		next = shell_option(state, item->str);
	if (state == SHELL_SCRIPT && next == SHELL_NONE) {
		lex_script(lexer, item->str, item->len);
		lex_nested(lexer, from);
		return SHELL_NONE;
	}
	item_add(lexer, item);
	if (next == SHELL_NONE && is_shell(item->str))
		return SHELL_NAMED;
	return next;
}

static enum shell_state list_read(struct lexer *lexer, const struct node *list,
				  enum shell_state state)
{
	/* The placeholder may be the whole list. */
	if (list && list->type == NODE_STRING &&
	    (node_is_unknown(list) || placeholder_in(list->str, list->len)))
		lexer->any = true;
	FOR_EACH_CHILD(list, item) {
		if (node_is_map(item) || node_is_seq(item) || !item->str)
			continue;
		state = item_read(lexer, item, state);
	}
	return state;
}

/* Adds the words of a variable that the operator appends to the command. */
static void read_more_args(struct lexer *lexer, const struct container *c)
{
	const struct workload_operator *by = object_operator(c->pod->object);
	const char *name = by->vllm ? by->vllm(c).more_args : NULL;
	const struct node *entry = name ? container_env(c, name) : NULL;
	const struct node *value = node_get(entry, "value");
	size_t from = lexer->nwords;

	if (!entry)
		return;
	if (!node_str(value)) {
		lexer->any = true;
		return;
	}
	lexer->node = value;
	lex_script(lexer, value->str, value->len);
	if (lexer->nwords > from)
		lexer->argv[from].first = from == 0;
}

static struct argv split(struct arena *arena, const struct container *c)
{
	struct lexer lexer = {.arena = arena};
	const struct node *command = node_get(c->node, "command");
	const struct node *args = node_get(c->node, "args");
	const struct node *source = node_get(c->node, "source");
	enum shell_state state;

	buf_init(&lexer.arg);
	/* Most items are one word each. */
	lexer.size = node_count(command) + node_count(args);
	lexer.argv = ARENA_ARRAY(arena, struct arg, lexer.size);
	state = list_read(&lexer, command, SHELL_NONE);
	state = list_read(&lexer, args, state);
	/* Argo stores the source of a script in a file, which it passes to the
	 * command. */
	if (source && source->type == NODE_STRING && source->str &&
	    state != SHELL_NONE) {
		lexer.node = source;
		lex_script(&lexer, source->str, source->len);
	}
	read_more_args(&lexer, c);
	buf_release(&lexer.arg);
	return argv_finish((struct argv){
		.items = lexer.argv, .n = lexer.nwords, .unknown = lexer.any});
}

/* Returns the words of a container's command. They are computed once, because
 * most rules need them. */
struct argv container_argv(const struct container *c)
{
	struct container_memo *memo = c->memo;
	struct argv *argv;

	if (!memo->argv) {
		argv = ARENA_NEW(c->pod->memo->arena, struct argv);
		*argv = split(c->pod->memo->arena, c);
		memo->argv = argv;
	}
	return *memo->argv;
}
