/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluation of expressions. Values, errors and costs are as in cel-go 0.26
 * with Kubernetes' environment, with which all rows without placeholders were
 * compared. Other tests are about unknown values and the nodes that decide a
 * failure.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/buf.h"
#include "cel/cel.h"
#include "cel_value_text.h"
#include "doc/load.h"

static const char job[] = "spec:\n"
			  "  replicas: 3\n"
			  "  ready: true\n"
			  "  labels: {a: x, b: w}\n"
			  "  containers:\n"
			  "  - {name: a, image: reg/x}\n"
			  "  - {name: b, image: busybox}\n"
			  "  later: ${LATER}\n"
			  "  some: [{x: 1}, {x: \"${X}\"}, {x: 3}]\n";

struct run {
	struct arena arena;
	struct cel_eval eval;
	struct cel_value value;
	const struct node *spec;
};

static struct cel_value variable(struct cel_eval *eval, void *context,
				 unsigned index)
{
	if (index == 1)
		return cel_unknown(NULL);
	return cel_from_node(eval->arena, ((struct run *)context)->spec, NULL);
}

static void run(struct run *r, const char *text,
		struct cel_eval_options options)
{
	static const struct cel_variable variables[] = {
		{"spec", NULL}, {"request", NULL}, {NULL, NULL}};
	struct cel_variable typed[ARRAY_SIZE(variables)];
	struct cel_issues issues = {.arena = &r->arena};
	const struct cel_program *program;
	struct source source;
	struct loader loader;
	struct doc doc;

	memset(r, 0, sizeof(*r));
	source_init(&source, &r->arena, "test.yaml", job, strlen(job));
	loader_init(&loader, &source, &load_limits_default, &r->arena);
	assert_true(loader_next(&loader, &doc));
	placeholder_mark(&doc);
	memcpy(typed, variables, sizeof(typed));
	typed[0].type = typed[1].type = cel_type_of_kind(CEL_DYN);
	program = cel_compile(&r->arena, cel_env_new(&r->arena, typed), text,
			      strlen(text), &issues);
	if (!program)
		fail_msg("%s: %s", text, issues.items[0].text);
	options.variable = variable;
	r->spec = node_get(doc.root, "spec");
	options.context = r;
	if (!options.budget)
		options.budget = CEL_EXPRESSION_BUDGET;
	cel_eval_init(&r->eval, program, &r->arena, &options);
	r->value = cel_eval_run(&r->eval);
}

static void evaluates_to(const char *text, struct cel_eval_options options,
			 const char *expected)
{
	struct run r;
	struct buf out;

	run(&r, text, options);
	buf_init(&out);
	value_text(r.value, &out);
	if (strcmp(out.data, expected) != 0)
		fail_msg("%s is %s, not %s", text, out.data, expected);
	buf_release(&out);
	arena_release(&r.arena);
}

struct row {
	const char *text, *value;
	unsigned long long cost;
};

static void evaluate_to(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct run r;

		evaluates_to(rows[i].text, (struct cel_eval_options){0},
			     rows[i].value);
		run(&r, rows[i].text, (struct cel_eval_options){0});
		if (r.eval.cost != rows[i].cost)
			fail_msg("%s costs %llu, not %llu", rows[i].text,
				 (unsigned long long)r.eval.cost, rows[i].cost);
		arena_release(&r.arena);
	}
}

static void operators_have_the_ranges_of_cel_go(void **state)
{
	static const struct row rows[] = {
		{"1 + 2 * 3", "7", 2},
		{"9223372036854775807 + 1", "error: integer overflow", 1},
		{"-7 / 2", "-3", 1},
		{"-7 % 2", "-1", 1},
		{"1 / 0", "error: division by zero", 1},
		{"1u - 2u", "error: unsigned integer overflow", 1},
		{"'a' + 'b'", "\"ab\"", 1},
		{"[1] + [2, 3]", "[1, 2, 3]", 1},
		{"1 < 1.5", "true", 1},
		{"2u >= 3", "false", 1},
		{"0.0 / 0.0 < 1.0", "error: NaN values cannot be ordered", 2},
		{"dyn(1) == 'a'", "false", 1},
		{"dyn(1) + 'a'", "error: no such overload", 1},
		{"dyn(1).size()", "error: no such overload: size", 1},
		{"'a' in ['a', 'b']", "true", 0},
		{"spec.replicas in [1, 2]", "false", 2},
		{"'b' in {'a': 1}", "false", 1},
		{"'size' in spec", "false", 2},
		{"spec.replicas == 3.0", "true", 3},
		{"spec.labels == {'b': 'w', 'a': 'x'}", "true", 3},
		{"optional.of(2).optMap(v, -v)", "optional.of(-2)", 7},
		{"spec.containers[0].name.optMap(v, v)",
		 "error: no such overload: hasValue(string)", 5},
	};

	evaluate_to(rows, ARRAY_SIZE(rows));
}

static void reads_are_priced_by_their_steps(void **state)
{
	static const struct row rows[] = {
		{"[1, 2, 3][3]", "error: index out of bounds: 3", 2},
		{"spec.replicas[0]", "error: no such key: 0", 3},
		{"spec.labels['a']", "\"x\"", 3},
		{"spec.labels.zzz", "error: no such key: zzz", 3},
		{"spec.containers[0].name", "\"a\"", 4},
		{"spec.containers[1.0].name", "\"b\"", 4},
		{"spec.?zzz.orValue(5)", "5", 1},
		{"spec.labels.`a`", "\"x\"", 3},
		{"spec.replicas.orValue(5)", "error: no such overload", 2},
		{"[1, 2].exists(spec, .spec.replicas == spec)", "false", 17},
		{"spec.labels.a.startsWith('0123456789a')", "false", 5},
		{"spec.?labels.?a.orValue('')", "\"x\"", 3},
		{"spec.containers[?7].hasValue()", "false", 3},
		{"{?'a': optional.none(), 'b': 2}", "{\"b\": 2}", 31},
		{"has(spec.replicas)", "true", 1},
		{"has(spec.zzz)", "false", 1},
		{"has(spec.replicas.zzz)", "false", 2},
		{"spec.ready ? spec.replicas : spec.zzz", "3", 3},
		{"(spec.ready ? spec : spec.zzz).replicas", "3", 3},
		{"dyn(1) ? 1 : 2", "error: no such overload", 0},
		{"spec.zzz || true", "true", 2},
		{"spec.zzz || false", "error: no such key: zzz", 2},
		{"spec.ready && spec.replicas", "error: no such overload", 4},
	};

	evaluate_to(rows, ARRAY_SIZE(rows));
}

static void comprehensions_end_where_cel_go_ends_them(void **state)
{
	static const struct row rows[] = {
		{"spec.containers.all(c, has(c.image))", "true", 11},
		{"spec.containers.exists(c, c.name == 'b')", "true", 17},
		{"spec.containers.exists_one(c, c.name == 'b')", "true", 12},
		{"spec.containers.map(c, c.name)", "[\"a\", \"b\"]", 31},
		{"spec.containers.map(c, c.name == 'b', 1)", "[1]", 11},
		{"spec.containers.filter(c, c.zzz)", "error: no such key: zzz",
		 7},
		{"spec.labels.all(k, v, k != v)", "true", 15},
		{"spec.labels.map(k, k)", "[\"a\", \"b\"]", 29},
		{"[1, 2].transformMap(i, v, i + v)", "{0: 1, 1: 3}", 13},
		{"[1, 2].transformMapEntry(i, v, {'x': v})",
		 "error: insert failed: key x already exists", 67},
		{"optional.of(2).optMap(v, v * v)", "optional.of(4)", 8},
		{"optional.of([2]).optMap(v, [1, 2].all(x, v.all(y, x <= "
		 "y))).value()",
		 "true", 29},
		{"dyn(3).map(x, x)",
		 "error: got 'types.Int', expected iterable type", 0},
		{"dyn(3).all(i, v, true)",
		 "error: unsupported comprehension range type: types.Int", 0},
		{"[[1, 2], [3]].all(l, l.exists(x, x > 1))", "true", 29},
	};

	evaluate_to(rows, ARRAY_SIZE(rows));
}

static void conversions_have_the_texts_of_go(void **state)
{
	static const struct row rows[] = {
		{"type(spec.replicas) == int", "true", 4},
		{"int(-1.9)", "-1", 0},
		{"int(9223372036854775808.0)", "error: integer overflow", 1},
		{"uint(-1)", "error: unsigned integer overflow", 1},
		{"int('0x1')",
		 "error: type conversion error from 'string' to 'int'", 1},
		{"int('-9223372036854775808')", "-9223372036854775808", 0},
		{"double('1e400')",
		 "error: type conversion error from 'string' to 'double'", 1},
		{"double(' 1')",
		 "error: type conversion error from 'string' to 'double'", 1},
		{"double('0x1p-2')", "0.25", 0},
		{"string(1e21)", "\"1e+21\"", 0},
		{"string(100000.0)", "\"100000\"", 0},
		{"string(b'\\xff')",
		 "error: invalid UTF-8 in bytes, cannot convert to string", 1},
		{"bool('True')", "true", 0},
		{"bytes('\303\251') == b'\\303\\251'", "true", 1},
	};

	evaluate_to(rows, ARRAY_SIZE(rows));
}

static void a_budget_ends_an_evaluation_beyond_it(void **state)
{
	static const char text[] = "spec.containers.exists(c, c.name == 'b')";
	struct run r;

	run(&r, text, (struct cel_eval_options){.budget = 17});
	assert_true(cel_is_true(r.value));
	assert_false(r.eval.over);
	arena_release(&r.arena);
	run(&r, text, (struct cel_eval_options){.budget = 16});
	assert_true(cel_is(r.value, CEL_ERROR));
	assert_true(cel_text_eq(r.value.text,
				"operation cancelled: actual cost limit "
				"exceeded"));
	assert_true(r.eval.over);
	arena_release(&r.arena);
}

static void unknown_values_decide_nothing(void **state)
{
	static const char *const rows[][2] = {
		{"spec.later == 'x'", "unknown"},
		{"spec.later == 'x' || true", "true"},
		{"true || spec.later == 'x'", "true"},
		{"spec.later == 'x' && false", "false"},
		{"spec.later == 'x' && true", "unknown"},
		{"spec.later.x.y", "unknown"},
		{"has(spec.later)", "true"},
		{"has(spec.later.x)", "unknown"},
		{"spec.later ? 1 : 2", "unknown"},
		{"spec.zzz == spec.later", "unknown"},
		{"[1][9] == spec.later", "unknown"},
		{"spec.later.startsWith('x')", "unknown"},
		{"spec.some.size()", "3"},
		{"spec.some.all(e, e.x > 0)", "unknown"},
		{"spec.some.all(e, e.x < 3)", "false"},
		{"spec.some.exists(e, e.x == 3)", "true"},
		{"spec.some.exists(e, e.x == 4)", "unknown"},
		{"spec.some == [{'x': 1}, {'x': 2}, {'x': 3}]", "unknown"},
		{"spec.some == [{'x': 1}, {'x': 2}, {'x': 4}]", "false"},
		{"{'x': 3} in spec.some", "true"},
		{"{'x': 4} in spec.some", "unknown"},
		{"spec.some.includes({'x': 4})", "unknown"},
		{"request.userInfo.username == 'a'", "unknown"},
		{"request.a == 1 || spec.ready", "true"},
		{"has(request.a)", "unknown"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		evaluates_to(rows[i][0], (struct cel_eval_options){0},
			     rows[i][1]);
}

static void missing_fields_of_a_fragment_are_unknown(void **state)
{
	static const char *const rows[][2] = {
		{"has(spec.zzz)", "unknown"},
		{"has(spec.replicas)", "true"},
		{"spec.zzz", "unknown"},
		{"spec.zzz && false", "false"},
		{"'zzz' in spec", "unknown"},
		{"'a' in spec.labels", "true"},
		{"{'a': 1}.b", "error: no such key: b"},
		{"spec.?zzz.orValue(1)", "unknown"},
		{"spec.labels == {'a': 'x', 'b': 'w'}", "unknown"},
		{"spec.labels.size()", "unknown"},
		{"spec.labels.all(k, k != 'z')", "unknown"},
		{"spec.labels.all(k, k != 'a')", "false"},
		{"spec.containers.exists(c, c.name == 'b')", "true"},
		{"spec.containers.exists(c, c.name == 'z')", "unknown"},
		{"spec.containers.map(c, c.name)", "unknown"},
		{"type(dyn(spec.containers)) == list", "true"},
		{"[spec.labels] == [{'a': 'x', 'b': 'w'}]", "unknown"},
		{"[spec.labels].size()", "1"},
		{"spec.containers[9].name", "unknown"},
		{"spec.containers[-1]", "error: index out of bounds: -1"},
		{"spec.containers.map(c, 1).size()", "unknown"},
		{"spec.containers.all(c, false)", "false"},
		{"spec.containers.all(c, true)", "unknown"},
		{"spec.containers.exists(c, true)", "true"},
		{"spec.containers.map(c, c.name + 1)",
		 "error: no such overload"},
		{"'%s'.format([spec.labels])", "unknown"},
		{"spec.labels in [{'a': 'x', 'b': 'w'}]", "unknown"},
		{"optional.of(spec.labels).hasValue()", "true"},
		{"optional.of(spec.labels).value().a == 'x'", "true"},
		{"optional.of(spec.labels).value().z", "unknown"},
		{"optional.ofNonZeroValue(spec.labels)", "unknown"},
		{"[spec.labels].first().value().a == 'x'", "true"},
		{"spec.containers.last()", "unknown"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		evaluates_to(rows[i][0],
			     (struct cel_eval_options){.fragment = true},
			     rows[i][1]);
}

static void the_nodes_that_decide_are_blamed(void **state)
{
	static const char *const rows[][2] = {
		{"spec.replicas == 1", "/spec/replicas"},
		{"spec.zzz == 1", "/spec"},
		{"has(spec.labels.c)", "/spec/labels"},
		{"!has(spec.replicas)", "/spec/replicas"},
		{"spec.ready && spec.replicas > 5 && spec.zzz",
		 "/spec/replicas"},
		{"!(spec.zzz == 1 || spec.ready)", "/spec/ready"},
		{"spec.replicas > 5 || spec.labels.a == 'y'",
		 "/spec/replicas /spec/labels/a"},
		{"spec.ready ? spec.replicas > 5 : false",
		 "/spec/replicas /spec/ready"},
		{"spec.labels.a.startsWith(spec.labels.b)",
		 "/spec/labels/a /spec/labels/b"},
		{"spec.containers.all(c, c.image.startsWith('reg/'))",
		 "/spec/containers/1/image"},
		{"spec.containers.all(c, c.image.startsWith('reg/') && "
		 "has(c.limits))",
		 "/spec/containers/0"},
		{"spec.containers.all(c, spec.labels.exists(k, k == c.name) "
		 "&& c.image == 'x')",
		 "/spec/containers/0/image"},
		{"spec.containers.exists(c, c.name == 'z')",
		 "/spec/containers"},
		{"!spec.containers.exists(c, c.name == 'b')",
		 "/spec/containers/1/name"},
		{"spec.containers.map(c, c.zzz).size() > 0",
		 "/spec/containers/0"},
		{"spec.containers[1].name == spec.containers[0].name",
		 "/spec/containers/1/name /spec/containers/0/name"},
		{"spec.?labels.?c.orValue('') == 'z'", "/spec/labels"},
		{"spec.?labels.?a.orValue('') == 'z'", "/spec/labels/a"},
		{"spec.?replicas.optMap(r, r > 5).orValue(true)",
		 "/spec/replicas"},
		{"spec.labels.all(k, spec.labels[k] == 'x')", "/spec/labels/b"},
		{"1 == 2", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct node *nodes[4];
		struct buf out;
		struct run r;
		size_t n;

		run(&r, rows[i][0], (struct cel_eval_options){0});
		n = cel_eval_blame(&r.eval, nodes, ARRAY_SIZE(nodes));
		buf_init(&out);
		for (size_t j = 0; j < n; j++) {
			buf_adds(&out, j ? " " : "");
			node_pointer(nodes[j], &out);
		}
		if (strcmp(out.data, rows[i][1]) != 0)
			fail_msg("%s: %s, not %s", rows[i][0], out.data,
				 rows[i][1]);
		buf_release(&out);
		arena_release(&r.arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_have_the_ranges_of_cel_go),
		cmocka_unit_test(reads_are_priced_by_their_steps),
		cmocka_unit_test(comprehensions_end_where_cel_go_ends_them),
		cmocka_unit_test(conversions_have_the_texts_of_go),
		cmocka_unit_test(a_budget_ends_an_evaluation_beyond_it),
		cmocka_unit_test(unknown_values_decide_nothing),
		cmocka_unit_test(missing_fields_of_a_fragment_are_unknown),
		cmocka_unit_test(the_nodes_that_decide_are_blamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
