/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents of kind Rules. Every problem is reported at its place, those of an
 * expression at the place inside of it.
 */
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "custom.h"
#include "engine/finding.h"
#include "rules/engine/policy/policy_read.h"

struct reading {
	struct custom_rule *rule;
	const struct cel_env *env;
	enum action action; /* ACTION_OFF: none is given */
};

/* --- expressions ---------------------------------------------------------- */

/* Where the text begins in the file, and its indentation. */
static uint32_t text_start(const struct source *source, const struct node *node,
			   size_t *indent)
{
	uint32_t at = node->start;

	*indent = 0;
	if (!(node->flags & NODE_BLOCK))
		return at + !!(node->flags & NODE_QUOTED);
	while (at < node->end && source->text[at] != '\n')
		at++;
	at++;
	while (at + *indent < node->end && source->text[at + *indent] == ' ')
		++*indent;
	return at;
}

/* The byte of the file that a byte of the text comes from: line folding and
 * escapes are followed as far as a position needs. */
static uint32_t source_offset(const struct source *source,
			      const struct node *node, size_t offset)
{
	size_t indent;
	uint32_t at = text_start(source, node, &indent);
	const char *text = source->text;
	bool begins = true;

	for (size_t i = 0; i <= offset && at < node->end; i++) {
		if (begins && node->flags & NODE_BLOCK)
			for (size_t k = 0; k < indent && text[at] == ' '; k++)
				at++;
		while (i < node->len && at + 1 < node->end &&
		       text[at] != node->str[i] && node->str[i] != ' ')
			at++;
		begins = text[at] == '\n';
		if (i == offset)
			break;
		at++;
		if (begins && !(node->flags & NODE_BLOCK))
			while (at < node->end && strchr(" \t\n", text[at]))
				at++;
	}
	return at < node->end || at == node->start ? at : node->end;
}

static void tell_issues(struct policy_reader *r, const struct node *node,
			const struct cel_issues *issues)
{
	for (size_t i = 0; i < issues->n; i++)
		problem_offset(
			r,
			source_offset(r->source, node, issues->items[i].start),
			false, issues->items[i].text);
}

/* kind: what it must give, or CEL_DYN: anything. */
static const struct cel_program *read_expression(struct policy_reader *r,
						 const struct node *node,
						 const struct reading *into,
						 enum cel_kind kind)
{
	struct arena *arena = policy_arena(r->policy);
	struct cel_issues issues = {.arena = &r->problems->arena};
	const char *text = read_text(r, node);
	const struct cel_program *program;
	enum cel_kind found;
	struct buf type;

	if (!text)
		return NULL;
	program = cel_compile(arena, into->env, text, node->len, &issues);
	tell_issues(r, node, &issues);
	if (!program)
		return NULL;
	found = cel_program_type(program)->kind;
	if (kind == CEL_DYN || found == CEL_DYN || found == kind)
		return program;
	buf_init(&type);
	cel_type_text(cel_program_type(program), &type);
	problem(r, node, "the expression gives %s, expected %s", type.data,
		kind == CEL_BOOL ? "bool" : "string");
	buf_release(&type);
	return NULL;
}

static void read_when(struct policy_reader *r, const struct node *node,
		      void *into)
{
	struct reading *reading = into;

	reading->rule->when = read_expression(r, node, into, CEL_BOOL);
}

static void read_assert(struct policy_reader *r, const struct node *node,
			void *into)
{
	struct reading *reading = into;

	reading->rule->assert = read_expression(r, node, into, CEL_BOOL);
}

static void read_at(struct policy_reader *r, const struct node *node,
		    void *into)
{
	struct reading *reading = into;

	reading->rule->at = read_expression(r, node, into, CEL_DYN);
}

static void read_message(struct policy_reader *r, const struct node *node,
			 void *into)
{
	struct reading *reading = into;

	reading->rule->message = read_expression(r, node, into, CEL_STRING);
}

/* --- texts ---------------------------------------------------------------- */

static bool is_rule_name(const char *name)
{
	return text_is_label(name, strlen(name)) && !strstr(name, "--") &&
	       *name >= 'a' && *name <= 'z';
}

static void read_name(struct policy_reader *r, const struct node *node,
		      void *into)
{
	struct reading *reading = into;
	const char *name = read_text(r, node);
	struct rule_word word;

	reading->rule->rule.name = name;
	if (!name)
		return;
	if (!is_rule_name(name))
		problem(r, node,
			"`%s` is not a name such as `site-registry`: a-z, 0-9 "
			"and single hyphens, a letter first",
			shown(r, name));
	else if (rule_word_parse(r->rules, name, &word) ||
		 !strcmp(name, "custom"))
		problem(r, node, "`%s` is a name of gpugate's own", name);
	for (size_t i = 0; i < r->nrules_added; i++)
		if (!strcmp(r->rules_added[i]->name, name))
			problem(r, node, "there are two rules `%s`", name);
}

static void read_severity(struct policy_reader *r, const struct node *node,
			  void *into)
{
	static const char *const words[] = {"error", "warning", "info"};
	struct reading *reading = into;

	if (read_choice(r, node, "severity", words, 3) >= 0)
		severity_parse(node->str, &reading->rule->rule.severity);
}

static void read_action(struct policy_reader *r, const struct node *node,
			void *into)
{
	static const char *const words[] = {"deny", "patch", "warn", "audit"};
	struct reading *reading = into;

	if (read_choice(r, node, "action", words, 4) >= 0)
		action_parse(node->str, &reading->action);
}

static void read_line(struct policy_reader *r, const struct node *node,
		      const char **out)
{
	const char *text = read_text(r, node);

	if (text && strpbrk(text, "\r\n"))
		problem(r, node, "the text must be one line");
	else if (text)
		*out = text;
}

static void read_summary(struct policy_reader *r, const struct node *node,
			 void *into)
{
	read_line(r, node, &((struct reading *)into)->rule->rule.summary);
}

static void read_why(struct policy_reader *r, const struct node *node,
		     void *into)
{
	read_line(r, node, &((struct reading *)into)->rule->rule.why);
}

static void read_remedy(struct policy_reader *r, const struct node *node,
			void *into)
{
	read_line(r, node, &((struct reading *)into)->rule->rule.remedy);
}

static void read_evidence(struct policy_reader *r, const struct node *node,
			  void *into)
{
	read_line(r, node, &((struct reading *)into)->rule->rule.evidence);
}

static void read_failure(struct policy_reader *r, const struct node *node,
			 void *into)
{
	static const char *const words[] = {"Fail", "Ignore"};
	struct reading *reading = into;

	reading->rule->fail_ignore =
		read_choice(r, node, "failurePolicy", words, 2) == 1;
}

static void read_params(struct policy_reader *r, const struct node *node,
			void *into)
{
	struct reading *reading = into;

	if (!node_is_map(node))
		problem(r, node, "expected a map, found %s", node_noun(node));
	reading->rule->params = node;
}

/* --- match ---------------------------------------------------------------- */

static void read_kind(struct policy_reader *r, const struct node *node,
		      void *into)
{
	struct custom_rule *rule = ((struct reading *)into)->rule;
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

static void read_kinds(struct policy_reader *r, const struct node *node,
		       void *into)
{
	read_list(r, node, read_kind, into);
}

static void read_namespaces(struct policy_reader *r, const struct node *node,
			    void *into)
{
	read_patterns(r, node, &((struct reading *)into)->rule->namespaces);
}

static void read_gpus(struct policy_reader *r, const struct node *node,
		      void *into)
{
	read_bool(r, node, &((struct reading *)into)->rule->gpus);
}

static void read_match(struct policy_reader *r, const struct node *node,
		       void *into)
{
	static const struct policy_field fields[] = {
		{"kinds", read_kinds, false},
		{"namespaces", read_namespaces, false},
		{"gpus", read_gpus, false},
		{0},
	};

	read_fields(r, node, fields, into);
}

/* --- fix and tests -------------------------------------------------------- */

struct reading_fix {
	struct reading *reading;
	struct custom_fix fix;
};

static void read_fix_set(struct policy_reader *r, const struct node *node,
			 void *into)
{
	struct reading_fix *fix = into;
	const char *text = read_text(r, node);

	if (!text)
		return;
	if (!custom_fix_parse(policy_arena(r->policy), text, &fix->fix) ||
	    fix->fix.base > fix->reading->rule->each)
		problem(r, node,
			"`%s` is not a path such as "
			"`pod.spec.priorityClassName`",
			shown(r, text));
}

static void read_fix_value(struct policy_reader *r, const struct node *node,
			   void *into)
{
	struct reading_fix *fix = into;

	fix->fix.value = read_expression(r, node, fix->reading, CEL_DYN);
}

static void read_fix_safe(struct policy_reader *r, const struct node *node,
			  void *into)
{
	read_bool(r, node, &((struct reading_fix *)into)->fix.safe);
}

static void read_fix(struct policy_reader *r, const struct node *node,
		     void *into)
{
	static const struct policy_field fields[] = {
		{"set", read_fix_set, true},
		{"value", read_fix_value, true},
		{"safe", read_fix_safe, false},
		{0},
	};
	struct reading_fix fix = {.reading = into};
	struct custom_rule *rule = fix.reading->rule;

	read_fields(r, node, fields, &fix);
	*VEC_PUSH(policy_arena(r->policy), rule->fixes, rule->nfixes,
		  rule->fixes_size) = fix.fix;
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

static void read_test_file(struct policy_reader *r, const struct node *node,
			   void *into)
{
	((struct custom_test *)into)->file = read_text(r, node);
}

static void read_test_want(struct policy_reader *r, const struct node *node,
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
			problem(r, child, "lines ascend");
		lines[test->n++] = (unsigned)line;
	}
	test->want = lines;
}

static void read_test(struct policy_reader *r, const struct node *node,
		      void *into)
{
	static const struct policy_field fields[] = {
		{"file", read_test_file, true},
		{"want", read_test_want, true},
		{0},
	};
	struct custom_rule *rule = ((struct reading *)into)->rule;
	struct custom_test test = {
		.from = r->file,
		.line = source_position(r->source, node->start).line};

	read_fields(r, node, fields, &test);
	*VEC_PUSH(policy_arena(r->policy), rule->tests, rule->ntests,
		  rule->tests_size) = test;
}

static void read_tests(struct policy_reader *r, const struct node *node,
		       void *into)
{
	read_list(r, node, read_test, into);
}

/* --- documents ------------------------------------------------------------ */

static void skip(struct policy_reader *r, const struct node *node, void *unused)
{
}

/* Before the rest: which variables there are. */
static enum custom_each each_of(struct policy_reader *r,
				const struct node *rule)
{
	static const char *const words[] = {"object", "pod", "container"};
	const struct node *node = node_get(rule, "each");
	int found = 0;

	if (!node_is_unset(node))
		found = read_choice(r, node, "each", words, 3);
	return found < 0 ? EACH_CONTAINER : (enum custom_each)found;
}

static void read_rule(struct policy_reader *r, const struct node *node,
		      void *unused)
{
	static const struct policy_field fields[] = {
		{"name", read_name, true},
		{"severity", read_severity, false},
		{"action", read_action, false},
		{"summary", read_summary, true},
		{"why", read_why, false},
		{"remedy", read_remedy, false},
		{"evidence", read_evidence, false},
		{"failurePolicy", read_failure, false},
		{"params", read_params, false},
		{"match", read_match, false},
		{"each", skip, false},
		{"when", read_when, false},
		{"assert", read_assert, true},
		{"at", read_at, false},
		{"message", read_message, false},
		{"fix", read_fixes, false},
		{"tests", read_tests, false},
		{0},
	};
	struct arena *arena = policy_arena(r->policy);
	struct custom_rule *rule = ARENA_NEW(arena, struct custom_rule);
	struct reading reading = {.rule = rule};

	rule->each = each_of(r, node);
	reading.env = cel_env_new(arena, custom_variables(rule->each));
	rule->rule = (struct rule){
		.category = "custom",
		.severity = SEVERITY_WARNING,
		.since = "",
		.summary = "",
		.why = "",
		.remedy = "",
		.evidence = read_from(r, node),
		.check_object = custom_check,
	};
	read_fields(r, node, fields, &reading);
	if (reading.action == ACTION_PATCH && !rule->nfixes)
		problem(r, node_get(node, "action"),
			"the rule has no `fix` to patch with");
	if (rule->rule.name && rule->assert)
		add_custom_rule(r, &rule->rule, reading.action, node);
}

static void read_all(struct policy_reader *r, const struct node *node,
		     void *unused)
{
	read_list(r, node, read_rule, NULL);
}

static void read_rules_document(struct policy_reader *r, const struct doc *doc)
{
	static const struct policy_field fields[] = {
		{"apiVersion", skip, true},
		{"kind", skip, true},
		{"rules", read_all, true},
		{0},
	};

	read_fields(r, doc->root, fields, NULL);
}

const struct custom_reader rules_file_reader = {
	.kind = "Rules",
	.api_version = "gpugate.dev/v1",
	.read = read_rules_document,
};
