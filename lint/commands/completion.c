/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `gpugate completion`, and the queries of its scripts: the name of a value in
 * an option's help selects its completions. git and kubectl provide some of
 * them.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "cli/complete.h"
#include "lint/files/git.h"
#include "lint/options/options.h"
#include "lint/report/report.h"
#include "lint/term/log.h"
#include "snapshot/kubectl.h"

static void offer_rule_names(struct completion *c)
{
	struct rule_set rules = program_rules();

	for (size_t i = 0; i < rules.n; i++)
		complete_offer(c, rules.items[i]->name,
			       rules.items[i]->summary);
}

static void offer_rules(struct completion *c)
{
	struct rule_set rules = program_rules();

	complete_offer(c, "all", "every rule");
	for (size_t i = 0; i < rules.n; i++) {
		const struct rule *rule = rules.items[i];
		bool is_new = true;

		for (size_t j = 0; j < i && is_new; j++)
			is_new = strcmp(rules.items[j]->category,
					rule->category) != 0;
		if (is_new)
			complete_offer(c, rule->category, "a category");
	}
	offer_rule_names(c);
}

/* A file name follows the colon. */
static void offer_formats(struct completion *c)
{
	if (strchr(c->word, ':')) {
		c->directive = COMPLETE_FILES;
		return;
	}
	for (size_t i = 0; i < report_formats_count; i++)
		complete_offer(c, report_formats[i]->name, NULL);
}

/* Offers each line, without the text before the name. */
static void offer_lines(struct completion *c, struct buf *lines,
			const char *before)
{
	char *rest = lines->data, *line;

	while (lines->len && (line = strtok_r(NULL, "\n", &rest)))
		complete_offer(c,
			       text_starts(line, before) ? line + strlen(before)
							 : line,
			       NULL);
}

static void offer_revisions(struct completion *c)
{
	static const char *const arguments[] = {
		"for-each-ref", "--format=%(refname:short)",
		"refs/heads",	"refs/tags",
		"refs/remotes", NULL};
	struct buf out;

	buf_init(&out);
	complete_offer(c, "HEAD", NULL);
	if (!git_run(NULL, arguments, &out, NULL))
		offer_lines(c, &out, "");
	buf_release(&out);
}

/* Returns an option's value on the line, or NULL. */
static const char *given(const struct completion *c, const char *option)
{
	for (char **word = c->words; word[1] && word[2]; word++)
		if (!strcmp(*word, option))
			return word[1];
	return NULL;
}

static void ask_kubectl(struct completion *c, const char *const *arguments,
			const char *before)
{
	const struct options options = {.kubectl = given(c, "--kubectl"),
					.context = given(c, "--context"),
					.kubeconfig = given(c, "--kubeconfig")};
	struct buf out, errors;

	buf_init(&out);
	buf_init(&errors);
	if (!kubectl_run(&options, arguments, &out, &errors, NULL))
		offer_lines(c, &out, before);
	buf_release(&out);
	buf_release(&errors);
}

static void offer_namespaces(struct completion *c)
{
	static const char *const arguments[] = {
		"get",	"namespaces",		"-o",
		"name", "--request-timeout=2s", NULL};

	ask_kubectl(c, arguments, "namespace/");
}

static void offer_contexts(struct completion *c)
{
	static const char *const arguments[] = {"config", "get-contexts", "-o",
						"name", NULL};

	ask_kubectl(c, arguments, "");
}

static void offer_commands(struct completion *c)
{
	for (size_t i = 0; i < command_list.n; i++)
		if (!command_list.items[i].internal)
			complete_offer(c, command_list.items[i].name,
				       command_list.items[i].summary);
}

static void offer_shells(struct completion *c)
{
	complete_offer_words(c, "bash zsh fish");
}

static const struct known {
	const char *value; /* name in the help; NULL: the arguments */
	unsigned commands; /* whose arguments they are */
	void (*offer)(struct completion *c); /* NULL: files */
} known[] = {
	{"RULES", 0, offer_rules},
	{"FMT[:FILE]", 0, offer_formats},
	{"REV", 0, offer_revisions},
	{"NS", 0, offer_namespaces},
	{"CONTEXT", 0, offer_contexts},
	{"FILE", 0, NULL},
	{"FILE|DIR", 0, NULL},
	{"PATH", 0, NULL},
	{"NAME", 0, NULL},
	{NULL, FOR_EXPLAIN | FOR_RULES, offer_rule_names},
	{NULL, FOR_HELP, offer_commands},
	{NULL, FOR_COMPLETION, offer_shells},
	{NULL, FOR_LINT | FOR_QUOTA | FOR_CONFIG | FOR_TEST, NULL},
};

static void offer_values(struct completion *c, const struct option *o,
			 unsigned command)
{
	c->directive |= COMPLETE_NO_FILES;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		const struct known *k = &known[i];

		if (o ? !text_eq(k->value, o->value) : !(k->commands & command))
			continue;
		if (k->offer)
			k->offer(c);
		else
			c->directive &= ~(unsigned)COMPLETE_NO_FILES;
		return;
	}
}

int complete_command(char **words)
{
	struct complete_command commands[32];
	struct complete_set set = {.options = &option_set,
				   .commands = commands,
				   .values = offer_values};
	struct buf out;

	for (size_t i = 0; i < command_list.n && set.n < 32; i++)
		if (!command_list.items[i].internal)
			commands[set.n++] = (struct complete_command){
				command_list.items[i].name,
				command_list.items[i].summary,
				command_list.items[i].bit, NULL};
	buf_init(&out);
	complete_line(&set, words, &out);
	return print_out(&out);
}

int completion_command(struct options *options)
{
	struct buf out;

	if (options->paths.n != 1)
		return log_usage("completion",
				 "completion needs a shell: bash, zsh or fish");
	buf_init(&out);
	if (complete_script(options->paths.items[0], "gpugate kubectl-gpugate",
			    &out))
		return print_out(&out);
	buf_release(&out);
	return log_usage("completion", "unknown shell `%s`: bash, zsh or fish",
			 options->paths.items[0]);
}
