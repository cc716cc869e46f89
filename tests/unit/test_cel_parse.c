/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of the Common Expression Language as trees (in the format of
 * cel_tree.h) with macros expanded, and errors with positions. The rows were
 * checked against cel-go 0.26.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "cel_tree.h"

struct reading {
	struct arena arena;
	struct cel_issues issues;
	struct cel_expr *root;
	uint32_t nexprs;
};

static void read_text(struct reading *r, const char *text, size_t len)
{
	*r = (struct reading){.arena = ARENA_INIT};
	r->issues.arena = &r->arena;
	r->root = cel_parse(&r->arena, text, len, &r->nexprs, &r->issues);
}

static void assert_tree(const char *text, size_t len, const char *want)
{
	struct reading r;
	struct buf out;

	buf_init(&out);
	read_text(&r, text, len);
	if (r.root)
		tree_text(r.root, &out);
	else
		buf_addf(&out, "%zu-%zu: %s", r.issues.items[0].start,
			 r.issues.items[0].end, r.issues.items[0].text);
	if (strcmp(out.data, want) != 0)
		print_error("of %s\n", text);
	assert_string_equal(out.data, want);
	buf_release(&out);
	arena_release(&r.arena);
}

struct row {
	const char *text, *want;
};

static void assert_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_tree(rows[i].text, strlen(rows[i].text), rows[i].want);
}

static const struct row numbers[] = {
	{"1", "1"},
	{"08", "8"},
	{"0xFf", "255"},
	{"0xFfu", "255u"},
	{"7U", "7u"},
	{"-1", "-1"},
	{"- 1", "-1"},
	{"--1", "1"},
	{"---1", "(-_ 1)"},
	{"-1u", "(-_ 1u)"},
	{"-x", "(-_ x)"},
	{"--x", "x"},
	{"1 -1", "(_-_ 1 1)"},
	{"1 - -1", "(_-_ 1 -1)"},
	{"-1.f()", "(.f -1)"},
	{"9223372036854775807", "9223372036854775807"},
	{"-9223372036854775808", "-9223372036854775808"},
	{"-0x8000000000000000", "-9223372036854775808"},
	{"9223372036854775808", "0-19: invalid int literal"},
	{"18446744073709551615u", "18446744073709551615u"},
	{"18446744073709551616u", "0-21: invalid uint literal"},
	{"1.5", "1.5d"},
	{".5", "0.5d"},
	{"-.5e1", "-5d"},
	{"1e3", "1000d"},
	{"1E-2", "0.01d"},
	{"1e999", "0-5: invalid double literal"},
	{"1e-999", "0d"},
	{"1.f", "(. 1 f)"},
	{"1.", "2-2: syntax error: unexpected end, expecting a name"},
	{"1e", "1-2: syntax error: unexpected 'e', expecting an operator or "
	       "the end"},
	{"0x", "1-2: syntax error: unexpected 'x', expecting an operator or "
	       "the end"},
};

static void numbers_are_read_with_their_sign(void **state)
{
	assert_rows(numbers, ARRAY_SIZE(numbers));
}

static const struct row strings[] = {
	{"'a'", "'a'"},
	{"\"a\"", "'a'"},
	{"''", "''"},
	{"'''it's'''", "'it's'"},
	{"\"\"\"a\"b\"\"\"", "'a\"b'"},
	{"''''''", "''"},
	{"'''a\r\nb\rc\n'''", "'a0ab0ac0a'"},
	{"'\\a\\b\\f\\t\\v\\r'", "'\a\b\f\t\v\r'"},
	{"'\\n\\\\\\?\\`\\'\\\"'", "'0a\\?`'\"'"},
	{"'\\x41\\X42\\u0043\\U00000044\\105'", "'ABCDE'"},
	{"'\\xff\\377'", "'\303\277\303\277'"},
	{"'\\U0001f600\\u20ac'", "'\360\237\230\200\342\202\254'"},
	{"r'\\n'", "'\\n'"},
	{"R\"\\\"", "'\\'"},
	{"r'''\\'''", "'\\'"},
	{"b'a\\xff\\377'", "b'61ffff'"},
	{"B\"\303\277\"", "b'c3bf'"},
	{"bR'\\x'", "b'5c78'"},
	{"'\\000'", "'00'"},
	{"b'\\u0041'", "0-9: unable to unescape string"},
	{"'\\ud800'", "0-8: invalid unicode code point"},
	{"'\\U00110000'", "0-12: invalid unicode code point"},
	{"'\\z'", "0-4: unable to unescape string"},
	{"'\\400'", "0-6: unable to unescape string"},
	{"'\\x4'", "0-5: unable to unescape string"},
	{"'\\u0x41'", "0-8: unable to unescape string"},
	{"'\\u+041'", "0-8: unable to unescape string"},
	{"'\\08'", "0-5: unable to unescape string"},
	{"'\\'", "0-1: syntax error: no token begins with '''"},
	{"'a\nb'", "0-1: syntax error: no token begins with '''"},
	{"'a", "0-1: syntax error: no token begins with '''"},
	{"'a' 'b'", "4-7: syntax error: unexpected ''b'', expecting an "
		    "operator or the end"},
	{"rb'a'", "2-5: syntax error: unexpected ''a'', expecting an operator "
		  "or the end"},
};

static void strings_are_unescaped(void **state)
{
	assert_rows(strings, ARRAY_SIZE(strings));
}

static const struct row names[] = {
	{"a", "a"},
	{" a // b\n// c", "a"},
	{"_a1", "_a1"},
	{".a.b", "(. .a b)"},
	{"a.if.package", "(. (. a if) package)"},
	{"a.b()", "(.b a)"},
	{"a.as(1, 2)", "(.as a 1 2)"},
	{"a.?b.c", "(. (_?._ a 'b') c)"},
	{"a[?0][1]", "(_[_] (_[?_] a 0) 1)"},
	{"f()", "(f)"},
	{".f(1)", "(f 1)"},
	{".has(1)", "(has 1)"},
	{"(a).b", "(. a b)"},
	{"true && null", "(_&&_ true null)"},
	{"while", "0-5: reserved identifier: while"},
	{"var(1)", "0-3: reserved identifier: var"},
	{"a.in", "2-4: syntax error: unexpected 'in', expecting a name"},
	{"a.`b-c`", "(. a b-c)"},
	{"a.?`b c`.d", "(. (_?._ a 'b c') d)"},
	{"a.``", "2-3: syntax error: no token begins with '`'"},
	{"a.`b`()", "5-6: syntax error: unexpected '(', expecting an operator "
		    "or the end"},
	{"`a`", "0-3: syntax error: unexpected '`a`', expecting an expression"},
	{"a.?b()", "4-5: syntax error: unexpected '(', expecting an operator "
		   "or the end"},
	{"a ? b", "5-5: syntax error: unexpected end, expecting ':'"},
	{"@result", "0-7: syntax error: no token begins with '@result'"},
	{"#", "0-1: syntax error: no token begins with '#'"},
	{"\303\244", "0-2: syntax error: no token begins with '\303\244'"},
	{"'\377'", "1-2: text is not UTF-8"},
	{"", "0-0: syntax error: unexpected end, expecting an expression"},
	{"a.b{}", "0-3: messages are not supported"},
	{"A{b: 1}", "0-1: messages are not supported"},
};

static void names_calls_and_selections_are_read(void **state)
{
	assert_rows(names, ARRAY_SIZE(names));
}

static const struct row aggregates[] = {
	{"[]", "[]"},
	{"[,]", "[]"},
	{"[1, ?a.?b, 2,]", "[1 ?(_?._ a 'b') 2]"},
	{"[1,,]", "3-4: syntax error: unexpected ',', expecting an expression"},
	{"[1", "2-2: syntax error: unexpected end, expecting ',' or ']'"},
	{"{}", "{}"},
	{"{,}", "{}"},
	{"{'a': 1, ?b: c,}", "{'a':1 ?b:c}"},
	{"{'a'}", "4-5: syntax error: unexpected '}', expecting ':'"},
	{"f(1,)", "4-5: syntax error: unexpected ')', expecting an expression"},
};

static void lists_and_maps_may_end_in_a_comma(void **state)
{
	assert_rows(aggregates, ARRAY_SIZE(aggregates));
}

static const struct row operators[] = {
	{"a + b * c - d", "(_-_ (_+_ a (_*_ b c)) d)"},
	{"a * b / c % d", "(_%_ (_/_ (_*_ a b) c) d)"},
	{"a < b == c", "(_==_ (_<_ a b) c)"},
	{"a in b != (c >= d)", "(_!=_ (@in a b) (_>=_ c d))"},
	{"a + b <= c", "(_<=_ (_+_ a b) c)"},
	{"!a.b", "(!_ (. a b))"},
	{"!!a", "a"},
	{"!-1", "(!_ -1)"},
	{"!!-1", "-1"},
	{"!-a", "2-3: syntax error: unexpected 'a', expecting a number"},
	{"-!a", "1-2: syntax error: unexpected '!', expecting an expression"},
	{"a || b && c", "(_||_ a (_&&_ b c))"},
	{"a && b && c", "(_&&_ (_&&_ a b) c)"},
	{"a || b || c || d", "(_||_ (_||_ a b) (_||_ c d))"},
	{"a && b && c && d && e", "(_&&_ (_&&_ (_&&_ a b) c) (_&&_ d e))"},
	{"a ? b : c ? d : e", "(_?_:_ a b (_?_:_ c d e))"},
	{"a ? b ? c : d : e",
	 "6-7: syntax error: unexpected '?', expecting ':'"},
	{"a ? (b ? c : d) : e", "(_?_:_ a (_?_:_ b c d) e)"},
};

static void operators_bind_and_group_as_in_cel_go(void **state)
{
	assert_rows(operators, ARRAY_SIZE(operators));
}

#define ALL                                                                    \
	"@result=true while (@not_strictly_false @result) do "                 \
	"(_&&_ @result p) then @result>"
#define EXISTS                                                                 \
	"@result=false while (@not_strictly_false (!_ @result)) do "           \
	"(_||_ @result p) then @result>"
#define ONE                                                                    \
	"@result=0 while true do (_?_:_ p (_+_ @result 1) @result) then "      \
	"(_==_ @result 1)>"
#define INSERT(args)                                                           \
	"@result={} while true do (.@mapInsert cel @result " args              \
	") then @result>"
#define INSERT_IF(args)                                                        \
	"@result={} while true do (_?_:_ p (.@mapInsert cel @result " args     \
	") @result) then @result>"

static const struct row macros[] = {
	{"has(a.b)", "(has a b)"},
	{"has(a)", "4-5: invalid argument to has() macro"},
	{"has(a.?b)", "4-8: invalid argument to has() macro"},
	{"l.all(x, p)", "<x l " ALL},
	{"l.all(i, x, p)", "<i,x l " ALL},
	{"l.exists(x, p)", "<x l " EXISTS},
	{"l.exists(i, x, p)", "<i,x l " EXISTS},
	{"l.exists_one(x, p)", "<x l " ONE},
	{"l.existsOne(x, p)", "(.existsOne l x p)"},
	{"l.exists_one(i, x, p)", "<i,x l " ONE},
	{"l.existsOne(i, x, p)", "<i,x l " ONE},
	{"l.map(x, t)",
	 "<x l @result=[] while true do (_+_ @result [t]) then @result>"},
	{"l.map(x, p, t)", "<x l @result=[] while true do (_?_:_ p (_+_ "
			   "@result [t]) @result) then @result>"},
	{"l.filter(x, p)", "<x l @result=[] while true do (_?_:_ p (_+_ "
			   "@result [x]) @result) then @result>"},
	{"l.transformList(i, x, t)",
	 "<i,x l @result=[] while true do (_+_ @result [t]) then @result>"},
	{"l.transformList(i, x, p, t)",
	 "<i,x l @result=[] while true do (_?_:_ p (_+_ @result [t]) "
	 "@result) then @result>"},
	{"l.transformMap(k, v, t)", "<k,v l " INSERT("k t")},
	{"l.transformMap(k, v, p, t)", "<k,v l " INSERT_IF("k t")},
	{"l.transformMapEntry(k, v, t)", "<k,v l " INSERT("t")},
	{"l.transformMapEntry(k, v, p, t)", "<k,v l " INSERT_IF("t")},
	{"a.b.optMap(x, t)",
	 "(_?_:_ (.hasValue (. a b)) (.of optional <#unused [] x=(.value "
	 "(. a b)) while false do x then t>) (.none optional))"},
	{"a.optFlatMap(x, t)", "(_?_:_ (.hasValue a) <#unused [] x=(.value a) "
			       "while false do x then t> (.none optional))"},
	{"l.sortBy(x, t)",
	 "<#unused [] @__sortBy_input__=l while false do @__sortBy_input__ "
	 "then (.@sortByAssociatedKeys @__sortBy_input__ <x "
	 "@__sortBy_input__ @result=[] while true do (_+_ @result [t]) then "
	 "@result>)>"},
	{"l.all(.x, p)", "<.x l " ALL},
	{"l.all(x)", "(.all l x)"},
	{"all(l, x)", "(all l x)"},
	{"cel.bind(x, 1, x)", "(.bind cel x 1 x)"},
	{"l.all(x.y, p)", "6-9: argument must be a simple name"},
	{"l.map(1, p)", "6-7: argument is not an identifier"},
	{"l.all(x, x, p)", "9-10: duplicate variable name: x"},
	{"l.all(__result__, p)",
	 "6-16: iteration variable overwrites accumulator variable"},
	{"a.optMap(1, t)",
	 "9-10: optMap() variable name must be a simple identifier"},
	{"{}.sortBy(x, t)",
	 "0-2: sortBy can only be applied to a list, identifier, "
	 "comprehension, call or select expression"},
};

static void macros_expand_as_in_cel_go(void **state)
{
	assert_rows(macros, ARRAY_SIZE(macros));
}

static void all_errors_except_syntax_errors_are_reported(void **state)
{
	static const char text[] = "while + 1e999 + [1].map(2, 3)";
	struct reading r;

	read_text(&r, text, strlen(text));
	assert_null(r.root);
	assert_int_equal(r.issues.n, 3);
	assert_int_equal(r.issues.items[1].start, 8);
	assert_int_equal(r.issues.items[2].start, 24);
	arena_release(&r.arena);
}

/* Parses an expression of n times `before`, `middle`, and n times `after`. */
static bool is_read(const char *before, size_t n, const char *middle,
		    const char *after)
{
	struct reading r;
	struct buf text;
	bool read;

	buf_init(&text);
	for (size_t i = 0; i < n; i++)
		buf_adds(&text, before);
	buf_adds(&text, middle);
	for (size_t i = 0; i < n; i++)
		buf_adds(&text, after);
	read_text(&r, text.data, text.len);
	read = r.root != NULL;
	assert_int_equal(r.issues.n, !read);
	buf_release(&text);
	arena_release(&r.arena);
	return read;
}

static const struct {
	const char *before, *middle, *after;
	size_t most; /* largest number that is allowed; one more is rejected */
} nestings[] = {
	{"(", "1", ")", 249},
	{"[", "1", "]", 249},
	{"f(", "1", ")", 249},
	{"a ? b : ", "1", "", 249},
	{"", "a", ".b", 250},
	{"", "a", "[0]", 250},
	{"", "a", ".?b", 250},
	{"", "a", ".f()", 250},
	{"", "a", " + 1", 250},
	{"", "a", " < 1", 250},
	{"1 + (", "1", ")", 124},
	{"1 + 2 * (", "1", ")", 83},
	{"1 < (", "1", ")", 124},
	{"a.f(", "1", ")", 249},
	{"[1].all(x, ", "x", ")", 249},
	{"a[", "1", "]", 249},
	{"!", "a", "", 90000},
	{"", "a", " || a", 19000},
	{"[", "", "]", 250},
};

static void nesting_ends_where_it_does_in_cel_go(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(nestings); i++) {
		if (!is_read(nestings[i].before, nestings[i].most,
			     nestings[i].middle, nestings[i].after) ||
		    (nestings[i].most < 1000 &&
		     is_read(nestings[i].before, nestings[i].most + 1,
			     nestings[i].middle, nestings[i].after)))
			fail_msg("%s%s%s", nestings[i].before,
				 nestings[i].middle, nestings[i].after);
	}
}

static void code_points_are_limited_not_bytes(void **state)
{
	assert_true(is_read("\303\244", 0, "''", ""));
	assert_true(is_read("", CEL_CODE_POINTS - 1, "1", " "));
	assert_false(is_read("", CEL_CODE_POINTS, "1", " "));
}

static void expansions_that_are_too_large_are_rejected(void **state)
{
	assert_true(is_read("", 8, "a", ".optMap(x, x)"));
	assert_false(is_read("", 200, "a", ".optMap(x, x)"));
}

static void parts_know_their_bytes_and_purpose(void **state)
{
	static const char text[] = "(a.b) + c.startsWith('d')";
	struct reading r;
	struct cel_expr *e;

	read_text(&r, text, strlen(text));
	e = r.root;
	assert_int_equal(e->start, 0);
	assert_int_equal(e->end, strlen(text));
	assert_int_equal(e->at, 6);
	assert_int_equal(e->parts[0]->start, 1);
	assert_int_equal(e->parts[0]->end, 4);
	assert_int_equal(e->parts[0]->at, 3);
	assert_int_equal(e->parts[1]->start, 8);
	assert_int_equal(e->parts[1]->at, 10);
	arena_release(&r.arena);
}

static void count(struct cel_expr *expr, void *context)
{
	bool *seen = context;

	assert_false(seen[expr->id]);
	seen[expr->id] = true;
}

static void ids_are_unique_and_below_their_number(void **state)
{
	static const char text[] =
		"a.b.optMap(x, [?x, {x: x}].filter(y, has(y.z)).sortBy(z, z))";
	struct reading r;
	bool seen[200] = {0};

	read_text(&r, text, strlen(text));
	assert_in_range(r.nexprs, 20, ARRAY_SIZE(seen));
	cel_expr_each(r.root, count, seen);
	arena_release(&r.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_read_with_their_sign),
		cmocka_unit_test(strings_are_unescaped),
		cmocka_unit_test(names_calls_and_selections_are_read),
		cmocka_unit_test(lists_and_maps_may_end_in_a_comma),
		cmocka_unit_test(operators_bind_and_group_as_in_cel_go),
		cmocka_unit_test(macros_expand_as_in_cel_go),
		cmocka_unit_test(all_errors_except_syntax_errors_are_reported),
		cmocka_unit_test(nesting_ends_where_it_does_in_cel_go),
		cmocka_unit_test(code_points_are_limited_not_bytes),
		cmocka_unit_test(expansions_that_are_too_large_are_rejected),
		cmocka_unit_test(parts_know_their_bytes_and_purpose),
		cmocka_unit_test(ids_are_unique_and_below_their_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
