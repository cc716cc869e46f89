/* SPDX-License-Identifier: Apache-2.0 */
/* Strings, format(), regular expressions. The expected values were printed by
 * cel-go, in Kubernetes 1.37. */
#include "cel_expressions.h"

static const struct expression strings[] = {
	{"\"hello\".contains(\"ell\")", "true"},
	{"\"hello\".contains(\"\")", "true"},
	{"\"hello\".startsWith(\"he\") && \"hello\".endsWith(\"lo\")", "true"},
	{"\"lo\".endsWith(\"hello\")", "false"},
	{"\"a\303\251\360\237\230\200\".charAt(2)", "\360\237\230\200"},
	{"\"abc\".charAt(3)", ""},
	{"\"abc\".charAt(4)", "error: index out of range: 4"},
	{"\"abc\".charAt(-1)", "error: index out of range: -1"},
	{"\"a\303\251a\".indexOf(\"a\", 1)", "2"},
	{"\"abc\".indexOf(\"\", 7)", "7"},
	{"\"abc\".indexOf(\"b\", -1)", "error: index out of range: -1"},
	{"\"abc\".indexOf(\"b\", 9)", "-1"},
	{"\"a\303\251a\".lastIndexOf(\"a\")", "2"},
	{"\"a\303\251a\".lastIndexOf(\"a\", 1)", "0"},
	{"\"\".lastIndexOf(\"a\")", "-1"},
	{"\"abc\".lastIndexOf(\"\")", "3"},
	{"\"abc\".lastIndexOf(\"b\", 5)", "-1"},
	{"\"abc\".lastIndexOf(\"b\", -1)", "error: index out of range: -1"},
	{"\"\303\200Bc\".lowerAscii() + \"\303\200Bc\".upperAscii()",
	 "\303\200bc\303\200BC"},
	{"\"aaa\".replace(\"\", \"-\")", "-a-a-a-"},
	{"\"a\303\251a\".replace(\"\", \"-\", 2)", "-a-\303\251a"},
	{"\"aaa\".replace(\"a\", \"bb\", 2)", "bbbba"},
	{"\"aaa\".replace(\"a\", \"b\", 0)", "aaa"},
	{"\"%s\".format([\"a\303\251c\".split(\"\")])",
	 "[\"a\", \"\303\251\", \"c\"]"},
	{"\"%s\".format([\"abc\".split(\"\", 2)])", "[\"a\", \"bc\"]"},
	{"\"%s\".format([\"a-b-c\".split(\"-\", 2)])", "[\"a\", \"b-c\"]"},
	{"\"%s\".format([\"abc\".split(\"b\", 0)])", "[]"},
	{"\"%.1f\".format([-1.0 * 0.0])", "0.0"},
	{"\"%s\".format([\"\".split(\"\")])", "[]"},
	{"\"%s\".format([\"\".split(\"x\")])", "[\"\"]"},
	{"[\"a\", \"b\"].join(\"-\") + [\"c\"].join()", "a-bc"},
	{"\"a\303\251\360\237\230\200b\".substring(1, 3)",
	 "\303\251\360\237\230\200"},
	{"\"abc\".substring(3)", ""},
	{"\"abc\".substring(4)", "error: index out of range: 4"},
	{"\"abc\".substring(2, 1)",
	 "error: invalid substring range. start: 2, end: 1"},
	{"\"abc\".substring(-1, 1)", "error: index out of range: -1"},
	{"\"\\u0085\\u2003x\\u3000\".trim()", "x"},
	{"strings.quote(\"a\\\"b\\\\\\n\\u0001\303\251\")",
	 "\"a\\\"b\\\\\\n\001\303\251\""},
};

static const struct expression format[] = {
	{"\"%.2f|%f|%f\".format([1234567.891, -1234.5, 999.9999999])",
	 "1,234,567.89|-1,234.500000|1,000.000000"},
	{"\"%.0f|%.20f\".format([2.5, 0.1])", "2|0.10000000000000000555"},
	{"\"%e|%.3e|%e|%.16e|\".format([1052.032911275, 0.000123, 0.0, -1.0])",
	 "1.052033\303\22710\342\201\260\302\263|1.230000\303\22710\342\201\273\342\201\260\342\201\264|0.000000\303\22710\342\201\260\342\201\260|  -1.000000\303\22710\342\201\260\342\201\260|"},
	{"\"%f %f %f %e\".format([double(\"NaN\"), double(\"Infinity\"), double(\"-Infinity\"), double(\"NaN\")])",
	 "NaN \342\210\236 -\342\210\236    NaN"},
	{"\"%f\".format([dyn(\"-Infinity\")])", "-\342\210\236"},
	{"\"%x %X %x %x %o %b %b %d\".format([255, 255u, \"hello\", b\"\\xff\", -8, -5, true, 7u])",
	 "ff FF 68656c6c6f ff -10 -101 1 7"},
	{"\"%s %s %s %%\".format([1.0, 1e300, type(1)])", "1 1e+300 int %"},
	{"\"%s\".format([[1, 2.5, \"a\\n\", b\"x\", null, true, duration(\"1h\"), timestamp(\"2020-01-01T00:00:00Z\")]])",
	 "[1, 2.500000, \"a\\n\", b\"x\", null, true, duration(\"3600s\"), timestamp(\"2020-01-01T00:00:00Z\")]"},
	{"\"%s\".format([{\"b\": 1, \"a\": [1.0]}])",
	 "{\"a\":[1.000000], \"b\":1}"},
	{"\"%s\".format([[[\"\303\251\\u200b\\u00ad\"]]])",
	 "[[\"\303\251\\u200b\\u00ad\"]]"},
	{"\"%s\".format([b\"\\xff\"])", "error"},
	{"\"%d\".format([dyn(1.5)])",
	 "error: decimal clause can only be used on integers, was given double"},
	{"\"%f\".format([dyn(1)])", "error"},
	{"\"%s\".format([dyn(ip(\"1.2.3.4\"))])", "error"},
	{"\"%s\".format([[dyn(optional.none())]])", "error"},
	{"\"%s\".format([{1.5: \"x\"}])", "error"},
	{"(\"%\" + \"z\").format([1])", "error"},
	{"(\"%\" + \"s\").format([])", "error: index 0 out of range"},
	{"(\"\" + \"%\").format([1])", "error: unexpected end of string"},
	{"(\"%\" + \".f\").format([1.0])", "error"},
	{"(\"%.\" + \"12\").format([1.0])", "error"},
};

static const struct expression regex[] = {
	{"\"abc\".matches(\"^a.c$\") && !\"abc\\n\".matches(\"^abc$\")",
	 "true"},
	{"matches(\"a\\nb\", \"(?m)^b$\")", "true"},
	{"\"a\\u000bb\".matches(\"a\\\\sb\")", "false"},
	{"\"\303\2511\".matches(\"\\\\w\\\\d\")", "false"},
	{"\"\316\251\".matches(\"\\\\p{Greek}\") && !\"\316\251\".matches(\"\\\\P{L}\")",
	 "true"},
	{"\"x{,3}\".matches(\"^x{,3}$\")", "true"},
	{"\"a]b\".matches(\"a[]]b\")", "true"},
	{"\"a+b\".matches(\"a\\\\Q+\\\\Eb\")", "true"},
	{"\"%s\".format([\"a\303\251\".findAll(\"[^a]\")])", "[\"\303\251\"]"},
	{"\"%s\".format([\"abcab\".findAll(\"b*\", 3)])",
	 "[\"\", \"b\", \"\"]"},
	{"\"aaa\".find(\"a{2}?\")", "aa"},
	{"\"abc\".find(\"x\")", ""},
	{"\"%s\".format([\"b\".findAll(\"(a|b)??\")])", "[\"\", \"\"]"},
	{"\"%s\".format([\"kK\".findAll(\"(?i)k\")])", "[\"k\", \"K\"]"},
	{"\"a\".matches(\"\" + \"(\")",
	 "error: '(' is not a regular expression"},
	{"\"a\".find(\"\" + \"a)\")", "error"},
	{"\"a\".matches(\"\" + \"(*UTF8)a\")", "error"},
	{"\"a\".matches(\"\" + \"\\\\8\")", "error"},
	{"\"a\".matches(\"\" + \"(?=a)\")", "error"},
	{"\"a\".matches(\"\" + \"(?<=a)\")", "error"},
	{"\"a\".matches(\"\" + \"a++\")", "error"},
	{"\"a\".matches(\"\" + \"a{1001}\")", "error"},
	{"\"a\".matches(\"\" + \"(a{30}){40}\")", "error"},
	{"\"a\".matches(\"\" + \"a{3,2}\")", "error"},
	{"\"a\".matches(\"\" + \"[b-a]\")", "error"},
	{"\"a\".matches(\"\" + \"[[:foo:]]\")", "error"},
	{"\"a\".matches(\"\" + \"[a\")", "error"},
	{"\"a\".matches(\"\" + \"a\\\\\")", "error"},
	{"\"a\".matches(\"\" + \"\\\\C\")", "error"},
	{"\"a\".matches(\"\" + \"\\\\pX\")", "error"},
	{"\"a\".matches(\"\" + \"\\\\x{110000}\")", "error"},
	{"\"a\".matches(\"\" + \"(?i-)a\")", "error"},
	{"\"a\".matches(\"\" + \"|*\")", "error"},
};

/* Calls that would need much time or memory are stopped. */
static const struct expression hostile[] = {
	{"(\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" + \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" +\n"
	 "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" + \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" +\n"
	 "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\").matches('(a+)+$')",
	 "error: regular expression `(a+)+$`: match limit exceeded"},
	{"[lists.range(2000).map(x, 'aaaaaaaaaa').join()]"
	 ".map(s, s.replace('', s)).size()",
	 "error: replace: the result is larger than 4194304 bytes"},
	{"lists.range(1000000)",
	 "error: operation cancelled: actual cost limit exceeded"},
	{"lists.range(1000001)",
	 "error: lists.range: size 1000001 exceeds maximum allowed (1000000)"},
	{"lists.range(800).distinct()",
	 "error: operation cancelled: actual cost limit exceeded"},
};

static void test_strings(void **state)
{
	(void)state;
	check_expressions(strings, ARRAY_SIZE(strings));
}

static void test_format(void **state)
{
	(void)state;
	check_expressions(format, ARRAY_SIZE(format));
}

static void test_regex(void **state)
{
	(void)state;
	check_expressions(regex, ARRAY_SIZE(regex));
}

static void test_hostile(void **state)
{
	(void)state;
	check_expressions(hostile, ARRAY_SIZE(hostile));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_regex),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
