# SPDX-License-Identifier: Apache-2.0
#
# Computes the tag of a key, as node_tag() of doc/node.h does. POSIX awk.

function tag(s,    n)
{
	n = length(s)
	return (n * 8 + ord[substr(s, 1, 1)] + \
		ord[substr(s, int(n / 2) + 1, 1)] * 5 + \
		ord[substr(s, n, 1)] * 4) % 65536
}
BEGIN {
	for (i = 1; i < 256; i++)
		ord[sprintf("%c", i)] = i
}
