/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `gpugate explain RULE`: everything the rule's table row says, and the
 * manifests its tests use.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/finding.h"
#include "example.h"
#include "log.h"
#include "options.h"

enum { INDENT = 12 };

static void add_field(struct buf *out, const char *title, const char *text)
{
	if (!text || !*text)
		return;
	buf_addf(out, "%-*s", INDENT, title);
	words_wrap(out, text, INDENT, INDENT);
}

static void add_names(struct buf *out, const char *title,
		      const char *const *names)
{
	struct buf text;

	buf_init(&text);
	for (; names && *names; names++)
		buf_addf(&text, "%s%s", text.len ? ", " : "", *names);
	add_field(out, title, text.data);
	buf_release(&text);
}

static void add_params(struct buf *out, const struct rule *rule)
{
	struct buf text;

	buf_init(&text);
	for (const struct rule_param *p = rule->params; p && p->name; p++) {
		buf_reset(&text);
		buf_addf(&text, "%s (%s", p->name, p->type);
		if (p->value && *p->value)
			buf_addf(&text, ", default %s", p->value);
		buf_addf(&text, "): %s", p->help);
		add_field(out, p == rule->params ? "Parameters" : "",
			  text.data);
	}
	buf_release(&text);
}

static void add_notes(struct buf *out, const struct rule *rule)
{
	if (rule->needs & NEEDS_SET)
		add_field(out, "Needs",
			  "other objects: lint the whole set together, or "
			  "with --cluster");
	if (rule->needs & NEEDS_CLUSTER)
		add_field(out, "Needs",
			  "the state of the cluster: --cluster with a file of "
			  "`gpugate snapshot`; it does not run without");
	if (rule->needs & NEEDS_PARAM)
		add_field(out, "Needs",
			  "a value for its parameters in the "
			  "policy; off until then");
	if (rule->flags & RULE_TAKES)
		add_field(out, "Update",
			  "what it flags takes devices that nobody counts: an "
			  "UPDATE may keep it with the same value, container "
			  "and number of pods only");
	if (rule->flags & RULE_PEDANTIC)
		add_field(out, "Preset", "only in `all`");
}

static void add_example(struct buf *out, const char *title, const char *text)
{
	if (!text || !*text)
		return;
	buf_addf(out, "\n%s:\n\n", title);
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len)
			buf_addf(out, "    %.*s", (int)len, text);
		buf_addc(out, '\n');
		text += len + (text[len] == '\n');
	}
}

static int compare_example(const void *key, const void *item)
{
	return strcmp(key, ((const struct rule_example *)item)->rule);
}

static void add_examples(struct buf *out, const struct rule *rule)
{
	const struct rule_example *example =
		bsearch(rule->name, rule_examples, rule_examples_count,
			sizeof(*rule_examples), compare_example);

	if (!example)
		return;
	add_example(out, "Flagged", example->bad);
	add_example(out, "Not flagged", example->good);
}

static void explain(struct buf *out, const struct rule *rule)
{
	struct buf action;

	buf_init(&action);
	buf_addf(&action, "%s; at the door: %s", severity_name(rule->severity),
		 action_name(rule->action));
	buf_addf(out, "%s\n\n", rule->name);
	add_field(out, "What", rule->summary);
	add_field(out, "Why", rule->why);
	add_field(out, "Remedy", rule->remedy);
	add_field(out, "Severity", action.data);
	add_field(out, "Category", rule->category);
	add_field(out, "Since", rule->since);
	add_notes(out, rule);
	add_params(out, rule);
	add_names(out, "Yields to", rule->yields_to);
	add_names(out, "Was called", rule->aliases);
	add_field(out, "Evidence", rule->evidence);
	add_examples(out, rule);
	buf_release(&action);
}

int explain_command(struct options *options)
{
	struct rule_set rules = program_rules();
	const char *name, *near;
	struct buf out;
	int index;

	if (options->paths.n != 1)
		return log_usage("explain", options->paths.n
						    ? "explain takes one rule"
						    : "explain needs the name "
						      "of a rule");
	name = options->paths.items[0];
	index = rule_set_find(&rules, name);
	if (index < 0) {
		near = rule_set_nearest(&rules, name);
		if (near)
			return log_usage(NULL,
					 "unknown rule `%s`; did you "
					 "mean `%s`?",
					 name, near);
		log_error("unknown rule `%s`; see `gpugate rules`", name);
		return 2;
	}
	buf_init(&out);
	explain(&out, rules.items[index]);
	return print_out(&out);
}
