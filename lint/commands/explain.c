/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `gpugate explain RULE`: all fields of the rule's struct, and examples from
 * the manifests of its tests.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "commands.h"
#include "engine/finding.h"
#include "lint/options/options.h"
#include "lint/term/log.h"

enum { INDENT = 12 };

/* Written by examples.sh from the folders of tests/rules, sorted by rule name,
 * so that the examples shown are the tested ones. */
static const struct rule_example {
	const char *rule;
	const char *bad, *good; /* NULL: none */
} examples[] = {
#include "examples.inc"
};

/* Returns the change of the depth of brackets by a character. */
static int nesting(char c)
{
	return strchr("([", c) ? 1 : strchr(")]", c) ? -1 : 0;
}

/* Adds the fixed words of a message in CEL, with … for its values. Literals in
 * brackets are parts of a value. */
static void add_words(struct buf *out, const char *message)
{
	bool literal = false, gap = false;
	int depth = 0;

	for (; *message; message++) {
		if (*message == '\'') {
			literal = !literal;
			continue;
		}
		depth += literal ? 0 : nesting(*message);
		gap |= !literal || depth;
		if (!literal || depth)
			continue;
		if (gap && out->len)
			buf_adds(out, "…");
		gap = false;
		buf_addc(out, *message);
	}
	if (gap && out->len)
		buf_adds(out, "…");
}

static void add_check(struct buf *text, const struct rejections *of,
		      const struct rejection *one)
{
	add_words(text, one->message);
	if (one->since && one->until && strcmp(one->since, one->until) == 0)
		buf_addf(text, " (%s)", one->since);
	else if (one->since && one->until)
		buf_addf(text, " (%s to %s)", one->since, one->until);
	else if (one->since)
		buf_addf(text, " (%s and later)", one->since);
	else if (one->until)
		buf_addf(text, " (%s and earlier)", one->until);
	else if (of->versions)
		buf_addf(text, " (%s)", of->versions);
	if (one->gate)
		buf_addf(text, ", %s the feature gate %s is on",
			 one->gate_on ? "if" : "unless", one->gate);
}

/* Adds each check of the rule with the caller's function. */
static void explain_checks(struct buf *out, const struct rule *rule,
			   void (*add)(struct buf *out, const char *id,
				       const char *text))
{
	const struct rejections *of = rule->rejections;
	struct buf text;

	for (size_t i = 0; of && of->items[i].id; i++) {
		buf_init(&text);
		add_check(&text, of, &of->items[i]);
		add(out, of->items[i].id, text.data);
		buf_release(&text);
	}
}

static json_t *explain_checks_json(const struct rule *rule)
{
	const struct rejections *of = rule->rejections;
	json_t *checks = json_array();
	struct buf text;

	for (size_t i = 0; of && of->items[i].id; i++) {
		json_t *one = json_object();

		buf_init(&text);
		add_check(&text, of, &of->items[i]);
		json_object_set_new(one, "id", json_string(of->items[i].id));
		json_object_set_new(one, "rejects", json_string(text.data));
		json_array_append_new(checks, one);
		buf_release(&text);
	}
	return checks;
}

/* Output in one prose format: add() adds a titled text, or nothing if the text
 * is empty. */
struct prose {
	struct buf *out;
	void (*add)(struct buf *out, const char *title, const char *text);
	const char *quote; /* printed around a rule's name */
};

static void add_field(struct buf *out, const char *title, const char *text)
{
	if (!text || !*text)
		return;
	buf_addf(out, "%-*s", INDENT, title);
	if (strlen(title) >= INDENT)
		buf_addf(out, "\n%*s", INDENT, "");
	words_wrap(out, text, INDENT, INDENT);
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

static void add_notes(const struct prose *to, const struct rule *rule)
{
	if (rule->needs & NEEDS_SET)
		to->add(to->out, "Needs",
			"other objects: lint all manifests together, or use --cluster");
	if (rule->needs & NEEDS_CLUSTER)
		to->add(to->out, "Needs",
			"a cluster snapshot: --cluster with a file from `gpugate "
			"snapshot`; without it, the rule is skipped");
	if (rule->needs & NEEDS_PARAM)
		to->add(to->out, "Needs",
			"values for its parameters in the policy; without them it is "
			"off");
	if (rule->flags & RULE_TAKES)
		to->add(to->out, "Update",
			"it flags devices that no quota counts: an UPDATE "
			"may keep the finding only with the same value, "
			"container and number of pods");
	if (rule->flags & RULE_PEDANTIC)
		to->add(to->out, "Preset", "only in `all`");
	if (rule->flags & RULE_PREVIEW)
		to->add(to->out, "Preset",
			"preview rule: runs only with `--preset all` or when selected "
			"by name; reports warnings at most and only audits at admission");
}

static void add_severity(const struct prose *to, const struct rule *rule)
{
	struct buf text;

	buf_init(&text);
	buf_addf(&text, "%s; at admission: %s", severity_name(rule->severity),
		 action_name(rule_action(rule, rule->severity)));
	to->add(to->out, "Severity", text.data);
	buf_release(&text);
}

static void add_repair(const struct prose *to, const struct rule *rule)
{
	if (rule->flags & RULE_SAFE_PATCH)
		to->add(to->out, "Fix",
			"safe: applied by `gpugate lint --fix`");
	else if (rule->flags & RULE_OPT_IN_PATCH)
		to->add(to->out, "Fix",
			"opt-in: applied by `gpugate lint --fix --unsafe-fixes`, or by "
			"`--fix` alone if the policy sets the value");
}

static void add_names(const struct prose *to, const char *title,
		      const char *const *names)
{
	struct buf text;

	buf_init(&text);
	for (; names && *names; names++)
		buf_addf(&text, "%s%s%s%s", text.len ? ", " : "", to->quote,
			 *names, to->quote);
	to->add(to->out, title, text.data);
	buf_release(&text);
}

/*
 * Adds the fields that all prose formats have, except parameters and evidence.
 */
static void add_fields(const struct prose *to, const struct rule *rule)
{
	to->add(to->out, "What", rule->summary);
	to->add(to->out, "Why", rule->why);
	to->add(to->out, "Help", rule->remedy);
	add_severity(to, rule);
	add_repair(to, rule);
	to->add(to->out, "Category", rule->category);
	to->add(to->out, "Since", rule_since(rule));
	add_notes(to, rule);
	add_names(to, "Not reported together with", rule->yields_to);
	add_names(to, "Formerly", rule->aliases);
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

static const struct rule_example *example_of(const struct rule *rule)
{
	static const struct rule_example none;
	const struct rule_example *found =
		bsearch(rule->name, examples, ARRAY_SIZE(examples),
			sizeof(*examples), compare_example);

	return found ? found : &none;
}

static void add_text_check(struct buf *out, const char *id, const char *text)
{
	struct buf line;

	buf_init(&line);
	buf_addf(&line, "%s: %s", id, text);
	add_field(out, "Check", line.data);
	buf_release(&line);
}

static void explain_text(struct buf *out, const struct rule *rule)
{
	const struct rule_example *example = example_of(rule);

	buf_addf(out, "%s\n\n", rule->name);
	add_fields(&(struct prose){out, add_field, ""}, rule);
	add_params(out, rule);
	explain_checks(out, rule, add_text_check);
	add_field(out, "Evidence", rule->evidence);
	add_example(out, "Flagged", example->bad);
	add_example(out, "Not flagged", example->good);
}

/* --- JSON ---------------------------------------------------------------- */

static void explain_json(struct buf *out, const struct rule *rule)
{
	const struct rule_example *example = example_of(rule);
	json_t *object = rule_json(rule);

	json_object_set_new(object, "flagged",
			    json_string(example->bad ? example->bad : ""));
	json_object_set_new(object, "notFlagged",
			    json_string(example->good ? example->good : ""));
	json_object_set_new(object, "checks", explain_checks_json(rule));
	add_json(out, object);
}

/* --- Markdown ------------------------------------------------------------ */

/* Escapes text for Markdown: `<resource>` would be an HTML tag and hugepages-*
 * emphasis. Text in `code` needs no escape. */
static void add_escaped(struct buf *out, const char *text)
{
	bool code = false;

	for (; *text; text++) {
		code ^= *text == '`';
		if (!code && (*text == '<' || *text == '*'))
			buf_addc(out, '\\');
		buf_addc(out, *text);
	}
}

static void add_paragraph(struct buf *out, const char *title, const char *text)
{
	if (!text || !*text)
		return;
	buf_addf(out, "\n**%s:** ", title);
	add_escaped(out, text);
	buf_addc(out, '\n');
}

static void add_markdown_params(struct buf *out, const struct rule *rule)
{
	const struct rule_param *p = rule->params;

	if (p && p->name)
		buf_adds(out, "\n## Parameters\n\n");
	for (; p && p->name; p++) {
		buf_addf(out, "- `%s` (%s", p->name, p->type);
		if (p->value && *p->value)
			buf_addf(out, ", default `%s`", p->value);
		buf_adds(out, "): ");
		add_escaped(out, p->help);
		buf_addc(out, '\n');
	}
}

/* Returns the length of the URL at the start of a text; 0 if there is none. */
static size_t url_length(const char *text)
{
	size_t n = strncmp(text, "https://", 8) ? 0 : strcspn(text, " ;");

	while (n && strchr(",.:)", text[n - 1]))
		n--;
	return n;
}

/* Adds a list item for each part between semicolons, with URLs as links. */
static void add_evidence(struct buf *out, const char *text)
{
	if (!text || !*text)
		return;
	buf_adds(out, "\n## Evidence\n\n- ");
	while (*text) {
		size_t url = url_length(text);

		if (url) {
			buf_addf(out, "<%.*s>", (int)url, text);
			text += url;
		} else if (!strncmp(text, "; ", 2)) {
			buf_adds(out, "\n- ");
			text += 2;
		} else {
			buf_addc(out, *text++);
		}
	}
	buf_addc(out, '\n');
}

static void add_markdown_check(struct buf *out, const char *id,
			       const char *text)
{
	buf_addf(out, "- `%s`: ", id);
	add_escaped(out, text);
	buf_addc(out, '\n');
}

static void add_code(struct buf *out, const char *title, const char *yaml)
{
	if (yaml && *yaml)
		buf_addf(out, "\n## %s\n\n```yaml\n%s```\n", title, yaml);
}

void explain_markdown(struct buf *out, const struct rule *rule)
{
	const struct rule_example *example = example_of(rule);

	buf_addf(out, "# %s\n", rule->name);
	add_fields(&(struct prose){out, add_paragraph, "`"}, rule);
	add_markdown_params(out, rule);
	if (rule->rejections)
		buf_addf(
			out,
			"\n## Checks\n\n%s rejects, each with the name that comments and policies use (`%s/NAME`):\n\n",
			rule->rejections->by, rule->name);
	explain_checks(out, rule, add_markdown_check);
	add_evidence(out, rule->evidence);
	add_code(out, "Flagged", example->bad);
	add_code(out, "Not flagged", example->good);
}

static void explain(struct buf *out, const struct rule *rule,
		    const char *format)
{
	if (!format || !strcmp(format, "text"))
		explain_text(out, rule);
	else if (!strcmp(format, "json"))
		explain_json(out, rule);
	else
		explain_markdown(out, rule);
}

static int unknown_rule(const struct rule_set *rules, const char *name)
{
	const char *near = rule_set_nearest(rules, name);

	if (near)
		return log_usage(NULL, "unknown rule `%s`; did you mean `%s`?",
				 name, near);
	log_line("unknown rule `%s`; see `gpugate rules`", name);
	return 2;
}

/* Explains a built-in rule even if the policy is broken. */
int explain_command(struct options *options)
{
	struct rule_set rules = program_rules();
	struct policies policies;
	const char *name;
	struct buf out;
	int index, rc = 0;
	bool ours;

	if (options->paths.n != 1)
		return log_usage("explain", options->paths.n
						    ? "explain takes one rule"
						    : "explain needs the name "
						      "of a rule");
	name = options->paths.items[0];
	index = rule_set_find(&rules, name);
	ours = index >= 0;
	if (!ours) {
		rc = rules_here(&policies, options, &rules);
		index = rule_set_find(&rules, name);
	}
	if (index < 0) {
		rc = rc ? rc : unknown_rule(&rules, name);
	} else {
		buf_init(&out);
		explain(&out, rules.items[index], options->rules_format);
		rc = print_out(&out);
	}
	if (!ours)
		policies_release(&policies);
	return rc;
}
