/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes completion scripts. Words that several options share are variables of
 * the script.
 */
#include "cli/options.h"

#include <string.h>

#include "base/text.h"

#define LIST "gpugate_list"

enum { MEANING_MOST = 70 };

/* Adds the first sentence, or its start if it is too long, for a text between
 * single quotes. Brackets have a meaning in zsh. */
static void add_meaning(struct buf *out, const char *text)
{
	const char *stop = strstr(text, ". ");
	size_t len = stop ? (size_t)(stop - text) : strlen(text);

	if (len && text[len - 1] == '.')
		len--;
	if (len > MEANING_MOST)
		for (len = MEANING_MOST; len && text[len] != ' ';)
			len--;
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\'' || text[i] == '[' || text[i] == ']')
			buf_addc(out, ' ');
		else
			buf_addc(out, text[i] == '\n' ? ' ' : text[i]);
}

/* Adds the words that are known for a value, or their variable. Returns false
 * if none are known. */
static bool add_words(const struct complete_set *set, const char *value,
		      const char *choices, struct buf *out)
{
	if (choices)
		buf_adds(out, choices);
	for (size_t i = 0; !choices && set->words[i].value; i++)
		if (strstr(value, set->words[i].value)) {
			buf_addf(out, "$" LIST "%zu", i);
			return true;
		}
	return choices;
}

static bool is_file(const char *value)
{
	return strstr(value, "FILE") || strstr(value, "DIR") ||
	       strstr(value, "PATH");
}

/* Calls add() for each option of a command, or, if command is NULL, for each
 * option that the program accepts without a command. */
static void each_option(const struct complete_set *set,
			const struct complete_command *command,
			void (*add)(const struct complete_set *set,
				    const char *name, const struct option *o,
				    struct buf *out),
			struct buf *out)
{
	const struct option_set *options =
		command && command->options ? command->options : set->options;
	unsigned bit = command ? command->bit : set->without;

	for (size_t i = 0; i < options->n; i++)
		if (options->items[i].commands & bit)
			add(set, command ? command->name : "",
			    &options->items[i], out);
}

static void add_names(const struct complete_set *set, struct buf *out)
{
	for (size_t i = 0; i < set->n; i++)
		buf_addf(out, "%s%s", i ? " " : "", set->commands[i].name);
}

/* --- bash ----------------------------------------------------------------- */

/* Bash splits --option=value into three words, kubectl passes it as one. */
static const char bash_head[] =
	"\tlocal word=${COMP_WORDS[COMP_CWORD]} command= words= many= kept=\n"
	"\tlocal before=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\t((COMP_CWORD < 2)) || command=${COMP_WORDS[1]}\n"
	"\tcase $command in -*) command= ;; esac\n"
	"\tif [[ $word == --*=* ]]; then\n"
	"\t\tbefore=${word%%=*} kept=${word%%=*}= word=${word#*=}\n"
	"\telif [[ $word == = ]]; then\n"
	"\t\tword=\n"
	"\telif [[ $before == = ]]; then\n"
	"\t\tbefore=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tfi\n"
	"\tcase \"$command $before $word\" in\n";

static const char bash_tail[] =
	"\tesac\n"
	"\tif [[ $many ]]; then\n"
	"\t\tcompopt -o nospace 2>/dev/null\n"
	"\t\tcase $word in *,*) kept+=${word%,*}, word=${word##*,} ;; esac\n"
	"\tfi\n"
	"\tCOMPREPLY=($(compgen -P \"$kept\" -W \"$words\" -- \"$word\")) || :\n"
	"}\n";

static void bash_value(const struct complete_set *set, const char *name,
		       const struct option *o, struct buf *out)
{
	if (!o->value)
		return;
	buf_addf(out, "\t\"%s --%s \"*", name, o->name);
	if (o->letter)
		buf_addf(out, " | \"%s -%c \"*", name, o->letter);
	buf_adds(out, ") words=\"");
	add_words(set, o->value, o->choices, out);
	buf_addf(out, "\"%s ;;\n", o->kind == OPTION_WORDS ? " many=1" : "");
}

static void bash_option(const struct complete_set *set, const char *name,
			const struct option *o, struct buf *out)
{
	(void)set, (void)name;
	buf_addf(out, " --%s", o->name);
}

/* Adds the cases of a command: the values of its options, its options, its
 * arguments. */
static void bash_command(const struct complete_set *set,
			 const struct complete_command *command,
			 struct buf *out)
{
	const char *name = command ? command->name : "";

	each_option(set, command, bash_value, out);
	buf_addf(out, "\t\"%s \"*\" -\"*) words=\"", name);
	each_option(set, command, bash_option, out);
	buf_addf(out, "\" ;;\n\t\"%s \"*) words=\"", name);
	if (command)
		add_words(set, command->arguments, NULL, out);
	else
		add_names(set, out);
	buf_adds(out, "\" ;;\n");
}

static void bash_script(const struct complete_set *set, const char *name,
			struct buf *out)
{
	buf_addf(out, "_%s() {\n", name);
	for (size_t i = 0; set->words[i].value; i++)
		buf_addf(out, "\tlocal " LIST "%zu=\"%s\"\n", i,
			 set->words[i].words);
	buf_adds(out, bash_head);
	for (size_t i = 0; i < set->n; i++)
		bash_command(set, &set->commands[i], out);
	bash_command(set, NULL, out);
	buf_adds(out, bash_tail);
	buf_addf(out, "complete -o default -F _%s %s\n", name, set->names);
}

/* --- zsh ------------------------------------------------------------------ */

static void zsh_action(const struct complete_set *set, const char *value,
		       const char *choices, bool many, struct buf *out)
{
	struct buf words;

	buf_init(&words);
	if (!add_words(set, value, choices, &words))
		buf_adds(out, is_file(value) ? "_files" : " ");
	else if (many)
		buf_addf(out, "_sequence compadd - %s", words.data);
	else
		buf_addf(out, "(%s)", words.data);
	buf_release(&words);
}

static void zsh_spec(const struct complete_set *set, const struct option *o,
		     const char *option, struct buf *out)
{
	bool again = o->kind == OPTION_LIST || o->kind == OPTION_COUNT;

	buf_addf(out, " \\\n\t\t'%s%s[", again ? "*" : "", option);
	add_meaning(out, o->help);
	buf_addc(out, ']');
	if (o->value) {
		buf_adds(out, ":value:");
		zsh_action(set, o->value, o->choices, o->kind == OPTION_WORDS,
			   out);
	}
	buf_addc(out, '\'');
}

static void zsh_option(const struct complete_set *set, const char *name,
		       const struct option *o, struct buf *out)
{
	const char letter[] = {'-', o->letter, o->value ? '+' : '\0', '\0'};
	struct buf option;

	(void)name;
	buf_init(&option);
	buf_addf(&option, "--%s%s", o->name, o->value ? "=" : "");
	zsh_spec(set, o, option.data, out);
	buf_release(&option);
	if (o->letter)
		zsh_spec(set, o, letter, out);
}

static void zsh_command(const struct complete_set *set,
			const struct complete_command *command, struct buf *out)
{
	buf_addf(out, "\t%s) _arguments -s :", command ? command->name : "-");
	each_option(set, command, zsh_option, out);
	if (command && *command->arguments) {
		buf_adds(out, " \\\n\t\t'*:argument:");
		zsh_action(set, command->arguments, NULL, false, out);
		buf_addc(out, '\'');
	}
	buf_adds(out, " ;;\n");
}

static void zsh_script(const struct complete_set *set, const char *name,
		       struct buf *out)
{
	buf_addf(out, "#compdef %s\n_%s() {\n\tlocal -a commands=(\n",
		 set->names, name);
	for (size_t i = 0; i < set->n; i++) {
		buf_addf(out, "\t\t'%s:", set->commands[i].name);
		add_meaning(out, set->commands[i].summary);
		buf_adds(out, "'\n");
	}
	buf_adds(out, "\t)\n");
	for (size_t i = 0; set->words[i].value; i++)
		buf_addf(out, "\tlocal -a " LIST "%zu=(%s)\n", i,
			 set->words[i].words);
	buf_adds(out, "\tlocal command=$words[2]\n"
		      "\tif [[ $command == -* ]]; then\n"
		      "\t\tcommand=-\n"
		      "\telif ((CURRENT == 2)); then\n"
		      "\t\t_describe command commands\n"
		      "\t\treturn\n"
		      "\telse\n"
		      "\t\tshift words\n"
		      "\t\t((CURRENT -= 1))\n"
		      "\tfi\n"
		      "\tcase $command in\n");
	for (size_t i = 0; i < set->n; i++)
		zsh_command(set, &set->commands[i], out);
	if (set->without)
		zsh_command(set, NULL, out);
	buf_addf(
		out,
		"\tesac\n}\n"
		"# compinit calls this file as the function; otherwise, define it.\n"
		"if [[ $funcstack[1] == _%s ]]; then\n"
		"\t_%s\nelse\n\tcompdef _%s %s\nfi\n",
		name, name, name, set->names);
}

/* --- fish ----------------------------------------------------------------- */

/* __fish_complete_list would drop the name in --option=a,b. */
static const char fish_list[] =
	"function __gpugate_list\n"
	"\tset -l word (commandline -ct | string replace -r '^--[^=]*=' '')\n"
	"\tprintf '%s\\n' (string replace -r '[^,]*$' '' -- \"$word\")$argv\n"
	"end\n";

static void fish_values(const struct complete_set *set, const char *value,
			const struct option *o, struct buf *out)
{
	struct buf words;

	buf_init(&words);
	if (!add_words(set, value, o ? o->choices : NULL, &words))
		buf_adds(out, is_file(value) ? " -r -F" : " -x");
	else if (o && o->kind == OPTION_WORDS)
		buf_addf(out, " -x -a '(__gpugate_list %s)'", words.data);
	else
		buf_addf(out, " -x -a '%s'", words.data);
	buf_release(&words);
}

/* Begins a line for a command, or for the program without one. */
static void fish_begin(const struct complete_set *set, const char *command,
		       struct buf *out)
{
	buf_addf(out, "complete -c %.*s -n '%s__fish_seen_subcommand_from ",
		 (int)strcspn(set->names, " "), set->names,
		 *command ? "" : "not ");
	if (*command)
		buf_adds(out, command);
	else
		add_names(set, out);
	buf_addc(out, '\'');
}

static void fish_option(const struct complete_set *set, const char *name,
			const struct option *o, struct buf *out)
{
	fish_begin(set, name, out);
	buf_addf(out, " -l %s", o->name);
	if (o->letter)
		buf_addf(out, " -s %c", o->letter);
	if (o->value)
		fish_values(set, o->value, o, out);
	buf_adds(out, " -d '");
	add_meaning(out, o->help);
	buf_adds(out, "'\n");
}

static void fish_script(const struct complete_set *set, struct buf *out)
{
	size_t len = strcspn(set->names, " ");

	for (size_t i = 0; set->words[i].value; i++)
		buf_addf(out, "set -g " LIST "%zu %s\n", i,
			 set->words[i].words);
	buf_adds(out, fish_list);
	for (size_t i = 0; i < set->n; i++) {
		const struct complete_command *c = &set->commands[i];

		fish_begin(set, "", out);
		buf_addf(out, " -f -a %s -d '", c->name);
		add_meaning(out, c->summary);
		buf_adds(out, "'\n");
		each_option(set, c, fish_option, out);
		fish_begin(set, c->name, out);
		fish_values(set, c->arguments, NULL, out);
		buf_addc(out, '\n');
	}
	each_option(set, NULL, fish_option, out);
	for (const char *at = set->names + len; *at; at += strcspn(at, " ")) {
		at += strspn(at, " ");
		buf_addf(out, "complete -c %.*s -w %.*s\n",
			 (int)strcspn(at, " "), at, (int)len, set->names);
	}
}

bool complete_script(const struct complete_set *set, const char *shell,
		     struct buf *out)
{
	struct buf name;
	bool known = true;

	buf_init(&name);
	buf_add(&name, set->names, strcspn(set->names, " "));
	if (text_eq(shell, "bash"))
		bash_script(set, name.data, out);
	else if (text_eq(shell, "zsh"))
		zsh_script(set, name.data, out);
	else if (text_eq(shell, "fish"))
		fish_script(set, out);
	else
		known = false;
	buf_release(&name);
	return known;
}
