/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities: accepted texts, the canonical text, rounding, arithmetic. The
 * rows were compared with apimachinery (tests/check/quantity.sh compares many
 * more).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "kube/quantity.h"

#define MOST INT64_MAX

static struct quantity parse(const char *text)
{
	struct quantity q;

	if (!quantity_parse(text, strlen(text), &q))
		print_error("refused: '%s'\n", text);
	assert_true(quantity_parse(text, strlen(text), &q));
	return q;
}

static const struct {
	const char *text, *canonical;
	int64_t value, milli;
} accepted[] = {
	/* Zeros, also without a digit. */
	{"0", "0", 0, 0},
	{"00", "0", 0, 0},
	{"0.0", "0", 0, 0},
	{".0", "0", 0, 0},
	{"0.", "0", 0, 0},
	{".", "0", 0, 0},
	{"+", "0", 0, 0},
	{"-", "0", 0, 0},
	{"-0", "0", 0, 0},
	{"0n", "0", 0, 0},
	{"0m", "0", 0, 0},
	{"0Ki", "0", 0, 0},
	{"0Ei", "0", 0, 0},
	{"-0.0Gi", "0", 0, 0},
	{"0e9", "0", 0, 0},
	{"0e-300", "0", 0, 0},
	{"0e300", "0", 0, 0},
	{"Ki", "0", 0, 0},
	{".Ti", "0", 0, 0},
	{"m", "0", 0, 0},
	{"E", "0", 0, 0},
	{"e3", "0", 0, 0},
	{"e-9", "0", 0, 0},
	/* Signs and leading zeros. */
	{"1", "1", 1, 1000},
	{"+1", "1", 1, 1000},
	{"-1", "-1", -1, -1000},
	{"01", "1", 1, 1000},
	{"0100m", "100m", 1, 100},
	{"000000000000000000000000000000000000001", "1", 1, 1000},
	/* Decimal suffixes. */
	{"1n", "1n", 1, 1},
	{"5u", "5u", 1, 1},
	{"999u", "999u", 1, 1},
	{"1000u", "1m", 1, 1},
	{"1001u", "1001u", 1, 2},
	{"100m", "100m", 1, 100},
	{"999m", "999m", 1, 999},
	{"1000m", "1", 1, 1000},
	{"1001m", "1001m", 2, 1001},
	{"1500m", "1500m", 2, 1500},
	{"2000m", "2", 2, 2000},
	{"1k", "1k", 1000, 1000000},
	{"1M", "1M", 1000000, 1000000000},
	{"1G", "1G", 1000000000, 1000000000000},
	{"1T", "1T", 1000000000000, 1000000000000000},
	{"1P", "1P", 1000000000000000, 1000000000000000000},
	{"1E", "1E", 1000000000000000000, MOST},
	{"9E", "9E", 9000000000000000000, MOST},
	{"1000", "1k", 1000, 1000000},
	{"1001", "1001", 1001, 1001000},
	{"10000", "10k", 10000, 10000000},
	{"100000", "100k", 100000, 100000000},
	{"1000k", "1M", 1000000, 1000000000},
	{"1000000000000", "1T", 1000000000000, 1000000000000000},
	/* Binary suffixes. */
	{"1Ki", "1Ki", 1024, 1024000},
	{"1Mi", "1Mi", 1048576, 1048576000},
	{"1Gi", "1Gi", 1073741824, 1073741824000},
	{"1Ti", "1Ti", 1099511627776, 1099511627776000},
	{"1Pi", "1Pi", 1125899906842624, 1125899906842624000},
	{"1Ei", "1Ei", 1152921504606846976, MOST},
	{"7Ei", "7Ei", 8070450532247928832, MOST},
	{"1024Ki", "1Mi", 1048576, 1048576000},
	{"1025Ki", "1025Ki", 1049600, 1049600000},
	{"1536Mi", "1536Mi", 1610612736, 1610612736000},
	{"1024Mi", "1Gi", 1073741824, 1073741824000},
	{"2048Gi", "2Ti", 2199023255552, 2199023255552000},
	{"1.5Gi", "1536Mi", 1610612736, 1610612736000},
	{".5Gi", "512Mi", 536870912, 536870912000},
	{"0.5Ki", "512", 512, 512000},
	{"0.001Ki", "1024m", 2, 1024},
	{"0.0001Ki", "102400u", 1, 103},
	{"1.1Ki", "1126400m", 1127, 1126400},
	{"1.Gi", "1Gi", 1073741824, 1073741824000},
	{"-1Ki", "-1Ki", -1024, -1024000},
	{"-0.5Ki", "-512", -512, -512000},
	/* Dots. */
	{"1.", "1", 1, 1000},
	{"1.0", "1", 1, 1000},
	{".5", "500m", 1, 500},
	{"0.5", "500m", 1, 500},
	{"1.5", "1500m", 2, 1500},
	{"1.50", "1500m", 2, 1500},
	{"1.500", "1500m", 2, 1500},
	{".001", "1m", 1, 1},
	{"0.0001", "100u", 1, 1},
	{"12.5k", "12500", 12500, 12500000},
	{"1.G", "1G", 1000000000, 1000000000000},
	{"0.1G", "100M", 100000000, 100000000000},
	{"1.5G", "1500M", 1500000000, 1500000000000},
	{"-1.5", "-1500m", -2, -1500},
	{"-0.1", "-100m", -1, -100},
	/* Exponents keep their form. */
	{"1e0", "1", 1, 1000},
	{"1e1", "10", 10, 10000},
	{"1e2", "100", 100, 100000},
	{"1e3", "1e3", 1000, 1000000},
	{"1E3", "1e3", 1000, 1000000},
	{"1e+3", "1e3", 1000, 1000000},
	{"1e03", "1e3", 1000, 1000000},
	{"1e4", "10e3", 10000, 10000000},
	{"12e6", "12e6", 12000000, 12000000000},
	{"1e-3", "1e-3", 1, 1},
	{"1E-3", "1e-3", 1, 1},
	{"1e-1", "100e-3", 1, 100},
	{"1e-9", "1e-9", 1, 1},
	{"1.5e3", "1500", 1500, 1500000},
	{"100e-2", "1", 1, 1000},
	{"1000e0", "1e3", 1000, 1000000},
	{"1e18", "1e18", 1000000000000000000, MOST},
	{"1e4294967297", "10", 10, 10000}, /* 32 bits are kept */
	/* Finer than nano rounds up, away from zero. */
	{"0.9999999999", "1", 1, 1000},
	{"0.0000000001", "1n", 1, 1},
	{"0.1n", "1n", 1, 1},
	{"1.1n", "2n", 1, 1},
	{"0.0001u", "1n", 1, 1},
	{"1e-10", "1e-9", 1, 1},
	{"1e-300", "1e-9", 1, 1},
	{"1.0000000001", "1000000001n", 2, 1001},
	{"1.0000000000000000000000000000000000", "1", 1, 1000},
	{"0.00000000000000000000000000000000000001", "1n", 1, 1},
	{"-0.0000000001", "-1n", -1, -1},
	{"-1.0000000001", "-1000000001n", -2, -1001},
	{"0.0000000001Ki", "103n", 1, 1},
	{"1.0000000000001Ki", "1024000000001n", 1025, 1024001},
	{"0.33333333333333333333333333333333333Ei",
	 "384307168202282325333333334n", 384307168202282326, MOST},
	/* values near the largest, and beyond it */
	{"9223372036854775807", "9223372036854775807", MOST, MOST},
	{"-9223372036854775807", "-9223372036854775807", -MOST, INT64_MIN},
	{"9223372036854775807Ki", "9223372036854775807", MOST, MOST},
	{"8Ei", "9223372036854775807", MOST, MOST},
	{"9Ei", "9223372036854775807", MOST, MOST},
	{"100Ei", "9223372036854775807", MOST, MOST},
	{"7.99999999999999999999999Ei", "9223372036854775807", MOST, MOST},
	{"99999999999999999999999999999999999999999999Ki",
	 "9223372036854775807", MOST, MOST},
	{"-9Ei", "-9223372036854775807", -MOST, INT64_MIN},
	/* Beyond 64 bits, where Value() has no result. */
	{"10E", "10E", MOST, MOST},
	{"-10E", "-10E", INT64_MIN, INT64_MIN},
	{"9223372036854775808", "9223372036854775808", MOST, MOST},
	{"1e27", "1e27", MOST, MOST},
};

static void quantities_are_read(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
		struct quantity q = parse(accepted[i].text);
		char text[QUANTITY_TEXT];

		quantity_text(q, text);
		if (strcmp(text, accepted[i].canonical))
			print_error("'%s'\n", accepted[i].text);
		assert_string_equal(text, accepted[i].canonical);
		assert_true(quantity_value(q) == accepted[i].value);
		assert_true(quantity_milli(q) == accepted[i].milli);
	}
}

static const char *const malformed[] = {
	"",
	"Pi",
	"Ei",
	"+Ei",
	".Ei",
	"-Pi",
	"e-10",
	".e-10",
	"1.1.M",
	"1.1.1",
	"1+1.0M",
	"1+1",
	"--1",
	"-+1",
	"+-1",
	"0.1mi",
	"0.1am",
	"aoeu",
	".5i",
	"1i",
	"-3.01i",
	"1e",
	"1e+",
	"1e-",
	"1E+",
	"1E-",
	"-3.01e-",
	"1e1.5",
	"1e3m",
	"1ee3",
	"1m3",
	"1Ki3",
	"1k-",
	"1k+1",
	"1K",
	"1g",
	"1t",
	"1p",
	"1KI",
	"1ki",
	"1MI",
	"1mi",
	"1gi",
	"1MiB",
	"8GB",
	"1Mb",
	"1kb",
	"1Zi",
	"1Z",
	"1Yi",
	"1mm",
	"1kk",
	"1Em",
	"1nn",
	" 1",
	"1 ",
	"1 Gi",
	"\t1",
	"1\n",
	"1_000",
	"1,5",
	"0x10",
	"1%",
	"a1",
	"1a",
	"$1",
	"${N}",
	"null",
	"true",
	"NaN",
	"inf",
	"Inf",
	"one",
	"1/2",
	"\"1\"",
	"1e9223372036854775808",
	"1e-9223372036854775809",
	"1e99999999999999999999",
	"\xc2\xb5",
	"1\xc2\xb5",
	"\xd9\xa1",
	("\xc2\xa0"
	 "1"),
};

static void other_texts_are_rejected(void **state)
{
	struct quantity q;

	for (size_t i = 0; i < ARRAY_SIZE(malformed); i++) {
		if (quantity_parse(malformed[i], strlen(malformed[i]), &q))
			print_error("accepted: '%s'\n", malformed[i]);
		assert_false(
			quantity_parse(malformed[i], strlen(malformed[i]), &q));
	}
	/* NUL is a character like any other. */
	assert_false(quantity_parse("1\0", 2, &q));
	assert_false(quantity_parse("\0", 1, &q));
	assert_false(quantity_parse("1\0k", 3, &q));
}

/* The length counts, not a NUL after it. */
static void the_length_counts(void **state)
{
	struct quantity q;

	assert_true(quantity_parse("12345Gi", 2, &q));
	assert_int_equal(quantity_value(q), 12);
	assert_true(quantity_parse("1Gi", 3, &q));
	assert_false(quantity_parse("1Gi0", 4, &q));
}

/* A digit after thousands of zeros still rounds the value up. */
static void many_digits_round_up(void **state)
{
	char text[5000];
	struct quantity q;

	memset(text, '0', sizeof(text));
	memcpy(text, "1.", 2);
	text[sizeof(text) - 1] = '1';
	assert_true(quantity_parse(text, sizeof(text), &q));
	assert_true(q.nano == 1000000001);
	memcpy(text + sizeof(text) - 2, "Gi", 2);
	assert_true(quantity_parse(text, sizeof(text), &q));
	assert_true(quantity_value(q) == 1073741824);
	text[1] = '0';
	assert_true(quantity_parse(text, sizeof(text), &q));
	assert_true(quantity_value(q) == MOST);
	assert_true(quantity_parse(text, sizeof(text) - 2, &q));
	assert_true(quantity_value(q) == MOST);
	text[0] = '-';
	assert_true(quantity_parse(text, sizeof(text) - 2, &q));
	assert_true(q.nano == 0);
}

static void quantities_are_compared_by_value(void **state)
{
	static const struct {
		const char *a, *b;
		int order;
	} rows[] = {
		{"1", "1000m", 0},    {"1", "1.0", 0},
		{"1Gi", "1024Mi", 0}, {"1e3", "1k", 0},
		{"1Gi", "1G", 1},     {"999m", "1", -1},
		{"-1", "0", -1},      {"-1", "-2", 1},
		{"0", "-0", 0},	      {"0.9999999999", "1", 0},
		{"8Ei", "9Ei", 0},    {"1e18", "1E", 0},
		{"1n", "0", 1},	      {"9223372036854775807", "8Ei", 0},
		{"1e19", "8Ei", 1},   {"1e100", "1e99", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct quantity a = parse(rows[i].a), b = parse(rows[i].b);

		assert_int_equal(quantity_cmp(a, b), rows[i].order);
		assert_int_equal(quantity_cmp(b, a), -rows[i].order);
	}
}

static void sums_keep_the_first_form(void **state)
{
	static const struct {
		const char *a, *b, *sum, *difference;
	} rows[] = {
		{"1", "1", "2", "0"},
		{"1Gi", "512Mi", "1536Mi", "512Mi"},
		{"1", "500m", "1500m", "500m"},
		/* The first quantity that is not zero determines the format. */
		{"1k", "1Ki", "2024", "-24"},
		{"4Ki", "1k", "5096", "3096"},
		{"0", "4Ki", "4Ki", "-4Ki"},
		{"4Ki", "0", "4Ki", "4Ki"},
		{"0", "1e3", "1e3", "-1e3"},
		{"-1", "1", "0", "-2"},
		{"1n", "1n", "2n", "0"},
		{"8Ei", "1", "8Ei", "9223372036854775806"},
	};
	char text[QUANTITY_TEXT];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct quantity a = parse(rows[i].a), b = parse(rows[i].b);

		assert_string_equal(quantity_text(quantity_add(a, b), text),
				    rows[i].sum);
		assert_string_equal(quantity_text(quantity_sub(a, b), text),
				    rows[i].difference);
	}
}

static void quantities_are_multiplied(void **state)
{
	char text[QUANTITY_TEXT];
	struct quantity q = quantity_mul(parse("1500m"), 8);

	assert_string_equal(quantity_text(q, text), "12");
	q = quantity_mul(parse("80Gi"), 64);
	assert_string_equal(quantity_text(q, text), "5Ti");
	q = quantity_mul(parse("8"), 0);
	assert_string_equal(quantity_text(q, text), "0");
	q = quantity_mul(parse("8"), -2);
	assert_string_equal(quantity_text(q, text), "-16");
	assert_true(quantity_value(quantity_from(-7)) == -7);
	assert_true(quantity_value(quantity_from(MOST)) == MOST);
	assert_true(quantity_value(quantity_from(INT64_MIN)) == INT64_MIN);
}

/* Sums and products beyond the largest or smallest value are limited to it. */
static void results_are_capped_at_the_limits(void **state)
{
	struct quantity huge = parse("1e300"), low = parse("-1e300"), q;
	char text[QUANTITY_TEXT];

	assert_true(huge.nano > 0 && low.nano == -huge.nano);
	assert_int_equal(quantity_cmp(quantity_add(huge, huge), huge), 0);
	assert_int_equal(quantity_cmp(quantity_add(low, low), low), 0);
	assert_int_equal(quantity_cmp(quantity_sub(low, huge), low), 0);
	assert_int_equal(quantity_cmp(quantity_sub(huge, low), huge), 0);
	assert_int_equal(quantity_cmp(quantity_sub(low, low), parse("0")), 0);
	assert_int_equal(quantity_cmp(quantity_add(low, parse("-1n")), low), 0);
	assert_int_equal(quantity_cmp(quantity_sub(low, parse("1n")), low), 0);
	assert_int_equal(quantity_cmp(quantity_mul(huge, MOST), huge), 0);
	assert_int_equal(quantity_cmp(quantity_mul(huge, -1), low), 0);
	assert_int_equal(quantity_cmp(quantity_mul(low, INT64_MIN), huge), 0);
	q = quantity_mul(parse("9223372036854775807"), INT64_MIN);
	assert_true(quantity_value(q) == INT64_MIN);
	assert_true(strlen(quantity_text(huge, text)) < QUANTITY_TEXT);
	assert_true(strlen(quantity_text(low, text)) < QUANTITY_TEXT);
	/* A product above Ei keeps this suffix, the largest one. */
	q = quantity_mul(parse("1Ei"), 1024);
	assert_string_equal(quantity_text(q, text), "1024Ei");
}

static void whole_numbers_are_recognized(void **state)
{
	static const char *const yes[] = {
		"0", "1", "1000m", "-3", "1e0", "0.9999999999", "1Gi", "0.5Ki"};
	static const char *const no[] = {"0.5", "500m", "1n",	 "-0.1",
					 "1.5", "1e-1", "0.1Ki", "999m"};

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		assert_true(quantity_is_integer(parse(yes[i])));
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		assert_false(quantity_is_integer(parse(no[i])));
}

/* --- in manifests --------------------------------------------------------- */

static enum quantity_state state_of(enum node_type type, const char *text,
				    struct quantity *q)
{
	struct node node = {.type = (uint8_t)type,
			    .str = text,
			    .len = (uint32_t)strlen(text)};

	return node_quantity(&node, q);
}

static void blanks_around_a_quantity_are_named(void **state)
{
	static const char *const taken[] = {
		" 1",
		"1 ",
		"  1  ",
		"\xc2\xa0"
		"1",
		"1\xe2\x80\x83",
		"\xe3\x80\x80"
		"1 ",
		"\xc2\x85"
		"1",
		"\xe1\x9a\x80"
		"1",
		"1\xe2\x81\x9f\xe2\x80\xaf",
	};
	/* Go writes these as escapes, which are not trimmed. */
	static const char *const refused[] = {
		"\t1",
		"1\n",
		"\r1",
		"1\v",
		"\f1",
		"\xe2\x80\xa8"
		"1",
		"1\xe2\x80\xa9",
		"1 1",
		" ",
		"  ",
		"",
		"\xe2\x80\x8b"
		"1",
		"\xc2"
		"1",
		"1\xe2\x80",
		"\xa0"
		"1",
	};
	struct quantity q;

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++) {
		assert_int_equal(state_of(NODE_STRING, taken[i], &q),
				 QUANTITY_OK);
		assert_int_equal(quantity_value(q), 1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_int_equal(state_of(NODE_STRING, refused[i], &q),
				 QUANTITY_INVALID);
}

static void unknown_text_is_an_unknown_quantity(void **state)
{
	struct node unknown = {.type = NODE_STRING,
			       .flags = NODE_UNKNOWN,
			       .str = "${GPUS}",
			       .len = 7};
	struct quantity q;

	assert_int_equal(node_quantity(NULL, &q), QUANTITY_ABSENT);
	assert_true(q.nano == 0);
	assert_int_equal(state_of(NODE_NULL, "null", &q), QUANTITY_ABSENT);
	assert_int_equal(node_quantity(&unknown, &q), QUANTITY_UNKNOWN);
	assert_int_equal(state_of(NODE_INT, "8", &q), QUANTITY_OK);
	assert_int_equal(quantity_value(q), 8);
	assert_int_equal(state_of(NODE_FLOAT, "1.5", &q), QUANTITY_OK);
	assert_int_equal(quantity_milli(q), 1500);
	assert_int_equal(state_of(NODE_FLOAT, "1e+21", &q), QUANTITY_OK);
	assert_int_equal(state_of(NODE_STRING, "null", &q), QUANTITY_INVALID);
	assert_int_equal(state_of(NODE_BOOL, "true", &q), QUANTITY_INVALID);
	assert_int_equal(state_of(NODE_MAP, "", &q), QUANTITY_INVALID);
	assert_int_equal(state_of(NODE_SEQ, "", &q), QUANTITY_INVALID);
	assert_true(q.nano == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantities_are_read),
		cmocka_unit_test(other_texts_are_rejected),
		cmocka_unit_test(the_length_counts),
		cmocka_unit_test(many_digits_round_up),
		cmocka_unit_test(quantities_are_compared_by_value),
		cmocka_unit_test(sums_keep_the_first_form),
		cmocka_unit_test(quantities_are_multiplied),
		cmocka_unit_test(results_are_capped_at_the_limits),
		cmocka_unit_test(whole_numbers_are_recognized),
		cmocka_unit_test(blanks_around_a_quantity_are_named),
		cmocka_unit_test(unknown_text_is_an_unknown_quantity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
