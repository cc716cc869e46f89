/* SPDX-License-Identifier: Apache-2.0 */
/* Timestamps and durations. The expected values were printed by cel-go, in
 * Kubernetes 1.37. */
#include "cel_expressions.h"

static const struct expression time[] = {
	{"timestamp(\"2020-01-01T1:00:00,5Z\") == timestamp(\"2020-01-01T01:00:00.5Z\")",
	 "true"},
	{"timestamp(\"2020-01-01T00:00:00+01:00\") == timestamp(\"2019-12-31T23:00:00Z\")",
	 "true"},
	{"string(timestamp(\"2020-01-01T00:00:00.120+01:30\") + duration(\"1s\"))",
	 "2020-01-01T00:00:01.12+01:30"},
	{"string(timestamp(\"2020-01-01T00:00:00-24:60\"))",
	 "2020-01-01T00:00:00-25:00"},
	{"string(timestamp(\"2020-01-01T00:00:00+00:00\"))",
	 "2020-01-01T00:00:00Z"},
	{"timestamp(\"2020-02-30\" + \"T00:00:00Z\")",
	 "error: type conversion error from 'string' to 'google.protobuf.Timestamp'"},
	{"timestamp(\"2020-01-01t\" + \"00:00:00Z\")",
	 "error: type conversion error from 'string' to 'google.protobuf.Timestamp'"},
	{"timestamp(\"0000-01-01\" + \"T00:00:00Z\")",
	 "error: timestamp overflow"},
	{"timestamp(253402300799) < timestamp(1) || timestamp(1) == timestamp(\"1970-01-01T00:00:01Z\")",
	 "true"},
	{"timestamp(1 + 253402300799)", "error: timestamp overflow"},
	{"duration(\"\" + \"x\")",
	 "error: type conversion error from 'string' to 'google.protobuf.Duration'"},
	{"duration(\"1\" + \"\")",
	 "error: type conversion error from 'string' to 'google.protobuf.Duration'"},
	{"duration(\"0\") == duration(\"-0\") && duration(\"1.5h\") == duration(\"90m\")",
	 "true"},
	{"duration(\"1\" + \" s\")",
	 "error: type conversion error from 'string' to 'google.protobuf.Duration'"},
	{"duration(1 + 1)",
	 "error: type conversion error from 'int' to 'google.protobuf.Duration'"},
	{"string(duration(\"1h2.5s\")) + string(duration(\"-0.000000001s\")) + string(duration(\"1\302\265s\"))",
	 "3602.5s-0.000000001s0.000001s"},
	{"string(duration(\"9223372036.854775807s\"))", "9223372036.854776s"},
	{"duration(\"9223372036.854775808\" + \"s\")",
	 "error: type conversion error from 'string' to 'google.protobuf.Duration'"},
	{"string(duration(\"-9223372036.854775808s\") + duration(\"1ns\"))",
	 "-9223372036.854776s"},
	{"duration(\"-9223372036.854775808s\") - duration(\"1ns\")",
	 "error: integer overflow"},
	{"timestamp(\"9999-12-31T23:59:59Z\") + duration(\"1s\")",
	 "error: timestamp overflow"},
	{"timestamp(\"2020-01-01T00:00:00Z\") - timestamp(\"1000-01-01T00:00:00Z\")",
	 "error: integer overflow"},
	{"string(timestamp(\"2020-01-01T00:00:00.1Z\") - duration(\"0.2s\"))",
	 "2019-12-31T23:59:59.9Z"},
	{"string(timestamp(\"2020-01-01T00:00:00Z\") - timestamp(\"2020-01-01T00:00:00.1Z\"))",
	 "-0.1s"},
	{"int(timestamp(\"1969-12-31T23:59:59.5Z\")) + int(duration(\"1s\"))",
	 "999999999"},
	{"timestamp(\"2024-02-29T12:34:56.789Z\").getDayOfYear()", "59"},
	{"timestamp(\"2024-02-29T12:34:56.789Z\").getDayOfMonth()", "28"},
	{"timestamp(\"2024-02-29T12:34:56.789Z\").getDate()", "29"},
	{"timestamp(\"2024-02-29T12:34:56.789Z\").getDayOfWeek()", "4"},
	{"timestamp(\"2024-02-29T12:34:56.789Z\").getMonth() + timestamp(\"2024-02-29T12:34:56.789Z\").getFullYear()",
	 "2025"},
	{"timestamp(\"2024-02-29T12:34:56.789Z\").getMilliseconds()", "789"},
	{"timestamp(\"0001-01-01T00:00:00Z\").getDayOfWeek()", "1"},
	{"timestamp(\"2020-01-01T00:00:00Z\").getHours(\"+05:30\") * 100 + timestamp(\"2020-01-01T00:00:00Z\").getMinutes(\"-05:30\")",
	 "530"},
	{"timestamp(\"2020-01-01T00:00:00Z\").getFullYear(\"-00:30\")", "2019"},
	{"timestamp(\"2020-01-01T00:00:00Z\").getHours(\"\")", "0"},
	{"timestamp(\"2020-01-01T00:00:00Z\").getHours(\"x:30\")", "error"},
	{"timestamp(\"2020-01-01T00:00:00Z\").getHours(\"1:\")", "error"},
	{"duration(\"-1.5h\").getHours() * 10000 + duration(\"90s\").getMinutes() * 100 + duration(\"59s\").getSeconds()",
	 "-9841"},
	{"duration(\"1.9999s\").getMilliseconds()", "1999"},
};

static void test_time(void **state)
{
	(void)state;
	check_expressions(time, ARRAY_SIZE(time));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
