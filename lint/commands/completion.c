/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `gpugate completion`: the words of rules, formats and commands for the
 * scripts.
 */
#include <string.h>

#include "base/array.h"
#include "cli/options.h"
#include "lint/options/options.h"
#include "lint/report/report.h"
#include "lint/term/log.h"

static void add_word(struct buf *out, const char *word)
{
	if (out->len)
		buf_addc(out, ' ');
	buf_adds(out, word);
}

static void add_rules(struct buf *out)
{
	struct rule_set rules = program_rules();

	for (size_t i = 0; i < rules.n; i++)
		add_word(out, rules.items[i]->name);
}

/* Adds each category once. The rules are sorted by name, so categories
 * repeat. */
static void add_categories(struct buf *out)
{
	struct rule_set rules = program_rules();

	for (size_t i = 0; i < rules.n; i++)
		if (!word_among(out->data, rules.items[i]->category))
			add_word(out, rules.items[i]->category);
}

static void add_formats(struct buf *out)
{
	for (size_t i = 0; i < report_formats_count; i++)
		add_word(out, report_formats[i]->name);
}

/* Fills items, which must have room for all commands. Returns the number of
 * items, and adds the names of the commands to names. */
static size_t list_commands(struct complete_command *items, struct buf *names)
{
	size_t n = 0;

	for (size_t i = 0; i < command_list.n; i++) {
		const struct command *c = &command_list.items[i];

		if (c->internal)
			continue;
		add_word(names, c->name);
		items[n++] = (struct complete_command){
			c->name, c->arguments, c->summary, c->bit, NULL};
	}
	return n;
}

static bool add_script(const char *shell, struct buf *out)
{
	enum { SELECTION, RULES, FORMATS, COMMANDS, LISTS };
	struct complete_command commands[32];
	struct buf lists[LISTS];
	bool known;

	for (size_t i = 0; i < LISTS; i++)
		buf_init(&lists[i]);
	add_rules(&lists[RULES]);
	add_word(&lists[SELECTION], "all");
	add_categories(&lists[SELECTION]);
	add_word(&lists[SELECTION], lists[RULES].data);
	add_formats(&lists[FORMATS]);
	{
		const struct complete_set set = {
			.names = "gpugate kubectl-gpugate",
			.options = &option_set,
			.commands = commands,
			.n = list_commands(commands, &lists[COMMANDS]),
			.words =
				(const struct complete_words[]){
					{"RULES", lists[SELECTION].data},
					{"RULE", lists[RULES].data},
					{"FMT", lists[FORMATS].data},
					{"COMMAND", lists[COMMANDS].data},
					{"bash|zsh|fish", "bash zsh fish"},
					{0},
				},
		};

		known = complete_script(&set, shell, out);
	}
	for (size_t i = 0; i < LISTS; i++)
		buf_release(&lists[i]);
	return known;
}

int completion_command(struct options *options)
{
	struct buf out;

	if (options->paths.n != 1)
		return log_usage("completion",
				 "completion needs a shell: bash, zsh or fish");
	buf_init(&out);
	if (add_script(options->paths.items[0], &out))
		return print_out(&out);
	buf_release(&out);
	return log_usage("completion", "unknown shell `%s`: bash, zsh or fish",
			 options->paths.items[0]);
}
