/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option table and its parser. getopt_long() would accept abbreviations,
 * which break when an option is added, and cannot say "did you mean".
 *
 * Values of the environment come first; a list that is given as an argument
 * replaces the one of the environment instead of adding to it.
 */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "log.h"

#define AT(member) offsetof(struct options, member)

const struct option option_table[] = {
	{"format", 0, OPTION_LIST, FOR_LINT, AT(formats), "FMT[:FILE]", NULL,
	 "Write the report in this format, to FILE when one is given; may be "
	 "repeated. full (default), concise, json, jsonl, sarif, junit, "
	 "github, gitlab, rdjson, checkstyle, markdown."},
	{"format", 0, OPTION_TEXT, FOR_RULES, AT(rules_format), "FMT",
	 "text json markdown", "text (default), json or markdown."},
	{"format", 0, OPTION_TEXT, FOR_QUOTA, AT(quota_format), "FMT",
	 "text json markdown", "text (default), json or markdown."},
	{"select", 0, OPTION_WORDS, FOR_LINT | FOR_CONFIG | FOR_FILTERS,
	 AT(select), "RULES", NULL,
	 "Run these rules and no others: names, categories or `all`, "
	 "separated by commas."},
	{"extend-select", 0, OPTION_WORDS, FOR_LINT | FOR_CONFIG | FOR_FILTERS,
	 AT(extend), "RULES", NULL, "Run these rules as well."},
	{"ignore", 0, OPTION_WORDS, FOR_LINT | FOR_CONFIG | FOR_FILTERS,
	 AT(ignore), "RULES", NULL,
	 "Do not run these rules; invalid-syntax always runs."},
	{"fail-on", 0, OPTION_TEXT, FOR_LINT | FOR_FILTERS, AT(fail_on),
	 "SEVERITY", "error warning info never",
	 "Exit with 1 when a finding at or above this severity is left: error "
	 "(default), warning, info or never."},
	{"config", 0, OPTION_TEXT,
	 FOR_LINT | FOR_CONFIG | FOR_FILTERS | FOR_QUOTA, AT(config), "FILE",
	 NULL, "Use this policy file instead of the nearest .gpugate.yaml."},
	{"isolated", 0, OPTION_FLAG,
	 FOR_LINT | FOR_CONFIG | FOR_FILTERS | FOR_QUOTA, AT(isolated), NULL,
	 NULL, "Look for no .gpugate.yaml."},
	{"policy", 0, OPTION_TEXT,
	 FOR_LINT | FOR_CONFIG | FOR_FILTERS | FOR_QUOTA, AT(policy), "FILE",
	 NULL,
	 "The cluster's policy as a floor, or a file of `gpugate snapshot` "
	 "that holds it: local files may tighten it or suppress rules that "
	 "are not locked, nothing else."},
	{"preset", 0, OPTION_TEXT,
	 FOR_LINT | FOR_CONFIG | FOR_FILTERS | FOR_QUOTA, AT(preset), "NAME",
	 "recommended strict all", "recommended (default), strict or all."},
	{"namespace", 0, OPTION_TEXT, FOR_LINT | FOR_FILTERS | FOR_QUOTA,
	 AT(namespace), "NS", NULL, "The namespace of objects that name none."},
	{"cluster", 0, OPTION_TEXT, FOR_LINT | FOR_FILTERS | FOR_QUOTA,
	 AT(cluster), "FILE", NULL,
	 "What the cluster has (quotas, classes, nodes, queues): a file that "
	 "`gpugate snapshot` wrote, of at most 256 MiB."},
	{"baseline", 0, OPTION_TEXT, FOR_LINT, AT(baseline), "FILE", NULL,
	 "Findings that FILE lists are known: they are not reported."},
	{"write-baseline", 0, OPTION_TEXT, FOR_LINT, AT(write_baseline), "FILE",
	 NULL, "List all findings of this run in FILE, for --baseline."},
	{"prune-baseline", 0, OPTION_FLAG, FOR_LINT, AT(prune_baseline), NULL,
	 NULL, "Remove entries from the --baseline file that are gone."},
	{"since", 0, OPTION_TEXT, FOR_LINT, AT(since), "REV", NULL,
	 "Lint only files that differ from this git revision, and new ones; "
	 "implies --partial."},
	{"since", 0, OPTION_TEXT, FOR_QUOTA, AT(before), "REV", NULL,
	 "Tell what changes against this git revision: demand before and "
	 "after, and where each change stands."},
	{"partial", 0, OPTION_FLAG, FOR_LINT | FOR_FILTERS, AT(partial), NULL,
	 NULL,
	 "The files are only a part of what is deployed: rules that infer "
	 "from the absence of an object keep silent."},
	{"require", 0, OPTION_WORDS, FOR_LINT, AT(require), "RULES", NULL,
	 "Exit with 2 when one of these rules could not run; `cluster`: when "
	 "any could not for want of a cluster state."},
	{"no-ignore", 0, OPTION_FLAG, FOR_LINT | FOR_FILTERS, AT(no_ignore),
	 NULL, NULL,
	 "Report findings that comments or annotations suppress, too."},
	{"add-ignore", 0, OPTION_TEXT, FOR_LINT, AT(add_ignore), "REASON", NULL,
	 "Write a comment that suppresses it above every finding."},
	{"fix", 0, OPTION_FLAG, FOR_LINT, AT(fix), NULL, NULL,
	 "Make the safe repairs in the files; other bytes stay as they are. "
	 "Exit with 2 when a file cannot be written, or was changed after it "
	 "was read: it stays."},
	{"unsafe-fixes", 0, OPTION_FLAG, FOR_LINT | FOR_FILTERS,
	 AT(unsafe_fixes), NULL, NULL,
	 "With --fix or --diff: make repairs that change more than the "
	 "admission webhook would by itself."},
	{"diff", 0, OPTION_FLAG, FOR_LINT, AT(diff), NULL, NULL,
	 "Write what --fix would do as a unified diff and change nothing; "
	 "exit with 1 when a file would change. Without --format nothing "
	 "else is written. Secret values are masked in it."},
	{"exit-non-zero-on-fix", 0, OPTION_FLAG, FOR_LINT,
	 AT(exit_non_zero_on_fix), NULL, NULL,
	 "Exit with 1 when --fix changed a file."},
	{"report-file", 0, OPTION_TEXT, FOR_POST_RENDER, AT(report_file),
	 "FILE", NULL,
	 "Write the report to FILE too (default: $GPUGATE_REPORT): Helm 4 "
	 "does not show what a post-renderer writes to standard error."},
	{"output", 'o', OPTION_TEXT, FOR_SNAPSHOT, AT(output), "FILE", NULL,
	 "Write to FILE, whole or not at all (default: standard output)."},
	{"namespace", 0, OPTION_WORDS, FOR_SNAPSHOT, AT(namespaces), "NS", NULL,
	 "Ask for these namespaces only: for who may not list all."},
	{"door", 0, OPTION_TEXT, FOR_SNAPSHOT, AT(door), "NAMESPACE/CONFIGMAP",
	 NULL,
	 "The policy of the webhook, kept with the state for --policy. "
	 "Default: the ConfigMap of the chart, when it may be read."},
	{"kubectl", 0, OPTION_TEXT, FOR_SNAPSHOT, AT(kubectl), "PATH", NULL,
	 "The kubectl to run (default: kubectl of the PATH)."},
	{"context", 0, OPTION_TEXT, FOR_SNAPSHOT, AT(context), "NAME", NULL,
	 "kubectl's context."},
	{"kubeconfig", 0, OPTION_TEXT, FOR_SNAPSHOT, AT(kubeconfig), "FILE",
	 NULL, "kubectl's configuration file."},
	{"stdin-filename", 0, OPTION_TEXT, FOR_LINT | FOR_QUOTA,
	 AT(stdin_filename), "NAME", NULL,
	 "What standard input (-) is called in reports, and where its "
	 "policy is looked for."},
	{"exclude", 0, OPTION_LIST, FOR_LINT | FOR_QUOTA, AT(exclude), "GLOB",
	 NULL,
	 "Leave out matching files and folders met while walking; a pattern "
	 "without / matches names at any depth; may be repeated."},
	{"force-exclude", 0, OPTION_FLAG, FOR_LINT | FOR_QUOTA,
	 AT(force_exclude), NULL, NULL,
	 "Leave out excluded files even when they are named."},
	{"no-ignore-vcs", 0, OPTION_FLAG, FOR_LINT | FOR_QUOTA,
	 AT(no_ignore_vcs), NULL, NULL,
	 "Lint files that .gitignore excludes, too."},
	{"strict-input", 0, OPTION_FLAG, FOR_LINT, AT(strict_input), NULL, NULL,
	 "Exit with 2 when a file is skipped because it is a template."},
	{"jobs", 'j', OPTION_NUMBER, FOR_LINT | FOR_QUOTA, AT(jobs), "N", NULL,
	 "Threads (default: one per processor). The report is the same for "
	 "any number."},
	{"statistics", 0, OPTION_FLAG, FOR_LINT, AT(statistics), NULL, NULL,
	 "End the report with the number of findings of each rule."},
	{"color", 0, OPTION_TEXT,
	 FOR_LINT | FOR_QUOTA | FOR_EXPLAIN | FOR_RULES, AT(color), "WHEN",
	 "auto always never", "auto (default), always or never."},
	{"quiet", 'q', OPTION_COUNT,
	 FOR_LINT | FOR_QUOTA | FOR_FILTERS | FOR_SNAPSHOT, AT(quiet), NULL,
	 NULL,
	 "Findings only, no summary; twice: nothing but the exit status."},
	{"verbose", 'v', OPTION_COUNT, FOR_LINT | FOR_QUOTA | FOR_SNAPSHOT,
	 AT(verbose), NULL, NULL,
	 "Tell on standard error what is done; twice: every file."},
	{"help", 'h', OPTION_FLAG, ~0u, AT(help), NULL, NULL,
	 "Print this text."},
};
const size_t option_count = sizeof(option_table) / sizeof(*option_table);

struct parser {
	struct options *options;
	const struct command *command;
	char **next; /* argument after the one being looked at */
	/* Lists that hold values of the environment. */
	bool inherited[sizeof(option_table) / sizeof(*option_table)];
};

/* --- values -------------------------------------------------------------- */

static int parse_number(const char *text, unsigned *out)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < 1 || value > 1000000)
		return -1;
	*out = (unsigned)value;
	return 0;
}

/* what: how the user wrote the option, for messages. */
static int set_value(struct parser *p, const struct option *o, const char *what,
		     const char *value)
{
	void *at = (char *)p->options + o->at;

	if (o->choices && !word_among(o->choices, value))
		return log_usage(p->command->name, "%s: `%s` is none of: %s",
				 what, value, o->choices);
	switch (o->kind) {
	case OPTION_NUMBER:
		if (parse_number(value, at))
			return log_usage(p->command->name,
					 "%s: `%s` is no positive number", what,
					 value);
		return 0;
	case OPTION_WORDS:
		list_split(&p->options->arena, at, value, ", ");
		return 0;
	case OPTION_LIST:
		list_add(&p->options->arena, at, value);
		return 0;
	default:
		*(const char **)at = value;
		return 0;
	}
}

static void set_flag(struct parser *p, const struct option *o)
{
	void *at = (char *)p->options + o->at;

	if (o->kind == OPTION_COUNT)
		(*(unsigned *)at)++;
	else
		*(bool *)at = true;
}

/* --- environment --------------------------------------------------------- */

static int flag_from_environment(struct parser *p, const struct option *o,
				 const char *name, const char *value)
{
	int word = word_flag(value);

	if (o->kind == OPTION_COUNT && !strcmp(value, "2")) {
		set_flag(p, o);
		word = 1;
	}
	if (word < 0)
		return log_usage(p->command->name,
				 "%s: `%s` is neither yes nor no", name, value);
	if (word)
		set_flag(p, o);
	return 0;
}

/* GPUGATE_FORMAT=sarif is for lint, and no mistake where rules are listed. */
static bool is_meant(const struct option *o, const char *value)
{
	if (!o->choices || word_among(o->choices, value))
		return true;
	for (size_t i = 0; i < option_count; i++)
		if (&option_table[i] != o &&
		    !strcmp(option_table[i].name, o->name) &&
		    !option_table[i].choices)
			return false;
	return true;
}

static int parse_environment(struct parser *p)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		const char *value;
		char name[64];
		int rc;

		if (!(o->commands & p->command->bit) || o->letter == 'h')
			continue;
		word_variable(VARIABLES, o->name, name);
		value = getenv(name);
		if (!value || (o->value && !*value) || !is_meant(o, value))
			continue;
		if (!o->value) {
			rc = flag_from_environment(p, o, name, value);
		} else if (o->kind == OPTION_LIST) {
			list_split(&p->options->arena,
				   (void *)((char *)p->options + o->at), value,
				   " \t\n");
			rc = 0;
		} else {
			rc = set_value(p, o, name, value);
		}
		if (rc)
			return rc;
		p->inherited[i] = true;
	}
	return 0;
}

/* --- arguments ----------------------------------------------------------- */

static void drop_inherited(struct parser *p, const struct option *o)
{
	size_t i = (size_t)(o - option_table);

	if (!p->inherited[i])
		return;
	p->inherited[i] = false;
	if (o->kind == OPTION_WORDS || o->kind == OPTION_LIST)
		memset((char *)p->options + o->at, 0, sizeof(struct list));
	else if (o->kind == OPTION_COUNT)
		*(unsigned *)(void *)((char *)p->options + o->at) = 0;
}

static const struct option *find_name(const struct command *command,
				      const char *name, size_t len)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];

		if (o->commands & command->bit && strlen(o->name) == len &&
		    !memcmp(o->name, name, len))
			return o;
	}
	return NULL;
}

static const struct option *find_letter(const struct command *command, char c)
{
	for (size_t i = 0; i < option_count; i++)
		if (option_table[i].commands & command->bit &&
		    option_table[i].letter == c)
			return &option_table[i];
	return NULL;
}

static int unknown_name(struct parser *p, const char *name, size_t len)
{
	const char *names[sizeof(option_table) / sizeof(*option_table)];
	char word[64] = "";
	const char *near = NULL;
	size_t n = 0;

	for (size_t i = 0; i < option_count; i++)
		if (option_table[i].commands & p->command->bit)
			names[n++] = option_table[i].name;
	if (len < sizeof(word)) {
		memcpy(word, name, len);
		near = text_nearest(word, names, n);
	}
	if (near)
		return log_usage(
			p->command->name,
			"unknown option `--%.*s`; did you mean `--%s`?",
			(int)len, name, near);
	return log_usage(p->command->name, "unknown option `--%.*s`", (int)len,
			 name);
}

static int parse_long(struct parser *p, const char *arg)
{
	const char *equals = strchr(arg, '=');
	const char *value = equals ? equals + 1 : NULL;
	size_t len = equals ? (size_t)(equals - arg) : strlen(arg);
	const struct option *o = find_name(p->command, arg, len);
	char what[72];

	if (!o)
		return unknown_name(p, arg, len);
	drop_inherited(p, o);
	if (!o->value) {
		if (value)
			return log_usage(p->command->name,
					 "option `--%s` takes no value",
					 o->name);
		set_flag(p, o);
		return 0;
	}
	if (!value)
		value = *p->next ? *p->next++ : NULL;
	if (!value)
		return log_usage(p->command->name,
				 "option `--%s` needs a value: %s", o->name,
				 o->value);
	what[0] = what[1] = '-';
	memcpy(what + 2, o->name, strlen(o->name) + 1);
	return set_value(p, o, what, value);
}

/* One argument of letters: -qv, -j4, -j 4. */
static int parse_letters(struct parser *p, const char *arg)
{
	for (const char *c = arg; *c; c++) {
		const struct option *o = find_letter(p->command, *c);
		char what[3] = {'-', *c, '\0'};
		const char *value;

		if (!o)
			return log_usage(p->command->name,
					 "unknown option `-%c`", *c);
		drop_inherited(p, o);
		if (!o->value) {
			set_flag(p, o);
			continue;
		}
		value = c[1] ? c + 1 + (c[1] == '=') : *p->next;
		if (!c[1] && value)
			p->next++;
		if (!value || !*value)
			return log_usage(p->command->name,
					 "option `-%c` needs a value: %s", *c,
					 o->value);
		return set_value(p, o, what, value);
	}
	return 0;
}

static int parse_arguments(struct parser *p)
{
	bool only_paths = false;

	while (*p->next) {
		const char *arg = *p->next++;
		int rc = 0;

		if (only_paths || arg[0] != '-' || !arg[1])
			list_add(&p->options->arena, &p->options->paths, arg);
		else if (!strcmp(arg, "--"))
			only_paths = true;
		else if (arg[1] == '-')
			rc = parse_long(p, arg + 2);
		else
			rc = parse_letters(p, arg + 1);
		if (rc)
			return rc;
	}
	return 0;
}

static bool is_inherited(const struct parser *p, const char *name)
{
	const struct option *o = find_name(p->command, name, strlen(name));

	return o && p->inherited[o - option_table];
}

/* The environment speaks to all runs: what does not go together with the
 * arguments of this one is not meant. */
static void give_way(struct parser *p)
{
	struct options *o = p->options;

	if (o->config && o->isolated) {
		bool isolated = is_inherited(p, "isolated");

		if (is_inherited(p, "config") && !isolated)
			o->config = NULL;
		else if (isolated && !is_inherited(p, "config"))
			o->isolated = false;
	}
	if (p->command->bit == FOR_LINT && is_inherited(p, "unsafe-fixes") &&
	    !o->fix && !o->diff)
		o->unsafe_fixes = false;
	if (is_inherited(p, "prune-baseline") && !o->baseline)
		o->prune_baseline = false;
}

/* They go into messages, and into paths that kubectl is given. */
static int check_namespaces(const struct parser *p)
{
	const struct options *o = p->options;
	const char *wrong = NULL;

	if (o->namespace && !text_is_label(o->namespace, strlen(o->namespace)))
		wrong = o->namespace;
	for (size_t i = 0; i < o->namespaces.n && !wrong; i++)
		if (!text_is_label(o->namespaces.items[i],
				   strlen(o->namespaces.items[i])))
			wrong = o->namespaces.items[i];
	if (!wrong)
		return 0;
	return log_usage(p->command->name,
			 "--namespace: `%s` is no name of a namespace: at most "
			 "63 of a-z, 0-9 and -, with a letter or a digit at "
			 "both ends",
			 wrong);
}

int options_parse(struct options *options, const struct command *command,
		  char **argv)
{
	struct parser parser = {options, command, argv, {false}};
	int rc = parse_environment(&parser);

	if (!rc)
		rc = parse_arguments(&parser);
	if (!rc)
		rc = check_namespaces(&parser);
	if (!rc)
		give_way(&parser);
	return rc;
}

void options_release(struct options *options)
{
	arena_release(&options->arena);
}
