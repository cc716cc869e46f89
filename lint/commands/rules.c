/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `gpugate rules`: the catalog as text, JSON or Markdown, or the custom rules
 * as admission policies. The tables of rules/docs/README.md are this command's
 * Markdown.
 */
#include "commands.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/finding.h"
#include "engine/registry.h"
#include "lint/options/options.h"
#include "lint/term/log.h"

static void add_text(struct buf *out, const struct rule_set *rules)
{
	size_t width = 0;

	for (size_t i = 0; i < rules->n; i++)
		if (strlen(rules->items[i]->name) > width)
			width = strlen(rules->items[i]->name);
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *r = rules->items[i];

		buf_addf(out, "%-*s  %-7s  %-5s  %s\n", (int)width, r->name,
			 severity_name(r->severity),
			 action_name(rule_action(r, r->severity)), r->summary);
	}
}

/* --- Markdown ------------------------------------------------------------ */

static void add_cell(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			buf_addc(out, '\\');
		buf_addc(out, *text);
	}
}

/* Returns "safe" if --fix applies the fix, "opt-in" if --unsafe-fixes does, or
 * --fix after the policy has set the value, and "" if the user must edit the
 * manifest. */
static const char *repair_name(const struct rule *r)
{
	if (r->flags & RULE_SAFE_PATCH)
		return "safe";
	return r->flags & RULE_OPT_IN_PATCH ? "opt-in" : "";
}

static void add_markdown_category(struct buf *out, const struct rule_set *rules,
				  const char *category)
{
	buf_addf(out,
		 "\n"
		 "## %s\n\n"
		 "| rule | severity | at admission | fix | flags |\n"
		 "|---|---|---|---|---|\n",
		 category);
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *r = rules->items[i];

		if (strcmp(r->category, category) != 0)
			continue;
		buf_addf(out, "| `%s` | %s | %s | %s | ", r->name,
			 severity_name(r->severity),
			 action_name(rule_action(r, r->severity)),
			 repair_name(r));
		add_cell(out, r->summary);
		buf_adds(out, " |\n");
	}
}

/* Returns the category after `last` in alphabetical order, or NULL. */
static const char *next_category(const struct rule_set *rules, const char *last)
{
	const char *next = NULL;

	for (size_t i = 0; i < rules->n; i++) {
		const char *c = rules->items[i]->category;

		if (strcmp(c, last) > 0 && (!next || strcmp(c, next) < 0))
			next = c;
	}
	return next;
}

static void add_markdown(struct buf *out, const struct rule_set *rules)
{
	const char *category = "";

	buf_addf(
		out,
		"# Rules\n\n"
		"%zu rules, as printed by `gpugate rules --format markdown`. "
		"`gpugate explain RULE`\n"
		"says why a rule exists and how to fix a finding, and shows an "
		"example.\n",
		rules->n);
	while ((category = next_category(rules, category)))
		add_markdown_category(out, rules, category);
}

/* --- JSON ---------------------------------------------------------------- */

static json_t *names_json(const char *const *names)
{
	json_t *list = json_array();

	for (; names && *names; names++)
		json_array_append_new(list, json_string(*names));
	return list;
}

static json_t *params_json(const struct rule_param *params)
{
	json_t *list = json_array();

	for (const struct rule_param *p = params; p && p->name; p++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}",
						      "name", p->name, "type",
						      p->type, "default",
						      p->value ? p->value : "",
						      "help", p->help));
	return list;
}

static json_t *needs_json(unsigned needs)
{
	json_t *list = json_array();

	if (needs & NEEDS_SET)
		json_array_append_new(list, json_string("set"));
	if (needs & NEEDS_CLUSTER)
		json_array_append_new(list, json_string("cluster"));
	if (needs & NEEDS_PARAM)
		json_array_append_new(list, json_string("params"));
	return list;
}

static void set_text(json_t *object, const char *key, const char *text)
{
	json_object_set_new(object, key, json_string(text ? text : ""));
}

json_t *rule_json(const struct rule *r)
{
	json_t *object = json_object();

	set_text(object, "name", r->name);
	set_text(object, "category", r->category);
	set_text(object, "severity", severity_name(r->severity));
	set_text(object, "action", action_name(rule_action(r, r->severity)));
	set_text(object, "repair", *repair_name(r) ? repair_name(r) : "none");
	set_text(object, "since", rule_since(r));
	set_text(object, "summary", r->summary);
	set_text(object, "why", r->why);
	set_text(object, "remedy", r->remedy);
	set_text(object, "evidence", r->evidence);
	json_object_set_new(object, "pedantic",
			    json_boolean(r->flags & RULE_PEDANTIC));
	json_object_set_new(object, "preview",
			    json_boolean(r->flags & RULE_PREVIEW));
	json_object_set_new(object, "needs", needs_json(r->needs));
	json_object_set_new(object, "params", params_json(r->params));
	json_object_set_new(object, "yieldsTo", names_json(r->yields_to));
	json_object_set_new(object, "aliases", names_json(r->aliases));
	return object;
}

void add_json(struct buf *out, json_t *json)
{
	char *text = json_dumps(json, JSON_INDENT(1));

	buf_addf(out, "%s\n", text ? text : "");
	free(text);
	json_decref(json);
}

static void add_rules(struct buf *out, const struct rule_set *rules)
{
	json_t *list = json_array();

	for (size_t i = 0; i < rules->n; i++)
		json_array_append_new(list, rule_json(rules->items[i]));
	add_json(out, json_pack("{s:i, s:o}", "version", 1, "rules", list));
}

static const struct policy *here(struct policies *policies)
{
	uint32_t index = policies_find(policies, policies->cwd);

	return policies->items[index].policy;
}

int rules_here(struct policies *policies, struct options *options,
	       struct rule_set *rules)
{
	char *cwd = getcwd(NULL, 0);
	int rc;

	*rules = program_rules();
	rc = policies_init(policies, options, cwd ? cwd : "/");
	free(cwd);
	if (rc)
		return rc;
	policies_find(policies, policies->cwd);
	rc = policies_ready(policies);
	if (!rc)
		*rules = *policy_rules(here(policies));
	return rc;
}

/* --- admission policies --------------------------------------------------- */

static bool is_wanted(const struct options *options, const struct rule *rule,
		      const struct setting *setting)
{
	for (size_t i = 0; i < options->paths.n; i++)
		if (!strcmp(options->paths.items[i], rule->name))
			return true;
	return !options->paths.n && setting->enabled &&
	       !strcmp(rule->category, "custom");
}

static int check_names(const struct options *options,
		       const struct rule_set *rules)
{
	for (size_t i = 0; i < options->paths.n; i++) {
		size_t k = 0;

		while (k < rules->n && strcmp(rules->items[k]->name,
					      options->paths.items[i]) != 0)
			k++;
		if (k == rules->n)
			return log_usage("rules", "unknown rule `%s`",
					 options->paths.items[i]);
	}
	return 0;
}

/* Returns 0, or 2 after messages if a rule named by the user cannot be
 * exported, or none at all can. */
static int add_vap(struct buf *out, const struct options *options,
		   const struct policy *policy)
{
	const struct rule_set *rules = policy_rules(policy);
	const struct setting *settings = policy_base(policy);
	struct arena arena = ARENA_INIT;
	int rc = check_names(options, rules);
	const char *why;

	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *rule = rules->items[i];

		if (!is_wanted(options, rule, &settings[i]) ||
		    custom_export(&arena, rule, &settings[i], out, &why))
			continue;
		log_line("rule `%s` is not exported: %s", rule->name, why);
		rc = options->paths.n ? 2 : rc;
	}
	if (!rc && !out->len) {
		log_line("no rule of the policy can be exported");
		rc = 2;
	}
	arena_release(&arena);
	return rc;
}

int rules_command(struct options *options)
{
	const char *format = options->rules_format;
	struct policies policies;
	struct rule_set rules;
	struct buf out;
	bool vap = format && !strcmp(format, "vap");
	int rc, printed;

	if (options->paths.n && !vap)
		return log_usage("rules",
				 "rules takes no arguments; use `gpugate "
				 "explain %s` to explain a rule",
				 options->paths.items[0]);
	rc = rules_here(&policies, options, &rules);
	buf_init(&out);
	if (!format || !strcmp(format, "text"))
		add_text(&out, &rules);
	else if (!strcmp(format, "json"))
		add_rules(&out, &rules);
	else if (vap && !rc)
		rc = add_vap(&out, options, here(&policies));
	else if (!vap)
		add_markdown(&out, &rules);
	policies_release(&policies);
	printed = print_out(&out);
	return rc ? rc : printed;
}
