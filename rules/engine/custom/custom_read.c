/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads documents of kind Rules. Every problem is reported with its position;
 * for a problem in an expression, the position is inside of the expression.
 */
#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "custom_internal.h"
#include "engine/finding.h"
#include "rules/engine/policy/policy_read.h"

static const char *const eaches[] = {"object", "pod", "container"};
static const char *const severities[] = {"info", "warning", "error"};
static const char *const actions[] = {"audit", "warn", "patch", "deny"};
static const char *const failures[] = {"Fail", "Ignore"};

struct reading {
	struct custom_rule *rule;
	const struct cel_env *env;
};

/* --- expressions ---------------------------------------------------------- */

static void tell_issues(struct policy_reader *r, const struct node *node,
			const struct cel_issues *issues)
{
	for (size_t i = 0; i < issues->n; i++)
		problem_offset(r,
			       source_text_offset(r->source, node,
						  issues->items[i].start),
			       false, issues->items[i].text);
}

/* Compiles the expression of a key. kind is its required type, or CEL_DYN for
 * any type. Returns NULL if it is missing or wrong. */
static const struct cel_program *
expression_of(struct policy_reader *r, const struct node *map, const char *key,
	      const struct cel_env *env, enum cel_kind kind)
{
	const struct node *node = node_get(map, key);
	struct cel_issues issues = {.arena = &r->problems->arena};
	const char *text = node_is_unset(node) ? NULL : read_text(r, node);
	const struct cel_program *program;
	enum cel_kind found;

	if (!text)
		return NULL;
	program = cel_compile(policy_arena(r->policy), env, text, node->len,
			      &issues);
	tell_issues(r, node, &issues);
	if (!program)
		return NULL;
	found = cel_program_type(program)->kind;
	if (kind == CEL_DYN || found == CEL_DYN || found == kind)
		return program;
	problem(r, node, "the expression gives %s, expected %s",
		cel_type_text(policy_arena(r->policy),
			      cel_program_type(program)),
		kind == CEL_BOOL ? "bool" : "string");
	return NULL;
}

/* --- texts and words ------------------------------------------------------ */

static const char *line_of(struct policy_reader *r, const struct node *map,
			   const char *key)
{
	const struct node *node = node_get(map, key);
	const char *text = node_is_unset(node) ? NULL : read_text(r, node);

	if (text && strpbrk(text, "\r\n"))
		problem(r, node, "the text must be one line");
	return text ? text : "";
}

/* Returns the index of the key's word in the list, `none` if the key is
 * missing, or -1 for another value, which it reports. */
/* NOLINTNEXTLINE(readability-function-size): one key, its choices */
static int choice_of(struct policy_reader *r, const struct node *map,
		     const char *key, const char *const *words, size_t n,
		     int none)
{
	const struct node *node = node_get(map, key);

	return node_is_unset(node) ? none : read_choice(r, node, key, words, n);
}

static bool is_rule_name(const char *name)
{
	return text_is_label(name, strlen(name)) && !strstr(name, "--") &&
	       *name >= 'a' && *name <= 'z';
}

static const char *name_of(struct policy_reader *r, const struct node *map)
{
	const struct node *node = node_get(map, "name");
	const char *name = node_is_unset(node) ? NULL : read_text(r, node);
	struct rule_word word;

	if (!name)
		return NULL;
	if (!is_rule_name(name))
		problem(r, node,
			"`%s` is not a name such as `site-registry`: a-z, 0-9 "
			"and single hyphens, a letter first",
			shown(r, name));
	else if (rule_word_parse(r->rules, name, &word) ||
		 !strcmp(name, "custom"))
		problem(r, node, "`%s` is the name of a built-in rule", name);
	for (size_t i = 0; i < r->nrules_added; i++)
		if (!strcmp(r->rules_added[i]->name, name))
			problem(r, node, "there are two rules `%s`", name);
	return name;
}

/* --- match ---------------------------------------------------------------- */

static void read_kind(struct policy_reader *r, const struct node *node,
		      void *into)
{
	struct custom_rule *rule = into;
	struct arena *arena = policy_arena(r->policy);
	const char *text = read_text(r, node), *slash;
	struct custom_kind kind = {NULL, text};

	if (!text)
		return;
	slash = strrchr(text, '/');
	if (slash) {
		kind.group = arena_strndup(arena, text, (size_t)(slash - text));
		kind.kind = slash + 1;
	}
	if (kind.group &&
	    (!strcmp(kind.group, "core") || !strcmp(kind.group, "v1")))
		kind.group = "";
	if (*kind.kind < 'A' || *kind.kind > 'Z' ||
	    (kind.group && strchr(kind.group, '/'))) {
		problem(r, node,
			"`%s` is not a kind such as `Job`, `batch/Job` or "
			"`core/Pod`",
			shown(r, text));
		return;
	}
	*VEC_PUSH(arena, rule->kinds, rule->nkinds, rule->kinds_size) = kind;
}

static void read_match(struct policy_reader *r, const struct node *node,
		       void *into)
{
	static const struct policy_field fields[] = {
		{"kinds", read_kind, LIST, 0},
		{"namespaces", field_patterns, 0,
		 offsetof(struct custom_rule, namespaces)},
		{"gpus", field_flag, 0, offsetof(struct custom_rule, gpus)},
		{0},
	};

	read_fields(r, node, fields, ((struct reading *)into)->rule);
}

/* --- fix and tests -------------------------------------------------------- */

static void read_fix(struct policy_reader *r, const struct node *node,
		     void *into)
{
	static const struct policy_field fields[] = {
		{"set", read_elsewhere, REQUIRED, 0},
		{"value", read_elsewhere, REQUIRED, 0},
		{"safe", read_elsewhere, 0, 0},
		{0},
	};
	const struct reading *reading = into;
	struct custom_rule *rule = reading->rule;
	const struct node *set = node_get(node, "set");
	const struct node *safe = node_get(node, "safe");
	struct custom_fix fix = {0};
	const char *path;

	read_fields(r, node, fields, &fix);
	path = line_of(r, node, "set");
	if (*path && (!custom_fix_parse(policy_arena(r->policy), path, &fix) ||
		      fix.base > rule->each))
		problem(r, set,
			"`%s` is not a path such as "
			"`pod.spec.priorityClassName`",
			shown(r, path));
	fix.value = expression_of(r, node, "value", reading->env, CEL_DYN);
	if (safe)
		read_bool(r, safe, &fix.safe);
	*VEC_PUSH(policy_arena(r->policy), rule->fixes, rule->nfixes,
		  rule->fixes_size) = fix;
}

static void read_fixes(struct policy_reader *r, const struct node *node,
		       void *into)
{
	struct custom_rule *rule = ((struct reading *)into)->rule;
	bool safe = true;

	read_list(r, node, read_fix, into);
	for (size_t i = 0; i < rule->nfixes; i++)
		safe &= rule->fixes[i].safe;
	rule->rule.flags |= safe ? RULE_SAFE_PATCH : RULE_OPT_IN_PATCH;
}

static void read_want(struct policy_reader *r, const struct node *node,
		      void *into)
{
	struct custom_test *test = into;
	unsigned *lines = ARENA_ARRAY(policy_arena(r->policy), unsigned,
				      node_count(node));
	int64_t line;

	if (!node_is_seq(node))
		problem(r, node, "expected a list of lines, found %s",
			node_noun(node));
	FOR_EACH_CHILD(node, child) {
		if (!read_int(r, child, 1, INT32_MAX, &line))
			continue;
		if (test->n && lines[test->n - 1] > line)
			problem(r, child, "the lines must ascend");
		lines[test->n++] = (unsigned)line;
	}
	test->want = lines;
}

static void read_test(struct policy_reader *r, const struct node *node,
		      void *into)
{
	static const struct policy_field fields[] = {
		{"file", read_elsewhere, REQUIRED, 0},
		{"want", read_want, REQUIRED, 0},
		{0},
	};
	struct custom_rule *rule = ((struct reading *)into)->rule;
	struct custom_test test = {
		.from = r->file,
		.line = source_position(r->source, node->start).line};

	read_fields(r, node, fields, &test);
	test.file = line_of(r, node, "file");
	*VEC_PUSH(policy_arena(r->policy), rule->tests, rule->ntests,
		  rule->tests_size) = test;
}

/* --- documents ------------------------------------------------------------ */

/* Returns the value in the form of engine/policy.h; NULL if the list cannot be
 * written in this form. */
static const char *joined(struct arena *arena, const struct node *list)
{
	const char *text = NULL;

	FOR_EACH_CHILD(list, item) {
		if (!node_str(item) || !item->len || strchr(item->str, ','))
			return NULL;
		text = text ? arena_printf(arena, "%s,%s", text, item->str)
			    : item->str;
	}
	return text;
}

/* Sets *out to a declaration of the parameter. Returns false if its type does
 * not allow `rules:` of a policy to set another value. */
static bool declare_param(struct arena *arena, const struct node *node,
			  struct rule_param *out)
{
	int64_t value;

	*out = (struct rule_param){.name = node->key,
				   .value = node->str,
				   .help = "of the rules file"};
	if (node_int(node, &value) && value >= 0 && value <= INT32_MAX)
		out->type = "int";
	else if (node_str(node) && node->len)
		out->type = "string";
	else if (node->type == NODE_BOOL)
		out->type = "bool";
	else if (node_is_seq(node) && (out->value = joined(arena, node)))
		out->type = "list";
	return out->type;
}

static void read_params(struct policy_reader *r, const struct node *node,
			void *into)
{
	struct custom_rule *rule = ((struct reading *)into)->rule;
	struct arena *arena = policy_arena(r->policy);
	struct rule_param *params =
		ARENA_ARRAY(arena, struct rule_param, node_count(node) + 1);
	size_t n = 0;

	if (!node_is_map(node))
		problem(r, node, "expected a map, found %s", node_noun(node));
	FOR_EACH_CHILD(node, child)
		n += declare_param(arena, child, &params[n]);
	params[n] = (struct rule_param){0};
	rule->params = node;
	rule->rule.params = n ? params : NULL;
}

static void read_expressions(struct policy_reader *r, const struct node *node,
			     struct custom_rule *rule,
			     const struct cel_env *env)
{
	rule->when = expression_of(r, node, "when", env, CEL_BOOL);
	rule->assert = expression_of(r, node, "assert", env, CEL_BOOL);
	rule->at = expression_of(r, node, "at", env, CEL_DYN);
	rule->message = expression_of(r, node, "message", env, CEL_STRING);
}

static void read_texts(struct policy_reader *r, const struct node *node,
		       struct custom_rule *rule)
{
	int severity = choice_of(r, node, "severity", severities, 3, 1);

	rule->rule = (struct rule){
		.name = name_of(r, node),
		.category = "custom",
		.severity =
			severity < 0 ? SEVERITY_INFO : (enum severity)severity,
		.since = "",
		.summary = line_of(r, node, "summary"),
		.why = line_of(r, node, "why"),
		.remedy = line_of(r, node, "remedy"),
		.evidence = line_of(r, node, "evidence"),
		.check_object = custom_check,
	};
	if (!*rule->rule.evidence)
		rule->rule.evidence = read_from(r, node);
	rule->fail_ignore =
		choice_of(r, node, "failurePolicy", failures, 2, 0) == 1;
}

static const char *const *kind_names(struct arena *arena,
				     const struct custom_rule *rule)
{
	const char **names = ARENA_ARRAY(arena, const char *, rule->nkinds + 1);

	for (size_t i = 0; i < rule->nkinds; i++)
		names[i] = rule->kinds[i].kind;
	return rule->nkinds ? names : NULL;
}

static void read_rule(struct policy_reader *r, const struct node *node,
		      void *unused)
{
	static const struct policy_field fields[] = {
		{"name", read_elsewhere, REQUIRED, 0},
		{"severity", read_elsewhere, 0, 0},
		{"action", read_elsewhere, 0, 0},
		{"summary", read_elsewhere, REQUIRED, 0},
		{"why", read_elsewhere, 0, 0},
		{"remedy", read_elsewhere, 0, 0},
		{"evidence", read_elsewhere, 0, 0},
		{"failurePolicy", read_elsewhere, 0, 0},
		{"params", read_params, 0, 0},
		{"match", read_match, 0, 0},
		{"each", read_elsewhere, 0, 0},
		{"when", read_elsewhere, 0, 0},
		{"assert", read_elsewhere, REQUIRED, 0},
		{"at", read_elsewhere, 0, 0},
		{"message", read_elsewhere, 0, 0},
		{"fix", read_fixes, 0, 0},
		{"tests", read_test, LIST, 0},
		{0},
	};
	struct arena *arena = policy_arena(r->policy);
	struct custom_rule *rule = ARENA_NEW(arena, struct custom_rule);
	struct reading reading = {.rule = rule};
	int each = choice_of(r, node, "each", eaches, 3, EACH_OBJECT);
	int action = choice_of(r, node, "action", actions, 4, -1);

	rule->each = each < 0 ? EACH_CONTAINER : (enum custom_each)each;
	reading.env = cel_env_new(arena, custom_variables(arena, rule->each));
	read_texts(r, node, rule);
	read_fields(r, node, fields, &reading);
	read_expressions(r, node, rule, reading.env);
	rule->rule.kinds = kind_names(arena, rule);
	if (action == ACTION_PATCH - ACTION_AUDIT && !rule->nfixes)
		problem(r, node_get(node, "action"),
			"the rule has no `fix` to patch with");
	if (rule->rule.name && rule->assert)
		add_custom_rule(r, &rule->rule,
				(enum action)(action + ACTION_AUDIT), node);
}

static void read_rules_document(struct policy_reader *r, const struct doc *doc)
{
	static const struct policy_field fields[] = {
		{"apiVersion", read_elsewhere, REQUIRED, 0},
		{"kind", read_elsewhere, REQUIRED, 0},
		{"rules", read_rule, REQUIRED | LIST, 0},
		{0},
	};

	read_fields(r, doc->root, fields, r->policy);
}

const struct custom_reader rules_file_reader = {
	.kind = "Rules",
	.api_version = "gpugate.dev/v1",
	.read = read_rules_document,
};
