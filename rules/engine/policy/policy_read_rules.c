/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads `rules:`, a map from a rule or category to `off`, a severity, or a map
 * of severity, action and params. YAML reads a bare `off` as the boolean false,
 * so false means off wherever `off` is valid.
 *
 * Parameters are checked against the type that their rule declares and stored
 * as text in one form (engine/policy.h), so that rules need not check them.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/finding.h"
#include "policy_read.h"

static const char *const severities[] = {"error", "warning", "info"};
static const char *const actions[] = {"deny", "patch", "warn", "audit", "off"};

static bool is_off(const struct node *node)
{
	return node_is_false(node) || node_eq(node, "off");
}

/* --- parameters ----------------------------------------------------------- */

/* Parses the limits in `int LOW..HIGH`; a plain `int` leaves them unchanged. */
static void param_bounds(const char *type, long long bounds[2])
{
	char *end;

	if (!strcmp(type, "int"))
		return;
	if (!text_starts(type, "int "))
		BUG("type of a parameter: %s", type);
	bounds[0] = strtoll(type + strlen("int "), &end, 10);
	if (!text_starts(end, ".."))
		BUG("type of a parameter: %s", type);
	bounds[1] = strtoll(end + strlen(".."), &end, 10);
	if (*end)
		BUG("type of a parameter: %s", type);
}

static const char *param_int(struct policy_reader *r, const struct node *node,
			     const char *type)
{
	long long bounds[] = {0, INT_MAX};
	int64_t value;

	param_bounds(type, bounds);
	if (!read_int(r, node, bounds[0], bounds[1], &value))
		return NULL;
	return arena_printf(policy_arena(r->policy), "%lld", (long long)value);
}

/* Returns the text without the blanks around it, which node_quantity() accepts
 * and quantity_parse() does not. */
static const char *without_blanks(struct arena *arena, const char *text)
{
	size_t len;

	text += strspn(text, " \t\r\n");
	len = strlen(text);
	while (len && strchr(" \t\r\n", text[len - 1]))
		len--;
	return arena_strndup(arena, text, len);
}

static const char *param_quantity(struct policy_reader *r,
				  const struct node *node)
{
	struct quantity quantity;
	const char *text;

	if (!node->str) {
		problem(r, node, "expected a quantity, found %s",
			node_noun(node));
		return NULL;
	}
	text = without_blanks(policy_arena(r->policy), node->str);
	if (node_quantity(node, &quantity) != QUANTITY_OK ||
	    !quantity_parse(text, strlen(text), &quantity)) {
		problem(r, node, "`%s` is not a quantity (such as 16Gi)",
			shown(r, node->str));
		return NULL;
	}
	if (quantity_cmp(quantity, quantity_from(0)) < 0) {
		problem(r, node, "the quantity is negative");
		return NULL;
	}
	return text;
}

/* Adds a text or number of a list or map parameter. Returns false, and reports
 * it, if it is something else, is empty, or contains a comma or a NUL byte. */
static bool add_word(struct policy_reader *r, const struct node *node,
		     struct buf *out)
{
	/* YAML reads `y` and `no` as booleans, whose text may differ from the
	 * user's. */
	if (!node->str || !node->len || node->type == NODE_BOOL) {
		problem(r, node, "expected text, found %s%s", node_noun(node),
			node->type == NODE_BOOL ? "; put it in quotes" : "");
		return false;
	}
	if (strlen(node->str) != node->len || strchr(node->str, ',')) {
		problem(r, node, "`%s` holds a comma or a NUL byte",
			shown(r, node->str));
		return false;
	}
	buf_adds(out, node->str);
	return true;
}

static bool add_item(struct policy_reader *r, const struct node *node, bool map,
		     struct buf *out)
{
	if (node->index)
		buf_addc(out, ',');
	if (!map)
		return add_word(r, node, out);
	if (strlen(node->key) != node->key_len || strpbrk(node->key, ",=")) {
		problem_key(r, node, "`%s` holds a comma, `=` or a NUL byte",
			    shown(r, node->key));
		return false;
	}
	buf_addf(out, "%s=", node->key);
	return add_word(r, node, out);
}

static const char *param_items(struct policy_reader *r, const struct node *node,
			       bool map)
{
	const char *value = NULL;
	struct buf text;
	bool good = true;

	if (map ? !node_is_map(node) : !node_is_seq(node)) {
		problem(r, node, "expected %s, found %s",
			map ? "a map" : "a list", node_noun(node));
		return NULL;
	}
	if (!node->len) {
		problem(r, node, "the %s is empty", map ? "map" : "list");
		return NULL;
	}
	buf_init(&text);
	FOR_EACH_CHILD(node, child)
		good &= add_item(r, child, map, &text);
	if (good)
		value = arena_strdup(policy_arena(r->policy), text.data);
	buf_release(&text);
	return value;
}

static const char *param_text(struct policy_reader *r, const struct node *node,
			      const char *type)
{
	bool flag;

	if (strncmp(type, "int", 3) == 0)
		return param_int(r, node, type);
	if (strcmp(type, "quantity") == 0)
		return param_quantity(r, node);
	if (strcmp(type, "bool") == 0)
		return read_bool(r, node, &flag) ? flag ? "true" : "false"
						 : NULL;
	if (strcmp(type, "list") == 0 || strcmp(type, "map") == 0)
		return param_items(r, node, *type == 'm');
	if (strcmp(type, "string"))
		BUG("type of a parameter: %s", type);
	return read_text(r, node);
}

static const char *nearest_param(const struct rule *rule, const char *name)
{
	const char *names[16];
	size_t n = 0;

	for (; n < 16 && rule->params[n].name; n++)
		names[n] = rule->params[n].name;
	return text_nearest(name, names, n);
}

static void read_param(struct policy_reader *r, const struct node *node,
		       struct rule_entry *entry)
{
	const struct rule *rule = entry->word.rule;
	const char *value;
	unsigned i = 0;

	while (rule->params[i].name && strcmp(rule->params[i].name, node->key))
		i++;
	if (!rule->params[i].name) {
		problem_key(r, node, "`%s` has no parameter `%s`%s", rule->name,
			    shown(r, node->key),
			    did_you_mean(r, nearest_param(rule, node->key)));
		return;
	}
	if (node_is_unset(node))
		return;
	value = param_text(r, node, rule->params[i].type);
	if (!value)
		return;
	*VEC_PUSH(policy_arena(r->policy), entry->params, entry->nparams,
		  entry->params_size) = (struct param_value){i, value};
}

static void read_params(struct policy_reader *r, const struct node *node,
			void *into)
{
	struct rule_entry *entry = into;
	const struct rule *rule = entry->word.rule;

	if (!rule) {
		problem_key(r, node,
			    "parameters belong to one rule, not to a "
			    "category");
		return;
	}
	if (!rule->params) {
		problem_key(r, node, "`%s` has no parameters", rule->name);
		return;
	}
	if (!node_is_map(node)) {
		problem(r, node, "expected a map, found %s", node_noun(node));
		return;
	}
	FOR_EACH_CHILD(node, child)
		read_param(r, child, entry);
}

/* --- severity and action -------------------------------------------------- */

static void read_severity(struct policy_reader *r, const struct node *node,
			  void *into)
{
	struct rule_entry *entry = into;
	enum action action;

	if (is_off(node) ||
	    (node_str(node) && action_parse(node_str(node), &action))) {
		problem(r, node,
			"`%s` is an action, not a severity: write "
			"`action: %s`",
			is_off(node) ? "off" : node_str(node),
			is_off(node) ? "off" : node_str(node));
		return;
	}
	if (read_choice(r, node, "severity", severities, 3) >= 0)
		entry->has_severity =
			severity_parse(node_str(node), &entry->severity);
}

static bool can_patch(const struct rule *rule)
{
	return rule->flags & (RULE_SAFE_PATCH | RULE_OPT_IN_PATCH);
}

static void read_action(struct policy_reader *r, const struct node *node,
			void *into)
{
	struct rule_entry *entry = into;

	if (is_off(node)) {
		entry->off = true;
		return;
	}
	if (read_choice(r, node, "action", actions, 5) < 0)
		return;
	entry->has_action = action_parse(node_str(node), &entry->action);
	if (entry->action == ACTION_PATCH && entry->word.rule &&
	    !can_patch(entry->word.rule))
		problem(r, node,
			"`%s` has no fix to patch with; use deny, warn or audit",
			entry->word.rule->name);
}

/* --- entries -------------------------------------------------------------- */

static void read_value(struct policy_reader *r, const struct node *node,
		       struct rule_entry *entry)
{
	static const struct policy_field fields[] = {
		{"severity", read_severity, 0, 0},
		{"action", read_action, 0, 0},
		{"params", read_params, 0, 0},
		{0},
	};
	const char *text = node_str(node);
	enum action action;

	if (is_off(node)) {
		entry->off = true;
	} else if (node_is_map(node)) {
		read_fields(r, node, fields, entry);
	} else if (text && severity_parse(text, &entry->severity)) {
		entry->has_severity = true;
	} else if (text && action_parse(text, &action)) {
		problem(r, node, "`%s` is an action: write `{action: %s}`",
			text, text);
	} else if (text) {
		problem(r, node, "unknown severity `%s`%s", shown(r, text),
			did_you_mean(r, text_nearest(text, severities, 3)));
	} else {
		problem(r, node, "expected off, a severity or a map, found %s",
			node_noun(node));
	}
}

/* Reports a missing required parameter, without which the rule would never
 * run. */
static void check_needed_params(struct policy_reader *r,
				const struct node *node,
				const struct rule_entry *entry)
{
	const struct rule *rule = entry->word.rule;
	const char *missing = NULL;

	if (!rule || entry->off || r->in_override || !rule->params ||
	    !(rule->needs & NEEDS_PARAM))
		return;
	for (unsigned i = 0; rule->params[i].name; i++) {
		if (*rule->params[i].value)
			continue;
		if (!missing)
			missing = rule->params[i].name;
		for (size_t k = 0; k < entry->nparams; k++)
			if (entry->params[k].index == i)
				return;
	}
	/* A parameter that is set but wrong was reported before. */
	if (missing && !node_path(node, "params"))
		problem_key(r, node,
			    "`%s` reports nothing without `params: {%s: ...}`",
			    rule->name, missing);
}

static bool is_repeated(const struct rule_entries *entries,
			const struct rule_word *word)
{
	for (size_t i = 0; i < entries->n; i++)
		if (entries->items[i].word.rule == word->rule &&
		    entries->items[i].word.check == word->check)
			return true;
	return false;
}

static bool read_word(struct policy_reader *r, const struct node *node,
		      const struct rule_entries *entries,
		      struct rule_word *word)
{
	if (!rule_word_parse(r->rules, node->key, word)) {
		const char *near = rule_word_nearest(r->rules, node->key);

		problem_offset(
			r, node->key_start, r->options.admission || r->unread,
			arena_printf(&r->problems->arena, "unknown rule `%s`%s",
				     shown(r, node->key),
				     did_you_mean(r, near)));
		return false;
	}
	if (word->rule && rule_is_fixed(word->rule)) {
		problem_key(r, node, "`%s` cannot be changed",
			    word->rule->name);
		return false;
	}
	if (word->rule && is_repeated(entries, word)) {
		problem_key(r, node, "`%s` is set more than once",
			    word->rule->name);
		return false;
	}
	return true;
}

void read_rules(struct policy_reader *r, const struct node *node, void *into)
{
	struct rule_entries *entries = into;

	if (!node_is_map(node)) {
		problem(r, node, "expected a map of rules, found %s",
			node_noun(node));
		return;
	}
	FOR_EACH_CHILD(node, child) {
		struct rule_entry entry = {0};

		if (!read_word(r, child, entries, &entry.word))
			continue;
		entry.from = read_from(r, child);
		read_value(r, child, &entry);
		if (entry.word.check && !entry.off)
			problem(r, child, "a check can only be `off`");
		check_needed_params(r, child, &entry);
		*VEC_PUSH(policy_arena(r->policy), entries->items, entries->n,
			  entries->size) = entry;
	}
}
