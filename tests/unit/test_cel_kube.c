/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities, versions, named formats. The expected values were printed by
 * cel-go, in Kubernetes 1.37. */
#include "cel_expressions.h"

static const struct expression kube[] = {
	{"quantity(\"1Gi\").add(1).asInteger()", "1073741825"},
	{"quantity(\"1.5\").asInteger()",
	 "error: cannot convert value to integer"},
	{"quantity(\"1k\").isInteger() && !quantity(\"2000m\").isInteger() && !quantity(\"1.0\").isInteger() && !quantity(\"1Pi\").isInteger()",
	 "true"},
	{"quantity(\"500m\").add(quantity(\"500m\")).isInteger()", "false"},
	{"quantity(\"2\").sub(quantity(\"500m\")).asApproximateFloat()", "1.5"},
	{"string(quantity(\"1.5Gi\").asApproximateFloat())", "1.610612736e+09"},
	{"quantity(\"1Ki\") == quantity(\"1024\") && quantity(\"1Ki\") != quantity(\"1k\")",
	 "true"},
	{"quantity(\"1\").compareTo(quantity(\"1000m\")) + quantity(\"2\").compareTo(quantity(\"1\")) * 10",
	 "10"},
	{"quantity(\"1\").isLessThan(quantity(\"2\")) && quantity(\"2\").isGreaterThan(quantity(\"1\"))",
	 "true"},
	{"sign(quantity(\"-1\")) + sign(quantity(\"0\")) + sign(quantity(\"3\"))",
	 "0"},
	{"isQuantity(\"1x\") || isQuantity(\"\") || !isQuantity(\"1e3\")",
	 "false"},
	{"quantity(\"x\")", "error: 'x' is not a quantity"},
	{"quantity(\"1mm\")", "error"},
	{"quantity(\"\")", "error"},
	{"quantity(\"Ei\")", "error"},
	{"semver(\"1.2.3-a.1+b\").major() * 100 + semver(\"1.2.3\").minor() * 10 + semver(\"1.2.3\").patch()",
	 "123"},
	{"semver(\"1.0.0-alpha.1\").compareTo(semver(\"1.0.0-alpha.beta\"))",
	 "-1"},
	{"semver(\"1.0.0-alpha.2\").isLessThan(semver(\"1.0.0-alpha.10\"))",
	 "true"},
	{"semver(\"1.0.0\").isGreaterThan(semver(\"1.0.0-rc.1\")) && semver(\"1.0.0-a.1\").isGreaterThan(semver(\"1.0.0-a\"))",
	 "true"},
	{"semver(\"1.0.0+a\") == semver(\"1.0.0+b\")", "true"},
	{"semver(\"v01.2\", true) == semver(\"1.2.0\") && semver(\"v1\", true) == semver(\"1.0.0\")",
	 "true"},
	{"isSemver(\"v1.2.3\") || isSemver(\"1.2\") || !isSemver(\"1.2\", true)",
	 "false"},
	{"semver(\"1.2-rc\", true)", "error"},
	{"semver(\"1.2\")", "error: '1.2' is not a semantic version"},
	{"semver(\"\")", "error"},
	{"semver(\"1.02.3\")", "error"},
	{"semver(\"1.x.3\")", "error"},
	{"semver(\"99999999999999999999.0.0\")", "error"},
	{"semver(\"1..3\")", "error"},
	{"semver(\"1.0.0-01\")", "error"},
	{"semver(\"1.0.0-a..b\")", "error"},
	{"semver(\"1.0.0-\303\251\")", "error"},
	{"semver(\"1.0.0+\")", "error"},
	{"semver(\"1.0.0+\303\251\")", "error"},
	{"format.dns1123Label().validate(\"my-name\").hasValue()", "false"},
	{"\"%s\".format([format.dns1123Label().validate(\"A.b\").value()])",
	 "[\"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')\"]"},
	{"\"%s\".format([format.dns1123Label().validate(\"a.b\").value()])",
	 "[\"must not contain dots\"]"},
	{"\"%s\".format([format.dns1123Subdomain().validate(\"a..b\").value()])",
	 "[\"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')\"]"},
	{"\"%s\".format([format.dns1035Label().validate(\"1a\").value()])",
	 "[\"a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')\"]"},
	{"format.dns1123LabelPrefix().validate(\"ab-\").hasValue() || !format.dns1123Label().validate(\"ab-\").hasValue()",
	 "false"},
	{"format.qualifiedName().validate(\"example.com/MyName\").hasValue()",
	 "false"},
	{"format.qualifiedName().validate(\"/\").value().size()", "3"},
	{"\"%s\".format([format.qualifiedName().validate(\"a/b/c\").value()])",
	 "[\"a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')\"]"},
	{"format.qualifiedName().validate(\"A_b/c\").value().size()", "1"},
	{"\"%s\".format([format.labelValue().validate(\"-\").value()])",
	 "[\"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')\"]"},
	{"\"%s\".format([format.labelValue().validate(\"0123456789012345678901234567890123456789012345678901234567890123\").value()])",
	 "[\"must be no more than 63 bytes\"]"},
	{"format.dns1123Label().validate(lists.range(64).map(i, 'a')"
	 ".join()).value()[0]",
	 "must be no more than 63 characters"},
	{"\"%s\".format([format.uri().validate(\"foo\").value()])",
	 "[\"'foo' is not a URL\"]"},
	{"format.uuid().validate(\"123e4567E89b-12d3-a456-426614174000\").hasValue()",
	 "false"},
	{"\"%s\".format([format.uuid().validate(\"x\").value()])",
	 "[\"does not match the UUID format\"]"},
	{"format.byte().validate(\"aGk=\").hasValue() || !format.byte().validate(\"\").hasValue()",
	 "false"},
	{"\"%s\".format([format.date().validate(\"2021-02-29\").value()])",
	 "[\"invalid date\"]"},
	{"format.datetime().validate(\"2020-01-01t00:00:00.5z\").hasValue() || !format.datetime().validate(\"2020-01-01T24:00:00Z\").hasValue()",
	 "false"},
	{"format.named(\"nope\").hasValue() || format.named(\"uuid\").value() != format.uuid()",
	 "false"},
};

static void test_kube(void **state)
{
	(void)state;
	check_expressions(kube, ARRAY_SIZE(kube));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kube),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
