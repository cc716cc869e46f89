/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splitting files into documents: kubectl's splitter, JSON streams, texts on
 * which readers disagree, and errors with their positions.
 */
#include "yaml_reading.h"

struct pair {
	const char *text, *said;
};

/* Checks the reports of the loader; in `said`, ' replaces " in lines of
 * values. */
static void assert_said(const char *text, size_t len, const char *said)
{
	char *json = strdup(said);
	bool value = false;

	for (char *c = json; *c; c++) {
		if (c == json || c[-1] == '\n')
			value = *c >= '0' && *c <= '9';
		if (value && *c == '\'')
			*c = '"';
	}
	assert_reads_bytes(text, len, json);
	free(json);
}

static void assert_pairs(const struct pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_said(pairs[i].text, strlen(pairs[i].text),
			    pairs[i].said);
}

#define REFUSES                                                                \
	" kubectl rejects the file here: only a comment may follow ---\n"
#define DROPS	   " kubectl drops the text from here to the next ---\n"
#define DIRECTIVES " kubectl rejects %YAML and %TAG lines\n"

static const struct pair splits[] = {
	{"", ""},
	{"\n\n", ""},
	{"  \n \n", ""},
	{"# only a comment\n", ""},
	{"---\n", ""},
	{"---\n---\n---\n", ""},
	{"---\n# c\n---\n", ""},
	{"~\n", ""},
	{"null\n---\na\n", "1: 'a'\n"},
	{"a\n", "1: 'a'\n"},
	{"a", "1: 'a'\n"},
	{"a\n---\nb\n", "1: 'a'\n2: 'b'\n"},
	{"a\n---\nb", "1: 'a'\n2: 'b'\n"},
	{"a\n---", "1: 'a'\n"},
	{"---\na\n---\nb\n", "1: 'a'\n2: 'b'\n"},
	{"---\n---\na\n", "1: 'a'\n"},
	{"a\n---\n\n---\n# c\n---\n---\nb\n", "1: 'a'\n2: 'b'\n"},
	{"a\n---   \nb\n", "1: 'a'\n2: 'b'\n"},
	{"a\n--- # c\nb\n", "1: 'a'\n2: 'b'\n"},
	{"a\n---\t# c\nb\n", "1: 'a'\n2: 'b'\n"},
	{"a\n---#c\nb\n", "1: 'a'\n2: 'b'\n"},
	/* White space is defined by Go's unicode.IsSpace. */
	{"a\n---\xe2\x80\xa8\xc2\xa0\xc2\x85\nb\n", "1: 'a'\n2: 'b'\n"},
	{"a\n---\xe3\x80\x80# c\nb\n", "1: 'a'\n2: 'b'\n"},
	{"a\n---\xe2\x80\x8b\nb\n",
	 "disagree 2:1-3:1" REFUSES "1: 'a'\n2: 'b'\n"},
	{"a\r\n---\r\nb\r\n", "1: 'a'\n2: 'b'\n"},
	{"a\r\n--- # c\r\nb", "1: 'a'\n2: 'b'\n"},
	{"\xef\xbb\xbf---\na\n", "1: 'a'\n"},
	{"a\n---\n\xef\xbb\xbf"
	 "b: c\n",
	 "1: 'a'\n2: {'b':'c'}\n"},
	{"a: |\n  ---\nb: c\n", "1: {'a':'---\\n','b':'c'}\n"},
	{"a: \"x\n ---\n y\"\n", "1: {'a':'x --- y'}\n"},
	/* A line of --- ends the document even inside a value, because kubectl
	 * sees only lines. */
	{"a: \"x\n---\ny\"\n",
	 "error 2:1-1 found unexpected end of stream while scanning a quoted "
	 "scalar that starts on line 1\n1: -\n"
	 "2: 'y\\''\n"},
	{" ---\n", "1: '---'\n"},
	{"- --- a\n", "1: ['--- a']\n"},
};

static void documents_are_split_as_kubectl_does(void **state)
{
	assert_pairs(splits, ARRAY_SIZE(splits));
}

static const struct pair disagreements[] = {
	{"--- a\n", "disagree 1:1-2:1" REFUSES "1: 'a'\n"},
	{"a\n--- {b: 1}\n---\nc\n",
	 "1: 'a'\ndisagree 2:1-3:1" REFUSES "2: {'b':1}\n3: 'c'\n"},
	{"a\n--- |\n x\n", "1: 'a'\ndisagree 2:1-3:1" REFUSES "2: 'x\\n'\n"},
	{"a\n--- !!str 1\n", "1: 'a'\ndisagree 2:1-3:1" REFUSES "2: '1'\n"},
	{"a\n---b\nc\n", "disagree 2:1-3:1" REFUSES "1: 'a'\n2: 'c'\n"},
	{"----\na\n", "disagree 1:1-2:1" REFUSES "1: 'a'\n"},
	{"a\n--------\nb\n", "disagree 2:1-3:1" REFUSES "1: 'a'\n2: 'b'\n"},
	{"a\n...\n", "1: 'a'\n"},
	{"a\n...\n---\nb\n", "1: 'a'\n2: 'b'\n"},
	{"a\n...\n# c\n", "1: 'a'\n"},
	{"a\n... # c\n---\nb\n", "1: 'a'\n2: 'b'\n"},
	{"a\n...\nb\n", "disagree 3:1-4:1" DROPS "1: 'a'\n2: 'b'\n"},
	{"a\n...\nb\n---\nc\n",
	 "disagree 3:1-4:1" DROPS "1: 'a'\n2: 'b'\n3: 'c'\n"},
	{"a\n...\n\nb\n...\nc\n...\n---\nd\n",
	 "disagree 4:1-8:1" DROPS "1: 'a'\n2: 'b'\n3: 'c'\n4: 'd'\n"},
	{"a: |\n  ...\n", "1: {'a':'...\\n'}\n"},
	{"...\n", "error 1:1-2 expected a value\n1: -\n"},
	{"a\r---\rb\n", "disagree 1:7-2:1" DROPS "1: 'a'\n2: 'b'\n"},
	{"[a] b\n", "disagree 1:5-2:1" DROPS "1: ['a']\n"},
	{"\"a\" b\n---\nc\n", "disagree 1:5-2:1" DROPS "1: 'a'\n2: 'c'\n"},
	{"%YAML 1.1\n---\na\n", "disagree 1:1-2:1" DIRECTIVES "1: 'a'\n"},
	{"# c\n%TAG !e! tag:e,2000:\n---\n!e!x a\n---\nb\n",
	 "disagree 1:1-3:1" DIRECTIVES "1: 'a'\n2: 'b'\n"},
	{"a\n---\n%YAML 1.1\n---\nb\n",
	 "1: 'a'\ndisagree 3:1-4:1" DIRECTIVES "2: 'b'\n"},
	{"a\n...\n%YAML 1.1\n---\nb\n", "1: 'a'\n2: 'b'\n"},
	{"%YAML 1.1\n", "error 2:1-1 expected a new document (---): text "
			"after the end of the value\n"
			"1: -\n"},
	{"a: [b?c]\n", "disagree 1:5-8 kubectl rejects a plain '?' inside "
		       "[ ] and { }: quote the text\n"
		       "1: {'a':['b?c']}\n"},
	{"a: b?c\n", "1: {'a':'b?c'}\n"},
	{"a: [\"b?c\"]\n", "1: {'a':['b?c']}\n"},
	{"a: \"b\\/c\"\n",
	 "disagree 1:4-10 kubectl rejects the escape \\/ in YAML: write /\n"
	 "1: {'a':'b/c'}\n"},
	{"a: \"b\\\\/c\"\n", "1: {'a':'b\\\\/c'}\n"},
	{"a: 'b\\/c'\n", "1: {'a':'b\\\\/c'}\n"},
};

static void readings_that_differ_are_reported(void **state)
{
	assert_pairs(disagreements, ARRAY_SIZE(disagreements));
}

#define NO_JSON                                                                 \
	"begins as JSON, but only YAML can read it: older kubectl rejects the " \
	"file\n"
#define SHORT                                                                  \
	"kubectl rejects the file here: too little text, or U+FFFD, after "    \
	"JSON\n"
#define AFTER_JSON                                                             \
	"kubectl rejects the file here: after two JSON values only JSON may "  \
	"follow\n"

static const struct pair streams[] = {
	{"{}", "1: {}\n"},
	{" \n{\"a\":1.50}\n", "1: {'a':1.50}\n"}, /* JSON keeps digits */
	{"{\"a\":1}{\"b\":2}", "1: {'a':1}\n2: {'b':2}\n"},
	{"{\"a\":1}\n\n{\"b\":2}\n{}\n", "1: {'a':1}\n2: {'b':2}\n3: {}\n"},
	{"{\"a\":1}\n---\n{\"b\":2.50}\n---\nc\n",
	 "1: {'a':1}\n2: {'b':2.5}\n3: 'c'\n"},
	{"{\"a\":1}\n---\n", "1: {'a':1}\n"},
	{"{\"a\":1}\nb: 2\n", "1: {'a':1}\n2: {'b':2}\n"},
	{"{\"a\":1} b: 2\n", "1: {'a':1}\n2: {'b':2}\n"},
	{"{}{}\n---\na\n",
	 "1: {}\n2: {}\ndisagree 2:1-2 " AFTER_JSON "3: 'a'\n"},
	/* After the first value any other value may follow, and null counts as
	 * a value. */
	{"{}[1]\"a\" 0 1", "1: {}\n2: [1]\n3: 'a'\n4: 0\n5: 1\n"},
	{"{}01true5", "1: {}\n2: 0\n3: 1\n4: true\n5: 5\n"},
	{"{}null a: 1\n", "1: {}\ndisagree 1:8-9 " AFTER_JSON "3: {'a':1}\n"},
	{"{}\n---\nb\n", "1: {}\n2: 'b'\n"},
	{"{}---\nb\n", "1: {}\n2: 'b'\n"},
	{"{}a\xe2\x80\xa8--- b\n---\nc\n",
	 "1: {}\ndisagree 1:9-2:1" DROPS "2: 'a'\n3: 'b'\n4: 'c'\n"},
	/* The splitter reads four bytes at a time. */
	{"{}\xe2\x80\xa8", "1: {}\ndisagree 1:3-4 " SHORT},
	{"{}\xef\xbb\xbf", "1: {}\ndisagree 1:3-4 " SHORT},
	{"{}\xe2\x80\xa8\n", "1: {}\ndisagree 1:4-2:1 " SHORT},
	{"{}\xe2\x80\xa8\n# c\n", "1: {}\n"},
	{"{}\n\xef\xbb\xbf\n", "1: {}\n"},
	{"{} b\n", "1: {}\ndisagree 1:3-4 " SHORT "2: 'b'\n"},
	{"{} bcd\n", "1: {}\n2: 'bcd'\n"},
	{"{}\xef\xbf\xbd: 1\n",
	 "1: {}\ndisagree 1:3-4 " SHORT "2: {'\xef\xbf\xbd':1}\n"},
	{"\xc2\xa0{\"a\":1}\n", "1: {'a':1}\n"},
	/* kubectl reads it as JSON, and then rejects the object. */
	{"{\"a\":1e999}\n", "error 1:6-11 number is too large\n1: -\n"},
	{"{}[]\"\xff\"\n",
	 "1: {}\n2: []\nerror 1:6-7 invalid UTF-8 in a string\n3: -\n"},
	{"{} 1e999 \n", "1: {}\nerror 1:4-9 number is too large\n2: -\n"},
	{"{a: 1}\n", "disagree 1:1-2 " NO_JSON "1: {'a':1}\n"},
	{"\n  {a: 1}\n---\nb\n",
	 "disagree 2:3-4 " NO_JSON "1: {'a':1}\n2: 'b'\n"},
	{"{\"a\":1}\n{b: 2}\n",
	 "1: {'a':1}\ndisagree 2:1-2 " NO_JSON "2: {'b':2}\n"},
	{"{\"a\":1,}\n", "disagree 1:1-2 " NO_JSON "1: {'a':1}\n"},
	{"---\n{a: 1}\n", "1: {'a':1}\n"},
	{"# c\n{\"a\":1}{\"b\":2}\n", "disagree 2:8-3:1" DROPS "1: {'a':1}\n"},
	{"[1]\n", "1: [1]\n"},
	{"[1.50]\n", "1: [1.5]\n"},
	{"{\"a\":1", "error 1:1-2 object is not closed before the text ends\n"
		     "1: -\n"},
	{"{\"a\" 1}\n---\nb\n",
	 "error 1:6-7 expected ':' after a key\n1: -\n2: 'b'\n"},
	{"{a: 1\n", "error 2:1-1 did not find expected ',' or '}' while "
		    "parsing a flow mapping that starts on line 1\n1: -\n"},
	{"{{ .Values.a }}\n", "error 1:2-3 a map cannot be a key\n1: -\n"},
	{"{}{}{\"a\":}",
	 "1: {}\n2: {}\nerror 1:10-11 expected a value\n3: -\n"},
	{"{\"a\":1,\"a\":2}\n", "duplicate 1:8-11 key is given twice: the last "
				"value counts\n1: {'a':2}\n"},
};

static void values_of_json_may_follow_each_other(void **state)
{
	assert_pairs(streams, ARRAY_SIZE(streams));
}

static const struct pair errors[] = {
	{"a: b: c\n", "error 1:5-6 ':' is not allowed here: quote the text "
		      "before it, or check the indentation\n1: -\n"},
	{"a: 1\n b: 2\n", "error 2:3-4 ':' is not allowed here: quote the text "
			  "before it, or check the indentation\n1: -\n"},
	{"a:\n  b: 1\n c: 2\n", "error 3:2-3 expected a key at the indentation "
				"of this map, which starts on line 1\n1: -\n"},
	{"a:\n  - b\n c\n", "error 3:2-3 expected a key at the indentation of "
			    "this map, which starts on line 1\n1: -\n"},
	{"- a\nb: c\n", "error 2:1-2 expected '-' at the indentation of this "
			"list, which starts on line 1\n1: -\n"},
	{"a: - b\n",
	 "error 1:4-5 '-' is not allowed here: check the indentation\n1: -\n"},
	{"a:\n\t- b\n", "error 2:1-2 a tab cannot indent or start a value: use "
			"spaces\n1: -\n"},
	{"a:\n\tb: c\n",
	 "error 2:1-2 a tab cannot indent or start a value: use "
	 "spaces\n1: -\n"},
	{"a: @b\n", "error 1:4-5 '@' cannot start a value: quote it\n1: -\n"},
	{"a: `b`\n", "error 1:4-5 '`' cannot start a value: quote it\n1: -\n"},
	{"a: %b\n", "error 1:4-5 '%' cannot start a value: quote it\n1: -\n"},
	{"a: [1,\n  2\nb: 3\n",
	 "error 3:2-3 did not find expected ',' or ']' while parsing a flow "
	 "sequence that starts on line 1\n1: -\n"},
	{"a: [1\n",
	 "error 2:1-1 did not find expected ',' or ']' while parsing a flow "
	 "sequence that starts on line 1\n1: -\n"},
	{"a: {b: 1]\n",
	 "error 1:9-10 did not find expected ',' or '}' while parsing a flow "
	 "mapping that starts on line 1\n1: -\n"},
	{"a: \"b\n",
	 "error 2:1-1 found unexpected end of stream while scanning "
	 "a quoted scalar that starts on line 1\n1: -\n"},
	{"a: \"\\q\"\n", "error 1:5-6 found unknown escape character while "
			 "parsing a quoted scalar that starts on line 1\n"
			 "1: -\n"},
	{"a\nb: c\n", "error 2:2-3 ':' is not allowed here: quote the text "
		      "before it, or check the indentation\n1: -\n"},
	{"a: b\nc\n", "error 3:1-1 no ':' after this key, which starts on line "
		      "2\n1: -\n"},
	{"a: *\n", "error 1:5-2:1 '*' starts an alias: quote the text, or name "
		   "an anchor\n1: -\n"},
	{"a: &\n", "error 1:5-2:1 '&' starts an anchor: quote the text, or "
		   "name the anchor\n1: -\n"},
	{"a: !x!y z\n",
	 "error 1:4-5 this tag prefix has no %TAG directive\n1: -\n"},
	{"\xc3\xa9\xc3\xa9: {\n", "error 2:1-1 expected a value\n1: -\n"},
	{"\xc3\xa9: '\xc3\xbc' x\n", "error 1:8-9 expected a key at the "
				     "indentation of this map\n1: -\n"},
	{"\xc3\xa9: 1\r\n\xc3\xa9: @\r\n",
	 "error 2:4-5 '@' cannot start a value: quote it\n1: -\n"},
	{"a: !!int x\n", "error 1:10-11 a string does not fit the tag !!int\n"
			 "1: -\n"},
	{"a: !!binary x\n",
	 "error 1:13-14 the value of !!binary is not base64\n1: -\n"},
	{"a: {~: 1}\n", "error 1:5-6 null cannot be a key\n1: -\n"},
	{"a:\n- b: .inf\n", "error 2:6-10 JSON, and therefore Kubernetes, has "
			    "no infinity and no NaN\n"
			    "1: -\n"},
	{"a: \x01\n", "error 1:4-5 control character U+0001 is not allowed in "
		      "YAML\n1: -\n"},
	{"a: \x7f\n", "error 1:4-5 control character U+007F is not allowed in "
		      "YAML\n1: -\n"},
	{"\xc3\xa9: \xff\n", "error 1:4-5 invalid UTF-8 (byte 0xff)\n1: -\n"},
	{"# \xc3\n", "error 1:3-4 invalid UTF-8 (byte 0xc3)\n1: -\n"},
	{"a: \xed\xa0\x80\n", "error 1:4-5 invalid UTF-8 (byte 0xed)\n1: -\n"},
	{"a: 1\n\xef\xbb\xbf"
	 "b: 2\n",
	 "error 2:1-2 byte order mark inside the text: remove it\n1: -\n"},
	{"a\xe2\x80\xa8\xef\xbb\xbf"
	 "b\n",
	 "error 1:3-4 byte order mark inside the text: remove it\n1: -\n"},
	/* Byte order marks of the file and of the document, and a third one. */
	{"\xef\xbb\xbf\xef\xbb\xbf\xef\xbb\xbf"
	 "b\n",
	 "error 1:2-3 byte order mark inside the text: remove it\n1: -\n"},
	{"# \xef\xbf\xbe\n", "error 1:3-4 control character U+FFFE is not "
			     "allowed in YAML\n1: -\n"},
	{"# \xc2\x80\n", "error 1:3-4 control character U+0080 is not allowed "
			 "in YAML\n1: -\n"},
	{"a: x\r\r\nb: x\r\r\nc: \x01\n",
	 "error 3:4-5 control character U+0001 is not allowed in YAML\n1: -\n"},
	{"a: x\r\r\nb: x\r\r\n\xc3\xa9: @\n",
	 "error 3:4-5 '@' cannot start a value: quote it\n1: -\n"},
	/* One document's error does not affect the others. */
	{"a: [\n---\nb: 1\n---\nc: ]\n",
	 "error 2:1-1 expected a value\n1: -\n2: {'b':1}\n"
	 "error 5:4-5 expected a value\n3: -\n"},
};

static void errors_have_a_position_and_lose_nothing_else(void **state)
{
	assert_pairs(errors, ARRAY_SIZE(errors));
	assert_said(SIZED("a: \0\n"), "error 1:4-5 NUL byte: this is not text\n"
				      "1: -\n");
	assert_said(SIZED("a\n---\n\0\n---\nb\n"),
		    "1: 'a'\n"
		    "error 3:1-2 NUL byte: this is not text\n"
		    "2: -\n"
		    "3: 'b'\n");
}

static void documents_know_their_bytes(void **state)
{
	struct reading reading;
	struct doc doc;

	reading_init(&reading, SIZED("a\n---\n# c\nb\n---\n"));
	assert_int_equal(loader_next(&reading.loader, &doc), 1);
	assert_int_equal(doc.start, 0);
	assert_int_equal(doc.end, 2);
	assert_false(doc.json);
	assert_int_equal(loader_next(&reading.loader, &doc), 1);
	assert_int_equal(doc.start, 6);
	assert_int_equal(doc.end, 12);
	assert_int_equal(doc.root->start, 10);
	assert_int_equal(loader_next(&reading.loader, &doc), 0);
	assert_int_equal(loader_next(&reading.loader, &doc), 0);
	reading_release(&reading);

	reading_init(&reading, SIZED(" {} {}"));
	assert_int_equal(loader_next(&reading.loader, &doc), 1);
	assert_int_equal(doc.start, 1);
	assert_int_equal(doc.end, 3);
	assert_true(doc.json);
	reading_release(&reading);
}

/* YAML in a string: a part of a source is read by itself. */
static void yaml_in_a_string_is_read_on_its_own(void **state)
{
	static const char text[] = "x: [\na: \xc3\xa9\nb: 1\n]]]";
	struct reading reading;
	const struct node *root;

	reading_init(&reading, text, strlen(text));
	root = yaml_read(&reading.loader, 5, 15);
	assert_non_null(root);
	assert_int_equal(root->len, 2);
	assert_int_equal(root->last->start, 14);
	assert_int_equal(root->last->end, 15);
	assert_null(yaml_read(&reading.loader, 0, 5));
	assert_memory_equal(reading.said.data, "error 2:1", 9);
	assert_null(yaml_read(&reading.loader, 3, 3));
	reading_release(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(documents_are_split_as_kubectl_does),
		cmocka_unit_test(readings_that_differ_are_reported),
		cmocka_unit_test(values_of_json_may_follow_each_other),
		cmocka_unit_test(errors_have_a_position_and_lose_nothing_else),
		cmocka_unit_test(documents_know_their_bytes),
		cmocka_unit_test(yaml_in_a_string_is_read_on_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
