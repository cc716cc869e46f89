/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalars: the meaning of a plain text, a tag and a key. The expected values
 * are those of sigs.k8s.io/yaml 1.6.0 (tests/check/yaml.sh compares at large).
 */
#include "yaml_reading.h"

static const struct {
	const char *text, *json;
} plain[] = {
	/* clang-format off */
	{"", "null"},
	{"~", "null"},
	{"null", "null"},
	{"Null", "null"},
	{"NULL", "null"},
	{"nULL", "\"nULL\""},
	{"NuLL", "\"NuLL\""},
	{"y", "true"},
	{"Y", "true"},
	{"yes", "true"},
	{"Yes", "true"},
	{"YES", "true"},
	{"yEs", "\"yEs\""},
	{"true", "true"},
	{"True", "true"},
	{"TRUE", "true"},
	{"tRUE", "\"tRUE\""},
	{"on", "true"},
	{"On", "true"},
	{"ON", "true"},
	{"oN", "\"oN\""},
	{"n", "false"},
	{"N", "false"},
	{"no", "false"},
	{"No", "false"},
	{"NO", "false"},
	{"nO", "\"nO\""},
	{"false", "false"},
	{"False", "false"},
	{"FALSE", "false"},
	{"fALSE", "\"fALSE\""},
	{"off", "false"},
	{"Off", "false"},
	{"OFF", "false"},
	{"oFF", "\"oFF\""},
	{"t", "\"t\""},
	{"f", "\"f\""},
	{"T", "\"T\""},
	{"F", "\"F\""},
	{"yes1", "\"yes1\""},
	{"nope", "\"nope\""},
	{"offset", "\"offset\""},
	{"none", "\"none\""},
	{"0", "0"},
	{"-0", "0"},
	{"+0", "0"},
	{"1", "1"},
	{"-1", "-1"},
	{"+1", "1"},
	{"00", "0"},
	{"007", "7"},
	{"0777", "511"},
	{"08", "8"},
	{"09", "9"},
	{"0o17", "15"},
	{"0O17", "15"},
	{"0o8", "\"0o8\""},
	{"0x1F", "31"},
	{"0X1f", "31"},
	{"0xfF", "255"},
	{"0x", "\"0x\""},
	{"0xg", "\"0xg\""},
	{"-0x10", "-16"},
	{"+0x10", "16"},
	{"0b101", "5"},
	{"0B101", "5"},
	{"0b2", "\"0b2\""},
	{"-0b11", "-3"},
	{"+0b11", "3"},
	{"0b-1", "-1"},
	{"0b+1", "1"},
	{"0b--1", "\"0b--1\""},
	{"-0b-1", "\"-0b-1\""},
	{"0b", "\"0b\""},
	{"0b_1", "1"},
	{"1_000", "1000"},
	{"1__0", "10"},
	{"1_", "1"},
	{"_1", "\"_1\""},
	{"-_1", "-1"},
	{"+_1", "1"},
	{"0_7", "7"},
	{"0_8", "8"},
	{"0x_1", "1"},
	{"_", "\"_\""},
	{"-_", "\"-_\""},
	{"1,000", "\"1,000\""},
	{"9223372036854775807", "9223372036854775807"},
	{"9223372036854775808", "9223372036854775808"},
	{"-9223372036854775808", "-9223372036854775808"},
	{"-9223372036854775809", "-9223372036854776000"},
	{"18446744073709551615", "18446744073709551615"},
	{"18446744073709551616", "18446744073709552000"},
	{"+18446744073709551615", "18446744073709552000"},
	{"0xffffffffffffffff", "18446744073709551615"},
	{"0x1ffffffffffffffff", "\"0x1ffffffffffffffff\""},
	{"01777777777777777777777", "18446744073709551615"},
	{"07777777777777777777777", "7.777777777777777e+21"},
	{"100000000000000000000", "100000000000000000000"},
	{"1.", "1"},
	{"1.0", "1"},
	{"1.5", "1.5"},
	{"-1.5", "-1.5"},
	{"+1.5", "1.5"},
	{"2.50", "2.5"},
	{".5", "0.5"},
	{"-.5", "-0.5"},
	{"+.5", "0.5"},
	{".", "\".\""},
	{"..", "\"..\""},
	{".5_0", "0.5"},
	{"._5", "\"._5\""},
	{".5_", "\".5_\""},
	{"1_0.5", "10.5"},
	{"1e3", "1000"},
	{"1E3", "1000"},
	{"1e+3", "1000"},
	{"1e-3", "0.001"},
	{"1e", "\"1e\""},
	{"1e+", "\"1e+\""},
	{"1.e3", "1000"},
	{".5e1", "5"},
	{"1.5e", "\"1.5e\""},
	{"1e400", "\"1e400\""},
	{"-1e400", "\"-1e400\""},
	{".5e400", "\".5e400\""},
	{"1e-400", "0"},
	{"5e-324", "5e-324"},
	{"1e20", "100000000000000000000"},
	{"1e21", "1e+21"},
	{"1e22", "1e+22"},
	{"123456789012345678", "123456789012345678"},
	{"0.000001", "0.000001"},
	{"0.0000001", "1e-7"},
	{"1e-10", "1e-10"},
	{"0.1", "0.1"},
	{"0.30000000000000004", "0.30000000000000004"},
	{"100000000000000000000.5", "100000000000000000000"},
	{"5.684341886080802e-14", "5.684341886080802e-14"},
	{"1.7976931348623157e308", "1.7976931348623157e+308"},
	{"08.5", "8.5"},
	{"0x1p-2", "\"0x1p-2\""},
	{"0x1.8", "\"0x1.8\""},
	{"1-2", "\"1-2\""},
	{"1+1", "\"1+1\""},
	{"--1", "\"--1\""},
	{"+-1", "\"+-1\""},
	{"1e3x", "\"1e3x\""},
	{"1 2", "\"1 2\""},
	{"Infinity", "\"Infinity\""},
	{"NaN", "\"NaN\""},
	{"inf", "\"inf\""},
	{"nan", "\"nan\""},
	{".iNf", "\".iNf\""},
	{".nAN", "\".nAN\""},
	{"-.", "\"-.\""},
	{"+", "\"+\""},
	{"2001-01-01", "\"2001-01-01\""},
	{"2001-01-01T00:00:00Z", "\"2001-01-01T00:00:00Z\""},
	{"12:30:45", "\"12:30:45\""},
	{"1:30", "\"1:30\""},
	{"190:20:30", "\"190:20:30\""},
	{"10.0.0.1", "\"10.0.0.1\""},
	{"1.2.3", "\"1.2.3\""},
	{"500Mi", "\"500Mi\""},
	{"1Gi", "\"1Gi\""},
	{"100m", "\"100m\""},
	{"1k", "\"1k\""},
	{"v1", "\"v1\""},
	{"0.10", "0.1"},
	{"<<", "\"<<\""},
	{"=", "\"=\""},
	{"a", "\"a\""},
	{"nvidia.com/gpu", "\"nvidia.com/gpu\""},
	{"$HOME", "\"$HOME\""},
	{"é", "\"é\""},
	{"日本", "\"日本\""},
	{"a#b", "\"a#b\""},
	{"a:b", "\"a:b\""},
	{"/bin/sh", "\"/bin/sh\""},
	{"-c", "\"-c\""},
	/* clang-format on */
};

static void plain_scalars_have_their_type(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		char text[128], said[128];

		snprintf(text, sizeof(text), "k: %s\n", plain[i].text);
		snprintf(said, sizeof(said), "1: {\"k\":%s}\n", plain[i].json);
		assert_reads(text, said);
		/* Some texts cannot be tested in flow context and at the end of
		 * a file. */
		if (strpbrk(plain[i].text, ",[]{}?"))
			continue;
		snprintf(text, sizeof(text), "[x, %s]", plain[i].text);
		snprintf(said, sizeof(said), "1: [\"x\",%s]\n", plain[i].json);
		if (*plain[i].text && plain[i].text[0] != '-')
			assert_reads(text, said);
	}
}

static void quoted_scalars_are_strings(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		char text[128], said[128];

		if (strpbrk(plain[i].text, "\"'\\"))
			continue;
		snprintf(said, sizeof(said), "1: {\"k\":\"%s\"}\n",
			 plain[i].text);
		snprintf(text, sizeof(text), "k: \"%s\"\n", plain[i].text);
		assert_reads(text, said);
		snprintf(text, sizeof(text), "k: '%s'\n", plain[i].text);
		assert_reads(text, said);
		snprintf(text, sizeof(text), "k: !!str '%s'\n", plain[i].text);
		assert_reads(text, said);
		if (!*plain[i].text)
			continue;
		snprintf(text, sizeof(text), "k: |-\n  %s\n", plain[i].text);
		assert_reads(text, said);
	}
}

/* Types as a JSON decoder returns them. */
static const struct {
	const char *text;
	enum node_type type;
} types[] = {
	{"1", NODE_INT},
	{"1.0", NODE_INT},
	{"1e3", NODE_INT},
	{"0x10", NODE_INT},
	{"-0", NODE_INT},
	{"9223372036854775807", NODE_INT},
	{"-9223372036854775808", NODE_INT},
	{"9223372036854775808", NODE_FLOAT},
	{"18446744073709551615", NODE_FLOAT},
	{"1e19", NODE_FLOAT},
	{"1.5", NODE_FLOAT},
	{"1e22", NODE_FLOAT},
	{"1e-7", NODE_FLOAT},
	{"1e400", NODE_STRING},
	{"on", NODE_BOOL},
	{"~", NODE_NULL},
	{"2001-01-01", NODE_STRING},
	{"[]", NODE_SEQ},
	{"{}", NODE_MAP},
};

static void types_are_those_of_yaml_1_1(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct reading reading;
		char text[64];
		const struct node *root;

		snprintf(text, sizeof(text), "- %s\n", types[i].text);
		root = read_one(&reading, text);
		if (root->first->type != types[i].type)
			fail_msg("type of %s", types[i].text);
		reading_release(&reading);
	}
}

static const struct {
	const char *text, *json; /* NULL: refused */
} tagged[] = {
	{"!!str 12", "\"12\""},
	{"!!str", "\"\""},
	{"!!str ~", "\"~\""},
	{"!!str true", "\"true\""},
	{"!!str [1]", "[1]"},
	{"!!int 12", "12"},
	{"!!int \"12\"", "12"},
	{"!!int 0x1F", "31"},
	{"!!int 18446744073709551615", "18446744073709551615"},
	{"!!int 1.0", NULL},
	{"!!int a", NULL},
	{"!!int", NULL},
	{"!!int true", NULL},
	{"!!float 1", "1"},
	{"!!float 1.5", "1.5"},
	{"!!float \"2\"", "2"},
	{"!!float 9007199254740993", "9007199254740992"},
	{"!!float 18446744073709551615", NULL},
	{"!!float a", NULL},
	{"!!float .inf", NULL},
	{"!!bool yes", "true"},
	{"!!bool \"off\"", "false"},
	{"!!bool 1", NULL},
	{"!!bool maybe", NULL},
	{"!!bool \"true\\0\"", NULL},
	{"!!null", "null"},
	{"!!null ~", "null"},
	{"!!null \"\"", "null"},
	{"!!null 0", NULL},
	{"!!null nothing", NULL},
	{"!!timestamp 2001-01-01", "\"2001-01-01\""},
	{"!!timestamp '2001-1-2'", "\"2001-1-2\""},
	{"!!timestamp 2001-01-01T1:02:03.5Z", "\"2001-01-01T1:02:03.5Z\""},
	{"!!timestamp 2001-01-01t01:02:03+01:00",
	 "\"2001-01-01t01:02:03+01:00\""},
	{"!!timestamp 2001-01-01 01:02:03", "\"2001-01-01 01:02:03\""},
	{"!!timestamp 2004-02-29", "\"2004-02-29\""},
	{"!!timestamp 2001-02-29", NULL},
	{"!!timestamp 2001-13-01", NULL},
	{"!!timestamp 2001-01-01T01:02:03", NULL},
	{"!!timestamp 2001-01-01 01:02:03Z", NULL},
	{"!!timestamp 01-01-2001", NULL},
	{"!!timestamp now", NULL},
	{"!!timestamp 1", NULL},
	{"!!binary aGk=", "\"hi\""},
	{"!!binary \"aGk\\n=\\n\"", "\"hi\""},
	{"!!binary ''", "\"\""},
	{"!!binary /w==", "\"\xef\xbf\xbd\""},
	{"!!binary aGk", NULL},
	{"!!binary a", NULL},
	{"!!binary aGk=x", NULL},
	{"!!binary \"aGk=\\0\"", NULL},
	{"!!binary \"\\0\"", NULL},
	{"!!binary ====", NULL},
	{"!!binary $$$$", NULL},
	{"!!merge x", "\"x\""},
	{"!!set {a, b}", "{\"a\":null,\"b\":null}"},
	{"!!omap [a: 1]", "[{\"a\":1}]"},
	{"!foo 12", "\"12\""},
	{"!foo", "\"\""},
	{"! 12", "\"12\""},
	{"! \"12\"", "\"12\""},
	{"!<tag:yaml.org,2002:str> 12", "\"12\""},
	{"!<tag:yaml.org,2002:int> '12'", "12"},
	{"!<!foo> 12", "\"12\""},
	{"&a !!str 12", "\"12\""},
	{"!!str &a 12", "\"12\""},
	{"!!map []", "[]"},
	{"!e!x 1", NULL},
	{".inf", NULL},
	{"-.INF", NULL},
	{"+.Inf", NULL},
	{".nan", NULL},
	{".NaN", NULL},
};

static void tags_set_the_type(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(tagged); i++) {
		struct reading reading;
		char text[128], said[128];
		const struct node *root;

		snprintf(text, sizeof(text), "- %s\n", tagged[i].text);
		if (tagged[i].json) {
			snprintf(said, sizeof(said), "1: [%s]\n",
				 tagged[i].json);
			assert_reads(text, said);
			continue;
		}
		root = read_one(&reading, text);
		if (root)
			fail_msg("%s is read", tagged[i].text);
		assert_memory_equal(reading.said.data, "error 1:", 8);
		reading_release(&reading);
	}
}

static const struct {
	const char *key, *name; /* NULL: refused */
} keys[] = {
	{"a", "a"},
	{"1", "1"},
	{"-1", "-1"},
	{"0x10", "16"},
	{"010", "8"},
	{"1_0", "10"},
	{"9223372036854775807", "9223372036854775807"},
	{"9223372036854775808", NULL},
	{"18446744073709551616", "1.8446744e+19"},
	{"true", "true"},
	{"on", "true"},
	{"y", "true"},
	{"No", "false"},
	{"off", "false"},
	{"1.5", "1.5"},
	{"1.0", "1"},
	{".5", "0.5"},
	{"0.1", "0.1"},
	{"123456.7", "123456.7"},
	{"999999.0", "999999"},
	{"1e6", "1e+06"},
	{"1234567.0", "1.234567e+06"},
	{"16777217.0", "1.6777216e+07"},
	{"0.0001", "0.0001"},
	{"0.00001", "1e-05"},
	{"1e38", "1e+38"},
	{"1e39", ".inf"},
	{"-1e39", "-.inf"},
	{"1e-50", "0"},
	{"-1e-50", "-0"},
	{"3.4028235e38", "3.4028235e+38"},
	{".inf", ".inf"},
	{"-.inf", "-.inf"},
	{".nan", ".nan"},
	{"2001-01-01", "2001-01-01"},
	{"'1'", "1"},
	{"\"on\"", "on"},
	{"!!str 1", "1"},
	{"!!int '1'", "1"},
	{"!!float 1", "1"},
	{"!!binary aGk=", "hi"},
	{"!!binary x", NULL},
	{"! on", "on"},
	{"\"<<\"", "<<"},
	{"''", ""},
	{"~", NULL},
	{"null", NULL},
	{"!!null ''", NULL},
	{"{a: b}", NULL},
	{"[a]", NULL},
	{"{}", NULL},
	{"{{ .Values.name }}", NULL},
};

static void keys_are_strings(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		struct reading reading;
		char text[128];
		const struct node *root;

		snprintf(text, sizeof(text), "- %s: 1\n", keys[i].key);
		root = read_one(&reading, text);
		if (!root != !keys[i].name)
			fail_msg("key %s", keys[i].key);
		if (root)
			assert_string_equal(root->first->first->key,
					    keys[i].name);
		else
			assert_memory_equal(reading.said.data, "error 1:", 8);
		reading_release(&reading);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_scalars_have_their_type),
		cmocka_unit_test(quoted_scalars_are_strings),
		cmocka_unit_test(types_are_those_of_yaml_1_1),
		cmocka_unit_test(tags_set_the_type),
		cmocka_unit_test(keys_are_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
