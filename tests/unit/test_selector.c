/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selectors and tolerations, with labels and taints: every operator, and
 * absent, empty, null or unknown values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/array.h"
#include "doc/load.h"
#include "kube/scheduling/selector.h"

static const char *const names[] = {"no", "yes", "unknown"};

/* Returns the document of this YAML; it lives in the arena. */
static const struct node *read(struct arena *arena, const char *yaml)
{
	struct source *source = ARENA_NEW(arena, struct source);
	struct doc *doc = ARENA_NEW(arena, struct doc);
	struct loader loader;

	source_init(source, arena, "test.yaml", yaml, strlen(yaml));
	loader_init(&loader, source, &load_limits_default, arena);
	if (!loader_next(&loader, doc))
		return NULL;
	assert_non_null(doc->root);
	placeholder_mark(doc);
	return doc->root;
}

struct row {
	const char *selector, *labels;
	enum tri matches;
};

static void check(enum tri (*matches)(const struct node *, const struct node *),
		  const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct arena arena = ARENA_INIT;
		const struct node *s = read(&arena, rows[i].selector);
		const struct node *l = read(&arena, rows[i].labels);
		enum tri is = matches(node_get(s, "s"), node_get(l, "l"));

		if (is != rows[i].matches)
			fail_msg("row %zu: %s with %s: %s, should be %s", i,
				 rows[i].selector, rows[i].labels, names[is],
				 names[rows[i].matches]);
		arena_release(&arena);
	}
}

#define TERM(expressions)                                                      \
	"s: {nodeSelectorTerms: [{matchExpressions: [" expressions "]}]}"
#define EXPRESSION(key, op, values)                                            \
	TERM("{key: " key ", operator: " op ", values: " values "}")

static void a_map_of_labels_matches(void **state)
{
	static const struct row rows[] = {
		{"x: 1", "l: {a: b}", TRI_NO},
		{"s: {}", "l: {a: b}", TRI_NO},
		{"s:", "l: {a: b}", TRI_NO},
		{"s: {a: b}", "l: {a: b, c: d}", TRI_YES},
		{"s: [a]", "l: {a: b}", TRI_UNKNOWN},
		{"s: a", "l: {a: b}", TRI_NO},
		{"s: {a: b}", "l: {a: c}", TRI_NO},
		{"s: {a: b}", "l: {}", TRI_NO},
		{"s: {a: b}", "x: 1", TRI_NO},
		{"s: {a: b, c: d}", "l: {a: b}", TRI_NO},
		{"s: {a: '${A}'}", "l: {a: b}", TRI_UNKNOWN},
		{"s: '${S}'", "l: {a: b}", TRI_UNKNOWN},
		{"s: {a: b}", "l: '${L}'", TRI_UNKNOWN},
		{"s: {a: b}", "l: {a: b}", TRI_YES},
		{"s: {a: b}", "l: {A: b}", TRI_NO},
		{"s: {a: b}", "l: {a: B}", TRI_NO},
		{"s: {a: b, c: d}", "l: {a: b, c: d}", TRI_YES},
		{"s: {a: ''}", "l: {a: ''}", TRI_YES},
		{"s: {a: ''}", "l: {}", TRI_NO},
		{"s: {a: ''}", "l: {a: }", TRI_YES},
		{"s: {a: }", "l: {a: ''}", TRI_YES},
		{"s: {a: 'null'}", "l: {a: }", TRI_NO},
		{"s: {a: '1'}", "l: {a: '1'}", TRI_YES},
		{"s: {a: b}", "l: {a: {b: c}}", TRI_NO},
		{"s: {a: b}", "l: {a: '${A}'}", TRI_UNKNOWN},
		{"s: {a: '${A}'}", "l: {c: d}", TRI_UNKNOWN},
		/* A label that certainly does not match decides, even if
		 * another one is unknown. */
		{"s: {a: '${A}', c: d}", "l: {a: b, c: e}", TRI_NO},
	};

	check(label_map_matches, rows, ARRAY_SIZE(rows));
}

static enum tri all_known(const struct node *s, const struct node *l)
{
	return label_selector_matches(s, l, LABELS_NO_MORE);
}

static enum tri some_known(const struct node *s, const struct node *l)
{
	return label_selector_matches(s, l, LABELS_ANY_MORE);
}

static enum tri but_the_operators(const struct node *s, const struct node *l)
{
	return label_selector_matches(s, l, LABELS_OF_OPERATOR);
}

#define SELECT(key, op, values)                                                \
	"s: {matchExpressions: [{key: " key ", operator: " op                  \
	", values: " values "}]}"

static void a_selector_of_labels_matches(void **state)
{
	static const struct row rows[] = {
		{"x: 1", "l: {a: b}", TRI_NO},
		{"s: {}", "l: {a: b}", TRI_YES},
		{"s: {matchLabels: {}}", "x: 1", TRI_YES},
		{"s: '${S}'", "l: {a: b}", TRI_UNKNOWN},
		{"s: {matchLabels: '${S}'}", "l: {a: b}", TRI_UNKNOWN},
		{"s: {matchExpressions: '${S}'}", "l: {a: b}", TRI_UNKNOWN},
		{"s: {matchLabels: {a: b}}", "l: {a: b, c: d}", TRI_YES},
		{"s: {matchLabels: {a: b, c: d}}", "l: {a: b}", TRI_NO},
		{SELECT("a", "In", "[b, c]"), "l: {a: c}", TRI_YES},
		{SELECT("a", "NotIn", "[b]"), "l: {c: d}", TRI_YES},
		{SELECT("a", "Exists", "[]"), "l: {c: d}", TRI_NO},
		{SELECT("a", "DoesNotExist", "[]"), "l: {c: d}", TRI_YES},
	};
	static const struct row operator[] = {
		{"s: {matchLabels: {a: b}}", "l: {c: d}", TRI_NO},
		{"s: {matchLabels: {a.b/c: d}}", "l: {c: d}", TRI_UNKNOWN},
		{"s: {matchLabels: {job-name: d}}", "l: {c: d}", TRI_UNKNOWN},
		{"s: {matchLabels: {a.b/c: d}}", "l: {a.b/c: e}", TRI_NO},
	};
	static const struct row more[] = {
		{"s: {}", "x: 1", TRI_YES},
		{"s: {matchLabels: {a: b}}", "l: {a: b}", TRI_YES},
		{"s: {matchLabels: {a: b}}", "l: {a: c}", TRI_NO},
		{"s: {matchLabels: {a: b}}", "l: {c: d}", TRI_UNKNOWN},
		{"s: {matchLabels: {a: b, c: d}}", "l: {c: e}", TRI_NO},
		{SELECT("a", "Exists", "[]"), "l: {c: d}", TRI_UNKNOWN},
		{SELECT("a", "DoesNotExist", "[]"), "l: {c: d}", TRI_UNKNOWN},
		{SELECT("a", "NotIn", "[b]"), "l: {a: c}", TRI_YES},
	};

	check(all_known, rows, ARRAY_SIZE(rows));
	check(some_known, more, ARRAY_SIZE(more));
	check(but_the_operators, operator, ARRAY_SIZE(operator));
}

static void match_expressions_select_as_the_api_server_does(void **state)
{
	static const struct row rows[] = {
		/* In, NotIn. */
		{EXPRESSION("a", "In", "[b, c]"), "l: {a: b}", TRI_YES},
		{EXPRESSION("a", "In", "[b, c]"), "l: {a: c}", TRI_YES},
		{EXPRESSION("a", "In", "[b, c]"), "l: {a: d}", TRI_NO},
		{EXPRESSION("a", "In", "[b, c]"), "l: {}", TRI_NO},
		{EXPRESSION("a", "In", "[b]"), "l: {a: '${A}'}", TRI_UNKNOWN},
		{EXPRESSION("a", "In", "[b, '${C}']"), "l: {a: b}", TRI_YES},
		{EXPRESSION("a", "In", "[b, '${C}']"), "l: {a: c}",
		 TRI_UNKNOWN},
		{EXPRESSION("a", "In", "'${V}'"), "l: {a: c}", TRI_UNKNOWN},
		{EXPRESSION("a", "In", "'${V}'"), "l: {}", TRI_NO},
		{EXPRESSION("a", "NotIn", "[b, c]"), "l: {a: b}", TRI_NO},
		{EXPRESSION("a", "NotIn", "[b, c]"), "l: {a: d}", TRI_YES},
		{EXPRESSION("a", "NotIn", "[b, c]"), "l: {}", TRI_YES},
		{EXPRESSION("a", "NotIn", "[b, c]"), "x: 1", TRI_YES},
		{EXPRESSION("a", "NotIn", "[b, '${C}']"), "l: {a: b}", TRI_NO},
		{EXPRESSION("a", "NotIn", "[b, '${C}']"), "l: {a: c}",
		 TRI_UNKNOWN},
		{EXPRESSION("a", "NotIn", "[b]"), "l: {a: '${A}'}",
		 TRI_UNKNOWN},
		/* Exists, DoesNotExist. */
		{EXPRESSION("a", "Exists", "[]"), "l: {a: b}", TRI_YES},
		{EXPRESSION("a", "Exists", "[]"), "l: {a: }", TRI_YES},
		{EXPRESSION("a", "Exists", "[]"), "l: {c: d}", TRI_NO},
		{EXPRESSION("a", "Exists", "[]"), "x: 1", TRI_NO},
		{EXPRESSION("a", "Exists", "[]"), "l: {a: '${A}'}", TRI_YES},
		{EXPRESSION("a", "Exists", "[]"), "l: '${L}'", TRI_UNKNOWN},
		{EXPRESSION("a", "DoesNotExist", "[]"), "l: {a: b}", TRI_NO},
		{EXPRESSION("a", "DoesNotExist", "[]"), "l: {a: '${A}'}",
		 TRI_NO},
		{EXPRESSION("a", "DoesNotExist", "[]"), "l: {c: d}", TRI_YES},
		{EXPRESSION("a", "DoesNotExist", "[]"), "x: 1", TRI_YES},
		{EXPRESSION("a", "DoesNotExist", "[]"), "l: '${L}'",
		 TRI_UNKNOWN},
		/* Invalid, or unknown. */
		{EXPRESSION("a", "in", "[b]"), "l: {a: b}", TRI_UNKNOWN},
		{EXPRESSION("a", "'${OP}'", "[b]"), "l: {a: b}", TRI_UNKNOWN},
		{EXPRESSION("'${K}'", "In", "[b]"), "l: {a: b}", TRI_UNKNOWN},
		{"s: {nodeSelectorTerms: [{matchExpressions: '${E}'}]}",
		 "l: {a: b}", TRI_UNKNOWN},
		{"s: {nodeSelectorTerms: [{matchExpressions: [{}]}]}",
		 "l: {a: b}", TRI_UNKNOWN},
	};

	check(node_selector_matches, rows, ARRAY_SIZE(rows));
}

static const struct row term_rows[] = {
	{"s: {nodeSelectorTerms: []}", "l: {a: b}", TRI_NO},
	{"s: {nodeSelectorTerms: [{}]}", "l: {a: b}", TRI_NO},
	{"s: {}", "l: {a: b}", TRI_NO},
	{"x: 1", "l: {a: b}", TRI_NO},
	{TERM("{key: a, operator: In, values: [b]}"), "l: {a: b}", TRI_YES},
	{TERM("{key: a, operator: In, values: [b]}"), "l: {a: c}", TRI_NO},
	{TERM("{key: a, operator: In, values: [b]}"), "l: {}", TRI_NO},
	{TERM("{key: a, operator: NotIn, values: [b]}"), "l: {}", TRI_YES},
	{TERM("{key: a, operator: Exists}"), "l: {a: ''}", TRI_YES},
	{TERM("{key: a, operator: DoesNotExist}"), "l: {a: ''}", TRI_NO},
	{TERM("{key: a, operator: Exists}, {key: b, operator: Exists}"),
	 "l: {a: x}", TRI_NO},
	/* Numbers. */
	{TERM("{key: a, operator: Gt, values: ['4']}"), "l: {a: '8'}", TRI_YES},
	{TERM("{key: a, operator: Gt, values: ['8']}"), "l: {a: '8'}", TRI_NO},
	{TERM("{key: a, operator: Gt, values: ['-1']}"), "l: {a: '0'}",
	 TRI_YES},
	{TERM("{key: a, operator: Gt, values: ['9']}"), "l: {a: '10'}",
	 TRI_YES},
	{TERM("{key: a, operator: Lt, values: ['8']}"), "l: {a: '4'}", TRI_YES},
	{TERM("{key: a, operator: Lt, values: ['8']}"), "l: {a: '8'}", TRI_NO},
	{TERM("{key: a, operator: Lt, values: ['8']}"), "l: {}", TRI_NO},
	{TERM("{key: a, operator: Gt, values: ['4']}"), "l: {a: big}", TRI_NO},
	{TERM("{key: a, operator: Gt, values: ['4']}"), "l: {a: '8Gi'}",
	 TRI_NO},
	{TERM("{key: a, operator: Gt, values: ['4']}"), "l: {a: ' 8'}", TRI_NO},
	{TERM("{key: a, operator: Gt, values: ['4']}"),
	 "l: {a: '99999999999999999999'}", TRI_NO},
	{TERM("{key: a, operator: Gt, values: [x]}"), "l: {a: '8'}", TRI_NO},
	{TERM("{key: a, operator: Gt, values: []}"), "l: {a: '8'}", TRI_NO},
	{TERM("{key: a, operator: Gt, values: ['${N}']}"), "l: {a: '8'}",
	 TRI_UNKNOWN},
	{TERM("{key: a, operator: Gt, values: ['4']}"), "l: {a: '${N}'}",
	 TRI_UNKNOWN},
	/* Terms are alternatives. */
	{"s: {nodeSelectorTerms: [{matchExpressions: [{key: a, "
	 "operator: Exists}]}, {matchExpressions: [{key: b, operator: "
	 "Exists}]}]}",
	 "l: {b: x}", TRI_YES},
	{"s: {nodeSelectorTerms: [{}, {matchExpressions: [{key: b, "
	 "operator: Exists}]}]}",
	 "l: {b: x}", TRI_YES},
	{"s: {nodeSelectorTerms: [{matchExpressions: [{key: a, "
	 "operator: In, values: ['${A}']}]}, {matchExpressions: [{key: "
	 "b, operator: Exists}]}]}",
	 "l: {a: x, b: x}", TRI_YES},
	/* Names of nodes are unknown. */
	{"s: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, "
	 "operator: In, values: [n]}]}]}",
	 "l: {a: b}", TRI_UNKNOWN},
	{"s: {nodeSelectorTerms: [{matchExpressions: [{key: a, "
	 "operator: Exists}], matchFields: [{key: metadata.name, "
	 "operator: In, values: [n]}]}]}",
	 "l: {c: d}", TRI_NO},
	{"s: {nodeSelectorTerms: [{matchExpressions: [{key: a, "
	 "operator: Exists}], matchFields: [{key: metadata.name, "
	 "operator: In, values: [n]}]}]}",
	 "l: {a: b}", TRI_UNKNOWN},
	{"s: {nodeSelectorTerms: '${T}'}", "l: {a: b}", TRI_UNKNOWN},
	{"s: '${S}'", "l: {a: b}", TRI_UNKNOWN},
	{TERM("'${E}'"), "l: {a: b}", TRI_UNKNOWN},
};

static void terms_of_nodes_match(void **state)
{
	check(node_selector_matches, term_rows, ARRAY_SIZE(term_rows));
}

static const struct {
	const char *tolerations, *key, *value, *effect;
	enum tri tolerated;
} toleration_rows[] = {
	{"x: 1", "k", "v", "NoSchedule", TRI_NO},
	{"t: []", "k", "v", "NoSchedule", TRI_NO},
	{"t: [{}]", "k", "v", "NoSchedule", TRI_NO},
	/* Exists. */
	{"t: [{operator: Exists}]", "k", "v", "NoSchedule", TRI_YES},
	{"t: [{operator: Exists}]", "k", NULL, NULL, TRI_YES},
	{"t: [{operator: Exists, key: ''}]", "k", "v", NULL, TRI_YES},
	{"t: [{operator: Exists, effect: NoExecute}]", "k", "v", "NoSchedule",
	 TRI_NO},
	{"t: [{operator: Exists, effect: NoExecute}]", "k", "v", NULL, TRI_YES},
	{"t: [{key: k, operator: Exists}]", "k", "v", "NoSchedule", TRI_YES},
	{"t: [{key: k, operator: Exists}]", "other", "v", "NoSchedule", TRI_NO},
	{"t: [{key: k, operator: Exists, effect: NoSchedule}]", "k", "v",
	 "NoSchedule", TRI_YES},
	{"t: [{key: k, operator: Exists, effect: NoSchedule}]", "k", "v",
	 "NoExecute", TRI_NO},
	{"t: [{key: k, operator: Exists, effect: ''}]", "k", "v", "NoExecute",
	 TRI_YES},
	/* Equal, the default. */
	{"t: [{key: k, value: v}]", "k", "v", "NoSchedule", TRI_YES},
	{"t: [{key: k, operator: '', value: v}]", "k", "v", NULL, TRI_YES},
	{"t: [{key: k, operator: Equal, value: v}]", "k", "v", "NoSchedule",
	 TRI_YES},
	{"t: [{key: k, operator: Equal, value: w}]", "k", "v", "NoSchedule",
	 TRI_NO},
	{"t: [{key: k, operator: Equal, value: w}]", "k", NULL, "NoSchedule",
	 TRI_YES},
	{"t: [{key: k}]", "k", "", "NoSchedule", TRI_YES},
	{"t: [{key: k}]", "k", "v", "NoSchedule", TRI_NO},
	{"t: [{key: k, value: }]", "k", "", "NoSchedule", TRI_YES},
	{"t: [{key: K, value: v}]", "k", "v", "NoSchedule", TRI_NO},
	{"t: [{operator: Equal, value: v}]", "k", "v", NULL, TRI_NO},
	/* One toleration that matches is enough. */
	{"t: [{key: a, operator: Exists}, {key: k, value: v}]", "k", "v",
	 "NoSchedule", TRI_YES},
	/* Not known. */
	{"t: '${T}'", "k", "v", NULL, TRI_UNKNOWN},
	{"t: ['${T}']", "k", "v", NULL, TRI_UNKNOWN},
	{"t: [{key: '${K}', operator: Exists}]", "k", "v", NULL, TRI_UNKNOWN},
	{"t: [{key: k, value: '${V}'}]", "k", "v", NULL, TRI_UNKNOWN},
	{"t: [{key: k, value: '${V}'}]", "k", NULL, NULL, TRI_YES},
	{"t: [{key: k, operator: '${O}', value: v}]", "k", "w", NULL,
	 TRI_UNKNOWN},
	{"t: [{operator: '${O}'}]", "k", "w", NULL, TRI_UNKNOWN},
	{"t: [{key: k, operator: Exists, effect: '${E}'}]", "k", "v",
	 "NoSchedule", TRI_UNKNOWN},
	{"t: [{key: k, operator: Exists, effect: '${E}'}]", "k", "v", NULL,
	 TRI_YES},
	{"t: [{key: other, value: '${V}'}]", "k", "v", NULL, TRI_NO},
	{"t: [{key: other, effect: '${E}'}]", "k", "v", "NoSchedule", TRI_NO},
	{"t: [{key: k, operator: Gt, value: '4'}]", "k", "5", NULL,
	 TRI_UNKNOWN},
	{"t: [{key: '${K}', operator: Exists}, {key: k, value: v}]", "k", "v",
	 NULL, TRI_YES},
};

static void tolerations_match_taints(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(toleration_rows); i++) {
		struct arena arena = ARENA_INIT;
		const struct node *t = node_get(
			read(&arena, toleration_rows[i].tolerations), "t");
		enum tri is = tolerations_tolerate(t, toleration_rows[i].key,
						   toleration_rows[i].value,
						   toleration_rows[i].effect);

		if (is != toleration_rows[i].tolerated)
			fail_msg("row %zu: %s: %s, should be %s", i,
				 toleration_rows[i].tolerations, names[is],
				 names[toleration_rows[i].tolerated]);
		arena_release(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_map_of_labels_matches),
		cmocka_unit_test(a_selector_of_labels_matches),
		cmocka_unit_test(
			match_expressions_select_as_the_api_server_does),
		cmocka_unit_test(terms_of_nodes_match),
		cmocka_unit_test(tolerations_match_taints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
