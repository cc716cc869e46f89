/* SPDX-License-Identifier: Apache-2.0 */
/* URLs, addresses. The expected values were printed by cel-go, in Kubernetes
 * 1.37. */
#include "cel_expressions.h"

static const struct expression network[] = {
	{"\"%s\".format([url(\"https://user:p@Example.com:80/a b/c%2fd?x=1&y=a+b&x=3&z=%zz&w;&q#f\").getQuery()])",
	 "{\"q\":[\"\"], \"x\":[\"1\", \"3\"], \"y\":[\"a b\"]}"},
	{"url(\"HTTPS://user:p@Example.com:80/a?q\").getScheme() + url(\"https://u@Example.com:80/a?q\").getHost()",
	 "httpsExample.com:80"},
	{"url(\"https://[::1%25eth0]:80/\").getHostname() + url(\"https://[::1]:80/\").getPort()",
	 "::1%eth080"},
	{"url(\"https://h/a b/c%2fd?q\").getEscapedPath() + url(\"https://h/a%2fb\").getEscapedPath()",
	 "/a%20b/c/d/a%2fb"},
	{"url(\"/path#f\").getHost() + url(\"mailto:x\").getEscapedPath() + url(\"*\").getEscapedPath()",
	 "*"},
	{"url(\"https://%c3%a9/\").getHost()", "\303\251"},
	{"url(\"https://a/b?c\") == url(\"HTTPS://a/b?c\") && url(\"https://a\") != url(\"https://b\")",
	 "true"},
	{"isURL(\"http://x:y/\") || isURL(\"a\") || isURL(\"\") || isURL(\"http://a b/\")",
	 "false"},
	{"url(\"foo\")", "error: 'foo' is not a URL"},
	{"url(\"http://x:y/\")", "error"},
	{"url(\"http://[1.2.3.4]/\")", "error"},
	{"url(\"http://[::1/\")", "error"},
	{"url(\"http://a%41/\")", "error"},
	{"url(\"http://a/%zz\")", "error"},
	{"url(\"http://u<@h/\")", "error"},
	{"url(\":a\")", "error"},
	{"url(\"http://a\\n/\")", "error"},
	{"url(\"//h:x/p\")", "error"},
	{"url(\"http://a:1:2/\")", "error"},
	{"string(ip(\"2001:DB8:0:0:1:0:0:1\")) + \" \" + string(ip(\"::\")) + \" \" + string(ip(\"1:0:0:2::\"))",
	 "2001:db8::1:0:0:1 :: 1:0:0:2::"},
	{"ip(\"127.0.0.1\").isLoopback() && ip(\"::1\").isLoopback() && !ip(\"::2\").isLoopback()",
	 "true"},
	{"ip(\"0.0.0.0\").isUnspecified() && ip(\"::\").isUnspecified()",
	 "true"},
	{"ip(\"169.254.1.1\").isLinkLocalUnicast() && ip(\"fe80::1\").isLinkLocalUnicast()",
	 "true"},
	{"ip(\"224.0.0.1\").isLinkLocalMulticast() && ip(\"ff02::1\").isLinkLocalMulticast()",
	 "true"},
	{"ip(\"10.0.0.1\").isGlobalUnicast() && !ip(\"255.255.255.255\").isGlobalUnicast() && !ip(\"ff0e::1\").isGlobalUnicast()",
	 "true"},
	{"ip(\"1.2.3.4\").family() + ip(\"::1\").family()", "10"},
	{"ip.isCanonical(\"2001:db8::abcd\") && !ip.isCanonical(\"2001:DB8::ABCD\")",
	 "true"},
	{"isIP(\"1.2.3\") || isIP(\"01.2.3.4\") || isIP(\"::ffff:1.2.3.4\") || isIP(\"fe80::1%eth0\")",
	 "false"},
	{"ip(\"::1.2.3.4\") == ip(\"::102:304\")", "true"},
	{"ip(\"1.2.3\")", "error"},
	{"ip(\"1..2.3\")", "error"},
	{"ip(\"1.2.3.256\")", "error"},
	{"ip(\"1.2.3.x\")", "error"},
	{"ip(\"12345::\")", "error"},
	{"ip(\"1::2::3\")", "error"},
	{"ip(\"1:2:3:4:5:6:7\")", "error"},
	{"ip(\"1:2:3:4:5:6:7:8:9\")", "error"},
	{"ip(\"::ffff:1.2.3.4\")", "error"},
	{"ip(\"fe80::1%eth0\")", "error"},
	{"ip(\"x\")", "error: 'x' is not an IP address"},
	{"string(cidr(\"10.1.2.3/8\").masked()) + \" \" + string(cidr(\"10.1.2.3/8\")) + \" \" + string(cidr(\"10.1.2.3/8\").ip())",
	 "10.0.0.0/8 10.1.2.3/8 10.1.2.3"},
	{"cidr(\"2001:db8::/33\").masked().prefixLength()", "33"},
	{"cidr(\"192.168.0.0/16\").containsIP(\"192.168.9.9\") && !cidr(\"192.168.0.0/16\").containsIP(ip(\"::1\"))",
	 "true"},
	{"cidr(\"192.168.0.0/16\").containsCIDR(\"192.168.1.0/24\") && !cidr(\"192.168.1.0/24\").containsCIDR(cidr(\"192.168.0.0/16\"))",
	 "true"},
	{"cidr(\"192.168.0.0/16\").containsIP(\"x\")",
	 "error: no such overload"},
	{"cidr(\"192.168.0.0/16\").containsCIDR(\"x\")", "error"},
	{"isCIDR(\"1.2.3.4/33\") || isCIDR(\"1.2.3.4\") || isCIDR(\"1.2.3.4/08\") || isCIDR(\"::ffff:1.2.3.4/120\")",
	 "false"},
	{"cidr(\"1.2.3.4/33\")", "error"},
	{"cidr(\"1.2.3.4/x\")", "error"},
	{"cidr(\"1.2.3.4\")", "error: '1.2.3.4' is not a CIDR block"},
};

static void test_network(void **state)
{
	(void)state;
	check_expressions(network, ARRAY_SIZE(network));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
