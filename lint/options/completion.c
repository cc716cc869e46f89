/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion scripts, made from the tables: commands, their options, the
 * choices of options that have some, rule names where rules are asked for,
 * files elsewhere.
 */
#include <string.h>

#include "lint/report/report.h"
#include "lint/term/log.h"
#include "options.h"

static const char *const programs[] = {"gpugate", "kubectl-gpugate"};

/* What completes the value of an option, or the argument of a command. */
static void add_choices(struct buf *out, const struct option *o)
{
	struct rule_set rules = program_rules();

	if (o->choices) {
		buf_adds(out, o->choices);
	} else if (o->kind == OPTION_WORDS) {
		buf_adds(out, "all");
		for (size_t i = 0; i < rules.n; i++)
			buf_addf(out, " %s", rules.items[i]->name);
	} else if (!strcmp(o->name, "format")) {
		for (size_t i = 0; i < report_formats_count; i++)
			buf_addf(out, "%s%s", i ? " " : "",
				 report_formats[i]->name);
	}
}

static void add_argument_choices(struct buf *out, const struct command *c)
{
	struct rule_set rules = program_rules();

	if (c->bit == FOR_EXPLAIN)
		for (size_t i = 0; i < rules.n; i++)
			buf_addf(out, "%s%s", i ? " " : "",
				 rules.items[i]->name);
	else if (c->bit == FOR_COMPLETION)
		buf_adds(out, "bash zsh fish");
	else if (c->bit == FOR_HELP)
		for (size_t i = 0; i < command_list.n; i++)
			if (!command_list.items[i].internal)
				buf_addf(out, "%s%s", i ? " " : "",
					 command_list.items[i].name);
}

static void add_commands(struct buf *out)
{
	for (size_t i = 0; i < command_list.n; i++)
		if (!command_list.items[i].internal)
			buf_addf(out, "%s%s", i ? " " : "",
				 command_list.items[i].name);
}

/* --- bash (and zsh, which reads bash's scripts) -------------------------- */

static void bash_option(struct buf *out, const struct command *c,
			const struct option *o)
{
	struct buf choices;

	if (!o->value)
		return;
	buf_init(&choices);
	add_choices(&choices, o);
	buf_addf(out, "\t%s:--%s", c->name, o->name);
	if (o->letter)
		buf_addf(out, "|%s:-%c", c->name, o->letter);
	if (choices.len)
		buf_addf(out, ") words=\"%s\" ;;\n", choices.data);
	else
		buf_adds(out, ") files=1 ;;\n");
	buf_release(&choices);
}

static void bash_command(struct buf *out, const struct command *c)
{
	struct buf choices;

	buf_init(&choices);
	add_argument_choices(&choices, c);
	buf_addf(out, "\t\t%s) options=\"", c->name);
	for (size_t i = 0; i < option_set.n; i++)
		if (option_set.items[i].commands & c->bit)
			buf_addf(out, "--%s ", option_set.items[i].name);
	out->data[--out->len] = '\0';
	if (choices.len)
		buf_addf(out, "\" words=\"%s\" ;;\n", choices.data);
	else
		buf_adds(out, "\" files=1 ;;\n");
	buf_release(&choices);
}

static void add_bash(struct buf *out)
{
	buf_adds(out, "# bash completion for gpugate\n"
		      "_gpugate() {\n"
		      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} "
		      "prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		      "\tlocal command=${COMP_WORDS[1]} words= options= "
		      "files=\n"
		      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
		      "\t\tCOMPREPLY=($(compgen -W \"");
	add_commands(out);
	buf_adds(out, "\" -- \"$cur\"))\n"
		      "\t\treturn\n"
		      "\tfi\n"
		      "\tcase $command:$prev in\n");
	for (size_t i = 0; i < command_list.n; i++)
		for (size_t o = 0; o < option_set.n; o++)
			if (option_set.items[o].commands &
			    command_list.items[i].bit)
				bash_option(out, &command_list.items[i],
					    &option_set.items[o]);
	buf_adds(out, "\t*)\n\t\tcase $command in\n");
	for (size_t i = 0; i < command_list.n; i++)
		if (!command_list.items[i].internal)
			bash_command(out, &command_list.items[i]);
	buf_adds(out, "\t\tesac ;;\n\tesac\n"
		      "\tcase $cur in -*) words=$options files= ;; esac\n"
		      "\tif [ -n \"$files\" ]; then\n"
		      "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n"
		      "\telse\n"
		      "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
		      "\tfi\n"
		      "}\n");
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		buf_addf(out, "complete -o filenames -F _gpugate %s\n",
			 programs[i]);
}

static void add_zsh(struct buf *out)
{
	buf_adds(out, "#compdef gpugate kubectl-gpugate\n"
		      "autoload -U +X bashcompinit && bashcompinit\n");
	add_bash(out);
}

/* --- fish ---------------------------------------------------------------- */

/* Single-quoted for fish. */
static void fish_text(struct buf *out, const char *text)
{
	buf_addc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			buf_addc(out, '\\');
		buf_addc(out, *text);
	}
	buf_addc(out, '\'');
}

static void fish_option(struct buf *out, const struct command *c,
			const struct option *o)
{
	struct buf choices;

	buf_init(&choices);
	add_choices(&choices, o);
	buf_addf(out,
		 "complete -c gpugate -n '__fish_seen_subcommand_from %s' "
		 "-l %s",
		 c->name, o->name);
	if (o->letter)
		buf_addf(out, " -s %c", o->letter);
	if (o->value)
		buf_adds(out, choices.len ? " -x" : " -r");
	if (choices.len)
		buf_addf(out, " -a '%s'", choices.data);
	buf_adds(out, " -d ");
	fish_text(out, o->help);
	buf_addc(out, '\n');
	buf_release(&choices);
}

static void fish_command(struct buf *out, const struct command *c)
{
	struct buf choices;

	buf_addf(out,
		 "complete -c gpugate -f -n __fish_use_subcommand -a %s -d ",
		 c->name);
	fish_text(out, c->summary);
	buf_addc(out, '\n');
	buf_init(&choices);
	add_argument_choices(&choices, c);
	if (choices.len)
		buf_addf(out,
			 "complete -c gpugate -f -n "
			 "'__fish_seen_subcommand_from %s' -a '%s'\n",
			 c->name, choices.data);
	buf_release(&choices);
	for (size_t i = 0; i < option_set.n; i++)
		if (option_set.items[i].commands & c->bit)
			fish_option(out, c, &option_set.items[i]);
}

static void add_fish(struct buf *out)
{
	buf_adds(out, "# fish completion for gpugate\n");
	for (size_t i = 0; i < command_list.n; i++)
		if (!command_list.items[i].internal)
			fish_command(out, &command_list.items[i]);
	buf_adds(out, "complete -c kubectl-gpugate -w gpugate\n");
}

int completion_command(struct options *options)
{
	static const struct {
		const char *name;
		void (*add)(struct buf *out);
	} shells[] = {{"bash", add_bash}, {"zsh", add_zsh}, {"fish", add_fish}};
	struct buf out;

	if (options->paths.n != 1)
		return log_usage("completion",
				 "completion needs a shell: bash, zsh or fish");
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
		if (strcmp(shells[i].name, options->paths.items[0]) != 0)
			continue;
		buf_init(&out);
		shells[i].add(&out);
		return print_out(&out);
	}
	return log_usage("completion", "unknown shell `%s`: bash, zsh or fish",
			 options->paths.items[0]);
}
