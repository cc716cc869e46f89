/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The type checker: types of expressions, issues that reject them, remaining
 * overloads. The rows were checked against cel-go 0.26 with Kubernetes'
 * options.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/buf.h"
#include "rules/cel/check/check.h"

/* --- variables ----------------------------------------------------------- */

static const struct cel_type *type(struct arena *arena, const char *text)
{
	return cel_type_parse(arena, &text);
}

struct checking {
	struct arena arena;
	struct cel_issues issues;
	const struct cel_env *env;
};

static void check_init(struct checking *c)
{
	static const char *const variables[][2] = {
		{"i", "int"},
		{"d", "double"},
		{"s", "string"},
		{"b", "bool"},
		{"x", "dyn"},
		{"l", "list(string)"},
		{"m", "map(string, int)"},
		{"o", "optional(string)"},
		{"q", "kubernetes.Quantity"},
		{"a.b.c", "int"},
	};
	struct cel_variable *v;
	struct cel_field *fields;
	struct cel_type *object;
	size_t n = ARRAY_SIZE(variables);

	*c = (struct checking){.arena = ARENA_INIT};
	c->issues.arena = &c->arena;
	fields = ARENA_ARRAY(&c->arena, struct cel_field, 3);
	fields[0] = (struct cel_field){"replicas", type(&c->arena, "int")};
	fields[1] =
		(struct cel_field){"names", type(&c->arena, "list(string)")};
	object = ARENA_NEW(&c->arena, struct cel_type);
	*object = (struct cel_type){
		.kind = CEL_OBJECT, .name = "Spec", .fields = fields};
	v = ARENA_ARRAY(&c->arena, struct cel_variable, n + 2);
	for (size_t i = 0; i < n; i++)
		v[i] = (struct cel_variable){variables[i][0],
					     type(&c->arena, variables[i][1])};
	v[n] = (struct cel_variable){"spec", object};
	c->env = cel_env_new(&c->arena, v);
}

static const struct cel_program *compile(struct checking *c, const char *text)
{
	return cel_compile(&c->arena, c->env, text, strlen(text), &c->issues);
}

struct row {
	const char *text, *want; /* the type, or the issues */
};

static void assert_row(const char *text, const char *want)
{
	struct checking c;
	const struct cel_program *program;
	struct buf out;

	check_init(&c);
	buf_init(&out);
	program = compile(&c, text);
	if (program)
		buf_adds(&out,
			 cel_type_text(&c.arena, cel_program_type(program)));
	for (size_t i = 0; !program && i < c.issues.n; i++)
		buf_addf(&out, "%s%zu-%zu: %s", i ? "\n" : "",
			 c.issues.items[i].start, c.issues.items[i].end,
			 c.issues.items[i].text);
	if (strcmp(out.data, want) != 0)
		print_error("of %s\n", text);
	assert_string_equal(out.data, want);
	buf_release(&out);
	arena_release(&c.arena);
}

static void assert_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_row(rows[i].text, rows[i].want);
}

/* --- tests --------------------------------------------------------------- */

static const struct row types[] = {
	{"1", "int"},
	{"null", "null"},
	{"b'a'", "bytes"},
	{"i + 1", "int"},
	{"s + 'a'", "string"},
	{"x", "dyn"},
	{"x.y.z", "dyn"},
	{"x + 1", "int"},
	{"x + x", "dyn"},
	{"-x", "dyn"},
	{"l[0]", "string"},
	{"m['a']", "int"},
	{"m.a", "int"},
	{"x[0]", "dyn"},
	{"l[?0]", "optional_type(string)"},
	{"m.?a", "optional_type(int)"},
	{"o.orValue('a')", "string"},
	{"has(m.a)", "bool"},
	{"[]", "list(dyn)"},
	{"{}", "map(dyn, dyn)"},
	{"[1, 2]", "list(int)"},
	{"[[], [1]]", "list(list(int))"},
	{"[1] + []", "list(int)"},
	{"[?o, 'a']", "list(string)"},
	{"{'a': 1, ?'b': m.?a}", "map(string, int)"},
	{"b ? 1 : 2", "int"},
	{"b ? x : 2", "dyn"},
	{"b ? [] : [1]", "list(int)"},
	{"b ? null : q", "null"},
	{"b ? q : null", "kubernetes.Quantity"},
	{"q == null", "bool"},
	{"i == x", "bool"},
	{"i < d", "bool"},
	{"a.b.c", "int"},
	{".a.b.c + .i", "int"},
	{"spec.replicas", "int"},
	{"spec.names.exists(n, n == 'a')", "bool"},
	{"type(1)", "type(int)"},
	{"int", "type(int)"},
	{"type(i) == int", "bool"},
	{"type(q) == list", "bool"},
	{"google.protobuf.Timestamp", "type(timestamp)"},
	{"net.IP", "type(net.IP)"},
	{"null_type", "type(null)"},
	{"optional_type", "type(optional_type(dyn))"},
	{"sets.contains(l, ['a'])", "bool"},
	{"size(l) + l.size() + s.size()", "int"},
	{"optional.none()", "optional_type(dyn)"},
	{"optional.of(1)", "optional_type(int)"},
	{"s == 'a' && x || b", "bool"},
	{"dyn(1) == 'a'", "bool"},
};

static void every_expression_has_the_type_of_cel_go(void **state)
{
	assert_rows(types, ARRAY_SIZE(types));
}

static const struct row folds[] = {
	{"l.all(x, x == 'a')", "bool"},
	{"l.exists_one(v, v.startsWith('a'))", "bool"},
	{"l.map(v, size(v))", "list(int)"},
	{"l.map(v, [v])", "list(list(string))"},
	{"l.filter(v, v == 'a')", "list(string)"},
	{"m.map(k, k)", "list(string)"},
	{"m.all(k, v, k == 'a' && v == 1)", "bool"},
	{"l.all(n, v, n == 1 && v == 'a')", "bool"},
	{"m.transformMap(k, v, v == 1)", "map(string, bool)"},
	{"m.transformList(k, v, k)", "list(string)"},
	{"l.transformMapEntry(n, v, {v: n})", "map(string, int)"},
	{"o.optMap(v, v.size())", "optional_type(int)"},
	{"o.optFlatMap(v, m[?0])",
	 "19-21: found no matching overload for '_[?_]' applied to "
	 "'(map(string, int), int)'"},
	{"o.optFlatMap(v, l[?0])", "optional_type(string)"},
	{"x.map(v, v.y)", "list(dyn)"},
	{"[[]].all(v, v.all(w, w == 1))", "bool"},
	{"i.all(v, true)",
	 "0-1: expression of type 'int' cannot be range of a comprehension "
	 "(must be list, map, or dynamic)"},
	{"l.all(v, 1)", "9-10: expected type 'bool' but found 'int'"},
	{"l.filter(v, v)",
	 "2-14: found no matching overload for '_?_:_' applied to '(string, "
	 "list(string), list(string))'"},
	{"l.all(v, true) && v == 1",
	 "18-19: undeclared reference to 'v' (in container '')"},
	{"l.map(v, l.map(w, v + w + q))",
	 "24-27: found no matching overload for '_+_' applied to '(string, "
	 "kubernetes.Quantity)'"},
};

static void comprehensions_declare_their_variables(void **state)
{
	assert_rows(folds, ARRAY_SIZE(folds));
}

static const struct row mistakes[] = {
	{"y", "0-1: undeclared reference to 'y' (in container '')"},
	{"speck.replicas", "0-5: undeclared reference to 'speck' (in container "
			   "''); did you mean `spec`?"},
	{"spec.replica", "5-12: undefined field 'replica'; did you mean "
			 "`replicas`?"},
	{"spec.?q", "6-7: undefined field 'q'"},
	{"has(spec.name)", "9-14: undefined field 'name'; did you mean "
			   "`names`?"},
	{"l.all(item, itm == 'a')",
	 "12-15: undeclared reference to 'itm' (in container ''); did you "
	 "mean `item`?"},
	{"s.startWith('a')",
	 "2-16: undeclared reference to 'startWith' (in container ''); did "
	 "you mean `startsWith`?"},
	{"cel.bind(v, 1, 2)",
	 "9-10: undeclared reference to 'v' (in container '')\n"
	 "0-3: undeclared reference to 'cel' (in container '')\n"
	 "4-17: undeclared reference to 'bind' (in container ''); did you "
	 "mean `find`?"},
	{"i + 'a'", "2-7: found no matching overload for '_+_' applied to "
		    "'(int, string)'"},
	{"s.size(1)", "2-9: found no matching overload for 'size' applied to "
		      "'string.(int)'"},
	{"i.size()", "2-8: found no matching overload for 'size' applied to "
		     "'int.()'"},
	{"size()", "0-6: found no matching overload for 'size' applied to "
		   "'()'"},
	{"startsWith(s, 'a')",
	 "0-18: found no matching overload for 'startsWith' applied to "
	 "'(string, string)'"},
	{"s == null", "2-9: found no matching overload for '_==_' applied to "
		      "'(string, null)'"},
	{"i.y", "2-3: type 'int' does not support field selection"},
	{"[1, 'a']", "4-7: expected type 'int' but found 'string'"},
	{"{'a': 1, 2: 's'}", "9-10: expected type 'string' but found 'int'\n"
			     "12-15: expected type 'int' but found 'string'"},
	{"[?s]", "2-3: expected type 'optional_type(string)' but found "
		 "'string'"},
	{"i && b", "0-1: expected type 'bool' but found 'int'"},
	{"i + 'a' == y", "2-7: found no matching overload for '_+_' applied "
			 "to '(int, string)'\n"
			 "11-12: undeclared reference to 'y' (in container "
			 "'')"},
	{"sets.contains(l, [1])",
	 "5-21: found no matching overload for 'sets.contains' applied to "
	 "'(list(string), list(int))'"},
	{"dyn", "0-3: undeclared reference to 'dyn' (in container '')"},
};

static void mistakes_are_reported_as_by_cel_go(void **state)
{
	assert_rows(mistakes, ARRAY_SIZE(mistakes));
}

static const struct row literals[] = {
	{"duration('1s')", "duration"},
	{"duration('bad')", "9-14: invalid duration argument"},
	{"timestamp('bad')", "10-15: invalid timestamp argument"},
	{"b || duration('bad') == duration('bad')",
	 "14-19: invalid duration argument\n"
	 "33-38: invalid duration argument"},
	{"timestamp(null)", "10-14: invalid timestamp argument"},
	{"timestamp(253402300800)", "10-22: invalid timestamp argument"},
	{"s.matches('(')", "10-13: invalid matches argument"},
	{"matches('(', s)", "8-11: invalid matches argument"},
	{"matches(s, '(')", "bool"},
	{"'%d'.format([s])",
	 "5-16: error during formatting: decimal clause can only be used on "
	 "integers, was given string"},
	{"'%s'.format([[q]])",
	 "14-15: error during formatting: string clause can only be used on "
	 "strings, bools, bytes, ints, doubles, maps, lists, types, durations, "
	 "and timestamps, was given kubernetes.Quantity"},
	{"'%s %s'.format([1])", "8-19: index 1 out of range"},
	{"'%s %s'.format([1, 'a'])", "string"},
	{"'%s'.format([[1, 'a']])", "string"},
	{"s.matches(s)", "bool"},
	{"[1, dyn('a')]", "4-12: expected type 'int' but found 'dyn'"},
	{"[dyn(1), dyn('a')]", "list(dyn)"},
	{"{1: x, 2: 's'}", "10-13: expected type 'dyn' but found 'string'"},
	{"[q, null]", "4-8: expected type 'kubernetes.Quantity' but found "
		      "'null'"},
};

static void literals_that_must_fail_are_refused_before(void **state)
{
	assert_rows(literals, ARRAY_SIZE(literals));
}

/* Checks the expression without compiling it for the evaluator. */
static struct cel_program *check_only(struct checking *c, const char *text)
{
	struct cel_program *program = ARENA_NEW(&c->arena, struct cel_program);

	program->env = c->env;
	program->root = cel_parse(&c->arena, text, strlen(text),
				  &program->nexprs, &c->issues);
	assert_non_null(program->root);
	assert_int_equal(cel_check(&c->arena, program, &c->issues), 0);
	return program;
}

static void overloads_that_fit_stay(void **state)
{
	static const struct {
		const char *text, *signature; /* signature of the first call */
		size_t n;
	} calls[] = {
		{"i + i", "(int, int) int", 1},
		{"x + 'a'", "(string, string) string", 1},
		{"i < d", "(int, double) bool", 1},
		{"i < x", NULL, 3},
		{"m.?a", NULL, 0},
		{"b && x", "(bool, bool) bool", 1},
	};
	struct checking c;

	check_init(&c);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct cel_overload *const *left =
			check_only(&c, calls[i].text)->root->call.overloads;
		size_t n = 0;

		if (calls[i].signature)
			assert_string_equal(left[0]->signature,
					    calls[i].signature);
		while (left[n])
			n++;
		assert_int_equal(n, calls[i].n);
	}
	arena_release(&c.arena);
}

static void identifiers_have_their_declaration(void **state)
{
	struct checking c;
	const struct cel_program *program;
	const struct cel_expr *e;

	check_init(&c);
	e = check_only(&c, "a.b.c")->root;
	assert_int_equal(e->kind, EXPR_IDENT);
	assert_int_equal(e->ident.is, NAME_VARIABLE);
	assert_int_equal(e->ident.index, cel_env_variable(c.env, "a.b.c"));
	e = check_only(&c, "list")->root;
	assert_int_equal(e->ident.is, NAME_TYPE);
	assert_int_equal(e->ident.named->kind, CEL_LIST);
	program = check_only(&c, "l.all(i, l.all(k, v, v == i))");
	e = program->root;
	assert_int_equal(program->nslots, 5);
	assert_int_equal(e->fold.accumulator_slot, 0);
	assert_int_equal(e->fold.slot, 1);
	e = e->parts[FOLD_STEP]->parts[1];
	assert_int_equal(e->fold.slot2, 4);
	e = e->parts[FOLD_STEP]->parts[1];
	assert_int_equal(e->parts[0]->ident.index, 4);
	assert_int_equal(e->parts[1]->ident.index, 1);
	assert_int_equal(e->parts[1]->ident.is, NAME_LOCAL);
	arena_release(&c.arena);
}

static void programs_list_the_variables_that_they_read(void **state)
{
	struct checking c;
	const struct cel_program *program;

	check_init(&c);
	program = compile(&c, "l.all(s, s == x.i) && a.b.c == 1");
	assert_true(cel_program_reads(program, "l"));
	assert_true(cel_program_reads(program, "x"));
	assert_true(cel_program_reads(program, "a.b.c"));
	assert_false(cel_program_reads(program, "s"));
	assert_false(cel_program_reads(program, "i"));
	assert_false(cel_program_reads(program, "a"));
	arena_release(&c.arena);
}

static void types_that_are_too_large_are_rejected(void **state)
{
	struct checking c;
	struct buf text;

	buf_init(&text);
	buf_adds(&text, "[1]");
	for (int i = 0; i < 30; i++)
		buf_addf(&text, ".map(v%d, {v%d: v%d})", i, i, i);
	check_init(&c);
	assert_null(compile(&c, text.data));
	assert_string_equal(c.issues.items[0].text,
			    "the type of the literal is too large");
	buf_release(&text);
	arena_release(&c.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_expression_has_the_type_of_cel_go),
		cmocka_unit_test(comprehensions_declare_their_variables),
		cmocka_unit_test(mistakes_are_reported_as_by_cel_go),
		cmocka_unit_test(literals_that_must_fail_are_refused_before),
		cmocka_unit_test(overloads_that_fit_stay),
		cmocka_unit_test(identifiers_have_their_declaration),
		cmocka_unit_test(programs_list_the_variables_that_they_read),
		cmocka_unit_test(types_that_are_too_large_are_rejected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
